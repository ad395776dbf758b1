//! Section 4.3: a part of the file is nearer than the rest, so its Data overtakes the other without any loss.
use super::runs::Runs;
use crate::claim::Outcome;
use crate::result::Curve;
use crate::rule::{Finding, always, are_enough, estimate, less, text};
use recoup_sim::statistic::Seeded;

/// The axes at which a run stands.
fn at<'a>(version: &'a str, cached: &'a str) -> [(&'static str, &'a str); 3] {
    [("flavour", "Cubic"), ("version", version), ("cached", cached)]
}

/// The point whose curves show the latter part near.
pub(super) const PART: &str = "latter half";

/// Number of entries into fast recovery; all of them false, since nothing is lost.
pub(super) fn entries(runs: &Runs<'_>, version: &str) -> Vec<Seeded> {
    let windows = runs.tables(&at(version, PART), "c1", "window");
    let recoveries = runs.tables(&at(version, PART), "c1", "recoveries");
    // A run without any has no such table.
    let count = |seed| {
        let found = recoveries.iter().find(|(it, _)| *it == seed);
        found.map_or(0.0, |(_, curve)| curve.column("time_s").len() as f64)
    };
    windows.into_iter().map(|(seed, _)| (seed, count(seed))).collect()
}

/// Time of the first entry, in seconds since the client started.
fn first_entry(runs: &Runs<'_>, version: &str) -> Vec<Seeded> {
    let choice = at(version, PART);
    let windows = runs.tables(&choice, "c1", "window");
    let one = |(seed, recoveries): (u64, &Curve)| {
        let (_, window) = windows.iter().find(|(it, _)| *it == seed)?;
        Some((seed, recoveries.column("time_s").first()? - window.column("time_s").first()?))
    };
    runs.tables(&choice, "c1", "recoveries").into_iter().filter_map(one).collect()
}

/// The first segment in Router 1's cache, in the paper's own experiments.
pub(super) const FIRST_NEAR: f64 = 10_000.0;

/// Time of the first Data of a segment from `first` on.
pub(super) fn switch(rto: &Curve, first: f64) -> Option<f64> {
    let samples = rto.points("time_s", "segment");
    samples.iter().find(|(_, segment)| *segment >= first).map(|(time, _)| *time)
}

/// The switch of the first run.
pub(super) fn switch_of_first_run(runs: &Runs<'_>, version: &str, first: f64) -> Option<f64> {
    switches(runs, version, first).first().map(|(_, time)| *time)
}

/// The window over time of the first run, in segments.
pub(super) fn window_of_first_run(runs: &Runs<'_>, version: &str, cached: &str) -> Vec<(f64, f64)> {
    let table = runs.table(&at(version, cached), "c1", "window");
    table.map(|window| window.points("time_s", "window")).unwrap_or_default()
}

/// For each run, its number and the time of its first Data of a segment from `first` on.
fn switches(runs: &Runs<'_>, version: &str, first: f64) -> Vec<Seeded> {
    let tables = runs.tables(&at(version, PART), "c1", "rto").into_iter();
    tables.filter_map(|(seed, rto)| Some((seed, switch(rto, first)?))).collect()
}

/// The window when the first Data of a segment from `first` on comes, in segments.
pub(super) fn windows_at_switch(runs: &Runs<'_>, version: &str, first: f64) -> Vec<Seeded> {
    let switches = switches(runs, version, first);
    let one = |(seed, window): (u64, &Curve)| {
        let (_, time) = switches.iter().find(|(it, _)| *it == seed)?;
        Some((seed, height(&window.points("time_s", "window"), *time)?))
    };
    runs.tables(&at(version, PART), "c1", "window").into_iter().filter_map(one).collect()
}

/// Simple3 enters fast recovery falsely at least once in every run.
pub(super) fn simple3_falls_for_it(runs: &Runs<'_>) -> Finding {
    falls_in_every_run(&entries(runs, "Simple3"))
}

fn falls_in_every_run(entries: &[Seeded]) -> Finding {
    let found = always("at least one false entry", entries, 1.0, f64::INFINITY);
    estimate(entries).map_or(found.clone(), |it| found.beside(&format!("{} a run", text(&it, ""))))
}

/// Smart enters it later than Simple3, or not at all. Its threshold, FRT+Pre_FRT, is not judged: runs do
/// not record how many Data were ahead.
pub(super) fn smart_falls_later(runs: &Runs<'_>) -> Finding {
    let (soon, late) = (first_entry(runs, "Simple3"), first_entry_or_end(runs, "Smart"));
    if soon.is_empty() && are_enough(&entries(runs, "Simple3")) {
        let ours = "no run of Simple3 enters, so none of Smart is later".into();
        return Finding { outcome: Outcome::Fails, ours };
    }
    let smart = first_entry(runs, "Smart").len();
    let ours = format!("Smart enters in {smart} of {} runs", late.len());
    less(("first Simple3", &soon), ("Smart", &late), "s").beside(&ours)
}

/// Time of the first entry, or of the end of a run without any.
fn first_entry_or_end(runs: &Runs<'_>, version: &str) -> Vec<Seeded> {
    let entries = first_entry(runs, version);
    let one = |(seed, window): (u64, &Curve)| {
        let time = window.column("time_s");
        let entry = entries.iter().find(|(it, _)| *it == seed).map(|(_, entry)| *entry);
        Some((seed, entry.or_else(|| Some(time.last()? - time.first()?))?))
    };
    runs.tables(&at(version, PART), "c1", "window").into_iter().filter_map(one).collect()
}

/// D-20 until 28 November 2026: Smart does so less often, and later.
pub(super) fn smart_falls_less_and_later(runs: &Runs<'_>) -> Finding {
    let (smart, simple3) = (entries(runs, "Smart"), entries(runs, "Simple3"));
    let fewer = less(("entries Smart", &smart), ("Simple3", &simple3), "");
    // If Smart never enters it there is no time to compare.
    if smart.iter().all(|(_, count)| *count == 0.0) {
        return fewer;
    }
    let (soon, late) = (first_entry(runs, "Simple3"), first_entry(runs, "Smart"));
    fewer.and(less(("first Simple3", &soon), ("Smart", &late), "s"))
}

/// The claim for a Router 1 that sends Interests to two servers in turn, so that Data is always reordered: Simple3
/// enters fast recovery falsely, Smart less often.
pub(super) fn of_two_servers(runs: &Runs<'_>) -> [Finding; 2] {
    let entries = |version| {
        let at = [("flavour", "Cubic"), ("version", version)];
        runs.values(&at, "c1.recoveries")
    };
    let (smart, simple3) = (entries("Smart"), entries("Simple3"));
    [falls_in_every_run(&simple3), less(("entries Smart", &smart), ("Simple3", &simple3), "")]
}

/// Distance of two windows between two times: the root of the mean square.
fn distance(one: &[(f64, f64)], other: &[(f64, f64)], (from, to): (f64, f64)) -> Option<f64> {
    const STEP: f64 = 0.05;
    let steps = ((to - from) / STEP) as usize;
    let squares = (0..steps).filter_map(|step| {
        let time = from + step as f64 * STEP;
        let difference = height(one, time)? - height(other, time)?;
        Some(difference * difference)
    });
    let squares: Vec<f64> = squares.collect();
    (!squares.is_empty()).then(|| (squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
}

/// The height of a curve of steps.
fn height(curve: &[(f64, f64)], time: f64) -> Option<f64> {
    let after = curve.partition_point(|(at, _)| *at <= time);
    curve.get(after.checked_sub(1)?).map(|(_, height)| *height)
}

/// Distances of the window with a part near to those with nothing and with everything near: before the switch, and
/// after it.
fn distances<'a>(
    runs: &Runs<'a>,
    references: &Runs<'a>,
    version: &str,
    first: f64,
) -> [Vec<Seeded>; 4] {
    let table = |runs: &Runs<'a>, cached, seed, name: &str| {
        let all = runs.tables(&at(version, cached), "c1", name);
        all.into_iter().find(|(it, _)| *it == seed).map(|(_, curve)| curve)
    };
    let mut all = [const { Vec::new() }; 4];
    for (seed, part) in runs.tables(&at(version, PART), "c1", "window") {
        let part = part.points("time_s", "window");
        let curve =
            |cached| Some(table(references, cached, seed, "window")?.points("time_s", "window"));
        let ends = || {
            let switch = switch(table(runs, PART, seed, "rto")?, first)?;
            Some((part.first()?.0, switch, part.last()?.0))
        };
        let (Some(far), Some(near), Some((begin, switch, end))) =
            (curve("nothing"), curve("everything"), ends())
        else {
            continue;
        };
        let pairs = [
            (&far, (begin, switch)),
            (&near, (begin, switch)),
            (&far, (switch, end)),
            (&near, (switch, end)),
        ];
        for (series, (reference, span)) in all.iter_mut().zip(pairs) {
            series.extend(distance(&part, reference, span).map(|it| (seed, it)));
        }
    }
    all
}

/// Before the switch, the first Data from `first` on, the window is like that with nothing near; after it like that with
/// everything near.
pub(super) fn smart_changes_over(runs: &Runs<'_>, references: &Runs<'_>, first: f64) -> Finding {
    let [far_before, near_before, far_after, near_after] =
        distances(runs, references, "Smart", first);
    let before = less(("to none", &far_before), ("to full", &near_before), "segments");
    let after = less(("to full", &near_after), ("to none", &far_after), "segments");
    before.labelled("before").and(after.labelled("after"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_of_curves_is_root_mean_square() {
        let flat = [(0.0, 10.0)];
        let step = [(0.0, 10.0), (1.0, 14.0)];
        let of = |span| distance(&flat, &step, span).unwrap();
        assert_eq!(of((0.0, 1.0)), 0.0);
        assert!((of((1.0, 2.0)) - 4.0).abs() < 1e-9);
        assert!((of((0.0, 2.0)) - 8_f64.sqrt()).abs() < 1e-9);
        assert_eq!(distance(&flat, &step, (1.0, 1.0)), None);
        assert_eq!(height(&step, -1.0), None);
    }
}
