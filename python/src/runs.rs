//! Results of runs, and their tables.
use crate::algorithm::detached;
use crate::arrow;
use crate::error::{OrRaise, raised};
use crate::scenario::Scenario;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use recoup::Error;
use recoup_lab::explain::{Kept, explain};
use recoup_lab::folder;
use recoup_lab::journal::Row;
use recoup_lab::source::Source;
use recoup_lab::table::head;
use recoup_sim::record::Table as Records;
use recoup_sim::record::table::{Cell, Column, Type, Values};
use recoup_sim::statistic::Estimate;
use recoup_sim::timeline::Wanted;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Runs of a scenario: a row for each, with the values of its sweep, seed, digest and metrics.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Runs {
    kept: Kept,
    rows: Arc<[Row]>,
    seeds: Vec<u64>,
    records: BTreeMap<String, Records>,
}

impl Runs {
    /// These runs of a scenario with these seeds, with their records by name.
    pub(crate) fn new(
        source: &Arc<Source>,
        seeds: Vec<u64>,
        rows: Vec<Row>,
        records: BTreeMap<String, Records>,
    ) -> Self {
        let rows: Arc<[Row]> = rows.into();
        Self { kept: Kept::of(Arc::clone(source), Arc::clone(&rows)), rows, seeds, records }
    }
}

#[pymethods]
impl Runs {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// The run of that number, as a dictionary.
    fn row<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let missing = || PyIndexError::new_err(format!("there is no run {number}"));
        let row = self.rows.get(number).ok_or_else(missing)?;
        let run = PyDict::new(py);
        run.set_item("point", &row.point)?;
        run.set_item("values", row.values.iter().cloned().collect::<BTreeMap<_, _>>())?;
        run.set_item("seed", row.seed)?;
        run.set_item("digest", &row.digest)?;
        run.set_item("end_s", row.end_s)?;
        run.set_item("elapsed_s", row.elapsed_s)?;
        let metrics = PyDict::new(py);
        for (name, value) in row.metrics.iter() {
            metrics.set_item(name, value)?;
        }
        run.set_item("metrics", metrics)?;
        Ok(run)
    }

    /// The table of runs.
    fn table(&self) -> Table {
        let rows: Vec<_> = self.rows.iter().map(|row| (row.values.as_slice(), row)).collect();
        Table(folder::runs(&rows))
    }

    /// Of each metric the mean over the seeds of each point with its 95 % confidence interval: a row for each point.
    fn summary(&self, metrics: Vec<String>) -> Table {
        Table(summary(&self.rows, &metrics))
    }

    /// Names of the records.
    fn records(&self) -> Vec<String> {
        self.records.keys().cloned().collect()
    }

    /// Rows as lines of a journal, seeds, and records: all that [`Runs::of`] needs beside the scenario.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<(Vec<String>, Vec<u64>, Vec<Parts<'py>>)> {
        let line = |row: &Row| serde_json::to_string(row);
        let rows: Result<Vec<_>, _> = self.rows.iter().map(line).collect();
        let rows = rows.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let records = self.records.values().map(|table| parts(py, table));
        Ok((rows, self.seeds.clone(), records.collect::<PyResult<_>>()?))
    }

    /// The runs of a scenario from their parts.
    #[staticmethod]
    fn of(
        scenario: &Scenario,
        rows: Vec<String>,
        seeds: Vec<u64>,
        records: Vec<Parts<'_>>,
    ) -> PyResult<Self> {
        let row = |line: &String| serde_json::from_str::<Row>(line);
        let rows: Result<Vec<_>, _> = rows.iter().map(row).collect();
        let rows =
            rows.map_err(|error| PyValueError::new_err(format!("this is no run: {error}")))?;
        let tables = records.into_iter().map(table_of).collect::<PyResult<Vec<_>>>()?;
        let records = tables.into_iter().map(|table| (table.name.clone(), table)).collect();
        Ok(Self::new(&scenario.source, seeds, rows, records))
    }

    /// The record of that name, of all runs.
    fn record(&self, name: &str) -> PyResult<Table> {
        let known = || {
            let known = self.records().join(", ");
            let there = if known.is_empty() { "none".into() } else { known };
            PyKeyError::new_err(format!("no record is called `{name}`; there is: {there}"))
        };
        self.records.get(name).cloned().map(Table).ok_or_else(known)
    }

    /// Why a segment was late, as text; the run is made again.
    #[pyo3(signature = (wanted, at, seed, application))]
    fn explain(
        &self,
        py: Python<'_>,
        wanted: &str,
        at: Vec<String>,
        seed: Option<u64>,
        application: Option<&str>,
    ) -> PyResult<String> {
        let asked = match wanted.parse() {
            Ok(number) => Wanted::Segment(number),
            Err(_) => {
                let name = wanted.parse().map_err(|error| {
                    raised(py, &Error::usage(format!("`{wanted}` is no segment: {error}")))
                })?;
                Wanted::Content(name)
            }
        };
        let story = detached(py, || {
            let chosen = self.kept.choose(&at, seed)?;
            let (consumer, story) = explain(&self.kept, &chosen, application, asked)?;
            story.map(|story| story.to_string()).ok_or_else(|| {
                Error::usage(format!("{consumer} never requested {wanted}"))
                    .with_remedy("segments count from 0; a name is that of a Data packet")
            })
        });
        story?.or_raise(py)
    }
}

/// A table as values of Python: name, step of the kept rows, and name, unit, type and values of each column.
type Parts<'py> = (String, u64, Vec<(String, String, String, Bound<'py, PyList>)>);

/// Types of columns by their names in [`Parts`].
const TYPES: [(&str, Type); 5] = [
    ("u64", Type::U64),
    ("i64", Type::I64),
    ("f64", Type::F64),
    ("text", Type::Text),
    ("bool", Type::Bool),
];

/// Units of columns.
const UNITS: [&str; 8] = ["s", "ms", "bytes", "packets", "segments", "bit/s", "Mbit/s", "frames"];

fn parts<'py>(py: Python<'py>, table: &Records) -> PyResult<Parts<'py>> {
    let column = |column: &Column| {
        let kind = match &column.values {
            Values::U64(_) => "u64",
            Values::I64(_) => "i64",
            Values::F64(_) => "f64",
            Values::Text(_) => "text",
            Values::Bool(_) => "bool",
        };
        let list = PyList::empty(py);
        for row in 0..table.len() {
            list.append(value(py, column.values.get(row))?)?;
        }
        Ok((column.name.clone(), column.unit.to_owned(), kind.to_owned(), list))
    };
    let columns = table.columns.iter().map(column).collect::<PyResult<_>>()?;
    Ok((table.name.clone(), table.every, columns))
}

fn table_of((name, every, columns): Parts<'_>) -> PyResult<Records> {
    let mut heads = Vec::new();
    for (name, unit, kind, _) in &columns {
        let known = TYPES.iter().find(|(own, _)| own == kind);
        let wrong = || PyValueError::new_err(format!("no column has the type `{kind}`"));
        let unit = UNITS.into_iter().find(|own| own == unit).unwrap_or("");
        heads.push((name.as_str(), unit, known.ok_or_else(wrong)?.1));
    }
    let mut table = Records::new(&name, &heads);
    table.every = every;
    let rows = columns.first().map_or(0, |(.., list)| list.len());
    for row in 0..rows {
        let mut texts = Vec::new();
        let mut values = Vec::new();
        for ((.., list), (_, _, kind)) in columns.iter().zip(&heads) {
            let item = list.get_item(row)?;
            values.push(match kind {
                Type::U64 => Some(Cell::U64(item.extract()?)),
                Type::I64 => Some(Cell::I64(item.extract()?)),
                Type::F64 => Some(Cell::F64(item.extract::<Option<f64>>()?.unwrap_or(f64::NAN))),
                Type::Bool => Some(Cell::Bool(item.extract()?)),
                Type::Text => {
                    texts.push(item.extract::<String>()?);
                    None
                }
            });
        }
        let mut texts = texts.iter();
        let mut text = || texts.next().map_or("", String::as_str);
        let cells: Vec<_> =
            values.into_iter().map(|cell| cell.unwrap_or_else(|| Cell::Text(text()))).collect();
        table.push(&cells);
    }
    Ok(table)
}

/// Probability that an interval holds the mean.
const LEVEL: f64 = 0.95;

fn summary(rows: &[Row], metrics: &[String]) -> Records {
    let mut points: Vec<(&Row, Vec<&Row>)> = Vec::new();
    let mut places = HashMap::new();
    for row in rows {
        let place = *places.entry(&row.point).or_insert(points.len());
        match points.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => points.push((row, vec![row])),
        }
    }
    let own = metrics.iter().flat_map(|it| ["", "_low", "_high"].map(|end| format!("{it}{end}")));
    let own: Vec<_> = own.chain(["seeds".to_owned()]).collect();
    let names: Vec<_> = own.iter().map(String::as_str).collect();
    let axes: Vec<_> = rows.first().map_or(&[][..], |row| &row.values).iter().collect();
    let heads: Vec<_> = axes.iter().map(|(axis, _)| head(axis, &names)).collect();
    let mut columns: Vec<_> = heads.iter().map(|it| (it.as_ref(), "", Type::Text)).collect();
    columns.push(("seeds", "", Type::U64));
    columns.extend(own[..own.len() - 1].iter().map(|name| (name.as_str(), "", Type::F64)));
    let mut table = Records::new("summary", &columns);
    for (first, rows) in &points {
        let value = |(axis, _): &&(String, String)| {
            let own = first.values.iter().find(|(name, _)| name == axis);
            Cell::Text(own.map_or("", |(_, value)| value))
        };
        let mut cells: Vec<_> = axes.iter().map(value).collect();
        cells.push(Cell::U64(rows.len() as u64));
        for metric in metrics {
            let values: Vec<_> = rows.iter().filter_map(|row| row.metric(metric)).collect();
            let estimate = Estimate::of(&values, LEVEL);
            let figure =
                |of: fn(&Estimate) -> f64| Cell::F64(estimate.as_ref().map_or(f64::NAN, of));
            cells.extend([figure(|it| it.mean), figure(Estimate::low), figure(Estimate::high)]);
        }
        table.push(&cells);
    }
    table
}

/// Named columns of equal length.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Table(pub(crate) Records);

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Only each so-manieth row was kept, to bound memory.
    #[getter]
    fn every(&self) -> u64 {
        self.0.every
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Names of the columns with their units, which may be empty.
    fn units(&self) -> Vec<(String, &'static str)> {
        self.0.columns.iter().map(|column| (column.name.clone(), column.unit)).collect()
    }

    /// The values of a column as a list; `None` where a number is absent.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let missing = || PyKeyError::new_err(format!("no column is called `{name}`"));
        let column = self.0.column(name).ok_or_else(missing)?;
        let list = PyList::empty(py);
        for row in 0..self.0.len() {
            list.append(value(py, column.values.get(row))?)?;
        }
        Ok(list)
    }

    /// An Arrow stream in a capsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer answer with its own schema.
        drop(requested_schema);
        arrow::stream(py, &self.0)
    }
}

fn value<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cell {
        Cell::U64(value) => value.into_pyobject(py)?.into_any(),
        Cell::I64(value) => value.into_pyobject(py)?.into_any(),
        Cell::F64(value) if value.is_nan() => py.None().into_bound(py),
        Cell::F64(value) => value.into_pyobject(py)?.into_any(),
        Cell::Text(value) => value.into_pyobject(py)?.into_any(),
        Cell::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
    })
}
