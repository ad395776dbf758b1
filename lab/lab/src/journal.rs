//! The journal of a result folder: a line of JSON for each run that has ended.
//!
//! Lines are only ever appended, and a run's tables are complete before its line is written. So
//! whatever ends the process, what the journal names is there; a last line that was cut off is no line.
//!
//! A line with names of metrics stands before the runs that have them; their lines have values only. Each run of earlier
//! versions has its own names. A journal is read line by line: a sweep may have 100,000 runs with hundreds of metrics each.
mod metrics;
mod places;

pub use metrics::Metrics;

use crate::{Error, ErrorKind};
use foldhash::quality::FixedState;
use places::Places;
use recoup_sim::metric::Metric;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    #[serde(default, skip_serializing_if = "Metrics::is_empty")]
    pub metrics: Metrics,
    /// Files of its records, relative to the result folder, and their lengths in bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, u64>,
}

impl Row {
    /// The metric called `name`.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name)
    }

    /// Its values of the axes after the word "at"; empty without a sweep.
    pub(crate) fn at(&self) -> String {
        let values: Vec<_> = self.values.iter().map(|(axis, it)| format!("{axis}={it}")).collect();
        if values.is_empty() { String::new() } else { format!(" at {}", values.join(", ")) }
    }
}

/// A line; `V` are the values of metrics.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line<V = Vec<f64>> {
    /// Units of metrics that were not named before.
    Units(BTreeMap<String, String>),
    /// Names of the values of the runs below.
    Metrics(Vec<String>),
    /// A run without its metrics, and their values.
    Made(Row, V),
    /// A run with its metrics, of earlier versions.
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

/// Lines of a journal, one by one.
#[derive(Debug)]
struct Lines<R> {
    path: PathBuf,
    reader: R,
    /// Bytes up to here.
    place: u64,
    number: usize,
    /// Names of the values of further runs, and where they changed.
    names: Arc<[String]>,
    changes: Vec<(u64, Arc<[String]>)>,
    /// Names of the run before.
    recent: Arc<[String]>,
    units: BTreeMap<String, String>,
    /// Whether a run has its own names.
    is_old: bool,
    /// Hash of all lines up to here.
    hash: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(path: &Path, reader: R) -> Self {
        let (names, recent) = (Arc::default(), Arc::default());
        let (path, changes, units) = (path.to_owned(), Vec::new(), BTreeMap::new());
        let (place, number, is_old, hash) = (0, 0, false, 0);
        Self { path, reader, place, number, names, changes, recent, units, is_old, hash }
    }

    /// The next run, and the place of its line; `None` at the end, or at a line that was cut off.
    fn next_row(&mut self) -> Result<Option<(u64, Row)>, Error> {
        self.next_with(Metrics::of)
    }

    /// As [`next_row`](Self::next_row), without values of metrics, which take most of the time.
    fn next_skimmed(&mut self) -> Result<Option<(u64, Row)>, Error> {
        self.next_with(|_, _: IgnoredAny| Some(Metrics::default()))
    }

    fn next_with<V: DeserializeOwned>(
        &mut self,
        metrics: impl Fn(&Arc<[String]>, V) -> Option<Metrics>,
    ) -> Result<Option<(u64, Row)>, Error> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.reader.read_until(b'\n', &mut line);
            let bytes = read.map_err(|error| Error::file("read", self.path.display(), &error))?;
            if !line.ends_with(b"\n") {
                return Ok(None);
            }
            let place = self.place;
            (self.place, self.number) = (place + bytes as u64, self.number + 1);
            self.hash = hash_after(self.hash, &line);
            if bytes > 1
                && let Some(row) = self.take(place, &line, &metrics)?
            {
                return Ok(Some((place, row)));
            }
        }
    }

    fn take<V: DeserializeOwned>(
        &mut self,
        place: u64,
        line: &[u8],
        metrics: &impl Fn(&Arc<[String]>, V) -> Option<Metrics>,
    ) -> Result<Option<Row>, Error> {
        let parsed: serde_json::Result<Line<V>> = serde_json::from_slice(line);
        let mut row = match parsed.map_err(|error| self.wrong(error))? {
            Line::Units(more) => {
                self.units.extend(more);
                return Ok(None);
            }
            Line::Metrics(names) => {
                self.names = note(&mut self.changes, place, names.into());
                return Ok(None);
            }
            Line::Made(row, values) => {
                let metrics = metrics(&self.names, values);
                Row { metrics: metrics.ok_or_else(|| self.wrong("a value has no name"))?, ..row }
            }
            Line::Run(row) => {
                self.is_old = true;
                row
            }
        };
        row.metrics.share(&mut self.recent);
        Ok(Some(row))
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Error {
        let (path, number) = (self.path.display(), self.number);
        let message = format!("{path}:{number}: this is no line of a journal: {what}");
        Error::new(ErrorKind::Local, message)
            .with_remedy("begin anew with --fresh, or choose another folder with --out")
    }
}

/// The runs of a journal. Of each the place of its line is in memory; the rest is read when it is needed.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    places: Places,
    /// Where names of metrics change.
    changes: Vec<(u64, Arc<[String]>)>,
    /// Unit of each metric.
    pub units: BTreeMap<String, String>,
    /// Whether a run of an earlier version is there, which has its own names.
    is_old: bool,
    /// Bytes of complete lines, and their hash.
    end: u64,
    hash: u64,
    file: Mutex<BufReader<File>>,
}

impl Rows {
    /// The runs that are in the journal at `path`, which is only read.
    ///
    /// # Errors
    /// If it cannot be read, or is no journal.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::checked(path, &|_| true).map(|(rows, _)| rows)
    }

    /// Beside the runs, whether `keeps` holds for all of them.
    fn checked(path: &Path, keeps: &dyn Fn(&Row) -> bool) -> Result<(Self, bool), Error> {
        let open = || File::open(path).map_err(|error| Error::file("read", path.display(), &error));
        let mut lines = Lines::new(path, BufReader::new(open()?));
        let (mut places, mut all) = (Places::default(), true);
        while let Some((place, row)) = lines.next_skimmed()? {
            all = all && keeps(&row);
            places.insert(point_number(&row.point), row.seed, place);
        }
        let Lines { path, changes, units, is_old, place: end, hash, .. } = lines;
        let file = Mutex::new(BufReader::new(open()?));
        Ok((Self { path, places, changes, units, is_old, end, hash, file }, all))
    }

    /// Hash of all lines.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// The place of the line of a run.
    pub(crate) fn place(&self, point: u64, seed: u64) -> Option<u64> {
        self.places.get(point, seed)
    }

    /// Seed and place of each run of a point, by seed.
    pub(crate) fn of_point(&self, point: u64) -> impl Iterator<Item = (u64, u64)> {
        self.places.of_point(point)
    }

    /// Numbers of points and seeds of all runs, by seed.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places.iter().map(|(point, seed, _)| (point, seed))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the run of a point, by its number, and a seed is there.
    pub(crate) fn has(&self, point: u64, seed: u64) -> bool {
        self.place(point, seed).is_some()
    }

    /// The lowest seed of the runs of a point.
    pub(crate) fn least_seed(&self, point: &str) -> Option<u64> {
        self.of_point(point_number(point)).next().map(|(seed, _)| seed)
    }

    /// The run of a point and a seed.
    ///
    /// # Errors
    /// If the file cannot be read, or was changed meanwhile.
    pub fn find(&self, point: &str, seed: u64) -> Result<Option<Row>, Error> {
        self.place(point_number(point), seed).map(|place| self.at(place)).transpose()
    }

    /// The run whose line stands at `place`.
    pub(crate) fn at(&self, place: u64) -> Result<Row, Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| Error::file("read", self.path.display(), &error);
        let here = file.stream_position().map_err(failed)?;
        file.seek_relative(place.cast_signed() - here.cast_signed()).map_err(failed)?;
        let mut lines = Lines::new(&self.path, &mut *file);
        lines.names = self.names_before(place);
        lines.recent = Arc::clone(&lines.names);
        let row = lines.next_row()?;
        row.map(|(_, row)| row).ok_or_else(|| lines.wrong("it was cut off meanwhile"))
    }

    fn names_before(&self, place: u64) -> Arc<[String]> {
        let change = self.changes.partition_point(|(at, _)| *at < place);
        let names = change.checked_sub(1).and_then(|it| self.changes.get(it));
        names.map(|(_, names)| Arc::clone(names)).unwrap_or_default()
    }

    /// Names of the metrics of the run whose line stands at `place`; `None` if only its line has them.
    pub(crate) fn names_at(&self, place: u64) -> Option<Arc<[String]>> {
        (!self.is_old).then(|| self.names_before(place))
    }

    /// All runs, in the order in which they ended.
    pub fn iter(&self) -> impl Iterator<Item = Result<Row, Error>> {
        let mut places: Vec<_> = self.places.iter().map(|(.., place)| place).collect();
        places.sort_unstable();
        places.into_iter().map(|place| self.at(place))
    }

    /// Point, seed and place of each run, by point and seed.
    pub(crate) fn by_point(&self) -> Vec<(u64, u64, u64)> {
        let mut all: Vec<_> = self.places.iter().collect();
        all.sort_unstable();
        all
    }
}

/// Notes names of metrics from `place` on. Equal lists are kept once.
fn note(
    changes: &mut Vec<(u64, Arc<[String]>)>,
    place: u64,
    names: Arc<[String]>,
) -> Arc<[String]> {
    let known = changes.iter().find(|(_, known)| *known == names);
    let names = known.map_or(names, |(_, known)| Arc::clone(known));
    changes.push((place, Arc::clone(&names)));
    names
}

/// A point as a number: its digest, which is written with sixteen digits.
pub(crate) fn point_number(point: &str) -> u64 {
    let number = u64::from_str_radix(point, 16).ok().filter(|_| point.len() == 16);
    number.unwrap_or_else(|| FixedState::default().hash_one(point))
}

/// Hash of all lines up to this one, of which the lines before have the hash `before`.
fn hash_after(before: u64, line: &[u8]) -> u64 {
    FixedState::with_seed(before).hash_one(line)
}

/// Writes lines, with names where they change.
#[derive(Debug)]
struct Writer<W> {
    path: PathBuf,
    out: W,
    /// Bytes up to here, and their hash.
    place: u64,
    hash: u64,
    /// Names of the values of further runs.
    names: Arc<[String]>,
}

impl<W: Write> Writer<W> {
    /// Writes a line; returns its place.
    fn line(&mut self, line: &Line) -> Result<u64, Error> {
        let (text, place) = (line.text()?, self.place);
        let written = self.out.write_all(&text);
        written.map_err(|error| Error::file("write", self.path.display(), &error))?;
        self.place += text.len() as u64;
        self.hash = hash_after(self.hash, &text);
        Ok(place)
    }

    /// Writes a run. Returns its place, and that of the names of its metrics if they are others than before.
    fn row(&mut self, mut row: Row) -> Result<(u64, Option<u64>), Error> {
        let metrics = std::mem::take(&mut row.metrics);
        let mut change = None;
        if *metrics.names() != self.names {
            change = Some(self.line(&Line::Metrics(metrics.names().to_vec()))?);
            self.names = Arc::clone(metrics.names());
        }
        Ok((self.line(&Line::Made(row, metrics.into_values()))?, change))
    }
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    writer: Writer<File>,
    /// The runs.
    pub rows: Rows,
}

impl Journal {
    /// Opens the journal at `path`, and keeps the runs for which `keeps` holds; makes it if it is not there.
    pub fn open(path: &Path, keeps: &dyn Fn(&Row) -> bool) -> Result<Self, Error> {
        let failed = |error| Error::file("use", path.display(), &error);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let mut out = options.open(path).map_err(failed)?;
        let (rows, are_all_kept) = Rows::checked(path, keeps)?;
        out.set_len(rows.end).and_then(|()| out.seek(SeekFrom::End(0))).map_err(failed)?;
        let names = rows.changes.last().map(|(_, names)| Arc::clone(names)).unwrap_or_default();
        let (place, hash) = (rows.end, rows.hash);
        let writer = Writer { path: path.to_owned(), out, place, hash, names };
        let mut journal = Self { writer, rows };
        if !are_all_kept {
            journal.retain(keeps)?;
        }
        Ok(journal)
    }

    /// Removes the runs of a point, in the file too: whatever ends the process, they are all there or none is.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget(&mut self, point: &str) -> Result<(), Error> {
        self.retain(&|row| row.point != point)
    }

    /// Keeps the runs for which `keeps` holds, as [`forget`](Self::forget) does.
    fn retain(&mut self, keeps: &dyn Fn(&Row) -> bool) -> Result<(), Error> {
        let path = self.writer.path.clone();
        let failed = |error| Error::file("write", path.display(), &error);
        let part = path.with_extension("jsonl.part");
        let out = BufWriter::new(File::create(&part).map_err(failed)?);
        let (place, hash, names) = (0, 0, Arc::default());
        let mut writer = Writer { path: part.clone(), out, place, hash, names };
        writer.line(&Line::Units(self.rows.units.clone()))?;
        for row in self.rows.iter() {
            let row = row?;
            if keeps(&row) {
                writer.row(row)?;
            }
        }
        let flushed = writer.out.flush();
        flushed.and_then(|()| fs::rename(&part, &path)).map_err(failed)?;
        *self = Self::open(&path, &|_| true)?;
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
            units.filter(|(name, _)| !self.rows.units.contains_key(name)).collect();
        if !units.is_empty() {
            self.writer.line(&Line::Units(units.clone()))?;
            self.rows.units.extend(units);
        }
        let (point, seed) = (point_number(&row.point), row.seed);
        let (place, change) = self.writer.row(row)?;
        if let Some(change) = change {
            let names = Arc::clone(&self.writer.names);
            self.writer.names = note(&mut self.rows.changes, change, names);
        }
        self.rows.places.insert(point, seed, place);
        (self.rows.end, self.rows.hash) = (self.writer.place, self.writer.hash);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
