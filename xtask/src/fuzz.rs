//! `cargo xtask fuzz`: the fuzz targets, each for a while.

use crate::chore::{Outcome, command, quiet, root, show};
use std::path::{Path, PathBuf};
use std::{fs, io};

const DEFAULT_MINUTES: u64 = 1;
const USAGE: &str = "fuzz [TARGET] [--minutes N]";
/// A target with threads: what one that is being started was given stands where the search for leaks does not look.
const THREADED: &str = "http";
/// Packets of which each file has the digits of one.
const PACKETS: &str = "crates/packet/tests/corpus";

/// Runs one target, or each in turn.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (target, minutes) = parse(arguments)?;
    quiet(command("cargo").args(["+nightly", "fuzz", "--version"])).map_err(|_| {
        "fuzzing needs a nightly toolchain and cargo-fuzz: \
         rustup toolchain install nightly && cargo install cargo-fuzz"
            .to_string()
    })?;
    let all = targets()?;
    let chosen = match target {
        Some(target) if !all.iter().any(|it| it == target) => {
            return Err(format!("there is no target {target}, but {}", all.join(", ")));
        }
        Some(target) => vec![target.to_string()],
        None => all,
    };
    for target in chosen {
        println!("=== {target}, {minutes} min");
        seed(&target).map_err(|error| format!("no seeds for {target}: {error}"))?;
        let limit = format!("-max_total_time={}", 60 * minutes);
        // Stories need length from the beginning; what takes long or much is a finding, too.
        let bounds = ["-len_control=0", "-rss_limit_mb=2048", "-timeout=20"];
        let mut fuzz = command("cargo");
        fuzz.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        fuzz.args(["+nightly", "fuzz", "run", &target, "--", &limit]).args(bounds);
        if target == THREADED {
            fuzz.arg("-detect_leaks=0");
        }
        show(&mut fuzz)?;
    }
    Ok(())
}

fn parse<'a>(arguments: &[&'a str]) -> Outcome<(Option<&'a str>, u64)> {
    let (mut target, mut minutes) = (None, DEFAULT_MINUTES);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--minutes" => {
                let number = rest.next().and_then(|word| word.parse().ok());
                minutes = number.ok_or("--minutes needs a whole number")?;
            }
            name if target.is_none() && !name.starts_with('-') => target = Some(name),
            other => return Err(format!("what is {other:?}? {USAGE}")),
        }
    }
    Ok((target, minutes))
}

/// Gives the target something to start from: what tests and examples have of its kind, since keys and digests are hard to
/// guess, and what is kept for it alone.
fn seed(target: &str) -> io::Result<()> {
    let seeds = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&seeds)?;
    if ["packet", "stream", "name_uri", "words"].contains(&target) {
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

/// The names of the files in `fuzz/fuzz_targets`.
fn targets() -> Outcome<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder).map_err(|_| "there are no fuzz targets".to_string())?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(String::from))
        .collect();
    names.sort();
    Ok(names)
}
