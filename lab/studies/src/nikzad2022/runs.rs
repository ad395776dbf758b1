//! Results of the study: of the paper's own experiments, or with something else in the place of an assumption.
use super::open::{ASSUMED, AXIS};
use super::scenario::{FRONTIER, LONG};
use super::timer::{ENDS, Jacobson, Other, PREDICTIVE, S};
use crate::result::Results;
pub(super) use crate::rule::joined;
use crate::rule::quotient;
use recoup_sim::statistic::Seeded;

/// Bad timeouts.
pub(super) const B: &str = "all.b";
/// Cost of good ones.
pub(super) const W: &str = "all.w";
/// Rate that Table 3 and Table 4 compare.
pub(super) const RATE: &str = "all.goodput_mean_bps";

/// Runs under one set of assumptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'a> {
    results: &'a Results,
    place: Place,
}

/// Origin of the runs.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Among the paper's own experiments.
    Paper,
    /// One way and no aggregation.
    SingleWay,
    /// Our estimator beside the proposal.
    Frontier,
    /// All timers of an experiment, such as that of an open parameter at a value of it.
    Open(&'static str, Option<&'static str>),
}

impl<'a> Runs<'a> {
    /// The paper's own experiments.
    pub(super) fn paper(results: &'a Results) -> Self {
        Self { results, place: Place::Paper }
    }

    /// The assumed set-up with fewer timers and requests.
    pub(super) fn assumed(results: &'a Results) -> Self {
        Self { results, place: Place::Open(ASSUMED, None) }
    }

    /// These parameters, one of them with another value.
    pub(super) fn with(
        results: &'a Results,
        experiment: &'static str,
        value: &'static str,
    ) -> Self {
        Self { results, place: Place::Open(experiment, Some(value)) }
    }

    /// Predictive's conditions for all: its own runs, and those of some others.
    pub(super) fn single_way(results: &'a Results) -> Self {
        Self { results, place: Place::SingleWay }
    }

    /// Our estimator, the proposal and the constants, in runs of their own.
    pub(super) fn frontier(results: &'a Results) -> Self {
        Self { results, place: Place::Frontier }
    }

    /// The exponents of popularity that were run.
    pub(super) fn exponents(&self) -> &'static [&'static str] {
        match self.place {
            Place::Paper | Place::SingleWay | Place::Frontier => &S,
            Place::Open(..) => &ENDS,
        }
    }

    /// All that are at least that.
    pub(super) fn exponents_from(&self, least: f64) -> impl Iterator<Item = &'static str> {
        self.exponents().iter().copied().filter(move |s| number(s) >= least)
    }

    fn values(&self, home: &str, timer: &str, s: &str, metric: &str) -> Vec<Seeded> {
        let (experiment, instead) = match self.place {
            Place::SingleWay if timer != PREDICTIVE.0 => ("single-way", None),
            Place::Paper | Place::SingleWay => (home, None),
            Place::Frontier => (FRONTIER, None),
            Place::Open(experiment, value) => (experiment, value.map(|value| (AXIS, value))),
        };
        let choice: Vec<_> = [("timer", timer), ("s", s)].into_iter().chain(instead).collect();
        self.results.values(experiment, &choice, metric)
    }

    /// A metric of a timer at an exponent, by seed.
    pub(super) fn of(&self, timer: Timer, s: &str, metric: &str) -> Vec<Seeded> {
        match timer {
            Timer::Jacobson(timer) => self.values(timer.experiment(), &timer.label(), s, metric),
            Timer::Other(timer) => self.values("estimators", timer.0, s, metric),
        }
    }

    /// [`Runs::of`] in runs as long as the paper's, if there are any.
    pub(super) fn longest(&self, timer: Timer, s: &str, metric: &str) -> Vec<Seeded> {
        self.rather(LONG, timer, s, metric)
    }

    /// [`Runs::of`] in that experiment, if it was run.
    fn rather(&self, experiment: &'static str, timer: Timer, s: &str, metric: &str) -> Vec<Seeded> {
        let values = match self.place {
            Place::Paper => self.values(experiment, &timer.label(), s, metric),
            _ => Vec::new(),
        };
        if values.is_empty() { self.of(timer, s, metric) } else { values }
    }

    /// Whether that experiment was run here.
    pub(super) fn has(&self, experiment: &str) -> bool {
        matches!(self.place, Place::Paper) && self.results.experiments.contains_key(experiment)
    }

    /// By how many per cent a timer's rate exceeds that of another, with the seeds of that experiment where it has both.
    pub(super) fn growth_in(
        &self,
        experiment: &'static str,
        timer: Timer,
        reference: Timer,
        s: &str,
    ) -> Vec<Seeded> {
        let rate = |timer| self.rather(experiment, timer, s, RATE);
        percent(&rate(timer), &rate(reference))
    }

    /// By how many per cent a timer's rate exceeds that of another.
    pub(super) fn growth(&self, timer: Timer, reference: Timer, s: &str) -> Vec<Seeded> {
        percent(&self.of(timer, s, RATE), &self.of(reference, s, RATE))
    }

    /// The product of B and W: what a timeout costs by either of its faults.
    pub(super) fn cost(&self, timer: Timer, s: &str) -> Vec<Seeded> {
        joined(&self.of(timer, s, B), &self.of(timer, s, W), |b, w| b * w)
    }
}

/// By how many per cent values exceed others, seed by seed.
fn percent(values: &[Seeded], others: &[Seeded]) -> Vec<Seeded> {
    let quotients = quotient(values, others).into_iter();
    quotients.map(|(seed, quotient)| (seed, 100.0 * (quotient - 1.0))).collect()
}

/// A timer of either kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timer {
    /// Of Jacobson's kind.
    Jacobson(Jacobson),
    /// Any other.
    Other(Other),
}

impl Timer {
    pub(super) fn label(self) -> String {
        match self {
            Self::Jacobson(timer) => timer.label(),
            Self::Other(timer) => timer.0.to_owned(),
        }
    }
}

impl From<Jacobson> for Timer {
    fn from(timer: Jacobson) -> Self {
        Self::Jacobson(timer)
    }
}

impl From<Other> for Timer {
    fn from(timer: Other) -> Self {
        Self::Other(timer)
    }
}

/// The exponent as a number.
pub(super) fn number(s: &str) -> f64 {
    s.parse().unwrap_or(f64::NAN)
}
