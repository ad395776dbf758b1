//! Judges the claims C-01 to C-36, and how they depend on what the paper leaves open.
use super::open::OPEN;
use super::runs::{B, Runs};
use super::scenario::{MANY_CLASSES, MANY_FLOORS};
use super::timer::PREDICTIVE;
use super::{compare, floor, gains};
use crate::result::Results;
use crate::rule::Finding;
use crate::study::Dependence;

/// The finding on a claim.
pub(super) fn judge(id: &str, results: &Results) -> Finding {
    of(id, &Runs::paper(results))
}

/// The finding by the rule that a claim had until 28 November 2026.
pub(super) fn former(id: &str, results: &Results) -> Option<Finding> {
    let runs = Runs::paper(results);
    match id {
        "C-26" => Some(gains::larger_factor_adds_less(&runs)),
        "C-36" => Some(floor::popularity_helps_shares(&runs)),
        _ => None,
    }
}

fn of(id: &str, runs: &Runs<'_>) -> Finding {
    match id {
        "C-01" => floor::fewer_bad_ones_cost_more(runs),
        "C-02" => floor::none_is_bad_from_200_ms(runs),
        "C-03" => floor::is_a_balance(runs),
        "C-04" => floor::longer_is_better(runs, "1"),
        "C-05" => floor::longer_is_better(runs, "1.25"),
        "C-06a" => floor::longer_does_harm(runs, "1.5"),
        "C-07a" => floor::longer_does_harm(runs, "1.75"),
        "C-08a" => floor::longer_does_harm(runs, "2"),
        "C-06b" => floor::harm(runs, "1.5"),
        "C-07b" => floor::harm(runs, "1.75"),
        "C-08b" => floor::harm(runs, "2"),
        "C-09" => floor::best_changes(runs),
        "C-10a" => floor::round_trips_gather(runs),
        "C-10b" => floor::quartiles(runs),
        "C-11a" => floor::first_timeouts(runs),
        "C-11b" => floor::none_is_below_the_floor(runs),
        "C-36" => floor::popularity_helps(runs),
        "C-12" => gains::slow_is_accurate(runs),
        "C-13" => gains::round_trips_converge(runs),
        "C-14" => gains::timeouts_are_close(runs),
        "C-15" => gains::floor_hardly_matters(runs),
        "C-16" => gains::floor_helps_fast_ones(runs),
        "C-17" => gains::slow_is_best_at_little_popularity(runs),
        "C-18" => gains::slower_is_quicker(runs, "1"),
        "C-19" => gains::slow_gain_fast_lose(runs, "1.25"),
        "C-20" => gains::slow_gain_fast_lose(runs, "1.5"),
        "C-21" => gains::all_are_alike(runs, "1.75"),
        "C-22" => gains::all_lose(runs, "2"),
        "C-23" => gains::benefit_falls(runs),
        "C-24" => gains::factor_trades(runs),
        "C-25" => gains::factor_raises_both(runs),
        "C-26" => gains::large_factor_costs_little_at_much_popularity(runs),
        "C-27" => gains::deviation_falls(runs),
        "C-28" => gains::six_is_near_the_best(runs),
        "C-29" => compare::predictive_is_best(runs),
        "C-30" => compare::reconsidered_is_better(runs),
        "C-31" => compare::per_provider_hardly_helps(runs),
        "C-32" => compare::reconsidered_doubles(runs),
        "C-33" => compare::floor_and_gains_double(runs),
        "C-34" => compare::shares(),
        "C-35" => compare::overhead(runs),
        _ => Finding::open("no rule for this claim"),
    }
}

/// Whether more runs are there than the first ones, which left the claim open.
pub(super) fn again(id: &str, results: &Results) -> bool {
    let runs = Runs::paper(results);
    match id {
        "C-09" => runs.has(MANY_FLOORS),
        "C-23" => runs.has(MANY_CLASSES),
        _ => false,
    }
}

/// Findings at each value of the open parameters: at s = 1 and 2, with some of the timers.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let line = |parameter, value: &'static str, is_assumed, runs: Runs<'_>| Dependence {
        parameter,
        value: value.into(),
        is_assumed,
        findings: findings(&runs),
    };
    let all = line("everything", "as assumed", true, Runs::assumed(results));
    let others = OPEN.iter().flat_map(|open| {
        let of = move |(value, _)| {
            let runs = Runs::with(results, open.experiment, value);
            line(open.parameter, value, false, runs)
        };
        open.values().map(of)
    });
    std::iter::once(all).chain(others).collect()
}

/// The claims that a few timers at the ends of the sweep can decide.
fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let mut all = vec![
        ("C-01", floor::fewer_bad_ones_cost_more(runs)),
        ("C-02", floor::none_is_bad_from_200_ms(runs)),
        ("C-08a", floor::longer_does_harm(runs, "2")),
        ("C-09", floor::best_changes(runs)),
        ("C-10a", floor::round_trips_gather(runs)),
        ("C-12", gains::slow_is_accurate(runs)),
        ("C-13", gains::round_trips_converge(runs)),
        ("C-16", gains::floor_helps_fast_ones(runs)),
        ("C-26", gains::large_factor_costs_little_at_much_popularity(runs)),
        ("C-27", gains::deviation_falls(runs)),
        ("C-30", compare::reconsidered_is_better(runs)),
        ("C-32", compare::reconsidered_doubles(runs)),
        ("C-36", floor::popularity_helps(runs)),
    ];
    if !runs.of(PREDICTIVE.into(), "1", B).is_empty() {
        all.push(("C-29", compare::predictive_is_best(runs)));
    }
    all.sort_by_key(|(id, _)| *id);
    all
}
