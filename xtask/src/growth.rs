//! `cargo xtask bench growth`: whether the cost of a unit of work stays the same as the work grows.
//!
//! A row has four sizes. The first one has the start of the process: the cost of a unit is that of the work beyond it.
//! It must not rise from the second size on. Processor time counts, or memory in all, and the least of several runs:
//! other load adds to both.

use crate::bench::binary;
use crate::chore::{Outcome, spelled};
use crate::process::{Running, Scratch, fill, forward, listen};
use std::fmt::Write;
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: cargo xtask bench growth [--only WORD] [--runs N]

  --only WORD   only rows whose name contains WORD
  --runs N      runs of each size (default 3); the least cost counts
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
";

/// By so much the cost of a unit may rise.
const TOLERANCE: f64 = 0.25;
/// Longest time of a command, in seconds.
const LIMIT: &str = "600";
/// Bytes of the file that each client fetches, and its segments.
const FILE_BYTES: u64 = 2_000_000;
const SEGMENTS: f64 = FILE_BYTES as f64 / 8_000.0;

/// A kind of work.
struct Row {
    name: &'static str,
    /// Subject of the cost, and its unit.
    unit: &'static str,
    sizes: [u64; 4],
    /// Units of work of a size; none where the cost in all must not rise.
    work: Option<fn(f64) -> f64>,
    /// The cost in all.
    cost: fn(&Bench, u64) -> Outcome<f64>,
}

const ROWS: [Row; 10] = [
    Row {
        name: "files of a folder",
        unit: "µs a file",
        sizes: [100, 500, 2_000, 10_000],
        work: Some(|files| files),
        cost: |bench, files| Ok(bench.folder(files)? * 1e6),
    },
    Row {
        name: "clients of a server",
        unit: "µs a segment",
        sizes: [1, 10, 50, 200],
        work: Some(|clients| clients * SEGMENTS),
        cost: |bench, clients| Ok(bench.clients(clients)?.0 * 1e6),
    },
    Row {
        name: "clients of a server, memory",
        unit: "MB",
        sizes: [1, 10, 50, 200],
        work: None,
        cost: |bench, clients| Ok(bench.clients(clients)?.1),
    },
    Row {
        name: "nodes × prefixes of a simulation",
        unit: "µs a route",
        sizes: [30, 200, 400, 800],
        work: Some(|nodes| nodes * nodes),
        cost: |bench, nodes| Ok(bench.explained(&mesh(nodes))? * 1e6),
    },
    Row {
        name: "exceptions of a scenario",
        unit: "µs a link",
        sizes: [30, 1_000, 3_000, 9_000],
        work: Some(|links| links),
        cost: |bench, links| Ok(bench.explained(&exceptions(links))? * 1e6),
    },
    Row {
        name: "events of a scenario",
        unit: "µs an event",
        sizes: [10, 1_000, 5_000, 20_000],
        work: Some(|events| events),
        cost: |bench, count| Ok(bench.simulated("events", &events(count), true)? * 1e6),
    },
    Row {
        name: "points of a sweep",
        unit: "µs a point",
        sizes: [100, 1_000, 5_000, 20_000],
        work: Some(|points| points),
        cost: |bench, points| Ok(bench.simulated("points", &sweep(points), true)? * 1e6),
    },
    Row {
        name: "runs of a folder, opened",
        unit: "µs a run",
        sizes: [100, 1_000, 5_000, 20_000],
        work: Some(|runs| runs),
        cost: |bench, runs| {
            let (folder, scenario) = (format!("runs-{runs}"), sweep(runs));
            if !bench.scratch.path(&folder).exists() {
                bench.simulated(&folder, &scenario, true)?;
            }
            Ok(bench.simulated(&folder, &scenario, false)? * 1e6)
        },
    },
    Row {
        name: "points of a sweep, memory",
        unit: "MB",
        sizes: [1_000, 10_000, 20_000, 50_000],
        work: None,
        cost: |bench, points| bench.sweep(points),
    },
    Row {
        name: "routes of a forwarder",
        unit: "µs a route",
        sizes: [100, 1_000, 10_000, 50_000],
        work: Some(|routes| routes),
        cost: |bench, routes| Ok(bench.routes(routes)? * 1e6),
    },
];

impl Row {
    /// Costs of a unit from the second size on: beyond the first size, or in all.
    fn units(&self, [first, rest @ ..]: [f64; 4]) -> [f64; 3] {
        let size = |at: usize| self.sizes[at] as f64;
        std::array::from_fn(|at| match self.work {
            Some(work) => (rest[at] - first) / (work(size(at + 1)) - work(size(0))),
            None => rest[at],
        })
    }
}

/// Measures, prints and judges.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (rows, runs) = parse(arguments).ok_or(USAGE)?;
    let bench = Bench { recoup: binary()?, scratch: Scratch::make()? };
    let mut rising = Vec::new();
    for row in rows {
        let mut costs = [f64::INFINITY; 4];
        for _ in 0..runs.get() {
            for (cost, size) in costs.iter_mut().zip(row.sizes) {
                *cost = cost.min((row.cost)(&bench, size)?);
            }
        }
        let units = row.units(costs);
        println!("{}", line(row, units));
        rising.extend(rise(units).is_none_or(|it| it > 1.0 + TOLERANCE).then_some(row.name));
    }
    match rising.is_empty() {
        true => Ok(()),
        false => Err(format!("the cost of a unit rises, or is unknown: {}", rising.join(", "))),
    }
}

/// The rows and the number of runs.
fn parse(arguments: &[&str]) -> Option<(Vec<&'static Row>, NonZeroU32)> {
    let (mut only, mut runs, mut words) = ("", NonZeroU32::new(3)?, arguments.iter());
    while let Some(word) = words.next() {
        match *word {
            "--runs" => runs = words.next()?.parse().ok()?,
            "--only" => only = words.next()?,
            _ => return None,
        }
    }
    let rows: Vec<_> = ROWS.iter().filter(|row| row.name.contains(only)).collect();
    (!rows.is_empty()).then_some((rows, runs))
}

/// The greatest cost after the second size, beside that of the second. `None` if a cost is unknown, or no cost at all.
fn rise([second, rest @ ..]: [f64; 3]) -> Option<f64> {
    let ratios = rest.map(|cost| cost / second);
    let is_known = second > 0.0 && ratios.iter().all(|it| it.is_finite() && *it > 0.0);
    is_known.then(|| ratios.into_iter().fold(0.0, f64::max))
}

fn line(row: &Row, units: [f64; 3]) -> String {
    let mut text = format!("{:<34} {:<13}", row.name, row.unit);
    for (size, cost) in row.sizes[1..].iter().zip(units) {
        let _ = write!(text, " {:>16}", format!("{size}: {cost:.2}"));
    }
    text + &match rise(units) {
        Some(rise) if rise > 1.0 + TOLERANCE => format!("  × {rise:.2} (RISES)"),
        Some(rise) => format!("  × {rise:.2}"),
        None => "  (UNKNOWN)".to_owned(),
    }
}

/// The command to measure, and a folder in memory.
struct Bench {
    recoup: PathBuf,
    scratch: Scratch,
}

impl Bench {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.recoup);
        command.args(words).stdin(Stdio::null());
        command
    }

    /// A command that ends after a while.
    fn limited(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.arg(LIMIT).arg(&self.recoup).args(words);
        command
    }

    /// Writes a file; returns its path.
    fn write(&self, name: &str, text: &str) -> Outcome<PathBuf> {
        let path = self.scratch.path(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }

    /// A server of that path; returns its face.
    fn serve(&self, path: PathBuf, listen: &str) -> Outcome<(Running, String)> {
        let mut serve = self.command(&["serve", "--name", "/bench", "--json", "--listen", listen]);
        let (server, printed) = Running::announced(serve.arg(path).stderr(Stdio::null()))?;
        Ok((server, printed["face"].as_str().unwrap_or_default().to_owned()))
    }

    /// Processor seconds of a fetch of so many small files.
    fn folder(&self, files: u64) -> Outcome<f64> {
        let folder = self.scratch.path(&format!("folder-{files}"));
        let copy = self.scratch.path("copy");
        let failed = |error: std::io::Error| error.to_string();
        fs::create_dir_all(&folder).map_err(failed)?;
        (0..files).try_for_each(|it| fill(&folder.join(it.to_string()), 100)).map_err(failed)?;
        let (_server, face) = self.serve(folder, &self.scratch.unix("folder"))?;
        let mut fetch = self.limited(&["fetch", "/bench", "-r", "-q", "--face", &face, "-o"]);
        let used = processor_seconds(fetch.arg(&copy))?;
        fs::remove_dir_all(copy).map_err(failed)?;
        Ok(used)
    }

    /// Processor seconds, and megabytes at the peak, of a server with so many clients at a time.
    fn clients(&self, clients: u64) -> Outcome<(f64, f64)> {
        let original = self.scratch.path("original");
        fill(&original, FILE_BYTES).map_err(|error| error.to_string())?;
        let (server, face) = self.serve(original, "udp://127.0.0.1:0")?;
        let before = server.processor_seconds();
        let fetch = || {
            let words = [
                "fetch",
                "/bench",
                "-q",
                "-o",
                "/dev/null",
                "--max-time",
                &format!("{LIMIT} s"),
                "--face",
                &face,
            ];
            Running::start(&mut self.command(&words))
        };
        let mut fetches = (0..clients).map(|_| fetch()).collect::<Outcome<Vec<_>>>()?;
        for fetch in &mut fetches {
            let status = fetch.0.wait().map_err(|error| error.to_string())?;
            status.success().then_some(()).ok_or("a fetch failed")?;
        }
        Ok((server.processor_seconds() - before, server.megabytes("VmHWM:")))
    }

    /// Processor seconds until a scenario is understood.
    fn explained(&self, scenario: &str) -> Outcome<f64> {
        let path = self.write("scenario.toml", scenario)?;
        processor_seconds(self.limited(&["sim", "--explain"]).arg(path))
    }

    /// Processor seconds of a simulation with results in that folder, begun anew or gone on with.
    fn simulated(&self, folder: &str, scenario: &str, is_fresh: bool) -> Outcome<f64> {
        let path = self.write("simulated.toml", scenario)?;
        let mut sim = self.limited(&["sim", "-q", "--jobs", "1", "--out"]);
        sim.arg(self.scratch.path(folder)).arg(path);
        sim.args(is_fresh.then_some("--fresh"));
        processor_seconds(&sim)
    }

    /// Megabytes at the peak of a sweep of so many points.
    fn sweep(&self, points: u64) -> Outcome<f64> {
        let path = self.write("sweep.toml", &sweep(points))?;
        let begun = Instant::now();
        let limit = Duration::from_secs(LIMIT.parse().map_err(|_| USAGE)?);
        let mut sim = self.command(&["sim", "-q", "--fresh", "--jobs", "1", "--out"]);
        sim.arg(self.scratch.path("results")).arg(path).stdout(Stdio::null());
        let (mut running, mut most) = (Running::start(&mut sim)?, 0.0);
        loop {
            most = f64::max(most, running.megabytes("VmHWM:"));
            if let Some(status) = running.0.try_wait().map_err(|error| error.to_string())? {
                return match status.success() {
                    true => Ok(most),
                    false => Err(format!("{} failed ({status})", spelled(&sim))),
                };
            }
            if begun.elapsed() > limit {
                return Err(format!("{} does not end in {limit:?}", spelled(&sim)));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Processor seconds until a forwarder with so many routes listens.
    fn routes(&self, routes: u64) -> Outcome<f64> {
        let mut text = listen(&self.scratch.unix("forward"));
        text += "[[face]]\nname = \"up\"\nuri = \"udp4://127.0.0.1:9\"\n";
        for number in 0..routes {
            let _ = write!(text, "[[route]]\nprefix = \"/bench/{number}\"\nface = \"up\"\n");
        }
        let config = self.scratch.path("forward.toml");
        let (running, _) = forward(&self.recoup, &config, &text, &[])?;
        Ok(running.processor_seconds())
    }
}

/// Processor seconds of a command until its end, in milliseconds.
fn processor_seconds(command: &Command) -> Outcome<f64> {
    let mut bash = Command::new("bash");
    bash.args(["-c", "TIMEFORMAT='%U %S'; time \"$@\" >/dev/null", "bash"]);
    bash.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    let output = bash.output().map_err(|error| format!("{}: {error}", spelled(command)))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let last = printed.lines().last().unwrap_or_default();
    let seconds: Vec<f64> = last.split(' ').filter_map(|it| it.parse().ok()).collect();
    match (output.status.success(), seconds.as_slice()) {
        (true, [user, system]) => Ok(user + system),
        _ => Err(format!("{} failed:\n{printed}", spelled(command))),
    }
}

/// The beginning of a scenario of one fetch.
fn fetch(consumer: &str, producer: &str) -> String {
    format!(
        "seeds = 1\nstop = \"1 s\"\n[applications.c]\nkind = \"fetch\"\nnode = \"{consumer}\"\nobject = \"/file\"\n\
         [applications.p]\nkind = \"serve\"\nnode = \"{producer}\"\nprefix = \"/file\"\nsize = \"8 kB\"\n"
    )
}

/// A scenario of so many nodes, of which each serves a prefix of its own.
fn mesh(nodes: u64) -> String {
    let mut text = fetch("n1", "n2");
    let _ = write!(text, "[topology]\nkind = \"random\"\nnodes = {nodes}\nlinks = {}\n", 2 * nodes);
    for node in 1..=nodes {
        let table = format!("[applications.s{node}]\nkind = \"serve\"\nnode = \"n{node}\"\n");
        let _ = write!(text, "{table}prefix = \"/s{node}\"\nsize = \"8 kB\"\n");
    }
    text
}

/// A scenario of so many links, of which each is an exception.
fn exceptions(links: u64) -> String {
    let mut text = fetch("n1", "n2");
    let _ = write!(text, "[topology]\nkind = \"line\"\nnodes = {}\n", links + 1);
    for link in 1..=links {
        let _ = write!(text, "[links.n{link}-n{}]\ndelay = \"{link} us\"\n", link + 1);
    }
    text
}

/// A scenario with so many events.
fn events(count: u64) -> String {
    let mut text = fetch("a", "b") + "[topology]\nlinks = [\"a-b\"]\n";
    for event in 1..=count {
        let to = format!("to = {{ rate = \"{} Mbit/s\" }}", event % 7 + 1);
        let _ = write!(text, "[[event]]\nat = \"{event} us\"\nchange = \"a-b\"\n{to}\n");
    }
    text
}

/// A scenario with a sweep of so many points, a multiple of 100.
fn sweep(points: u64) -> String {
    let mut text = fetch("a", "b") + "[topology]\nlinks = [\"a-b\"]\n[sweep]\n";
    for (key, unit, values) in [("delay", "us", 100), ("rate", "Mbit/s", points / 100)] {
        let values: Vec<_> = (1..=values).map(|value| format!("\"{value} {unit}\"")).collect();
        let _ = writeln!(text, "\"link.{key}\" = [{}]", values.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rise_counts_from_the_second_size() {
        assert_eq!(rise([2.0, 1.0, 3.0]), Some(1.5));
        assert_eq!(rise([4.0, 3.0, 2.0]), Some(0.75));
        for unknown in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            for at in 0..3 {
                let mut units = [1.0; 3];
                units[at] = unknown;
                assert_eq!(rise(units), None, "{units:?}");
            }
        }
    }

    #[test]
    fn rising_row_is_marked() {
        let text = |last| line(&ROWS[1], [4.0, 4.0, last]);
        assert!(text(5.1).ends_with("× 1.27 (RISES)") && text(4.9).ends_with("× 1.23"));
        assert!(text(f64::NAN).ends_with("(UNKNOWN)"));
    }
}
