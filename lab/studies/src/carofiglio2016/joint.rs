//! WLDR and MLDR together: Figures 9a to 9c (E-21 to E-27, E-29).
use super::axis::{BOTH, FAST, JOINT_TIMERS, MLDR, NOTHING, SLOW, SPEEDS, WLDR};
use super::runs::Runs;
use crate::claim::Outcome;
use crate::rule::{
    FOURTH_LOOK, Finding, SEEDS, THIRD_LOOK, estimate, increasing, increasing_at, joined, less,
    mean_of, quotient, ratio, text, within,
};
use recoup_sim::statistic::Seeded;

/// Consumers.
const FLOWS: f64 = 5.0;

fn place<'a>(way: &'a str, speed: &'a str) -> [(&'a str, &'a str); 2] {
    [("network", way), ("speed", speed)]
}

/// Time that a recovery saves against none, in percent.
fn gain(runs: &Runs<'_>, way: &str, speed: &str) -> Vec<Seeded> {
    runs.reduction(&place(way, speed), &place(NOTHING, speed))
}

/// Times that a consumer or its producer went to another access point, without judgement.
pub(super) fn handoffs(runs: &Runs<'_>) -> Finding {
    let one = |speed: &str| {
        let all = runs.values(&place(NOTHING, speed), "handoffs");
        let each: Vec<_> = all.iter().map(|(seed, count)| (*seed, count / FLOWS)).collect();
        let shown = estimate(&each).map_or("no results".into(), |it| text(&it, ""));
        format!("{speed} km/h {shown}")
    };
    Finding { outcome: Outcome::Reported, ours: SPEEDS.map(one).join(", ") }
}

/// At each of these speeds MLDR gains more than at the one before. Where others with `many` seeds have runs, these count,
/// in a fourth look.
pub(super) fn mldr_gains_with_speed(
    runs: &Runs<'_>,
    many: &[Runs<'_>],
    speeds: &[&'static str],
) -> Finding {
    let gain_at = |speed: &&'static str| {
        let more = many.iter().map(|it| gain(it, MLDR, speed)).find(|it| !it.is_empty());
        (*speed, more.unwrap_or_else(|| gain(runs, MLDR, speed)))
    };
    let gains: Vec<_> = speeds.iter().map(gain_at).collect();
    let level = if many.iter().all(Runs::is_empty) { THIRD_LOOK } else { FOURTH_LOOK };
    increasing_at(level, &gains, "%").labelled("by km/h")
}

/// WLDR gains most at walking speed.
pub(super) fn wldr_gains_most_slowly(runs: &Runs<'_>) -> Finding {
    let slow = gain(runs, WLDR, SLOW);
    let one = |speed: &&str| {
        let name = format!("{speed} km/h");
        less((&name, &gain(runs, WLDR, speed)), ("3 km/h", &slow), "%")
    };
    Finding::all(SPEEDS[1..].iter().map(one))
}

/// At 50 km/h both together gain 3 to 12 %, and the sum of what each gains within 40 %.
pub(super) fn both_add_up(runs: &Runs<'_>) -> Finding {
    let [one, other, both] = [WLDR, MLDR, BOTH].map(|way| gain(runs, way, FAST));
    let sum = joined(&one, &other, |one, other| one + other);
    let band = within("both at 50 km/h", &both, "%", 3.0, 12.0);
    let Some((mean, of_sum)) = mean_of(&both).zip(mean_of(&sum)) else { return band };
    let outcome = match (mean - of_sum).abs() <= 0.4 * of_sum.abs() {
        _ if both.len() < SEEDS => Outcome::Open,
        true => Outcome::Holds,
        false => Outcome::Fails,
    };
    band.and(Finding { outcome, ours: format!("sum of each alone {of_sum:.2} %") })
}

fn timeouts(runs: &Runs<'_>, way: &str, speed: &str) -> Vec<Seeded> {
    runs.values(&place(way, speed), "timeouts")
}

/// Both together have 20 to 70 % fewer timeouts, at every speed.
pub(super) fn fewer_timeouts(runs: &Runs<'_>) -> Finding {
    let one = |speed: &str| {
        let left = quotient(&timeouts(runs, BOTH, speed), &timeouts(runs, NOTHING, speed));
        let fewer: Vec<_> = left.iter().map(|(seed, it)| (*seed, 100.0 * (1.0 - it))).collect();
        within(&format!("{speed} km/h"), &fewer, "%", 20.0, 70.0)
    };
    Finding::all(SPEEDS.map(one))
}

/// WLDR saves more timeouts at walking speed, MLDR at 50 km/h.
pub(super) fn they_cross(runs: &Runs<'_>) -> Finding {
    let fewer = |first: &str, second: &str, speed: &str| {
        let (one, other) = (timeouts(runs, first, speed), timeouts(runs, second, speed));
        less((first, &one), (second, &other), "").labelled(&format!("timeouts at {speed} km/h"))
    };
    fewer(WLDR, MLDR, SLOW).and(fewer(MLDR, WLDR, FAST))
}

fn timed<'a>(way: &'a str, timer: &'a str) -> [(&'a str, &'a str); 2] {
    [("network", way), ("timer", timer)]
}

/// The gain of both grows with the timer, to at least 12 % at 4 s.
pub(super) fn gains_grow_with_the_timer(runs: &Runs<'_>) -> Finding {
    let gain = |timer| runs.reduction(&timed(BOTH, timer), &timed(NOTHING, timer));
    let series = JOINT_TIMERS.map(|timer| (timer, gain(timer)));
    let grows = increasing(&series, "%").labelled("by ms");
    grows.and(within("at 4 s", &gain("4000"), "%", 12.0, f64::INFINITY))
}

/// With both, the time is the same at every timer.
pub(super) fn both_need_no_timer(runs: &Runs<'_>) -> Finding {
    let time = |timer| runs.time(&timed(BOTH, timer));
    let first = time(JOINT_TIMERS[0]);
    let one = |timer: &&'static str| {
        ratio(&format!("{timer} ms over 500 ms"), &time(timer), &first, 0.95, 1.05)
    };
    Finding::all(JOINT_TIMERS[1..].iter().map(one))
}

/// Claims by which a different set-up is judged, at 3 and 50 km/h.
pub(super) fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let residual = mean_of(&runs.residual(&place(NOTHING, FAST))).unwrap_or(f64::NAN);
    let grows = mldr_gains_with_speed(runs, &[], &[SLOW, FAST]);
    let lost = format!("residual loss {residual:.2} %");
    vec![("E-22", grows.beside(&lost)), ("E-26", they_cross(runs))]
}
