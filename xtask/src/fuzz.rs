//! `cargo xtask fuzz`: the fuzz targets, each for a while.

use crate::chore::{Outcome, command, quiet, root, show};
use std::{fs, io};

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
        seed(&target).map_err(|error| format!("no seeds for {target}: {error}"))?;
        let limit = format!("-max_total_time={seconds}");
        let mut fuzz = command("cargo");
        fuzz.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        show(fuzz.args(["+nightly", "fuzz", "run", &target, "--", &limit, "-rss_limit_mb=2048"]))?;
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

/// Gives the target the packets of the test corpus to start from: digests in them are hard to guess.
fn seed(target: &str) -> io::Result<()> {
    let seeds = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&seeds)?;
    for kind in fs::read_dir(root().join("crates/packet/tests/corpus"))? {
        for entry in fs::read_dir(kind?.path())? {
            let path = entry?.path();
            let octets = hexadecimal(&fs::read_to_string(&path)?);
            fs::write(seeds.join(path.file_stem().unwrap_or_default()), octets)?;
        }
    }
    Ok(())
}

/// The octets in a file of the corpus; lines that begin with `#` are remarks.
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
