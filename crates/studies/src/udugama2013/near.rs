//! Section 4.3: a part of the file is nearer than the rest, so its Data overtakes the other without any loss.
use super::runs::World;
use crate::result::Curve;
use crate::rule::{Finding, always, estimate, less, text};
use recoup_sim::statistic::Seeded;

/// The axes at which a run stands.
fn at<'a>(version: &'a str, cached: &'a str) -> [(&'static str, &'a str); 3] {
    [("flavour", "Cubic"), ("version", version), ("cached", cached)]
}

/// The point whose curves show the latter part near.
pub(super) const PART: &str = "latter half";

/// How often fast recovery began; all of it false, since nothing is lost.
pub(super) fn entries(world: &World<'_>, version: &str) -> Vec<Seeded> {
    let windows = world.tables(&at(version, PART), "c1", "window");
    let recoveries = world.tables(&at(version, PART), "c1", "recoveries");
    // A run without any has no such table.
    let count = |seed| {
        let found = recoveries.iter().find(|(it, _)| *it == seed);
        found.map_or(0.0, |(_, curve)| curve.column("time_s").len() as f64)
    };
    windows.into_iter().map(|(seed, _)| (seed, count(seed))).collect()
}

/// When that was first, in seconds since the client started.
fn first_entry(world: &World<'_>, version: &str) -> Vec<Seeded> {
    let choice = at(version, PART);
    let windows = world.tables(&choice, "c1", "window");
    let one = |(seed, recoveries): (u64, &Curve)| {
        let (_, window) = windows.iter().find(|(it, _)| *it == seed)?;
        Some((seed, recoveries.column("time_s").first()? - window.column("time_s").first()?))
    };
    world.tables(&choice, "c1", "recoveries").into_iter().filter_map(one).collect()
}

/// The first segment that Router 1 has.
const FIRST_NEAR: f64 = 10_000.0;

/// When Data of a segment from `first` on is first seen.
pub(super) fn switch(rto: &Curve, first: f64) -> Option<f64> {
    let samples = rto.points("time_s", "segment");
    samples.iter().find(|(_, segment)| *segment >= first).map(|(time, _)| *time)
}

/// Simple3 falls for it at least once in every run.
pub(super) fn simple3_falls_for_it(world: &World<'_>) -> Finding {
    falls_in_every_run(&entries(world, "Simple3"))
}

fn falls_in_every_run(entries: &[Seeded]) -> Finding {
    let found = always("at least one false entry", entries, 1.0, f64::INFINITY);
    estimate(entries).map_or(found.clone(), |it| found.beside(&format!("{} a run", text(&it, ""))))
}

/// Smart does so less often, and later.
pub(super) fn smart_falls_less_and_later(world: &World<'_>) -> Finding {
    let (smart, simple3) = (entries(world, "Smart"), entries(world, "Simple3"));
    let fewer = less(("entries Smart", &smart), ("Simple3", &simple3), "");
    // Where Smart never falls for it there is no time to compare.
    if smart.iter().all(|(_, count)| *count == 0.0) {
        return fewer;
    }
    let (soon, late) = (first_entry(world, "Simple3"), first_entry(world, "Smart"));
    fewer.and(less(("first Simple3", &soon), ("Smart", &late), "s"))
}

/// The same where Router 1 asks two servers in turn, so that Data comes out of order all the time: Simple3 falls
/// for it, Smart less often.
pub(super) fn of_two_servers(world: &World<'_>) -> [Finding; 2] {
    let entries = |version| {
        let at = [("flavour", "Cubic"), ("version", version)];
        world.values(&at, "c1.recoveries")
    };
    let (smart, simple3) = (entries("Smart"), entries("Simple3"));
    [falls_in_every_run(&simple3), less(("entries Smart", &smart), ("Simple3", &simple3), "")]
}

/// How far two windows are from each other between two times: the root of the mean square.
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

/// Distances of the window with a part near to those with nothing and with everything near: before the switch,
/// and after it.
fn distances<'a>(world: &World<'a>, references: &World<'a>, version: &str) -> [Vec<Seeded>; 4] {
    let table = |world: &World<'a>, cached, seed, name: &str| {
        let all = world.tables(&at(version, cached), "c1", name);
        all.into_iter().find(|(it, _)| *it == seed).map(|(_, curve)| curve)
    };
    let mut all = [const { Vec::new() }; 4];
    for (seed, part) in world.tables(&at(version, PART), "c1", "window") {
        let part = part.points("time_s", "window");
        let curve =
            |cached| Some(table(references, cached, seed, "window")?.points("time_s", "window"));
        let ends = || {
            let switch = switch(table(world, PART, seed, "rto")?, FIRST_NEAR)?;
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

/// Before the switch the window is like that with nothing near, after it like that with everything near.
pub(super) fn smart_changes_over(world: &World<'_>, references: &World<'_>) -> Finding {
    let [far_before, near_before, far_after, near_after] = distances(world, references, "Smart");
    let before = less(("to none", &far_before), ("to full", &near_before), "segments");
    let after = less(("to full", &near_after), ("to none", &far_after), "segments");
    before.labelled("before").and(after.labelled("after"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_curves_is_the_root_of_the_mean_square() {
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
