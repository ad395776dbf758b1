//! Configuration files: TOML of which each key is known, and everything wrong has its place.
use crate::error::{Exit, Failure};
use recoup_sim::scenario::problem::{Origin, Problem, Problems, hint, listed, no_entry, no_list};
use recoup_sim::scenario::tree::{Table, Tree, Value};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::str::FromStr;

/// Most octets of a configuration file.
const MOST_OCTETS: u64 = 1 << 20;

/// Reads the text of a configuration file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::InvalidData => {
            Failure::usage(format!("{name} is no text")).advise("write it in UTF-8")
        }
        _ => Failure::file("read", &name, &error),
    };
    let mut text = String::new();
    // What a device or a pipe will say has no length before.
    let length = File::open(path).and_then(|it| it.take(MOST_OCTETS + 1).read_to_string(&mut text));
    if length.map_err(failed)? as u64 > MOST_OCTETS {
        let message = format!("{name} is longer than 1 MiB");
        return Err(Failure::usage(message).advise("name a configuration, which is never as long"));
    }
    Ok(text)
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

/// The first problem in one line, and where the others are.
pub(crate) fn failure(file: &str, problems: &Problems) -> Failure {
    let list = problems.list();
    let first = list.first().map_or_else(String::new, |problem| problem.line(file, &[]));
    Failure::new(Exit::Usage, format!("{first}{}", others(list.get(1..).unwrap_or_default())))
}

/// Where other problems are, as it stands behind the first.
fn others(others: &[Problem]) -> String {
    let line = |problem: &Problem| match problem.origin {
        Origin::File { line, .. } => Some(line.to_string()),
        Origin::Setting(_) | Origin::Unknown => None,
    };
    let mut lines: Vec<_> = others.iter().filter_map(line).collect();
    lines.dedup();
    let places = match (lines.len(), lines.first()) {
        (0, _) | (_, None) => String::new(),
        (1, Some(line)) => format!(", in line {line}"),
        (2..=5, _) => format!(", in lines {}", lines.join(", ")),
        (_, Some(line)) => format!(", from line {line} on"),
    };
    match others.len() {
        0 => String::new(),
        1 => format!(" (and another mistake{places})"),
        many => format!(" (and {many} other mistakes{places})"),
    }
}

/// One table of a configuration, in the course of being read.
pub(crate) struct Section<'a> {
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

    /// The value of a key that has to be given, such as `example`.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        example: &'static str,
        read: impl FnOnce(&Tree) -> Result<T, String>,
    ) -> Option<T> {
        if self.table.get(key).is_none() {
            self.missing.push((key, example));
        }
        self.value(key, read)
    }

    /// A table of its own; `read` is not called if it is not given.
    pub(crate) fn table(&mut self, key: &'static str, read: impl FnOnce(&mut Section<'_>)) {
        self.foreign(key, |table, path, origin, problems| {
            let mut section = Section::new(table, path.to_owned(), origin, problems);
            read(&mut section);
            section.finish();
        });
    }

    /// A list of tables.
    pub(crate) fn list(&mut self, key: &'static str, mut read: impl FnMut(&mut Section<'_>)) {
        self.known.push(key);
        let path = self.of(key);
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
            Some(tree) => {
                self.problems.add(tree.origin, path, format!("is no table; write [{key}]"));
            }
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
        Value::Text(text) => Err(format!("`{text}` is no list; write [\"{text}\"]")),
        other => Err(format!("{other} is no list; write [\"…\"]")),
    }
}

/// A whole number that is not negative.
pub(crate) fn whole(tree: &Tree) -> Result<u64, String> {
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
pub(crate) fn truth(tree: &Tree) -> Result<bool, String> {
    match tree.value {
        Value::Truth(truth) => Ok(truth),
        ref other => Err(format!("`{other}` is neither true nor false, without quotation marks")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_configuration_is_not_read_to_its_end() {
        let said = |path: &Path| read(path).unwrap_err().to_string();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            said(Path::new("/dev/zero")),
            "/dev/zero is longer than 1 MiB; name a configuration, which is never as long"
        );
        assert!(said(folder.path()).contains("is a directory"), "{}", said(folder.path()));
        let file = folder.path().join("n.toml");
        assert!(said(&file).contains("no such file"), "{}", said(&file));
        std::fs::write(&file, b"\xFF\xFE").unwrap();
        assert!(said(&file).ends_with("n.toml is no text; write it in UTF-8"), "{}", said(&file));
        std::fs::write(&file, vec![b' '; MOST_OCTETS as usize]).unwrap();
        assert_eq!(read(&file).unwrap().len() as u64, MOST_OCTETS);
    }
}
