//! Processes of a benchmark or an attack: a folder in memory, commands that end with their owner, and what they use.

use crate::chore::{Outcome, spelled};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longest time until a command prints its first line.
const ANNOUNCED: Duration = Duration::from_secs(300);

/// A folder in memory that goes away with its owner.
#[derive(Debug)]
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn make() -> Outcome<Self> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let folder = parent.join(format!("recoup-chore-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The URI of a Unix socket in the folder.
    pub(crate) fn unix(&self, name: &str) -> String {
        format!("unix://{}", self.path(name).display())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed with its owner.
#[derive(Debug)]
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a command without input and output.
    pub(crate) fn start(command: &mut Command) -> Outcome<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|error| format!("{}: {error}", spelled(command)))
    }

    /// Starts a Recoup command; returns its first line of JSON, which must come in time.
    pub(crate) fn announced(command: &mut Command) -> Outcome<(Self, Value)> {
        let failed = |error: std::io::Error| error.to_string();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = Self(command.spawn().map_err(failed)?);
        let output = child.0.stdout.take().ok_or("no standard output")?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(output).read_line(&mut line);
            sender.send(read.map(|_| line))
        });
        let line = receiver.recv_timeout(ANNOUNCED);
        let line = line.map_err(|_| format!("{} prints nothing", spelled(command)))?;
        let line = line.map_err(failed)?;
        let document = serde_json::from_str(&line);
        Ok((child, document.map_err(|_| format!("{} printed {line:?}", spelled(command)))?))
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills it (SIGKILL).
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }

    /// Processor time of all threads, in seconds.
    pub(crate) fn processor_seconds(&self) -> f64 {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).into_iter().flatten();
        let nanos = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<f64>().ok()
        });
        nanos.sum::<f64>() / 1e9
    }

    /// A field of `/proc/…/status` in megabytes.
    pub(crate) fn megabytes(&self, field: &str) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        number.unwrap_or_default() * 1_024.0 / 1e6
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts `recoup forward` with a configuration; returns the URIs at which it listens. Its standard error is never read.
pub(crate) fn forward(
    recoup: &Path,
    config: &Path,
    text: &str,
    words: &[&str],
) -> Outcome<(Running, Vec<String>)> {
    fs::write(config, text).map_err(|error| format!("{}: {error}", config.display()))?;
    let mut forward = Command::new(recoup);
    forward.args(["forward", "--json", "--config"]).arg(config).args(words);
    let (running, printed) = Running::announced(forward.stderr(Stdio::piped()))?;
    let faces = printed["faces"].as_array().into_iter().flatten();
    Ok((running, faces.filter_map(|uri| Some(uri.as_str()?.to_owned())).collect()))
}

/// Lines of a forwarder's configuration that let it listen.
pub(crate) fn listen(uri: &str) -> String {
    format!("[[listen]]\nuri = \"{uri}\"\n")
}

/// Runs a command that must end `within` this time; returns its output.
pub(crate) fn within(command: &mut Command, within: Duration) -> Outcome<String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut child =
        Running(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?);
    let output = child.0.stdout.take().ok_or("no standard output")?;
    let reading = std::thread::spawn(move || std::io::read_to_string(output));
    let begun = Instant::now();
    let status = loop {
        match child.0.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if begun.elapsed() > within => {
                return Err(format!("{} does not end in {within:?}", spelled(command)));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let printed = reading.join().map_err(|_| "the reader failed")?.map_err(failed)?;
    match status.success() {
        true => Ok(printed),
        false => Err(format!("{} failed ({status})", spelled(command))),
    }
}

/// Writes bytes from a small generator: no cache or file system can fold them.
pub(crate) fn fill(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let (mut state, mut block, mut left) = (0x9E37_79B9_7F4A_7C15_u64, vec![0; 1 << 20], bytes);
    while left > 0 {
        for word in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        let count = left.min(block.len() as u64);
        file.write_all(&block[..count as usize])?;
        left -= count;
    }
    Ok(())
}
