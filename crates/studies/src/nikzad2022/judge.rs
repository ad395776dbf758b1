//! Judges the claims C-01 to C-36, and how they depend on what the paper leaves open.
use super::open::OPEN;
use super::runs::{B, Runs};
use super::timer::PREDICTIVE;
use super::{compare, floor, gains};
use crate::result::Results;
use crate::rule::Finding;
use crate::study::Dependence;
use std::borrow::Cow;

/// The finding on a claim, and the rule that it follows.
pub(super) fn judge(id: &str, results: &Results) -> (Finding, &'static str) {
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

fn of(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-29" | "C-30" | "C-31" | "C-32" | "C-33" | "C-34" | "C-35" => compared(id, runs),
        "C-12" | "C-13" | "C-14" | "C-15" | "C-16" | "C-17" => classes(id, runs),
        "C-18" | "C-19" | "C-20" | "C-21" | "C-22" | "C-23" => table_4(id, runs),
        "C-24" | "C-25" | "C-26" | "C-27" | "C-28" => factors(id, runs),
        _ => floors(id, runs),
    }
}

pub(super) const RANKS: &str =
    "Spearman's rank correlation of each seed; its mean's interval on one side of zero.";
pub(super) const RATES: &str =
    "Rates are bytes over the time to the last Data, means over consumers; paired over seeds.";
const MAGNITUDE: &str =
    "The room's text names the settings that were tried for the paper's magnitude.";

fn floors(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-01" => (floor::fewer_bad_ones_cost_more(runs), RANKS),
        "C-02" => (
            floor::none_is_bad_from_200_ms(runs),
            "Means over seeds at 200 and 500 ms. The paper's round trips end near 150 ms; ours have the delays of \
             Sprint's links, up to 280 ms without any queue, and queues above them.",
        ),
        "C-03" => (
            floor::is_a_balance(runs),
            "B and W each scaled from least to most over the floors up to 200 ms; the distance from the lower left corner \
             is at most 1.1 times the least.",
        ),
        "C-04" => (floor::longer_is_better(runs, "1"), RATES),
        "C-05" => (floor::longer_is_better(runs, "1.25"), RATES),
        "C-06a" => (floor::longer_does_harm(runs, "1.5"), RATES),
        "C-07a" => (floor::longer_does_harm(runs, "1.75"), RATES),
        "C-08a" => (floor::longer_does_harm(runs, "2"), RATES),
        "C-06b" => (floor::harm(runs, "1.5"), MAGNITUDE),
        "C-07b" => (floor::harm(runs, "1.75"), MAGNITUDE),
        "C-08b" => (floor::harm(runs, "2"), MAGNITUDE),
        "C-09" => floor::best_changes(runs),
        "C-10a" => (floor::round_trips_gather(runs), RANKS),
        "C-10b" => (
            floor::quartiles(runs),
            "Quartiles over the requests of all consumers without retransmission.",
        ),
        "C-11a" => (
            floor::first_timeouts(runs),
            "Percentiles over first transmissions; the paper: 100 to 200 ms.",
        ),
        "C-11b" => (floor::none_is_below_the_floor(runs), "Every run."),
        "C-36" => (floor::popularity_helps(runs), "Paired over seeds."),
        _ => (Finding::open("no rule for this claim"), ""),
    }
}

fn classes(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-12" => (
            gains::slow_is_accurate(runs),
            "Rank correlation of the classes, slowest first, with B at every s; Very Slow below each other class at all but \
             one s.",
        ),
        "C-13" => (gains::round_trips_converge(runs), RANKS),
        "C-14" => (
            gains::timeouts_are_close(runs),
            "Quantiles of the timeouts in force at first transmissions.",
        ),
        "C-15" => (gains::floor_hardly_matters(runs), "Quotients, seed by seed."),
        "C-16" => (gains::floor_helps_fast_ones(runs), "Paired over seeds, s of 1.5 and more."),
        _ => (
            gains::slow_is_best_at_little_popularity(runs),
            "Product of B and W, paired over seeds. At s = 1.25 the paper states both; s = 1 decides alike.",
        ),
    }
}

fn table_4(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-18" => (gains::slower_is_quicker(runs, "1"), RATES),
        "C-19" => (gains::slow_gain_fast_lose(runs, "1.25"), RATES),
        "C-20" => (gains::slow_gain_fast_lose(runs, "1.5"), RATES),
        "C-21" => (gains::all_are_alike(runs, "1.75"), RATES),
        "C-22" => (gains::all_lose(runs, "2"), RATES),
        _ => gains::benefit_falls(runs),
    }
}

fn factors(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-24" => (gains::factor_trades(runs), RANKS),
        "C-25" => (gains::factor_raises_both(runs), RANKS),
        "C-26" => (
            gains::large_factor_costs_little_at_much_popularity(runs),
            "Paired over seeds; fails only if W is larger.",
        ),
        "C-27" => (gains::deviation_falls(runs), RANKS),
        _ => (
            gains::six_is_near_the_best(runs),
            "Product of B and W; at most 1.1 times that of the best k.",
        ),
    }
}

fn compared(id: &str, runs: &Runs<'_>) -> (Finding, &'static str) {
    match id {
        "C-29" => (
            compare::predictive_is_best(runs),
            "Predictive with one way and without aggregation, the others as usual; paired over seeds.",
        ),
        "C-30" => (compare::reconsidered_is_better(runs), "Paired over seeds."),
        "C-31" => (compare::per_provider_hardly_helps(runs), "Paired over seeds."),
        "C-32" => (compare::reconsidered_doubles(runs), "Quotients to Basic, means over s."),
        "C-33" => (
            compare::floor_and_gains_double(runs),
            "Very Slow, k = 4 and 100 ms against Basic; quotients, means over s.",
        ),
        "C-34" => (compare::shares(), "Arithmetic."),
        _ => (
            compare::overhead(runs),
            "Bytes of packets on links, Interests and Data together; alike means within 3 %, since fewer retransmissions are fewer of the \
             short Interests.",
        ),
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
        let of = move |(value, _): &(&'static str, _)| {
            let runs = Runs::with(results, open.experiment, value);
            line(open.parameter, value, false, runs)
        };
        open.values.iter().map(of)
    });
    let whole = |value, is_assumed, runs: &Runs<'_>| Dependence {
        parameter: "all that ndnSIM's consumer does",
        value: Cow::Borrowed(value),
        is_assumed,
        findings: GATING.map(|id| (id, of(id, runs).0)).into(),
    };
    let columns = [
        whole("as assumed", true, &Runs::paper(results)),
        whole("ndnSIM's, losses only in queues (1,000 requests)", false, &Runs::ndnsim(results)),
    ];
    std::iter::once(all).chain(others).chain(columns).collect()
}

/// The claims that gate.
pub(super) const GATING: [&str; 19] = [
    "C-01", "C-02", "C-09", "C-10a", "C-11b", "C-12", "C-13", "C-14", "C-16", "C-17", "C-18",
    "C-23", "C-24", "C-26", "C-27", "C-29", "C-30", "C-35", "C-36",
];

/// The claims that a few timers at the ends of the sweep can decide.
fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let mut all = vec![
        ("C-01", floor::fewer_bad_ones_cost_more(runs)),
        ("C-02", floor::none_is_bad_from_200_ms(runs)),
        ("C-08a", floor::longer_does_harm(runs, "2")),
        ("C-09", floor::best_changes(runs).0),
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
