//! Rules for committed text, and for the language of Rust files.
//!
//! Readers who know TCP, QUIC, NFD and 802.11 find their own words: [`PHRASES`] lists those to avoid.

use crate::chore::{Outcome, files, root};
use std::fs;
use std::path::Path;

/// Longer files ask what they are hiding; a warning, not an error.
const COMFORTABLE_LINES: usize = 600;

/// Larger files do not belong into the repository.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Suffixes of type names without meaning.
const EMPTY_WORDS: [&str; 6] = ["Manager", "Helper", "Util", "Common", "Base", "Impl"];

/// This list of words is no breach of itself.
const LIST: &str = "xtask/src/text.rs";

/// Words and phrases to avoid, each row with the field's word for them. Parts of identifiers count as words.
const PHRASES: [(&str, &[&str]); 16] = [
    ("byte", &["octet", "octets"]),
    ("name the subject", &["nobody", "somebody", "whoever", "who"]),
    ("request", &["asked for", "ask for", "asks for", "asking for"]),
    ("retransmit", &["ask again", "asks again", "asked again", "asking again"]),
    ("in flight", &["under way", "travelling"]),
    ("report, signal, record", &["tell", "tells", "told", "telling", "say", "says", "said"]),
    ("receive", &["hear", "hears", "heard", "hearing"]),
    ("reject, drop; Nack", &["refuse", "refuses", "refused", "refusing", "refusal", "refusals"]),
    ("next hop, route, uplink", &["way out", "ways out"]),
    ("simulation, harness", &["world", "worlds"]),
    (
        "probe, lost, ambiguous",
        &["despair", "wonder", "wonders", "hopeful", "farewell", "doubt", "dear"],
    ),
    (
        "worker, message, waker",
        &["crew", "mate", "mates", "letters", "bell", "bells", "teller", "asker"],
    ),
    (
        "receiver, sender, mobile node",
        &["ears", "mouth", "tenant", "mover", "settler", "itinerary", "journey"],
    ),
    ("busy polling, coalescing", &["spin", "spins", "linger", "lingers"]),
    (
        "recycle, duplicate, spurious",
        &["lend", "lends", "gives back", "comes twice", "came twice", "needless", "by age"],
    ),
    ("mode, run, limit", &["manner", "manners", "sitting", "room for"]),
];

/// Names of other specifications and libraries that contain a word to avoid.
const ALLOWED: [&str; 8] = [
    "ConnectionRefused",
    "onnection refused",
    ".octets()",
    "OctetString",
    "octet-stream",
    "Hello, world",
    "set_zero_linger()",
    "spin_loop()",
];

/// Beginnings of a doc comment that name no subject.
const OPENINGS: [&str; 9] =
    ["what", "who", "whoever", "which", "that", "it", "nobody", "the same", "so that"];

/// Beginnings that make a short comment say nothing.
const QUESTIONS: [&str; 6] = ["how", "until when", "where", "when", "why", "from"];

/// Most words of a comment that one of [`QUESTIONS`] begins.
const SHORT_WORDS: usize = 3;

/// Most words of a test's name.
const TEST_WORDS: usize = 8;

/// Most words of a sentence in a comment.
const SENTENCE_WORDS: usize = 25;

/// Reads every committed or newly added file.
pub(crate) fn check() -> Outcome {
    let mut found = Vec::new();
    let here = root().display().to_string();
    for path in files(&[])? {
        let Ok(bytes) = fs::read(root().join(&path)) else { continue };
        if bytes.len() > MAX_FILE_BYTES {
            found.push(format!("{path}: {} bytes are too many to commit", bytes.len()));
        }
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        check_lines(&path, text, &here, &mut found);
        // A lock file pins versions and digests; where a package comes from is its user's choice.
        if path.ends_with("package-lock.json") && text.contains("\"resolved\"") {
            found.push(format!(
                "{path}: names a registry; npm's omit-lockfile-registry-resolved helps"
            ));
        }
        if path.ends_with(".rs") {
            check_rust(&path, text, &mut found);
            let breaches = if path == LIST { Vec::new() } else { breaches(text) };
            found.extend(breaches.into_iter().map(|(line, text)| format!("{path}:{line}: {text}")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
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

/// Breaches of the rules of language, with their lines.
fn breaches(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let words = house_words(line).into_iter();
        found.extend(
            words.map(|(word, instead)| (index + 1, format!("\"{word}\": write {instead}"))),
        );
        if line.trim() == "#[test]" {
            let name = lines.iter().skip(index).take(4).find_map(|line| test_name(line));
            let long = name.filter(|name| name.split('_').count() > TEST_WORDS);
            let text = long.map(|name| format!("{name} has more than {TEST_WORDS} words"));
            found.extend(text.map(|text| (index + 1, text)));
        }
    }
    for (line, text, is_doc) in comments(&lines) {
        if is_doc && let Some(opening) = bad_opening(&text) {
            found.push((line, format!("a comment begins with \"{opening}\": name its subject")));
        }
        for sentence in sentences(&text) {
            let words: Vec<&str> = sentence.split_whitespace().collect();
            if words.len() > SENTENCE_WORDS {
                let (count, begin) = (words.len(), words[..4].join(" "));
                found.push((line, format!("a sentence of {count} words: {begin} …")));
            }
        }
    }
    found
}

/// The phrases of a line that are to be avoided, and what to write instead.
fn house_words(line: &str) -> Vec<(&'static str, &'static str)> {
    let line = ALLOWED.iter().fold(line.to_owned(), |line, allowed| line.replace(allowed, " "));
    let words = split(&line);
    let rows = PHRASES.iter().flat_map(|(instead, row)| row.iter().map(move |it| (*it, *instead)));
    rows.filter(|(phrase, _)| words.contains(&format!(" {phrase} "))).collect()
}

/// The words of a line in lower case, each between spaces; a part of an identifier is a word.
fn split(line: &str) -> String {
    let mut words = String::from(" ");
    let mut is_after_small = false;
    for character in line.chars() {
        let is_word = character.is_alphanumeric();
        if (!is_word || character.is_uppercase() && is_after_small) && !words.ends_with(' ') {
            words.push(' ');
        }
        if is_word {
            words.extend(character.to_lowercase());
        }
        is_after_small = is_word && !character.is_uppercase();
    }
    words.push(' ');
    words
}

fn test_name(line: &str) -> Option<&str> {
    let declared = line.trim().strip_prefix("fn ")?;
    declared.split('(').next()
}

/// The comments of a file: first line, text, and whether it is a doc comment.
fn comments(lines: &[&str]) -> Vec<(usize, String, bool)> {
    let mut found: Vec<(usize, String, bool)> = Vec::new();
    let (mut last, mut is_code) = (None, false);
    for (index, line) in lines.iter().enumerate() {
        let Some((text, is_doc)) = comment(line) else {
            is_code = false;
            continue;
        };
        is_code ^= text.starts_with("```");
        if is_code {
            continue;
        }
        let goes_on = last == index.checked_sub(1) && is_sentence_part(text);
        match found.last_mut().filter(|(_, _, was_doc)| goes_on && *was_doc == is_doc) {
            Some((_, whole, _)) => {
                whole.push(' ');
                whole.push_str(text);
            }
            None => found.push((index + 1, text.to_owned(), is_doc)),
        }
        last = Some(index).filter(|_| is_sentence_part(text));
    }
    found
}

/// The text of a line that is only a comment, and whether it documents an item.
fn comment(line: &str) -> Option<(&str, bool)> {
    let text = line.trim_start().strip_prefix("//")?;
    let is_doc = text.starts_with(['/', '!']);
    Some((text.trim_start_matches(['/', '!']).trim(), is_doc))
}

/// Whether a line of a comment belongs to running text: no blank line, heading, list, table or code.
fn is_sentence_part(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['#', '-', '*', '|', '`', '<'])
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").flat_map(|it| it.split("; ")).flat_map(|it| it.split(": "))
}

/// The words that begin a comment without its subject.
fn bad_opening(text: &str) -> Option<&'static str> {
    let words = split(text);
    let begins = |opening: &&&str| words.starts_with(&format!(" {opening} "));
    let short = words.split_whitespace().count() <= SHORT_WORDS;
    let question = QUESTIONS.iter().filter(|_| short).find(begins);
    OPENINGS.iter().find(begins).or(question).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        breaches(text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn planted_word_is_a_breach() {
        for line in
            ["// nobody takes it", "let tx_octets = 1;", "struct AskedFor;", "fn f() { tell(); }"]
        {
            assert_eq!(texts(line).len(), 1, "{line}");
        }
        assert_eq!(texts("let [a, b, c, d] = address.octets();"), Vec::<String>::new());
        assert_eq!(texts("let storyteller = whole;"), Vec::<String>::new());
    }

    #[test]
    fn comment_names_its_subject() {
        assert_eq!(texts("/// Which.\nfn f() {}").len(), 1);
        assert_eq!(texts("/// Until when.\nfn f() {}").len(), 1);
        assert_eq!(texts("/// When the timer of the face fires.\nfn f() {}").len(), 0);
    }

    #[test]
    fn long_sentence_is_a_breach() {
        let words = |count| format!("// {}.", vec!["word"; count].join("\n// "));
        assert_eq!(texts(&words(SENTENCE_WORDS)).len(), 0);
        assert_eq!(texts(&words(SENTENCE_WORDS + 1)).len(), 1);
    }

    #[test]
    fn long_test_name_is_a_breach() {
        let test = |name: &str| texts(&format!("#[test]\nfn {name}() {{}}"));
        assert_eq!(test("queue_drops_when_full").len(), 0);
        assert_eq!(test("queue_drops_the_packet_that_came_last_when_full").len(), 1);
    }
}
