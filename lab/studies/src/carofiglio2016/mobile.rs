//! Losses by moves: Figures 7a to 7c (E-15 to E-20).
use super::axis::{CONSUMER_TIMERS, ELN, FAST, MLDR, SLOW, SPEEDS, TIMER};
use super::runs::{Runs, less_by};
use crate::rule::{Finding, at_most, increasing, less, mean_of, ratio, ratio_apart, within};
use recoup_sim::statistic::Seeded;

fn place<'a>(way: &'a str, speed: &'a str) -> [(&'a str, &'a str); 2] {
    [("mobility", way), ("speed", speed)]
}

fn time(runs: &Runs<'_>, way: &str, speed: &str) -> Vec<Seeded> {
    runs.time(&place(way, speed))
}

fn labelled(speed: &str) -> String {
    format!("{speed} km/h")
}

/// At one speed: MLDR no slower than ELN, ELN quicker than the timer.
fn moves_are_repaired(runs: &Runs<'_>, speed: &str) -> Finding {
    let [mldr, eln, timer] = [MLDR, ELN, TIMER].map(|way| time(runs, way, speed));
    let near = ratio("MLDR over ELN", &mldr, &eln, 0.95, 1.05);
    near.and(at_most((MLDR, &mldr), (ELN, &eln), "s"))
        .and(less((ELN, &eln), (TIMER, &timer), "s"))
        .labelled(&labelled(speed))
}

/// Gain of MLDR on the timer, at each speed.
fn gains(runs: &Runs<'_>, speeds: &[&'static str]) -> Vec<(&'static str, Vec<Seeded>)> {
    let one =
        |speed: &&'static str| (*speed, runs.reduction(&place(MLDR, speed), &place(TIMER, speed)));
    speeds.iter().map(one).collect()
}

pub(super) fn repair_gains_with_speed(runs: &Runs<'_>, speeds: &[&'static str]) -> Finding {
    let order = Finding::all(speeds.iter().map(|speed| moves_are_repaired(runs, speed)));
    order.and(increasing(&gains(runs, speeds), "%").labelled("gain of MLDR by km/h"))
}

/// Few Interests are sent on, the more the faster.
pub(super) fn few_are_sent_on(runs: &Runs<'_>, speeds: &[&'static str]) -> Finding {
    let series: Vec<_> =
        speeds.iter().map(|speed| (*speed, runs.sent_on(&place(MLDR, speed)))).collect();
    let bound = series
        .iter()
        .map(|(speed, share)| within(&labelled(speed), share, "%", f64::NEG_INFINITY, 0.5));
    Finding::all(bound).and(increasing(&series, "%").labelled("by km/h"))
}

// --- how long a segment takes that a move delayed -------------------------------------------------

fn satisfaction(runs: &Runs<'_>, way: &str, repetitions: &str, speed: &str) -> Vec<Seeded> {
    let place = [("mobility", way), ("repetitions", repetitions), ("speed", speed)];
    let seconds = runs.values(&place, "ist_mean_s");
    seconds.into_iter().map(|(seed, it)| (seed, 1e3 * it)).collect()
}

/// Without repetitions MLDR takes about half as long as ELN, at every speed; each takes as long at 50 km/h as at 3 km/h,
/// within 15 %.
pub(super) fn half_of_the_way(runs: &Runs<'_>) -> Finding {
    let ist = |way, speed| satisfaction(runs, way, "0", speed);
    let half = |speed: &'static str| {
        ratio(&labelled(speed), &ist(MLDR, speed), &ist(ELN, speed), 0.4, 0.7)
    };
    // Few walkers change their access point, so the seeds are not paired.
    let constant = |way| {
        let label = format!("{way} at 50 over 3 km/h");
        ratio_apart(&label, &ist(way, FAST), &ist(way, SLOW), 0.85, 1.15)
    };
    Finding::all(SPEEDS.map(half)).and(constant(MLDR)).and(constant(ELN))
}

pub(super) fn the_gap_grows(runs: &Runs<'_>) -> Finding {
    let gap = |speed| {
        less_by(&satisfaction(runs, MLDR, "5", speed), &satisfaction(runs, ELN, "5", speed))
    };
    increasing(&SPEEDS.map(|speed| (speed, gap(speed))), "ms").labelled("gap by km/h")
}

pub(super) fn mldr_is_always_lower(runs: &Runs<'_>) -> Finding {
    let one = |repetitions: &'static str, speed: &'static str| {
        let ist = |way| satisfaction(runs, way, repetitions, speed);
        let lower = less((MLDR, &ist(MLDR)), (ELN, &ist(ELN)), "ms");
        lower.labelled(&format!("{speed} km/h, {repetitions} repetitions"))
    };
    let at = |speed: &&'static str| super::axis::REPETITIONS.map(|times| one(times, speed));
    Finding::all(SPEEDS.iter().flat_map(at))
}

// --- the consumer moves ---------------------------------------------------------------------------

/// MLDR is quicker than the best of all timers, which is no slower than 500 ms, at every speed.
pub(super) fn no_timer_is_as_good(runs: &Runs<'_>, speeds: &[&'static str]) -> Finding {
    let at = |speed: &&'static str| {
        let mean = |timer: &&'static str| Some((mean_of(&time(runs, timer, speed))?, *timer));
        let best = CONSUMER_TIMERS.iter().filter_map(mean).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, best)) = best else { return Finding::open("no results") };
        let (ours, theirs) = (time(runs, MLDR, speed), time(runs, best, speed));
        let name = format!("{best} ms");
        let beside = mean_of(&time(runs, "500", speed)).unwrap_or(f64::NAN);
        let quicker = less((MLDR, &ours), (&name, &theirs), "s");
        quicker.beside(&format!("500 ms {beside:.2} s")).labelled(&labelled(speed))
    };
    Finding::all(speeds.iter().map(at))
}

/// At 10 and 50 km/h a different set-up is judged by claims.
const FEW: [&str; 2] = ["10", FAST];

/// Claims by which a different set-up is judged where the producer moves.
pub(super) fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let residual = mean_of(&runs.residual(&place(TIMER, FAST))).unwrap_or(f64::NAN);
    let moves = repair_gains_with_speed(runs, &FEW);
    vec![
        ("E-15", moves.beside(&format!("residual loss {residual:.2} %"))),
        ("E-16", few_are_sent_on(runs, &FEW)),
    ]
}

/// The claims judged by the satisfaction time.
pub(super) fn findings_of_satisfaction(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    vec![("E-17", half_of_the_way(runs))]
}

/// The claims judged with a moving consumer.
pub(super) fn findings_of_consumer(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    vec![("E-20", no_timer_is_as_good(runs, &FEW))]
}
