//! A campaign: every point of a scenario's sweep with every seed, on all cores, kept in a folder.
mod ledger;
mod merge;
mod record;
mod stage;

pub use stage::{Stage, Stages};

use crate::digest::{self, TextDigest};
use crate::executor::{Executor, Finished, Job, Report};
use crate::folder::{self, Purpose, ResultFolder, Shelf};
use crate::journal::{Metrics, Row};
use crate::scenario::Seeds;
use crate::source::Source;
use crate::table::Format;
use crate::{Error, ErrorKind};
use ledger::Ledger;
use record::Basis;
use recoup_sim::metric::Metric;
use recoup_sim::record::Table;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
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
    pub points: Stages,
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
    basis: Basis,
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
    /// How many of so many runs are in it.
    fn of(self, all: usize) -> usize {
        (all + self.count.get() - self.number.get()) / self.count
    }

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

/// A run that is in the folder.
#[derive(Clone, Copy, Debug)]
struct KeptRun {
    task: Task,
    /// Place of its line.
    line: u64,
}

impl Campaign {
    /// The campaign of a scenario; `seeds` replace its own.
    ///
    /// # Errors
    /// If a point of it is wrong. Networks are tried with the first seed.
    pub fn new(source: &Source, seeds: Option<&Seeds>) -> Result<Self, Error> {
        let seeds: Vec<_> = seeds.unwrap_or(source.file.seeds()).iter().collect();
        let source = Arc::new(source.clone());
        let mut points = Stages::new(&source, source.file.points().len());
        let mut digest = TextDigest::default();
        digest.push(&source.file.base());
        let (mut algorithms, mut warnings) = (BTreeMap::new(), Vec::new());
        let basis = RefCell::new(Basis::new(&source, &seeds));
        let note = |name: &str, content: &str| basis.borrow_mut().note(name, content);
        for point in source.file.points() {
            let scenario = source.scenario_noting(&point, &note)?;
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
            points.push(point.number, scenario);
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
            basis: basis.into_inner(),
        })
    }

    /// Number of runs, or of the runs in its share.
    pub fn runs(&self) -> usize {
        let all = self.points.len() * self.seeds.len();
        self.share.map_or(all, |share| share.of(all))
    }

    /// The run at that place among all: all points with the first seed, then with the next, so that whatever is there when
    /// it is stopped can be compared.
    fn task(&self, place: usize) -> Option<Task> {
        let points = self.points.len();
        let seed = *self.seeds.get(place.checked_div(points)?)?;
        Some(Task { stage: place % points, seed })
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
        let repeated = self.repeated(&folder, runner).count();
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
        let missing = self.missing_places(&|point, seed| folder.journal.rows.has(point, seed));
        let runs = self.runs();
        let done = runs - self.marked(&missing).count();
        // A point with one seed has no other run to estimate.
        let points = if self.seeds.len() > 1 { self.points.len() } else { 0 };
        let all = self.marked(&missing).map(|(_, task)| task);
        let mut ledger = Ledger::new(all, points, execution.executor.parallelism());
        let result = self.run_all(&missing, folder, execution, runner, &mut |event| match event {
            Seen::Ended(task, row, tables) => {
                ledger.note(task, row.elapsed_s);
                watch.ended(row, tables);
                watch.progress(done + ledger.done, runs, ledger.left());
            }
            Seen::Time => watch.progress(done + ledger.done, runs, ledger.left()),
        });
        drop((missing, ledger));
        self.finish(folder)?;
        result
    }

    /// The runs of a point that are in the folder, by seed.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn rows(&self, folder: &ResultFolder, stage: &Stage) -> Result<Vec<Row>, Error> {
        let find = |seed: &u64| folder.journal.rows.find(&stage.key, *seed).transpose();
        self.seeds.iter().filter_map(find).collect()
    }

    /// The runs that are not there yet.
    pub fn missing(&self, folder: &ResultFolder) -> Vec<Task> {
        self.missing_of(&|point, seed| folder.journal.rows.has(point, seed))
    }

    /// The runs that are not in the folder at that path, which is only read: all if it has no results of this scenario.
    ///
    /// # Errors
    /// If its journal cannot be read.
    pub fn missing_at(&self, path: &Path) -> Result<Vec<Task>, Error> {
        if !path.exists() || !ResultFolder::is_for(path, &self.digest) {
            return Ok(self.missing_of(&|_, _| false));
        }
        let kept = folder::complete(path)?;
        Ok(self.missing_of(&|point, seed| kept.contains(&(point, seed))))
    }

    fn missing_of(&self, is_there: &dyn Fn(u64, u64) -> bool) -> Vec<Task> {
        let missing = self.missing_places(is_there);
        self.marked(&missing).map(|(_, task)| task).collect()
    }

    /// The runs at marked places, with their places.
    fn marked(&self, marks: &[bool]) -> impl Iterator<Item = (usize, Task)> {
        let places = marks.iter().enumerate().filter(|(_, is_marked)| **is_marked);
        places.filter_map(|(place, _)| Some((place, self.task(place)?)))
    }

    /// Whether the run at each place among all is missing, and in the share.
    fn missing_places(&self, is_there: &dyn Fn(u64, u64) -> bool) -> Vec<bool> {
        let (keys, mut sorted) = (self.points.keys(), self.points.keys().to_vec());
        sorted.sort_unstable();
        let (mut missing, mut seen) = (vec![false; keys.len() * self.seeds.len()], HashSet::new());
        for (number, seed) in self.seeds.iter().enumerate().filter(|(_, it)| seen.insert(**it)) {
            // Two points of a sweep may be the same scenario.
            let mut taken = vec![false; keys.len()];
            let places = (number * keys.len()..).zip(keys);
            for (place, key) in
                places.filter(|(it, _)| self.share.is_none_or(|share| share.has(*it)))
            {
                let at = sorted.partition_point(|it| it < key);
                missing[place] = !is_there(*key, *seed) && !std::mem::replace(&mut taken[at], true);
            }
        }
        missing
    }

    /// Writes the table of all runs that are in the folder, unless it is there, as this campaign wrote it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&self, folder: &ResultFolder) -> Result<(), Error> {
        let record = self.record(folder);
        if record.as_ref().is_some_and(|record| record.is_in(folder)) {
            return Ok(());
        }
        folder.finish(|| self.points.iter().map(|stage| (stage.key, stage.point.values)))?;
        record.map_or(Ok(()), |record| record.write(folder, &self.points))
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
            let repeated = self.repeated(folder, runner).collect();
            let changed = self.unequal(repeated, folder, execution, runner)?;
            for kept in changed {
                let stage = self.points.get(kept.task.stage);
                stage.map_or(Ok(()), |stage| folder.journal.forget(&stage.key))?;
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
        let registered = self.of_registered(folder).collect();
        let unequal = self.unequal(registered, folder, execution, runner)?;
        let Some(kept) = unequal.first() else { return Ok(()) };
        let (row, stage) = (folder.journal.rows.at(kept.line)?, self.points.get(kept.task.stage));
        let place = folder.path().display();
        let run = format!("{place}: seed {}{} ran differently before", row.seed, row.at());
        stage.map_or(Ok(()), |stage| Err(stage.other_algorithm(&run)))
    }

    /// The runs that a process has to make again before it goes on: one of each point with algorithms that it has registered.
    pub fn repeats(&self, folder: &ResultFolder) -> Vec<Task> {
        self.of_registered(folder).map(|kept| kept.task).collect()
    }

    /// The first kept run of each point with algorithms that this process has registered.
    fn of_registered(&self, folder: &ResultFolder) -> impl Iterator<Item = KeptRun> {
        let mut taken = HashSet::new();
        let is_wanted = move |place: &usize| {
            let registered = self.points.registered(*place).is_some_and(|it| !it.is_empty());
            registered && taken.insert(self.points.key(*place))
        };
        let places = (0..self.points.len()).filter(is_wanted);
        places.filter_map(|place| self.first_run(folder, place))
    }

    /// The first kept run of a point.
    fn first_run(&self, folder: &ResultFolder, stage: usize) -> Option<KeptRun> {
        let runs = folder.journal.rows.of_point(self.points.key(stage)?);
        let (line, seed) = runs.map(|(seed, line)| (line, seed)).min()?;
        Some(KeptRun { task: Task { stage, seed }, line })
    }

    /// A kept run of another program that this program does not repeat. At most this number of points is tried, with
    /// one run each.
    fn different(
        &self,
        folder: &ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
        points: usize,
    ) -> Result<Option<Row>, Error> {
        let repeated = self.repeated(folder, runner).take(points).collect();
        let unequal = self.unequal(repeated, folder, execution, runner)?;
        unequal.first().map(|kept| folder.journal.rows.at(kept.line)).transpose()
    }

    /// The part of `repeated` that this program does not reproduce.
    fn unequal(
        &self,
        repeated: Vec<KeptRun>,
        folder: &ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
    ) -> Result<Vec<KeptRun>, Error> {
        let mut jobs = self.jobs(repeated.iter().map(|kept| kept.task).enumerate());
        let run = |job: &Job, stop: &AtomicBool| job.run(runner, None, stop);
        let mut is_changed = vec![false; repeated.len()];
        let mut result = Ok(());
        let is_equal = |kept: &KeptRun, now: &Row| {
            let before = folder.journal.rows.at(kept.line)?;
            Ok((&before.digest, &before.metrics) == (&now.digest, &now.metrics))
        };
        execution.executor.execute(&mut jobs, &run, &mut |report| {
            let ended = match report {
                Report::Ended(number, Ok(Some((now, _)))) => match repeated.get(number) {
                    Some(kept) => is_equal(kept, &now).map(|it| is_changed[number] = !it),
                    None => Ok(()),
                },
                Report::Ended(_, Err(error)) => Err(error),
                Report::Ended(_, Ok(None)) | Report::Idle => Ok(()),
            };
            if result.is_ok() {
                result = ended;
            }
            if result.is_ok() && (execution.is_cancelled)() {
                result = Err(interrupted());
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        let changed = repeated.iter().zip(is_changed).filter(|(_, is_changed)| *is_changed);
        Ok(changed.map(|(run, _)| *run).collect())
    }

    /// The first run of each point of another program's results.
    fn repeated(
        &self,
        folder: &ResultFolder,
        runner: &dyn Runner,
    ) -> impl Iterator<Item = KeptRun> {
        let is_ours = folder.is_of_this_program(&digest::of_program().unwrap_or_default());
        let points = if is_ours || !runner.repeats() { 0 } else { self.points.len() };
        (0..points).filter_map(|place| self.first_run(folder, place))
    }

    /// The jobs of these numbered tasks, made one by one.
    fn jobs(&self, tasks: impl Iterator<Item = (usize, Task)>) -> impl Iterator<Item = Job> {
        let job = |(number, Task { stage, seed })| {
            Some(Job { number, stage: self.points.get(stage)?, seed })
        };
        tasks.filter_map(job)
    }

    fn run_all(
        &self,
        missing: &[bool],
        folder: &mut ResultFolder,
        execution: Execution<'_>,
        runner: &dyn Runner,
        see: &mut dyn FnMut(Seen<'_>),
    ) -> Result<(), Error> {
        let shelf = folder.shelf();
        let mut jobs = self.jobs(self.marked(missing));
        let run = |job: &Job, stop: &AtomicBool| job.run(runner, Some(&shelf), stop);
        let mut result = Ok(());
        execution.executor.execute(&mut jobs, &run, &mut |report| {
            let kept = match report {
                Report::Ended(number, Ok(Some((row, outcome)))) => {
                    if let Some(task) = self.task(number) {
                        see(Seen::Ended(task, &row, &outcome.tables));
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

impl Job {
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
        let Self { ref stage, seed, .. } = *self;
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

#[cfg(test)]
mod tests;
