//! How many round trips pass before the first byte of a file is there: discovery, metadata, first window.

use super::process::{Room, Running, transfer_limit};
use super::row::{Aim, Row};
use super::timed::Timed;
use super::transfer::serve;
use crate::chore::Outcome;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const BYTES: u64 = 1_000_000;
/// Round trip of the emulated link, in seconds.
const ROUND_TRIP_S: f64 = 0.05;
/// Delay of the link in each direction.
const DELAY: &str = "25ms";

/// Round trips to the first byte, beyond the time that it takes without a link, `runs` times in turn.
pub(crate) fn rows(recoup: &Path, runs: usize) -> Outcome<Vec<Row>> {
    let room = Room::make(BYTES)?;
    let mut server = serve(recoup, &room.original, "8000");
    let (mut server, face) = Running::serve(server.args(["--listen", "udp://127.0.0.1:0"]))?;
    server.settle()?;
    let mut link = Command::new(recoup);
    link.args(["link", "--between", "udp://127.0.0.1:0", &face, "--delay", DELAY, "--json"]);
    let (_link, far) = Running::serve(&mut link)?;
    let (mut direct, mut distant) = (Vec::new(), Vec::new());
    for turn in 1..=runs {
        eprintln!("run {turn} of {runs}: first byte");
        direct.push(first_byte(recoup, &face)?);
        distant.push(first_byte(recoup, &far)?);
    }
    let trips = distant.iter().zip(&direct).map(|(far, near)| (far - near) / ROUND_TRIP_S);
    let (trips, ms) = (trips.collect(), distant.iter().map(|s| s * 1e3).collect());
    let rows = [
        Row::of("first byte", "first byte of 1 MB over 50 ms, whole command", "ms", ms, None),
        Row::of(
            "first byte",
            "the same beyond a direct link",
            "round trips",
            trips,
            Some(Aim::AtMost(2.0)),
        ),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// Seconds from the start of a fetch to its first byte on standard output.
fn first_byte(recoup: &Path, face: &str) -> Outcome<f64> {
    let mut fetch = Command::new(recoup);
    fetch.args(["fetch", "/bench", "-q", "--verify", "digest", "--face", face]);
    fetch.stdin(Stdio::null()).stdout(Stdio::piped());
    let start = Instant::now();
    let fails = |error: std::io::Error| error.to_string();
    let mut child = Timed::spawn(&mut fetch, transfer_limit(BYTES)).map_err(fails)?;
    let mut output = child.take_stdout().ok_or("no standard output")?;
    output.read_exact(&mut [0]).map_err(fails)?;
    let took = start.elapsed().as_secs_f64();
    // To its end, so that it is not killed in the middle.
    let read = std::io::copy(&mut output, &mut std::io::sink()).map_err(fails)?;
    let status = child.wait().map_err(fails)?;
    match status.success() && read + 1 == BYTES {
        true => Ok(took),
        false => Err(format!("{} of {BYTES} bytes arrived ({status})", read + 1)),
    }
}
