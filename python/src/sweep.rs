//! Sweeps whose runs are made elsewhere: a result folder, and the work that an executor sends around.
use crate::algorithm::{Guarded, detached};
use crate::error::OrRaise;
use crate::runs::Runs;
use crate::scenario::{Attention, Scenario, make};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use recoup::Error;
use recoup_lab::campaign::{Campaign as Plan, Execution, Stage, Watch};
use recoup_lab::digest;
use recoup_lab::executor::Threads;
use recoup_lab::folder::ResultFolder;
use recoup_lab::journal::Row;
use recoup_lab::source::Source;
use recoup_lab::table::{Format, labelled, write};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A scenario with the folder of its results, which is in use as long as this is open.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Campaign {
    source: Arc<Source>,
    plan: Plan,
    folder: Mutex<Option<ResultFolder>>,
}

/// A run as it travels: the line of the journal, units of its metrics, and its records as files.
type Parcel<'py> = (String, BTreeMap<String, String>, Vec<(String, Bound<'py, PyBytes>)>);

#[pymethods]
impl Campaign {
    /// Opens the folder for the results of a scenario.
    #[new]
    #[pyo3(signature = (scenario, folder, seeds, fresh))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        folder: PathBuf,
        seeds: Option<Vec<u64>>,
        fresh: bool,
    ) -> PyResult<Self> {
        let source = Arc::clone(&scenario.source);
        let (attention, runner) = (Attention::default(), Guarded::default());
        let opened = detached(py, || {
            let mut plan = Plan::new(&source, None)?;
            plan.seeds = seeds.unwrap_or(plan.seeds);
            let mut folder = plan.folder(&folder, fresh, Format::Parquet)?;
            let is_cancelled = || attention.is_wanted();
            let execution = Execution { executor: &Threads(1), is_cancelled: &is_cancelled };
            plan.check_program(&mut folder, execution, &runner)?;
            Ok::<_, Error>((plan, folder))
        });
        attention.raise()?;
        runner.raised().map_or(Ok(()), Err)?;
        let (plan, folder) = opened?.or_raise(py)?;
        Ok(Self::opened(source, plan, folder))
    }

    /// Format of the records that `keep` receives.
    fn format(&self) -> PyResult<&'static str> {
        Ok(opened(&self.lock())?.shelf().format().extension())
    }

    /// How many runs there are.
    fn runs(&self) -> usize {
        self.plan.runs()
    }

    /// The runs that are not in the folder yet: place of the point, and seed.
    fn missing(&self) -> PyResult<Vec<(usize, u64)>> {
        let folder = self.lock();
        let missing = self.plan.missing(opened(&folder)?);
        Ok(missing.into_iter().map(|task| (task.stage, task.seed)).collect())
    }

    /// The kept runs that are to be made again: one of each point with registered classes. `keep` compares them.
    fn repeats(&self) -> PyResult<Vec<(usize, u64)>> {
        let folder = self.lock();
        let repeats = self.plan.repeats(opened(&folder)?);
        Ok(repeats.into_iter().map(|task| (task.stage, task.seed)).collect())
    }

    /// Keeps a run that a worker has made.
    fn keep(&self, py: Python<'_>, parcel: Parcel<'_>) -> PyResult<()> {
        let (row, units, records) = parcel;
        let row: Row = serde_json::from_str(&row)
            .map_err(|error| PyValueError::new_err(format!("this is no run: {error}")))?;
        let mut folder = self.lock();
        let folder = folder.as_mut().ok_or_else(closed)?;
        // The records of a kept run belong to it, and stay.
        if self.plan.is_there(folder, &row).or_raise(py)? {
            return Ok(());
        }
        let shelf = folder.shelf();
        for (name, content) in records {
            // A name that a worker has sent becomes a path.
            if name.contains(['/', '.']) || row.point.contains(['/', '.']) {
                return Err(PyValueError::new_err(format!("`{name}` is no name of a record")));
            }
            shelf.put_file(&name, &row.point, row.seed, content.as_bytes()).or_raise(py)?;
        }
        self.plan.keep(folder, row, &units).or_raise(py)
    }

    /// Makes the missing runs in threads of this process.
    #[pyo3(signature = (jobs, progress))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let (attention, runner) = (Attention::default(), Guarded::default());
        let result = detached(py, || {
            let mut folder = self.lock();
            let folder = folder.as_mut().ok_or_else(|| Error::usage("the campaign is closed"))?;
            let threads = jobs.map_or_else(Threads::default, Threads);
            let is_cancelled = || attention.is_wanted();
            let execution = Execution { executor: &threads, is_cancelled: &is_cancelled };
            let mut watch = Reported { attention: &attention, callback: progress.as_ref() };
            self.plan.run(folder, execution, &runner, &mut watch)
        });
        attention.raise()?;
        runner.raised().map_or(Ok(()), Err)?;
        result?.or_raise(py)
    }

    /// Writes the table of all runs, closes the folder, and returns the runs in the order of the sweep.
    fn finish(&self, py: Python<'_>) -> PyResult<Runs> {
        let folder = self.lock().take().ok_or_else(closed)?;
        py.detach(|| self.plan.finish(&folder)).or_raise(py)?;
        let rows = self.plan.points.iter().map(|stage| self.plan.rows(&folder, &stage));
        let rows: Result<Vec<_>, Error> = rows.collect();
        let rows = rows.or_raise(py)?.into_iter().flatten().collect();
        Ok(Runs::new(&self.source, self.plan.seeds.clone(), rows, BTreeMap::new()))
    }

    /// Closes the folder. What is in it stays.
    fn close(&self) {
        self.lock().take();
    }
}

impl Campaign {
    /// The runs of a plan in an open folder.
    pub(crate) fn opened(source: Arc<Source>, plan: Plan, folder: ResultFolder) -> Self {
        Self { source, plan, folder: Mutex::new(Some(folder)) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ResultFolder>> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn opened(folder: &Option<ResultFolder>) -> PyResult<&ResultFolder> {
    folder.as_ref().ok_or_else(closed)
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("the campaign is closed")
}

/// Reports the runs that have ended.
struct Reported<'a> {
    attention: &'a Attention,
    callback: Option<&'a Py<PyAny>>,
}

impl Watch for Reported<'_> {
    fn progress(&mut self, done: usize, all: usize, _left: Option<Duration>) {
        self.attention.report(self.callback, done, all);
    }
}

/// Makes some runs of a scenario in this thread: places of points, and seeds. Records are files in that format.
#[pyfunction]
pub(crate) fn make_parcels<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    tasks: Vec<(usize, u64)>,
    format: &str,
) -> PyResult<Vec<Parcel<'py>>> {
    let format = [Format::Csv, Format::Parquet].into_iter().find(|it| it.extension() == format);
    let format = format.ok_or_else(|| PyValueError::new_err("records are csv or parquet"))?;
    let source = &scenario.source;
    let mut points: Vec<usize> = tasks.iter().map(|(point, _)| *point).collect();
    points.sort_unstable();
    points.dedup();
    let stages = detached(py, || points.iter().map(|it| Stage::of(source, *it)).collect())?;
    let stages: Result<Vec<_>, Error> = stages;
    let stages = stages.or_raise(py)?;
    let place = |point: &usize| points.binary_search(point).unwrap_or_default();
    let runs = tasks.iter().map(|(point, seed)| (stages[place(point)].clone(), *seed));
    let made = make(py, (tasks.len(), runs), Threads(1), None)?;
    let parcel = |(row, outcome): (Row, recoup_lab::campaign::Outcome)| {
        let units = outcome.metrics.iter().map(|it| (it.name.clone(), it.unit.to_owned()));
        let units = units.collect();
        let mut records = Vec::new();
        for table in &outcome.tables {
            let mut content = Vec::new();
            write(&labelled(table, &row.values, row.seed), format, &mut content)?;
            records.push((table.name.clone(), PyBytes::new(py, &content)));
        }
        let row = serde_json::to_string(&row);
        let row = row.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok((row, units, records))
    };
    made.into_iter().map(parcel).collect()
}

/// Digest of this build of the module.
#[pyfunction]
pub(crate) fn build() -> Option<String> {
    digest::of_program()
}
