//! Fetches of random files, each repeated until its file is complete, and compared with its original.

use super::Soak;
use super::network::{Network, Role};
use super::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Files that are fetched at a time.
pub(super) const WORKERS: u64 = 3;
/// Longest time of one fetch; it ends by itself earlier.
const HANGS_AFTER: Duration = Duration::from_secs(600);
/// Time in which a file must arrive after the last fault.
const RECOVERS_WITHIN: Duration = Duration::from_secs(120);
/// How long the effects of a fault may last.
const EFFECT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(200);
/// Exit codes: success, no such name, a local file, verification, no forwarder, timeout.
const NO_NAME: i32 = 3;
const NO_FACE: i32 = 6;
const TIMEOUT: i32 = 7;

/// Counts of the fetches so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) complete: u64,
    pub(super) interrupted: u64,
    pub(super) bytes: u64,
}

/// A running fetch.
struct Running {
    id: u32,
    is_killed: bool,
}

/// All fetches of a soak.
pub(super) struct Fetches<'a> {
    soak: &'a Soak,
    network: &'a Network,
    running: Mutex<Vec<Running>>,
    /// Exit codes that a fault explains, each until a time.
    exempt: Mutex<Vec<(i32, Instant)>>,
    tally: Mutex<Tally>,
    /// Time between two fetches of a worker.
    pause: Duration,
}

impl<'a> Fetches<'a> {
    pub(super) fn new(soak: &'a Soak, network: &'a Network, pause: Duration) -> Self {
        let (running, exempt, tally) = Default::default();
        Self { soak, network, running, exempt, tally, pause }
    }

    pub(super) fn tally(&self) -> Tally {
        *locked(&self.tally)
    }

    /// Permits an exit code for a while, which a fault explains.
    pub(super) fn exempt(&self, code: i32) {
        let mut exempt = locked(&self.exempt);
        exempt.retain(|(it, _)| *it != code);
        exempt.push((code, Instant::now() + EFFECT));
    }

    /// The process of any running fetch.
    pub(super) fn any(&self, random: &Random) -> Option<u32> {
        let running = locked(&self.running);
        (!running.is_empty()).then(|| random.one(&running).id)
    }

    /// Kills any running fetch. Returns whether there was one.
    pub(super) fn kill(&self, random: &Random) -> bool {
        let mut running = locked(&self.running);
        let index = random.below(running.len());
        running.get_mut(index).is_some_and(|it| {
            it.is_killed = true;
            signal(it.id, Signal::KILL)
        })
    }

    /// Stops a running fetch. Returns whether there was one.
    pub(super) fn stop(&self, id: u32) -> bool {
        let running = locked(&self.running);
        running.iter().any(|it| it.id == id) && signal(id, Signal::STOP)
    }

    /// Lets a stopped fetch continue.
    pub(super) fn proceed(&self, id: u32) {
        let running = locked(&self.running);
        if running.iter().any(|it| it.id == id) {
            signal(id, Signal::CONT);
        }
    }

    /// Fetches random files until the soak is over.
    pub(super) fn work(&self, random: Random, worker: u64) {
        let folder = self.network.disk.join(worker.to_string());
        let _ = fs::create_dir_all(&folder);
        while !self.soak.is_over() {
            let from = *random.one(&Role::SERVERS);
            let number = random.below(Network::numbers().len());
            let output = folder.join(format!("{}-{number}", from.name()));
            while !self.soak.is_over() && !self.attempt(from, number, &output) {
                std::thread::sleep(PAUSE);
            }
            self.soak.sleep(self.pause);
        }
        let _ = fs::remove_dir_all(&folder);
    }

    /// Fetches each file from each server, without faults; records those that do not arrive in time.
    pub(super) fn fetch_all(&self) {
        for from in Role::SERVERS {
            for number in Network::numbers() {
                let until = Instant::now() + RECOVERS_WITHIN;
                let output = self.network.disk.join(format!("last-{}-{number}", from.name()));
                while !self.attempt(from, number, &output) {
                    if Instant::now() > until {
                        let name = from.name();
                        self.soak
                            .fail(format!("file {number} of {name} is not fetched without faults"));
                        break;
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Runs a fetch. Returns whether the file is complete; it is compared and removed.
    fn attempt(&self, from: Role, number: usize, output: &Path) -> bool {
        let start = Instant::now();
        let what = format!("fetch of {number} from {}", from.name());
        let log = output.with_extension("log");
        let run = || -> std::io::Result<(ExitStatus, bool)> {
            let mut command = self.network.fetch(from, number, output);
            // The log is not on the disk that is full at times.
            let log = File::create(self.log_of(&log))?;
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
            self.wait(child, &what)
        };
        let (status, is_killed) = match run() {
            Ok(ended) => ended,
            Err(error) => {
                self.soak.fail(format!("{what}: {error}"));
                return false;
            }
        };
        let printed = fs::read_to_string(self.log_of(&log)).unwrap_or_default();
        if printed.contains("panicked") {
            self.soak.fail(format!("{what} panicked: {printed}"));
        }
        if status.success() {
            return self.compare(number, output, &what);
        }
        locked(&self.tally).interrupted += 1;
        let is_expected = is_killed
            || status.code().is_some_and(|code| {
                matches!(code, NO_NAME | NO_FACE | TIMEOUT) || self.is_exempt(code, start)
            });
        let last = printed.lines().last().unwrap_or_default();
        match is_expected {
            true => self.soak.log(&format!("{what}: {status} {last}")),
            false => self.soak.fail(format!("{what}: {status} {last}")),
        }
        false
    }

    fn log_of(&self, output: &Path) -> std::path::PathBuf {
        let parts: Vec<_> = output.iter().rev().take(2).filter_map(|it| it.to_str()).collect();
        self.soak.folder.join(format!("fetch-{}", parts.join("-")))
    }

    /// Waits for a fetch. Returns its status, and whether it was killed here.
    fn wait(&self, mut child: Child, what: &str) -> std::io::Result<(ExitStatus, bool)> {
        let (id, start, began_before_end) = (child.id(), Instant::now(), !self.soak.is_over());
        locked(&self.running).push(Running { id, is_killed: false });
        let status = loop {
            // The list is locked so that no signal goes to a process that was waited for.
            let mut running = locked(&self.running);
            if let Some(status) = child.try_wait()? {
                let index = running.iter().position(|it| it.id == id);
                let it = index.map(|index| running.swap_remove(index));
                break (status, it.is_some_and(|it| it.is_killed));
            }
            let hangs = start.elapsed() > HANGS_AFTER;
            if hangs || began_before_end && self.soak.is_over() {
                running.iter_mut().filter(|it| it.id == id).for_each(|it| it.is_killed = true);
                signal(id, Signal::KILL);
            }
            drop(running);
            if hangs {
                self.soak.fail(format!("{what} does not end"));
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        Ok(status)
    }

    fn is_exempt(&self, code: i32, start: Instant) -> bool {
        locked(&self.exempt).iter().any(|(it, until)| *it == code && start < *until)
    }

    /// Compares a complete file with its original.
    fn compare(&self, number: usize, output: &Path, what: &str) -> bool {
        let original = fs::read(self.network.files().join(number.to_string()));
        let copy = fs::read(output);
        let is_equal = matches!((&original, &copy), (Ok(one), Ok(other)) if one == other);
        if !is_equal {
            let kept = self.soak.folder.join("wrong");
            let _ = fs::copy(output, kept);
            self.soak.fail(format!("{what}: the content differs"));
        }
        let mut tally = locked(&self.tally);
        tally.complete += 1;
        tally.bytes += copy.map_or(0, |it| it.len() as u64);
        let _ = fs::remove_file(output);
        true
    }
}

/// Sends a signal. Returns whether there was such a process.
fn signal(id: u32, signal: Signal) -> bool {
    let pid = Pid::from_raw(id.try_into().unwrap_or_default());
    pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
