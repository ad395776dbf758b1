//! `cargo xtask bench sim`: how fast the simulator is, in packet-hops (Interests and Data arriving at a
//! node) per CPU-second of the whole process.

use super::row::{Aim, Row};
use super::timed::{capture, limit_benchmark};
use crate::chore::{Outcome, cargo, command, show, target_directory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

const USAGE: &str = "\
usage: cargo xtask bench sim [--runs N] [--json] [--only WORD]

  --runs N      how often each workload runs (default 3); the median is shown
  --only WORD   only workloads whose name contains WORD
  --json        a JSON document instead of a table
";

/// A workload of the example `speed`, and the packet-hops per CPU-second that it must reach.
const WORKLOADS: [(&str, Option<f64>); 9] = [
    ("line-10MB", Some(4.0e6)),
    ("line-100MB", Some(4.0e6)),
    ("fat-line", Some(2.5e6)),
    ("sprint-100", Some(2.5e6)),
    ("sprint-500", None),
    ("sprint-10000", None),
    ("line-1000-nodes", None),
    ("cache-1000000", None),
    // 15 million packet-hops in 15 seconds.
    ("catalogue-100000", Some(1.0e6)),
];

/// Workloads of the report of all benchmarks, their names there, and packet-hops per CPU-second.
const REPORTED: [(&str, &str, f64); 2] = [
    ("line-100MB", "line of three links, 100 MB", 6.5e6),
    ("sprint-100", "Sprint, LRU of 100 Data", 4.5e6),
];
/// Simulated over processor time in the saturated grid of 36 access points.
const WIFI_AIM: f64 = 60.0;
/// Part of the name of that grid in the output of the example `wifi_speed`.
const GRID: &str = "36 access points, 10 stations that fetch all the time, 802.11n";

/// How long a workload may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Clock ticks of /proc/self/stat in a second.
const TICKS: f64 = 100.0;

/// Output of a run, and its processor time.
struct Run {
    printed: BTreeMap<String, f64>,
    cpu_s: f64,
}

impl Run {
    fn get(&self, key: &str) -> f64 {
        self.printed.get(key).copied().unwrap_or(0.0)
    }
}

/// Runs the benchmark and prints what it found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut runs, mut as_json, mut only) = (3, false, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--runs" => runs = words.next().and_then(|it| it.parse().ok()).ok_or(USAGE)?,
            "--only" => only = Some(words.next().ok_or(USAGE)?.to_string()),
            "--json" => as_json = true,
            _ => return Err(USAGE.into()),
        }
    }
    build("speed")?;
    let mut cases: Vec<(&str, Option<f64>, Vec<Run>)> = WORKLOADS
        .iter()
        .filter(|(name, _)| only.as_ref().is_none_or(|word| name.contains(word.as_str())))
        .map(|(name, gate)| (*name, *gate, Vec::new()))
        .collect();
    limit_benchmark("sim", LIMIT.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)));
    for turn in 1..=runs {
        for (name, _, done) in &mut cases {
            eprintln!("run {turn} of {runs}: {name}");
            done.push(speed(name)?);
        }
    }
    let memory = if only.is_none() { memory()? } else { Vec::new() };
    if as_json {
        let cases: Vec<Value> =
            cases.iter().map(|(name, gate, runs)| to_json(name, *gate, runs)).collect();
        let memory: BTreeMap<_, _> = memory.into_iter().collect();
        println!("{:#}", json!({ "runs": runs, "cases": cases, "bytes_each": memory }));
        return Ok(());
    }
    println!("\nmillion packet-hops per CPU-second, median [min–max] of {runs}\n");
    println!(
        "{:<16} {:>20} {:>12} {:>10} {:>12} {:>10}",
        "", "M hops/CPU-s", "gate", "M hops", "k requests/s", "peak MB"
    );
    for (name, gate, runs) in &cases {
        print(name, *gate, runs);
    }
    for (what, bytes) in memory {
        println!("{what}: {bytes:.0} bytes each");
    }
    Ok(())
}

/// Builds an example as fast as it gets.
fn build(example: &str) -> Outcome {
    let build =
        ["build", "--profile", "dist", "--quiet", "--package", "recoup-sim", "--example", example];
    show(&mut cargo(&build))
}

/// Packet-hops per CPU-second of some workloads, in turn.
pub(super) fn rows(runs: usize) -> Outcome<Vec<Row>> {
    build("speed")?;
    let mut values = REPORTED.map(|_| Vec::new());
    for turn in 1..=runs {
        for ((workload, ..), values) in REPORTED.iter().zip(&mut values) {
            eprintln!("run {turn} of {runs}: {workload}");
            let run = speed(workload)?;
            values.push(run.get("hops") / run.cpu_s / 1e6);
        }
    }
    let row = |((_, name, least), values): (&(_, &str, f64), _)| {
        let unit = "M packet-hops per CPU-second";
        Row::of("simulator", *name, unit, values, Some(Aim::AtLeast(least / 1e6)))
    };
    Ok(REPORTED.iter().zip(values).filter_map(row).collect())
}

/// Simulated over processor time of the saturated grid of access points.
pub(super) fn wifi_rows(runs: usize) -> Outcome<Vec<Row>> {
    build("wifi_speed")?;
    let binary = target_directory()?.join("dist/examples/wifi_speed");
    let mut values = Vec::new();
    for turn in 1..=runs {
        eprintln!("run {turn} of {runs}: {GRID}");
        values.push(ratio(&capture(command(&binary).arg(GRID), LIMIT)?)?);
    }
    let name = "36 access points, saturated: simulated over processor time";
    Ok(Row::of("802.11", name, "×", values, Some(Aim::AtLeast(WIFI_AIM))).into_iter().collect())
}

/// The ratio at the end of what `wifi_speed` prints.
fn ratio(printed: &str) -> Outcome<f64> {
    let seconds = |unit: &str| {
        let before = printed.split_once(unit)?.0;
        before.rsplit(' ').next()?.parse::<f64>().ok()
    };
    let (simulated, processor) = (seconds(" s simulated"), seconds(" CPU-s"));
    let ratio = simulated.zip(processor).map(|(simulated, processor)| simulated / processor);
    ratio.ok_or_else(|| format!("wifi_speed printed {printed:?}"))
}

fn speed(workload: &str) -> Outcome<Run> {
    let binary = target_directory()?.join("dist/examples/speed");
    let before = children_cpu_s()?;
    let printed = capture(command(binary).arg(workload), LIMIT)?;
    let ticked_s = (children_cpu_s()? - before).max(1.0 / TICKS);
    let printed: BTreeMap<String, f64> = printed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?)))
        .collect();
    // Short runs need better than clock ticks; not every kernel has that.
    let exact_s = printed.get("cpu_nanos").map(|nanos| nanos / 1e9).filter(|cpu_s| *cpu_s > 0.0);
    Ok(Run { printed, cpu_s: exact_s.unwrap_or(ticked_s) })
}

/// CPU time of all children that have ended, user and system.
fn children_cpu_s() -> Outcome<f64> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    // cutime and cstime are fields 16 and 17; counting begins after the name, at field 3.
    let ticks = |field: usize| fields.get(field - 3).and_then(|it| it.parse::<f64>().ok());
    match (ticks(16), ticks(17)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS),
        _ => Err("cannot read /proc/self/stat".into()),
    }
}

/// Bytes that a pending Interest and a cached Data take, from the peak memory of runs that hold many.
fn memory() -> Outcome<Vec<(&'static str, f64)>> {
    let empty = speed("line-10MB")?.get("peak_kib");
    let each = |workload, of: &str| -> Outcome<f64> {
        let run = speed(workload)?;
        Ok((run.get("peak_kib") - empty) * 1024.0 / run.get(of).max(1.0))
    };
    Ok(vec![
        ("a pending Interest", each("pending-interests", "pending")?),
        ("a cached Data", each("cached-data", "cached")?),
    ])
}

fn spread(runs: &[Run], of: impl Fn(&Run) -> f64) -> (f64, f64, f64) {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(0.0);
    (at(values.len() / 2), at(0), at(values.len().saturating_sub(1)))
}

fn print(name: &str, gate: Option<f64>, runs: &[Run]) {
    let (median, least, most) = spread(runs, |run| run.get("hops") / run.cpu_s / 1e6);
    let figure = format!("{median:.2} [{least:.2}–{most:.2}]");
    let verdict = |gate| if median >= gate / 1e6 { "met" } else { "not met" };
    let gate = gate.map_or(String::new(), |gate| format!("{:.1} {}", gate / 1e6, verdict(gate)));
    let hops = spread(runs, |run| run.get("hops") / 1e6).0;
    let requests = spread(runs, |run| run.get("requests") / run.cpu_s / 1e3).0;
    let peak = spread(runs, |run| run.get("peak_kib") / 1024.0).0;
    println!("{name:<16} {figure:>20} {gate:>12} {hops:>10.2} {requests:>12.0} {peak:>10.1}");
}

fn to_json(name: &str, gate: Option<f64>, runs: &[Run]) -> Value {
    let (median, min, max) = spread(runs, |run| run.get("hops") / run.cpu_s);
    let requests = spread(runs, |run| run.get("requests") / run.cpu_s).0;
    json!({ "case": name, "gate": gate, "hops_per_cpu_s": { "median": median, "min": min, "max": max },
        "requests_per_cpu_s": requests, "hops": spread(runs, |run| run.get("hops")).0,
        "peak_kib": spread(runs, |run| run.get("peak_kib")).0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_read_with_all_digits() {
        let printed = "36 points: 10.00 s simulated, 81 packet-hops, 1.6000 CPU-s, 6x\n";
        assert_eq!(ratio(printed), Ok(6.25));
        assert!(ratio("36 points: no simulation").is_err());
    }
}
