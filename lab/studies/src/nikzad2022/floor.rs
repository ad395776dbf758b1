//! Figures 2 and 3, Table 3: what the shortest timeout does (C-01 to C-11b, C-36).
use super::runs::{B, Runs, W, joined, number};
use super::scenario::MANY_FLOORS;
use super::timer::{BASIC, FLOORS, floored};
use super::trend::{
    Look, Side, Sweep, Way, beyond, monotone, near_least, over_exponents, with_interval,
};
use crate::rule::{Finding, always, less, quotient, scaled, within};
use recoup_sim::statistic::Seeded;

/// Bad timeouts, and Interests, as numbers.
const BAD: &str = "all.bad_timeouts";
const INTERESTS: &str = "all.interests";

/// The floors of these runs, up to the longest that the first claim is about.
fn to_200(runs: &Runs<'_>) -> impl Iterator<Item = u32> {
    let has = move |floor: &u32| !runs.of(floored(*floor).into(), "1", B).is_empty();
    FLOORS.into_iter().filter(|floor| *floor <= 200).filter(has)
}

fn over_floors(runs: &Runs<'_>, s: &str, metric: &str) -> Sweep {
    let of = |floor| (f64::from(floor), runs.of(floored(floor).into(), s, metric));
    to_200(runs).map(of).collect()
}

/// C-01.
pub(super) fn fewer_bad_ones_cost_more(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let b = monotone(&format!("s = {s}: B"), &over_floors(runs, s, B), Way::Down);
        b.and(monotone("W", &over_floors(runs, s, W), Way::Up))
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// C-02.
pub(super) fn none_is_bad_from_200_ms(runs: &Runs<'_>) -> Finding {
    let long = FLOORS.into_iter().filter(|floor| *floor >= 200);
    let bad = |s: &'static str| {
        let of = move |floor: u32| (floor, runs.of(floored(floor).into(), s, B));
        let there = long.clone().map(of).filter(|(_, values)| !values.is_empty());
        there.map(move |(floor, b)| {
            within(&format!("s = {s}, {floor} ms: B"), &b, "", f64::NEG_INFINITY, 0.01)
        })
    };
    let w = |floor: u32, s: &str| runs.of(floored(floor).into(), s, W);
    let rises = |s: &&'static str| less(("W at 100 ms", &w(100, s)), ("200 ms", &w(200, s)), "");
    let all = runs.exponents().iter().copied().flat_map(bad);
    Finding::all(all.chain(runs.exponents().iter().map(rises)))
}

/// C-03: where both are brought to the scale of the sweep, the distance from having neither fault.
pub(super) fn is_a_balance(runs: &Runs<'_>) -> Finding {
    let at = |s: &&str| {
        let (b, w) = (over_floors(runs, s, B), over_floors(runs, s, W));
        let (b, w) = (scaled_to_one(&b), scaled_to_one(&w));
        let distance =
            |(b, w): (&Vec<Seeded>, &Vec<Seeded>)| joined(b, w, |b, w| (b * b + w * w).sqrt());
        let distances: Vec<_> = b.iter().zip(&w).map(distance).collect();
        let own = to_200(runs).position(|floor| floor == 100);
        let own = own.and_then(|place| distances.get(place)).cloned().unwrap_or_default();
        near_least(&format!("s = {s}"), &own, &distances, 1.1)
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// Each value between the least (0) and the greatest (1) mean of the sweep.
fn scaled_to_one(sweep: &Sweep) -> Vec<Vec<Seeded>> {
    let mean = |values: &Vec<Seeded>| {
        values.iter().map(|(_, value)| value).sum::<f64>() / values.len().max(1) as f64
    };
    let means: Vec<f64> = sweep.iter().map(|(_, values)| mean(values)).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = |(seed, value): &Seeded| (*seed, (value - least) / (most - least).max(1e-12));
    sweep.iter().map(|(_, values)| values.iter().map(scale).collect()).collect()
}

/// By how much the rate grows with a floor.
pub(super) fn growth(runs: &Runs<'_>, floor: u32, s: &str) -> Vec<Seeded> {
    runs.growth(floored(floor).into(), BASIC.into(), s)
}

/// C-04, C-05: both floors help, the longer one more.
pub(super) fn longer_is_better(runs: &Runs<'_>, s: &str) -> Finding {
    let (short, long) = (growth(runs, 100, s), growth(runs, 200, s));
    let first = beyond("100 ms", &short, "%", Side::Above, 0.0);
    let second = beyond("200 ms", &long, "%", Side::Above, 0.0);
    first.and(second).and(less(("100 ms", &short), ("200 ms", &long), "%"))
}

/// C-06a, C-07a, C-08a: the shorter one helps, the longer one does harm.
pub(super) fn longer_does_harm(runs: &Runs<'_>, s: &str) -> Finding {
    let short = beyond("100 ms", &growth(runs, 100, s), "%", Side::Above, 0.0);
    short.and(beyond("200 ms", &growth(runs, 200, s), "%", Side::Below, 0.0))
}

/// C-06b, C-07b, C-08b: how much harm.
pub(super) fn harm(runs: &Runs<'_>, s: &str) -> Finding {
    let long = growth(runs, 200, s);
    Finding::open(with_interval("100 ms", &growth(runs, 100, s), "%"))
        .beside(&with_interval("200 ms", &long, "%"))
}

/// C-09: which of the two floors is better at little and at much popularity.
pub(super) fn best_changes(runs: &Runs<'_>) -> Finding {
    let has_many = runs.has(MANY_FLOORS);
    let at = |s: &&'static str| {
        let side = if number(s) <= 1.25 { Side::Above } else { Side::Below };
        let label = format!("s = {s}: 200 ms over 100 ms by");
        if has_many {
            return Look::THIRD.beyond(&label, &doubled(runs, s), "%", side, 0.0);
        }
        let (short, long) = (growth(runs, 100, s), growth(runs, 200, s));
        let by = joined(&long, &short, |long, short| long - short);
        beyond(&label, &by, "points", side, 0.0)
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// By how much the rate grows from 100 to 200 ms, with as many seeds as there are.
pub(super) fn doubled(runs: &Runs<'_>, s: &str) -> Vec<Seeded> {
    runs.growth_in(MANY_FLOORS, floored(200).into(), floored(100).into(), s)
}

const RTT: [&str; 3] = ["all.rtt_p25_s", "all.rtt_p50_s", "all.rtt_p75_s"];

fn spread(runs: &Runs<'_>, s: &str) -> Vec<Seeded> {
    let of = |metric| runs.of(floored(100).into(), s, metric);
    joined(&of(RTT[2]), &of(RTT[0]), |high, low| 1e3 * (high - low))
}

/// C-10a.
pub(super) fn round_trips_gather(runs: &Runs<'_>) -> Finding {
    let sweep = over_exponents(runs, |s| spread(runs, s));
    monotone("inter-quartile range in ms over s", &sweep, Way::Down)
}

/// C-10b.
pub(super) fn quartiles(runs: &Runs<'_>) -> Finding {
    let of = |s: &str, metric| millis(runs.of(floored(100).into(), s, metric));
    let at = |s| RTT.map(|metric| with_interval("", &of(s, metric), "ms")).join(",");
    Finding::open(format!("quartiles at s = 1:{}; at s = 2:{}", at("1"), at("2")))
}

/// C-11a.
pub(super) fn first_timeouts(runs: &Runs<'_>) -> Finding {
    let of = |s: &str, metric| millis(runs.of(floored(100).into(), s, metric));
    let at = |s: &&str| {
        let (low, high) = (of(s, "all.rto_p05_s"), of(s, "all.rto_p95_s"));
        with_interval(&format!("s = {s}: 5 %"), &low, "ms") + &with_interval(", 95 %", &high, "ms")
    };
    Finding::open(runs.exponents().iter().map(at).collect::<Vec<_>>().join("; "))
}

/// C-11b.
pub(super) fn none_is_below_the_floor(runs: &Runs<'_>) -> Finding {
    let of = |s: &&str| runs.of(floored(100).into(), s, "all.rto_min_s");
    let all = runs.exponents().iter().map(|s| always(&format!("s = {s}"), &of(s), 0.1, 1e9));
    Finding::all(all)
}

/// C-36: bad timeouts among all Interests, and W.
pub(super) fn popularity_helps(runs: &Runs<'_>) -> Finding {
    let of = |s: &str, metric: &str| of_default(runs, s, metric);
    let per_interest = |s: &str| quotient(&of(s, BAD), &of(s, INTERESTS));
    falls("bad timeouts for each Interest", per_interest).and(falls("W", |s: &str| of(s, W)))
}

/// C-36 until 28 November 2026: bad timeouts among all timeouts, and W.
pub(super) fn popularity_helps_shares(runs: &Runs<'_>) -> Finding {
    let fall = |what, metric: &str| falls(what, |s: &str| of_default(runs, s, metric));
    fall("B", B).and(fall("W", W))
}

fn of_default(runs: &Runs<'_>, s: &str, metric: &str) -> Vec<Seeded> {
    runs.of(floored(100).into(), s, metric)
}

/// A value is less at s = 2 than at s = 1.
fn falls(what: &str, of: impl Fn(&str) -> Vec<Seeded>) -> Finding {
    less((&format!("{what} at s = 2"), &of("2")), ("s = 1", &of("1")), "")
}

pub(super) fn millis(values: Vec<Seeded>) -> Vec<Seeded> {
    scaled(values, 1e3)
}
