//! Figures 4 to 10, Table 4: how fast an estimate should follow, and how many deviations it should add (C-12 to C-28).
use super::floor::millis;
use super::runs::{B, Runs, Timer, W, number};
use super::scenario::{MANY, MANY_CLASSES};
use super::timer::{BASIC, FACTORS, Gains, Jacobson};
use super::trend::{
    Look, Side, Sweep, Way, beyond, correlations, least, monotone, near_least, nearly_all,
    over_exponents, with_interval,
};
use crate::rule::{Finding, at_most, increasing, less, quotient, ratio, within};
use recoup_sim::statistic::Seeded;

/// A class with k = 4 and a floor in ms.
pub(super) fn class(gains: Gains, floor: u32) -> Timer {
    Jacobson { gains, k: 4, floor }.into()
}

/// A factor with gains and a floor in ms.
fn factored(gains: Gains, floor: u32, k: u32) -> Timer {
    Jacobson { gains, k, floor }.into()
}

fn over_classes(runs: &Runs<'_>, s: &str, metric: &str) -> Sweep {
    let of = |(rank, gains): (u32, Gains)| (f64::from(rank), runs.of(class(gains, 0), s, metric));
    let there = |(_, values): &(f64, Vec<Seeded>)| !values.is_empty();
    (0..).zip(Gains::ALL).map(of).filter(there).collect()
}

fn others(own: Gains, floor: u32, runs: &Runs<'_>) -> Vec<Timer> {
    let others = Gains::ALL.into_iter().filter(|gains| *gains != own);
    let there = |timer: &Timer| !runs.of(*timer, "1", B).is_empty();
    others.map(|gains| class(gains, floor)).filter(there).collect()
}

/// C-12.
pub(super) fn slow_is_accurate(runs: &Runs<'_>) -> Finding {
    let b = |s: &&str| monotone(&format!("s = {s}: B"), &over_classes(runs, s, B), Way::Up);
    let trend = Finding::all(runs.exponents().iter().map(b));
    let others = others(Gains::VerySlow, 0, runs);
    let lowest = |s: &&str| {
        least(runs, s, class(Gains::VerySlow, 0), &others, |runs, timer, s| runs.of(timer, s, B))
    };
    // One of five; where two were run, none.
    let spared = runs.exponents().len() / 5;
    trend.and(nearly_all(runs.exponents().iter().map(lowest).collect(), spared))
}

/// C-13.
pub(super) fn round_trips_converge(runs: &Runs<'_>) -> Finding {
    let of = |s: &str| millis(runs.of(class(Gains::VerySlow, 0), s, "all.rtt_sd_s"));
    monotone("deviation of round trips in ms over s", &over_exponents(runs, of), Way::Down)
}

/// C-14.
pub(super) fn timeouts_are_close(runs: &Runs<'_>) -> Finding {
    let of = |gains, metric| runs.longest(class(gains, 0), "1.5", metric);
    let slow = |metric| of(Gains::VerySlow, metric);
    let mean = slow("all.rtt_mean_s");
    let low = quotient(&slow("all.rto_p10_s"), &mean);
    let median = quotient(&slow("all.rto_p50_s"), &mean);
    let (own, fast) = (slow("all.rto_sd_s"), of(Gains::Fast, "all.rto_sd_s"));
    beyond("tenth percentile of RTO over mean RTT", &low, "", Side::Above, 1.0)
        .and(within("median", &median, "", 1.0, 2.0))
        .and(less(("deviation", &millis(own)), ("that of Fast", &millis(fast)), "ms"))
}

/// C-15.
pub(super) fn floor_hardly_matters(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let one = |what, metric| {
            let of = |floor| runs.of(class(Gains::VerySlow, floor), s, metric);
            ratio(&format!("s = {s}: {what}"), &of(100), &of(0), 0.8, 1.2)
        };
        one("B", B).and(one("W", W))
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// C-16.
pub(super) fn floor_helps_fast_ones(runs: &Runs<'_>) -> Finding {
    let mut all = Vec::new();
    for s in runs.exponents_from(1.5) {
        for gains in Gains::ALL.into_iter().filter(|gains| *gains != Gains::VerySlow) {
            let of = |floor| runs.of(class(gains, floor), s, B);
            let (with, without) = (of(100), of(0));
            if with.is_empty() && gains != Gains::Steady {
                continue;
            }
            let label = format!("s = {s}, {}: B with 100 ms", gains.name());
            all.push(less((&label, &with), ("without", &without), ""));
        }
    }
    Finding::all(all)
}

/// C-17: by the product of both faults.
pub(super) fn slow_is_best_at_little_popularity(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let (own, others) = (class(Gains::VerySlow, 100), others(Gains::VerySlow, 100, runs));
        least(runs, s, own, &others, |runs, timer, s| runs.cost(timer, s))
    };
    Finding::all(runs.exponents().iter().filter(|s| number(s) <= 1.25).map(at))
}

/// By how much the rate of a class exceeds that of Steady, both with 100 ms.
pub(super) fn benefit(runs: &Runs<'_>, gains: Gains, s: &str) -> Vec<Seeded> {
    runs.growth_in(MANY, class(gains, 100), class(Gains::Steady, 100), s)
}

/// C-18.
pub(super) fn slower_is_quicker(runs: &Runs<'_>, s: &str) -> Finding {
    let of = |gains| (gains, benefit(runs, gains, s));
    let fast = [of(Gains::VeryFast), of(Gains::Fast)];
    let slow = [of(Gains::Slow), of(Gains::VerySlow)];
    let steady = nothing(&fast[0].1);
    let all = fast.into_iter().chain([(Gains::Steady, steady)]).chain(slow);
    let all: Vec<_> = all.map(|(gains, values)| (gains.name(), values)).collect();
    increasing(&all, "%")
}

/// A class gains something on Steady, or at least loses nothing for certain.
fn not_below(gains: Gains, benefit: &[Seeded]) -> Finding {
    at_most((Gains::Steady.name(), &nothing(benefit)), (gains.name(), benefit), "%")
}

/// A gain of nothing with each of these seeds.
fn nothing(values: &[Seeded]) -> Vec<Seeded> {
    values.iter().map(|(seed, _)| (*seed, 0.0)).collect()
}

/// C-19, C-20: not below Steady, and below it.
pub(super) fn slow_gain_fast_lose(runs: &Runs<'_>, s: &str) -> Finding {
    let slow =
        [Gains::VerySlow, Gains::Slow].map(|gains| not_below(gains, &benefit(runs, gains, s)));
    let fast = [Gains::Fast, Gains::VeryFast]
        .map(|gains| beyond(gains.name(), &benefit(runs, gains, s), "%", Side::Below, 0.0));
    Finding::all(slow.into_iter().chain(fast))
}

/// The classes that Table 4 compares with Steady.
pub(super) const TABLE_4: [Gains; 4] = [Gains::VerySlow, Gains::Slow, Gains::Fast, Gains::VeryFast];

/// C-21.
pub(super) fn all_are_alike(runs: &Runs<'_>, s: &str) -> Finding {
    let one = |gains: Gains| within(gains.name(), &benefit(runs, gains, s), "%", -2.0, 2.0);
    Finding::all(TABLE_4.map(one))
}

/// C-22.
pub(super) fn all_lose(runs: &Runs<'_>, s: &str) -> Finding {
    let one = |gains: Gains| beyond(gains.name(), &benefit(runs, gains, s), "%", Side::Below, 0.0);
    let of = |gains| benefit(runs, gains, s);
    let (slow, fast) = (of(Gains::VerySlow), of(Gains::VeryFast));
    let all = Finding::all(TABLE_4.map(one));
    all.and(at_most((Gains::VerySlow.name(), &slow), (Gains::VeryFast.name(), &fast), "%"))
}

/// C-23.
pub(super) fn benefit_falls(runs: &Runs<'_>) -> Finding {
    const LABEL: &str = "benefit of Very Slow in % over s";
    if runs.has(MANY_CLASSES) {
        let sweep = over_exponents(runs, |s| slowness(runs, s));
        return Look::THIRD_OF_TREND.monotone(LABEL, &sweep, Way::Down);
    }
    let sweep = over_exponents(runs, |s| benefit(runs, Gains::VerySlow, s));
    monotone(LABEL, &sweep, Way::Down)
}

/// [`benefit`] of Very Slow, with as many seeds as there are at every exponent.
pub(super) fn slowness(runs: &Runs<'_>, s: &str) -> Vec<Seeded> {
    runs.growth_in(MANY_CLASSES, class(Gains::VerySlow, 100), class(Gains::Steady, 100), s)
}

/// Values over the factors of one of Figures 7 to 10.
fn over_factors(runs: &Runs<'_>, (gains, floor): (Gains, u32), s: &str, metric: &str) -> Sweep {
    let of = |k| (f64::from(k), runs.of(factored(gains, floor, k), s, metric));
    let there = |(_, values): &(f64, Vec<Seeded>)| !values.is_empty();
    FACTORS.map(of).into_iter().filter(there).collect()
}

/// C-24.
pub(super) fn factor_trades(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let over = |metric| over_factors(runs, (Gains::Steady, 0), s, metric);
        let b = monotone(&format!("s = {s}: B over k"), &over(B), Way::Down);
        b.and(monotone("W", &over(W), Way::Up))
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// C-25.
pub(super) fn factor_raises_both(runs: &Runs<'_>) -> Finding {
    let at = |s| {
        let of = |metric| correlations(&over_factors(runs, (Gains::Steady, 100), s, metric));
        let both = with_interval(", with W", &of(W), "");
        with_interval(&format!("s = {s}: rank correlation of k with B"), &of(B), "") + &both
    };
    Finding::open(runs.exponents_from(1.5).map(at).collect::<Vec<_>>().join("; "))
}

/// W of Very Slow without a floor.
fn waits(runs: &Runs<'_>, k: u32, s: &str) -> Vec<Seeded> {
    runs.of(factored(Gains::VerySlow, 0, k), s, W)
}

/// C-26: a large k does not make W larger where popularity is high.
pub(super) fn large_factor_costs_little_at_much_popularity(runs: &Runs<'_>) -> Finding {
    let at = |s| waits(runs, 8, s);
    at_most(("W(k = 8) at s = 2", &at("2")), ("s = 1", &at("1")), "")
}

/// C-26 until 28 November 2026: what a larger k adds to W.
pub(super) fn larger_factor_adds_less(runs: &Runs<'_>) -> Finding {
    let ratio = |s| quotient(&waits(runs, 8, s), &waits(runs, 4, s));
    less(("W(k = 8)/W(k = 4) at s = 2", &ratio("2")), ("s = 1", &ratio("1")), "")
}

/// C-27.
pub(super) fn deviation_falls(runs: &Runs<'_>) -> Finding {
    let one = |(name, timer): (&str, Timer)| {
        let of = |s: &str| millis(runs.of(timer, s, "all.rttvar_mean_s"));
        let label = format!("{name}: mean deviation in ms over s");
        monotone(&label, &over_exponents(runs, of), Way::Down)
    };
    let very_slow = class(Gains::VerySlow, 0);
    one(("Steady", BASIC.into())).and(one(("Very Slow", very_slow)))
}

/// C-28: by the product of both faults.
pub(super) fn six_is_near_the_best(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let cost = |k| runs.cost(factored(Gains::VerySlow, 100, k), s);
        near_least(&format!("s = {s}, k = 6"), &cost(6), &FACTORS.map(cost), 1.1)
    };
    Finding::all(runs.exponents().iter().map(at))
}
