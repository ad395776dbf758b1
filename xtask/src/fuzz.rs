//! `cargo xtask fuzz`: fuzz targets by area, in turn, until each area has had its processor time.
//!
//! Targets are built without a sanitizer, which the stable compiler can do: no crate of the project has `unsafe` code, and
//! each target asserts what must hold. Each round appends a line to `target/fuzz/rounds.csv`.

use crate::chore::{Outcome, command, quiet, root, show, spelled, target_directory};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use std::{fs, io};

const DEFAULT_MINUTES: f64 = 1.0;
const USAGE: &str = "fuzz [AREA…|TARGET…] [--minutes N|--hours N] [--resume]";
/// Longest time of one round, in seconds of the clock on the wall.
const ROUND: u64 = 60;
/// Longest time of one input, in seconds.
const SLOWEST: u64 = 20;
/// Folders with packets in hexadecimal digits.
const PACKETS: &str = "crates/packet/tests/corpus";
/// Clock ticks in a second, as `/proc` counts processor time.
const TICKS: f64 = 100.0;

/// Areas of hostile input, each with its targets.
const AREAS: [(&str, &[&str]); 6] = [
    ("decoder", &["packet", "stream", "name_uri"]),
    ("link", &["fragments", "recovery", "websocket"]),
    ("management", &["node", "management", "http"]),
    ("schema", &["schema"]),
    ("files", &["file", "scenario", "topology", "motion", "trace"]),
    ("options", &["text", "forward"]),
];

/// Targets to run, and the processor time that each area gets.
#[derive(Debug, PartialEq)]
struct Plan {
    targets: Vec<&'static str>,
    time: Duration,
    /// Earlier rounds count.
    resume: bool,
}

/// One target's results.
#[derive(Debug, Default)]
struct Tally {
    time: Duration,
    executions: u64,
    findings: u64,
}

impl Tally {
    /// The sums of earlier rounds of a target. Their findings have been looked at.
    fn of_rounds(rounds: &str, target: &str) -> Self {
        let mut tally = Self::default();
        for line in rounds.lines() {
            let cells: Vec<&str> = line.split(',').collect();
            if let [_, name, seconds, executions, _] = cells[..]
                && name == target
            {
                tally.time += Duration::from_secs_f64(seconds.parse().unwrap_or_default());
                tally.executions += executions.parse::<u64>().unwrap_or_default();
            }
        }
        tally
    }
}

/// Runs the named areas or targets, or all.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let plan = parse(arguments)?;
    quiet(command("cargo").args(["fuzz", "--version"]))
        .map_err(|_| "fuzzing needs cargo-fuzz: cargo install cargo-fuzz --locked".to_string())?;
    let folder = target_directory()?.join("fuzz");
    show(&mut cargo_fuzz(&folder, "build"))?;
    let before = if plan.resume { earlier(&folder)? } else { String::new() };
    let mut tallies: Vec<Tally> =
        plan.targets.iter().map(|target| Tally::of_rounds(&before, target)).collect();
    for target in &plan.targets {
        seed(target).map_err(|error| format!("no seeds for {target}: {error}"))?;
    }
    while let Some(next) = next_target(&plan, &tallies) {
        let target = plan.targets[next];
        let round = run_round(&folder, target)?;
        let tally = &mut tallies[next];
        tally.time += round.time;
        tally.executions += round.executions;
        tally.findings += round.findings;
        record(&folder, target, &round).map_err(|error| format!("rounds.csv: {error}"))?;
    }
    report(&plan, &tallies)
}

/// The target whose area is the furthest behind, and which is the furthest behind in its area; `None` if each area has its
/// time. A target with a finding is not run again.
fn next_target(plan: &Plan, tallies: &[Tally]) -> Option<usize> {
    let time_of = |area: &str| -> Duration {
        let rows = plan.targets.iter().zip(tallies);
        rows.filter(|(target, _)| area_of(target) == area).map(|(_, tally)| tally.time).sum()
    };
    let open = (0..plan.targets.len()).filter(|index| tallies[*index].findings == 0);
    let behind =
        open.map(|index| (time_of(area_of(plan.targets[index])), tallies[index].time, index));
    behind.min().filter(|(time, _, _)| *time < plan.time).map(|(_, _, index)| index)
}

fn area_of(target: &str) -> &'static str {
    let area = AREAS.iter().find(|(_, targets)| targets.contains(&target));
    area.map_or("", |(area, _)| area)
}

fn cargo_fuzz(folder: &Path, verb: &str) -> std::process::Command {
    let mut fuzz = command("cargo");
    fuzz.args(["fuzz", verb, "--sanitizer", "none", "--target-dir"]).arg(folder);
    fuzz
}

/// Runs a target for a round.
fn run_round(folder: &Path, target: &str) -> Outcome<Tally> {
    let before = children_time();
    let mut fuzz = cargo_fuzz(folder, "run");
    // Long tests from the start; a slow input and a large one are findings, too.
    let limits = ["-len_control=0", "-rss_limit_mb=2048", "-print_final_stats=1"];
    let times = [format!("-max_total_time={ROUND}"), format!("-timeout={SLOWEST}")];
    fuzz.arg(target)
        .arg("--")
        .args(limits)
        .args(times)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let output = fuzz.output().map_err(|error| format!("{}: {error}", spelled(&fuzz)))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let time = children_time().saturating_sub(before);
    let executions = stat(&printed, "stat::number_of_executed_units:").unwrap_or_default();
    let is_stopped = !output.status.success();
    let findings = u64::from(is_stopped && !is_only_delayed(folder, target, &printed)?);
    if findings > 0 {
        println!("{printed}");
    }
    println!("{target}: {executions} executions in {:.1} s of processor time", time.as_secs_f64());
    Ok(Tally { time, executions, findings })
}

/// Whether a round ended because of an input that took long by the clock on the wall, but takes little processor time: the
/// machine was busy. The input is run again, alone.
fn is_only_delayed(folder: &Path, target: &str, printed: &str) -> Outcome<bool> {
    let mut written = printed.lines().filter_map(|line| line.split_once("Test unit written to "));
    let Some((_, input)) = written.next_back().filter(|(_, path)| path.contains("/timeout-"))
    else {
        return Ok(false);
    };
    let before = children_time();
    let mut fuzz = cargo_fuzz(folder, "run");
    fuzz.args([target, input, "--", "-timeout=600"]).stdout(Stdio::null()).stderr(Stdio::null());
    let status = fuzz.status().map_err(|error| format!("{}: {error}", spelled(&fuzz)))?;
    let took = children_time().saturating_sub(before);
    let is_delayed = status.success() && took < Duration::from_secs(SLOWEST);
    if is_delayed {
        println!(
            "{target}: an input was slow on a busy machine, and takes {:.1} s alone",
            took.as_secs_f64()
        );
        fs::remove_file(input).map_err(|error| format!("{input}: {error}"))?;
    }
    Ok(is_delayed)
}

/// A figure in libFuzzer's final statistics.
fn stat(printed: &str, name: &str) -> Option<u64> {
    printed.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// Processor time of the processes that this chore started and that have ended; zero where there is no `/proc`.
fn children_time() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_secs_f64(ticks as f64 / TICKS)
}

/// The list of earlier rounds; empty if there were none.
fn earlier(folder: &Path) -> Result<String, String> {
    match fs::read_to_string(folder.join("rounds.csv")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("rounds.csv: {error}"))
        }
        text => Ok(text.unwrap_or_default()),
    }
}

/// Appends the round to the list of all rounds.
fn record(folder: &Path, target: &str, round: &Tally) -> io::Result<()> {
    use io::Write;
    let path = folder.join("rounds.csv");
    let is_new = !path.exists();
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path)?;
    if is_new {
        writeln!(file, "area,target,processor_s,executions,findings")?;
    }
    let (area, time) = (area_of(target), round.time.as_secs_f64());
    writeln!(file, "{area},{target},{time:.2},{},{}", round.executions, round.findings)
}

/// Prints what each area reached; an error if there are findings.
fn report(plan: &Plan, tallies: &[Tally]) -> Outcome {
    println!("\n{:<12} {:>14} {:>14} {:>9}", "area", "processor time", "executions", "findings");
    for (area, _) in AREAS {
        let rows = plan.targets.iter().zip(tallies);
        let rows: Vec<&Tally> =
            rows.filter(|(target, _)| area_of(target) == area).map(|(_, tally)| tally).collect();
        if rows.is_empty() {
            continue;
        }
        let time: Duration = rows.iter().map(|it| it.time).sum();
        let executions: u64 = rows.iter().map(|it| it.executions).sum();
        let findings: u64 = rows.iter().map(|it| it.findings).sum();
        println!(
            "{area:<12} {:>10.1} min {executions:>14} {findings:>9}",
            time.as_secs_f64() / 60.0
        );
    }
    let found = plan.targets.iter().zip(tallies).filter(|(_, tally)| tally.findings > 0);
    let found: Vec<&str> = found.map(|(target, _)| *target).collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!("findings in fuzz/artifacts: {}", found.join(", "))),
    }
}

fn parse(arguments: &[&str]) -> Outcome<Plan> {
    let (mut targets, mut minutes, mut resume) = (Vec::new(), DEFAULT_MINUTES, false);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let all = AREAS.iter().flat_map(|(_, targets)| *targets);
        match *word {
            "--minutes" | "--hours" => {
                let number = rest.next().and_then(|it| it.parse().ok()).filter(|it| *it > 0.0);
                let number: f64 = number.ok_or(format!("{word} needs a positive number"))?;
                minutes = if *word == "--hours" { 60.0 * number } else { number };
            }
            "--resume" => resume = true,
            name => match AREAS.iter().find(|(area, _)| *area == name) {
                // A name of an area and of a target is the area.
                Some((_, its)) => targets.extend(*its),
                None => targets.push(*all.clone().find(|it| **it == name).ok_or_else(|| {
                    let areas: Vec<&str> = AREAS.iter().map(|(area, _)| *area).collect();
                    let (areas, all) = (areas.join(", "), all.copied().collect::<Vec<_>>());
                    format!(
                        "no area or target is called {name:?}. {USAGE}\nareas: {areas}\ntargets: {}",
                        all.join(", ")
                    )
                })?),
            },
        }
    }
    if targets.is_empty() {
        targets.extend(AREAS.iter().flat_map(|(_, targets)| *targets));
    }
    Ok(Plan { targets, time: Duration::from_secs_f64(60.0 * minutes), resume })
}

/// Gives the target its seeds: inputs of its kind from tests and examples, since a fuzzer cannot guess keys and digests, and
/// those of `fuzz/seeds`.
fn seed(target: &str) -> io::Result<()> {
    let seeds = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&seeds)?;
    if ["packet", "stream", "name_uri", "management"].contains(&target) {
        for kind in fs::read_dir(root().join(PACKETS))? {
            plant(&kind?.path(), &seeds, |text| hexadecimal(&String::from_utf8_lossy(text)))?;
        }
    }
    // A prefix selects the format for the target.
    let found: &[(&str, &[u8])] = match target {
        "scenario" => &[("examples", b"")],
        "topology" => &[("crates/sim/tests/topology", b"\0")],
        "file" => &[("crates/io/tests/fixture/key", b"0")],
        _ => &[],
    };
    for (folder, front) in found {
        plant(&root().join(folder), &seeds, |text| [front, text].concat())?;
    }
    let own = root().join("fuzz/seeds").join(target);
    if own.exists() { plant(&own, &seeds, <[u8]>::to_vec) } else { Ok(()) }
}

/// Makes a seed of each file in `folder`, of each line where its name ends in `.lines`.
fn plant(folder: &Path, seeds: &Path, make: impl Fn(&[u8]) -> Vec<u8>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.extension().is_some_and(|it| it == "lines") {
            for (number, line) in fs::read_to_string(&path)?.lines().enumerate() {
                fs::write(seeds.join(format!("{number}")), line)?;
            }
        } else if path.is_file() {
            fs::write(seeds.join(name), make(&fs::read(&path)?))?;
        }
    }
    Ok(())
}

/// The bytes in a file of the corpus; lines that begin with `#` are remarks.
fn hexadecimal(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits: Vec<u8> =
        lines.flat_map(str::chars).filter_map(|it| it.to_digit(16)).map(|it| it as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn resume_needs_no_earlier_rounds() {
        assert_eq!(earlier(Path::new("a folder that does not exist")), Ok(String::new()));
    }

    #[test]
    fn each_target_belongs_to_one_area() {
        let files = fs::read_dir(root().join("fuzz/fuzz_targets")).expect("fuzz targets");
        let stems = files.filter_map(|it| Some(it.ok()?.path().file_stem()?.to_str()?.to_string()));
        let listed: Vec<&str> = AREAS.iter().flat_map(|(_, targets)| *targets).copied().collect();
        let names: BTreeSet<String> = listed.iter().map(|name| (*name).to_string()).collect();
        assert_eq!(stems.collect::<BTreeSet<_>>(), names);
        assert_eq!(listed.len(), names.len());
    }

    #[test]
    fn areas_and_targets_are_chosen_by_name() {
        let plan = parse(&["schema", "packet", "--hours", "0.5", "--resume"]).expect("a plan");
        let time = Duration::from_secs(30 * 60);
        assert_eq!(plan, Plan { targets: vec!["schema", "packet"], time, resume: true });
        assert!(parse(&["nonsense"]).is_err() && parse(&["--minutes", "0"]).is_err());
    }

    #[test]
    fn area_that_is_behind_runs_next() {
        let plan = parse(&["packet", "stream", "schema", "--minutes", "1"]).expect("a plan");
        let after = |seconds: [u64; 3], findings: u64| {
            let tally = |(index, seconds)| Tally {
                time: Duration::from_secs(seconds),
                findings: if index == 2 { findings } else { 0 },
                ..Tally::default()
            };
            next_target(&plan, &seconds.into_iter().enumerate().map(tally).collect::<Vec<_>>())
        };
        assert_eq!(after([20, 10, 10], 0), Some(2));
        assert_eq!(after([20, 10, 40], 0), Some(1));
        assert_eq!(after([30, 30, 40], 1), None);
        assert_eq!(after([30, 30, 60], 0), None);
    }

    #[test]
    fn earlier_rounds_are_added_up() {
        let rounds = "area,target,processor_s,executions,findings\nschema,schema,18.15,2228,1\n\
            decoder,packet,60.02,20696900,0\nschema,schema,1.85,772,0\n";
        let tally = Tally::of_rounds(rounds, "schema");
        assert_eq!((tally.executions, tally.findings), (3_000, 0));
        assert!((tally.time.as_secs_f64() - 20.0).abs() < 1e-6);
    }

    #[test]
    fn final_statistics_are_read() {
        let printed = "Done\nstat::number_of_executed_units: 4711\nstat::peak_rss_mb: 30";
        assert_eq!(stat(printed, "stat::number_of_executed_units:"), Some(4_711));
    }
}
