//! `cargo xtask soak`: forwarders, servers and fetches as real processes under random faults, for a while.
//!
//! ```text
//! fetches ── near ── lossy link ── far ── steady, mortal      servers with certificates; the second one is killed
//!        └────────── lossy link ───────── direct              a server without a forwarder
//! ```
//!
//! Each fetched file is compared with its original. Processes that are never killed must keep their memory and their
//! descriptors. All runs in namespaces of its own: its network, its disks and its processes end with it.

mod fault;
mod fetches;
pub(crate) mod flood;
mod network;
mod random;
mod relay;
mod resources;

use crate::chore::{Outcome, cargo, command, quiet, show, target_directory};
use crate::test::FEATURES;
use fetches::{Fetches, Tally};
use network::Network;
use random::Random;
use resources::Resources;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const USAGE: &str = "soak [--minutes N|--hours N] [--pause SECONDS] [--seed N]";
const DEFAULT_MINUTES: f64 = 30.0;
/// Time that the start, and the fetches after the last fault, take at most.
const LATEST_END: Duration = Duration::from_secs(40 * 60);
/// Set inside the namespaces.
const INSIDE: &str = "RECOUP_SOAK_INSIDE";
/// Namespaces of users, mounts, networks and processes; all processes end with the first one.
pub(crate) const NAMESPACES: [&str; 8] = [
    "--map-root-user",
    "--mount",
    "--net",
    "--pid",
    "--fork",
    "--mount-proc",
    "--kill-child",
    "--",
];

/// Runs for the given time; prints one line of verdict.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let Options { time, pause, seed } = parse(arguments)?;
    let folder = target_directory()?.join("soak").join(seed.to_string());
    if std::env::var_os(INSIDE).is_some() {
        return soak(&folder, time, pause, seed);
    }
    available().map_err(|reason| format!("a soak needs namespaces of its own: {reason}"))?;
    let recoup = binary()?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let minutes = (time.as_secs_f64() / 60.0).to_string();
    let limit = (time + LATEST_END).as_secs().to_string();
    // A signal to this process group kills the namespaces.
    let mut inside = command("timeout");
    inside.args(["--foreground", "--signal=KILL", &limit, "unshare"]).args(NAMESPACES).arg(own);
    inside.args(["soak", "--minutes", &minutes, "--seed", &seed.to_string()]);
    inside.args(["--pause", &pause.as_secs_f64().to_string()]);
    show(inside.env(INSIDE, "1").env("RECOUP_BINARY", recoup))
        .map_err(|error| format!("{error}; seed {seed} repeats the faults"))
}

/// Whether this system lets a soak have its namespaces; the reason if it does not.
pub(crate) fn available() -> Outcome {
    let mut attempt = command("unshare");
    attempt.args(NAMESPACES).args(["sh", "-c", "ip link set lo up && mount -t tmpfs soak /mnt"]);
    quiet(&mut attempt).map_err(|error| error.lines().last().unwrap_or_default().to_string())
}

/// The command with the checks of a debug build, or the one that `RECOUP_BINARY` names; `recoup-lab` is beside it.
pub(crate) fn binary() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("RECOUP_BINARY") {
        return fs::canonicalize(path).map_err(|error| format!("RECOUP_BINARY: {error}"));
    }
    // With the features of the tests, so that nothing is compiled twice.
    let bins = ["--bin", "recoup", "--bin", "recoup-lab"];
    let build = ["build", "--quiet", "--workspace", "--features", FEATURES];
    show(cargo(&build).args(bins))?;
    Ok(target_directory()?.join("debug/recoup"))
}

#[derive(Debug, PartialEq)]
struct Options {
    time: Duration,
    /// Time between two fetches of a worker. Without it they need most of a core.
    pause: Duration,
    seed: u64,
}

fn parse(arguments: &[&str]) -> Outcome<Options> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (mut minutes, mut pause, mut seed) = (DEFAULT_MINUTES, 0.0, since.as_secs());
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let number = rest.next().ok_or(format!("{word} needs a number. {USAGE}"))?;
        let wrong = format!("{word} {number}: not a positive number. {USAGE}");
        match *word {
            "--minutes" => minutes = number.parse().map_err(|_| wrong.clone())?,
            "--hours" => minutes = 60.0 * number.parse::<f64>().map_err(|_| wrong.clone())?,
            "--pause" => pause = number.parse().map_err(|_| wrong.clone())?,
            "--seed" => seed = number.parse().map_err(|_| wrong.clone())?,
            _ => return Err(format!("{word} is no option. {USAGE}")),
        }
        if minutes.is_nan() || minutes <= 0.0 {
            return Err(wrong);
        }
    }
    let seconds = |value: f64| {
        Duration::try_from_secs_f64(value).map_err(|_| format!("{value} s: too much or too little"))
    };
    Ok(Options { time: seconds(60.0 * minutes)?, pause: seconds(pause)?, seed })
}

/// State shared by all threads of a soak.
struct Soak {
    recoup: PathBuf,
    /// Logs and statistics, kept if the soak fails.
    folder: PathBuf,
    start: Instant,
    /// Faults and fetches are over.
    is_over: AtomicBool,
    log: Mutex<File>,
    failures: Mutex<Vec<String>>,
}

impl Soak {
    /// Writes a line to the log, with the time in seconds.
    fn log(&self, event: &str) {
        let mut log = self.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = writeln!(log, "{:.3} {event}", self.start.elapsed().as_secs_f64());
    }

    /// Records something that must not happen.
    fn fail(&self, what: String) {
        self.log(&format!("FAILURE {what}"));
        eprintln!("{:.1} s: {what}", self.start.elapsed().as_secs_f64());
        self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(what);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Sleeps, but not beyond the end.
    fn sleep(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.is_over() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20).min(time));
        }
    }
}

fn soak(folder: &Path, time: Duration, pause: Duration, seed: u64) -> Outcome {
    let fails = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(fails)?;
    let recoup = std::env::var_os("RECOUP_BINARY").map(PathBuf::from).ok_or(USAGE)?;
    let soak = Soak {
        recoup,
        folder: folder.to_path_buf(),
        start: Instant::now(),
        is_over: AtomicBool::new(false),
        log: Mutex::new(File::create(folder.join("log")).map_err(fails)?),
        failures: Mutex::default(),
    };
    println!("soak of {:.1} min, seed {seed}, log in {}", minutes(time), folder.display());
    let random = Random::new(seed);
    let network = Network::start(&soak, &random)?;
    let resources = Resources::new(&soak);
    let fetches = Fetches::new(&soak, &network, pause);
    // A server keeps files open that were fetched, each once: all are open before the first sample.
    fetches.fetch_all();
    let begin = Instant::now();
    let faults = std::thread::scope(|scope| {
        for worker in 0..fetches::WORKERS {
            let (fetches, random) = (&fetches, random.stream(100 + worker));
            scope.spawn(move || fetches.work(random, worker));
        }
        scope.spawn(|| resources.watch(&network));
        let (stream, shared) = (random.stream(1), (&soak, &network, &fetches));
        let faults = scope.spawn(move || fault::inject(shared.0, shared.1, shared.2, &stream));
        while begin.elapsed() < time {
            std::thread::sleep(Duration::from_millis(100));
            network.check(&soak);
        }
        soak.is_over.store(true, Ordering::Relaxed);
        faults.join().unwrap_or_else(|_| {
            soak.fail("the thread of faults ended with a panic".into());
            0
        })
    });
    // Without faults, each file must arrive.
    fetches.fetch_all();
    network.check(&soak);
    let growth = resources.judge();
    let failures = std::mem::take(
        &mut *soak.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
    );
    let Tally { complete, interrupted, bytes } = fetches.tally();
    let verdict = format!(
        "seed {seed}, {:.1} min, {faults} faults, {complete} files ({:.1} MB) equal to their \
         originals, {interrupted} fetches interrupted and repeated; {growth}",
        minutes(soak.start.elapsed()),
        bytes as f64 / 1e6,
    );
    soak.log(&verdict);
    drop(network);
    if failures.is_empty() {
        println!("soak ok: {verdict}");
        return fs::remove_dir_all(folder).map_err(fails);
    }
    println!("soak FAILED: {verdict}; {} failures, the first one: {}", failures.len(), failures[0]);
    Err(format!("log in {}", folder.display()))
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}
