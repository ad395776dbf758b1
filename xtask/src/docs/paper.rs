//! Pages that lead from a paper to the code (`docs/studies/*/paper.md`). A quotation in their tables is a code span before
//! a link, `text` in `[file](path)`: the file must contain it. A page of words (`.md`) sets nothing up, so it is not quoted;
//! `|` in a code span would end the cell.
use crate::chore::Outcome;
use std::path::Path;

/// Quotations of a page that are not in their files, by a function that reads the file of a link.
fn missing(page: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut missing = Vec::new();
    for line in page.lines() {
        for (text, target) in quotations(line) {
            match read(target) {
                _ if target.ends_with(".md") => {
                    missing.push(format!("`{text}` is quoted from {target}: quote the code"));
                }
                _ if text.contains('|') => {
                    missing.push(format!("`{text}` has a `|`, which ends the cell: quote less"));
                }
                Some(file) if file.contains(text) => {}
                Some(_) => missing.push(format!("`{text}` is not in {target}")),
                None => missing.push(format!("{target} is gone")),
            }
        }
    }
    missing
}

/// Quotations of a line, with the targets of their links.
fn quotations(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices("` in [").filter_map(move |(end, mark)| {
        let text = line.get(line.get(..end)?.rfind('`')? + 1..end)?;
        let (_, rest) = line.get(end + mark.len()..)?.split_once("](")?;
        Some((text, rest.split_once(')')?.0))
    })
}

/// Fails if a file of a page is gone, or no longer has what the page quotes. Links are checked with those of all pages.
pub(super) fn check(root: &Path, key: &str) -> Outcome {
    let folder = root.join("docs/studies").join(key);
    let path = folder.join("paper.md");
    let page = std::fs::read_to_string(&path)
        .map_err(|error| format!("docs/studies/{key}/paper.md: {error}"))?;
    let read = |target: &str| std::fs::read_to_string(folder.join(target)).ok();
    match missing(&page, read).first() {
        None => Ok(()),
        Some(first) => Err(format!("docs/studies/{key}/paper.md: {first}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_must_be_in_its_file() {
        let files = |target: &str| (target == "../a.toml").then(|| "rate = \"1 Mbit/s\"\n".into());
        let of = |row: &str| missing(row, files);
        assert!(of("| x | `rate = \"1 Mbit/s\"` in [a.toml](../a.toml) | equal |").is_empty());
        assert_eq!(of("| `rate = 2` in [a.toml](../a.toml) |"), ["`rate = 2` is not in ../a.toml"]);
        assert_eq!(of("| `x` in [b.toml](../b.toml) |"), ["../b.toml is gone"]);
        assert!(of("| `x` in [R.md](../R.md) |")[0].contains("quote the code"));
        assert!(of("| `x | y` in [a.toml](../a.toml) |")[0].contains("quote less"));
        assert!(of("| `x` and [a.toml](../b.toml) |").is_empty());
    }

    #[test]
    fn every_study_has_its_page() {
        let root = crate::chore::root();
        for study in super::super::studies().unwrap() {
            check(&root, &study.key).unwrap();
        }
    }
}
