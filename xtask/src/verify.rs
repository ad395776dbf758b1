//! Whether kept results of studies can be made again.
//!
//! Runs of `docs/studies/KEY` are drawn at random, made again from scratch, and their digests compared
//! (`recoup study verify`). Each study has a budget of time. Results that were kept without digests are named as stale, and so
//! are runs of the default transport that differ.

use crate::chore::{Outcome, command, root, spelled};
use crate::digest;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Kept results, one folder a study.
const STUDIES: &str = "docs/studies";
/// The file with the digests of a kept result.
const DIGESTS: &str = "digests.csv";
/// Seconds of runs that the leg spends on each study.
const SECONDS: &str = "5";
/// Marks of a run of the default transport: in the name of its experiment, or in its point.
const DEFAULT: [&str; 2] = ["/default-", "transport=default"];

fn folder(key: &str) -> PathBuf {
    Path::new(STUDIES).join(key)
}

/// Fails if a run of a kept result differs today; returns what is stale: studies whose results have no digests, and runs of
/// the default transport, which changes more often than results are renewed.
pub(crate) fn check() -> Outcome<Vec<String>> {
    let binary = digest::binary()?;
    let (mut stale, mut failed) = (Vec::new(), Vec::new());
    for path in digest::sorted(&root().join(STUDIES))?.iter().filter(|path| path.is_dir()) {
        let key = digest::file_name(path);
        if path.join(DIGESTS).exists() {
            let found = differing(&binary, &key)?;
            let (ours, papers) =
                found.into_iter().partition(|it| DEFAULT.iter().any(|mark| it.contains(mark)));
            stale.extend::<Vec<String>>(ours);
            failed.extend::<Vec<String>>(papers);
        } else {
            println!("{key}: stale, its result was kept without digests");
            stale.push(key);
        }
    }
    match failed.is_empty() {
        true => Ok(stale),
        false => Err(format!("kept runs differ today: {}", failed.join("; "))),
    }
}

/// Makes runs of a kept result again, as many as the budget allows; returns those that differ.
fn differing(binary: &Path, key: &str) -> Outcome<Vec<String>> {
    let mut verify = command(binary);
    verify
        .args(["study", "verify", key, "--json", "--seconds", SECONDS, "--kept"])
        .arg(folder(key));
    let output = verify.output().map_err(|error| format!("{}: {error}", spelled(&verify)))?;
    let document: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let printed = String::from_utf8_lossy(&output.stderr);
        format!("{} failed:\n{}", spelled(&verify), printed.trim_end())
    })?;
    let found = differing_in(key, &document);
    let (all, draw) = (document["runs"].as_array().map_or(0, Vec::len), &document["draw"]);
    println!("{key}: {all} runs made again (--draw {draw}), {} differ", found.len());
    match all {
        0 => Err(format!("{key}: no run was made again; is {DIGESTS} empty?")),
        _ => Ok(found),
    }
}

/// The runs of a document of `study verify --json` that differ from the kept ones.
fn differing_in(key: &str, document: &Value) -> Vec<String> {
    let runs = document["runs"].as_array().into_iter().flatten();
    let differing = runs.filter(|run| run["today"] != run["kept"]);
    let text = |run: &Value, name: &str| run[name].as_str().unwrap_or_default().to_owned();
    let one = |run: &Value| {
        format!("{key}/{}, {}, seed {}", text(run, "experiment"), text(run, "point"), run["seed"])
    };
    differing.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_missing_runs_differ() {
        let document = serde_json::json!({ "runs": [
            { "experiment": "linear", "point": "a=1", "seed": 1, "kept": "aa", "today": "aa" },
            { "experiment": "linear", "point": "a=2", "seed": 2, "kept": "aa", "today": "bb" },
            { "experiment": "default-linear", "point": "", "seed": 3, "kept": "aa", "today": null },
        ] });
        let found = differing_in("yang2016", &document);
        let is_ours = |it: &str| DEFAULT.iter().any(|mark| it.contains(mark));
        assert!(!is_ours(&found[0]) && is_ours(&found[1]));
    }
}
