//! The journal of a result folder: a line of JSON for each run that has ended.
//!
//! Lines are only ever appended, and a run's tables are complete before its line is written. So
//! whatever ends the process, what the journal names is there; a last line that was cut off is no line.
use crate::{Error, ErrorKind};
use recoup_sim::metric::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The kept result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Digest of the scenario at this point, which is the same for each seed.
    pub point: String,
    /// The seed.
    pub seed: u64,
    /// Values of the axes of the sweep, as they are shown.
    pub values: Vec<(String, String)>,
    /// Digest of all that happened.
    pub digest: String,
    /// Simulated seconds.
    pub end_s: f64,
    /// Seconds that it took.
    pub elapsed_s: f64,
    /// Metrics by name.
    pub metrics: Vec<(String, f64)>,
    /// Files of its records, relative to the result folder, and their lengths in bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, u64>,
}

impl Row {
    /// The metric called `name`.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// Its values of the axes after the word "at"; empty without a sweep.
    pub(crate) fn at(&self) -> String {
        let values: Vec<_> = self.values.iter().map(|(axis, it)| format!("{axis}={it}")).collect();
        if values.is_empty() { String::new() } else { format!(" at {}", values.join(", ")) }
    }
}

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// Units of metrics that were not named before.
    Units(BTreeMap<String, String>),
    /// A run.
    Run(Row),
}

impl Line {
    fn text(&self) -> Result<Vec<u8>, Error> {
        let mut text = serde_json::to_vec(self)
            .map_err(|error| Error::new(ErrorKind::Other, format!("cannot write JSON: {error}")))?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The runs that are in the journal at `path`, which is only read.
///
/// # Errors
/// If it cannot be read, or is no journal.
pub fn rows(path: &Path) -> Result<Vec<Row>, Error> {
    read(path).map(|(rows, _)| rows)
}

/// The runs that are in the journal at `path`, which is only read, and the unit of each metric.
///
/// # Errors
/// If it cannot be read, or is no journal.
pub fn read(path: &Path) -> Result<(Vec<Row>, BTreeMap<String, String>), Error> {
    let text = fs::read(path).map_err(|error| Error::file("read", path.display(), &error))?;
    let (mut rows, mut units) = (Vec::new(), BTreeMap::new());
    let complete = |line: &&[u8]| line.len() > 1 && line.ends_with(b"\n");
    for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n').filter(complete)) {
        match parse(path, number, line)? {
            Line::Run(row) => rows.push(row),
            Line::Units(more) => units.extend(more),
        }
    }
    Ok((rows, units))
}

fn parse(path: &Path, number: usize, line: &[u8]) -> Result<Line, Error> {
    serde_json::from_slice(line).map_err(|error| {
        let place = path.display();
        let message = format!("{place}:{number}: this is no line of a journal: {error}");
        Error::new(ErrorKind::Local, message)
            .with_remedy("begin anew with --fresh, or choose another folder with --out")
    })
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// All runs, in the order in which they ended.
    pub rows: Vec<Row>,
    /// Unit of each metric.
    pub units: BTreeMap<String, String>,
    places: BTreeMap<(String, u64), usize>,
}

impl Journal {
    /// Opens the journal at `path` and reads what is in it; makes it if it is not there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::file("use", path.display(), &error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        let (rows, units, places) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut journal = Self { path: path.to_owned(), file, rows, units, places };
        for (number, line) in (1..).zip(text[..whole].split(|byte| *byte == b'\n')) {
            if !line.is_empty() {
                journal.read(number, line)?;
            }
        }
        Ok(journal)
    }

    fn read(&mut self, number: usize, line: &[u8]) -> Result<(), Error> {
        match parse(&self.path, number, line)? {
            Line::Units(units) => self.units.extend(units),
            Line::Run(row) => self.take(row),
        }
        Ok(())
    }

    /// The run of a point and a seed.
    pub fn find(&self, point: &str, seed: u64) -> Option<&Row> {
        let place = self.places.get(&(point.to_owned(), seed))?;
        self.rows.get(*place)
    }

    fn take(&mut self, row: Row) {
        self.places.insert((row.point.clone(), row.seed), self.rows.len());
        self.rows.push(row);
    }

    /// Removes the runs of a point, in the file too: whatever ends the process, they are all there or none is.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget(&mut self, point: &str) -> Result<(), Error> {
        self.retain(|row| row.point != point)
    }

    /// Keeps the runs for which `keeps` holds, as [`forget`](Self::forget) does.
    pub(crate) fn retain(&mut self, keeps: impl Fn(&Row) -> bool) -> Result<(), Error> {
        let before = self.rows.len();
        self.rows.retain(keeps);
        if self.rows.len() == before {
            return Ok(());
        }
        let lines = self.rows.iter().cloned().map(Line::Run);
        let mut text = Vec::new();
        for line in [Line::Units(self.units.clone())].into_iter().chain(lines) {
            text.extend(line.text()?);
        }
        let failed = |error| Error::file("write", self.path.display(), &error);
        let part = self.path.with_extension("jsonl.part");
        fs::write(&part, text).and_then(|()| fs::rename(&part, &self.path)).map_err(failed)?;
        *self = Self::open(&self.path)?;
        Ok(())
    }

    /// Appends a run.
    pub fn append(&mut self, row: Row, metrics: &[Metric]) -> Result<(), Error> {
        let pair = |metric: &Metric| (metric.name.clone(), metric.unit.to_owned());
        self.append_with(row, metrics.iter().map(pair))
    }

    /// Appends a run that another process has made, with the units of its metrics.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append_with(
        &mut self,
        row: Row,
        units: impl Iterator<Item = (String, String)>,
    ) -> Result<(), Error> {
        let units: BTreeMap<_, _> =
            units.filter(|(name, _)| !self.units.contains_key(name)).collect();
        if !units.is_empty() {
            self.write(&Line::Units(units.clone()))?;
            self.units.extend(units);
        }
        self.write(&Line::Run(row.clone()))?;
        self.take(row);
        Ok(())
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        let failed = |error| Error::file("write", self.path.display(), &error);
        self.file.write_all(&line.text()?).map_err(failed)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(point: &str, seed: u64, time_s: f64) -> Row {
        Row {
            point: point.into(),
            seed,
            values: vec![("link.delay".into(), "10 ms".into())],
            digest: format!("{seed:016x}"),
            end_s: 1.5,
            elapsed_s: 0.25,
            metrics: vec![("c1.time_s".into(), time_s)],
            files: BTreeMap::new(),
        }
    }

    fn metric() -> Vec<Metric> {
        vec![Metric { name: "c1.time_s".into(), unit: "s", value: 1.0 }]
    }

    #[test]
    fn what_was_written_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        // Not every number survives being written with few digits.
        let time = 0.1 + 0.2;
        journal.append(row("a", 1, time), &metric()).unwrap();
        journal.append(row("a", 2, 1e-300), &metric()).unwrap();
        let again = Journal::open(&path).unwrap();
        assert_eq!(again.rows, journal.rows);
        assert_eq!(again.find("a", 1).and_then(|row| row.metric("c1.time_s")), Some(time));
        assert_eq!(again.units.get("c1.time_s").map(String::as_str), Some("s"));
        assert!(again.find("b", 1).is_none() && again.find("a", 3).is_none());
    }

    #[test]
    fn forgotten_point_is_gone_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        for (point, seed) in [("a", 1), ("b", 1), ("a", 2)] {
            journal.append(row(point, seed, 1.0), &metric()).unwrap();
        }
        journal.forget("a").unwrap();
        journal.append(row("a", 3, 3.0), &metric()).unwrap();
        let again = Journal::open(&path).unwrap();
        let left: Vec<_> = again.rows.iter().map(|row| (row.point.as_str(), row.seed)).collect();
        assert_eq!(left, [("b", 1), ("a", 3)]);
        assert_eq!((again.rows, again.units), (journal.rows, journal.units));
    }

    #[test]
    fn truncated_line_is_ignored_at_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = Journal::open(&path).unwrap();
        journal.append(row("a", 1, 1.0), &metric()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        journal.append(row("a", 2, 2.0), &metric()).unwrap();
        let both = std::fs::read(&path).unwrap();
        for end in whole.len()..both.len() {
            std::fs::write(&path, &both[..end]).unwrap();
            let mut cut = Journal::open(&path).unwrap();
            assert_eq!(cut.rows.len(), 1, "{end}");
            cut.append(row("a", 3, 3.0), &metric()).unwrap();
            assert_eq!(Journal::open(&path).unwrap().rows.len(), 2, "{end}");
        }
    }

    #[test]
    fn non_journal_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        let failure = Journal::open(&path).unwrap_err().to_string();
        assert!(failure.contains("jsonl:1:") && failure.contains("--fresh"), "{failure}");
    }
}
