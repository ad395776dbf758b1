//! The journal of a result folder: a line of JSON for each run that has ended.
//!
//! Lines are only ever appended, and a run's tables are complete before its line is written. So
//! whatever ends the process, what the journal names is there; a last line that was cut off is no line.
//!
//! A line with names of metrics stands before the runs that have them; their lines have values only. Each run of earlier
//! versions has its own names. A journal is read line by line, and its runs share their names in memory.
mod metrics;

pub use metrics::Metrics;

use crate::{Error, ErrorKind};
use recoup_sim::metric::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// Units of metrics that were not named before.
    Units(BTreeMap<String, String>),
    /// Names of the values of the runs below.
    Metrics(Vec<String>),
    /// A run without its metrics, and their values.
    Made(Row, Vec<f64>),
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
    let file = File::open(path).map_err(|error| Error::file("read", path.display(), &error))?;
    let mut content = Content::default();
    content.read(path, &file)?;
    Ok((content.rows, content.units))
}

/// Content of the lines of a journal.
#[derive(Debug, Default)]
struct Content {
    rows: Vec<Row>,
    units: BTreeMap<String, String>,
    /// Names of the values of further runs.
    names: Arc<[String]>,
    /// Names of the run before.
    recent: Arc<[String]>,
}

impl Content {
    /// Reads all complete lines; returns their length in bytes.
    fn read(&mut self, path: &Path, file: &File) -> Result<u64, Error> {
        let failed = |error: io::Error| Error::file("read", path.display(), &error);
        let (mut reader, mut line, mut whole) = (BufReader::new(file), Vec::new(), 0);
        for number in 1.. {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if !line.ends_with(b"\n") {
                break;
            }
            whole += bytes as u64;
            if bytes > 1 {
                self.take(path, number, &line)?;
            }
        }
        Ok(whole)
    }

    fn take(&mut self, path: &Path, number: usize, line: &[u8]) -> Result<(), Error> {
        let mut row = match parse(path, number, line)? {
            Line::Units(more) => {
                self.units.extend(more);
                return Ok(());
            }
            Line::Metrics(names) => {
                self.names = names.into();
                return Ok(());
            }
            Line::Made(row, values) => {
                let metrics = Metrics::of(&self.names, values);
                let metrics = metrics.ok_or_else(|| wrong(path, number, "a value has no name"))?;
                Row { metrics, ..row }
            }
            Line::Run(row) => row,
        };
        row.metrics.share(&mut self.recent);
        self.rows.push(row);
        Ok(())
    }
}

fn parse(path: &Path, number: usize, line: &[u8]) -> Result<Line, Error> {
    serde_json::from_slice(line).map_err(|error| wrong(path, number, error))
}

fn wrong(path: &Path, number: usize, what: impl std::fmt::Display) -> Error {
    let message = format!("{}:{number}: this is no line of a journal: {what}", path.display());
    Error::new(ErrorKind::Local, message)
        .with_remedy("begin anew with --fresh, or choose another folder with --out")
}

/// Writes lines, with names where they change.
#[derive(Debug)]
struct Writer<W> {
    path: PathBuf,
    out: W,
    /// Names of the values of further runs.
    names: Arc<[String]>,
}

impl<W: Write> Writer<W> {
    fn line(&mut self, line: &Line) -> Result<(), Error> {
        let written = self.out.write_all(&line.text()?);
        written.map_err(|error| Error::file("write", self.path.display(), &error))
    }

    /// Writes a run, whose metrics then share their names with the one before.
    fn row(&mut self, row: &mut Row) -> Result<(), Error> {
        if *row.metrics.names() != self.names {
            self.line(&Line::Metrics(row.metrics.names().to_vec()))?;
        }
        row.metrics.share(&mut self.names);
        let values = row.metrics.clone().into_values();
        self.line(&Line::Made(Row { metrics: Metrics::default(), ..row.clone() }, values))
    }
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    writer: Writer<File>,
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
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        let mut content = Content::default();
        let whole = content.read(path, &file)?;
        file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        let Content { rows, units, names, .. } = content;
        let places = rows.iter().enumerate();
        let places = places.map(|(place, row)| ((row.point.clone(), row.seed), place)).collect();
        let writer = Writer { path: path.to_owned(), out: file, names };
        Ok(Self { writer, rows, units, places })
    }

    /// The run of a point and a seed.
    pub fn find(&self, point: &str, seed: u64) -> Option<&Row> {
        let place = self.places.get(&(point.to_owned(), seed))?;
        self.rows.get(*place)
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
        let path = self.writer.path.clone();
        let failed = |error| Error::file("write", path.display(), &error);
        let part = path.with_extension("jsonl.part");
        let out = BufWriter::new(File::create(&part).map_err(failed)?);
        let mut writer = Writer { path: part.clone(), out, names: Arc::default() };
        writer.line(&Line::Units(self.units.clone()))?;
        self.rows.iter_mut().try_for_each(|row| writer.row(row))?;
        let flushed = writer.out.flush();
        flushed.and_then(|()| fs::rename(&part, &path)).map_err(failed)?;
        *self = Self::open(&path)?;
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
        mut row: Row,
        units: impl Iterator<Item = (String, String)>,
    ) -> Result<(), Error> {
        let units: BTreeMap<_, _> =
            units.filter(|(name, _)| !self.units.contains_key(name)).collect();
        if !units.is_empty() {
            self.writer.line(&Line::Units(units.clone()))?;
            self.units.extend(units);
        }
        self.writer.row(&mut row)?;
        self.places.insert((row.point.clone(), row.seed), self.rows.len());
        self.rows.push(row);
        Ok(())
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
            metrics: [("c1.time_s".into(), time_s)].into_iter().collect(),
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

    /// A journal of so many runs with a hundred metrics each.
    fn many(path: &Path, runs: u64) -> Journal {
        let mut journal = Journal::open(path).unwrap();
        for seed in 0..runs {
            let metric = |number: u32| (format!("consumer{number}.goodput_mean_bps"), 0.5);
            let metrics = (0..100).map(metric).collect();
            journal.append(Row { metrics, ..row("a", seed, 1.0) }, &[]).unwrap();
        }
        journal
    }

    #[test]
    fn runs_share_the_names_of_their_metrics() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut journal = many(&path, 50);
        let is_shared = |journal: &Journal| {
            let first = journal.rows[0].metrics.names();
            journal.rows.iter().all(|row| Arc::ptr_eq(row.metrics.names(), first))
        };
        assert!(is_shared(&journal) && is_shared(&Journal::open(&path).unwrap()));
        // Names stand in the file once, and values take a few bytes each.
        let name = b"consumer7.goodput_mean_bps";
        let count = |text: &[u8]| text.windows(name.len()).filter(|it| it == name).count();
        let text = fs::read(&path).unwrap();
        assert_eq!(count(&text), 1);
        assert!(text.len() < 50 * 100 * 8, "{}", text.len());
        journal.retain(|row| row.seed >= 25).unwrap();
        assert_eq!((count(&fs::read(&path).unwrap()), journal.rows.len()), (1, 25));
        assert_eq!(read(&path).unwrap().0, journal.rows);
    }

    #[test]
    fn journal_of_earlier_versions_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let line = |seed: u64| {
            format!(
                r#"{{"run":{{"point":"a","seed":{seed},"values":[["link.delay","10 ms"]],"digest":"{seed:016x}","#
            ) + r#""end_s":1.5,"elapsed_s":0.25,"metrics":[["c1.time_s",7.5]]}}"#
                + "\n"
        };
        let units = "{\"units\":{\"c1.time_s\":\"s\"}}\n";
        fs::write(&path, format!("{units}{}{}", line(1), line(2))).unwrap();
        let mut journal = Journal::open(&path).unwrap();
        journal.append(row("a", 3, 7.5), &metric()).unwrap();
        let mut other = row("a", 4, 7.5);
        other.metrics = [("c1.lost".into(), 1.0)].into_iter().collect();
        journal.append(other, &[]).unwrap();
        journal.append(row("a", 5, 7.5), &metric()).unwrap();
        let again = Journal::open(&path).unwrap();
        assert_eq!((&again.rows, &again.units), (&journal.rows, &journal.units));
        let expected = [1, 2, 3, 5].map(|seed| row("a", seed, 7.5));
        let same: Vec<_> = again.rows.iter().filter(|row| row.seed != 4).cloned().collect();
        assert_eq!(same, expected);
        assert_eq!(again.find("a", 4).and_then(|row| row.metric("c1.lost")), Some(1.0));
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
