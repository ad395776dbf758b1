//! The table of all runs, a row for each. That of a long sweep is read from the journal and written piece by piece.
use super::{Draft, RECORD, ResultFolder, atomically};
use crate::Error;
use crate::digest;
use crate::journal::{Row, point_number};
use crate::table::{self, Format};
use recoup_sim::record::Table;
use recoup_sim::record::table::{Cell, Type};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

/// Values of the axes of the sweep.
type Values = Vec<(String, String)>;

/// Cells of a piece.
const CELLS: usize = 200_000;

/// Columns that stand between the axes of the sweep and the metrics.
const OWN: [(&str, &str, Type); 5] = [
    ("point", "", Type::Text),
    ("seed", "", Type::U64),
    ("digest", "", Type::Text),
    ("end_s", "s", Type::F64),
    ("elapsed_s", "s", Type::F64),
];

impl ResultFolder {
    /// Writes one row per run: those of `places` first, in that order, with the values that points have there. Two places
    /// may be the same point, whose runs then stand at both.
    ///
    /// # Errors
    /// If the journal cannot be read, or a file cannot be written.
    pub fn finish<I: Iterator<Item = (String, Values)>>(
        &self,
        places: impl Fn() -> I,
    ) -> Result<(), Error> {
        let rows = &self.journal.rows;
        let of = |point: u64| rows.of_point(point).map(|(_, line)| line);
        let mut taken: Vec<u64> = places().map(|(point, _)| point_number(&point)).collect();
        taken.sort_unstable();
        let others = rows.keys().filter(|(point, _)| taken.binary_search(point).is_err());
        let mut others: Vec<_> = others.map(|(point, seed)| (seed, point)).collect();
        others.sort_unstable();
        let all = || {
            let placed = places().flat_map(|(point, values)| {
                of(point_number(&point)).map(move |line| (Some(values.clone()), line))
            });
            let others = others.iter().filter_map(|(seed, point)| rows.place(*point, *seed));
            placed.chain(others.map(|line| (None, line)))
        };
        let read = |(values, line): (Option<Values>, u64)| {
            let row = rows.at(line)?;
            Ok::<_, Error>((values.unwrap_or_else(|| row.values.clone()), row))
        };
        let mut columns = Columns::default();
        for (values, line) in all() {
            match (values, rows.names_at(line)) {
                (Some(values), Some(names)) => columns.note(&values, &names),
                (values, _) => {
                    let (values, row) = read((values, line))?;
                    columns.note(&values, row.metrics.names());
                }
            }
        }
        let (csv, file) = Draft::begin(&self.path.join("runs.csv"))?;
        let (mut out, mut is_first) = (BufWriter::new(file), true);
        let mut pieces = columns.pieces(all().map(read)).map(|piece| {
            let piece = piece?;
            match std::mem::take(&mut is_first) {
                true => piece.write_csv(&mut out)?,
                false => piece.write_rows(&mut out)?,
            }
            Ok(piece)
        });
        let written = match self.format {
            Format::Csv => pieces.try_for_each(|piece| piece.map(drop)),
            Format::Parquet => {
                let path = self.path.join("runs.parquet");
                atomically(&path, |out| table::write_parquet(&mut pieces, &self.path, out))?;
                Ok(())
            }
        };
        drop(pieces);
        csv.keep(written.and_then(|()| out.flush()))
    }

    /// Tables of runs, by name, with their digests.
    ///
    /// # Errors
    /// If one is not there.
    pub(crate) fn tables(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let digest = |name| {
            let path = self.path.join(name);
            let digest = digest::of_file(&path);
            Ok((name, digest.map_err(|error| Error::file("read", path.display(), &error))?))
        };
        let parquet = (self.format == Format::Parquet).then_some("runs.parquet");
        std::iter::once("runs.csv").chain(parquet).map(digest).collect()
    }

    /// Writes the record of a campaign.
    pub(crate) fn write_record(
        &self,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), Error> {
        atomically(&self.path.join(RECORD), write)
    }
}

/// All runs, each with its values of the sweep, as a table; a metric that a run does not have is absent.
pub fn runs(rows: &[(&[(String, String)], &Row)]) -> Table {
    let mut columns = Columns::default();
    rows.iter().for_each(|(values, row)| columns.note(values, row.metrics.names()));
    let mut table = columns.table();
    rows.iter().for_each(|(values, row)| columns.push(values, row, &mut table));
    table
}

/// The columns of a table of runs.
#[derive(Default)]
struct Columns {
    axes: Vec<String>,
    metrics: Vec<String>,
    known: HashSet<String>,
    recent: Arc<[String]>,
}

impl Columns {
    /// Adds the columns that a run needs.
    fn note(&mut self, values: &[(String, String)], metrics: &Arc<[String]>) {
        for (axis, _) in values {
            if !self.axes.contains(axis) {
                self.axes.push(axis.clone());
            }
        }
        if Arc::ptr_eq(&self.recent, metrics) {
            return;
        }
        self.recent = Arc::clone(metrics);
        for metric in metrics.iter() {
            if self.known.insert(metric.clone()) {
                self.metrics.push(metric.clone());
            }
        }
    }

    /// A table without rows.
    fn table(&self) -> Table {
        let own = OWN.map(|(name, ..)| name);
        let heads: Vec<_> = self.axes.iter().map(|axis| table::head(axis, &own)).collect();
        let axes = heads.iter().map(|head| (head.as_ref(), "", Type::Text));
        let metrics = self.metrics.iter().map(|metric| (metric.as_str(), "", Type::F64));
        Table::new("runs", &axes.chain(OWN).chain(metrics).collect::<Vec<_>>())
    }

    fn push(&self, values: &[(String, String)], row: &Row, table: &mut Table) {
        let values: BTreeMap<_, _> = values.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let of: BTreeMap<_, _> = row.metrics.iter().collect();
        let value = |axis: &String| values.get(axis.as_str()).copied().unwrap_or_default();
        let mut cells: Vec<_> = self.axes.iter().map(|axis| Cell::Text(value(axis))).collect();
        cells.extend([Cell::Text(&row.point), Cell::U64(row.seed), Cell::Text(&row.digest)]);
        cells.extend([Cell::F64(row.end_s), Cell::F64(row.elapsed_s)]);
        let metric = |name: &String| of.get(name.as_str()).copied().unwrap_or(f64::NAN);
        cells.extend(self.metrics.iter().map(|name| Cell::F64(metric(name))));
        table.push(&cells);
    }

    /// The table in pieces; of no runs, one piece without rows.
    fn pieces(
        &self,
        mut all: impl Iterator<Item = Result<(Values, Row), Error>>,
    ) -> impl Iterator<Item = io::Result<Table>> {
        let mut is_first = true;
        let columns = self.axes.len() + OWN.len() + self.metrics.len();
        std::iter::from_fn(move || {
            let mut table = self.table();
            for run in all.by_ref().take((CELLS / columns).max(1)) {
                match run {
                    Ok((values, row)) => self.push(&values, &row, &mut table),
                    Err(error) => return Some(Err(io::Error::other(error))),
                }
            }
            let is_first = std::mem::take(&mut is_first);
            (is_first || !table.is_empty()).then_some(Ok(table))
        })
    }
}
