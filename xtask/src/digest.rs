//! `cargo xtask digests`: whether simulations still do what they did.
//!
//! The digest of a run covers every event of the simulation. The list holds one for each scenario
//! in `examples/` with its first seed, and for each run of each study at its smallest scale. A
//! change that preserves behaviour changes no digest. A change of behaviour rewrites the list
//! (`--write`) in the same commit, with the reason.

use crate::chore::{Outcome, cargo, command, quiet, root, target_directory};
use crate::test::FEATURES;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The list, below the root of the tree.
pub(crate) const LIST: &str = "docs/notes/digests.csv";
const HEAD: &str = "simulation,run,seed,digest\n";
/// Differences that are printed.
const SHOWN: usize = 10;

/// `[--write]`: compares with the list, or writes it.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let list = root().join(LIST);
    match arguments {
        [] => check(),
        ["--write"] => fs::write(&list, made()?).map_err(|error| format!("{LIST}: {error}")),
        _ => Err("usage: cargo xtask digests [--write]".into()),
    }
}

/// Fails if a digest is not the one of the list.
pub(crate) fn check() -> Outcome {
    let kept = fs::read_to_string(root().join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    let differences = differences(&kept, &made()?);
    if differences.is_empty() {
        return Ok(());
    }
    let mut message = format!(
        "{} simulations differ from {LIST}; if intended, `cargo xtask digests --write`:",
        differences.len()
    );
    for line in differences.iter().take(SHOWN) {
        let _ = write!(message, "\n  {line}");
    }
    Err(message)
}

/// Lines that only one of the lists has: `-` of the first, `+` of the second.
pub(crate) fn differences(kept: &str, made: &str) -> Vec<String> {
    let only = |sign: char, of: &str, other: &str| -> Vec<String> {
        let known: std::collections::HashSet<&str> = other.lines().collect();
        of.lines()
            .filter(|line| !known.contains(line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let mut all = only('-', kept, made);
    all.extend(only('+', made, kept));
    all
}

/// Runs everything, and returns the list.
fn made() -> Outcome<String> {
    let binary = binary()?;
    let folder = target_directory()?.join("digests");
    let _ = fs::remove_dir_all(&folder);
    let mut list = String::from(HEAD);
    let is_scenario = |path: &&PathBuf| path.extension().is_some_and(|found| found == "toml");
    for example in sorted(&root().join("examples"))?.iter().filter(is_scenario) {
        let name = file_name(example);
        let results = folder.join(&name);
        let mut sim = command(&binary);
        sim.arg("sim").arg(example).args(["--seeds", "1", "-q", "--format", "csv", "--out"]);
        quiet(sim.arg(&results))?;
        append(&mut list, &format!("examples/{name}"), &results)?;
    }
    for study in sorted(&root().join("docs/studies"))?.iter().filter(|path| path.is_dir()) {
        let study = file_name(study);
        let results = folder.join(&study);
        let mut run = command(&binary);
        run.args(["study", "run", &study, "--scale", "smoke", "--seeds", "1", "-q", "--json"]);
        quiet(run.arg("--out").arg(&results))?;
        for experiment in sorted(&results.join("smoke"))? {
            append(&mut list, &format!("{study}/{}", file_name(&experiment)), &experiment)?;
        }
    }
    Ok(list)
}

/// The command: `RECOUP_BINARY`, or that of the debug build.
pub(crate) fn binary() -> Outcome<PathBuf> {
    if let Some(binary) = std::env::var_os("RECOUP_BINARY") {
        return Ok(binary.into());
    }
    // The very build of the tests, which may be running it: any other one would replace it.
    let tests = ["test", "--quiet", "--workspace", "--features", FEATURES, "--no-run"];
    quiet(cargo(&tests).args(["--test", "command"]))?;
    Ok(target_directory()?.join("debug/recoup"))
}

/// Entries of a folder, by name.
pub(crate) fn sorted(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    paths.sort();
    Ok(paths)
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Appends the digests of a result folder.
fn append(list: &mut String, simulation: &str, results: &Path) -> Outcome {
    let path = results.join("runs.csv");
    let failed = |error: String| format!("{}: {error}", path.display());
    let mut runs = csv::Reader::from_path(&path).map_err(|error| failed(error.to_string()))?;
    let head = runs.headers().map_err(|error| failed(error.to_string()))?.clone();
    let column = |name: &str| {
        let place = head.iter().position(|found| found == name);
        place.ok_or_else(|| failed(format!("no column {name}")))
    };
    let (seed, digest) = (column("seed")?, column("digest")?);
    for (number, run) in (1..).zip(runs.records()) {
        let run = run.map_err(|error| failed(error.to_string()))?;
        let (seed, digest) = (&run[seed], &run[digest]);
        let _ = writeln!(list, "{simulation},{number},{seed},{digest}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_missing_and_new_runs_are_differences() {
        let kept = format!("{HEAD}a,1,1,00\nb,1,1,11\nc,1,1,22\n");
        let made = format!("{HEAD}a,1,1,00\nb,1,1,12\nd,1,1,33\n");
        let expected = ["- b,1,1,11", "- c,1,1,22", "+ b,1,1,12", "+ d,1,1,33"];
        assert_eq!(differences(&kept, &made), expected);
        assert!(differences(&kept, &kept).is_empty());
    }
}
