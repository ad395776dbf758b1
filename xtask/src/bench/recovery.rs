//! `cargo xtask bench recovery`: what recovery costs two forwarders on a link that loses nothing, in processor time: a file goes
//! from a producer through both to a consumer, over UDP between them.
use super::process::{Room, Running, transfer_limit};
use super::row::{Aim, Row};
use super::timed::limit_benchmark;
use super::transfer::{fetch, serve};
use super::{binary, number};
use crate::chore::Outcome;
use std::fs;
use std::path::Path;
use std::process::Command;

const USAGE: &str = "\
usage: cargo xtask bench recovery [--runs N] [--bytes N] [--segment N]

  --runs N      how often each way runs, in turn (default 9); the median is shown
  --bytes N    size of the file (default 100000000)
  --segment N   bytes of content in each packet (default 1200)
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
";

/// Bytes of content in each packet.
const SEGMENT: &str = "1200";
const WAYS: [&str; 3] = ["off", "wldr", "acked"];

/// Runs the benchmark and prints what it found.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut runs, mut bytes, mut segment) = (9_usize, 100_000_000_u64, SEGMENT);
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--runs" => runs = number(words.next())?,
            "--bytes" => bytes = number(words.next())?,
            "--segment" => segment = words.next().ok_or(USAGE)?,
            _ => return Err(USAGE.into()),
        }
    }
    let recoup = binary()?;
    let turns = u32::try_from(runs).unwrap_or(u32::MAX).saturating_mul(WAYS.len() as u32);
    limit_benchmark("recovery", (transfer_limit(bytes) * 2).saturating_mul(turns));
    let ticks = measure(&recoup, runs, bytes, segment)?;
    let medians = ticks.map(|mut ticks| {
        ticks.sort_by(f64::total_cmp);
        ticks.get(ticks.len() / 2).copied().unwrap_or_default()
    });
    println!("processor seconds of both forwarders for {bytes} bytes, median of {runs}\n");
    for (way, median) in WAYS.iter().zip(medians) {
        println!("{way:6} {median:8.2} s  {:.3} of off", median / medians[0]);
    }
    Ok(())
}

/// WLDR may cost this multiple of the cost without it.
const AIM: f64 = 1.03;

/// Rows of each way over its absence.
pub(super) fn rows(recoup: &Path, runs: usize, bytes: u64) -> Outcome<Vec<Row>> {
    let [off, wldr, acked] = measure(recoup, runs, bytes, SEGMENT)?;
    let over = |seconds: Vec<f64>| seconds.iter().zip(&off).map(|(it, off)| it / off).collect();
    let rows = [
        Row::of("recovery", "WLDR over its absence", "×", over(wldr), Some(Aim::AtMost(AIM))),
        Row::of("recovery", "acknowledgements over their absence", "×", over(acked), None),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// Processor seconds of both forwarders, for each way, `runs` times in turn.
fn measure(
    recoup: &Path,
    runs: usize,
    bytes: u64,
    segment: &str,
) -> Outcome<[Vec<f64>; WAYS.len()]> {
    let room = Room::make(bytes)?;
    let mut seconds = WAYS.map(|_| Vec::new());
    for turn in 1..=runs {
        for (way, seconds) in WAYS.iter().zip(&mut seconds) {
            eprintln!("run {turn} of {runs}: {way}");
            seconds.push(transfer(recoup, &room, way, segment)?);
        }
    }
    Ok(seconds)
}

/// Processor seconds of both forwarders for one transfer.
fn transfer(recoup: &Path, room: &Room, way: &str, segment: &str) -> Outcome<f64> {
    let door = |name: &str| format!("unix://{}", room.path(name).display());
    let listen = |uri: &str| format!("[[listen]]\nuri = \"{uri}\"\n");
    let far_door = door("far");
    let far = format!(
        "[node]\nrecovery = \"{way}\"\n{}{}",
        listen(&far_door),
        listen("udp://127.0.0.1:0")
    );
    let (far, link) = forward(recoup, room, "far.toml", &far)?;
    let mut server = serve(recoup, &room.original, segment);
    let (_server, _) = Running::serve(server.args(["--face", &far_door]))?;
    let near_door = door("near");
    let near = format!(
        "{}[[face]]\nname = \"link\"\nuri = \"{link}\"\nrecovery = \"{way}\"\n\
         [[route]]\nprefix = \"/bench\"\nface = \"link\"\n",
        listen(&near_door)
    );
    let (near, _) = forward(recoup, room, "near.toml", &near)?;
    let before = near.processor_seconds() + far.processor_seconds();
    room.time(fetch(recoup, &room.copy).args(["--face", &near_door]), false)?;
    Ok(near.processor_seconds() + far.processor_seconds() - before)
}

/// A forwarder, and where it listens for UDP, if it does.
fn forward(recoup: &Path, room: &Room, file: &str, text: &str) -> Outcome<(Running, String)> {
    let path = room.path(file);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Running::forward(Command::new(recoup).args(["forward", "--json", "--config"]).arg(&path))
}
