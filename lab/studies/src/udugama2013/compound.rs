//! Compound, which the paper underspecifies: its four claims in each mode and with each parameter. All of them are
//! doubtful in the source, and none is judged.
use super::axis::LOSSES;
use super::runs::Runs;
use crate::rule::{Finding, increasing, less, quotient, scaled};
use recoup_sim::statistic::Seeded;

/// A variant of Compound, beside version and loss: the axis and its value.
pub(super) type Which<'a> = (&'static str, &'a str);

fn of(
    runs: &Runs<'_>,
    which: Which<'_>,
    (version, loss): (&str, &str),
    metric: &str,
) -> Vec<Seeded> {
    runs.values(&[which, ("version", version), ("loss", loss)], metric)
}

/// Ratio of the times with timers alone and with fast recovery; below 1 if fast recovery does harm.
pub(super) fn gain(runs: &Runs<'_>, which: Which<'_>, loss: &str) -> Vec<Seeded> {
    let time = |version| of(runs, which, (version, loss), "c1.time_s");
    quotient(&time("Simple1"), &time("Smart"))
}

/// D-09: with timers alone it is faster, at each rate.
pub(super) fn timers_are_faster(runs: &Runs<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let time = |version| of(runs, which, (version, loss), "c1.time_s");
        less(("Simple1", &time("Simple1")), ("Smart", &time("Smart")), "s").labelled(loss)
    }))
}

/// D-10: the cost of Smart grows with the rate of loss.
pub(super) fn penalty_grows(runs: &Runs<'_>, which: Which<'_>) -> Finding {
    let penalty = |loss| {
        let time = |version| of(runs, which, (version, loss), "c1.time_s");
        quotient(&time("Smart"), &time("Simple1"))
    };
    increasing(&LOSSES.map(|loss| (loss, penalty(loss))), "").labelled("Smart/Simple1")
}

/// D-11: its throughput is better when timers alone detect losses.
pub(super) fn throughput_is_better(runs: &Runs<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let rate = |version| {
            let rates = of(runs, which, (version, loss), "c1.goodput_bps");
            scaled(rates, 1e-6)
        };
        less(("Smart", &rate("Smart")), ("Simple1", &rate("Simple1")), "Mbit/s").labelled(loss)
    }))
}

/// D-12: its delay window is greater with timers alone.
pub(super) fn delay_window_is_greater(runs: &Runs<'_>, which: Which<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let dwnd = |version| of(runs, which, (version, loss), "c1.delay_window_mean");
        less(("Smart", &dwnd("Smart")), ("Simple1", &dwnd("Simple1")), "segments").labelled(loss)
    }))
}
