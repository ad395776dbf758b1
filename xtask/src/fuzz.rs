//! `cargo xtask fuzz`: the fuzz targets, each for a while.

use crate::chore::{Outcome, command, quiet, root, show};
use std::fs;

const DEFAULT_SECONDS: u64 = 60;

/// Runs one target, or each in turn.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (target, seconds) = parse(arguments)?;
    quiet(command("cargo").args(["+nightly", "fuzz", "--version"])).map_err(|_| {
        "fuzzing needs a nightly toolchain and cargo-fuzz: \
         rustup toolchain install nightly && cargo install cargo-fuzz"
            .to_string()
    })?;
    let targets = match target {
        Some(target) => vec![target.to_string()],
        None => targets()?,
    };
    for target in targets {
        println!("=== {target}, {seconds} s");
        let limit = format!("-max_total_time={seconds}");
        let mut fuzz = command("cargo");
        fuzz.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        show(fuzz.args([
            "+nightly",
            "fuzz",
            "run",
            &target,
            "--",
            &limit,
            "-rss_limit_mb=2048",
        ]))?;
    }
    Ok(())
}

fn parse<'a>(arguments: &[&'a str]) -> Outcome<(Option<&'a str>, u64)> {
    let (mut target, mut seconds) = (None, DEFAULT_SECONDS);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--seconds" => {
                let number = rest.next().and_then(|word| word.parse().ok());
                seconds = number.ok_or("--seconds needs a whole number")?;
            }
            name if target.is_none() && !name.starts_with('-') => target = Some(name),
            other => return Err(format!("what is {other:?}? fuzz [TARGET] [--seconds N]")),
        }
    }
    Ok((target, seconds))
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
