//! Configuration files: TOML of which each key is known, and everything wrong has its place.
use crate::error::{Exit, Failure};
use recoup_sim::scenario::problem::{Origin, Problems, hint, listed};
use recoup_sim::scenario::tree::{Table, Tree, Value};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

/// Most octets of a configuration file.
const MOST_OCTETS: u64 = 1 << 20;

/// Reads the text of a configuration file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::file("read", path.display(), &error);
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > MOST_OCTETS {
        let message = format!("{} has {length} octets", path.display());
        return Err(Failure::usage(message).advise("a configuration has at most 1 MiB"));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Makes something of a configuration: `read` takes its parts out of the whole file.
pub(crate) fn parse<T>(
    file: &str,
    text: &str,
    read: impl FnOnce(&mut Section<'_>) -> T,
) -> Result<T, Failure> {
    let table = Table::parse(text).map_err(|problem| failure(file, &problem.into()))?;
    let mut problems = Problems::default();
    let mut section = Section::new(&table, String::new(), Origin::Unknown, &mut problems);
    let made = read(&mut section);
    section.finish();
    problems.or(made).map_err(|problems| failure(file, &problems))
}

/// The first problem in one line, and how many more there are.
pub(crate) fn failure(file: &str, problems: &Problems) -> Failure {
    let list = problems.list();
    let first = list.first().map_or_else(String::new, |problem| problem.line(file, &[]));
    let more = match list.len() {
        0 | 1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    Failure::new(Exit::Usage, format!("{first}{more}"))
}

/// One table of a configuration, in the course of being read.
pub(crate) struct Section<'a> {
    table: &'a Table,
    path: String,
    origin: Origin,
    known: Vec<&'static str>,
    problems: &'a mut Problems,
}

impl<'a> Section<'a> {
    fn new(table: &'a Table, path: String, origin: Origin, problems: &'a mut Problems) -> Self {
        Self { table, path, origin, known: Vec::new(), problems }
    }

    /// The value of a key, if it is given and right.
    pub(crate) fn value<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Tree) -> Result<T, String>,
    ) -> Option<T> {
        self.known.push(key);
        let tree = self.table.get(key)?;
        match read(tree) {
            Ok(value) => Some(value),
            Err(what) => {
                self.problems.add(tree.origin, self.of(key), what);
                None
            }
        }
    }

    /// The value of a key that has to be given.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Tree) -> Result<T, String>,
    ) -> Option<T> {
        if self.table.get(key).is_none() {
            self.problems.add(self.origin, self.of(key), "is missing");
        }
        self.value(key, read)
    }

    /// A table of its own; `read` is not called if it is not given.
    pub(crate) fn table(&mut self, key: &'static str, read: impl FnOnce(&mut Section<'_>)) {
        self.known.push(key);
        let path = self.of(key);
        match self.table.get(key) {
            None => {}
            Some(Tree { value: Value::Table(table), origin }) => {
                let mut section = Section::new(table, path, *origin, self.problems);
                read(&mut section);
                section.finish();
            }
            Some(tree) => {
                self.problems.add(tree.origin, path, format!("is no table; write [{key}]"));
            }
        }
    }

    /// A list of tables.
    pub(crate) fn list(&mut self, key: &'static str, mut read: impl FnMut(&mut Section<'_>)) {
        self.known.push(key);
        let path = self.of(key);
        let Some(tree) = self.table.get(key) else {
            return;
        };
        let Value::List(list) = &tree.value else {
            let what = format!("is no list; write [[{key}]] above each");
            return self.problems.add(tree.origin, path, what);
        };
        for (number, one) in (1..).zip(list) {
            let path = format!("{path}.{number}");
            match &one.value {
                Value::Table(table) => {
                    let mut section = Section::new(table, path, one.origin, self.problems);
                    read(&mut section);
                    section.finish();
                }
                _ => self.problems.add(one.origin, path, "is no table"),
            }
        }
    }

    /// A table that somebody else reads.
    pub(crate) fn foreign(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Table, &str, Origin, &mut Problems),
    ) {
        self.known.push(key);
        let path = self.of(key);
        match self.table.get(key) {
            None => {}
            Some(Tree { value: Value::Table(table), origin }) => {
                read(table, &path, *origin, self.problems);
            }
            Some(tree) => self.problems.add(tree.origin, path, "is no table"),
        }
    }

    /// Something is wrong with the value of a key.
    pub(crate) fn problem(&mut self, key: &str, what: impl Into<String>) {
        let origin = self.table.get(key).map_or(self.origin, |tree| tree.origin);
        self.problems.add(origin, self.of(key), what);
    }

    /// Whether a key is given.
    pub(crate) fn gives(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    fn finish(self) {
        for entry in self.table.entries() {
            if !self.known.contains(&entry.key.as_str()) {
                let near = hint(&entry.key, self.known.iter().copied());
                let what = match near.is_empty() {
                    true => format!("is not known here; {}", listed(self.known.iter().copied())),
                    false => format!("is not known here{near}"),
                };
                self.problems.add(entry.origin, self.of(&entry.key), what);
            }
        }
    }

    fn of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// A string.
pub(crate) fn text(tree: &Tree) -> Result<String, String> {
    match &tree.value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(format!("{other} is no text; write it in quotation marks")),
    }
}

/// Something that is read from a string.
pub(crate) fn parsed<T: FromStr<Err: Display>>(tree: &Tree) -> Result<T, String> {
    text(tree)?.parse().map_err(|error: T::Err| error.to_string())
}

/// A string that is kept if `check` finds nothing wrong with it.
pub(crate) fn checked<T, E: Display>(
    check: impl FnOnce(&str) -> Result<T, E>,
) -> impl FnOnce(&Tree) -> Result<String, String> {
    move |tree| {
        let text = text(tree)?;
        check(&text).map(|_| ()).map_err(|error| error.to_string())?;
        Ok(text)
    }
}

/// Several strings.
pub(crate) fn texts(tree: &Tree) -> Result<Vec<String>, String> {
    match &tree.value {
        Value::List(list) => list.iter().map(text).collect(),
        other => Err(format!("{other} is no list; write [\"…\"]")),
    }
}

/// A whole number that is not negative.
pub(crate) fn whole(tree: &Tree) -> Result<u64, String> {
    match tree.value {
        Value::Integer(number) => u64::try_from(number).map_err(|_| "is negative".into()),
        ref other => Err(format!("{other} is no whole number")),
    }
}

/// `true` or `false`.
pub(crate) fn truth(tree: &Tree) -> Result<bool, String> {
    match tree.value {
        Value::Truth(truth) => Ok(truth),
        ref other => Err(format!("{other} is neither true nor false")),
    }
}
