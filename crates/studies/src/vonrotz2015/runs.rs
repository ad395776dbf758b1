//! Results of the three scenarios under one set-up.
use super::axis::Scenario;
use super::scenario::ASSUMED;
use crate::result::Results;
use crate::rule::{Finding, Runs, quotient, within};
pub(super) use crate::rule::{joined, mean_of};
use recoup_sim::statistic::Seeded;

/// A scenario at a number of hops.
pub(super) type At = (Scenario, &'static str);

/// The runs of one set-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct World<'a> {
    pub results: &'a Results,
    experiments: [&'static str; 3],
    /// Where needless timeouts are told from others: scenario 3, one hop.
    followed: &'static str,
    setup: &'a str,
}

impl<'a> World<'a> {
    /// The set-up that is assumed.
    pub(super) fn assumed(results: &'a Results) -> Self {
        let experiments = ["one", "row", "side"];
        Self { results, experiments, followed: "side-trace", setup: ASSUMED }
    }

    /// With one thing different.
    pub(super) fn open(results: &'a Results, setup: &'a str) -> Self {
        let experiments = ["open-one", "open-row", "open-side"];
        Self { results, experiments, followed: "open-side", setup }
    }

    /// A point of the map.
    pub(super) fn map(results: &'a Results, setup: &'a str) -> Self {
        Self { results, experiments: ["map", "", ""], followed: "", setup }
    }

    fn of(&self, experiment: &str, hops: &str, timer: &str, metric: &str) -> Vec<Seeded> {
        let choice = [("timer", timer), ("hops", hops), ("setup", self.setup)];
        Runs { results: self.results, experiment, choice: &choice }.values(metric)
    }

    /// A metric, by seed.
    pub(super) fn values(&self, at: At, timer: &str, metric: &str) -> Vec<Seeded> {
        self.of(self.experiments[at.0 as usize], at.1, timer, metric)
    }

    /// A metric of the leftmost requester.
    fn own(&self, at: At, timer: &str, metric: &str) -> Vec<Seeded> {
        self.values(at, timer, &format!("c1.{metric}"))
    }

    /// How long the file took.
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
        self.of(self.followed, "1", timer, &format!("c1.{metric}"))
    }

    /// `metric` of one timer over that of another.
    pub(super) fn ratio(
        &self,
        of: impl Fn(&Self, At, &str) -> Vec<Seeded>,
        at: At,
        (above, below): (&str, &str),
        (low, high): (f64, f64),
    ) -> Finding {
        let ratio = quotient(&of(self, at, above), &of(self, at, below));
        within(&format!("{above} / {below}"), &ratio, "", low, high)
    }

    /// Leaves `finding` open where more than half of the lifetimes of one of the timers are at a bound: timers do not
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
