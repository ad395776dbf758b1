//! Contests of two alternatives: quotients of runs with the same seed.
use crate::compare::{Cell, Quantity};
use crate::result::{Results, Row};
use crate::rule::{estimate, quotient};
use recoup_sim::statistic::{Estimate, Seeded};
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Two values of an axis, wherever the rest of the point is the same.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contest {
    /// The experiment.
    pub experiment: String,
    /// The axis on which they differ.
    pub axis: String,
    /// The value that is to need less.
    pub ours: String,
    /// The value that it is compared with.
    pub theirs: String,
    /// Place of the figures, such as `c1`.
    pub place: String,
    /// The compared quantity.
    pub quantity: Quantity,
    /// Axis and value of the points at which `ours` has to need less, on processes.
    #[serde(default)]
    pub expected: Vec<(String, String)>,
}

/// A contest at one point, simulated and real.
#[derive(Clone, Debug, PartialEq)]
pub struct Duel {
    /// The contest.
    pub contest: Contest,
    /// Values of the sweep, without the axis of the contest.
    pub point: BTreeMap<String, String>,
    /// Cost of `ours`.
    pub ours: Cell,
    /// Cost of `theirs`.
    pub theirs: Cell,
    /// Mean of the quotients of ours and theirs, seed by seed. A pair in which theirs is 0 is left
    /// out.
    pub ratio: Cell,
    /// Whether ours has to need less.
    pub is_expected: bool,
}

impl Duel {
    /// The side of 1 on which the interval of the real quotient lies; `None` if it holds 1.
    pub fn outcome(&self) -> Option<Ordering> {
        self.ratio.real.and_then(|ratio| ratio.compare(1.0))
    }

    /// Whether ours needs less as expected; `None` if nothing is expected, or the runs do not
    /// decide.
    pub fn holds(&self) -> Option<bool> {
        let outcome = self.outcome().filter(|_| self.is_expected)?;
        Some(outcome == Ordering::Less)
    }
}

impl Contest {
    /// Its duels, in the order in which the points of the real runs stand.
    pub(crate) fn duels(&self, simulated: &Results, real: &Results) -> Vec<Duel> {
        let mut seen = BTreeSet::new();
        let rows = real.experiments.get(&self.experiment).into_iter().flatten();
        let points = rows.map(|row| self.rest(row)).filter(|point| seen.insert(point.clone()));
        points.map(|point| self.duel(point, simulated, real)).collect()
    }

    fn rest(&self, row: &Row) -> BTreeMap<String, String> {
        let others = row.point.iter().filter(|(axis, _)| **axis != self.axis);
        others.map(|(axis, value)| (axis.clone(), value.clone())).collect()
    }

    fn duel(&self, point: BTreeMap<String, String>, simulated: &Results, real: &Results) -> Duel {
        let [simulated, real] = [simulated, real].map(|results| {
            let [ours, theirs] =
                [&self.ours, &self.theirs].map(|value| self.values(results, &point, value));
            let ratio = estimate(&quotient(&ours, &theirs));
            (estimate(&ours), estimate(&theirs), ratio)
        });
        let cell = |simulated, real| Cell { simulated, real };
        let is_at =
            |(axis, value): &(String, String)| point.get(axis).is_some_and(|it| it == value);
        Duel {
            contest: self.clone(),
            is_expected: self.expected.iter().any(is_at),
            ours: cell(simulated.0, real.0),
            theirs: cell(simulated.1, real.1),
            ratio: cell(simulated.2, real.2),
            point,
        }
    }

    fn values(
        &self,
        results: &Results,
        point: &BTreeMap<String, String>,
        value: &str,
    ) -> Vec<Seeded> {
        let rest = point.iter().map(|(axis, value)| (axis.as_str(), value.as_str()));
        let choice: Vec<_> = rest.chain([(self.axis.as_str(), value)]).collect();
        let metric = format!("{}.{}", self.place, self.quantity.metric);
        let values = results.values(&self.experiment, &choice, &metric);
        values.into_iter().map(|(seed, it)| (seed, it * self.quantity.factor)).collect()
    }
}

/// Whether ours needs less at all expected points; `None` if any of them is undecided.
pub fn hold(duels: &[Duel]) -> Option<bool> {
    let expected = || duels.iter().filter(|duel| duel.is_expected);
    match expected().any(|duel| duel.holds() == Some(false)) {
        true => Some(false),
        false => expected().all(|duel| duel.holds().is_some()).then_some(true),
    }
}

/// A quotient's interval, where there is one.
pub fn interval(ratio: Option<Estimate>) -> Option<[f64; 2]> {
    ratio.filter(|it| it.half_width.is_finite()).map(|it| [it.low(), it.high()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duels(simulated: &Results, real: &Results) -> Vec<Duel> {
        let contest: Contest = toml::from_str(
            r#"experiment = "repair"
axis = "recovery"
ours = "Smart"
theirs = "timers"
place = "c1"
quantity = { metric = "time_s", label = "time", unit = "s" }
expected = [["window", "NewReno"]]"#,
        )
        .unwrap();
        contest.duels(simulated, real)
    }

    /// Runs with two windows; timers take 10, 12 and 14 s, Smart so many times that.
    fn results(factor: f64) -> Results {
        let mut results = Results::default();
        let mut rows = Vec::new();
        for window in ["NewReno", "CUBIC"] {
            for (recovery, times) in [("Smart", factor), ("timers", 1.0)] {
                for seed in 1..=3_u64 {
                    let point = [("window", window), ("recovery", recovery)];
                    let point = point.map(|(axis, value)| (axis.to_owned(), value.to_owned()));
                    let time = times * (8.0 + 2.0 * seed as f64);
                    let metrics = BTreeMap::from([("c1.time_s".to_owned(), time)]);
                    rows.push(Row { point: point.into(), seed, metrics });
                }
            }
        }
        results.experiments.insert("repair".into(), rows);
        results
    }

    #[test]
    fn quotients_are_of_runs_with_the_same_seed() {
        let duels = duels(&results(0.75), &results(0.5));
        let [reno, cubic] = duels.as_slice() else { panic!("{duels:?}") };
        assert_eq!(reno.point, BTreeMap::from([("window".to_owned(), "NewReno".to_owned())]));
        let (real, simulated) = (reno.ratio.real.unwrap(), reno.ratio.simulated.unwrap());
        // The times differ much, their quotients do not.
        assert_eq!((real.mean, real.half_width, simulated.mean), (0.5, 0.0, 0.75));
        assert_eq!((reno.ours.real.unwrap().mean, reno.theirs.real.unwrap().mean), (6.0, 12.0));
        assert_eq!((reno.holds(), cubic.holds()), (Some(true), None));
        assert_eq!(cubic.outcome(), Some(Ordering::Less));
        assert_eq!(hold(&duels), Some(true));
    }

    #[test]
    fn needing_more_fails_and_one_run_decides_nothing() {
        assert_eq!(hold(&duels(&results(0.5), &results(1.5))), Some(false));
        let mut few = results(0.5);
        few.experiments.get_mut("repair").unwrap().retain(|row| row.seed == 1);
        let duels = duels(&results(0.5), &few);
        assert_eq!((duels[0].outcome(), hold(&duels)), (None, None));
        assert_eq!(interval(duels[0].ratio.real), None);
        assert_eq!(hold(&[]), Some(true));
    }
}
