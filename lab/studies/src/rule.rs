//! The rules by which claims are judged: means over seeds with 95 % confidence intervals, and paired
//! differences or quotients where two algorithms met the same seeds.
//!
//! A rule never claims more than the runs show. Without results, with fewer than [`SEEDS`] seeds, or with an interval
//! that covers both answers, the claim stays open. Two means are equal if the whole interval of their difference is
//! within [`EQUAL`] of the larger one (two one-sided tests; Schuirmann 1987): then neither is less.
use crate::claim::{Claim, Outcome, Verdict};
use recoup_sim::statistic::{Estimate, Seeded, mean, paired, student};
use std::collections::BTreeSet;

/// Seeds that a judgement needs.
pub const SEEDS: usize = 20;
/// Confidence of every interval.
pub const LEVEL: f64 = 0.95;
/// Confidence of the intervals of a claim that was looked at three times: with 20 seeds, and with more each time that it was
/// left open. One of three is a chance find as seldom as one of [`LEVEL`] alone (Bonferroni; Dunn 1961).
pub const THIRD_LOOK: f64 = 1.0 - (1.0 - LEVEL) / 3.0;
/// [`THIRD_LOOK`] for the fourth.
pub const FOURTH_LOOK: f64 = 1.0 - (1.0 - LEVEL) / 4.0;
/// Share of a mean below which a difference is none.
pub const EQUAL: f64 = 0.01;

/// Mean and interval of values by seed.
pub fn estimate(values: &[Seeded]) -> Option<Estimate> {
    let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    Estimate::of(&values, LEVEL)
}

/// Values in another unit.
pub(crate) fn scaled(values: Vec<Seeded>, factor: f64) -> Vec<Seeded> {
    values.into_iter().map(|(seed, value)| (seed, value * factor)).collect()
}

/// A mean and its interval, as text: with the digits that the interval justifies, its half width rounded
/// up.
pub fn text(estimate: &Estimate, unit: &str) -> String {
    let Estimate { mean, half_width, .. } = *estimate;
    let places = match half_width {
        _ if !half_width.is_finite() => usize::from(mean.abs() < 1000.0),
        size if size >= 10.0 => 0,
        size if size >= 1.0 => 1,
        size if size >= 0.1 => 2,
        _ if mean.abs() >= 1000.0 => 1,
        _ => 3,
    };
    let (scale, half) = ([1.0, 10.0, 100.0, 1000.0][places], half_width);
    let half = (half * scale - 1e-9).ceil() / scale;
    let half = match half {
        half if !half.is_finite() => " (one run)".to_owned(),
        half if half <= 0.0 => String::new(),
        half => format!(" ± {half:.places$}"),
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{mean:.places$}{half}{unit}")
}

/// Result of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The judgement.
    pub outcome: Outcome,
    /// Summary of the runs.
    pub ours: String,
}

impl Finding {
    /// An open finding, with the reason.
    pub fn open(why: impl Into<String>) -> Self {
        Self { outcome: Outcome::Open, ours: why.into() }
    }

    /// The conjunction: each finding must hold.
    pub fn all(findings: impl IntoIterator<Item = Self>) -> Self {
        let together = findings.into_iter().reduce(Self::and);
        together.unwrap_or_else(|| Self::open("nothing to judge"))
    }

    /// This finding, with a label in front of its summary.
    #[must_use]
    pub fn labelled(self, label: &str) -> Self {
        Self { ours: format!("{label}: {}", self.ours), ..self }
    }

    /// This finding, with a note that does not change the judgement.
    #[must_use]
    pub fn beside(self, more: &str) -> Self {
        Self { ours: format!("{}; {more}", self.ours), ..self }
    }

    /// This finding, with that of another reading of the paper's sentence beside it, which does not count.
    #[must_use]
    pub fn with_second_reading(self, reading: &str, other: &Self) -> Self {
        self.beside(&format!(
            "second reading, {reading}: {} ({})",
            other.outcome.word(),
            other.ours
        ))
    }

    /// Order of outcomes: the least decides a conjunction, the greatest a disjunction.
    fn rank(&self) -> u8 {
        match self.outcome {
            Outcome::Fails => 0,
            Outcome::Open => 1,
            Outcome::Reported => 2,
            Outcome::Holds => 3,
        }
    }

    /// This finding and another one: both must hold. The summary begins with the one that decides.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (first, then) = if other.rank() < self.rank() { (other, self) } else { (self, other) };
        Self { outcome: first.outcome, ours: format!("{}; {}", first.ours, then.ours) }
    }

    /// The better one of two findings, of which one must hold.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

/// Whether values come from as many seeds as a judgement needs; several values of one seed count
/// once.
pub fn are_enough(values: &[Seeded]) -> bool {
    values.iter().map(|(seed, _)| *seed).collect::<BTreeSet<_>>().len() >= SEEDS
}

/// The mean lies in `low..=high`: its whole interval does. If a quantity has a natural bound on one side, pass an
/// infinite bound there, since the interval would reach beyond the natural one.
pub fn within(label: &str, values: &[Seeded], unit: &str, low: f64, high: f64) -> Finding {
    let Some(estimate) = estimate(values) else {
        return Finding::open(format!("{label}: no results"));
    };
    let outcome = if are_enough(values) { inside(&estimate, low, high) } else { Outcome::Open };
    Finding { outcome, ours: format!("{label} {}", text(&estimate, unit)) }
}

/// Whether an interval lies in `low..=high`; open if it covers an end of that range.
fn inside(estimate: &Estimate, low: f64, high: f64) -> Outcome {
    match (estimate.low() >= low && estimate.high() <= high, estimate) {
        (true, _) => Outcome::Holds,
        (_, it) if it.high() < low || it.low() > high => Outcome::Fails,
        _ => Outcome::Open,
    }
}

/// The ratio of two series, seed by seed, lies in `low..=high`: the interval of its geometric mean does. On a
/// logarithmic scale twice and half are equally far from one, and a single very slow run does not outweigh all others.
/// If a value is 0, which has no logarithm, the mean of the quotients decides.
pub fn ratio(label: &str, above: &[Seeded], below: &[Seeded], low: f64, high: f64) -> Finding {
    let quotients = quotient(above, below);
    if quotients.iter().any(|(_, it)| *it <= 0.0) {
        return within(label, &quotients, "", low, high);
    }
    let logs: Vec<_> = quotients.iter().map(|(seed, it)| (*seed, it.ln())).collect();
    let Some(log) = estimate(&logs) else {
        return Finding::open(format!("{label}: no results"));
    };
    let outcome =
        if are_enough(&logs) { inside(&log, low.max(0.0).ln(), high.ln()) } else { Outcome::Open };
    let mean = log.mean.exp();
    // The wider side of the interval.
    let shown = Estimate { mean, half_width: mean * log.half_width.exp_m1(), ..log };
    Finding { outcome, ours: format!("{label} {}", text(&shown, "")) }
}

/// The ratio of two series of different seeds lies in `low..=high`: the interval of the quotient of their geometric
/// means does (Welch 1947, on a logarithmic scale).
pub fn ratio_apart(
    label: &str,
    above: &[Seeded],
    below: &[Seeded],
    low: f64,
    high: f64,
) -> Finding {
    let logs = |values: &[Seeded]| {
        let logs: Vec<_> = values.iter().map(|(seed, it)| (*seed, it.ln())).collect();
        estimate(&logs).filter(|it| it.count > 1)
    };
    let Some((ours, theirs)) = logs(above).zip(logs(below)) else {
        return Finding::open(format!("{label}: no results"));
    };
    let apart = apart(&ours, &theirs);
    let is_enough = are_enough(above) && are_enough(below);
    let outcome = if is_enough { inside(&apart, low.ln(), high.ln()) } else { Outcome::Open };
    let mean = apart.mean.exp();
    let shown = Estimate { mean, half_width: mean * apart.half_width.exp_m1(), ..apart };
    Finding { outcome, ours: format!("{label} {}", text(&shown, "")) }
}

/// The difference of two means of unpaired values.
fn apart(ours: &Estimate, theirs: &Estimate) -> Estimate {
    let of_mean = |it: &Estimate| it.sd * it.sd / it.count as f64;
    let (one, other) = (of_mean(ours), of_mean(theirs));
    let part = |it: &Estimate| of_mean(it) * of_mean(it) / (it.count - 1) as f64;
    let freedom = (one + other) * (one + other) / (part(ours) + part(theirs));
    let sd = (one + other).sqrt();
    let half_width =
        if sd > 0.0 { sd * student::quantile(0.5 + LEVEL / 2.0, freedom) } else { 0.0 };
    let count = ours.count.min(theirs.count);
    Estimate { count, mean: ours.mean - theirs.mean, sd, half_width }
}

/// Every single value lies in `low..=high`.
pub fn always(label: &str, values: &[Seeded], low: f64, high: f64) -> Finding {
    let (all, outside) =
        (values.len(), values.iter().filter(|(_, value)| !(low..=high).contains(value)).count());
    let outcome = match outside {
        0 if !are_enough(values) => Outcome::Open,
        0 => Outcome::Holds,
        _ => Outcome::Fails,
    };
    let ours = match (all, outside) {
        (0, _) => format!("{label}: no results"),
        (_, 0) => format!("{label}: all of {all} runs"),
        _ => format!("{label}: not {outside} of {all} runs"),
    };
    Finding { outcome, ours }
}

/// Run by run over the same seeds, each is less than the next: the interval of the mean difference lies
/// above zero.
pub fn increasing(series: &[(&str, Vec<Seeded>)], unit: &str) -> Finding {
    increasing_at(LEVEL, series, unit)
}

/// [`increasing`] with the confidence of the intervals of differences.
pub fn increasing_at(level: f64, series: &[(&str, Vec<Seeded>)], unit: &str) -> Finding {
    let pairs = series
        .windows(2)
        .map(|pair| less_at(level, (pair[0].0, &pair[0].1), (pair[1].0, &pair[1].1), unit));
    let Some(found) = pairs.reduce(Finding::and) else {
        return Finding::open("nothing to compare");
    };
    let one = |(name, values): &(&str, Vec<Seeded>)| {
        let mean = estimate(values).map_or_else(|| "no results".into(), |it| text(&it, unit));
        format!("{name} {mean}")
    };
    let mut ours = series.first().map(one).unwrap_or_default();
    for pair in series.windows(2) {
        ours += &format!(" {} {}", sign(paired(&pair[1].1, &pair[0].1, level)), one(&pair[1]));
    }
    Finding { outcome: found.outcome, ours }
}

/// The relation of two series by the interval of their difference: `≈` if it covers zero.
fn sign(difference: Option<Estimate>) -> &'static str {
    match difference {
        Some(it) if it.high() < 0.0 => ">",
        Some(it) if it.low() > 0.0 => "<",
        Some(_) => "≈",
        None => "?",
    }
}

/// Run by run over the same seeds, the first is less than the second: the interval of the mean
/// difference lies above zero. It fails if that lies on the other side, or if both are equal.
pub fn less(first: (&str, &[Seeded]), second: (&str, &[Seeded]), unit: &str) -> Finding {
    less_at(LEVEL, first, second, unit)
}

/// [`less`] with the confidence of the interval of the difference.
pub fn less_at(
    level: f64,
    first: (&str, &[Seeded]),
    second: (&str, &[Seeded]),
    unit: &str,
) -> Finding {
    let (Some(difference), Some(left), Some(right)) =
        (paired(second.1, first.1, level), estimate(first.1), estimate(second.1))
    else {
        return Finding::open(format!("{} < {}: no results", first.0, second.0));
    };
    let outcome = match difference {
        _ if difference.count < SEEDS => Outcome::Open,
        _ if difference.low() > 0.0 => Outcome::Holds,
        _ if difference.high() <= 0.0 => Outcome::Fails,
        _ if are_equal(&difference, &left, &right) => Outcome::Fails,
        _ => Outcome::Open,
    };
    let (left, right) = (text(&left, unit), text(&right, unit));
    let sign = sign(Some(difference));
    Finding { outcome, ours: format!("{} {left} {sign} {} {right}", first.0, second.0) }
}

/// Whether two means are equal, by their difference.
fn are_equal(difference: &Estimate, one: &Estimate, other: &Estimate) -> bool {
    let margin = EQUAL * one.mean.abs().max(other.mean.abs());
    difference.low() >= -margin && difference.high() <= margin
}

/// Run by run over the same seeds, the first is not more than the second: this fails only if the interval of the mean
/// difference lies on the other side of zero.
pub fn at_most(first: (&str, &[Seeded]), second: (&str, &[Seeded]), unit: &str) -> Finding {
    let outcome = match paired(second.1, first.1, LEVEL) {
        Some(it) if it.count < SEEDS => Outcome::Open,
        Some(it) if it.high() < 0.0 => Outcome::Fails,
        Some(_) => Outcome::Holds,
        None => Outcome::Open,
    };
    Finding { outcome, ..less(first, second, unit) }
}

/// Two series combined seed by seed.
pub fn joined(first: &[Seeded], second: &[Seeded], with: impl Fn(f64, f64) -> f64) -> Vec<Seeded> {
    let other = |seed: u64| second.iter().find(|(it, _)| *it == seed).map(|(_, value)| *value);
    first.iter().filter_map(|(seed, value)| Some((*seed, with(*value, other(*seed)?)))).collect()
}

/// The mean of values by seed.
pub fn mean_of(values: &[Seeded]) -> Option<f64> {
    mean(&values.iter().map(|(_, value)| *value).collect::<Vec<_>>())
}

/// The quotient of the values of two series, seed by seed.
pub fn quotient(above: &[Seeded], below: &[Seeded]) -> Vec<Seeded> {
    let mut quotients = Vec::new();
    for (seed, value) in above {
        if let Some((_, other)) = below.iter().find(|(it, _)| it == seed)
            && *other != 0.0
        {
            quotients.push((*seed, value / other));
        }
    }
    quotients
}

/// The verdict on `claim`, from what its rule found. Only classes R and M are judged.
pub fn verdict(claim: &Claim, finding: Finding, why: impl Into<String>) -> Verdict {
    use crate::claim::Class;
    let verdict = match claim.class {
        Class::R | Class::M => finding.outcome,
        Class::T | Class::X => Outcome::Reported,
    };
    let mut why = why.into();
    if verdict == Outcome::Open {
        why.insert_str(0, "Undecided: too few runs, or an interval that holds both answers. ");
    }
    if claim.used_for_inference() {
        why.push_str(" This claim helped to fix what the paper leaves open; it does not gate.");
    }
    Verdict {
        id: claim.id.clone(),
        class: claim.class,
        verdict,
        paper: claim.reported.clone(),
        ours: finding.ours,
        why,
        former: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(mean: f64, spread: f64) -> Vec<Seeded> {
        (0..SEEDS as u64).map(|seed| (seed, mean + spread * (seed % 2) as f64)).collect()
    }

    #[test]
    fn third_look_needs_a_wider_interval() {
        // ± 0.24 at the first look, ± 0.30 at the third.
        let look = |level, by| {
            let (first, second) = (runs(1.0, 0.0), runs(0.5 + by, 1.0));
            less_at(level, ("a", &first), ("b", &second), "").outcome
        };
        assert_eq!((look(LEVEL, 0.35), look(THIRD_LOOK, 0.35)), (Outcome::Holds, Outcome::Holds));
        assert_eq!((look(LEVEL, 0.27), look(THIRD_LOOK, 0.27)), (Outcome::Holds, Outcome::Open));
    }

    #[test]
    fn better_of_two_findings_counts() {
        let finding = |outcome| Finding { outcome, ours: outcome.word().into() };
        let [holds, open, fails] = [Outcome::Holds, Outcome::Open, Outcome::Fails].map(finding);
        assert_eq!(fails.clone().or(holds.clone()), holds);
        assert_eq!(holds.clone().or(open.clone()), holds);
        assert_eq!(open.clone().or(fails), open);
    }

    #[test]
    fn mean_near_the_edge_stays_open() {
        // 10 ± 0.47.
        let near = |low, high| within("t", &runs(9.0, 2.0), "s", low, high).outcome;
        assert_eq!(near(9.0, 11.0), Outcome::Holds);
        assert_eq!(near(9.7, 11.0), Outcome::Open);
        assert_eq!(near(10.2, 11.0), Outcome::Open);
        assert_eq!(near(10.6, 11.0), Outcome::Fails);
        assert_eq!(near(f64::NEG_INFINITY, 10.6), Outcome::Holds);
    }

    #[test]
    fn repeated_values_of_few_seeds_are_not_enough() {
        let few: Vec<_> = (0..60).map(|it| (it % 7, 1.0)).collect();
        assert_eq!(within("t", &few, "", 0.0, 2.0).outcome, Outcome::Open);
        assert_eq!(always("t", &few, 0.0, 2.0).outcome, Outcome::Open);
        assert_eq!(always("t", &few, 2.0, 3.0).outcome, Outcome::Fails);
    }

    #[test]
    fn quotients_are_judged_on_a_logarithmic_scale() {
        // Every run takes 4 or 6 times as long, but one that takes 300 times.
        let below = runs(1.0, 0.0);
        let mut above = runs(4.0, 2.0);
        above[0].1 = 300.0;
        let plain = within("t", &quotient(&above, &below), "", 1.05, f64::INFINITY);
        assert_eq!(plain.outcome, Outcome::Open, "{}", plain.ours);
        let found = ratio("t", &above, &below, 1.05, f64::INFINITY);
        assert_eq!(found.outcome, Outcome::Holds, "{}", found.ours);
        assert_eq!(ratio("t", &below, &above, 0.0, 0.95).outcome, Outcome::Holds);
        assert_eq!(ratio("t", &below, &above, 0.95, 1.0).outcome, Outcome::Fails);
        // Where one series is empty or has a 0 there is no logarithm.
        assert_eq!(ratio("t", &above, &[], 0.0, 1.0).outcome, Outcome::Open);
        assert_eq!(ratio("t", &runs(0.0, 1.0), &below, 0.0, 1.0).ours, "t 0.50 ± 0.25");
    }

    #[test]
    fn unpaired_quotients_are_judged_by_both_spreads() {
        // Logarithms 1 ± 0.1 and 0 ± 0.4: Welch's interval is 1 ± 0.197 with 21.4 degrees of freedom.
        let series = |middle: f64, spread: f64, first: u64| -> Vec<Seeded> {
            let at =
                |seed: u64| if seed.is_multiple_of(2) { middle - spread } else { middle + spread };
            (first..first + SEEDS as u64).map(|seed| (seed, at(seed).exp())).collect()
        };
        let (above, below) = (series(1.0, 0.1, 0), series(0.0, 0.4, 100));
        let judged =
            |low: f64, high: f64| ratio_apart("t", &above, &below, low.exp(), high.exp()).outcome;
        assert_eq!(judged(0.80, 1.20), Outcome::Holds);
        assert_eq!(judged(0.81, 1.20), Outcome::Open);
        assert_eq!(judged(1.19, 2.0), Outcome::Open);
        assert_eq!(judged(1.20, 2.0), Outcome::Fails);
        assert_eq!(ratio_apart("t", &above[1..], &below, 0.0, 9.0).outcome, Outcome::Open);
        assert_eq!(ratio_apart("t", &above, &above, 1.0, 1.0).outcome, Outcome::Open);
        let alike = runs(3.0, 0.0);
        assert_eq!(ratio_apart("t", &alike, &alike, 1.0, 1.0).outcome, Outcome::Holds);
        assert_eq!(ratio_apart("t", &above, &[], 0.0, 9.0).ours, "t: no results");
    }

    #[test]
    fn mean_outside_fails_and_few_seeds_stay_open() {
        assert_eq!(within("t", &runs(10.0, 0.1), "s", 9.0, 11.0).outcome, Outcome::Holds);
        assert_eq!(within("t", &runs(12.0, 0.1), "s", 9.0, 11.0).outcome, Outcome::Fails);
        assert_eq!(within("t", &runs(10.0, 0.1)[1..], "s", 9.0, 11.0).outcome, Outcome::Open);
        assert_eq!(within("t", &[], "s", 9.0, 11.0).outcome, Outcome::Open);
    }

    #[test]
    fn an_ordering_is_judged_by_paired_differences() {
        let (small, large) = (runs(10.0, 5.0), runs(10.5, 5.0));
        assert_eq!(less(("a", &small), ("b", &large), "s").outcome, Outcome::Holds);
        assert_eq!(less(("b", &large), ("a", &small), "s").outcome, Outcome::Fails);
        let mut mixed = small.clone();
        mixed
            .iter_mut()
            .for_each(|(seed, value)| *value += if *seed % 3 == 0 { 4.0 } else { -2.0 });
        assert_eq!(less(("a", &small), ("c", &mixed), "s").outcome, Outcome::Open);
    }

    #[test]
    fn equal_means_are_not_ordered() {
        let one = runs(10.0, 0.01);
        let other = |by: f64| -> Vec<Seeded> {
            one.iter()
                .map(|(seed, it)| (*seed, it + if seed % 2 == 0 { by } else { -by }))
                .collect()
        };
        let outcome = |other: &[Seeded]| less(("a", &one), ("b", other), "s").outcome;
        assert_eq!(outcome(&other(0.1)), Outcome::Fails);
        assert_eq!(outcome(&other(1.0)), Outcome::Open);
        assert_eq!(outcome(&other(0.1)[1..]), Outcome::Open);
        assert_eq!(at_most(("a", &one), ("b", &other(0.1)), "s").outcome, Outcome::Holds);
        assert_eq!(at_most(("a", &one), ("a", &one), "s").outcome, Outcome::Holds);
    }

    #[test]
    fn at_most_fails_only_if_more() {
        let (small, large) = (runs(10.0, 5.0), runs(10.5, 5.0));
        let at_most = |a: &[Seeded], b: &[Seeded]| at_most(("a", a), ("b", b), "s").outcome;
        assert_eq!(at_most(&small, &large), Outcome::Holds);
        assert_eq!(at_most(&large, &small), Outcome::Fails);
        let mut mixed = small.clone();
        mixed
            .iter_mut()
            .for_each(|(seed, value)| *value += if *seed % 3 == 0 { 4.0 } else { -2.0 });
        assert_eq!(at_most(&small, &mixed), Outcome::Holds);
        assert_eq!(at_most(&mixed, &small), Outcome::Holds);
        assert_eq!(at_most(&small[1..], &mixed), Outcome::Open);
    }

    #[test]
    fn mean_is_shown_with_justified_digits() {
        let shown = |mean, half_width| text(&Estimate { count: 3, mean, sd: 0.0, half_width }, "s");
        assert_eq!(shown(24.714_3, 0.326), "24.71 ± 0.33 s");
        assert_eq!(shown(23.790_4, 0.000_2), "23.790 ± 0.001 s");
        assert_eq!(shown(4_986.7, 12.3), "4987 ± 13 s");
        assert_eq!(shown(4_986.7, 0.02), "4986.7 ± 0.1 s");
        assert_eq!(shown(32.0, 0.0), "32.000 s");
        assert_eq!(shown(24.71, f64::INFINITY), "24.7 (one run) s");
    }

    #[test]
    fn order_of_three_needs_both_steps() {
        let order = |last| {
            let series = [("a", runs(1.0, 0.1)), ("b", runs(2.0, 0.1)), ("c", runs(last, 0.1))];
            increasing(&series, "s")
        };
        assert_eq!(order(3.0).outcome, Outcome::Holds);
        assert_eq!(order(1.5).outcome, Outcome::Fails);
        assert_eq!(order(2.0).outcome, Outcome::Fails);
        assert!(order(3.0).ours.starts_with("a 1.05"), "{}", order(3.0).ours);
        assert_eq!(order(3.0).ours.matches(" < ").count(), 2);
    }

    #[test]
    fn of_two_findings_the_worse_one_counts() {
        let (holds, fails) = (
            within("t", &runs(1.0, 0.0), "", 0.0, 2.0),
            Finding { outcome: Outcome::Fails, ours: "no".into() },
        );
        let both = holds.clone().and(fails.clone());
        assert_eq!((both.outcome, both.ours.as_str()), (Outcome::Fails, "no; t 1.000"));
        assert_eq!(Finding::all([holds.clone(), fails, holds.clone()]).outcome, Outcome::Fails);
        assert_eq!(Finding::all([]).outcome, Outcome::Open);
        let read = holds.clone().with_second_reading("means", &Finding::open("none"));
        assert_eq!(read.outcome, Outcome::Holds);
        assert_eq!(read.ours, "t 1.000; second reading, means: undecided (none)");
        let shown = holds.labelled("x").beside("y");
        assert_eq!((shown.outcome, shown.ours.as_str()), (Outcome::Holds, "x: t 1.000; y"));
    }
}
