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

/// `recoup serve`, until it is dropped.
pub(crate) struct Served {
    child: Child,
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
        command.arg("serve").arg(file).args(arguments).args(["--json"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("recoup runs");
        let output = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("recoup prints its address");
        let listening: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("recoup serve prints {line:?}: {error}"));
        assert_eq!(listening["event"], "listening", "{line}");
        let text = |member: &str| listening[member].as_str().unwrap_or_default().to_string();
        Self { child, face: text("face"), name: text("name") }
    }
}

/// `recoup gateway` at a face, until its process is dropped, and where it listens.
pub(crate) fn gateway(face: &str) -> (Running, String) {
    let mut command = recoup(Path::new(NOWHERE));
    command.args(["gateway", "--listen", "127.0.0.1:0", "--face", face, "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("recoup runs");
    let mut line = String::new();
    let output = child.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("recoup prints its address");
    let listening: Value = serde_json::from_str(&line).expect("a document");
    let url = listening["url"].as_str().expect("a URL");
    (Running(child), url.trim_start_matches("http://").to_owned())
}

/// A process that ends when it is dropped.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `recoup forward`, until it is dropped.
pub(crate) struct Forwarder {
    child: Child,
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
        command.arg("forward").arg("--config").arg(config).arg("--json").stdout(Stdio::piped());
        let mut child = command.spawn().expect("recoup runs");
        let output = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("recoup prints its address");
        let listening: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("recoup forward prints {line:?}: {error}"));
        let face =
            |place: usize| listening["faces"][place].as_str().unwrap_or_default().to_string();
        Self { child, face: face(0), udp: face(1) }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
