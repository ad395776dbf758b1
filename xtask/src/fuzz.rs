//! `cargo xtask fuzz`: fuzz targets in turn, each for a while.
//!
//! Targets are built without a sanitizer, which the stable compiler can do: no crate of the project has `unsafe` code, and
//! each target asserts what must hold.

use crate::chore::{Outcome, command, package, quiet, root, show, target_directory};
use crate::digest::{file_name, sorted};
use std::fs;
use std::path::Path;

const USAGE: &str = "usage: cargo xtask fuzz [TARGET…] [--minutes N|--hours N]";
/// Longest time of one input, in seconds.
const SLOWEST: u64 = 20;

/// Runs the targets; an error if one of them has a finding.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let all = targets()?;
    let (chosen, minutes) = parse(arguments, &all)?;
    quiet(command("cargo").args(["fuzz", "--version"]))
        .map_err(|_| "cargo-fuzz is missing: cargo install cargo-fuzz --locked")?;
    let folder = target_directory()?.join("fuzz");
    let fuzz = |verb: &str| {
        let mut fuzz = command("cargo");
        fuzz.args(["fuzz", verb, "--sanitizer", "none", "--target-dir"]).arg(&folder);
        fuzz
    };
    show(&mut fuzz("build"))?;
    let mut found = Vec::new();
    for target in chosen {
        seed(&target)?;
        // Long tests from the start; a slow input and a large one are findings, too.
        let limits = ["-len_control=0", "-rss_limit_mb=2048", "-print_final_stats=1"];
        let times =
            [format!("-max_total_time={:.0}", 60.0 * minutes), format!("-timeout={SLOWEST}")];
        if show(fuzz("run").arg(&target).arg("--").args(limits).args(times)).is_err() {
            found.push(target);
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!("findings in fuzz/artifacts: {}", found.join(", "))),
    }
}

/// The names of all targets.
fn targets() -> Outcome<Vec<String>> {
    let files = sorted(&root().join("fuzz/fuzz_targets"))?;
    Ok(files.iter().map(|path| file_name(path).trim_end_matches(".rs").to_owned()).collect())
}

/// The targets to run, by default all, and minutes for each.
fn parse(arguments: &[&str], all: &[String]) -> Outcome<(Vec<String>, f64)> {
    let (mut chosen, mut minutes) = (Vec::new(), 1.0);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match (*word, all.iter().find(|target| target == word)) {
            ("--minutes" | "--hours", _) => {
                let number = rest.next().and_then(|it| it.parse().ok()).filter(|it| *it > 0.0);
                let number: f64 = number.ok_or(USAGE)?;
                minutes = if *word == "--hours" { 60.0 * number } else { number };
            }
            (_, Some(target)) => chosen.push(target.clone()),
            _ => return Err(format!("{USAGE}\ntargets: {}", all.join(", "))),
        }
    }
    if chosen.is_empty() {
        chosen = all.to_vec();
    }
    Ok((chosen, minutes))
}

/// Gives the target its seeds: inputs of its kind from tests and examples, since a fuzzer cannot guess keys and digests, and
/// those of `fuzz/seeds`.
fn seed(target: &str) -> Outcome {
    let seeds = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&seeds).map_err(|error| format!("{}: {error}", seeds.display()))?;
    if target == "packet" {
        for kind in sorted(&package("recoup-packet")?.join("tests/corpus"))? {
            plant(&kind, &seeds, |text| hexadecimal(&String::from_utf8_lossy(text)))?;
        }
    }
    // A prefix selects the format for the target.
    let (folder, front): (_, &[u8]) = match target {
        "scenario" => (root().join("examples"), b""),
        "topology" => (package("recoup-sim")?.join("tests/topology"), b"\0"),
        "file" => (package("recoup-io")?.join("tests/fixture/key"), b"0"),
        _ => (root().join("fuzz/seeds").join(target), b""),
    };
    plant(&folder, &seeds, |text| [front, text].concat())?;
    plant(&root().join("fuzz/seeds").join(target), &seeds, <[u8]>::to_vec)
}

/// Makes a seed of each file in `folder`, if there is one; of each line where its name ends in `.lines`.
fn plant(folder: &Path, seeds: &Path, make: impl Fn(&[u8]) -> Vec<u8>) -> Outcome {
    for path in sorted(folder).unwrap_or_default().iter().filter(|path| path.is_file()) {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let bytes = fs::read(path).map_err(failed)?;
        let name = file_name(path);
        if name.ends_with(".lines") {
            for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
                fs::write(seeds.join(format!("{number}")), line).map_err(failed)?;
            }
        } else {
            fs::write(seeds.join(name), make(&bytes)).map_err(failed)?;
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
