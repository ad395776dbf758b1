//! Our own command, as its users run it.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Nothing on this machine may decide how a test goes.
const NOWHERE: &str = "/nonexistent";

fn recoup(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recoup"));
    command.env_remove("NDN_CLIENT_TRANSPORT").env("HOME", home).stdin(Stdio::null());
    command
}

/// Runs a command to its end, with its key store below `home`.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> Output {
    succeeded(recoup(home).args(arguments))
}

/// As [`run`], however it ends.
pub(crate) fn try_run(home: &Path, arguments: &[&str]) -> Output {
    recoup(home).args(arguments).output().expect("recoup runs")
}

fn succeeded(command: &mut Command) -> Output {
    let output = command.output().expect("recoup runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {log}");
    output
}

/// A process that ends when it is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a command of ours with `--json`, and waits for the line with its address.
    fn start(command: &mut Command) -> (Self, Value) {
        let mut child = command.arg("--json").stdout(Stdio::piped()).spawn().expect("recoup runs");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("recoup prints its address");
        let listening = serde_json::from_str(&line);
        let listening =
            listening.unwrap_or_else(|error| panic!("{command:?} prints {line:?}: {error}"));
        (Self(child), listening)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `recoup serve`, until it is dropped.
pub(crate) struct Served {
    _process: Running,
    /// Face for consumers.
    pub(crate) face: String,
    /// The versioned name.
    pub(crate) name: String,
}

impl Served {
    /// Serves a file and waits until it can be reached.
    pub(crate) fn start(file: &Path, arguments: &[&str]) -> Self {
        Self::start_at(Path::new(NOWHERE), file, arguments)
    }

    /// Serves a file with the key store below `home`.
    pub(crate) fn start_at(home: &Path, file: &Path, arguments: &[&str]) -> Self {
        let mut command = recoup(home);
        let (process, listening) = Running::start(command.arg("serve").arg(file).args(arguments));
        assert_eq!(listening["event"], "listening", "{listening}");
        let text = |member: &str| listening[member].as_str().unwrap_or_default().to_string();
        Self { _process: process, face: text("face"), name: text("name") }
    }
}

/// `recoup gateway` at a face, until its process is dropped, and where it listens.
pub(crate) fn gateway(face: &str) -> (Running, String) {
    let mut command = recoup(Path::new(NOWHERE));
    command.args(["gateway", "--listen", "127.0.0.1:0", "--face", face]);
    let (process, listening) = Running::start(&mut command);
    let url = listening["url"].as_str().expect("a URL");
    (process, url.trim_start_matches("http://").to_owned())
}

/// `recoup forward`, until it is dropped.
pub(crate) struct Forwarder {
    _process: Running,
    /// Face for peers.
    pub(crate) face: String,
    /// Where they connect over UDP.
    pub(crate) udp: String,
}

impl Forwarder {
    /// Forwards between all peers that connect at `uri`; the configuration is in `folder`.
    pub(crate) fn start(folder: &Path, uri: &str) -> Self {
        Self::start_with(folder, uri, "")
    }

    /// As [`start`](Self::start), with further tables of the configuration.
    pub(crate) fn start_with(folder: &Path, uri: &str, tables: &str) -> Self {
        let config = folder.join("node.toml");
        // Faces over UDP offer recovery, which other implementations ignore.
        let listen = [uri, "udp://127.0.0.1:0"].map(|uri| format!("[[listen]]\nuri = \"{uri}\"\n"));
        let node = "[node]\nrecovery = \"wldr\"\nlocalhop = true\ncache = 0\n";
        let text = format!("{node}{}{tables}", listen.concat());
        std::fs::write(&config, text).expect("a file");
        let mut command = recoup(Path::new(NOWHERE));
        let command = command.arg("forward").arg("--config").arg(config);
        let (process, listening) = Running::start(command);
        let face =
            |place: usize| listening["faces"][place].as_str().unwrap_or_default().to_string();
        Self { _process: process, face: face(0), udp: face(1) }
    }
}

/// Runs `recoup fetch` to its end.
pub(crate) fn fetch(name: &str, face: &str, arguments: &[&str]) -> Output {
    succeeded(fetching(name, face).args(arguments))
}

/// Runs `recoup fetch`, however it ends.
pub(crate) fn try_fetch(name: &str, face: &str, arguments: &[&str]) -> Output {
    fetching(name, face).args(arguments).output().expect("recoup runs")
}

fn fetching(name: &str, face: &str) -> Command {
    let mut command = recoup(Path::new(NOWHERE));
    command.args(["fetch", name, "--face", face]);
    command
}
