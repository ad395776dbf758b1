//! Tables: results of records, for writing to files.
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Named columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its name, good for a file: lower case, hyphens.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Step of the kept rows, which bounds memory; 1 means that all were kept.
    pub every: u64,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Unit of the values, such as `s`, `bytes` or `segments`; empty without a unit.
    pub unit: &'static str,
    /// The values.
    pub values: Values,
}

/// Values of one type. A value of `F64` that is NaN is absent.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Whole numbers that may be negative.
    I64(Vec<i64>),
    /// Numbers.
    F64(Vec<f64>),
    /// Words, each kept once.
    Text(Words),
    /// Yes or no.
    Bool(Vec<bool>),
}

/// A column of words that recur.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The different words, in the order in which they came.
    pub dictionary: Vec<String>,
    /// Dictionary index of each row.
    pub rows: Vec<u32>,
    places: BTreeMap<String, u32>,
}

/// A value on its way into or out of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A whole number.
    U64(u64),
    /// A whole number that may be negative.
    I64(i64),
    /// A number; NaN where it is absent.
    F64(f64),
    /// A word.
    Text(&'a str),
    /// Yes or no.
    Bool(bool),
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// [`Values::U64`].
    U64,
    /// [`Values::I64`].
    I64,
    /// [`Values::F64`].
    F64,
    /// [`Values::Text`].
    Text,
    /// [`Values::Bool`].
    Bool,
}

impl Table {
    /// An empty table with these columns: name, unit, type.
    pub fn new(name: &str, columns: &[(&str, &'static str, Type)]) -> Self {
        let columns = columns.iter().map(|(name, unit, kind)| Column {
            name: (*name).to_owned(),
            unit,
            values: Values::new(*kind),
        });
        Self { name: name.to_owned(), columns: columns.collect(), every: 1 }
    }

    /// Appends a row: one cell per column, in their order. A cell that is missing or of another type
    /// than its column becomes absent, 0, empty or no.
    pub fn push(&mut self, row: &[Cell<'_>]) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row of `{}`", self.name);
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.values.push(row.get(place).copied());
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Takes the rows out and leaves the columns empty.
    pub fn take(&mut self) -> Self {
        let emptied = Self {
            name: self.name.clone(),
            columns: self.columns.iter().map(Column::emptied).collect(),
            every: self.every,
        };
        std::mem::replace(self, emptied)
    }

    /// Appends all rows of a table with the same columns.
    pub fn append(&mut self, other: &Self) {
        debug_assert_eq!(self.columns.len(), other.columns.len(), "rows of `{}`", self.name);
        self.every = self.every.max(other.every);
        for (own, column) in self.columns.iter_mut().zip(&other.columns) {
            for row in 0..column.values.len() {
                own.values.push(Some(column.values.get(row)));
            }
        }
    }

    /// Drops each second row.
    fn halve(&mut self) {
        self.columns.iter_mut().for_each(|column| column.values.halve());
        self.every = self.every.saturating_mul(2);
    }

    /// Writes the header and all rows, separated by commas and quoted as RFC 4180 requires.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(out, "{}", names.join(","))?;
        self.write_rows(out)
    }

    /// Writes all rows as [`write_csv`](Self::write_csv) does.
    ///
    /// # Errors
    /// The error of `out`.
    pub fn write_rows(&self, out: &mut impl Write) -> io::Result<()> {
        for row in 0..self.len() {
            for (place, column) in self.columns.iter().enumerate() {
                if place > 0 {
                    write!(out, ",")?;
                }
                column.values.get(row).write(out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Column {
    fn emptied(&self) -> Self {
        let values = Values::new(self.values.kind());
        Self { name: self.name.clone(), unit: self.unit, values }
    }
}

impl Values {
    /// No values of a type.
    pub fn new(kind: Type) -> Self {
        match kind {
            Type::U64 => Self::U64(Vec::new()),
            Type::I64 => Self::I64(Vec::new()),
            Type::F64 => Self::F64(Vec::new()),
            Type::Text => Self::Text(Words::default()),
            Type::Bool => Self::Bool(Vec::new()),
        }
    }

    /// Their type.
    pub fn kind(&self) -> Type {
        match self {
            Self::U64(_) => Type::U64,
            Self::I64(_) => Type::I64,
            Self::F64(_) => Type::F64,
            Self::Text(_) => Type::Text,
            Self::Bool(_) => Type::Bool,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(words) => words.rows.len(),
            Self::Bool(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row; absent where there is no such row.
    pub fn get(&self, row: usize) -> Cell<'_> {
        let cell = match self {
            Self::U64(values) => values.get(row).map(|value| Cell::U64(*value)),
            Self::I64(values) => values.get(row).map(|value| Cell::I64(*value)),
            Self::F64(values) => values.get(row).map(|value| Cell::F64(*value)),
            Self::Text(words) => words.get(row).map(Cell::Text),
            Self::Bool(values) => values.get(row).map(|value| Cell::Bool(*value)),
        };
        cell.unwrap_or(Cell::F64(f64::NAN))
    }

    fn push(&mut self, cell: Option<Cell<'_>>) {
        debug_assert!(cell.is_some_and(|cell| cell.kind() == self.kind()), "a cell's type");
        match (self, cell) {
            (Self::U64(values), Some(Cell::U64(value))) => values.push(value),
            (Self::U64(values), _) => values.push(0),
            (Self::I64(values), Some(Cell::I64(value))) => values.push(value),
            (Self::I64(values), _) => values.push(0),
            (Self::F64(values), Some(Cell::F64(value))) => values.push(value),
            (Self::F64(values), _) => values.push(f64::NAN),
            (Self::Text(words), Some(Cell::Text(word))) => words.push(word),
            (Self::Text(words), _) => words.push(""),
            (Self::Bool(values), Some(Cell::Bool(value))) => values.push(value),
            (Self::Bool(values), _) => values.push(false),
        }
    }

    fn halve(&mut self) {
        match self {
            Self::U64(values) => halve(values),
            Self::I64(values) => halve(values),
            Self::F64(values) => halve(values),
            Self::Text(words) => halve(&mut words.rows),
            Self::Bool(values) => halve(values),
        }
    }
}

fn halve<T>(values: &mut Vec<T>) {
    let mut place = 0_usize;
    values.retain(|_| {
        place += 1;
        !place.is_multiple_of(2)
    });
}

impl Words {
    /// Appends a word.
    pub fn push(&mut self, word: &str) {
        let place = self.places.get(word).copied().unwrap_or_else(|| {
            let place = self.dictionary.len() as u32;
            self.dictionary.push(word.to_owned());
            self.places.insert(word.to_owned(), place);
            place
        });
        self.rows.push(place);
    }

    /// The word of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.dictionary.get(*self.rows.get(row)? as usize).map(String::as_str)
    }

    /// The words of all rows.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.rows.len()).filter_map(|row| self.get(row))
    }
}

impl Cell<'_> {
    fn kind(&self) -> Type {
        match self {
            Self::U64(_) => Type::U64,
            Self::I64(_) => Type::I64,
            Self::F64(_) => Type::F64,
            Self::Text(_) => Type::Text,
            Self::Bool(_) => Type::Bool,
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::U64(value) => write!(out, "{value}"),
            Self::I64(value) => write!(out, "{value}"),
            Self::F64(value) if value.is_nan() => Ok(()),
            Self::F64(value) => write!(out, "{value}"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Text(word) if word.contains([',', '"', '\n', '\r']) => {
                write!(out, "\"{}\"", word.replace('"', "\"\""))
            }
            Self::Text(word) => write!(out, "{word}"),
        }
    }
}

/// A table that stays within a number of rows: once it is full, each second row goes, and from then on
/// only each second one comes in, and so on.
#[derive(Clone, Debug)]
pub struct Sheet {
    table: Table,
    limit: usize,
    seen: u64,
}

impl Sheet {
    /// An empty sheet of at most `limit` rows (and at least two).
    pub fn new(table: Table, limit: usize) -> Self {
        Self { table, limit: limit.max(2), seen: 0 }
    }

    /// An empty sheet with these columns: of each its name, the type and the unit if there is one.
    pub(crate) fn of(name: &str, columns: &'static str, limit: usize) -> Self {
        let column = |text: &'static str| {
            let mut words = text.split(' ');
            let name = words.next().unwrap_or_default();
            let kind = match words.next() {
                Some("u64") => Type::U64,
                Some("i64") => Type::I64,
                Some("text") => Type::Text,
                Some("bool") => Type::Bool,
                _ => Type::F64,
            };
            (name, words.next().unwrap_or_default(), kind)
        };
        let columns: Vec<_> = columns.split(", ").map(column).collect();
        Self::new(Table::new(name, &columns), limit)
    }

    /// Appends a row, unless it is one that is left out.
    pub fn push(&mut self, row: &[Cell<'_>]) {
        let kept = self.seen.is_multiple_of(self.table.every);
        self.seen += 1;
        if !kept {
            return;
        }
        if self.table.len() >= self.limit {
            self.table.halve();
            if !(self.seen - 1).is_multiple_of(self.table.every) {
                return;
            }
        }
        self.table.push(row);
    }

    /// Takes the rows out; the sheet keeps its step.
    pub fn take(&mut self) -> Table {
        self.seen = 0;
        self.table.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let columns = [("place", "", Type::Text), ("time_s", "s", Type::F64), ("n", "", Type::U64)];
        Table::new("example", &columns)
    }

    fn text(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv_follows_rfc_4180() {
        let mut table = example();
        table.push(&[Cell::Text("c1"), Cell::F64(0.25), Cell::U64(7)]);
        table.push(&[Cell::Text("a, \"b\""), Cell::F64(f64::NAN), Cell::U64(8)]);
        let csv = text(|out| table.write_csv(out));
        assert_eq!(csv, "place,time_s,n\nc1,0.25,7\n\"a, \"\"b\"\"\",,8\n");
    }

    #[test]
    fn a_word_that_recurs_is_kept_once() {
        let mut words = Words::default();
        ["c1", "c2", "c1"].iter().for_each(|word| words.push(word));
        assert_eq!((words.dictionary.len(), words.rows.len()), (2, 3));
        assert_eq!(words.iter().collect::<Vec<_>>(), ["c1", "c2", "c1"]);
        assert_eq!(words.get(3), None);
    }

    #[test]
    fn a_full_sheet_keeps_rows_at_equal_distances() {
        let mut sheet = Sheet::new(example(), 4);
        for n in 0..23 {
            sheet.push(&[Cell::Text("c1"), Cell::F64(0.0), Cell::U64(n)]);
        }
        let table = sheet.take();
        assert_eq!(table.every, 8);
        assert_eq!(table.column("n").map(|it| &it.values), Some(&Values::U64(vec![0, 8, 16])));
        assert!(sheet.take().is_empty());
    }

    #[test]
    fn taken_rows_are_removed() {
        let mut table = example();
        table.push(&[Cell::Text("c1"), Cell::F64(1.0), Cell::U64(1)]);
        assert_eq!(table.take().len(), 1);
        assert!(table.is_empty());
        assert_eq!(table.columns.len(), 3);
        assert_eq!(table.column("place").map(|it| it.values.kind()), Some(Type::Text));
    }
}
