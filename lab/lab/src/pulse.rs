//! The state of a run in progress, for a live view.
use recoup_sim::metric::Metrics;
use recoup_transport::fetch::FetchStats;
use recoup_transport::time::Instant;
use std::sync::{Mutex, PoisonError};

/// A run at one time.
#[derive(Clone, Debug)]
pub struct Glance {
    /// Number of the run among those that were shown, from 1.
    pub run: u64,
    /// The point of the sweep; empty without a sweep.
    pub point: String,
    /// The seed.
    pub seed: u64,
    /// The simulated time.
    pub at: Instant,
    /// Counters of all consumers together.
    pub consumers: FetchStats,
}

/// Shows one of the runs in progress until its end, then the next.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    begun: u64,
    latest: Option<Glance>,
    /// A run is being shown.
    is_taken: bool,
}

/// A run that is shown, until it is dropped.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    pulse: &'a Pulse,
    point: String,
    seed: u64,
    /// Its number, if no other run is being shown.
    run: Option<u64>,
}

impl Pulse {
    /// The latest state of the run that is shown.
    pub fn look(&self) -> Option<Glance> {
        self.with(|state| state.latest.clone())
    }

    /// A run begins, and is shown as soon as no other one is.
    pub(crate) fn begin(&self, point: String, seed: u64) -> Shown<'_> {
        Shown { pulse: self, point, seed, run: None }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shown<'_> {
    /// The run is at `at`.
    pub(crate) fn update(&mut self, at: Instant, metrics: &Metrics) {
        self.pulse.with(|state| {
            if self.run.is_none() && state.is_taken {
                return;
            }
            let run = *self.run.get_or_insert_with(|| {
                state.is_taken = true;
                state.begun += 1;
                state.begun
            });
            let (point, consumers) = (self.point.clone(), metrics.transfers());
            state.latest = Some(Glance { run, point, seed: self.seed, at, consumers });
        });
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if self.run.is_some() {
            self.pulse.with(|state| state.is_taken = false);
        }
    }
}
