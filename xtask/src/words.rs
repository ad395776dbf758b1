//! The project's language: words and habits that its Rust files avoid.
//!
//! Readers who know TCP, QUIC, NFD and 802.11 find their own words. `cargo xtask test text` checks the folders of [`DONE`];
//! `cargo xtask prose --words` counts breaches in all folders.

use std::collections::BTreeMap;

/// Folders without a breach. A folder joins the list once it is clean.
const DONE: &[&str] = &[
    "fuzz/",
    "crates/trust/",
    "crates/cli/",
    "crates/config/",
    "crates/core/",
    "crates/forwarder/",
    "crates/gateway/",
    "crates/io/",
    "crates/lab/",
    "crates/packet/",
    "crates/recoup/",
    "crates/scenario/",
    "crates/sim/",
    "crates/studies/",
    "crates/transport/",
    "crates/web/",
    "crates/wifi/",
    "python/",
    "xtask/",
];

/// This list of words is no breach of itself.
const LIST: &str = "xtask/src/words.rs";

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

/// A breach: its line, and what is wrong.
pub(crate) type Breach = (usize, String);

/// Breaches of a file, if its folder is done.
pub(crate) fn check(path: &str, text: &str) -> Vec<Breach> {
    if DONE.iter().any(|folder| path.starts_with(folder)) {
        breaches(path, text).into_iter().map(|(line, _, text)| (line, text)).collect()
    } else {
        Vec::new()
    }
}

/// Numbers of breaches by crate and kind.
pub(crate) fn count<'a>(files: impl Iterator<Item = (&'a str, String)>) -> Counts {
    let mut counts = Counts::new();
    for (path, text) in files {
        let parts: Vec<&str> = path.split('/').collect();
        let folder = match parts.as_slice() {
            ["crates", name, ..] | [name, ..] => (*name).to_owned(),
            [] => continue,
        };
        for (_, kind, _) in breaches(path, &text) {
            *counts.entry(folder.clone()).or_default().entry(kind).or_default() += 1;
        }
    }
    counts
}

/// Folder, kind, number.
pub(crate) type Counts = BTreeMap<String, BTreeMap<Kind, usize>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Word,
    Opening,
    LongSentence,
    TestName,
}

/// All kinds, as a table shows them.
pub(crate) const KINDS: [(Kind, &str); 4] = [
    (Kind::Word, "words"),
    (Kind::Opening, "openings"),
    (Kind::LongSentence, "long sentences"),
    (Kind::TestName, "long test names"),
];

fn breaches(path: &str, text: &str) -> Vec<(usize, Kind, String)> {
    if path == LIST || !path.ends_with(".rs") {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for (phrase, instead) in house_words(line) {
            found.push((index + 1, Kind::Word, format!("\"{phrase}\": write {instead}")));
        }
        if line.trim() == "#[test]" {
            let name = lines.iter().skip(index).take(4).find_map(|line| test_name(line));
            let long = name.filter(|name| name.split('_').count() > TEST_WORDS);
            found.extend(long.map(|name| {
                let text = format!("{name} has more than {TEST_WORDS} words");
                (index + 1, Kind::TestName, text)
            }));
        }
    }
    for (line, text, is_doc) in comments(&lines) {
        if is_doc && let Some(opening) = bad_opening(&text) {
            let text = format!("a comment begins with \"{opening}\": name its subject");
            found.push((line, Kind::Opening, text));
        }
        for sentence in sentences(&text) {
            let words = sentence.split_whitespace().count();
            if words > SENTENCE_WORDS {
                let begin: Vec<_> = sentence.split_whitespace().take(4).collect();
                let text = format!("a sentence of {words} words: {} …", begin.join(" "));
                found.push((line, Kind::LongSentence, text));
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
        breaches("crates/a/src/a.rs", text).into_iter().map(|(_, _, text)| text).collect()
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
