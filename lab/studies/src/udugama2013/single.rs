//! Section 4.1: single losses. Download times of timers alone (Simple1) and of everything (Smart), and how
//! often the window falls to 1.
use super::axis::LOSSES;
use super::runs::{Runs, joined};
use crate::rule::{Finding, always, increasing, less, quotient, within};
use recoup_sim::statistic::Seeded;

/// Download times.
pub(super) fn time(runs: &Runs<'_>, flavour: &str, version: &str, loss: &str) -> Vec<Seeded> {
    let choice = [("flavour", flavour), ("version", version), ("loss", loss)];
    runs.values(&choice, "c1.time_s")
}

/// Ratio of the times with timers alone and with the detector.
pub(super) fn gain(runs: &Runs<'_>, flavour: &str, loss: &str) -> Vec<Seeded> {
    quotient(&time(runs, flavour, "Simple1", loss), &time(runs, flavour, "Smart", loss))
}

/// Smart is faster than Simple1.
pub(super) fn faster(runs: &Runs<'_>, flavour: &str, loss: &str) -> Finding {
    let (simple, smart) =
        (time(runs, flavour, "Simple1", loss), time(runs, flavour, "Smart", loss));
    less(("Smart", &smart), ("Simple1", &simple), "s")
}

/// Smart is faster at each rate of loss.
pub(super) fn faster_at_each(runs: &Runs<'_>, flavour: &str) -> Finding {
    Finding::all(LOSSES.map(|loss| faster(runs, flavour, loss).labelled(loss)))
}

/// Cubic gains more than NewReno at the highest rate, and by how much more rises with the rate.
pub(super) fn cubic_gains_more(runs: &Runs<'_>) -> Finding {
    let of = |flavour, loss| gain(runs, flavour, loss);
    let last = LOSSES[LOSSES.len() - 1];
    let more = less(("NewReno", &of("NewReno", last)), ("Cubic", &of("Cubic", last)), "");
    let lead = |loss| joined(&of("Cubic", loss), &of("NewReno", loss), |cubic, reno| cubic - reno);
    let rising = increasing(&LOSSES.map(|loss| (loss, lead(loss))), "");
    more.labelled(&format!("gain at {last}")).and(rising.labelled("Cubic's lead"))
}

/// Each loss event of Simple1 begins anew with a window of 1; few of Smart's do.
pub(super) fn begins_anew(runs: &Runs<'_>) -> Finding {
    let share = |version, flavour, loss| {
        let choice = [("flavour", flavour), ("version", version), ("loss", loss)];
        let all = runs.values(&choice, "c1.loss_events");
        joined(&runs.values(&choice, "c1.loss_events_timeout"), &all, |some, all| {
            if all > 0.0 { some / all } else { 0.0 }
        })
    };
    let shares = |version, flavour| LOSSES.map(|loss| share(version, flavour, loss)).concat();
    let one = |flavour| {
        let (simple, smart) = (shares("Simple1", flavour), shares("Smart", flavour));
        let anew = always(&format!("Simple1 {flavour}: each"), &simple, 1.0, 1.0);
        anew.and(within(&format!("Smart {flavour}"), &smart, "", f64::NEG_INFINITY, 0.1))
    };
    Finding::all(["NewReno", "Cubic"].map(one))
}
