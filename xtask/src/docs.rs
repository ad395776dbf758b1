//! `cargo xtask docs`: documents that follow from kept results and from the program.
//!
//! Results of the studies are kept as text in `docs/studies/KEY` (`recoup study report KEY --form text`). Question and
//! result of each room are copied into the study's page, between two marks. The table in `docs/studies.md` follows from
//! the kept `result.json`, and so does the evidence in `docs/which.md`. The advice there follows from the results of the
//! arena in `docs/arena/simulated.json` and `sockets.json` (`recoup arena --json`).
//! `docs/commands.md` is what `recoup generate markdown` prints, `docs/schema/*.json` what `recoup generate schema` prints;
//! tests of the command compare them.
//! Run this after a kept result or an option has changed; `cargo xtask test docs` fails otherwise.
mod arena;
mod corrected;
mod paper;
mod turned;
mod which;

use crate::chore::{Outcome, capture, cargo, root};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// Marks around what is written into a page.
struct Marks {
    begin: &'static str,
    end: &'static str,
}

/// Around the table of all studies.
const TABLE: Marks = Marks {
    begin: "<!-- studies: written by `cargo xtask docs` -->\n",
    end: "<!-- end of studies -->",
};
/// Around question and result of a room, in the page of its study.
const RESULT: Marks = Marks {
    begin: "<!-- result: written by `cargo xtask docs` -->\n",
    end: "<!-- end of the result -->",
};
/// The page with the table, and that with the options.
const STUDIES: &str = "docs/studies.md";
const COMMANDS: &str = "docs/commands.md";
/// The documents with a schema in `docs/schema`.
const DOCUMENTS: [&str; 4] = ["scenario", "forward", "fetch", "serve"];
/// Where rooms are, and what each of them has.
const ROOMS: &str = "crates/studies/src";
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
    for (path, text) in generated(&studies()?)? {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let print = |page: &str, words: &[&str]| {
        let command = ["run", "--quiet", "--bin", "recoup", "--", "generate"];
        let text = capture(&mut cargo(&[&command, words].concat()))?;
        fs::write(root().join(page), text).map_err(|error| format!("{page}: {error}"))
    };
    for document in DOCUMENTS {
        print(&format!("docs/schema/{document}.json"), &["schema", document])?;
    }
    print(COMMANDS, &["markdown"])
}

/// Fails if a file is not as it would be written, or a kept result is of other claims than its room. Fails, too, if nothing
/// turns a claim that fails, unless its room names that claim so.
pub(crate) fn check() -> Outcome {
    let studies = studies()?;
    for study in &studies {
        study.is_of_its_room()?;
        study.is_turned()?;
        paper::check(&root(), &study.key)?;
        if let Some(result) = &study.result {
            corrected::check(&study.key, result)?;
        }
    }
    for (path, text) in generated(&studies)? {
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            let place = path.strip_prefix(root()).unwrap_or(&path).display();
            return Err(format!("{place} is not current: run `cargo xtask docs`"));
        }
    }
    Ok(())
}

/// The files that are made, whole.
fn generated(studies: &[Study]) -> Outcome<Vec<(PathBuf, String)>> {
    let with = |page: &str, marks: &Marks, new: &str| {
        let text = marks.between(&read(page)?, new).map_err(|error| format!("{page}: {error}"))?;
        Ok::<_, String>((root().join(page), text))
    };
    let which = which::page(studies, &arena::Arena::kept()?);
    let mut all =
        vec![with(STUDIES, &TABLE, &table(studies))?, (root().join("docs/which.md"), which)];
    for Study { key, .. } in studies.iter().filter(|study| study.result.is_some()) {
        let page = format!("docs/studies/{key}/README.md");
        let room = read(&format!("{ROOMS}/{key}/README.md"))?;
        all.push(with(&page, &RESULT, &result(key, &room)?)?);
    }
    Ok(all)
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

impl Marks {
    /// The text with `new` between the marks.
    fn between(&self, text: &str, new: &str) -> Outcome<String> {
        let Self { begin, end } = self;
        let none = |mark: &str| format!("there is no line `{}`", mark.trim_end());
        let (before, rest) = text.split_once(begin).ok_or_else(|| none(begin))?;
        let (_, after) = rest.split_once(end).ok_or_else(|| none(end))?;
        Ok(format!("{before}{begin}\n{new}\n{end}{after}"))
    }
}

/// Question and result of a room, with links as seen from the page of its study.
fn result(key: &str, room: &str) -> Outcome<String> {
    let (begin, end) = (room.find("\n## Question\n"), room.find("\n## Set-up\n"));
    let part = begin.zip(end).and_then(|(begin, end)| room.get(begin..end));
    let part = part.ok_or_else(|| {
        format!("{ROOMS}/{key}/README.md: Question and Result come before Set-up")
    })?;
    let own = format!("](../../../../docs/studies/{key}/");
    let anchor = format!("](../../../{ROOMS}/{key}/README.md#");
    Ok(part
        .trim()
        .replace(&own, "](")
        .replace("](../../../../docs/", "](../../")
        .replace("](#", &anchor)
        + "\n")
}

/// A room, with its kept result if there is one.
struct Study {
    key: String,
    result: Option<Value>,
}

impl Study {
    /// A number of the result.
    fn count(&self, name: &str) -> Option<u64> {
        self.result.as_ref()?.get(name)?.as_u64()
    }

    fn text(&self, name: &str) -> &str {
        self.result.as_ref().and_then(|it| it.get(name)?.as_str()).unwrap_or_default()
    }

    fn lessons(&self) -> &[Value] {
        let list = self.result.as_ref().and_then(|it| it.get("lessons")?.as_array());
        list.map_or(&[], Vec::as_slice)
    }

    /// The result has a verdict on each claim of the room, in its order.
    fn is_of_its_room(&self) -> Outcome {
        let Some(result) = &self.result else { return Ok(()) };
        let path = root().join(ROOMS).join(&self.key).join(CLAIMS);
        let claims =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let judged = result["claims"].as_array().into_iter().flatten();
        let judged: Vec<_> = judged.filter_map(|claim| claim["id"].as_str()).collect();
        match judged == ids(&claims) {
            true => Ok(()),
            false => {
                Err(format!("docs/studies/{} has verdicts on other claims than its room", self.key))
            }
        }
    }

    /// Something turns each gating claim that fails.
    fn is_turned(&self) -> Outcome {
        let Some(result) = &self.result else { return Ok(()) };
        let judged = result["claims"].as_array().into_iter().flatten();
        let fails = judged.filter(|it| it["gating"] == true && it["verdict"] == "fails");
        let fails: Vec<_> = fails.filter_map(|claim| claim["id"].as_str()).collect();
        let folder = format!("docs/studies/{}", self.key);
        let open = read(&format!("{folder}/open.md"))?;
        // A study whose claims are all turned by what is open has no isolating runs.
        let isolated = read(&format!("{folder}/isolated.md")).unwrap_or_default();
        let room = read(&format!("{ROOMS}/{}/README.md", self.key))?;
        match turned::without(&fails, &open, &isolated, &room) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(format!("{folder}: nothing turns {}", missing.join(", "))),
        }
    }
}

/// The numbers of the claims in a room's file.
fn ids(claims: &str) -> Vec<&str> {
    claims.lines().filter_map(|line| line.strip_prefix("id = \"")?.strip_suffix('"')).collect()
}

/// All rooms, in the order of their papers.
fn studies() -> Outcome<Vec<Study>> {
    let rooms = root().join(ROOMS);
    let entries = fs::read_dir(&rooms).map_err(|error| format!("{}: {error}", rooms.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut keys: Vec<_> = names.filter(|name| rooms.join(name).join(CLAIMS).exists()).collect();
    let year =
        |key: &String| key.trim_start_matches(|letter: char| !letter.is_ascii_digit()).to_owned();
    keys.sort_by_key(|key| (year(key), key.clone()));
    keys.into_iter().map(study).collect()
}

fn study(key: String) -> Outcome<Study> {
    let path = root().join("docs/studies").join(&key).join("result.json");
    let result = match fs::read_to_string(&path) {
        Ok(text) => Some(
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?,
        ),
        Err(_) => None,
    };
    Ok(Study { key, result })
}

/// The questions of the studies, and how many claims hold.
fn table(studies: &[Study]) -> String {
    let mut text = String::new();
    for study in studies {
        let key = &study.key;
        let _ = match &study.result {
            Some(_) => {
                writeln!(text, "- [{key}](studies/{key}/README.md): {}", study.text("title"))
            }
            None => {
                writeln!(text, "- [{key}](../{ROOMS}/{key}/README.md): no result is kept")
            }
        };
    }
    text += "\n| study | hold | fail | undecided | changed | reported | inference | seeds |\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for study in studies.iter().filter(|study| study.result.is_some()) {
        let columns =
            ["held", "failed", "undecided", "changed", "reported", "used_for_inference", "seeds"];
        let numbers = columns.map(|name| study.count(name).unwrap_or_default().to_string());
        let _ = writeln!(text, "| {} | {} |", study.key, numbers.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_text_between_the_marks_is_replaced() {
        let marks = Marks { begin: "<begin>\n", end: "<end>" };
        let new = marks.between("before\n<begin>\nold\n<end>\nafter\n", "new").unwrap();
        assert_eq!(new, "before\n<begin>\n\nnew\n<end>\nafter\n");
        assert_eq!(marks.between(&new, "new").unwrap(), new);
        assert!(marks.between("no marks", "new").unwrap_err().contains("<begin>"));
    }

    #[test]
    fn result_has_links_of_its_page() {
        let room = "# x\n\n## Question\n\nWhy?\n\n## Result\n\n[all](../../../../docs/studies/x/claims.md), \
                    [wifi](../../../../docs/wifi.md), [below](#why)\n\n## Set-up\n\nNo.\n";
        let expected = "## Question\n\nWhy?\n\n## Result\n\n[all](claims.md), [wifi](../../wifi.md), \
                        [below](../../../crates/studies/src/x/README.md#why)\n";
        assert_eq!(result("x", room).unwrap(), expected);
        assert!(result("x", "# x\n\n## Set-up\n").unwrap_err().contains("x/README.md"));
    }

    #[test]
    fn study_without_a_result_is_reported() {
        let result = json!({ "title": "Why?", "held": 3, "failed": 1, "undecided": 0, "changed": 1, "reported": 4,
                             "used_for_inference": 2, "seeds": 20 });
        let studies = [
            Study { key: "a2001".into(), result: Some(result) },
            Study { key: "b2002".into(), result: None },
        ];
        let table = table(&studies);
        assert!(table.contains("a2001/README.md): Why?\n"), "{table}");
        assert!(table.contains("| a2001 | 3 | 1 | 0 | 1 | 4 | 2 | 20 |\n"), "{table}");
        assert!(table.contains("b2002/README.md): no result is kept\n"), "{table}");
    }

    #[test]
    fn claims_are_known_by_their_lines() {
        assert_eq!(
            ids("[[claim]]\nid = \"A-1\"\nplace = \"x\"\n[[claim]]\nid = \"A-2\"\n"),
            ["A-1", "A-2"]
        );
    }
}
