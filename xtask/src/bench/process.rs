//! Running what is measured: a folder in memory, processes that end with their owner, and commands
//! that are timed.

use super::sample::Sample;
use super::timed::Timed;
use crate::chore::Outcome;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to become reachable.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes a second that the slowest consumer moves.
const SLOWEST_BYTES: u64 = 2_000_000;

/// How long a transfer of so many bytes may take.
pub(crate) fn transfer_limit(bytes: u64) -> Duration {
    PATIENCE + Duration::from_secs(bytes / SLOWEST_BYTES)
}

/// A folder in memory with the file that is served; it goes away with its owner.
pub(crate) struct Room {
    folder: PathBuf,
    /// The file that is served.
    pub(crate) original: PathBuf,
    /// Where it is fetched to.
    pub(crate) copy: PathBuf,
    /// Bytes in the file.
    pub(crate) bytes: u64,
}

impl Room {
    /// Makes the folder and fills the file with bytes that do not repeat.
    pub(crate) fn make(bytes: u64) -> Outcome<Self> {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let folder = parent.join(format!("recoup-bench-{}-{bytes}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let (original, copy) = (folder.join("original"), folder.join("copy"));
        fill(&original, bytes).map_err(failed)?;
        Ok(Self { folder, original, copy, bytes })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Times a consumer, whose standard output goes to `output` if given, and compares what it
    /// fetched with what was served.
    pub(crate) fn time(&self, consumer: &mut Command, to_stdout: bool) -> Outcome<Sample> {
        let _ = fs::remove_file(&self.copy);
        let fails = |error: std::io::Error| error.to_string();
        let log = self.path("consumer");
        consumer.stdin(Stdio::null()).stderr(File::create(&log).map_err(fails)?);
        let report = self.path("report");
        let stdout = if to_stdout { &self.copy } else { &report };
        consumer.stdout(File::create(stdout).map_err(fails)?);
        let start = Instant::now();
        let child = Timed::spawn(consumer, transfer_limit(self.bytes));
        let status = child.and_then(|mut child| child.wait()).map_err(fails)?;
        let took = start.elapsed();
        let mut printed = fs::read_to_string(&log).unwrap_or_default();
        if !status.success() {
            return Err(format!("the consumer failed ({status}): {}", printed.trim_end()));
        }
        if !same(&self.original, &self.copy).map_err(fails)? {
            return Err("what was fetched is not what was served".into());
        }
        if !to_stdout {
            printed.push_str(&fs::read_to_string(&report).unwrap_or_default());
        }
        let transfer = rate(&printed);
        fs::remove_file(&self.copy).map_err(fails)?;
        Ok(Sample { transfer, ..Sample::of(self.bytes, took) })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Writes bytes from a small generator: no cache or file system can fold them.
pub(crate) fn fill(path: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut block = vec![0; 1 << 20];
    let mut left = bytes;
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

/// Whether two files hold the same bytes.
pub(crate) fn same(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let count = one.read(&mut left)?;
        if count == 0 {
            return Ok(true);
        }
        other.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

/// The rate, in bits per second, that a tool reports: in JSON, or as ndnget and ndnd write it.
fn rate(printed: &str) -> Option<f64> {
    let json = printed.find('{').and_then(|start| serde_json::from_str(&printed[start..]).ok());
    if let Some(rate) = json.and_then(|report: Value| report["goodput_bit_s"].as_f64()) {
        return Some(rate);
    }
    let is_rate = |line: &&str| line.contains("oodput: ") || line.contains("hroughput: ");
    let line = printed.lines().find(is_rate)?;
    let mut words = line.split_once(": ")?.1.split_whitespace();
    let number: f64 = words.next()?.parse().ok()?;
    let factor = match words.next()? {
        "bit/s" => 1.0,
        "kbit/s" => 1e3,
        "Mbit/s" => 1e6,
        "Gbit/s" => 1e9,
        _ => return None,
    };
    Some(number * factor)
}

/// A process that ends with its owner.
pub(crate) struct Running {
    child: Timed,
}

impl Running {
    /// Starts a process whose words go to a file.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Outcome<Self> {
        let log = File::create(log).map_err(|error| error.to_string())?;
        let copy = log.try_clone().map_err(|error| error.to_string())?;
        command.stdout(log).stderr(copy);
        let child = Timed::spawn(command, PATIENCE).and_then(|mut child| {
            child.limit(None)?;
            Ok(Self { child })
        });
        child.map_err(|error| format!("{command:?}: {error}"))
    }

    /// Starts a Recoup server; returns its face.
    pub(crate) fn serve(command: &mut Command) -> Outcome<(Self, String)> {
        let (running, listening) = Self::listen(command)?;
        let face = listening["face"].as_str().unwrap_or_default().to_string();
        Ok((running, face))
    }

    /// Starts a Recoup command; returns its first line of JSON.
    pub(crate) fn listen(command: &mut Command) -> Outcome<(Self, Value)> {
        Self::announced(command.stderr(Stdio::null()))
    }

    /// As [`listen`](Self::listen), with a standard error that is never read.
    pub(crate) fn listen_unread(command: &mut Command) -> Outcome<(Self, Value)> {
        Self::announced(command.stderr(Stdio::piped()))
    }

    fn announced(command: &mut Command) -> Outcome<(Self, Value)> {
        let (child, line) = started(command, PATIENCE)?;
        let listening = serde_json::from_str(&line)
            .map_err(|error| format!("recoup printed {line:?}: {error}"))?;
        Ok((Self { child }, listening))
    }

    /// Kills it unless it is dropped `within` this time.
    pub(crate) fn limit(&mut self, within: Duration) -> Outcome {
        self.child.limit(Some(within)).map_err(|error| error.to_string())
    }

    /// Starts a Recoup forwarder; returns its UDP address.
    pub(crate) fn forward(command: &mut Command) -> Outcome<(Self, String)> {
        let (running, listening) = Self::listen(command)?;
        let all = listening["faces"].as_array().into_iter().flatten();
        let mut all = all.filter_map(|uri| uri.as_str());
        let udp = all.find(|uri| uri.starts_with("udp")).unwrap_or_default();
        Ok((running, udp.replace("udp4:", "udp:")))
    }

    /// Seconds of processor time that it has used.
    pub(crate) fn processor_seconds(&self) -> f64 {
        processor_seconds(self.id())
    }

    /// Ends it at once, without asking.
    pub(crate) fn kill(&mut self) {
        self.child.kill();
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn end(&mut self) -> Outcome {
        let id = self.id().to_string();
        let asked = Command::new("kill").args(["-s", "TERM", &id]).status();
        asked.and_then(|_| self.child.wait()).map(drop).map_err(|error| error.to_string())
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has done what it does before it serves: until it is idle.
    pub(crate) fn settle(&mut self) -> Outcome {
        let start = Instant::now();
        let (mut busy, mut calm) = (processor_ticks(self.id()), 0);
        while calm < 5 && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(100));
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the server ended ({status})"));
            }
            let now = processor_ticks(self.id());
            calm = if now == busy { calm + 1 } else { 0 };
            busy = now;
        }
        Ok(())
    }
}

/// Starts a command that prints a line `within` this time, then runs without a deadline. Returns
/// the line.
pub(crate) fn started(command: &mut Command, within: Duration) -> Outcome<(Timed, String)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut begin = || {
        let mut child = Timed::spawn(command, within)?;
        let mut line = String::new();
        if let Some(output) = child.take_stdout() {
            BufReader::new(output).read_line(&mut line)?;
        }
        child.limit(None)?;
        Ok((child, line))
    };
    begin().map_err(|error: std::io::Error| error.to_string())
}

/// Processor time of all threads of a process, in seconds, by the nanosecond.
fn processor_seconds(id: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let nanos = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanos.sum::<f64>() / 1e9
}

/// Processor time used by a process, in ticks of the kernel.
fn processor_ticks(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<u64> =
        after_name.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    fields.get(11).unwrap_or(&0) + fields.get(12).unwrap_or(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_server_times_out() {
        let mut silent = Command::new("sh");
        let within = Duration::from_millis(200);
        let error = started(silent.args(["-c", "sleep 1000"]), within).err().unwrap();
        assert!(error.contains("did not end within 200ms"), "{error}");
        let mut ready = Command::new("sh");
        let (_child, line) =
            started(ready.args(["-c", "echo ready; sleep 1000"]), PATIENCE).unwrap();
        assert_eq!(line, "ready\n");
    }

    #[test]
    fn rate_is_found_in_the_output_of_tools() {
        assert_eq!(rate("Goodput: 1.5 Gbit/s\n"), Some(1.5e9));
        assert_eq!(rate("Throughput: 1476.250000 Mbit/s\n"), Some(1_476_250_000.0));
        assert_eq!(rate("{\"goodput_bit_s\": 7.5}"), Some(7.5));
        assert_eq!(rate("nothing"), None);
    }
}
