//! The fields of a table: one description by which they are read, written and listed.
//!
//! A part of a scenario names its fields once, each with the place for its value and the [`Form`] in which it is
//! written. Reading then fills the places, and reports wrong values and unknown keys. It leaves behind the same table
//! in its normal form: quantities in one spelling, and (if wanted) the defaults of absent fields.
use crate::document;
use crate::form::{Form, TEXT};
use crate::problem::{Origin, Problems, hint, listed, no_entry, no_list};
use crate::schema::{ANY, Shape};
use crate::tree::{Entry, Table, Tree, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A table in the course of being read.
pub struct Fields<'a> {
    given: &'a Table,
    path: &'a str,
    origin: Origin,
    /// Defaults become part of the normal form.
    fill: bool,
    known: Vec<&'static str>,
    normal: Table,
    problems: &'a mut Problems,
}

impl<'a> Fields<'a> {
    /// The fields of `given`, whose dotted path is `path`.
    pub fn new(
        given: &'a Table,
        path: &'a str,
        origin: Origin,
        fill: bool,
        problems: &'a mut Problems,
    ) -> Self {
        Self { given, path, origin, fill, known: Vec::new(), normal: Table::default(), problems }
    }

    /// A field that keeps its value if it is not given. True if it is given and right.
    pub fn field<F: Form>(&mut self, key: &'static str, place: &mut F::Of, form: F) -> bool {
        self.known.push(key);
        if let Some(keys) = self.problems.keys_mut() {
            let default = form.write(place).filter(|value| *value != Value::text(""));
            let (shape, example) = (form.shape(), form.example());
            // A shape with a description of its own needs no example.
            let has_example = shape == Shape::Text && example != TEXT.example();
            keys.enter(self.path, key, shape, default, has_example.then_some(example));
        }
        let Some(tree) = self.given.get(key) else {
            if self.fill
                && let Some(value) = form.write(place)
            {
                self.normal.insert(key, value.into());
            }
            return false;
        };
        match form.read(tree) {
            Ok(read) => {
                if let Some(value) = form.write(&read) {
                    let value = placed(value, tree);
                    self.normal.insert(key, Tree { value, origin: tree.origin });
                }
                *place = read;
                true
            }
            Err(what) => {
                self.problems.add(tree.origin, self.of(key), what);
                false
            }
        }
    }

    /// The fields of a struct with `serde`, without some; those that are not given keep their values.
    pub fn document<T: Serialize + DeserializeOwned>(&mut self, place: &mut T, without: &[&str]) {
        let all = document::fields(place).unwrap_or_default();
        for (key, default) in all.into_iter().filter(|(key, _)| !without.contains(key)) {
            self.known.push(key);
            if let Some(keys) = self.problems.keys_mut() {
                keys.enter(self.path, key, document::shape(place, key), default, None);
                continue;
            }
            let Some(tree) = self.given.get(key) else {
                if self.fill
                    && let Some(value) = default
                {
                    self.normal.insert(key, value.into());
                }
                continue;
            };
            match document::with(place, key, tree) {
                Ok(read) => *place = read,
                Err(what) => {
                    self.problems.add(tree.origin, self.of(key), what);
                    continue;
                }
            }
            let mut read = document::fields(place).unwrap_or_default().into_iter();
            if let Some(value) = read.find(|(name, _)| *name == key).and_then(|(_, value)| value) {
                self.normal.insert(key, Tree { value, origin: tree.origin });
            }
        }
    }

    /// A field that has to be given, in whatever table of its kind.
    pub fn required<F: Form>(&mut self, key: &'static str, place: &mut F::Of, form: F) {
        if let Some(keys) = self.problems.keys_mut() {
            keys.require(self.path, key);
        }
        let example = form.example();
        if !self.field(key, place, form) && self.given.get(key).is_none() {
            self.problems.add(self.origin, self.of(key), format!("is missing; {example}"));
        }
    }

    /// A field that is a table of its own, if it is given; it stands in the normal form as `read` leaves it.
    pub fn table(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Table, &str, Origin, &mut Problems) -> Table,
    ) {
        self.known.push(key);
        let path = self.of(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.table(self.path, key);
            read(&Table::default(), &path, Origin::Unknown, self.problems);
            return;
        }
        match self.given.get(key) {
            None => {}
            Some(Tree { value: Value::Table(table), origin }) => {
                let normal = read(table, &path, *origin, self.problems);
                self.normal.insert(key, Tree { value: Value::Table(normal), origin: *origin });
            }
            Some(tree) => {
                let what = format!("is no table; write [{path}]");
                self.problems.add(tree.origin, path, what);
            }
        }
    }

    /// A table of things with names, such as `[links.a-b]`: `read` is given each with its name.
    pub fn named(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&Entry, &Table, &str, &mut Problems) -> Table,
    ) {
        if let Some(keys) = self.problems.keys_mut() {
            self.known.push(key);
            keys.named(self.path, key);
            let tree = Value::Table(Table::default()).into();
            let entry = Entry { key: ANY.to_owned(), origin: Origin::Unknown, tree };
            let path = format!("{}.{ANY}", self.of(key));
            read(&entry, &Table::default(), &path, self.problems);
            return;
        }
        self.table(key, |given, path, _, problems| {
            let mut normal = Vec::new();
            for entry in given.entries() {
                let path = format!("{path}.{}", crate::print::key(&entry.key));
                match &entry.tree.value {
                    Value::Table(table) => {
                        let value = Value::Table(read(entry, table, &path, problems));
                        normal.push((entry.key.clone(), Tree { value, origin: entry.origin }));
                    }
                    _ => {
                        let what = format!("is no table; write [{path}]");
                        problems.add(entry.tree.origin, path, what);
                    }
                }
            }
            normal.into_iter().collect()
        });
    }

    /// A list of tables, such as `[[event]]`: `read` is given each with its path, counted from 1.
    pub fn list(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&Table, &str, Origin, &mut Problems) -> Table,
    ) {
        self.known.push(key);
        let path = self.of(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.list(self.path, key);
            read(&Table::default(), &format!("{path}.1"), Origin::Unknown, self.problems);
            return;
        }
        let Some(tree) = self.given.get(key) else { return };
        let Value::List(list) = &tree.value else {
            return self.problems.add(tree.origin, path, no_list(&tree.value, key));
        };
        let mut normal = Vec::new();
        for (number, one) in (1..).zip(list) {
            let path = format!("{path}.{number}");
            match &one.value {
                Value::Table(table) => {
                    let value = Value::Table(read(table, &path, one.origin, self.problems));
                    normal.push(Tree { value, origin: one.origin });
                }
                other => self.problems.add(one.origin, path, no_entry(other, key)),
            }
        }
        self.normal.insert(key, Tree { value: Value::List(normal), origin: tree.origin });
    }

    /// A table that is read even if it is not given, as an empty one, if it is `wanted`.
    pub fn default_table(
        &mut self,
        key: &'static str,
        wanted: bool,
        read: impl FnOnce(&Table, &str, Origin, &mut Problems) -> Table,
    ) {
        if self.given.get(key).is_some() || !wanted || self.describes() {
            return self.table(key, read);
        }
        self.known.push(key);
        let path = self.of(key);
        let normal = read(&Table::default(), &path, self.origin, self.problems);
        self.normal.insert(key, Value::Table(normal).into());
    }

    /// Whether the keys are described instead of being read.
    pub fn describes(&self) -> bool {
        self.problems.keys().is_some()
    }

    /// The table that is being read.
    pub fn given(&self) -> &'a Table {
        self.given
    }

    /// A table that is given, before it is read.
    pub fn look(&self, key: &str) -> Option<&'a Table> {
        self.given.table(key)
    }

    /// Marks a key as known for another reader, and returns its value unchanged.
    pub fn keep(&mut self, key: &'static str) -> Option<&'a Tree> {
        self.known.push(key);
        if let Some(keys) = self.problems.keys_mut() {
            keys.enter(self.path, key, Shape::Any, None, None);
        }
        let tree = self.given.get(key)?;
        self.normal.insert(key, tree.clone());
        Some(tree)
    }

    /// A key that is known and has no place in the normal form.
    pub fn leave_out(&mut self, key: &'static str) {
        self.known.push(key);
    }

    /// The text of a key that is given as one.
    pub fn look_text(&self, key: &str) -> Option<&'a str> {
        match self.given.get(key).map(|tree| &tree.value) {
            Some(Value::Text(text)) => Some(text.trim()),
            _ => None,
        }
    }

    /// Whether a key is given, as that word.
    pub fn is_word(&self, key: &str, word: &str) -> bool {
        let given = self.given.get(key).map(|tree| &tree.value);
        matches!(given, Some(Value::Text(text)) if text == word)
    }

    /// Whether a key is given.
    pub fn gives(&self, key: &str) -> bool {
        self.given.get(key).is_some()
    }

    /// Reports a problem of a key, where its value stands.
    pub fn problem(&mut self, key: &str, what: impl Into<String>) {
        let origin = self.given.get(key).map_or(self.origin, |tree| tree.origin);
        let path = self.of(key);
        self.problems.add(origin, path, what);
    }

    /// Reports what is not known and gives the normal form.
    pub fn finish(self) -> Table {
        for entry in self.given.entries() {
            if !self.known.contains(&entry.key.as_str()) {
                let near = hint(&entry.key, self.known.iter().copied());
                let what = match near.is_empty() {
                    true => format!("is not known here; {}", listed(self.known.iter().copied())),
                    false => format!("is not known here{near}"),
                };
                self.problems.add(entry.origin, self.of(&entry.key), what);
            }
        }
        self.normal
    }

    fn of(&self, key: &str) -> String {
        let key = crate::print::key(key);
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }
}

/// A value in its normal form, of which each item of a list stands where it was given.
fn placed(mut value: Value, given: &Tree) -> Value {
    let items = if let Value::List(items) = &given.value { items.as_slice() } else { &[] };
    if let Value::List(list) = &mut value {
        let origins = items.iter().map(|item| item.origin).chain(std::iter::repeat(given.origin));
        list.iter_mut().zip(origins).for_each(|(item, origin)| item.origin = origin);
    }
    value
}
