//! Problems of a scenario: place, and remedy.
use crate::schema::Keys;
use crate::tree::Value;
use recoup_core::spec;
use std::fmt;

/// Where a value came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A place in the scenario file; both count from 1.
    File {
        /// Line.
        line: u32,
        /// Column, in characters.
        column: u32,
    },
    /// A setting beside the file, by its number.
    Setting(u32),
    /// Nowhere in particular: a default.
    #[default]
    Unknown,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { line, column } => write!(f, "{line}:{column}"),
            Self::Setting(number) => write!(f, "setting {}", u64::from(*number) + 1),
            Self::Unknown => Ok(()),
        }
    }
}

/// One thing that is wrong. Prints as one line: place, key, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The place.
    pub origin: Origin,
    /// The dotted path of the key; empty if the whole file is meant.
    pub key: String,
    /// The problem, with the remedy.
    pub what: String,
}

impl Problem {
    /// A problem of `key` at `origin`.
    pub fn new(origin: Origin, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { origin, key: key.into(), what: what.into() }
    }

    /// The problem with the name of its file, or with the setting that caused it.
    pub fn line(&self, file: &str, settings: &[String]) -> String {
        let place = match self.origin {
            Origin::File { .. } => format!("{file}:{}", self.origin),
            Origin::Unknown => file.to_owned(),
            Origin::Setting(number) => match settings.get(number as usize) {
                Some(setting) => format!("--set {setting}"),
                None => "--set".to_owned(),
            },
        };
        format!("{place}: {}", self.text()).chars().map(visible).collect()
    }

    fn text(&self) -> String {
        match self.key.is_empty() {
            true => self.what.clone(),
            false => format!("{}: {}", self.key, self.what),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.text().chars().map(visible).collect();
        match self.origin {
            Origin::Unknown => f.write_str(&text),
            origin => write!(f, "{origin}: {text}"),
        }
    }
}

impl std::error::Error for Problem {}

/// Everything that is wrong, in the order of the file, each thing once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    /// The keys that readers request, if they describe their documents.
    keys: Option<Box<Keys>>,
}

impl Problems {
    /// Most problems of a file that are kept.
    const MOST: usize = 50;

    /// No problems, but the keys of all that is read: readers read a document without keys as one that has them all.
    #[must_use]
    pub fn describing() -> Self {
        Self { list: Vec::new(), keys: Some(Box::default()) }
    }

    /// The keys, where readers describe what they read.
    pub fn keys(&self) -> Option<&Keys> {
        self.keys.as_deref()
    }

    /// As [`keys`](Self::keys), to enter more.
    pub fn keys_mut(&mut self) -> Option<&mut Keys> {
        self.keys.as_deref_mut()
    }

    /// Adds a problem.
    pub fn add(&mut self, origin: Origin, key: impl Into<String>, what: impl Into<String>) {
        self.push(Problem::new(origin, key, what));
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        if !self.are_enough() && !self.list.contains(&problem) {
            self.list.push(problem);
            self.list.sort();
        }
    }

    /// Whether more problems would not be kept; the search for a near name of each can be left out.
    pub fn are_enough(&self) -> bool {
        self.list.len() >= Self::MOST
    }

    /// The problems.
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// `value`, if nothing is wrong.
    ///
    /// # Errors
    /// The problems, if there are any.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self { list: vec![problem], keys: None }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.list.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Problems {}

/// "; did you mean `x`?", if a known word is near; else nothing.
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let near = spec::nearest(given, known);
    near.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The known words, or the first of them, for a message.
pub fn listed<'a>(known: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = known.into_iter().collect();
    match words.len() {
        0 => "there are none".to_owned(),
        1..=24 => format!("there are: {}", words.join(", ")),
        many => format!("there are {many}: {}, …", words[..20].join(", ")),
    }
}

/// The problem of a value that should be a list of tables `key`.
pub fn no_list(value: &Value, key: &str) -> String {
    match value {
        Value::Table(_) => format!("is one table; write [[{key}]], with two brackets, above each"),
        other => format!("`{other}` is no table; write [[{key}]] above each, and its keys below"),
    }
}

/// The problem of an entry of a list of tables `key` that is no table.
pub fn no_entry(value: &Value, key: &str) -> String {
    format!("`{value}` is no table; write [[{key}]] above each, and its keys below")
}

fn visible(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line_with_its_place() {
        let problem = Problem::new(Origin::File { line: 3, column: 7 }, "link.rate", "no\nrate");
        assert_eq!(problem.line("a.toml", &[]), "a.toml:3:7: link.rate: no rate");
        let problem = Problem::new(Origin::Setting(0), "link.rate", "no rate");
        let settings = ["link.rate=fast".to_owned()];
        assert_eq!(problem.line("a.toml", &settings), "--set link.rate=fast: link.rate: no rate");
    }

    #[test]
    fn nearest_word_is_suggested() {
        assert_eq!(hint("dealy", ["rate", "delay"]), "; did you mean `delay`?");
        assert_eq!(hint("Delay", ["rate", "delay"]), "; did you mean `delay`?");
        assert_eq!(hint("colour", ["rate", "delay"]), "");
    }

    #[test]
    fn problems_are_sorted_and_unique() {
        let mut problems = Problems::default();
        for line in [9, 2, 9, 4] {
            problems.add(Origin::File { line, column: 1 }, "a", "b");
        }
        assert_eq!(problems.to_string(), "2:1: a: b\n4:1: a: b\n9:1: a: b");
    }
}
