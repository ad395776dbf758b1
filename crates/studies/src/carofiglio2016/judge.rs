//! Judges the claims E-01 to E-29, and how they depend on what the paper leaves open.
use super::axis::SPEEDS;
use super::open::{MOBILE, Open, TOGETHER, WIRELESS};
use super::runs::World;
use super::{example, joint, mobile, wireless};
use crate::claim::{Claim, Verdict};
use crate::result::Results;
use crate::rule::{Finding, verdict};
use crate::study::Dependence;

const MEANS: &str = "Means over seeds.";
const PAIRED: &str = "Paired over seeds.";
const SHARE: &str = "Of mean flow times.";

/// Claims of Section 5.2, and of the ring.
fn of_radio(id: &str, results: &Results) -> Option<(Finding, &'static str)> {
    let [timer, part, speed, ring] =
        ["timer", "part", "speed", "ring"].map(|experiment| World::of(results, experiment));
    Some(match id {
        "E-01a" => (
            wireless::timer_matters(&timer),
            "Against 40 ms and 1 s, paired; the round trip is the mean that was measured with the quickest timer.",
        ),
        "E-01b" => (wireless::quickest_timer(&timer), MEANS),
        "E-02" => (wireless::near_repair_is_quickest(&timer), PAIRED),
        "E-03" => (
            wireless::far_repair_suffers_from_wires(&timer),
            "What ELN takes more than WLDR, mean over timers from 60 ms on.",
        ),
        "E-04" => (wireless::wldr_needs_no_timer(&timer), MEANS),
        "E-05" => (wireless::nothing_needs_a_timer(&part), PAIRED),
        "E-06" => (wireless::interests_help_more(&part), PAIRED),
        "E-07" => (wireless::interests_help_near(&part), SHARE),
        "E-08" => (
            wireless::data_helps_far(&part),
            "At least half of the gain; the rest paired over seeds.",
        ),
        "E-09" => (wireless::the_whole_is_best(&part), PAIRED),
        "E-10" => (wireless::gains(&speed, "60", (4.0, 18.0)), MEANS),
        "E-11" => (
            wireless::gains(&speed, "200", (8.0, 28.0))
                .and(wireless::gains_more_with_a_long_timer(&speed)),
            MEANS,
        ),
        "E-12" => (wireless::wldr_always_gains(&speed), PAIRED),
        "E-13" => (
            wireless::the_ring_is_large_enough(&ring),
            "The same seeds with a ring in which nothing is overwritten.",
        ),
        "E-14" => (
            example::comes_out(),
            "Played with the machines of crates/transport/src/link/wldr.rs, as their test \
             the_worked_example_of_figure_1_comes_out does.",
        ),
        "E-28" => (wireless::round_trips(&timer), MEANS),
        _ => return None,
    })
}

/// Claims of Section 5.3.
fn of_moves(id: &str, results: &Results) -> Option<(Finding, &'static str)> {
    let [producer, satisfaction, consumer] =
        ["producer", "satisfaction", "consumer"].map(|experiment| World::of(results, experiment));
    Some(match id {
        "E-15" => (
            mobile::repair_gains_with_speed(&producer, &SPEEDS),
            "MLDR over ELN within 0.95 and 1; ELN against the timer, and each speed against the next, paired.",
        ),
        "E-16" => (
            mobile::few_are_sent_on(&producer, &SPEEDS),
            "Of the Interests that the consumer sent.",
        ),
        "E-17" => (
            mobile::half_of_the_way(&satisfaction),
            "Over seeds in which somebody moved at that speed.",
        ),
        "E-18" => (mobile::the_gap_grows(&satisfaction), PAIRED),
        "E-19" => (mobile::mldr_is_always_lower(&satisfaction), PAIRED),
        "E-20" => (
            mobile::no_timer_is_as_good(&consumer),
            "Against the timer with the shortest mean time.",
        ),
        _ => return None,
    })
}

/// Claims of Section 5.4.
fn of_both(id: &str, results: &Results) -> Option<(Finding, &'static str)> {
    let [joint_, timer] = ["joint", "joint-timer"].map(|experiment| World::of(results, experiment));
    Some(match id {
        "E-21" => (
            joint::handoffs(&joint_),
            "Of both ends together, for each flow; at this scale flows are as much shorter as the room's text says.",
        ),
        "E-22" => (joint::mldr_gains_with_speed(&joint_), PAIRED),
        "E-23" => (joint::wldr_gains_most_slowly(&joint_), PAIRED),
        "E-24" => (joint::both_add_up(&joint_), MEANS),
        "E-25" => (joint::fewer_timeouts(&joint_), MEANS),
        "E-26" => (joint::they_cross(&joint_), PAIRED),
        "E-27" => (joint::gains_grow_with_the_timer(&timer), PAIRED),
        "E-29" => (joint::both_need_no_timer(&timer), MEANS),
        _ => return None,
    })
}

fn judge(id: &str, results: &Results) -> (Finding, &'static str) {
    let found = of_radio(id, results).or_else(|| of_moves(id, results));
    let found = found.or_else(|| of_both(id, results));
    found.unwrap_or_else(|| (Finding::open("no rule for this claim"), ""))
}

/// One verdict for each claim.
pub(super) fn verdicts(claims: &[Claim], results: &Results) -> Vec<Verdict> {
    let judged = claims.iter().map(|claim| {
        let (finding, why) = judge(&claim.id, results);
        verdict(claim, finding, why)
    });
    judged.collect()
}

/// What becomes of claims at every point of the grid, and with single things different.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let mut all = rows(results, &WIRELESS, "open-wireless", wireless::findings);
    all.extend(rows(results, &MOBILE, "open-mobile", mobile::findings));
    all.extend(rows(results, &TOGETHER, "open-joint", joint::findings));
    all
}

fn rows(
    results: &Results,
    all: &'static [Open],
    experiment: &'static str,
    findings: impl Fn(&World<'_>) -> Vec<(&'static str, Finding)>,
) -> Vec<Dependence> {
    let row = |open: &'static Open| Dependence {
        parameter: open.parameter,
        value: &open.value,
        is_assumed: open.is_assumed,
        findings: findings(&World::open(results, experiment, &open.label())),
    };
    all.iter().map(row).collect()
}
