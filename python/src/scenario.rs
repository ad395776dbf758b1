//! Scenarios, and their runs in this process.
use crate::algorithm::{Guarded, detached};
use crate::error::OrRaise;
use crate::runs::Runs;
use crate::study;
use pyo3::prelude::*;
use recoup::Error;
use recoup_lab::campaign::{Campaign, Outcome, Stage};
use recoup_lab::executor::{Executor, Job, Report, Threads};
use recoup_lab::journal::Row;
use recoup_lab::source::{Given, Source};
use recoup_lab::table::labelled;
use recoup_sim::record::Table;
use recoup_studies::gather::Planned;
use recoup_transport::spec::family::versions_in;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario file that was read, with the files that it names.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Scenario {
    pub(crate) source: Arc<Source>,
}

#[pymethods]
impl Scenario {
    /// Reads the text of a scenario; files that it names are in `folder`. Settings are `path=value`.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        name: &str,
        folder: PathBuf,
        settings: Vec<String>,
    ) -> PyResult<Self> {
        let given = Given::beside(name, &folder, text);
        let source = detached(py, || Source::scenario_in(given, &settings))?.or_raise(py)?;
        Ok(Self { source: Arc::new(source) })
    }

    /// The simulations of a study that are kept in a folder of that name.
    #[staticmethod]
    fn of_study(py: Python<'_>, key: &str, scale: &str, name: &str) -> PyResult<Self> {
        let (study, scale) = study::find(key, scale).or_raise(py)?;
        let planned = detached(py, || Planned::of(study, scale, None))?.or_raise(py)?;
        let wanted = planned.into_iter().find(|it| it.name == name);
        let wanted = wanted
            .ok_or_else(|| Error::usage(format!("{key} has no experiment `{name}`")))
            .or_raise(py)?;
        Ok(Self { source: Arc::new(wanted.source) })
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        self.source.file.title()
    }

    /// Its seeds.
    fn seeds(&self) -> Vec<u64> {
        self.source.file.seeds().iter().collect()
    }

    /// The values of each point of its sweep, by axis.
    fn points(&self) -> Vec<Vec<(String, String)>> {
        self.source.file.points().map(|point| point.values).collect()
    }

    /// The whole scenario in normal form, defaults written out.
    fn toml(&self) -> String {
        self.source.file.to_toml()
    }

    /// The registered classes that it names.
    fn registered(&self) -> Vec<&'static str> {
        versions_in(&self.source.file.to_toml()).into_iter().map(|(name, _)| name).collect()
    }

    /// Digest of the scenario at each point, by which its runs are known.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let campaign = detached(py, || Campaign::new(&self.source, None))?.or_raise(py)?;
        Ok(campaign.points.iter().map(|stage| stage.key).collect())
    }

    /// Makes every run, and keeps the results in memory. `progress` is called with the runs that have ended, and all.
    #[pyo3(signature = (seeds, jobs, progress))]
    fn run(
        &self,
        py: Python<'_>,
        seeds: Option<Vec<u64>>,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Runs> {
        let source = Arc::clone(&self.source);
        let mut campaign = detached(py, || Campaign::new(&source, None))?.or_raise(py)?;
        if let Some(seeds) = seeds {
            campaign.seeds = seeds;
        }
        let runs = campaign.points.iter().flat_map(|stage| {
            let seeds = campaign.seeds.iter();
            seeds.map(|seed| (stage.clone(), *seed)).collect::<Vec<_>>()
        });
        let all = campaign.points.len() * campaign.seeds.len();
        let threads = jobs.map_or_else(Threads::default, Threads);
        let made = make(py, (all, runs), threads, progress)?;
        let mut records: BTreeMap<String, Table> = BTreeMap::new();
        let mut rows = Vec::new();
        for (row, outcome) in made {
            for table in &outcome.tables {
                let whole = labelled(table, &row.values, row.seed);
                match records.get_mut(&table.name) {
                    Some(record) => record.append(&whole),
                    None => drop(records.insert(table.name.clone(), whole)),
                }
            }
            rows.push(row);
        }
        Ok(Runs::new(&source, campaign.seeds, rows, records))
    }
}

/// Makes so many runs, each of a point with a seed, and returns them in the same order.
pub(crate) fn make(
    py: Python<'_>,
    (all, runs): (usize, impl Iterator<Item = (Stage, u64)> + Send),
    threads: Threads,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(Row, Outcome)>> {
    let mut jobs = runs.enumerate().map(|(number, (stage, seed))| Job { number, stage, seed });
    let (attention, runner) = (Attention::default(), Guarded::default());
    let mut made: BTreeMap<usize, (Row, Outcome)> = BTreeMap::new();
    let mut failed = None;
    let ended = detached(py, || {
        let run = |job: &Job, stop: &AtomicBool| job.run(&runner, None, stop);
        threads.execute(&mut jobs, &run, &mut |report| {
            match report {
                Report::Ended(number, Ok(Some(ended))) => {
                    made.insert(number, ended);
                    attention.report(progress.as_ref(), made.len(), all);
                }
                Report::Ended(_, Err(error)) => drop(failed.get_or_insert(error)),
                Report::Ended(_, Ok(None)) | Report::Idle => {}
            }
            match failed.is_some() || attention.is_wanted() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
    });
    attention.raise()?;
    runner.raised().map_or(Ok(()), Err)?;
    ended?;
    match failed {
        Some(error) => Err::<(), Error>(error).or_raise(py).map(|()| Vec::new()),
        None => Ok(made.into_values().collect()),
    }
}

/// Request of Python to end work that runs without the interpreter lock: a signal handler or a callback has raised.
#[derive(Default)]
pub(crate) struct Attention {
    raised: Mutex<Option<PyErr>>,
}

impl Attention {
    /// Whether the work is to end. Runs handlers of signals.
    pub(crate) fn is_wanted(&self) -> bool {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.note(error);
        }
        self.lock().is_some()
    }

    /// Calls a callback with two counts.
    pub(crate) fn report(&self, callback: Option<&Py<PyAny>>, done: usize, all: usize) {
        let Some(callback) = callback else { return };
        if let Err(error) = Python::attach(|py| callback.call1(py, (done, all))) {
            self.note(error);
        }
    }

    /// Raises what was raised.
    pub(crate) fn raise(self) -> PyResult<()> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn note(&self, error: PyErr) {
        self.lock().get_or_insert(error);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
