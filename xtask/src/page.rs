//! Documents: whether their links lead somewhere, `docs/SUMMARY.md` lists them, and they are short enough to read.

use crate::chore::{Outcome, files, root};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;

/// The list of pages.
const SUMMARY: &str = "docs/SUMMARY.md";
/// Pages, or parts of their paths, that need not keep the rules of [`breaches`].
const LONG: [&str; 7] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/commands.md",
    "docs/gateway.md",
    "/studies/",
    "docs/which.md",
];

/// Most words of a sentence.
const WORDS: usize = 25;
/// Most characters of a cell of a table.
const CELL: usize = 40;
/// The lines of a first screen.
const SCREEN: usize = 30;

/// Checks links and anchors of all documents, and the rules of those pages that keep them.
pub(crate) fn check() -> Outcome {
    let pages = pages()?;
    let mut found = Vec::new();
    for path in files(&["*.md"])? {
        let text = read(&path)?;
        for link in links(&text) {
            if let Err(reason) = follow(&path, &link.target, &pages) {
                found.push(format!("{path}:{}: {}: {reason}", link.line, link.target));
            }
        }
        if path.starts_with("docs/") && path != SUMMARY && !pages.contains(&path) {
            found.push(format!("{path}: {SUMMARY} does not list it"));
        }
        if path != SUMMARY && !LONG.iter().any(|long| path.contains(long)) {
            let breaches = breaches(&text).into_iter();
            found.extend(breaches.map(|(line, reason)| format!("{path}:{line}: {reason}")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Whether a link of a document leads to a file, and to a heading if it names one.
fn follow(from: &str, target: &str, pages: &BTreeSet<String>) -> Outcome {
    if is_remote(target) {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = resolved(from, file).ok_or("leads out of the repository")?;
    if !root().join(&path).exists() {
        return Err("no such file".into());
    }
    let is_page = path.ends_with(".md");
    if is_page && pages.contains(from) && !pages.contains(&path) {
        return Err(format!("{SUMMARY} does not list it"));
    }
    match anchor.is_empty() || anchors(&read(&path)?).contains(anchor) {
        true => Ok(()),
        false => Err("no such heading".into()),
    }
}

fn is_remote(target: &str) -> bool {
    ["https:", "http:", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// A link's path from the root of the repository, unless it leads out of that.
fn resolved(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The pages that the list has.
fn pages() -> Outcome<BTreeSet<String>> {
    let links = links(&read(SUMMARY)?);
    Ok(links.iter().filter_map(|link| resolved(SUMMARY, &link.target)).collect())
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// A link of a page.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    /// The line it begins in.
    line: usize,
    /// Its target as written.
    target: String,
}

fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).into_offset_iter()
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The links and pictures of a page.
fn links(text: &str) -> Vec<Link> {
    let found = events(text).filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Link { line: line(text, range.start), target: dest_url.into_string() })
        }
        _ => None,
    });
    found.collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for (event, _) in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let repeated = (1..).map(|number| format!("{slug}-{number}"));
                let free = std::iter::once(slug.clone()).chain(repeated);
                found.extend(free.into_iter().find(|it| !found.contains(it)));
            }
            _ => {}
        }
    }
    found
}

fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
        ' ' => Some('-'),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Breaches of the rules of a page, each with its line.
fn breaches(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut reading = Reading::default();
    let mut has_command = false;
    for (event, range) in events(text) {
        let at = line(text, range.start);
        has_command |= matches!(event, Event::Start(Tag::CodeBlock(_))) && at <= SCREEN;
        reading.take(event, at, &mut found);
    }
    if !has_command {
        found.push((1, format!("the first {SCREEN} lines show no command")));
    }
    found
}

/// The block that is read.
#[derive(Default)]
struct Reading {
    begin: Option<usize>,
    /// As it is shown.
    shown: String,
    /// As it is counted: a code span is one word.
    counted: String,
    is_code: bool,
}

impl Reading {
    fn take(&mut self, event: Event<'_>, line: usize, found: &mut Vec<(usize, String)>) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => self.is_code = true,
            Event::End(TagEnd::CodeBlock) => self.is_code = false,
            Event::Text(text) if !self.is_code => self.push(&text, &text, line),
            Event::Code(text) => self.push(&text, "code", line),
            Event::SoftBreak | Event::HardBreak => self.push(" ", " ", line),
            Event::End(TagEnd::TableCell) => {
                let length = self.shown.chars().count();
                if length > CELL {
                    let text = format!("a cell of {length} characters: {}", self.shown);
                    found.push((self.begin.unwrap_or(line), text));
                }
                *self = Self::default();
            }
            Event::Start(Tag::List(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_)) => {
                let long = sentences(&self.counted).filter(|(_, words)| *words > WORDS);
                let text = long.map(|(text, words)| format!("{words} words: {text}"));
                found.extend(text.map(|it| (self.begin.unwrap_or(line), it)));
                *self = Self::default();
            }
            _ => {}
        }
    }

    fn push(&mut self, shown: &str, counted: &str, line: usize) {
        self.begin.get_or_insert(line);
        self.shown.push_str(shown);
        self.counted.push_str(counted);
    }
}

/// The sentences of a paragraph, with the number of their words.
fn sentences(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let ends = text.match_indices([' ']).map(|(at, _)| at);
    let ends = ends.filter(|at| text[..*at].ends_with(['.', '?', '!', ':']));
    let mut begin = 0;
    ends.chain([text.len()]).map(move |end| {
        let sentence = text[begin..end].trim();
        begin = end;
        let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
        (sentence, sentence.split_whitespace().filter(is_word).count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentence_and_cell_are_found() {
        let long = "word ".repeat(26);
        let text = format!("# A\n\n{long}. Short.\n\n| {} |\n|---|\n| b |\n", "x".repeat(41));
        let lines: Vec<_> = breaches(&text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [3, 5, 1]);
        assert_eq!(breaches("# A\n\nDo this.\n\n```sh\nls\n```\n"), []);
    }

    #[test]
    fn broken_links_are_found() {
        let pages = BTreeSet::from(["README.md".to_owned()]);
        let follow = |target: &str| follow("README.md", target, &pages);
        assert_eq!(follow("https://example.org/x#y"), Ok(()));
        assert_eq!(follow("docs/none.md"), Err("no such file".into()));
        assert_eq!(follow("#none"), Err("no such heading".into()));
        assert_eq!(follow("SECURITY.md"), Err("docs/SUMMARY.md does not list it".into()));
    }
}
