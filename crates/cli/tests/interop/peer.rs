//! A script that plays the other side, spoken to in lines of JSON.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A running script.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    script: &'static str,
}

impl Peer {
    /// Starts a script of `peers/python`.
    pub(crate) fn python(script: &'static str) -> Self {
        Self::python_with(script, &[])
    }

    /// Starts a script of `peers/python` with arguments.
    pub(crate) fn python_with(script: &'static str, arguments: &[&str]) -> Self {
        let mut command = Command::new(folder().join("python/bin/python"));
        command.arg("-B").arg(scripts().join("python").join(script)).args(arguments);
        Self::start(command, script)
    }

    /// Starts a script of `peers/node`, as seen from beside the libraries that it imports.
    pub(crate) fn node(script: &'static str) -> Self {
        let mut command = Command::new(folder().join("python/bin/node"));
        command.args(["--preserve-symlinks", "--preserve-symlinks-main"]);
        command.arg(folder().join("node/peers").join(script));
        Self::start(command, script)
    }

    fn start(mut command: Command, script: &'static str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the peers are installed: cargo xtask test interop");
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, input, lines, script }
    }

    /// Sends a request and returns the answer, which may be an error.
    pub(crate) fn try_ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").expect("the peer listens");
        self.next_line()
    }

    /// Sends a request and returns the answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        let answer = self.try_ask(request);
        assert!(answer.get("error").is_none(), "{} to {request}: {answer}", self.script);
        answer
    }

    /// Lets the peer listen at a URI and returns the one to connect to.
    pub(crate) fn listen(&mut self, at: &str, mtu: usize) -> String {
        let answer = self.ask(&json!({ "do": "listen", "at": at, "mtu": mtu }));
        answer["face"].as_str().expect("the answer names a face").to_string()
    }

    /// The next line of the peer.
    pub(crate) fn next_line(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("{} prints nothing: {error}", self.script));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the peers are installed.
fn folder() -> PathBuf {
    std::env::var_os("RECOUP_INTEROP").map_or_else(default_folder, PathBuf::from)
}

fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop")
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers")
}
