//! Rules about how something develops over a sweep, and on which side of a bound it stays.
use super::runs::{Runs, Timer, joined, number};
use crate::claim::Outcome;
use crate::rule::{EQUAL, Finding, LEVEL, SEEDS, THIRD_LOOK, are_enough, estimate, quotient, text};
use recoup_sim::statistic::order::spearman;
use recoup_sim::statistic::{Estimate, Seeded};
use std::collections::BTreeMap;

/// The direction of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}

/// Values at places of a sweep.
pub(super) type Sweep = Vec<(f64, Vec<Seeded>)>;

/// Spearman's rank correlation of each seed between the places of a sweep and what was measured there.
pub(super) fn correlations(sweep: &Sweep) -> Vec<Seeded> {
    let mut pairs: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for (place, values) in sweep {
        for (seed, value) in values {
            pairs.entry(*seed).or_default().push((*place, *value));
        }
    }
    let of = |(seed, pairs): (u64, Vec<_>)| Some((seed, spearman(&pairs)?));
    pairs.into_iter().filter_map(of).collect()
}

/// How a mean is compared with a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Confidence of the interval.
    level: f64,
    /// The mean is at the bound, and so on neither side, if its whole interval is as near to it.
    margin: f64,
}

impl Look {
    const FIRST: Self = Self { level: LEVEL, margin: 0.0 };
    /// The third one, at differences in per cent.
    pub(super) const THIRD: Self = Self { level: THIRD_LOOK, margin: 100.0 * EQUAL };
    /// The third one, at rank correlations: below 0.2 they are none that a reader would see in a table.
    pub(super) const THIRD_OF_TREND: Self = Self { level: THIRD_LOOK, margin: 0.2 };

    fn estimate(self, values: &[Seeded]) -> Option<Estimate> {
        let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        Estimate::of(&values, self.level)
    }

    /// The interval of the rank correlations lies on one side of zero.
    pub(super) fn monotone(self, label: &str, sweep: &Sweep, way: Way) -> Finding {
        let (first, last) = (sweep.first(), sweep.last());
        let ends = [first, last].map(|end| end.and_then(|(_, values)| estimate(values)));
        let correlations = correlations(sweep);
        let side = match way {
            Way::Up => Side::Above,
            Way::Down => Side::Below,
        };
        let found = self.beyond("rank correlation", &correlations, "", side, 0.0);
        let shown =
            |end: &Option<Estimate>| end.as_ref().map_or_else(|| "?".into(), |it| text(it, ""));
        let ours = format!("{label} {} → {} ({})", shown(&ends[0]), shown(&ends[1]), found.ours);
        Finding { ours, ..found }
    }

    /// The interval of the mean lies on that side of the bound.
    pub(super) fn beyond(
        self,
        label: &str,
        values: &[Seeded],
        unit: &str,
        side: Side,
        bound: f64,
    ) -> Finding {
        Finding { outcome: self.sided(values, side, bound), ours: self.shown(label, values, unit) }
    }

    fn sided(self, values: &[Seeded], side: Side, bound: f64) -> Outcome {
        let Some(estimate) = self.estimate(values).filter(|it| it.count >= SEEDS) else {
            return Outcome::Open;
        };
        let (low, high) = (estimate.low() - bound, estimate.high() - bound);
        let is_at_bound = low >= -self.margin && high <= self.margin;
        let (good, bad) = match side {
            Side::Above => (low > 0.0, high <= 0.0 || is_at_bound),
            Side::Below => (high < 0.0, low >= 0.0 || is_at_bound),
        };
        match (good, bad) {
            (true, _) => Outcome::Holds,
            (_, true) => Outcome::Fails,
            _ => Outcome::Open,
        }
    }

    fn shown(self, label: &str, values: &[Seeded], unit: &str) -> String {
        let shown = self.estimate(values).map_or_else(|| "no results".into(), |it| text(&it, unit));
        format!("{label} {shown}")
    }
}

/// [`Look::monotone`] at the first look.
pub(super) fn monotone(label: &str, sweep: &Sweep, way: Way) -> Finding {
    Look::FIRST.monotone(label, sweep, way)
}

/// A side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// [`Look::beyond`] at the first look.
pub(super) fn beyond(
    label: &str,
    values: &[Seeded],
    unit: &str,
    side: Side,
    bound: f64,
) -> Finding {
    Look::FIRST.beyond(label, values, unit, side, bound)
}

/// A timer has less of a quantity than others at an exponent, run by run over the same seeds.
pub(super) fn least(
    runs: &Runs<'_>,
    s: &str,
    own: Timer,
    others: &[Timer],
    of: impl Fn(&Runs<'_>, Timer, &str) -> Vec<Seeded>,
) -> Finding {
    let ours = of(runs, own, s);
    let mut outcome = if others.is_empty() { Outcome::Open } else { Outcome::Holds };
    let mut shown = with_interval(&format!("s = {s}: {}", own.label()), &ours, "");
    for other in others {
        let theirs = of(runs, *other, s);
        let more = joined(&theirs, &ours, |their, our| their - our);
        let found = Look::FIRST.sided(&more, Side::Above, 0.0);
        outcome = worse(outcome, found);
        shown += &format!(", {}", with_interval(&other.label(), &theirs, ""));
    }
    Finding { outcome, ours: shown }
}

fn worse(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::Fails, _) | (_, Outcome::Fails) => Outcome::Fails,
        (Outcome::Open, _) | (_, Outcome::Open) => Outcome::Open,
        _ => Outcome::Holds,
    }
}

/// A value is at most so many times the least mean of several, its own included.
pub(super) fn near_least(label: &str, own: &[Seeded], all: &[Vec<Seeded>], factor: f64) -> Finding {
    let means = all.iter().filter_map(|values| Some((estimate(values)?.mean, values)));
    let Some((_, best)) = means.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Finding::open(format!("{label}: no results"));
    };
    if own == best && are_enough(own) {
        return Finding { outcome: Outcome::Holds, ours: format!("{label}: the least") };
    }
    let over = quotient(own, best);
    beyond(&format!("{label}: over the least"), &over, "", Side::Below, factor)
}

/// A claim about every exponent that holds at all but `spared` of them.
pub(super) fn nearly_all(findings: Vec<Finding>, spared: usize) -> Finding {
    let mut failed = findings.iter().filter(|it| it.outcome != Outcome::Holds);
    let outcome = match failed.clone().count() {
        many if many <= spared && !findings.is_empty() => Outcome::Holds,
        _ if failed.any(|it| it.outcome == Outcome::Fails) => Outcome::Fails,
        _ => Outcome::Open,
    };
    let ours = findings.into_iter().map(|it| it.ours).collect::<Vec<_>>().join("; ");
    Finding { outcome, ours }
}

/// Values of one network at every exponent, as a sweep over the exponents.
pub(super) fn over_exponents(runs: &Runs<'_>, of: impl Fn(&str) -> Vec<Seeded>) -> Sweep {
    runs.exponents().iter().map(|s| (number(s), of(s))).collect()
}

/// A label, then a mean with its interval.
pub(super) fn with_interval(label: &str, values: &[Seeded], unit: &str) -> String {
    Look::FIRST.shown(label, values, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(mean: f64) -> Vec<Seeded> {
        (0..SEEDS as u64).map(|seed| (seed, mean + 0.01 * (seed % 3) as f64)).collect()
    }

    #[test]
    fn a_trend_is_judged_by_rank_correlation() {
        let sweep = vec![(0.0, runs(1.0)), (1.0, runs(2.0)), (2.0, runs(1.5)), (3.0, runs(3.0))];
        assert_eq!(monotone("x", &sweep, Way::Up).outcome, Outcome::Holds);
        assert_eq!(monotone("x", &sweep, Way::Down).outcome, Outcome::Fails);
        assert_eq!(monotone("x", &Vec::new(), Way::Up).outcome, Outcome::Open);
        let correlations = correlations(&sweep);
        assert!(correlations.iter().all(|(_, it)| (it - 0.8).abs() < 1e-9), "{correlations:?}");
    }

    #[test]
    fn third_look_is_surer_and_knows_equality() {
        let values = |mean: f64, spread: f64| -> Vec<Seeded> {
            (0..40).map(|seed| (seed, mean + spread * ((seed % 5) as f64 - 2.0))).collect()
        };
        let judged = |look: Look, values: &[Seeded]| {
            [Side::Above, Side::Below].map(|side| look.sided(values, side, 0.0))
        };
        use Outcome::{Fails, Holds, Open};
        // Half widths at 95 and 98.3 %: 0.46 and 0.57.
        assert_eq!(judged(Look::FIRST, &values(0.5, 1.0)), [Holds, Fails]);
        assert_eq!(judged(Look::THIRD, &values(0.5, 1.0)), [Open, Open]);
        assert_eq!(judged(Look::THIRD, &values(2.0, 1.0)), [Holds, Fails]);
        assert_eq!(judged(Look::THIRD, &values(0.1, 1.0)), [Fails, Fails]);
        assert_eq!(judged(Look::FIRST, &values(0.1, 1.0)), [Open, Open]);
        assert_eq!(judged(Look::THIRD_OF_TREND, &values(0.02, 0.1)), [Fails, Fails]);
        assert_eq!(judged(Look::THIRD_OF_TREND, &values(-0.3, 0.1)), [Fails, Holds]);
    }

    #[test]
    fn what_is_near_the_least_is_near_enough() {
        let all = [runs(1.0), runs(1.05), runs(2.0)];
        assert_eq!(near_least("x", &all[0], &all, 1.1).outcome, Outcome::Holds);
        assert_eq!(near_least("x", &all[1], &all, 1.1).outcome, Outcome::Holds);
        assert_eq!(near_least("x", &all[2], &all, 1.1).outcome, Outcome::Fails);
    }

    #[test]
    fn one_exception_may_be_spared() {
        let found = |outcome| Finding { outcome, ours: String::new() };
        let two = || vec![found(Outcome::Holds), found(Outcome::Fails)];
        assert_eq!(nearly_all(two(), 1).outcome, Outcome::Holds);
        assert_eq!(nearly_all(two(), 0).outcome, Outcome::Fails);
        assert_eq!(nearly_all(Vec::new(), 1).outcome, Outcome::Open);
    }
}
