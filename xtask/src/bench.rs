//! `cargo xtask bench fetch`: how fast a file is fetched, beside what the machine can do at all and
//! beside other software, all measured in one run and in turn.

mod callgrind;
pub(crate) mod fair;
mod first_byte;
mod folder;
pub(crate) mod forward;
pub(crate) mod instructions;
mod limit;
mod memory;
mod neighbour;
pub(crate) mod process;
pub(crate) mod recovery;
mod row;
mod sample;
pub(crate) mod simulation;
pub(crate) mod survive;
pub(crate) mod timed;
pub(crate) mod transfer;
pub(crate) mod whole;

use crate::chore::{Outcome, cargo, show, target_directory};
use process::{Room, transfer_limit};
use row::{Aim, Row};
use sample::{Figure, Sample};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use timed::limit_benchmark;

const USAGE: &str = "\
usage: cargo xtask bench fetch [--runs N] [--bytes N] [--json] [--only WORD] [--no-memory]

  --runs N      how often each case runs (default 5); the median is shown
  --bytes N    size of the file (default 200000000)
  --only WORD   only cases whose name contains WORD
  --no-memory   leave out the peak memory of fetching and serving 2 GB
  --json        a JSON document instead of a table
Environment: RECOUP_BINARY names a recoup to measure instead of building one;
RECOUP_PEER_NDND, RECOUP_PEER_NFD, RECOUP_PEER_NDNGET and RECOUP_PEER_NDNSERVE name neighbours.
";

/// Time for the peak memory of two large transfers.
const MEMORY_LIMIT: Duration = Duration::from_secs(2_400);

/// Options of the command line.
struct Request {
    runs: usize,
    bytes: u64,
    json: bool,
    only: Option<String>,
    memory: bool,
}

/// One thing to measure, again and again.
pub(crate) struct Case {
    /// Label in the table.
    pub(crate) name: String,
    /// Measures it once.
    pub(crate) run: Box<dyn FnMut() -> Outcome<Sample>>,
}

/// Transfers beside limits of the machine, and the share of SHA-256 on one core that they must reach.
const SHARES: [(&str, &str, f64); 3] = [
    (transfer::PLANS[0].name, "limit: SHA-256 on one core, 8000 bytes", 0.85),
    (transfer::PLANS[1].name, "limit: SHA-256 on one core, 1300 bytes", 0.60),
    (transfer::PLANS[2].name, "limit: SHA-256 on one core, 8000 bytes", 0.85),
];

/// Our transfers and the machine's limits, `runs` times in turn.
fn rows(recoup: &Path, runs: usize, bytes: u64, notes: &mut Vec<String>) -> Outcome<Vec<Row>> {
    let room = Rc::new(Room::make(bytes)?);
    let mut cases = limit::cases(bytes, &room);
    cases.extend(transfer::cases(recoup, &room));
    let figures = measure(cases, runs, notes);
    let rates = |name: &str| -> Vec<f64> {
        figures.iter().find(|it| it.name == name).map_or_else(Vec::new, Figure::rates)
    };
    let speed = |figure: &Figure| {
        let gigabits = figure.rates().iter().map(|rate| rate / 1e9).collect();
        Row::of("fetch", &figure.name, "Gbit/s", gigabits, None)
    };
    let share = |(name, limit, least): &(&str, &str, f64)| {
        let shares = rates(name).into_iter().zip(rates(limit)).map(|(rate, limit)| rate / limit);
        let name = format!("{name}, over SHA-256");
        Row::of("fetch", name, "×", shares.collect(), Some(Aim::AtLeast(*least)))
    };
    Ok(figures.iter().filter_map(speed).chain(SHARES.iter().filter_map(share)).collect())
}

/// Runs the benchmark and prints what it found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let request = parse(arguments)?;
    let recoup = binary()?;
    limit_benchmark("fetch", limit(&request));
    let room = Rc::new(Room::make(request.bytes)?);
    let mut notes = Vec::new();
    let mut cases = limit::cases(request.bytes, &room);
    cases.extend(transfer::cases(&recoup, &room));
    cases.extend(neighbour::cases(&recoup, &room, &mut notes));
    cases.retain(|case| request.only.as_ref().is_none_or(|word| case.name.contains(word)));
    let figures = measure(cases, request.runs, &mut notes);
    let memory = match request.memory && request.only.is_none() {
        true => memory::peaks(&recoup, &mut notes)?,
        false => Vec::new(),
    };
    if request.json {
        let cases: Vec<_> = figures.iter().map(Figure::to_json).collect();
        let memory: Vec<_> = memory.iter().map(memory::Peak::to_json).collect();
        let report = json!({ "bytes": request.bytes, "runs": request.runs, "cases": cases,
            "memory": memory, "notes": notes });
        println!("{report:#}");
    } else {
        print(&request, &figures, &memory, &notes);
    }
    Ok(())
}

fn parse(arguments: &[&str]) -> Outcome<Request> {
    let mut request =
        Request { runs: 5, bytes: 200_000_000, json: false, only: None, memory: true };
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--runs" => request.runs = number(words.next())?,
            "--bytes" => request.bytes = number(words.next())?,
            "--only" => request.only = Some(words.next().ok_or(USAGE)?.to_string()),
            "--no-memory" => request.memory = false,
            "--json" => request.json = true,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(request)
}

/// Time for the benchmark: each of some twenty cases may take the time of a slow transfer in one run.
fn limit(request: &Request) -> Duration {
    let runs = u32::try_from(request.runs).unwrap_or(u32::MAX);
    MEMORY_LIMIT + (transfer_limit(request.bytes) * 4).saturating_mul(runs)
}

fn number<T: std::str::FromStr>(word: Option<&str>) -> Outcome<T> {
    word.and_then(|word| word.parse().ok()).ok_or_else(|| USAGE.into())
}

/// The command to measure, built as packages have it.
fn binary() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("RECOUP_BINARY") {
        return Ok(path.into());
    }
    show(&mut cargo(&["build", "--profile", "dist", "--quiet", "--package", "recoup-cli"]))?;
    Ok(target_directory()?.join("dist/recoup"))
}

/// Cases take turns, so that a slow minute of the machine hits all of them. A case that fails is not run again: it may have
/// waited for a neighbour until its deadline.
fn measure(cases: Vec<Case>, runs: usize, notes: &mut Vec<String>) -> Vec<Figure> {
    let mut pairs: Vec<_> = cases.into_iter().map(|case| (Figure::of(&case.name), case)).collect();
    let mut failed = vec![false; pairs.len()];
    for turn in 1..=runs {
        for ((figure, case), failed) in pairs.iter_mut().zip(&mut failed).filter(|(_, it)| !**it) {
            eprintln!("run {turn} of {runs}: {}", case.name);
            match (case.run)() {
                Ok(sample) => figure.add(sample),
                Err(message) => {
                    notes.push(format!("{}, run {turn}, the last: {message}", case.name));
                    *failed = true;
                }
            }
        }
    }
    pairs.into_iter().map(|(figure, _)| figure).collect()
}

fn print(request: &Request, figures: &[Figure], memory: &[memory::Peak], notes: &[String]) {
    let Request { runs, bytes, .. } = request;
    println!("Gbit/s, median [min–max] of {runs}; files of {bytes} bytes in memory\n");
    println!("{:<52} {:>22} {:>22}", "", "whole command", "transfer alone");
    for figure in figures {
        println!("{figure}");
    }
    if !memory.is_empty() {
        println!("\n{:<52} {:>10} {:>10}", "peak memory, MB", "anon+file", "VmHWM");
    }
    for peak in memory {
        println!("{peak}");
    }
    for note in notes {
        println!("note: {note}");
    }
}
