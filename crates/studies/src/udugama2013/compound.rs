//! Compound, of which the paper states too little: what becomes of its four claims in each mode and with each
//! knob. All of them are doubtful in the source, and none is judged.
use super::axis::LOSSES;
use super::runs::World;
use crate::rule::{Finding, increasing, less, quotient, scaled};
use recoup_sim::statistic::Seeded;

/// Which Compound is meant, beside version and loss: the axis and its value.
pub(super) type Which<'a> = (&'static str, &'a str);

fn of(
    world: &World<'_>,
    which: Which<'_>,
    (version, loss): (&str, &str),
    metric: &str,
) -> Vec<Seeded> {
    world.values(&[which, ("version", version), ("loss", loss)], metric)
}

/// How much longer timers alone take; below 1 where fast recovery does harm.
pub(super) fn gain(world: &World<'_>, which: Which<'_>, loss: &str) -> Vec<Seeded> {
    let time = |version| of(world, which, (version, loss), "c1.time_s");
    quotient(&time("Simple1"), &time("Smart"))
}

/// D-09: with timers alone it is faster, at each rate.
pub(super) fn timers_are_faster(world: &World<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let time = |version| of(world, which, (version, loss), "c1.time_s");
        less(("Simple1", &time("Simple1")), ("Smart", &time("Smart")), "s").labelled(loss)
    }))
}

/// D-10: what Smart costs it grows with the rate of loss.
pub(super) fn penalty_grows(world: &World<'_>, which: Which<'_>) -> Finding {
    let penalty = |loss| {
        let time = |version| of(world, which, (version, loss), "c1.time_s");
        quotient(&time("Smart"), &time("Simple1"))
    };
    increasing(&LOSSES.map(|loss| (loss, penalty(loss))), "").labelled("Smart/Simple1")
}

/// D-11: its throughput is better when timers alone tell of losses.
pub(super) fn throughput_is_better(world: &World<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let rate = |version| {
            let rates = of(world, which, (version, loss), "c1.goodput_bps");
            scaled(rates, 1e-6)
        };
        less(("Smart", &rate("Smart")), ("Simple1", &rate("Simple1")), "Mbit/s").labelled(loss)
    }))
}

/// D-12: its delay window is greater with timers alone.
pub(super) fn delay_window_is_greater(world: &World<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let dwnd = |version| of(world, which, (version, loss), "c1.delay_window_mean");
        less(("Smart", &dwnd("Smart")), ("Simple1", &dwnd("Simple1")), "segments").labelled(loss)
    }))
}
