//! `cargo xtask prose`: help texts, error messages, comments and test names, drawn from a commit at random.
//!
//! Two lists with one seed, of two commits, show how the language of the tree has changed. A seed draws the same items
//! from the same commit on each machine.

use crate::chore::{Outcome, capture, command};
use crate::words;

const USAGE: &str = "usage: cargo xtask prose [--words] [--seed N] [--count N] [--commit COMMIT]";

/// The kinds of prose; a list has equally many items of each.
const KINDS: [Kind; 4] = [Kind::Help, Kind::Error, Kind::Comment, Kind::Test];

/// The fewest words of an error message or a comment that is prose.
const WORDS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Help,
    Error,
    Comment,
    Test,
}

/// A piece of prose and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    kind: Kind,
    path: String,
    line: usize,
    text: String,
}

/// Prints a table of items, or of breaches.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let (mut seed, mut count, mut commit) = (1, 20, "HEAD");
    let is_count = arguments.first() == Some(&"--words");
    for pair in arguments.get(usize::from(is_count)..).unwrap_or_default().chunks(2) {
        match *pair {
            ["--seed", number] => seed = number.parse().map_err(|_| USAGE)?,
            ["--count", number] => count = number.parse().map_err(|_| USAGE)?,
            ["--commit", name] => commit = name,
            _ => return Err(USAGE.into()),
        }
    }
    let files = files(commit)?;
    if is_count {
        print_breaches(&files);
        return Ok(());
    }
    let items: Vec<Item> = files.iter().flat_map(|(path, lines)| of_file(path, lines)).collect();
    println!("| kind | text | at |\n|---|---|---|");
    for item in drawn(&items, seed, count) {
        let Item { kind, path, line, text } = item;
        let text = text.replace('|', "\\|").replace('[', "\\[");
        println!("| {kind:?} | {text} | `{path}:{line}` |");
    }
    Ok(())
}

/// Prints how many breaches of the rules of language each crate has.
fn print_breaches(files: &[File]) {
    let counts = words::count(files.iter().map(|(path, lines)| (path.as_str(), lines.join("\n"))));
    println!("| crate | {} |", words::KINDS.map(|(_, name)| name).join(" | "));
    println!("|---{}|", "|---:".repeat(words::KINDS.len()));
    for (folder, kinds) in counts {
        let numbers =
            words::KINDS.map(|(kind, _)| kinds.get(&kind).copied().unwrap_or(0).to_string());
        println!("| `{folder}` | {} |", numbers.join(" | "));
    }
}

/// Path and lines.
type File = (String, Vec<String>);

/// The Rust files of a commit, in order.
fn files(commit: &str) -> Outcome<Vec<File>> {
    let name = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    let commit = capture(command("git").args(name).arg(format!("{commit}^{{commit}}")))?;
    let commit = commit.trim_end();
    let tree = ["grep", "--line-number", "-I", "-e", "", commit, "--", "*.rs"];
    let text = capture(command("git").args(tree))?;
    let mut files: Vec<File> = Vec::new();
    for row in text.lines() {
        let mut parts = row.splitn(4, ':').skip(1);
        let (Some(path), Some(_), Some(line)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        match files.last_mut().filter(|(last, _)| last == path) {
            Some((_, lines)) => lines.push(line.to_owned()),
            None => files.push((path.to_owned(), vec![line.to_owned()])),
        }
    }
    Ok(files)
}

/// The prose of a file.
fn of_file(path: &str, lines: &[String]) -> Vec<Item> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = lines.get(at..).unwrap_or_default();
        let comment: Vec<_> = rest.iter().map_while(|line| comment(line)).collect();
        let next = lines.get(at + comment.len()).map_or("", |line| line.trim());
        let is_option = ["#[arg", "#[command", "#[clap"].iter().any(|it| next.starts_with(it));
        let item = if !comment.is_empty() {
            let kind = if is_option { Kind::Help } else { Kind::Comment };
            Some((kind, comment.join(" "))).filter(|(_, text)| is_prose(text))
        } else if line.trim() == "#[test]" {
            test_name(rest).map(|name| (Kind::Test, name))
        } else {
            error(line).map(|text| (Kind::Error, text))
        };
        let new = item.map(|(kind, text)| Item { kind, path: path.into(), line: at + 1, text });
        found.extend(new);
        at += comment.len().max(1);
    }
    found
}

/// The text of a line that is nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

fn test_name(lines: &[String]) -> Option<String> {
    let declared = lines.iter().take(4).find_map(|line| line.trim().strip_prefix("fn "))?;
    declared.split('(').next().map(str::to_owned)
}

/// The text of an error message that a line makes.
fn error(line: &str) -> Option<String> {
    let makes = ["#[error(\"", "Err(", "Failure::", "_err(|"].iter().any(|it| line.contains(it));
    let text = line.split('"').nth(1).filter(|_| makes)?;
    is_prose(text).then(|| text.to_owned())
}

fn is_prose(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().all(|letter| letter.is_alphabetic() || letter == ',');
    text.split_whitespace().filter(is_word).count() >= WORDS
}

/// As many items of each kind, without repetition.
fn drawn(items: &[Item], seed: u64, count: usize) -> Vec<Item> {
    let mut state = seed;
    let mut list = Vec::new();
    for (place, kind) in KINDS.into_iter().enumerate() {
        let mut rest: Vec<&Item> = items.iter().filter(|item| item.kind == kind).collect();
        let share = (count + KINDS.len() - 1 - place) / KINDS.len();
        for _ in 0..share.min(rest.len()) {
            let number = split_mix(&mut state) % rest.len() as u64;
            list.push(rest.swap_remove(usize::try_from(number).unwrap_or(0)).clone());
        }
    }
    list
}

/// The next number of a sequence: SplitMix64 (Steele, Lea, Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! What this file is for.\n\n/// The name of the content\n/// to fetch.\n#[arg(long)]\nname: Name,\n\
                        #[error(\"the link is gone\")]\n#[test]\nfn queue_drops_when_full() {\n// ok\n";

    #[test]
    fn each_kind_of_prose_is_found() {
        let lines: Vec<String> = FILE.lines().map(str::to_owned).collect();
        let found = of_file("a.rs", &lines);
        let rows: Vec<_> = found.iter().map(|it| (it.kind, it.line, it.text.as_str())).collect();
        let expected = [
            (Kind::Comment, 1, "What this file is for."),
            (Kind::Help, 3, "The name of the content to fetch."),
            (Kind::Error, 7, "the link is gone"),
            (Kind::Test, 8, "queue_drops_when_full"),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn seed_repeats_the_list() {
        let item = |line| Item { kind: Kind::Test, path: "a.rs".into(), line, text: "x".into() };
        let items: Vec<_> = (0..100).map(item).collect();
        let first = drawn(&items, 1, 20);
        assert_eq!(first.len(), 5);
        assert_eq!(first, drawn(&items, 1, 20));
        assert_ne!(first, drawn(&items, 2, 20));
    }
}
