//! Judges the claims, and how they depend on what the paper leaves open.
use super::axis::Scenario;
use super::open::OPEN;
use super::runs::{At, Runs, mean_of};
use super::scenario::{VARIANTS, is_longer};
use super::{dense, one, trace};
use crate::claim::Outcome;
use crate::result::Results;
use crate::rule::{Finding, are_enough, less, ratio};
use crate::study::Dependence;
use dense::{row, sides};

/// The finding on a claim.
pub(super) fn judge(id: &str, results: &Results) -> Finding {
    let runs = Runs::assumed(results);
    match id {
        "A-01" => dense::best_against_existing(&runs),
        "A-02" => dense::best_against_constant(&runs),
        "A-03" => trace::losses_are_multiples_of_four(&runs),
        "A-04" => tcp_lifetimes(&runs, one::THREE),
        "A-05" => one::timeest_stays_off_the_floor(&runs),
        "A-06" => one::ccntimer_is_near_the_round_trip(&runs),
        "A-07" => one::wma_is_lower(&runs),
        "A-08" => trace::resets(&runs),
        "A-09" => trace::icp_is_slow(&runs),
        "A-10" => one::every_adaptive_is_faster(&runs),
        "A-11" => one::speed_up(&runs, "2", (2.5, 6.0)),
        "A-12" => one::speed_up(&runs, "3", (2.0, 5.0)),
        "A-13" => one::speed_up(&runs, "5", (1.8, 4.0)),
        "A-14" => one::speed_up_shrinks(&runs),
        "A-19" => one::order(&runs),
        "A-25" => one::extra_timeouts_cost_little(&runs),
        "A-53" => variant(
            results,
            "variants-1",
            ("ICP, clean answers only", "ICP"),
            (1.05, f64::INFINITY),
        ),
        "A-54" => longer_bounds_gain_nothing(results),
        "A-55" => one::doubling_is_slower(&runs),
        "A-56" => dense::every_adaptive_is_faster(&runs),
        other => in_one(other, &runs).unwrap_or_else(|| of_many(other, &runs)),
    }
}

/// The finding by the rule that a claim had until 28 November 2026.
pub(super) fn former(id: &str, results: &Results) -> Option<Finding> {
    (id == "A-41").then(|| dense::wma_is_lowest(&Runs::assumed(results)))
}

/// Claims about scenario 1, at three hops but for A-10.
fn in_one(id: &str, runs: &Runs<'_>) -> Option<Finding> {
    let any = f64::INFINITY;
    Some(match id {
        "A-12" => one::speed_up(runs, "3", (2.0, 5.0)),
        "A-15" => one::time(runs, ("TCP RTO", "CCNTimer"), (1.3, 2.6)),
        "A-16" => one::time(runs, ("Timeest", "CCNTimer"), (1.15, 1.9)),
        "A-17" => one::time(runs, ("CCNTimer", "ICP"), (1.0, 1.15)),
        "A-18" => one::time(runs, ("CCNTimer", "WMA"), (1.0, 1.2)),
        "A-19" => one::order(runs),
        "A-20" => one::interests_are_alike(runs),
        "A-21" => one::interests_of_the_short(runs),
        "A-22" => one::timeouts(runs, ("ICP", "CCNTimer"), (2.0, 6.0)),
        "A-23" => one::timeouts(runs, ("WMA", "CCNTimer"), (1.4, 4.0)),
        "A-24" => {
            let near = |timer| one::timeouts(runs, (timer, "CCNTimer"), (0.7, 1.3));
            Finding::all(["constant", "TCP RTO", "Timeest"].map(near))
        }
        "A-25" => one::extra_timeouts_cost_little(runs),
        "A-05" => one::timeest_stays_off_the_floor(runs),
        "A-06" => one::ccntimer_is_near_the_round_trip(runs),
        "A-07" => one::wma_is_lower(runs),
        "A-10" => one::every_adaptive_is_faster_nearby(runs),
        "A-55" => one::time(runs, ("TCP RTO", "CCNTimer"), (1.1, any)).and(one::time(
            runs,
            ("Timeest", "CCNTimer"),
            (1.1, any),
        )),
        _ => return None,
    })
}

/// Claims about scenarios 2 and 3.
fn of_many(id: &str, runs: &Runs<'_>) -> Finding {
    let time = |at, timers, band| dense::time(runs, at, timers, band);
    let sent = |at, timers, band| dense::interests(runs, at, timers, band);
    match id {
        "A-26" => time(row("3"), ("ICP", "CCNTimer"), (0.9, 1.1)),
        "A-27" => time(row("3"), ("Timeest", "CCNTimer"), (1.05, 1.4)),
        "A-28" => time(row("3"), ("TCP RTO", "CCNTimer"), (1.15, 1.9)),
        "A-29" => time(row("5"), ("CCNTimer", "ICP"), (0.7, 0.95)),
        "A-30" => time(row("5"), ("CCNTimer", "Timeest"), (0.75, 0.97)),
        "A-31" => time(row("5"), ("CCNTimer", "TCP RTO"), (0.75, 0.97)),
        "A-32" => {
            let faster = time(row("5"), ("WMA", "CCNTimer"), (0.85, 1.0));
            faster.and(sent(row("5"), ("WMA", "CCNTimer"), (1.02, 1.12)))
        }
        "A-33" => dense::wma_sends_most(runs),
        "A-34" => {
            let near = |hops| sent(row(hops), ("CCNTimer", "Timeest"), (0.96, 1.04));
            near("5").and(near("3"))
        }
        "A-35" => {
            let fewer = sent(row("5"), ("constant", "CCNTimer"), (0.9, 0.98));
            fewer.and(time(row("5"), ("constant", "CCNTimer"), (1.15, 1.7)))
        }
        "A-36" => dense::ccntimer_is_undominated(runs),
        "A-37" => dense::order_is_the_same(runs),
        "A-38" => trace::more_is_lost(runs),
        "A-39" => trace::icp_at_four(runs),
        "A-40" => trace::time_at_four(runs),
        "A-41" => dense::wma_is_below_timers_with_variance(runs),
        "A-42" => dense::times_are_alike(runs),
        "A-43" => dense::wma_gains_only_near(runs),
        "A-44" => dense::icp_loses_near(runs),
        "A-45" => dense::wma_sends_more(runs),
        "A-46" => dense::icp_sends_more_near(runs),
        "A-47" => dense::others_send_alike(runs),
        "A-48" => dense::lifetimes(runs, sides("5"), "p50"),
        "A-49" => tcp_lifetimes(runs, sides("1")),
        "A-50" => dense::timeest_waits_too_long(runs),
        "A-51" => dense::wma_is_sometimes_too_short(runs),
        "A-52" => dense::icp_times_out(runs),
        "A-57" => trace::icp_cycles(runs, trace::SIDES),
        _ => Finding::open("no rule for this claim"),
    }
}

/// Lifetimes of TCP RTO, without judgement.
fn tcp_lifetimes(runs: &Runs<'_>, at: At) -> Finding {
    let of = |what| mean_of(&runs.lifetime(at, "TCP RTO", what)).unwrap_or(f64::NAN);
    let estimate = |what: &str| {
        let metric = format!("c1.{what}_mean_s");
        mean_of(&runs.values(at, "TCP RTO", &metric)).unwrap_or(f64::NAN)
    };
    let raw = estimate("srtt") + 4.0 * estimate("rttvar");
    let ours = format!(
        "median {:.2} s, 95 % {:.2} s, most {:.2} s; sRTT + 4·VAR is {raw:.2} s on average",
        of("p50"),
        of("p95"),
        of("max")
    );
    Finding { outcome: Outcome::Reported, ours }
}

/// Values of a variant's experiment.
fn variant_times(results: &Results, experiment: &str, timer: &str) -> Vec<(u64, f64)> {
    results.values(experiment, &[("timer", timer)], "c1.time_s")
}

fn variant(
    results: &Results,
    experiment: &str,
    (above, below): (&str, &str),
    (low, high): (f64, f64),
) -> Finding {
    let times = |timer| variant_times(results, experiment, timer);
    ratio(&format!("{above} / {below}"), &times(above), &times(below), low, high)
}

/// A longest lifetime of 8 s makes no timer faster, in scenario 1 at three hops and in scenario 2 at five.
fn longer_bounds_gain_nothing(results: &Results) -> Finding {
    let mut all = Vec::new();
    for (experiment, at) in [("variants-1", one::THREE), ("variants-2", row("5"))] {
        for (name, _) in VARIANTS.iter().filter(|(name, _)| is_longer(name)) {
            let timer = name.split(',').next().unwrap_or_default();
            let (long, short) =
                (variant_times(results, experiment, name), Runs::assumed(results).time(at, timer));
            let faster = less((name, &long), (timer, &short), "s");
            let outcome = match faster.outcome {
                Outcome::Holds => Outcome::Fails,
                Outcome::Open if !are_enough(&long) => Outcome::Open,
                _ => Outcome::Holds,
            };
            all.push(Finding { outcome, ours: faster.ours });
        }
    }
    Finding::all(all)
}

/// The claims judged with one parameter changed: in scenario 1, in scenario 2 at five hops, in
/// scenario 3 at one.
fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let mut all: Vec<_> = IN_ONE.iter().filter_map(|id| Some((*id, in_one(id, runs)?))).collect();
    all.extend([
        ("A-11", one::speed_up(runs, "2", (2.5, 6.0))),
        ("A-13", one::speed_up(runs, "5", (1.8, 4.0))),
        ("A-14", one::speed_up_shrinks(runs)),
        ("A-29", of_many("A-29", runs)),
        ("A-30", of_many("A-30", runs)),
        ("A-31", of_many("A-31", runs)),
        ("A-32", of_many("A-32", runs)),
        ("A-35", of_many("A-35", runs)),
        ("A-41", dense::wma_is_below_timers_with_variance(runs)),
        ("A-50", dense::timeest_waits_too_long(runs)),
        ("A-51", dense::wma_is_too_short_in_a_quarter(runs)),
    ]);
    // Most changes were run at five hops only.
    if !runs.time(row("2"), "WMA").is_empty() {
        all.push(("A-33", dense::wma_sends_most(runs)));
    }
    if trace::is_traced(runs, trace::ONE) {
        all.push(("A-09", trace::icp_is_slow(runs)));
    }
    if trace::is_traced(runs, trace::ROW) {
        all.push(("A-40", of_many("A-40", runs)));
    }
    all.sort_by_key(|(id, _)| *id);
    all
}

/// Claims about scenario 1 that each single change is judged by.
const IN_ONE: [&str; 16] = [
    "A-05", "A-06", "A-07", "A-10", "A-12", "A-15", "A-16", "A-17", "A-18", "A-19", "A-20", "A-21",
    "A-22", "A-23", "A-24", "A-25",
];

/// Findings with one parameter changed at a time.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let open = OPEN.iter().map(|open| Dependence {
        parameter: open.parameter,
        value: open.value.into(),
        is_assumed: open.is_assumed(),
        findings: findings(&Runs::open(results, open, &open.label())),
    });
    open.collect()
}

/// Title of a scenario at a number of hops.
pub(super) fn title((scenario, hops): At) -> String {
    let number = match scenario {
        Scenario::One => 1,
        Scenario::Row => 2,
        Scenario::Sides => 3,
    };
    let word = if hops == "1" { "hop" } else { "hops" };
    format!("scenario {number}, {hops} {word}")
}
