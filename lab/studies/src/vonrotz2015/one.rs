//! Scenario 1: one requester.
use super::axis::{ADAPTIVE, Scenario};
use super::runs::{At, Runs, joined, mean_of};
use crate::rule::{Finding, increasing, less, quotient, ratio, within};
use recoup_sim::statistic::Seeded;

/// Three hops, the paper's main case.
pub(super) const THREE: At = (Scenario::One, "3");

fn one(hops: &'static str) -> At {
    (Scenario::One, hops)
}

/// Each adaptive timer is faster than 4 s, at each of these numbers of hops.
pub(super) fn beats_constant(runs: &Runs<'_>, places: impl IntoIterator<Item = At>) -> Finding {
    let at = |at: At| {
        let constant = runs.time(at, "constant");
        ADAPTIVE.map(|timer| {
            let faster = less((timer, &runs.time(at, timer)), ("constant", &constant), "s");
            faster.labelled(&format!("{} hops", at.1))
        })
    };
    Finding::all(places.into_iter().flat_map(at))
}

pub(super) fn every_adaptive_is_faster(runs: &Runs<'_>) -> Finding {
    beats_constant(runs, ["2", "3", "4", "5"].map(one))
}

/// Each adaptive timer is faster than 4 s at the distances where single changes are run.
pub(super) fn every_adaptive_is_faster_nearby(runs: &Runs<'_>) -> Finding {
    beats_constant(runs, ["2", "3", "5"].map(one))
}

/// Ratio of the times of 4 s and CCNTimer.
pub(super) fn speed_up(runs: &Runs<'_>, hops: &'static str, band: (f64, f64)) -> Finding {
    runs.ratio(Runs::time, one(hops), ("constant", "CCNTimer"), band)
}

/// The speed-up shrinks with the number of hops.
pub(super) fn speed_up_shrinks(runs: &Runs<'_>) -> Finding {
    let gain =
        |hops| quotient(&runs.time(one(hops), "constant"), &runs.time(one(hops), "CCNTimer"));
    increasing(&[("5 hops", gain("5")), ("3 hops", gain("3")), ("2 hops", gain("2"))], "")
}

pub(super) fn time(runs: &Runs<'_>, timers: (&str, &str), band: (f64, f64)) -> Finding {
    runs.ratio(Runs::time, THREE, timers, band)
}

pub(super) fn timeouts(runs: &Runs<'_>, timers: (&str, &str), band: (f64, f64)) -> Finding {
    runs.ratio(Runs::timeouts, THREE, timers, band)
}

/// WMA and ICP, in either order, before CCNTimer, Timeest, TCP RTO and 4 s.
pub(super) fn order(runs: &Runs<'_>) -> Finding {
    let time = |timer| runs.time(THREE, timer);
    let ccntimer = time("CCNTimer");
    let first = ["WMA", "ICP"].map(|it| less((it, &time(it)), ("CCNTimer", &ccntimer), "s"));
    let rest = ["CCNTimer", "Timeest", "TCP RTO", "constant"].map(|timer| (timer, time(timer)));
    let finding = Finding::all(first).and(increasing(&rest, "s"));
    runs.unless_bound(THREE, &["WMA", "ICP", "CCNTimer", "Timeest"], finding)
}

/// CCNTimer's lifetimes are below Timeest's; few round trips take more than 2 s.
pub(super) fn ccntimer_is_near_the_round_trip(runs: &Runs<'_>) -> Finding {
    let lifetime = |timer| runs.lifetime(THREE, timer, "mean");
    let below =
        less(("lifetime CCNTimer", &lifetime("CCNTimer")), ("Timeest", &lifetime("Timeest")), "s");
    let below = runs.unless_bound(THREE, &["CCNTimer", "Timeest"], below);
    let late = runs.round_trip(THREE, "CCNTimer", "p99");
    below.and(within("99 % of CCNTimer's round trips below", &late, "s", 0.0, 2.0))
}

/// WMA's lifetimes and round trips are shorter than CCNTimer's. Since a median does not show periods of timeouts, means
/// stand beside it.
pub(super) fn wma_is_lower(runs: &Runs<'_>) -> Finding {
    let pair = |what: &str, of: &dyn Fn(&str) -> Vec<Seeded>| {
        less((&format!("{what} WMA"), &of("WMA")), ("CCNTimer", &of("CCNTimer")), "s")
    };
    let finding = pair("median round trip", &|timer| runs.round_trip(THREE, timer, "p50"))
        .and(pair("mean lifetime", &|timer| runs.lifetime(THREE, timer, "mean")));
    let mean = pair("round trip", &|timer| runs.round_trip(THREE, timer, "mean"));
    runs.unless_bound(THREE, &["WMA", "CCNTimer"], finding)
        .with_second_reading("mean round trip", &mean)
}

/// Timeest's lifetime is never at the floor, and its round trips are shorter than TCP's.
pub(super) fn timeest_stays_off_the_floor(runs: &Runs<'_>) -> Finding {
    let least = runs.lifetime(THREE, "Timeest", "min");
    let off = within("least lifetime of Timeest", &least, "s", 0.100_1, 4.0);
    let of = |timer| runs.round_trip(THREE, timer, "mean");
    let order = less(("round trip Timeest", &of("Timeest")), ("TCP RTO", &of("TCP RTO")), "s");
    let most = mean_of(&runs.round_trip(THREE, "Timeest", "max")).unwrap_or(f64::NAN);
    off.and(order).beside(&format!("greatest round trip {most:.2} s"))
}

/// Four timers send about as many Interests.
pub(super) fn interests_are_alike(runs: &Runs<'_>) -> Finding {
    let mut all: Vec<_> = ["CCNTimer", "Timeest", "TCP RTO", "constant"]
        .into_iter()
        .filter_map(|timer| {
            let sent = runs.interests(THREE, timer);
            Some((mean_of(&sent)?, timer, sent))
        })
        .collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some((_, few, least)), Some((_, many, most))) = (all.first(), all.last()) else {
        return Finding::open("no results");
    };
    ratio(&format!("{many} / {few}"), most, least, 0.0, 1.015)
}

/// ICP and WMA send somewhat more, WMA most.
pub(super) fn interests_of_the_short(runs: &Runs<'_>) -> Finding {
    let band = |timer, band| runs.ratio(Runs::interests, THREE, (timer, "CCNTimer"), band);
    let sent = |timer| runs.interests(THREE, timer);
    band("ICP", (1.0, 1.03)).and(band("WMA", (1.01, 1.08))).and(less(
        ("ICP", &sent("ICP")),
        ("WMA", &sent("WMA")),
        "",
    ))
}

/// Most of ICP's extra timeouts cause no transmission.
pub(super) fn extra_timeouts_cost_little(runs: &Runs<'_>) -> Finding {
    let extra = |of: &dyn Fn(&str) -> Vec<Seeded>, factor: f64| {
        joined(&of("ICP"), &of("CCNTimer"), |icp, ccntimer| factor * (icp - ccntimer))
    };
    let sent = extra(&|timer| runs.interests(THREE, timer), 3.0);
    let expired = extra(&|timer| runs.timeouts(THREE, timer), 1.0);
    less(("3 × extra Interests", &sent), ("extra timeouts", &expired), "")
}

/// Timers that double are slower than one that adds a fifth.
pub(super) fn doubling_is_slower(runs: &Runs<'_>) -> Finding {
    let slower = |timer| time(runs, (timer, "CCNTimer"), (1.1, f64::INFINITY));
    slower("TCP RTO").and(slower("Timeest"))
}
