//! A campaign: every point of a scenario's sweep with every seed, on all cores, kept in a folder.
mod merge;
mod stage;

pub use stage::Stage;

use crate::digest::{self, TextDigest};
use crate::executor::{Executor, Finished, Job, Report};
use crate::folder::{Purpose, ResultFolder, Shelf};
use crate::journal::{Metrics, Row};
use crate::scenario::Seeds;
use crate::source::Source;
use crate::table::Format;
use crate::{Error, ErrorKind};
use recoup_sim::metric::Metric;
use recoup_sim::record::Table;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A campaign: a scenario with its points and seeds.
#[derive(Debug)]
pub struct Campaign {
    /// Points of the sweep, in their order.
    pub points: Vec<Stage>,
    /// Seeds, ascending.
    pub seeds: Vec<u64>,
    /// Valid parts of its networks with the first seed that are probably not meant: a line each, each once.
    pub warnings: Vec<String>,
    /// If another program made the results, the runs of every point that this one does not repeat are made anew. Where
    /// points are algorithms, a change of one of them shows at its own points only.
    pub replaces_changed_points: bool,
    /// The share of the runs that is made, if not all of them.
    pub share: Option<Share>,
    text: String,
    digest: String,
    algorithms: BTreeMap<String, String>,
}

/// One of several shares of the runs of a campaign, for processes that know nothing of each other. Text: `3/40`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number, from 1.
    pub number: NonZeroUsize,
    /// How many shares there are.
    pub count: NonZeroUsize,
}

impl Share {
    /// Whether the run with that place among all runs is in it.
    fn has(self, place: usize) -> bool {
        place % self.count == self.number.get() - 1
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text.split_once('/');
        let read = |text: &str| text.trim().parse::<NonZeroUsize>().ok();
        let share = both
            .and_then(|(number, count)| Some(Self { number: read(number)?, count: read(count)? }));
        share
            .filter(|it| it.number <= it.count)
            .ok_or_else(|| "write a share as 3/40: the third of forty".into())
    }
}

/// Result of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Digest of all that happened.
    pub digest: String,
    /// Simulated seconds.
    pub end_s: f64,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    /// Its records.
    pub tables: Vec<Table>,
}

/// Runs a scenario with a seed; `None` if the flag stopped the run before its end.
pub trait Runner: Sync {
    /// Runs it; a capture that it wants is put on the shelf.
    ///
    /// # Errors
    /// The problem of the scenario at this seed, or of the shelf.
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        shelf: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error>;

    /// Whether a second run with the same seed is the same. What cannot be repeated is gone on with, whichever
    /// program began it.
    fn repeats(&self) -> bool {
        true
    }
}

/// Sees a campaign go on.
pub trait Watch {
    /// `done` of `all` runs are done; `left` estimates the time of the rest, if it is known.
    fn progress(&mut self, done: usize, all: usize, left: Option<Duration>);

    /// A run has ended and was kept.
    fn ended(&mut self, row: &Row, tables: &[Table]) {
        let _ = (row, tables);
    }
}

/// Executor of the runs of a campaign, and its end.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Makes the runs.
    pub executor: &'a dyn Executor,
    /// Whether the campaign is to end now; asked several times a second.
    pub is_cancelled: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Execution<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Execution of {} runs at a time", self.executor.parallelism())
    }
}

/// A run that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its place among the points.
    pub stage: usize,
    /// The seed.
    pub seed: u64,
}

impl Campaign {
    /// The campaign of a scenario; `seeds` replace its own.
    ///
    /// # Errors
    /// If a point of it is wrong. Networks are tried with the first seed.
    pub fn new(source: &Source, seeds: Option<&Seeds>) -> Result<Self, Error> {
        let seeds: Vec<_> = seeds.unwrap_or(source.file.seeds()).iter().collect();
        let (source, shared) = (Arc::new(source.clone()), Arc::default());
        let mut points = Vec::new();
        let mut digest = TextDigest::default();
        digest.push(&source.file.base());
        let (mut algorithms, mut warnings) = (BTreeMap::new(), Vec::new());
        for point in source.file.points() {
            let scenario = source.scenario(&point)?;
            let seed = seeds.first().copied().unwrap_or_default();
            let network = scenario.network(seed).map_err(|problems| source.failure(&problems))?;
            for warning in scenario.warnings(&network) {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            digest.push(scenario.files());
            for (name, version) in scenario.registered() {
                digest.push(&format!("{name}: {version}"));
                algorithms.insert(name.to_owned(), version);
            }
            points.push(Stage::new(&source, &shared, point, scenario));
        }
        let digest = digest.finish();
        let text = source.file.to_toml();
        let (replaces_changed_points, share) = (false, None);
        Ok(Self {
            points,
            seeds,
            warnings,
            replaces_changed_points,
            share,
            text,
            digest,
            algorithms,
        })
    }

    /// Number of runs, or of the runs in its share.
    pub fn runs(&self) -> usize {
        self.tasks().count()
    }

    /// All runs, in its share if it has one: all points with the first seed, then with the next, so that whatever is there
    /// when it is stopped can be compared.
    fn tasks(&self) -> impl Iterator<Item = Task> {
        let points = 0..self.points.len();
        let of_seed = move |seed: &u64| {
            let seed = *seed;
            points.clone().map(move |stage| Task { stage, seed })
        };
        let share = self.share;
        let ours = move |(place, _): &(usize, Task)| share.is_none_or(|share| share.has(*place));
        self.seeds.iter().flat_map(of_seed).enumerate().filter(ours).map(|(_, task)| task)
    }

    /// Opens the folder for its results.
    ///
    /// # Errors
    /// If it cannot be used, or holds other results.
    pub fn folder(&self, path: &Path, fresh: bool, format: Format) -> Result<ResultFolder, Error> {
        let Self { text, digest, algorithms, .. } = self;
        let purpose = Purpose { text, digest, algorithms, fresh, format };
        ResultFolder::open(path, &purpose)
    }

    /// Whether what is in a folder can be gone on with: nothing, or results of this scenario, of which this program
    /// repeats one of each point exactly. Before it does, `about_to_repeat` receives their number.
    ///
    /// # Errors
    /// If the folder cannot be used, a run cannot be made, or a signal came.
    pub fn goes_on(
        &self,
        path: &Path,
        execution: Execution<'_>,
        runner: &dyn Runner,
        about_to_repeat: &dyn Fn(usize),
    ) -> Result<bool, Error> {
        if !ResultFolder::is_for(path, &self.digest) {
            return Ok(false);
        }
        let folder = self.folder(path, false, Format::Csv)?;
        let repeated = self.repeated(&folder, runner).len();
        if repeated > 0 {
            about_to_repeat(repeated);
        }
        Ok(self.different(&folder, execution, runner, usize::MAX)?.is_none())
    }

    /// Makes the runs that are not in the folder, and writes the table of all. What is done when a signal
    /// comes is kept.
    ///
    /// # Errors
    /// If a run cannot be made, the folder cannot be written, or a signal came.
    pub fn run(
        &self,
        folder: &mut ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
        watch: &mut dyn Watch,
    ) -> Result<(), Error> {
        self.check_program(folder, execution, runner)?;
        self.check_algorithms(folder, execution, runner)?;
        let tasks = self.missing(folder);
        let done = self.runs() - tasks.len();
        let mut ledger = Ledger::new(&tasks, execution.executor.parallelism());
        let result = self.run_all(&tasks, folder, execution, runner, &mut |event| match event {
            Seen::Ended(task, row, tables) => {
                ledger.note(task, row.elapsed_s);
                watch.ended(row, tables);
                watch.progress(done + ledger.done, self.runs(), ledger.left());
            }
            Seen::Time => watch.progress(done + ledger.done, self.runs(), ledger.left()),
        });
        self.finish(folder)?;
        result
    }

    /// The runs of a point that are in the folder, by seed.
    pub fn rows<'a>(&self, folder: &'a ResultFolder, stage: &Stage) -> Vec<&'a Row> {
        let find = |seed: &u64| folder.journal.find(&stage.key, *seed);
        self.seeds.iter().filter_map(find).collect()
    }

    /// The runs that are not there yet.
    pub fn missing(&self, folder: &ResultFolder) -> Vec<Task> {
        let mut taken = std::collections::BTreeSet::new();
        let is_missing = |task: &Task| {
            // Two points of a sweep may be the same scenario.
            self.points.get(task.stage).is_some_and(|Stage { key, .. }| {
                folder.journal.find(key, task.seed).is_none() && taken.insert((key, task.seed))
            })
        };
        self.tasks().filter(is_missing).collect()
    }

    /// Writes the table of all runs that are in the folder.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&self, folder: &ResultFolder) -> Result<(), Error> {
        let stages = self.points.iter();
        let places = stages.map(|stage| (stage.key.as_str(), stage.point.values.as_slice()));
        folder.finish(&places.collect::<Vec<_>>())
    }

    /// Results of another program are gone on with only if this one repeats one of them exactly.
    ///
    /// # Errors
    /// If it does not, or the folder cannot be written.
    pub fn check_program(
        &self,
        folder: &mut ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
    ) -> Result<(), Error> {
        if self.replaces_changed_points {
            let changed = self.unequal(self.repeated(folder, runner), execution, runner)?;
            let changed: Vec<_> = changed.iter().map(|(stage, _)| stage.key.clone()).collect();
            for point in changed {
                folder.journal.forget(&point)?;
            }
        } else if let Some(row) = self.different(folder, execution, runner, 1)? {
            let place = folder.path().display();
            let message = format!(
                "the results in {place} were made by another recoup, which ran seed {} differently",
                row.seed
            );
            return Err(Error::new(ErrorKind::Local, message)
                .with_remedy("choose another folder with --out, or begin anew with --fresh"));
        }
        folder.add_program(&digest::of_program().unwrap_or_default())
    }

    /// Results of algorithms that the process has registered are gone on with only if it repeats one of each point exactly:
    /// such an algorithm may read what its version does not cover, as a file or the environment.
    ///
    /// # Errors
    /// If it does not.
    fn check_algorithms(
        &self,
        folder: &ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
    ) -> Result<(), Error> {
        if !runner.repeats() {
            return Ok(());
        }
        let unequal = self.unequal(self.of_registered(folder), execution, runner)?;
        unequal.first().map_or(Ok(()), |(stage, row)| {
            let place = folder.path().display();
            let run = format!("{place}: seed {}{} ran differently before", row.seed, row.at());
            Err(stage.other_algorithm(&run))
        })
    }

    /// The runs that a process has to make again before it goes on: one of each point with algorithms that it has registered.
    pub fn repeats(&self, folder: &ResultFolder) -> Vec<Task> {
        let place = |stage: &Stage| self.points.iter().position(|it| it.key == stage.key);
        let known = self.of_registered(folder).into_iter();
        let task =
            |(stage, row): (&Stage, &Row)| Some(Task { stage: place(stage)?, seed: row.seed });
        known.filter_map(task).collect()
    }

    /// The first kept run of each point with algorithms that this process has registered.
    fn of_registered<'a>(&'a self, folder: &'a ResultFolder) -> Vec<(&'a Stage, &'a Row)> {
        let mut taken = std::collections::BTreeSet::new();
        let mut points = self.first_runs(folder);
        points.retain(|(stage, _)| taken.insert(&stage.key) && !stage.registered.is_empty());
        points
    }

    /// The first kept run of each point.
    fn first_runs<'a>(&'a self, folder: &'a ResultFolder) -> Vec<(&'a Stage, &'a Row)> {
        let rows = &folder.journal.rows;
        let run_of = |stage: &Stage| rows.iter().find(|row| row.point == stage.key);
        self.points.iter().filter_map(|stage| Some((stage, run_of(stage)?))).collect()
    }

    /// A kept run of another program that this program does not repeat. At most this number of points is tried, with
    /// one run each.
    fn different<'a>(
        &'a self,
        folder: &'a ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
        points: usize,
    ) -> Result<Option<&'a Row>, Error> {
        let mut repeated = self.repeated(folder, runner);
        repeated.truncate(points);
        let unequal = self.unequal(repeated, execution, runner)?;
        Ok(unequal.first().map(|(_, row)| *row))
    }

    /// The part of `repeated` that this program does not reproduce.
    fn unequal<'a>(
        &self,
        repeated: Vec<(&'a Stage, &'a Row)>,
        execution: Execution<'_>,
        runner: &dyn Runner,
    ) -> Result<Vec<(&'a Stage, &'a Row)>, Error> {
        let numbered = repeated.iter().enumerate();
        let jobs: Vec<_> =
            numbered.map(|(number, (stage, row))| Job { number, stage, seed: row.seed }).collect();
        let run = |job: &Job<'_>, stop: &AtomicBool| job.run(runner, None, stop);
        let mut is_changed = vec![false; jobs.len()];
        let mut result = Ok(());
        execution.executor.execute(&jobs, &run, &mut |report| {
            match report {
                Report::Ended(number, Ok(Some((now, _)))) => {
                    let before = repeated.get(number).map(|(_, row)| (&row.digest, &row.metrics));
                    let place = is_changed.iter_mut().skip(number).take(1);
                    place.for_each(|it| *it = before != Some((&now.digest, &now.metrics)));
                }
                Report::Ended(_, Err(error)) if result.is_ok() => result = Err(error),
                Report::Ended(..) | Report::Idle => {}
            }
            if result.is_ok() && (execution.is_cancelled)() {
                result = Err(interrupted());
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        let changed = repeated.into_iter().zip(is_changed).filter(|(_, is_changed)| *is_changed);
        Ok(changed.map(|(run, _)| run).collect())
    }

    /// The first run of each point of another program's results.
    fn repeated<'a>(
        &'a self,
        folder: &'a ResultFolder,
        runner: &dyn Runner,
    ) -> Vec<(&'a Stage, &'a Row)> {
        let is_ours = folder.is_of_this_program(&digest::of_program().unwrap_or_default());
        if is_ours || !runner.repeats() {
            return Vec::new();
        }
        self.first_runs(folder)
    }

    fn run_all(
        &self,
        tasks: &[Task],
        folder: &mut ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
        see: &mut dyn FnMut(Seen<'_>),
    ) -> Result<(), Error> {
        let shelf = folder.shelf();
        let stage = |task: &Task| self.points.get(task.stage);
        let job = |(number, task): (usize, &Task)| {
            Some(Job { number, stage: stage(task)?, seed: task.seed })
        };
        let jobs: Vec<_> = tasks.iter().enumerate().filter_map(job).collect();
        let run = |job: &Job<'_>, stop: &AtomicBool| job.run(runner, Some(&shelf), stop);
        let mut result = Ok(());
        execution.executor.execute(&jobs, &run, &mut |report| {
            let kept = match report {
                Report::Ended(number, Ok(Some((row, outcome)))) => {
                    if let Some(task) = tasks.get(number) {
                        see(Seen::Ended(*task, &row, &outcome.tables));
                    }
                    folder.files(&row.point, row.seed).and_then(|files| {
                        folder.journal.append(Row { files, ..row }, &outcome.metrics)
                    })
                }
                Report::Ended(_, Ok(None)) => Ok(()),
                Report::Ended(_, Err(error)) => Err(error),
                Report::Idle => {
                    see(Seen::Time);
                    Ok(())
                }
            };
            if result.is_ok() {
                result = kept;
            }
            if result.is_ok() && (execution.is_cancelled)() {
                result = Err(interrupted());
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result
    }
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Cancelled, "interrupted").with_remedy("the same command goes on")
}

impl Job<'_> {
    /// Makes the run, and puts its records on the shelf if there is one.
    ///
    /// # Errors
    /// The problem of the scenario at this seed, or of the shelf.
    pub fn run(
        &self,
        runner: &dyn Runner,
        shelf: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Finished, Error> {
        let Self { stage, seed, .. } = *self;
        let begun = Instant::now();
        let Some(outcome) = runner.run(stage, seed, shelf, stop)? else {
            return Ok(None);
        };
        let elapsed_s = begun.elapsed().as_secs_f64();
        if let Some(shelf) = shelf {
            shelf.put(&stage.key, seed, &stage.point.values, &outcome.tables)?;
        }
        let row = Row {
            point: stage.key.clone(),
            seed,
            values: stage.point.values.clone(),
            digest: outcome.digest.clone(),
            end_s: outcome.end_s,
            elapsed_s,
            metrics: numbers(&outcome.metrics),
            files: BTreeMap::new(),
        };
        Ok(Some((row, outcome)))
    }
}

/// Metrics without their units; JSON knows finite numbers only.
fn numbers(metrics: &[Metric]) -> Metrics {
    let finite = metrics.iter().filter(|metric| metric.value.is_finite());
    finite.map(|metric| (metric.name.clone(), metric.value)).collect()
}

enum Seen<'a> {
    Ended(Task, &'a Row, &'a [Table]),
    Time,
}

/// Costs of runs so far, by point, for the estimate of the others.
struct Ledger {
    begun: Instant,
    jobs: usize,
    done: usize,
    /// For each point: missing runs, finished runs, seconds of the latter.
    points: BTreeMap<usize, (usize, usize, f64)>,
}

impl Ledger {
    fn new(tasks: &[Task], jobs: usize) -> Self {
        let mut points = BTreeMap::new();
        tasks.iter().for_each(|task| points.entry(task.stage).or_insert((0, 0, 0.0)).0 += 1);
        Self { begun: Instant::now(), jobs, done: 0, points }
    }

    fn note(&mut self, task: Task, elapsed_s: f64) {
        self.done += 1;
        if let Some((missing, made, seconds)) = self.points.get_mut(&task.stage) {
            *missing -= 1;
            *made += 1;
            *seconds += elapsed_s;
        }
    }

    /// A point of which nothing was run costs what the others do on average.
    fn left(&self) -> Option<Duration> {
        let all = self.points.values().fold((0, 0.0), |sum, one| (sum.0 + one.1, sum.1 + one.2));
        if all.0 == 0 {
            return None;
        }
        let mean = all.1 / all.0 as f64;
        let of = |(missing, made, seconds): &(usize, usize, f64)| {
            let each = if *made > 0 { seconds / *made as f64 } else { mean };
            *missing as f64 * each
        };
        let work: f64 = self.points.values().map(of).sum();
        // What ran side by side until now is the best guess of how much will.
        let beside =
            (all.1 / self.begun.elapsed().as_secs_f64().max(1e-3)).clamp(1.0, self.jobs as f64);
        let seconds = work / beside;
        (seconds < 1e7).then(|| Duration::from_secs_f64(seconds))
    }
}

#[cfg(test)]
mod tests;
