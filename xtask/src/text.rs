//! Rules for committed text, and warnings.

use crate::chore::{Outcome, capture, command, root};
use crate::words;
use std::fs;
use std::path::Path;

/// Longer files ask what they are hiding; a warning, not an error.
const COMFORTABLE_LINES: usize = 600;

/// Larger files do not belong into the repository.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Suffixes of type names without meaning.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Helper", "Util", "Common", "Base", "Impl"];

/// Reads every committed or newly added file.
pub(crate) fn check() -> Outcome {
    let mut found = Vec::new();
    let here = root().display().to_string();
    let list = capture(command("git").args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    for path in list.split_terminator('\0') {
        let Ok(bytes) = fs::read(root().join(path)) else {
            continue;
        };
        check_size(path, &bytes, &mut found);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check_lines(path, text, &here, &mut found);
            check_rust(path, text, &mut found);
            let breaches = words::check(path, text);
            found.extend(breaches.into_iter().map(|(line, text)| format!("{path}:{line}: {text}")));
            check_lockfile(path, text, &mut found);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

fn check_size(path: &str, bytes: &[u8], found: &mut Vec<String>) {
    if bytes.len() > MAX_FILE_BYTES {
        found.push(format!("{path}: {} bytes are too many to commit", bytes.len()));
    }
}

fn check_lines(path: &str, text: &str, here: &str, found: &mut Vec<String>) {
    for (index, line) in text.lines().enumerate() {
        let place = format!("{path}:{}", index + 1);
        if ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker)) {
            found.push(format!("{place}: an unfinished merge"));
        }
        if line.ends_with(['\r', '\t', ' ']) && !path.ends_with(".md") {
            found.push(format!("{place}: white space at the end of the line"));
        }
        if line.contains(here) {
            found.push(format!("{place}: a path that exists on one machine only"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        found.push(format!("{path}: no newline at the end"));
    }
}

fn check_rust(path: &str, text: &str, found: &mut Vec<String>) {
    if !path.ends_with(".rs") {
        return;
    }
    let lines = text.lines().count();
    if lines > COMFORTABLE_LINES {
        println!("warning: {path} has {lines} lines: what is it hiding?");
    }
    if !text.trim_start().starts_with("//!") && !text.trim_start().starts_with("#!") {
        found.push(format!("{path}: the file does not state its purpose (//! at its head)"));
    }
    let folder_module = Path::new(path).file_name().is_some_and(|name| name == "mod.rs");
    if folder_module && !path.contains("/tests/") {
        found.push(format!("{path}: a module lives in NAME.rs beside its folder, not in mod.rs"));
    }
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = declared_type(line).filter(|name| has_empty_suffix(name)) {
            found.push(format!("{path}:{}: {name}: the suffix has no meaning", index + 1));
        }
    }
}

/// The name that a line declares as a type, if it declares one.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let keyword = words.next()?;
    if !["struct", "enum", "trait", "type", "union"].contains(&keyword) {
        return None;
    }
    words.next()?.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

fn has_empty_suffix(name: &str) -> bool {
    EMPTY_WORDS.iter().any(|word| name.ends_with(word))
}

/// A lock file pins versions and digests; where a package comes from is its user's choice.
fn check_lockfile(path: &str, text: &str, found: &mut Vec<String>) {
    if path.ends_with("package-lock.json") && text.contains("\"resolved\"") {
        found
            .push(format!("{path}: names a registry; npm's omit-lockfile-registry-resolved helps"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_found_behind_its_visibility() {
        assert_eq!(declared_type("pub(crate) struct FaceManager<'a> {"), Some("FaceManager"));
        assert_eq!(declared_type("    enum Verdict {"), Some("Verdict"));
        assert_eq!(declared_type("let manager = 3;"), None);
    }

    #[test]
    fn empty_suffixes_are_found() {
        assert!(has_empty_suffix("FaceManager"));
        assert!(!has_empty_suffix("Baseline"));
    }
}
