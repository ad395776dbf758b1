//! `cargo xtask bench forward`: what a forwarder process moves and what it costs, with clients of several kinds, beside a
//! bare socket and beside other forwarders where their binaries are given.

use super::neighbour::{self, Neighbour};
use super::process::{Room, Running, started};
use super::row::{Aim, Row};
use super::sample::Spread;
use super::timed::{Timed, capture, limit_benchmark};
use super::transfer::{fetch, serve};
use super::{binary, number};
use crate::chore::{Outcome, cargo, command, show, target_directory};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const USAGE: &str = "\
usage: cargo xtask bench forward [--runs N] [--json] [--only WORD]

  --runs N      how often each case runs (default 5); the median is shown
  --only WORD   only cases whose name contains WORD
  --json        a JSON document instead of a table
Environment: RECOUP_BINARY names a recoup to measure instead of building one;
RECOUP_PEER_NDND and RECOUP_PEER_NFD (with RECOUP_PEER_NDNGET and RECOUP_PEER_NDNSERVE) name neighbours.
";

/// Bytes of the file that goes through two forwarders.
const FILE_BYTES: u64 = 200_000_000;

/// Time for clients to connect, and to complete their exchanges.
const CLIENT_LIMIT: Duration = Duration::from_secs(120);
/// Time for a producer to register its prefix.
const REGISTER_LIMIT: Duration = Duration::from_secs(20);
/// Time for one run of all cases.
const RUN_LIMIT: Duration = Duration::from_secs(900);

/// How clients behave, and what a forwarder between them must reach.
struct Load {
    name: &'static str,
    /// Arguments of both clients.
    both: &'static [&'static str],
    consumer: &'static [&'static str],
    gate: Gate,
}

/// Gates of the benchmark.
#[derive(Clone, Copy)]
enum Gate {
    /// Exchanges for each second of the forwarder's processor time.
    PerCpuSecond(f64),
    /// Exchanges a second.
    PerSecond(f64),
    /// A round trip of at most two bare ones and some microseconds, in the median.
    Latency { beyond_bare_us: f64, p999_us: f64 },
}

const LOADS: [Load; 5] = [
    Load {
        name: "clients that batch, window 256",
        both: &["style=batch"],
        consumer: &["window=256"],
        gate: Gate::PerCpuSecond(1.6e6),
    },
    Load {
        name: "clients that write each packet",
        both: &["style=each"],
        consumer: &["window=256"],
        gate: Gate::PerCpuSecond(600e3),
    },
    Load {
        name: "slow clients that write each packet",
        both: &["style=each", "work-ns=2500"],
        consumer: &["window=256"],
        gate: Gate::PerCpuSecond(200e3),
    },
    Load {
        name: "one exchange after the other",
        both: &["style=batch"],
        consumer: &["window=1"],
        gate: Gate::PerSecond(20e3),
    },
    Load {
        name: "one exchange each millisecond",
        both: &["style=batch"],
        consumer: &["window=1", "interval-us=1000"],
        gate: Gate::Latency { beyond_bare_us: 15.0, p999_us: 1000.0 },
    },
];

/// Output of a run, and the resources that the forwarder used.
#[derive(Clone, Default)]
struct Run {
    printed: BTreeMap<String, f64>,
    cpu_s: f64,
    peak_mb: f64,
    /// Median round trip over a bare socket in the same minute, microseconds.
    bare_us: f64,
    /// 99.9th percentile of those, in microseconds.
    bare_p999_us: f64,
}

impl Run {
    fn get(&self, key: &str) -> f64 {
        self.printed.get(key).copied().unwrap_or(f64::NAN)
    }

    fn per_second(&self) -> f64 {
        self.get("exchanges") / self.get("seconds")
    }

    fn per_cpu_second(&self) -> f64 {
        self.get("exchanges") / self.cpu_s
    }
}

/// A forwarder, a load, and the runs so far.
struct Case {
    forwarder: Forwarder,
    load: &'static Load,
    runs: Vec<Run>,
}

/// Whose forwarder it is.
#[derive(Clone)]
enum Forwarder {
    Ours(PathBuf),
    Theirs(Neighbour),
}

/// Runs the benchmark and prints what it found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut runs, mut as_json, mut only) = (5, false, None);
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--runs" => runs = number(words.next())?,
            "--only" => only = Some(words.next().ok_or(USAGE)?.to_string()),
            "--json" => as_json = true,
            _ => return Err(USAGE.into()),
        }
    }
    let recoup = binary()?;
    let mut notes = Vec::new();
    let wanted = |name: &str| only.as_ref().is_none_or(|word| name.contains(word.as_str()));
    let mut cases = cases(&recoup, neighbour::given(&mut notes));
    cases.retain(|case| wanted(&case.name()));
    limit_benchmark("forward", RUN_LIMIT.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)));
    let files = measure(&recoup, &mut cases, runs, wanted(TWO), &mut notes)?;
    if as_json {
        let cases: Vec<Value> = cases.iter().map(Case::to_json).collect();
        println!(
            "{:#}",
            json!({ "runs": runs, "cases": cases, "two_forwarders_bps": files, "notes": notes })
        );
        return Ok(());
    }
    println!("\nexchanges of 100 bytes, median [min–max] of {runs}\n");
    println!("{:<44} {:>24} {:>12} {:>9}  gate", "", "k per CPU-second", "k a second", "peak MB");
    cases.iter().for_each(Case::print);
    if let Some(spread) = Spread::of(files) {
        let verdict = met(spread.median >= TWO_GATE);
        let (spread, gate) = (spread.in_units(1e9, 2), TWO_GATE / 1e9);
        println!("{TWO}: {spread} Gbit/s of goodput; gate {gate:.0}: {verdict}");
    }
    notes.iter().for_each(|note| println!("note: {note}"));
    Ok(())
}

/// Rows of our forwarder alone.
pub(super) fn rows(recoup: &Path, runs: usize, notes: &mut Vec<String>) -> Outcome<Vec<Row>> {
    let mut cases = cases(recoup, Vec::new());
    let files = measure(recoup, &mut cases, runs, true, notes)?;
    let gigabits = files.iter().map(|rate| rate / 1e9).collect();
    let two = Row::of("forward", TWO, "Gbit/s", gigabits, Some(Aim::AtLeast(TWO_GATE / 1e9)));
    Ok(cases.iter().filter_map(Case::to_row).chain(two).collect())
}

/// Measures the cases in turn, `runs` times, and the file through two forwarders if that `is_wanted`; returns the rates of the
/// file, in bits per second.
fn measure(
    recoup: &Path,
    cases: &mut [Case],
    runs: usize,
    is_wanted: bool,
    notes: &mut Vec<String>,
) -> Outcome<Vec<f64>> {
    let (blast, room) = (blast()?, Room::make(FILE_BYTES)?);
    // Forwarders of others that have failed: each further case would wait for its deadline.
    let mut failed: BTreeSet<String> = BTreeSet::new();
    let mut files = Vec::new();
    for turn in 1..=runs {
        for case in &mut *cases {
            if failed.contains(&case.forwarder.name()) {
                continue;
            }
            eprintln!("run {turn} of {runs}: {}", case.name());
            match case.measure(&room, &blast) {
                Ok(run) => case.runs.push(run),
                Err(message) => {
                    let mut note = format!("{}, run {turn}: {message}", case.name());
                    if matches!(case.forwarder, Forwarder::Theirs(_)) {
                        note += "; it is measured no further";
                        failed.insert(case.forwarder.name());
                    }
                    notes.push(note);
                }
            }
        }
        if is_wanted {
            eprintln!("run {turn} of {runs}: {TWO}");
            match two_forwarders(recoup, &room) {
                Ok(rate) => files.push(rate),
                Err(message) => notes.push(format!("{TWO}, run {turn}: {message}")),
            }
        }
    }
    Ok(files)
}

/// The clients, built as fast as they get.
pub(super) fn blast() -> Outcome<PathBuf> {
    example("blast")
}

/// An example of `recoup-io`, built as fast as it gets.
pub(super) fn example(name: &str) -> Outcome<PathBuf> {
    let build =
        ["build", "--profile", "dist", "--quiet", "--package", "recoup-io", "--example", name];
    show(&mut cargo(&build))?;
    Ok(target_directory()?.join("dist/examples").join(name))
}

fn cases(recoup: &Path, neighbours: Vec<Neighbour>) -> Vec<Case> {
    let ours = Forwarder::Ours(recoup.to_path_buf());
    let forwarders = std::iter::once(ours).chain(neighbours.into_iter().map(Forwarder::Theirs));
    let with_loads = |forwarder: Forwarder| {
        LOADS.iter().map(move |load| Case { forwarder: forwarder.clone(), load, runs: Vec::new() })
    };
    forwarders.flat_map(with_loads).collect()
}

impl Forwarder {
    fn name(&self) -> String {
        match self {
            Self::Ours(_) => "recoup".to_owned(),
            Self::Theirs(neighbour) => neighbour.name.to_owned(),
        }
    }

    /// Starts the forwarder; returns its socket.
    fn start(&self, room: &Room) -> Outcome<(Running, PathBuf)> {
        match self {
            Self::Ours(recoup) => {
                let socket = room.path("node-socket");
                let _ = fs::remove_file(&socket);
                let text = listen_at(&unix(&socket));
                let (running, _) = forward(recoup, room, "node.toml", &text)?;
                Ok((running, socket))
            }
            Self::Theirs(neighbour) => {
                let (running, face) = neighbour::start(neighbour, room)?;
                Ok((running, face.trim_start_matches("unix://").into()))
            }
        }
    }
}

/// Starts a forwarder with a configuration; returns its address.
pub(super) fn forward(
    recoup: &Path,
    room: &Room,
    file: &str,
    text: &str,
) -> Outcome<(Running, Vec<String>)> {
    let path = room.path(file);
    fs::write(&path, text).map_err(|error| error.to_string())?;
    let mut forward = Command::new(recoup);
    let (running, printed) =
        Running::listen(forward.args(["forward", "--json", "--config"]).arg(path))?;
    let listening = printed["faces"].as_array().into_iter().flatten();
    Ok((running, listening.filter_map(|it| Some(it.as_str()?.to_owned())).collect()))
}

impl Case {
    fn name(&self) -> String {
        format!("{}: {}", self.forwarder.name(), self.load.name)
    }

    /// One run, with a forwarder and clients of its own.
    fn measure(&self, room: &Room, blast: &Path) -> Outcome<Run> {
        let mut echo = command(blast);
        echo.args(["echo", "seconds=1", "interval-us=1000"]);
        let bare = numbers(&capture(&mut echo, CLIENT_LIMIT)?);
        let (running, socket) = self.forwarder.start(room)?;
        let ends = |role: &str| {
            let mut client = command(blast);
            client.arg(role).arg(&socket).arg("/bench").args(self.load.both);
            client
        };
        let _producer = Producer::start(&mut ends("produce"))?;
        let before = running.processor_seconds();
        let printed = numbers(&capture(ends("consume").args(self.load.consumer), CLIENT_LIMIT)?);
        let cpu_s = running.processor_seconds() - before;
        let bare = |key| bare.get(key).copied().unwrap_or(f64::NAN);
        let (bare_us, bare_p999_us) = (bare("median_us"), bare("p999_us"));
        Ok(Run { printed, cpu_s, peak_mb: peak_mb(running.id()), bare_us, bare_p999_us })
    }

    fn spread(&self, of: impl Fn(&Run) -> f64) -> Option<Spread> {
        Spread::of(self.runs.iter().map(of).collect())
    }

    fn median(&self, of: impl Fn(&Run) -> f64) -> f64 {
        self.spread(of).map_or(f64::NAN, |spread| spread.median)
    }

    /// Verdict of the gate on the runs.
    fn verdict(&self) -> String {
        match self.load.gate {
            Gate::PerCpuSecond(least) => {
                let is_met = met(self.median(Run::per_cpu_second) >= least);
                format!("{:.0} k per CPU-second: {is_met}", least / 1e3)
            }
            Gate::PerSecond(least) => {
                let is_met = met(self.median(Run::per_second) >= least);
                format!("{:.0} k a second: {is_met}", least / 1e3)
            }
            Gate::Latency { beyond_bare_us, p999_us } => {
                let [median, p999] =
                    ["median_us", "p999_us"].map(|key| self.median(|it| it.get(key)));
                let bare = self.median(|run| run.bare_us);
                let bare_p999 = self.median(|run| run.bare_p999_us);
                let most = 2.0 * bare + beyond_bare_us;
                format!(
                    "round trip {median:.0} µs (99.9 %: {p999:.0}), bare {bare:.0} ({bare_p999:.0}); at most {most:.0} ({p999_us:.0}): {}",
                    met(median <= most && p999 <= p999_us)
                )
            }
        }
    }

    fn to_row(&self) -> Option<Row> {
        let values = |of: &dyn Fn(&Run) -> f64| self.runs.iter().map(of).collect::<Vec<f64>>();
        let (values, unit, aim) = match self.load.gate {
            Gate::PerCpuSecond(least) => (
                values(&|run| run.per_cpu_second() / 1e3),
                "k per CPU-second",
                Aim::AtLeast(least / 1e3),
            ),
            Gate::PerSecond(least) => {
                (values(&|run| run.per_second() / 1e3), "k a second", Aim::AtLeast(least / 1e3))
            }
            Gate::Latency { beyond_bare_us, .. } => (
                values(&|run| run.get("median_us") - 2.0 * run.bare_us),
                "µs beyond two bare sockets",
                Aim::AtMost(beyond_bare_us),
            ),
        };
        Row::of("forward", self.load.name, unit, values, Some(aim))
    }

    fn print(&self) {
        let text = |spread: Option<Spread>, of: fn(Spread) -> String| {
            spread.map_or_else(|| "–".to_owned(), of)
        };
        let per_cpu = text(self.spread(Run::per_cpu_second), |it| it.in_units(1e3, 0));
        let rate = text(self.spread(Run::per_second), |it| format!("{:.1}", it.median / 1e3));
        let peak = text(self.spread(|run| run.peak_mb), |it| format!("{:.1}", it.median));
        let ours = matches!(self.forwarder, Forwarder::Ours(_));
        let gate = if ours { self.verdict() } else { String::new() };
        println!("{:<44} {per_cpu:>24} {rate:>12} {peak:>9}  {gate}", self.name());
    }

    fn to_json(&self) -> Value {
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                json!({ "printed": run.printed, "cpu_s": run.cpu_s, "peak_mb": run.peak_mb,
                    "per_cpu_second": run.per_cpu_second(), "bare_us": run.bare_us,
                    "bare_p999_us": run.bare_p999_us })
            })
            .collect();
        json!({ "case": self.name(), "runs": runs })
    }
}

fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "not met" }
}

/// A client that answers; it ends with its owner.
pub(super) struct Producer(#[expect(dead_code, reason = "held until the producer may end")] Timed);

impl Producer {
    /// Starts it and waits until its prefix is registered.
    pub(super) fn start(client: &mut Command) -> Outcome<Self> {
        let (child, line) = started(client, REGISTER_LIMIT)?;
        match line.trim_end() {
            "ready" => Ok(Self(child)),
            printed => Err(format!("the producer printed {printed:?}")),
        }
    }
}

/// Lines of a key and a number.
pub(super) fn numbers(printed: &str) -> BTreeMap<String, f64> {
    let pairs = printed.lines().filter_map(|line| line.split_once(' '));
    pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect()
}

/// The most memory that a process held, in megabytes.
fn peak_mb(id: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    super::memory::field(&status, "VmHWM:") as f64 / 1e6
}

/// A line of a forwarder's configuration.
pub(super) fn listen_at(uri: &str) -> String {
    format!("[[listen]]\nuri = \"{uri}\"\n")
}

pub(super) fn unix(socket: &Path) -> String {
    format!("unix://{}", socket.display())
}

const TWO: &str = "recoup: a file through two forwarders, UDP between them";

/// Bits a second that the file must reach.
const TWO_GATE: f64 = 6e9;

/// Goodput of a file that is served behind one forwarder and fetched behind another.
fn two_forwarders(recoup: &Path, room: &Room) -> Outcome<f64> {
    let [near, far] = ["near", "far"].map(|name| room.path(name));
    [&near, &far].into_iter().for_each(|socket| drop(fs::remove_file(socket)));
    let text = listen_at(&unix(&far)) + &listen_at("udp4://127.0.0.1:0");
    let (_far, listening) = forward(recoup, room, "far.toml", &text)?;
    let udp =
        listening.iter().find(|uri| uri.starts_with("udp")).ok_or("the forwarder has no UDP")?;
    let text = listen_at(&unix(&near))
        + &format!(
            "[[face]]\nname = \"far\"\nuri = \"{udp}\"\n[[route]]\nprefix = \"/bench\"\nface = \"far\"\n"
        );
    let (_near, _) = forward(recoup, room, "near.toml", &text)?;
    let mut server = serve(recoup, &room.original, "8000");
    let (mut server, _) = Running::serve(server.args(["--face", &unix(&far)]))?;
    server.settle()?;
    let sample = room.time(fetch(recoup, &room.copy).args(["--face", &unix(&near)]), false)?;
    Ok(sample.transfer.unwrap_or(sample.whole))
}
