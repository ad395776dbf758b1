//! A scenario file as a tree that knows where each of its values stands.
//!
//! A problem of a value may be found late, when names are looked up or a sweep has replaced another value. It is still
//! reported with the line that the value came from.
use crate::problem::{Origin, Problem};
use recoup_core::time::Duration;
use recoup_core::unit::{self, Capacity};
use std::collections::{BTreeMap, btree_map};
use std::fmt;
use toml::de::{DeTable, DeValue};

/// A value and where it came from. Two trees are equal if their values are.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The value.
    pub value: Value,
    /// Its place in the file.
    pub origin: Origin,
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        Self { value, origin: Origin::Unknown }
    }
}

/// A value of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Number(f64),
    /// true or false.
    Truth(bool),
    /// An array.
    List(Vec<Tree>),
    /// A table.
    Table(Table),
}

impl Value {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// The value as it appears in a message or in the column of a table: without quotation marks.
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<u64> for Value {
    /// Numbers above the greatest of TOML become that one.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Self::Text(unit::print_duration(duration))
    }
}

impl From<Capacity> for Value {
    fn from(room: Capacity) -> Self {
        Self::Text(unit::print_capacity(room))
    }
}

impl From<&[&str]> for Value {
    fn from(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| Self::from(*text).into()).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            other => f.write_str(&crate::print::inline(other)),
        }
    }
}

/// A table: entries in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub origin: Origin,
    /// Its value.
    pub tree: Tree,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.tree == other.tree
    }
}

impl Table {
    /// Reads a TOML document.
    ///
    /// # Errors
    /// If the text is not TOML, or holds something that no scenario holds (dates).
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let lines = Lines::of(text);
        let document = DeTable::parse(text).map_err(|error| {
            let span = error.span();
            let origin = span.clone().map_or(Origin::Unknown, |span| lines.origin(span.start));
            let piece = span.and_then(|span| text.get(span)).unwrap_or_default();
            Problem::new(origin, "", explained(error.message().trim(), piece))
        })?;
        lines.table(document.get_ref())
    }

    /// The entries in their order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries in their order.
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// There is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.tree)
    }

    /// The value of `key`.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.tree)
    }

    /// The table at `key`, unless the value has another type.
    pub fn table(&self, key: &str) -> Option<&Table> {
        match self.get(key).map(|tree| &tree.value) {
            Some(Value::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// Gives `key` a value, at the place of its last one or at the end.
    pub fn insert(&mut self, key: impl Into<String>, tree: Tree) {
        let key = key.into();
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.tree = tree,
            None => self.entries.push(Entry { key, origin: tree.origin, tree }),
        }
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Tree> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at).tree)
    }

    /// Puts every entry of `other` in the place of the same entry here; tables are joined likewise.
    pub fn merge(&mut self, other: &Table) {
        for entry in &other.entries {
            match (self.get_mut(&entry.key).map(|tree| &mut tree.value), &entry.tree.value) {
                (Some(Value::Table(mine)), Value::Table(theirs)) => mine.merge(theirs),
                _ => self.insert(entry.key.clone(), entry.tree.clone()),
            }
        }
    }

    /// Sets the field to which a path of keys leads; tables that are not there are made.
    pub fn set(&mut self, path: &[&str], value: impl Into<Value>) {
        let Some((last, above)) = path.split_last() else { return };
        let mut table = self;
        for key in above {
            table = table.table_mut(key);
        }
        table.insert(*last, value.into().into());
    }

    /// Removes the field to which a path of keys leads, if it is there.
    pub fn unset(&mut self, path: &[&str]) {
        let Some((last, above)) = path.split_last() else { return };
        let mut table = self;
        for key in above {
            table = table.table_mut(key);
        }
        table.remove(last);
    }

    /// The table with that key, made in place of whatever else is there.
    pub fn table_mut(&mut self, key: &str) -> &mut Table {
        let at = self.entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            self.insert(key, Value::Table(Self::default()).into());
            self.entries.len() - 1
        });
        let value = &mut self.entries[at].tree.value;
        if !matches!(value, Value::Table(_)) {
            *value = Value::Table(Self::default());
        }
        match value {
            Value::Table(table) => table,
            _ => unreachable!("it was made a table"),
        }
    }

    /// The tables below it, with their keys.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = (&str, &mut Table)> {
        self.entries.iter_mut().filter_map(|entry| match &mut entry.tree.value {
            Value::Table(table) => Some((entry.key.as_str(), table)),
            _ => None,
        })
    }
}

impl FromIterator<(String, Tree)> for Table {
    /// A key that comes again replaces its value, at the place of the first one.
    fn from_iter<I: IntoIterator<Item = (String, Tree)>>(pairs: I) -> Self {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (key, tree) in pairs {
            match places.entry(key) {
                btree_map::Entry::Occupied(place) => entries[*place.get()].tree = tree,
                btree_map::Entry::Vacant(place) => {
                    let (key, origin) = (place.key().clone(), tree.origin);
                    place.insert(entries.len());
                    entries.push(Entry { key, origin, tree });
                }
            }
        }
        Self { entries }
    }
}

/// Where the lines of a text begin.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn origin(&self, offset: usize) -> Origin {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = 1 + self.text.get(start..offset).map_or(0, |before| before.chars().count());
        Origin::File { line: clamp(line), column: clamp(column) }
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Table, Problem> {
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts by key; the order of the file decides what is applied last.
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            let (origin, at) = (self.origin(key.span().start), self.origin(value.span().start));
            let tree = Tree { value: self.value(name, at, value.get_ref())?, origin: at };
            Ok(Entry { key: name.to_string(), origin, tree })
        };
        Ok(Table { entries: entries.into_iter().map(entry).collect::<Result<_, Problem>>()? })
    }

    fn value(&self, key: &str, at: Origin, value: &DeValue<'_>) -> Result<Value, Problem> {
        let wrong = |what: &str| Problem::new(at, key, what);
        Ok(match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(truth) => Value::Truth(*truth),
            DeValue::Integer(integer) => Value::Integer(
                i64::from_str_radix(integer.as_str(), integer.radix())
                    .map_err(|_| wrong("the number is too large"))?,
            ),
            DeValue::Float(number) => Value::Number(
                number.as_str().parse().map_err(|_| wrong("this is no number that can be read"))?,
            ),
            DeValue::Datetime(_) => return Err(wrong("a date means nothing here; write a string")),
            DeValue::Table(table) => Value::Table(self.table(table)?),
            DeValue::Array(array) => Value::List(
                array
                    .iter()
                    .map(|one| {
                        let origin = self.origin(one.span().start);
                        Ok(Tree { value: self.value(key, origin, one.get_ref())?, origin })
                    })
                    .collect::<Result<_, Problem>>()?,
            ),
        })
    }
}

/// The parser's message about a piece of text, without terms of TOML.
fn explained(message: &str, piece: &str) -> String {
    match message {
        "duplicate key" => format!("`{}` stands here for the second time", piece.trim()),
        _ if message.starts_with("string values must be quoted") => {
            "text needs quotation marks: key = \"text\"".to_owned()
        }
        _ if message.starts_with("key with no value") => {
            "this is neither a [table] nor a key with its value: key = value".to_owned()
        }
        other => other.replace('\n', ", "),
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_line_and_column() {
        let table = Table::parse("a = 1\n\n[b]\n  \"ü\" = \"x\"\n").unwrap();
        assert_eq!(table.get("a").unwrap().origin, Origin::File { line: 1, column: 5 });
        let inner = table.table("b").and_then(|table| table.get("ü")).unwrap();
        assert_eq!(inner.origin, Origin::File { line: 4, column: 9 });
    }

    #[test]
    fn entries_keep_the_order_of_the_file() {
        let table = Table::parse("z = 1\na = 2\n[m]\n[c]\n").unwrap();
        let keys: Vec<_> = table.entries().iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m", "c"]);
    }

    #[test]
    fn invalid_toml_is_reported_with_its_place() {
        let problem = Table::parse("a = 1\nb = = 2\n").unwrap_err();
        assert!(problem.to_string().starts_with("2:"), "{problem}");
        let date = Table::parse("a = 1979-05-27").unwrap_err();
        assert_eq!(date.to_string(), "1:5: a: a date means nothing here; write a string");
    }

    #[test]
    fn fields_are_set_by_path_with_their_types() {
        let mut table = Table::parse("[link]\nrate = 1\n").unwrap();
        table.set(&["link", "delay"], Duration::from_millis(10));
        table.set(&["nodes", "r1", "cache"], Capacity::Packets(7));
        table.unset(&["link", "rate"]);
        let expected = "[link]\ndelay = \"10 ms\"\n[nodes.r1]\ncache = \"7 packets\"\n";
        assert_eq!(table, Table::parse(expected).unwrap());
    }

    #[test]
    fn merged_tables_keep_what_is_not_replaced() {
        let mut table = Table::parse("[link]\nrate = 1\ndelay = 2\n").unwrap();
        table.merge(&Table::parse("stop = 5\n[link]\nrate = 3\n").unwrap());
        assert_eq!(
            table,
            Table::parse("[link]\nrate = 3\ndelay = 2\n")
                .map(|mut expected| {
                    expected.insert("stop", Value::Integer(5).into());
                    expected
                })
                .unwrap()
        );
    }
}
