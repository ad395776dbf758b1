//! `cargo xtask bench`: whole commands of this tree, beside other binaries of `recoup`.
//!
//! All cases and binaries take turns, so that a slow minute of the machine hits all of them; medians count. The columns of the
//! others have the ratio to the first, so that figures of one run are compared.

use crate::chore::{Outcome, cargo, command, quiet, root, show, target_directory};
use crate::process::{Running, Scratch, fill, forward, listen, within};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: cargo xtask bench [BINARY…] [--runs N] [--only WORD]

  BINARY…       other binaries of recoup, such as one of an earlier commit
  --runs N      runs of each case (default 5); the median is shown
  --only WORD   only cases whose name contains WORD
Environment: RECOUP_BINARY names a recoup to measure instead of building one.
";

/// Bytes of the file, and of the many files of a folder.
const FILE_BYTES: u64 = 200_000_000;
const FOLDER_BYTES: u64 = 33_000_000;
const FOLDER_FILES: u64 = 500;
/// Longest time of a command.
const LIMIT: Duration = Duration::from_secs(120);

/// A case: its name, its unit, and one run of it by a binary.
type Case = (&'static str, &'static str, fn(&Path, &Scratch) -> Outcome<f64>);

const CASES: [Case; 10] = [
    ("fetch, UDP, 8,000 bytes", "Gbit/s", |it, at| direct(it, at, "udp://127.0.0.1:0", "8000")),
    ("fetch, UDP, 1,300 bytes", "Gbit/s", |it, at| direct(it, at, "udp://127.0.0.1:0", "1300")),
    ("fetch, Unix stream", "Gbit/s", |it, at| direct(it, at, &at.unix("direct"), "8000")),
    ("fetch, TCP", "Gbit/s", |it, at| direct(it, at, "tcp://127.0.0.1:0", "8000")),
    ("two forwarders", "Gbit/s", |it, at| Ok(through(it, at, "off", "8000")?.0)),
    ("two forwarders, 1,200 bytes", "CPU-s", |it, at| Ok(through(it, at, "off", "1200")?.1)),
    ("the same with WLDR", "CPU-s", |it, at| Ok(through(it, at, "wldr", "1200")?.1)),
    ("500 files to disk", "s", folder),
    ("first byte over 50 ms", "ms", first_byte),
    ("simulation of examples/line.toml", "s", simulation),
];

/// Measures and prints.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut runs, mut only, mut binaries) = (5, "", Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "--runs" => runs = words.next().and_then(|it| it.parse().ok()).ok_or(USAGE)?,
            "--only" => only = words.next().ok_or(USAGE)?,
            option if option.starts_with('-') => return Err(USAGE.into()),
            path => binaries.push(fs::canonicalize(path).map_err(|e| format!("{path}: {e}"))?),
        }
    }
    binaries.insert(0, binary()?);
    let scratch = Scratch::make()?;
    let failed = |error: std::io::Error| error.to_string();
    fill(&scratch.path("original"), FILE_BYTES).map_err(failed)?;
    let cases: Vec<&Case> = CASES.iter().filter(|(name, ..)| name.contains(only)).collect();
    let mut samples = vec![vec![Vec::new(); binaries.len()]; cases.len()];
    for turn in 1..=runs {
        for ((name, _, measure), samples) in cases.iter().zip(&mut samples) {
            eprintln!("run {turn} of {runs}: {name}");
            for (binary, samples) in binaries.iter().zip(samples) {
                samples.push(measure(binary, &scratch)?);
            }
        }
    }
    println!("median [least–most] of {runs}; files of {FILE_BYTES} bytes in memory\n");
    for ((name, unit, _), samples) in cases.iter().zip(&samples) {
        let medians: Vec<[f64; 3]> = samples.iter().map(|it| spread(it)).collect();
        print!("{:<44}", format!("{name}, {unit}"));
        for (at, [median, least, most]) in medians.iter().enumerate() {
            print!(" {median:>8.3} [{least:.3}–{most:.3}]");
            if at > 0 {
                print!(" × {:.3}", median / medians[0][0]);
            }
        }
        println!();
    }
    Ok(())
}

/// The command to measure, built as packages have it.
pub(crate) fn binary() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os("RECOUP_BINARY") {
        return fs::canonicalize(path).map_err(|error| format!("RECOUP_BINARY: {error}"));
    }
    let mut build = cargo(&["build", "--profile", "dist", "--quiet"]);
    show(build.args(["--package", "recoup-cli", "--package", "recoup-lab-cli"]))?;
    Ok(target_directory()?.join("dist/recoup"))
}

/// Median, least and most.
fn spread(samples: &[f64]) -> [f64; 3] {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    let last = sorted.len().saturating_sub(1);
    [f64::midpoint(at(last / 2), at(last.div_ceil(2))), at(0), at(last)]
}

/// A server of the file; returns its face.
fn serve(recoup: &Path, scratch: &Scratch, words: &[&str]) -> Outcome<(Running, String)> {
    let mut serve = Command::new(recoup);
    serve.arg("serve").arg(scratch.path("original")).args(["--name", "/bench", "--json"]);
    announced(serve.args(words))
}

/// A command that listens; returns its face.
fn announced(command: &mut Command) -> Outcome<(Running, String)> {
    let (running, printed) = Running::announced(command.stderr(Stdio::null()))?;
    Ok((running, printed["face"].as_str().unwrap_or_default().to_owned()))
}

/// Goodput of the whole command, which is compared with its original.
fn fetch(recoup: &Path, scratch: &Scratch, face: &str) -> Outcome<f64> {
    let copy = scratch.path("copy");
    let mut fetch = Command::new(recoup);
    fetch.args(["fetch", "/bench", "-q", "--verify", "digest", "--face", face, "-o"]).arg(&copy);
    let begun = Instant::now();
    within(&mut fetch, LIMIT)?;
    let seconds = begun.elapsed().as_secs_f64();
    quiet(command("cmp").arg(&copy).arg(scratch.path("original")))?;
    fs::remove_file(copy).map_err(|error| error.to_string())?;
    Ok(FILE_BYTES as f64 * 8.0 / seconds / 1e9)
}

/// A transfer without a forwarder.
fn direct(recoup: &Path, scratch: &Scratch, uri: &str, segment: &str) -> Outcome<f64> {
    let words = ["--listen", uri, "--segment-size", segment];
    let (_server, face) = serve(recoup, scratch, &words)?;
    fetch(recoup, scratch, &face)
}

/// A transfer through two forwarders over UDP with this link recovery: goodput, and processor seconds of both forwarders.
fn through(recoup: &Path, scratch: &Scratch, way: &str, segment: &str) -> Outcome<(f64, f64)> {
    let [near, far] = ["near", "far"].map(|name| scratch.unix(name));
    let text =
        format!("[node]\nrecovery = \"{way}\"\n{}{}", listen(&far), listen("udp4://127.0.0.1:0"));
    let (far_node, uris) = forward(recoup, &scratch.path("far.toml"), &text, &[])?;
    let udp = uris.iter().find(|uri| uri.starts_with("udp")).ok_or("the forwarder has no UDP")?;
    let text = format!(
        "{}[[face]]\nname = \"link\"\nuri = \"{udp}\"\nrecovery = \"{way}\"\n[[route]]\nprefix = \"/bench\"\nface = \"link\"\n",
        listen(&near)
    );
    let (near_node, _) = forward(recoup, &scratch.path("near.toml"), &text, &[])?;
    let (_server, _) = serve(recoup, scratch, &["--face", &far, "--segment-size", segment])?;
    let used = || near_node.processor_seconds() + far_node.processor_seconds();
    let before = used();
    Ok((fetch(recoup, scratch, &near)?, used() - before))
}

/// Seconds of a folder to the disk.
fn folder(recoup: &Path, scratch: &Scratch) -> Outcome<f64> {
    let disk = target_directory()?.join("bench-folder");
    let (source, socket) = (scratch.path("folder"), scratch.unix("folder-socket"));
    fs::create_dir_all(&source).map_err(|error| error.to_string())?;
    for number in 0..FOLDER_FILES {
        let bytes = FOLDER_BYTES / FOLDER_FILES * (number % 10 + 1) * 2 / 11;
        fill(&source.join(number.to_string()), bytes).map_err(|error| error.to_string())?;
    }
    let mut serve = Command::new(recoup);
    serve.arg("serve").arg(&source).args(["--name", "/bench", "--json", "--listen", &socket]);
    let (_server, face) = announced(&mut serve)?;
    let mut fetch = Command::new(recoup);
    fetch.args(["fetch", "/bench", "-r", "-q", "--face", &face, "-o"]).arg(&disk);
    rustix::fs::sync();
    let begun = Instant::now();
    within(&mut fetch, LIMIT)?;
    let seconds = begun.elapsed().as_secs_f64();
    quiet(command("diff").arg("-r").arg(&disk).arg(&source))?;
    fs::remove_dir_all(disk).map_err(|error| error.to_string())?;
    Ok(seconds)
}

/// Milliseconds from the start of a fetch to its first byte, over a link of 25 ms in each direction.
fn first_byte(recoup: &Path, scratch: &Scratch) -> Outcome<f64> {
    let (_server, face) = serve(recoup, scratch, &["--listen", "udp://127.0.0.1:0"])?;
    let mut link = Command::new(recoup);
    link.args(["link", "--between", "udp://127.0.0.1:0", &face, "--delay", "25ms", "--json"]);
    let (_link, far) = announced(&mut link)?;
    let mut fetch = Command::new(recoup);
    fetch.args(["fetch", "/bench", "-q", "--verify", "digest", "-o", "-", "--face", &far]);
    let failed = |error: std::io::Error| error.to_string();
    let begun = Instant::now();
    let mut child = Running(fetch.stdout(Stdio::piped()).spawn().map_err(failed)?);
    let mut output = child.0.stdout.take().ok_or("no standard output")?;
    output.read_exact(&mut [0]).map_err(failed)?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// Seconds of a simulation with five seeds, by one worker.
fn simulation(recoup: &Path, scratch: &Scratch) -> Outcome<f64> {
    let mut sim = Command::new(recoup);
    sim.args(["sim", "examples/line.toml", "--fresh", "-q", "--jobs", "1", "--seeds", "1..5"]);
    sim.arg("--out").arg(scratch.path("results")).current_dir(root());
    let begun = Instant::now();
    within(&mut sim, LIMIT)?;
    Ok(begun.elapsed().as_secs_f64())
}
