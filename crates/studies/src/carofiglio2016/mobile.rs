//! Losses by moves: Figures 7a to 7c (E-15 to E-20).
use super::axis::{CONSUMER_TIMERS, ELN, FAST, MLDR, SLOW, SPEEDS, TIMER};
use super::runs::{World, less_by};
use crate::rule::{Finding, at_most, increasing, less, mean_of, ratio, ratio_apart, within};
use recoup_sim::statistic::Seeded;

fn place<'a>(way: &'a str, speed: &'a str) -> [(&'a str, &'a str); 2] {
    [("mobility", way), ("speed", speed)]
}

fn time(world: &World<'_>, way: &str, speed: &str) -> Vec<Seeded> {
    world.time(&place(way, speed))
}

fn labelled(speed: &str) -> String {
    format!("{speed} km/h")
}

/// At one speed: MLDR no slower than ELN, ELN quicker than the timer.
fn moves_are_repaired(world: &World<'_>, speed: &str) -> Finding {
    let [mldr, eln, timer] = [MLDR, ELN, TIMER].map(|way| time(world, way, speed));
    let near = ratio("MLDR over ELN", &mldr, &eln, 0.95, 1.05);
    near.and(at_most((MLDR, &mldr), (ELN, &eln), "s"))
        .and(less((ELN, &eln), (TIMER, &timer), "s"))
        .labelled(&labelled(speed))
}

/// What MLDR gains on the timer, at each speed.
fn gains(world: &World<'_>, speeds: &[&'static str]) -> Vec<(&'static str, Vec<Seeded>)> {
    let one =
        |speed: &&'static str| (*speed, world.reduction(&place(MLDR, speed), &place(TIMER, speed)));
    speeds.iter().map(one).collect()
}

pub(super) fn repair_gains_with_speed(world: &World<'_>, speeds: &[&'static str]) -> Finding {
    let order = Finding::all(speeds.iter().map(|speed| moves_are_repaired(world, speed)));
    order.and(increasing(&gains(world, speeds), "%").labelled("gain of MLDR by km/h"))
}

/// Few Interests are sent on, the more the faster.
pub(super) fn few_are_sent_on(world: &World<'_>, speeds: &[&'static str]) -> Finding {
    let series: Vec<_> =
        speeds.iter().map(|speed| (*speed, world.sent_on(&place(MLDR, speed)))).collect();
    let bound = series
        .iter()
        .map(|(speed, share)| within(&labelled(speed), share, "%", f64::NEG_INFINITY, 0.5));
    Finding::all(bound).and(increasing(&series, "%").labelled("by km/h"))
}

// --- how long a segment takes that a move delayed -------------------------------------------------

fn satisfaction(world: &World<'_>, way: &str, repetitions: &str, speed: &str) -> Vec<Seeded> {
    let place = [("mobility", way), ("repetitions", repetitions), ("speed", speed)];
    let seconds = world.values(&place, "ist_mean_s");
    seconds.into_iter().map(|(seed, it)| (seed, 1e3 * it)).collect()
}

/// Without repetitions MLDR takes about half as long as ELN, at every speed; each takes as long at 50 km/h as at 3 km/h,
/// within 15 %.
pub(super) fn half_of_the_way(world: &World<'_>) -> Finding {
    let ist = |way, speed| satisfaction(world, way, "0", speed);
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

pub(super) fn the_gap_grows(world: &World<'_>) -> Finding {
    let gap = |speed| {
        less_by(&satisfaction(world, MLDR, "5", speed), &satisfaction(world, ELN, "5", speed))
    };
    increasing(&SPEEDS.map(|speed| (speed, gap(speed))), "ms").labelled("gap by km/h")
}

pub(super) fn mldr_is_always_lower(world: &World<'_>) -> Finding {
    let one = |repetitions: &'static str, speed: &'static str| {
        let ist = |way| satisfaction(world, way, repetitions, speed);
        let lower = less((MLDR, &ist(MLDR)), (ELN, &ist(ELN)), "ms");
        lower.labelled(&format!("{speed} km/h, {repetitions} repetitions"))
    };
    let at = |speed: &&'static str| super::axis::REPETITIONS.map(|times| one(times, speed));
    Finding::all(SPEEDS.iter().flat_map(at))
}

// --- the consumer moves ---------------------------------------------------------------------------

/// MLDR is quicker than the best of all timers, which is no slower than 500 ms, at every speed.
pub(super) fn no_timer_is_as_good(world: &World<'_>, speeds: &[&'static str]) -> Finding {
    let at = |speed: &&'static str| {
        let mean = |timer: &&'static str| Some((mean_of(&time(world, timer, speed))?, *timer));
        let best = CONSUMER_TIMERS.iter().filter_map(mean).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, best)) = best else { return Finding::open("no results") };
        let (ours, theirs) = (time(world, MLDR, speed), time(world, best, speed));
        let name = format!("{best} ms");
        let beside = mean_of(&time(world, "500", speed)).unwrap_or(f64::NAN);
        let quicker = less((MLDR, &ours), (&name, &theirs), "s");
        quicker.beside(&format!("500 ms {beside:.2} s")).labelled(&labelled(speed))
    };
    Finding::all(speeds.iter().map(at))
}

/// At 10 and 50 km/h a different set-up is judged by claims.
const FEW: [&str; 2] = ["10", FAST];

/// Claims by which a different set-up is judged where the producer moves.
pub(super) fn findings(world: &World<'_>) -> Vec<(&'static str, Finding)> {
    let residual = mean_of(&world.residual(&place(TIMER, FAST))).unwrap_or(f64::NAN);
    let moves = repair_gains_with_speed(world, &FEW);
    vec![
        ("E-15", moves.beside(&format!("residual loss {residual:.2} %"))),
        ("E-16", few_are_sent_on(world, &FEW)),
    ]
}

/// The same where the satisfaction time is measured.
pub(super) fn findings_of_satisfaction(world: &World<'_>) -> Vec<(&'static str, Finding)> {
    vec![("E-17", half_of_the_way(world))]
}

/// The same where the consumer moves.
pub(super) fn findings_of_consumer(world: &World<'_>) -> Vec<(&'static str, Finding)> {
    vec![("E-20", no_timer_is_as_good(world, &FEW))]
}
