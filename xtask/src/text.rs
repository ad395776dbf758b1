//! What committed text must not contain, and what is better avoided in it.

use crate::chore::{Outcome, capture, command, root};
use crate::words;
use std::fs;
use std::path::Path;

/// Longer files ask what they are hiding; a warning, not an error.
const COMFORTABLE_LINES: usize = 600;

/// Larger files do not belong into the repository.
const MAX_FILE_OCTETS: usize = 1 << 20;

/// Endings that say nothing of what a type is.
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
        let Ok(octets) = fs::read(root().join(path)) else {
            continue;
        };
        check_size(path, &octets, &mut found);
        if let Ok(text) = std::str::from_utf8(&octets) {
            check_lines(path, text, &here, &mut found);
            check_rust(path, text, &mut found);
            let breaches = words::check(path, text);
            found.extend(breaches.into_iter().map(|(line, text)| format!("{path}:{line}: {text}")));
            check_lockfile(path, text, &mut found);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

fn check_size(path: &str, octets: &[u8], found: &mut Vec<String>) {
    if octets.len() > MAX_FILE_OCTETS {
        found.push(format!("{path}: {} octets are too many to commit", octets.len()));
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
        found.push(format!("{path}: the file does not say what it is for (//! at its head)"));
    }
    let folder_module = Path::new(path).file_name().is_some_and(|name| name == "mod.rs");
    if folder_module && !path.contains("/tests/") {
        found.push(format!("{path}: a module lives in NAME.rs beside its folder, not in mod.rs"));
    }
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = declared_type(line).filter(|name| says_nothing(name)) {
            found.push(format!("{path}:{}: {name} does not say what it is", index + 1));
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

fn says_nothing(name: &str) -> bool {
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
    fn words_that_say_nothing_are_noticed() {
        assert!(says_nothing("FaceManager"));
        assert!(!says_nothing("Baseline"));
    }
}
