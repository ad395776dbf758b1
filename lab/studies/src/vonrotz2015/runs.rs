//! Results of the three scenarios under one set-up.
use super::axis::Scenario;
use super::open::Open;
use super::scenario::ASSUMED;
use crate::result::Results;
use crate::rule::{Finding, ratio};
pub(super) use crate::rule::{joined, mean_of};
use recoup_sim::statistic::Seeded;

/// Scenario 3 at one hop with whole files, whose transmissions are followed.
pub(super) const WHOLE: &str = "side-whole";

/// A scenario at a number of hops.
pub(super) type At = (Scenario, &'static str);

/// The runs of one set-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'a> {
    pub results: &'a Results,
    origin: Origin<'a>,
}

/// Origin of the runs of a set-up.
#[derive(Clone, Copy, Debug)]
enum Origin<'a> {
    /// The assumed set-up.
    Assumed,
    /// A changed parameter; the label is that of the axis.
    Open(&'a Open, &'a str),
}

/// The experiment of a place in the assumed set-up. If some runs leave traces, only those runs
/// exist.
fn assumed(at: At) -> &'static str {
    match at {
        (Scenario::One, "3") => "one-trace",
        (Scenario::One, _) => "one",
        (Scenario::Row, "5") => "row-trace",
        (Scenario::Row, _) => "row",
        (Scenario::Sides, "1") => "side-trace",
        (Scenario::Sides, _) => "side",
    }
}

impl<'a> Origin<'a> {
    /// The experiment of a place, and the name of the set-up there.
    fn of(self, at: At) -> (&'static str, &'a str) {
        match self {
            Self::Assumed => (assumed(at), ASSUMED),
            Self::Open(open, label) => match at {
                (Scenario::One, "3") => ("open-one-trace", label),
                (Scenario::One, _) => ("open-one", label),
                // There, the same part of the file is fetched as in the experiments of the assumed
                // set-up.
                _ if open.is_assumed() => (assumed(at), ASSUMED),
                (Scenario::Row, "5") => ("open-row-trace", label),
                (Scenario::Row, _) => ("open-rows", label),
                (Scenario::Sides, _) => ("open-side", label),
            },
        }
    }
}

impl<'a> Runs<'a> {
    /// Runs of the assumed set-up.
    pub(super) fn assumed(results: &'a Results) -> Self {
        Self { results, origin: Origin::Assumed }
    }

    /// Runs with one changed parameter, under its label.
    pub(super) fn open(results: &'a Results, open: &'a Open, label: &'a str) -> Self {
        Self { results, origin: Origin::Open(open, label) }
    }

    /// The curves of a place: their experiment, and the name of the point.
    pub(super) fn curves(&self, at: At, timer: &str) -> (&'static str, String) {
        let (experiment, setup) = self.origin.of(at);
        (experiment, format!("timer={timer}, hops={}, setup={setup}", at.1))
    }

    /// A metric, by seed.
    pub(super) fn values(&self, at: At, timer: &str, metric: &str) -> Vec<Seeded> {
        let (experiment, setup) = self.origin.of(at);
        let choice = [("timer", timer), ("hops", at.1), ("setup", setup)];
        self.results.values(experiment, &choice, metric)
    }

    /// A metric of the leftmost requester.
    fn own(&self, at: At, timer: &str, metric: &str) -> Vec<Seeded> {
        self.values(at, timer, &format!("c1.{metric}"))
    }

    /// Completion time of the file.
    pub(super) fn time(&self, at: At, timer: &str) -> Vec<Seeded> {
        self.own(at, timer, "time_s")
    }

    /// Interests that left the requester's node.
    pub(super) fn interests(&self, at: At, timer: &str) -> Vec<Seeded> {
        self.own(at, timer, "network_interests")
    }

    pub(super) fn timeouts(&self, at: At, timer: &str) -> Vec<Seeded> {
        self.own(at, timer, "timeouts")
    }

    /// A statistic of the lifetimes of first transmissions, such as `mean` or `p50`.
    pub(super) fn lifetime(&self, at: At, timer: &str, what: &str) -> Vec<Seeded> {
        self.own(at, timer, &format!("rto_{what}_s"))
    }

    /// A statistic of the times from first transmission to Data.
    pub(super) fn round_trip(&self, at: At, timer: &str, what: &str) -> Vec<Seeded> {
        self.own(at, timer, &format!("delay_{what}_s"))
    }

    /// A metric of scenario 3 at one hop, where transmissions are followed.
    pub(super) fn followed(&self, timer: &str, metric: &str) -> Vec<Seeded> {
        self.own((Scenario::Sides, "1"), timer, metric)
    }

    /// A metric of scenario 3 at one hop in whole files, where transmissions are followed.
    pub(super) fn followed_whole(&self, timer: &str, metric: &str) -> Vec<Seeded> {
        let choice = [("timer", timer), ("hops", "1"), ("setup", ASSUMED)];
        self.results.values(WHOLE, &choice, &format!("c1.{metric}"))
    }

    /// `metric` of one timer over that of another.
    pub(super) fn ratio(
        &self,
        of: impl Fn(&Self, At, &str) -> Vec<Seeded>,
        at: At,
        (above, below): (&str, &str),
        (low, high): (f64, f64),
    ) -> Finding {
        let (ours, theirs) = (of(self, at, above), of(self, at, below));
        ratio(&format!("{above} / {below}"), &ours, &theirs, low, high)
    }

    /// Leaves `finding` open if more than half of the lifetimes of one of the timers are at a bound: timers do not
    /// differ there.
    pub(super) fn unless_bound(&self, at: At, timers: &[&str], finding: Finding) -> Finding {
        let median = |timer: &&&str| mean_of(&self.lifetime(at, timer, "p50"));
        let is_bound =
            |timer: &&&str| median(timer).is_some_and(|it| !(0.1005..3.995).contains(&it));
        let bound: Vec<_> = timers.iter().filter(is_bound).copied().collect();
        if bound.is_empty() {
            return finding;
        }
        let why = format!("not judged, most lifetimes of {} are at a bound", bound.join(", "));
        Finding::open(format!("{why}; {}", finding.ours))
    }
}
