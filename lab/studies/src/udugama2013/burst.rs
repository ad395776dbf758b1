//! Section 4.2: bursts of losses. How long fast recovery takes, and how far it lets the window grow.
use super::axis::FLAVOURS;
use super::runs::{Runs, joined};
use super::scenario::BURST_TIMES;
use crate::result::Curve;
use crate::rule::{Finding, estimate, increasing, ratio, text};
use recoup_sim::statistic::Seeded;

/// A number of each run.
pub(super) type Measure = fn(&Curve, f64) -> Option<f64>;

/// Time in fast recovery after the burst that begins at `at`, all entries together.
pub(super) fn duration(recoveries: &Curve, at: f64) -> Option<f64> {
    let all = recoveries.points("time_s", "duration_s").into_iter();
    all.filter(|(time, _)| (at..at + 5.0).contains(time)).map(|(_, time)| time).reduce(|a, b| a + b)
}

/// The widest window in fast recovery after that burst.
pub(super) fn peak(recoveries: &Curve, at: f64) -> Option<f64> {
    let all = recoveries.points("time_s", "window_max").into_iter();
    all.filter(|(time, _)| (at..at + 5.0).contains(time)).map(|(_, window)| window).reduce(f64::max)
}

/// Widest window in fast recovery over the window before the burst; none if that was not recorded.
fn rise(recoveries: &Curve, at: f64) -> Option<f64> {
    let all = recoveries.points("time_s", "window_before").into_iter();
    let (_, before) = all.into_iter().find(|(time, _)| (at..at + 5.0).contains(time))?;
    peak(recoveries, at).filter(|_| before > 0.0).map(|it| it / before)
}

/// `measure` after the burst of so many losses, by seed.
pub(super) fn after(
    runs: &Runs<'_>,
    flavour: &str,
    version: &str,
    losses: usize,
    measure: Measure,
) -> Vec<Seeded> {
    let choice = [("flavour", flavour), ("version", version)];
    let tables = runs.tables(&choice, "c1", "recoveries");
    let at = BURST_TIMES[losses - 1];
    tables.into_iter().filter_map(|(seed, table)| Some((seed, measure(table, at)?))).collect()
}

/// After one loss, Simple2 and Smart take equally long.
pub(super) fn equal_after_one(runs: &Runs<'_>) -> Finding {
    Finding::all(FLAVOURS.into_iter().map(|flavour| {
        let of = |version| after(runs, flavour, version, 1, duration);
        ratio(&format!("{flavour} Simple2/Smart"), &of("Simple2"), &of("Smart"), 0.95, 1.05)
    }))
}

/// Simple2 needs about as many round trips as there are losses: at least three times as long for four.
pub(super) fn grows_with_losses(runs: &Runs<'_>) -> Finding {
    Finding::all(FLAVOURS.into_iter().map(|flavour| {
        let of = |losses| after(runs, flavour, "Simple2", losses, duration);
        let names = ["1", "2", "3", "4"];
        let series: Vec<_> = (1..).zip(names).map(|(losses, name)| (name, of(losses))).collect();
        let rising = increasing(&series, "s");
        let times = ratio(&format!("{flavour} 4/1"), &of(4), &of(1), 3.0, f64::INFINITY);
        rising.labelled(flavour).and(times)
    }))
}

/// Smart takes at most 1.3 times as long for more losses than for one.
pub(super) fn stays_short(runs: &Runs<'_>) -> Finding {
    Finding::all(FLAVOURS.into_iter().flat_map(|flavour| {
        let of = move |losses| after(runs, flavour, "Smart", losses, duration);
        (2..=4).map(move |losses| {
            ratio(&format!("{flavour} {losses}/1"), &of(losses), &of(1), 0.0, 1.3)
        })
    }))
}

/// The three flavours take equally long, within 15 %.
pub(super) fn flavours_agree(runs: &Runs<'_>) -> Finding {
    Finding::all(["Simple2", "Smart"].into_iter().flat_map(|version| {
        (1..=4).map(move |losses| {
            let of = |flavour| after(runs, flavour, version, losses, duration);
            let [one, two, three] = FLAVOURS.map(of);
            let most = joined(&joined(&one, &two, f64::max), &three, f64::max);
            let least = joined(&joined(&one, &two, f64::min), &three, f64::min);
            ratio(&format!("{version} {losses}, most/least"), &most, &least, 0.0, 1.15)
        })
    }))
}

/// The peaks of Simple2 rise with the losses.
pub(super) fn peaks_rise(runs: &Runs<'_>, flavour: &str) -> Finding {
    let peak = |losses| after(runs, flavour, "Simple2", losses, peak);
    increasing(&[("1", peak(1)), ("2", peak(2)), ("3", peak(3)), ("4", peak(4))], "segments")
}

/// How far the window of Smart rises above that before the burst is alike for one to four losses, within 15 %.
pub(super) fn rises_stay(runs: &Runs<'_>, flavour: &str) -> Finding {
    stay(runs, flavour, rise).beside(&each(runs, flavour, peak, " segments"))
}

/// D-18 until 28 November 2026: the peaks themselves.
pub(super) fn peaks_stay(runs: &Runs<'_>, flavour: &str) -> Finding {
    stay(runs, flavour, peak)
}

/// A measure of Smart lies within 15 % for one to four losses.
fn stay(runs: &Runs<'_>, flavour: &str, measure: Measure) -> Finding {
    let of = |losses| after(runs, flavour, "Smart", losses, measure);
    let over = |with: fn(f64, f64) -> f64| {
        (1..=4).map(of).reduce(|a, b| joined(&a, &b, with)).unwrap_or_default()
    };
    let found = ratio("highest/lowest", &over(f64::max), &over(f64::min), 0.0, 1.15);
    found.beside(&each(runs, flavour, measure, ""))
}

/// The means of a measure of Smart after one to four losses.
fn each(runs: &Runs<'_>, flavour: &str, measure: Measure, unit: &str) -> String {
    let mean = |losses| {
        let values = after(runs, flavour, "Smart", losses, measure);
        estimate(&values).map_or("none".into(), |it| text(&it, ""))
    };
    (1..=4).map(mean).collect::<Vec<_>>().join(", ") + unit
}
