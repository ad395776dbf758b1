//! The tutorial of an algorithm, word for word, in a copy of the tree: files are written, lines are put into the list,
//! commands are run. A block that does not compile or run fails.
use crate::artefact;
use crate::block::blocks;
use crate::chore::{Outcome, command, root, show, target_directory};
use crate::digest::sorted;
use std::fs;
use std::path::Path;

/// The words before the tutorial, on a page of `docs`.
pub(crate) const MARK: &str = "`cargo xtask test tutorial` carries out";

/// Follows the tutorial.
pub(crate) fn follow() -> Outcome {
    let pages = sorted(&root().join("docs"))?.into_iter();
    let mut texts = pages.filter_map(|page| fs::read_to_string(page).ok());
    let page = texts.find(|text| text.contains(MARK)).ok_or("no page has the tutorial")?;
    let (_, text) = page.split_once(MARK).unwrap_or_default();
    let target = target_directory()?;
    let _ = fs::remove_dir_all(target.join("tutorial"));
    let copy = artefact::tree("tutorial")?;
    set_apart(&copy.join("Cargo.toml"))?;
    for block in blocks(text) {
        match (block.kind, block.file) {
            ("rust" | "toml", Some(file)) => write(&copy.join(file), block.text)?,
            ("diff", Some(file)) => {
                let path = copy.join(file);
                let old = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
                write(&path, &inserted(&old, block.text)?)?;
            }
            ("sh", _) => {
                let mut shell = command("bash");
                shell.args(["-euo", "pipefail", "-c", block.text]).current_dir(&copy);
                show(shell.env("CARGO_TARGET_DIR", &target))?;
            }
            (kind, _) => {
                return Err(format!("the tutorial has a block of kind {kind:?}"));
            }
        }
    }
    swept(&copy)
}

/// A run of each point with each seed was kept: that is what the tutorial is about.
fn swept(copy: &Path) -> Outcome {
    let path = copy.join("peak-results/runs.csv");
    let rows = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows: Vec<_> = rows.lines().filter(|row| row.contains("peak")).collect();
    match rows.len() {
        10 => Ok(()),
        other => Err(format!("{other} runs of the tutorial's estimator were kept, not 10")),
    }
}

/// Gives the packages of the copy their own version. Cargo identifies packages by version and place
/// in the workspace, so it would confuse the copy with the tree in a shared target folder.
fn set_apart(manifest: &Path) -> Outcome {
    let text = fs::read_to_string(manifest).map_err(|error| error.to_string())?;
    write(manifest, &versioned(&text)?)
}

/// The manifest of a workspace with `+tutorial` behind its version, as metadata of a build.
fn versioned(manifest: &str) -> Outcome<String> {
    let is_version = |line: &&str| line.starts_with("version = \"") && line.ends_with('"');
    let line = manifest.lines().find(is_version).ok_or("the workspace has no version")?;
    let other = format!("{}+tutorial\"", line.trim_end_matches('"'));
    Ok(manifest.replacen(line, &other, 1))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The text with the lines of a diff: each `+` line comes after the line without a sign before it, which stands once.
fn inserted(text: &str, diff: &str) -> Outcome<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut place = None;
    for line in diff.lines() {
        match (line.strip_prefix('+'), place) {
            (Some(new), Some(at)) => {
                lines.insert(at, new);
                place = Some(at + 1);
            }
            (Some(_), None) => return Err("a diff begins with a line that is there".into()),
            (None, _) => {
                let known = line.strip_prefix(' ').unwrap_or(line);
                let mut found = lines.iter().enumerate().filter(|(_, it)| **it == known);
                place = match (found.next(), found.next()) {
                    (Some((at, _)), None) => Some(at + 1),
                    _ => return Err(format!("`{known}` does not stand there once")),
                };
            }
        }
    }
    Ok(lines.join("\n") + "\n")
}
