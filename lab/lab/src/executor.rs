//! Executors of the runs of a campaign: an executor takes jobs and reports results, and knows nothing of folders.
use crate::Result;
use crate::campaign::{Outcome, Stage};
use crate::journal::Row;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two calls of the reporter while no run ends.
const IDLE_EVERY: Duration = Duration::from_millis(100);

/// A run to make.
#[derive(Debug)]
pub struct Job {
    /// Its number, by which it is reported.
    pub number: usize,
    /// The scenario.
    pub stage: Stage,
    /// The seed.
    pub seed: u64,
}

/// Runs to make, one by one.
pub type Jobs<'a> = dyn Iterator<Item = Job> + Send + 'a;

/// Result of a run: the line of the journal, and its records; `None` if it was cancelled.
pub type Finished = Option<(Row, Outcome)>;

/// Makes the run of a job, and ends early if the flag is raised.
pub type RunJob<'a> = dyn Fn(&Job, &AtomicBool) -> Result<Finished> + Sync + 'a;

/// Report of an executor.
#[expect(clippy::large_enum_variant, reason = "few exist at a time, and most of them are results")]
#[derive(Debug)]
pub enum Report {
    /// The job with this number has ended.
    Ended(usize, Result<Finished>),
    /// No run has ended for a while.
    Idle,
}

/// Makes runs: on threads of this process ([`Threads`]), or wherever an implementation sends them.
pub trait Executor {
    /// Runs at a time, from which the time that is left is estimated.
    fn parallelism(&self) -> usize;

    /// Makes the run of each job, in any order, and reports each result on the calling thread.
    ///
    /// While no run ends, the implementation reports [`Report::Idle`] several times a second. Once `report` breaks, it
    /// begins no further run, raises the flag of those in progress, and still reports those that end.
    fn execute(
        &self,
        jobs: &mut Jobs<'_>,
        run: &RunJob<'_>,
        report: &mut dyn FnMut(Report) -> ControlFlow<()>,
    );
}

/// Runs on threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads(
    /// Number of threads.
    pub usize,
);

impl Default for Threads {
    /// A thread for each core.
    fn default() -> Self {
        Self(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }
}

impl Executor for Threads {
    fn parallelism(&self) -> usize {
        self.0
    }

    fn execute(
        &self,
        jobs: &mut Jobs<'_>,
        run: &RunJob<'_>,
        report: &mut dyn FnMut(Report) -> ControlFlow<()>,
    ) {
        let (jobs, stop) = (Mutex::new(jobs), AtomicBool::new(false));
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        // Results with their records wait until they are kept, so few may.
        let (sender, receiver) = mpsc::sync_channel(1);
        let work = |sender: mpsc::SyncSender<_>| {
            while !stop.load(Ordering::Relaxed) {
                let Some(job) = next() else { break };
                if sender.send(Report::Ended(job.number, run(&job, &stop))).is_err() {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..self.0 {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            loop {
                let seen = match receiver.recv_timeout(IDLE_EVERY) {
                    Ok(ended) => ended,
                    Err(RecvTimeoutError::Timeout) => Report::Idle,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if report(seen).is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
    }
}
