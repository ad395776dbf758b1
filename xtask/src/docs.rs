//! `cargo xtask docs`: documents that follow from kept results and from the program.
//!
//! The table in `docs/studies.md` follows from the kept `result.json` of each study, `docs/commands.md` and `docs/schema/*.json`
//! from the command; tests of the command compare those.
//! Run this after a kept result or an option has changed; `cargo xtask test docs` fails otherwise.

use crate::chore::{Outcome, capture, cargo, package, root};
use crate::digest::{file_name, sorted};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// The page with the table of all studies, and the marks around it.
const STUDIES: &str = "docs/studies.md";
const BEGIN: &str = "<!-- studies: written by `cargo xtask docs` -->\n";
const END: &str = "<!-- end of studies -->";
/// The page with the options.
const COMMANDS: &str = "docs/commands.md";
/// The documents with a schema in `docs/schema`.
const DOCUMENTS: [&str; 4] = ["scenario", "forward", "fetch", "serve"];
/// The claims of a study, in its folder of the sources.
const CLAIMS: &str = "claims.toml";

/// Writes the generated documents, or checks that they are current.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        [] => write(),
        ["--check"] => check(),
        _ => Err("usage: cargo xtask docs [--check]".into()),
    }
}

fn write() -> Outcome {
    let page = between(&read(STUDIES)?, &table(&studies()?))?;
    put(STUDIES, &page)?;
    let print = |page: &str, words: &[&str]| {
        let command = ["run", "--quiet", "-p", "recoup-lab-cli", "--", "generate"];
        put(page, &capture(&mut cargo(&[&command, words].concat()))?)
    };
    for document in DOCUMENTS {
        print(&format!("docs/schema/{document}.json"), &["schema", document])?;
    }
    print(COMMANDS, &["markdown"])
}

/// Fails if the table is not as it would be written, or a kept result does not follow from its verdicts and claims.
pub(crate) fn check() -> Outcome {
    let studies = studies()?;
    for Study { key, claims, result } in &studies {
        let wrong = result.as_ref().and_then(|result| wrong(claims, result));
        if let Some(wrong) = wrong {
            return Err(format!("docs/studies/{key}: {wrong}"));
        }
    }
    let page = read(STUDIES)?;
    match between(&page, &table(&studies))? == page {
        true => Ok(()),
        false => Err(format!("{STUDIES} is not current: run `cargo xtask docs`")),
    }
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

fn put(path: &str, text: &str) -> Outcome {
    fs::write(root().join(path), text).map_err(|error| format!("{path}: {error}"))
}

/// The text with `new` between the marks.
fn between(text: &str, new: &str) -> Outcome<String> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}\n{new}\n{END}{after}"))
    });
    parts.ok_or_else(|| format!("{STUDIES} has no lines `{}` and `{END}`", BEGIN.trim_end()))
}

/// A study: the numbers of its claims, and its kept result if there is one.
struct Study {
    key: String,
    claims: Vec<String>,
    result: Option<Value>,
}

/// All studies, in the order of their papers.
fn studies() -> Outcome<Vec<Study>> {
    let sources = package("recoup-studies")?.join("src");
    let mut folders = sorted(&sources)?;
    folders.retain(|folder| folder.join(CLAIMS).exists());
    let year = |folder: &PathBuf| file_name(folder).split_off(file_name(folder).len() - 4);
    folders.sort_by_key(|folder| (year(folder), folder.clone()));
    let study = |folder: &PathBuf| {
        let (key, path) = (file_name(folder), folder.join(CLAIMS));
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let result = match read(&format!("docs/studies/{key}/result.json")) {
            Ok(text) => Some(serde_json::from_str(&text).map_err(|e| format!("{key}: {e}"))?),
            Err(_) => None,
        };
        Ok(Study { key, claims: ids(&text), result })
    };
    folders.iter().map(study).collect()
}

/// The numbers of the claims in a study's file.
fn ids(claims: &str) -> Vec<String> {
    let ids = claims.lines().filter_map(|line| line.strip_prefix("id = \"")?.strip_suffix('"'));
    ids.map(str::to_owned).collect()
}

/// The first count that does not follow from the verdicts, or the verdicts if they are on other claims.
fn wrong(claims: &[String], result: &Value) -> Option<String> {
    let judged = || result["claims"].as_array().into_iter().flatten();
    if !judged().filter_map(|claim| claim["id"].as_str()).eq(claims) {
        return Some(format!("verdicts on other claims than in {CLAIMS}"));
    }
    let gating = || judged().filter(|it| it["gating"] == true);
    let having = |verdict: &str| gating().filter(|it| it["verdict"] == verdict).count();
    let is_changed = |it: &&Value| it["former"].is_string() && it["former"] != it["verdict"];
    let counts = [
        ("held", having("holds")),
        ("failed", having("fails")),
        ("undecided", gating().count() - having("holds") - having("fails")),
        ("changed", gating().filter(is_changed).count()),
    ];
    let differs = counts.into_iter().find(|(name, count)| result[name] != *count);
    differs.map(|(name, count)| format!("`{name}` is not {count}"))
}

/// The questions of the studies, and how many claims hold.
fn table(studies: &[Study]) -> String {
    let (mut list, mut rows) = (String::new(), String::new());
    let columns =
        ["held", "failed", "undecided", "changed", "reported", "used_for_inference", "seeds"];
    for Study { key, result, .. } in studies {
        let Some(result) = result else {
            let _ = writeln!(list, "- {key}: no result is kept");
            continue;
        };
        let title = result["title"].as_str().unwrap_or_default();
        let _ = writeln!(list, "- [{key}](studies/{key}/README.md): {title}");
        let numbers = columns.map(|name| result[name].as_u64().unwrap_or_default().to_string());
        let _ = writeln!(rows, "| {key} | {} |", numbers.join(" | "));
    }
    format!(
        "{list}\n| study | hold | fail | undecided | changed | reported | inference | seeds |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n{rows}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_follow_from_the_verdicts() {
        let claims = ids("[[claim]]\nid = \"A-1\"\nplace = \"x\"\n");
        let result = |verdict: &str, held: u32, failed: u32| {
            let claim =
                json!({ "id": "A-1", "gating": true, "verdict": verdict, "former": "fails" });
            json!({ "held": held, "failed": failed, "undecided": 0, "changed": held, "claims": [claim] })
        };
        assert_eq!(wrong(&claims, &result("holds", 1, 0)), None);
        assert_eq!(wrong(&claims, &result("holds", 0, 0)).unwrap(), "`held` is not 1");
        assert_eq!(wrong(&claims, &result("fails", 0, 0)).unwrap(), "`failed` is not 1");
        assert!(wrong(&[], &result("holds", 1, 0)).unwrap().contains("other claims"));
    }
}
