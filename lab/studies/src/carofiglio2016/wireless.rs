//! Losses of the radio: Figures 5a to 5c (E-01 to E-13), and the round trip.
use super::axis::{
    ACKED, DATA, ELN, FAR_DATA, INTERESTS, LONG_TIMERS, NEAR_INTERESTS, NOTHING, PARTS, SPEEDS,
    TIMERS, TWO_TIMERS, WIRES, WLDR,
};
use super::runs::{Runs, less_by};
use super::scenario::RINGS;
use crate::claim::Outcome;
use crate::rule::{
    Finding, LEVEL, SEEDS, THIRD_LOOK, estimate, increasing, joined, less, less_at, mean_of,
    quotient, ratio, scaled, text, within,
};
use recoup_sim::statistic::{Seeded, paired};

/// Times of Figure 5a.
fn at(runs: &Runs<'_>, way: &str, timer: &str, wires: &str) -> Vec<Seeded> {
    runs.time(&[("recovery", way), ("timer", timer), ("wires", wires)])
}

/// The timer with which the mean time is shortest.
fn quickest(runs: &Runs<'_>) -> Option<&'static str> {
    let mean = |timer: &&'static str| Some((mean_of(&at(runs, NOTHING, timer, "300"))?, *timer));
    let quickest = TIMERS.iter().filter_map(mean).min_by(|a, b| a.0.total_cmp(&b.0));
    quickest.map(|(_, timer)| timer)
}

/// A timer in round trips, as measured with it.
fn in_round_trips(runs: &Runs<'_>, timer: &str) -> Vec<Seeded> {
    let place = [("recovery", NOTHING), ("timer", timer), ("wires", "300")];
    let millis = timer.parse::<f64>().unwrap_or(f64::NAN);
    let round_trips = runs.values(&place, "rtt_mean_s").into_iter();
    round_trips.map(|(seed, rtt)| (seed, millis / (rtt * 1e3))).collect()
}

/// The quickest timer, and every other one tied with it, is one to two round trips long; open if only some of them are.
fn is_just_above(runs: &Runs<'_>, best: &str) -> Finding {
    let time = |timer: &str| at(runs, NOTHING, timer, "300");
    let is_alike = |timer: &&&str| {
        paired(&time(timer), &time(best), LEVEL)
            .is_some_and(|by| by.low() <= 0.0 && by.high() >= 0.0)
    };
    let one = |timer: &&str| {
        within(&format!("{timer} ms"), &in_round_trips(runs, timer), "round trips", 1.0, 2.0)
    };
    let findings: Vec<_> = TIMERS.iter().filter(is_alike).map(one).collect();
    let all = |outcome| findings.iter().all(|it| it.outcome == outcome);
    let outcome = match (all(Outcome::Holds), all(Outcome::Fails)) {
        (true, _) => Outcome::Holds,
        (_, true) => Outcome::Fails,
        _ => Outcome::Open,
    };
    let ours = findings.iter().map(|it| it.ours.as_str()).collect::<Vec<_>>().join(", ");
    Finding { outcome, ours: format!("tied with the quickest: {ours}") }
}

/// Without recovery times fall and rise again with the timer, and are shortest just above the round trip.
pub(super) fn timer_matters(runs: &Runs<'_>) -> Finding {
    let Some(best) = quickest(runs) else { return Finding::open("no results") };
    let time = |timer| at(runs, NOTHING, timer, "300");
    let name = |timer: &str| format!("{timer} ms");
    let slower =
        |timer: &'static str| less((&name(best), &time(best)), (&name(timer), &time(timer)), "s");
    slower("40").and(slower("1000")).and(is_just_above(runs, best))
}

/// The quickest timer, without judgement.
pub(super) fn quickest_timer(runs: &Runs<'_>) -> Finding {
    let ours = quickest(runs).map_or("no results".into(), |timer| format!("{timer} ms"));
    Finding { outcome: Outcome::Reported, ours }
}

/// WLDR, then ELN, then nothing, at each timer above the round trip and with both kinds of wires.
pub(super) fn near_repair_is_quickest(runs: &Runs<'_>) -> Finding {
    let one = |wires: &'static str, timer: &'static str| {
        let of = |way| (way, at(runs, way, timer, wires));
        let order = increasing(&[of(WLDR), of(ELN), of(NOTHING)], "s");
        order.labelled(&format!("{wires} Mbit/s, {timer} ms"))
    };
    Finding::all(
        WIRES.iter().flat_map(|wires| LONG_TIMERS.iter().map(move |timer| one(wires, timer))),
    )
}

/// Time with ELN over that with WLDR, mean over timers above the round trip.
fn gap(runs: &Runs<'_>, wires: &str) -> Vec<Seeded> {
    let one = |timer: &&str| quotient(&at(runs, ELN, timer, wires), &at(runs, WLDR, timer, wires));
    let sum = LONG_TIMERS.iter().map(one).reduce(|sum, one| joined(&sum, &one, |a, b| a + b));
    scaled(sum.unwrap_or_default(), 1.0 / LONG_TIMERS.len() as f64)
}

/// ELN takes more of WLDR's time where wires are the bottleneck.
pub(super) fn far_repair_suffers_from_wires(runs: &Runs<'_>) -> Finding {
    let name = "ELN over WLDR at 300 Mbit/s";
    less((name, &gap(runs, "300")), ("at 60 Mbit/s", &gap(runs, "60")), "")
}

/// Times with WLDR are the same at all timers above the round trip.
pub(super) fn wldr_needs_no_timer(runs: &Runs<'_>) -> Finding {
    let first = at(runs, WLDR, "60", "300");
    let one = |timer: &&str| {
        let later = at(runs, WLDR, timer, "300");
        ratio(&format!("{timer} ms over 60 ms"), &later, &first, 0.97, 1.03)
    };
    Finding::all(LONG_TIMERS[1..].iter().map(one))
}

// --- parts --------------------------------------------------------------------------------------

fn part(runs: &Runs<'_>, way: &str, timer: &str) -> Vec<Seeded> {
    runs.time(&[("recovery", way), ("timer", timer)])
}

/// Without recovery 200 ms take longer than 60 ms.
pub(super) fn nothing_needs_a_timer(runs: &Runs<'_>) -> Finding {
    less(("60 ms", &part(runs, NOTHING, "60")), ("200 ms", &part(runs, NOTHING, "200")), "s")
}

/// At both timers, one part is quicker than the other.
fn quicker(runs: &Runs<'_>, one: &str, other: &str) -> Finding {
    Finding::all(TWO_TIMERS.map(|timer| quicker_at(runs, timer, one, other)))
}

fn quicker_at(runs: &Runs<'_>, timer: &str, one: &str, other: &str) -> Finding {
    let (ours, theirs) = (part(runs, one, timer), part(runs, other, timer));
    let finding = less_at(THIRD_LOOK, (one, &ours), (other, &theirs), "s");
    finding.labelled(&format!("{timer} ms"))
}

pub(super) fn interests_help_more(runs: &Runs<'_>) -> Finding {
    quicker(runs, INTERESTS, DATA)
}

/// Gain of one part, as a share of the gain of the whole; mean over mean.
fn share(runs: &Runs<'_>, part_: &str, whole: &str, timer: &str, least: f64) -> Finding {
    let times = [NOTHING, part_, whole].map(|way| part(runs, way, timer));
    let [Some(nothing), Some(some), Some(all)] = [0, 1, 2].map(|it| mean_of(&times[it])) else {
        return Finding::open("no results");
    };
    let share = (nothing - some) / (nothing - all);
    let outcome = match share >= least && nothing > all {
        _ if times.iter().any(|values| values.len() < SEEDS) => Outcome::Open,
        true => Outcome::Holds,
        false => Outcome::Fails,
    };
    let ours =
        format!("{timer} ms: {part_} gains {:.2} s of {:.2} s", nothing - some, nothing - all);
    Finding { outcome, ours }
}

pub(super) fn interests_help_near(runs: &Runs<'_>) -> Finding {
    Finding::all(TWO_TIMERS.map(|timer| share(runs, NEAR_INTERESTS, INTERESTS, timer, 0.6)))
}

/// Most of what recovering Data gains is gained at the producer; what is not, is more at 200 ms.
pub(super) fn data_helps_far(runs: &Runs<'_>) -> Finding {
    let most = Finding::all(TWO_TIMERS.map(|timer| share(runs, FAR_DATA, DATA, timer, 0.5)));
    let rest = |timer| less_by(&part(runs, DATA, timer), &part(runs, FAR_DATA, timer));
    most.and(less(("the rest at 60 ms", &rest("60")), ("at 200 ms", &rest("200")), "s"))
}

/// At 200 ms WLDR as a whole is quickest, and nothing slowest; at 60 ms nothing is slowest.
pub(super) fn the_whole_is_best(runs: &Runs<'_>) -> Finding {
    let before_nothing = |timer, way: &&str| quicker_at(runs, timer, way, NOTHING);
    let best = in_part().map(|way| quicker_at(runs, "200", WLDR, way));
    let worst = in_part().map(|way| before_nothing("200", way));
    let short = in_part().chain([&WLDR]).map(|way| before_nothing("60", way));
    Finding::all(best.chain(worst).chain(short))
}

/// E-09 until 28 November 2026: at both timers.
pub(super) fn the_whole_is_best_at_both(runs: &Runs<'_>) -> Finding {
    Finding::all(in_part().map(|way| quicker(runs, WLDR, way).and(quicker(runs, way, NOTHING))))
}

/// The modes that recover something, and not all.
fn in_part() -> impl Iterator<Item = &'static &'static str> {
    PARTS.iter().filter(|way| ![NOTHING, WLDR].contains(way))
}

// --- speeds -------------------------------------------------------------------------------------

fn gain(runs: &Runs<'_>, timer: &str, speed: &str) -> Vec<Seeded> {
    let place = |way| [("recovery", way), ("timer", timer), ("speed", speed)];
    runs.reduction(&place(WLDR), &place(NOTHING))
}

pub(super) fn gains(runs: &Runs<'_>, timer: &str, (low, high): (f64, f64)) -> Finding {
    let one =
        |speed: &str| within(&format!("{speed} km/h"), &gain(runs, timer, speed), "%", low, high);
    Finding::all(SPEEDS.map(one))
}

/// The gain is larger at 200 ms than at 60 ms, at each speed.
pub(super) fn gains_more_with_a_long_timer(runs: &Runs<'_>) -> Finding {
    Finding::all(SPEEDS.map(|speed| {
        let (short, long) = (gain(runs, "60", speed), gain(runs, "200", speed));
        less(("at 60 ms", &short), ("at 200 ms", &long), "%").labelled(&format!("{speed} km/h"))
    }))
}

pub(super) fn wldr_always_gains(runs: &Runs<'_>) -> Finding {
    let one = |timer: &'static str, speed: &'static str| {
        let time = |way| runs.time(&[("recovery", way), ("timer", timer), ("speed", speed)]);
        let (ours, none) = (time(WLDR), time(NOTHING));
        let finding = less_at(THIRD_LOOK, (WLDR, &ours), (NOTHING, &none), "s");
        finding.labelled(&format!("{speed} km/h, {timer} ms"))
    };
    Finding::all(SPEEDS.iter().flat_map(|speed| TWO_TIMERS.map(|timer| one(timer, speed))))
}

// --- the rest -----------------------------------------------------------------------------------

/// No run ends at another instant if the ring is eight times as large: nothing that was wanted was overwritten.
pub(super) fn the_ring_is_large_enough(runs: &Runs<'_>) -> Finding {
    let [small, large] = RINGS.map(|slots| runs.values(&[("ring", slots)], "time_s"));
    let differ = joined(&small, &large, |small, large| small - large);
    let other = differ.iter().filter(|(_, by)| *by != 0.0).count();
    let outcome = match other {
        _ if differ.len() < SEEDS => Outcome::Open,
        0 => Outcome::Holds,
        _ => Outcome::Fails,
    };
    let ours = format!(
        "{other} of {} runs end at another instant with 65,536 slots; 8192 references of 8 bytes are {} bytes",
        differ.len(),
        8192 * 8
    );
    Finding { outcome, ours }
}

/// Mean rate of packets on the link with the smaller ring.
pub(super) fn rate(runs: &Runs<'_>) -> String {
    let bits = mean_of(&runs.values(&[("ring", RINGS[0])], "throughput_bps"));
    bits.map_or_else(|| "no rate".into(), |bits| format!("{:.0} packets/s", bits / 8.0 / 1500.0))
}

/// Mean round trips, without judgement.
pub(super) fn round_trips(runs: &Runs<'_>) -> Finding {
    let one = |way| {
        let place = [("recovery", way), ("timer", "200"), ("wires", "300")];
        let values: Vec<_> = runs
            .values(&place, "rtt_mean_s")
            .iter()
            .map(|(seed, rtt)| (*seed, rtt * 1e3))
            .collect();
        let shown = estimate(&values).map_or("no results".into(), |it| text(&it, "ms"));
        format!("{way} {shown}")
    };
    let ours = format!("at 200 ms: {}", [NOTHING, ELN, WLDR, ACKED].map(one).join(", "));
    Finding { outcome: Outcome::Reported, ours }
}

/// Claims by which a different set-up is judged: at 10 km/h, with timers of 60 and 200 ms and wires of 300 Mbit/s.
pub(super) fn findings(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let time = |way, timer| part(runs, way, timer);
    let order = |timer: &'static str| {
        let series = [WLDR, ELN, NOTHING].map(|way| (way, time(way, timer)));
        increasing(&series, "s").labelled(&format!("{timer} ms"))
    };
    let gain = |timer: &'static str| {
        let place = |way| [("recovery", way), ("timer", timer)];
        runs.reduction(&place(WLDR), &place(NOTHING))
    };
    let lost = estimate(&runs.residual(&[("recovery", NOTHING), ("timer", "200")]));
    let lost = lost.map_or("no results".into(), |it| text(&it, "%"));
    let most = gain("200");
    vec![
        ("E-02", Finding::all(TWO_TIMERS.map(order)).beside(&format!("residual loss {lost}"))),
        ("E-04", ratio("200 ms over 60 ms", &time(WLDR, "200"), &time(WLDR, "60"), 0.97, 1.03)),
        ("E-05", nothing_needs_a_timer(runs)),
        ("E-10", within("10 km/h", &gain("60"), "%", 4.0, 18.0)),
        (
            "E-11",
            within("10 km/h", &most, "%", 8.0, 28.0).and(less(
                ("at 60 ms", &gain("60")),
                ("at 200 ms", &most),
                "%",
            )),
        ),
        ("E-12", quicker(runs, WLDR, NOTHING)),
    ]
}

/// The claims judged in the sweep over timers.
pub(super) fn findings_of_timers(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    vec![("E-01a", timer_matters(runs))]
}
