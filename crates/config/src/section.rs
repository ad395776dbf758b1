//! One table of a document, read key by key: unread keys are mistakes.
use crate::document;
use crate::problem::{Origin, Problems, hint, listed, no_entry, no_list};
use crate::schema::{self, Shape};
use crate::tree::{Table, Tree, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::str::FromStr;

/// Makes something of a document: `read` takes its parts out of the whole.
///
/// # Errors
/// Everything that is wrong with it.
pub fn parse<T>(text: &str, read: impl FnOnce(&mut Section<'_>) -> T) -> Result<T, Problems> {
    let table = Table::parse(text)?;
    let mut problems = Problems::default();
    let mut section = Section::new(&table, String::new(), Origin::Unknown, &mut problems);
    let made = read(&mut section);
    section.finish();
    problems.or(made)
}

/// The JSON Schema of documents that `read` reads.
pub fn schema<T>(title: &str, read: impl FnOnce(&mut Section<'_>) -> T) -> serde_json::Value {
    schema::of(title, |problems| {
        let table = Table::default();
        read(&mut Section::new(&table, String::new(), Origin::Unknown, problems));
    })
}

/// One table of a configuration, in the course of being read.
pub struct Section<'a> {
    table: &'a Table,
    path: String,
    origin: Origin,
    known: Vec<&'static str>,
    /// Keys that have to be given and are not, with an example for each.
    missing: Vec<(&'static str, &'static str)>,
    problems: &'a mut Problems,
}

impl<'a> Section<'a> {
    fn new(table: &'a Table, path: String, origin: Origin, problems: &'a mut Problems) -> Self {
        Self { table, path, origin, known: Vec::new(), missing: Vec::new(), problems }
    }

    /// The value of a key, if it is given and right.
    pub fn value<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Tree) -> Result<T, String>,
    ) -> Option<T> {
        self.known.push(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.enter(&self.path, key, Shape::probe(&read), None, None);
        }
        let tree = self.table.get(key)?;
        match read(tree) {
            Ok(value) => Some(value),
            Err(what) => {
                self.problems.add(tree.origin, self.of(key), what);
                None
            }
        }
    }

    /// The fields of a struct with `serde`, without some; those that are not given keep their values.
    pub fn document<T: Serialize + DeserializeOwned>(&mut self, of: &mut T, without: &[&str]) {
        let all = document::fields(of).unwrap_or_default();
        for (key, default) in all.into_iter().filter(|(key, _)| !without.contains(key)) {
            if let Some(keys) = self.problems.keys_mut() {
                self.known.push(key);
                keys.enter(&self.path, key, document::shape(of, key), default, None);
                continue;
            }
            if let Some(read) = self.value(key, |tree| document::with(of, key, tree)) {
                *of = read;
            }
        }
    }

    /// The value of a key that has to be given, such as `example`.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        example: &'static str,
        read: impl Fn(&Tree) -> Result<T, String>,
    ) -> Option<T> {
        if self.table.get(key).is_none() {
            self.missing.push((key, example));
        }
        if let Some(keys) = self.problems.keys_mut() {
            keys.require(&self.path, key);
        }
        self.value(key, read)
    }

    /// A table of its own; `read` is not called if it is not given.
    pub fn table(&mut self, key: &'static str, read: impl FnOnce(&mut Section<'_>)) {
        self.foreign(key, |table, path, origin, problems| {
            let mut section = Section::new(table, path.to_owned(), origin, problems);
            read(&mut section);
            section.finish();
        });
    }

    /// A list of tables.
    pub fn list(&mut self, key: &'static str, mut read: impl FnMut(&mut Section<'_>)) {
        self.known.push(key);
        let path = self.of(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.list(&self.path, key);
            let (table, path) = (Table::default(), format!("{path}.1"));
            return read(&mut Section::new(&table, path, Origin::Unknown, self.problems));
        }
        let Some(tree) = self.table.get(key) else {
            return;
        };
        let Value::List(list) = &tree.value else {
            return self.problems.add(tree.origin, path, no_list(&tree.value, key));
        };
        for (number, one) in (1..).zip(list) {
            let path = format!("{path}.{number}");
            match &one.value {
                Value::Table(table) => {
                    let mut section = Section::new(table, path, one.origin, self.problems);
                    read(&mut section);
                    section.finish();
                }
                other => self.problems.add(one.origin, path, no_entry(other, key)),
            }
        }
    }

    /// A table that another reader reads.
    pub fn foreign(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Table, &str, Origin, &mut Problems),
    ) {
        self.known.push(key);
        let path = self.of(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.table(&self.path, key);
            return read(&Table::default(), &path, Origin::Unknown, self.problems);
        }
        match self.table.get(key) {
            None => {}
            Some(Tree { value: Value::Table(table), origin }) => {
                read(table, &path, *origin, self.problems);
            }
            Some(tree) => {
                self.problems.add(tree.origin, path, format!("is no table; write [{key}]"));
            }
        }
    }

    /// Something is wrong with the value of a key.
    pub fn problem(&mut self, key: &str, what: impl Into<String>) {
        let origin = self.table.get(key).map_or(self.origin, |tree| tree.origin);
        self.problems.add(origin, self.of(key), what);
    }

    /// Whether a key is given.
    pub fn gives(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    fn finish(mut self) {
        for entry in self.table.entries() {
            if !self.known.contains(&entry.key.as_str()) {
                let near = hint(&entry.key, self.known.iter().copied());
                // What is only misspelt is not missing.
                self.missing.retain(|(key, _)| !near.contains(&format!("`{key}`")));
                let what = match near.is_empty() {
                    true => format!("is not known here; {}", listed(self.known.iter().copied())),
                    false => format!("is not known here{near}"),
                };
                self.problems.add(entry.origin, self.of(&entry.key), what);
            }
        }
        for (key, example) in std::mem::take(&mut self.missing) {
            let what = format!("is missing; write {key} = {example}");
            self.problems.add(self.origin, self.of(key), what);
        }
    }

    fn of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// A string.
///
/// # Errors
/// The problem of the value.
pub fn text(tree: &Tree) -> Result<String, String> {
    match &tree.value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(format!("{other} is no text; write it in quotation marks")),
    }
}

/// Something that is read from a string.
///
/// # Errors
/// The problem of the value.
pub fn parsed<T: FromStr<Err: Display>>(tree: &Tree) -> Result<T, String> {
    text(tree)?.parse().map_err(|error: T::Err| error.to_string())
}

/// Several strings.
///
/// # Errors
/// The problem of the value.
pub fn texts(tree: &Tree) -> Result<Vec<String>, String> {
    match &tree.value {
        Value::List(list) => list.iter().map(text).collect(),
        Value::Text(text) => Err(format!("`{text}` is no list; write [\"{text}\"]")),
        other => Err(format!("{other} is no list; write [\"…\"]")),
    }
}

/// A whole number that is not negative.
///
/// # Errors
/// The problem of the value.
pub fn whole(tree: &Tree) -> Result<u64, String> {
    match tree.value {
        Value::Integer(number) => {
            u64::try_from(number).map_err(|_| format!("{number} is negative; write 0 or more"))
        }
        Value::Text(ref text) if text.parse::<u64>().is_ok() => {
            Err(format!("is a number; write {text}, without quotation marks"))
        }
        ref other => Err(format!("`{other}` is no whole number")),
    }
}

/// `true` or `false`.
///
/// # Errors
/// The problem of the value.
pub fn truth(tree: &Tree) -> Result<bool, String> {
    match tree.value {
        Value::Truth(truth) => Ok(truth),
        ref other => Err(format!("`{other}` is neither true nor false, without quotation marks")),
    }
}
