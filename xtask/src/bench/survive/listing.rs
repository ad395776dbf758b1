//! A producer that lists folders without end.
use super::super::forward::{Producer, unix};
use super::super::memory::field;
use super::Stage;
use crate::chore::{Outcome, command};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// So much memory a consumer may take for listings, in megabytes.
const MOST_MB: f64 = 300.0;
/// Memory limit in kilobytes, so that the machine survives.
const LIMIT_KB: u64 = 6 << 20;
/// So long a consumer is watched.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Folders are fetched from a producer of each kind.
pub(super) fn bombs(stage: &mut Stage) -> Outcome {
    for shape in ["deep", "same", "endless"] {
        let socket = stage.room.path(shape);
        let mut producer = command(&stage.hostile);
        producer.arg("listings").arg(&socket).args(["/folder", shape]);
        let _producer = Producer::start(&mut producer)?;
        let copy = stage.room.path(&format!("{shape}-copy"));
        // The limit ends one that takes more memory than the machine can spare.
        let limited = format!("ulimit -v {LIMIT_KB} && exec \"$0\" \"$@\"");
        let mut fetch = Command::new("sh");
        fetch.args(["-c", &limited]).arg(&stage.recoup);
        fetch.args(["fetch", "/folder", "-q", "-r", "-o"]).arg(&copy);
        fetch.args(["--face", &unix(&socket)]).stdout(Stdio::null()).stderr(Stdio::null());
        let (peak_mb, ended) = watch(fetch.spawn().map_err(|error| error.to_string())?)?;
        let _ = fs::remove_dir_all(&copy);
        let what = format!("{shape}: {peak_mb:.0} MB at most, {}", ended.text());
        stage.find("listing bomb", peak_mb <= MOST_MB && ended != Ended::Killed, what);
    }
    Ok(())
}

/// How a consumer ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// With this exit code.
    Code(i32),
    /// By an unexpected signal.
    Killed,
    /// Not at all.
    Goes,
}

impl Ended {
    fn text(self) -> String {
        match self {
            Self::Code(code) => format!("ended with {code}"),
            Self::Killed => "aborted".into(),
            Self::Goes => format!("goes on after {} s", PATIENCE.as_secs()),
        }
    }
}

/// The most memory that a process held, and how it ended.
fn watch(mut child: Child) -> Outcome<(f64, Ended)> {
    let (begun, mut peak) = (Instant::now(), 0);
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        peak = field(&status, "VmHWM:").max(peak);
        let ended = match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => status.code().map_or(Ended::Killed, Ended::Code),
            None if begun.elapsed() < PATIENCE => {
                std::thread::sleep(LOOK_EVERY);
                continue;
            }
            None => {
                child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
                Ended::Goes
            }
        };
        return Ok((peak as f64 / 1e6, ended));
    }
}
