//! Growth of windows in congestion avoidance, from curves: segments per round trip.
//!
//! A stretch of congestion avoidance lies between two changes of the threshold, with the window at or above it and
//! outside of fast recovery. Rounds are counted by the round trips that the estimator sampled.
use super::axis::LOSSES;
use super::runs::Runs;
use crate::result::Curve;
use crate::rule::{Finding, within};
use recoup_sim::statistic::{Seeded, mean};

/// A stretch: rounds since its begin, and the window.
pub(super) type Stretch = Vec<(f64, f64)>;

/// A straight line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub slope: f64,
    /// Share of the variance that the line explains.
    pub r2: f64,
}

/// The line with the least squared distance; none through fewer than three points, or one place.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (xx, yy) = (sum(&|p| (p.0 - x) * (p.0 - x)), sum(&|p| (p.1 - y) * (p.1 - y)));
    let xy = sum(&|p| (p.0 - x) * (p.1 - y));
    let fits = points.len() >= 3 && xx > 0.0;
    fits.then(|| Fit { slope: xy / xx, r2: if yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 } })
}

/// The stretches of congestion avoidance of a run, from its records `window`, `rto` and `recoveries`.
pub(super) fn stretches(window: &Curve, rto: &Curve, recoveries: Option<&Curve>) -> Vec<Stretch> {
    let recoveries: Vec<_> =
        recoveries.map(|it| it.points("time_s", "duration_s")).unwrap_or_default();
    let recovers =
        |at: f64| recoveries.iter().any(|(from, time)| (*from..=from + time).contains(&at));
    let thresholds = window.column("ssthresh");
    let rounds = rounds(window.column("time_s"), rto);
    let (mut all, mut open): (Vec<Stretch>, Option<(f64, f64)>) = (Vec::new(), None);
    let points = window.points("time_s", "window").into_iter();
    for (((time, cwnd), threshold), round) in points.zip(thresholds.iter().copied()).zip(rounds) {
        if cwnd < threshold || recovers(time) {
            open = None;
            continue;
        }
        let (_, begun) = match open {
            Some(same) if same.0 == threshold => same,
            _ => {
                all.push(Vec::new());
                *open.insert((threshold, round))
            }
        };
        all.last_mut().into_iter().for_each(|stretch| stretch.push((round - begun, cwnd)));
    }
    all
}

/// Number of rounds that have passed at each time.
fn rounds(times: &[f64], rto: &Curve) -> Vec<f64> {
    let samples = rto.points("time_s", "rtt_s");
    let (mut next, mut rtt, mut passed, mut before) = (0, f64::INFINITY, 0.0, 0.0);
    let mut rounds = Vec::with_capacity(times.len());
    for time in times {
        while let Some((at, sample)) = samples.get(next).filter(|(at, _)| at <= time) {
            passed += (at - before) / rtt;
            (before, rtt, next) = (*at, *sample, next + 1);
        }
        passed += (time - before) / rtt;
        before = *time;
        rounds.push(passed);
    }
    rounds
}

/// A number of each run of Smart at a rate of loss: the mean over its stretches.
fn over_stretches<'a>(
    runs: &Runs<'a>,
    (flavour, loss): (&str, &str),
    of: impl Fn(&Stretch) -> Option<f64>,
) -> Vec<Seeded> {
    let choice = [("flavour", flavour), ("version", "Smart"), ("loss", loss)];
    let (rto, recoveries) =
        (runs.tables(&choice, "c1", "rto"), runs.tables(&choice, "c1", "recoveries"));
    let find = |all: &[(u64, &'a Curve)], seed| {
        all.iter().find(|(it, _)| *it == seed).map(|(_, curve)| *curve)
    };
    let one = |(seed, window): (u64, &Curve)| {
        let rto = find(&rto, seed)?;
        let all = stretches(window, rto, find(&recoveries, seed));
        Some((seed, mean(&all.iter().filter_map(&of).collect::<Vec<_>>())?))
    };
    runs.tables(&choice, "c1", "window").into_iter().filter_map(one).collect()
}

/// Fewest rounds of a stretch whose line is used.
const LEAST_ROUNDS: f64 = 5.0;
/// Rounds that count as the beginning of a stretch.
const FIRST_ROUNDS: f64 = 5.0;

fn whole(stretch: &Stretch) -> Option<Fit> {
    stretch.last().filter(|last| last.0 >= LEAST_ROUNDS)?;
    fit(stretch)
}

fn beginning(stretch: &Stretch) -> Option<Fit> {
    stretch.last().filter(|last| last.0 >= FIRST_ROUNDS)?;
    let first: Vec<_> = stretch.iter().copied().take_while(|it| it.0 <= FIRST_ROUNDS).collect();
    fit(&first)
}

/// NewReno grows by one segment in each round trip, along a line.
pub(super) fn one_per_round(runs: &Runs<'_>) -> Finding {
    Finding::all(LOSSES.map(|loss| {
        let of = |with: fn(&Fit) -> f64| {
            over_stretches(runs, ("NewReno", loss), |it| whole(it).as_ref().map(with))
        };
        let slope = within(&format!("{loss}: slope"), &of(|it| it.slope), "per round", 0.9, 1.1);
        slope.and(within("R²", &of(|it| it.r2), "", 0.95, f64::INFINITY))
    }))
}

/// Cubic's first growth after a loss, in segments per round trip.
pub(super) fn first_growth(runs: &Runs<'_>, loss: &str) -> Vec<Seeded> {
    over_stretches(runs, ("Cubic", loss), |it| beginning(it).map(|fit| fit.slope))
}

/// Cubic begins with a third of a segment per round trip, within a quarter of that.
pub(super) fn a_third_at_first(runs: &Runs<'_>) -> Finding {
    Finding::all(
        LOSSES.map(|loss| within(loss, &first_growth(runs, loss), "per round", 0.25, 5.0 / 12.0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(columns: &[(&str, Vec<f64>)]) -> Curve {
        let columns = columns.iter().map(|(name, values)| ((*name).to_owned(), values.clone()));
        Curve { columns: columns.collect() }
    }

    #[test]
    fn line_is_fitted_and_curves_fit_worse() {
        let line: Vec<_> = (0..10).map(|x| (f64::from(x), 3.0 + 0.5 * f64::from(x))).collect();
        let found = fit(&line).unwrap();
        assert!((found.slope - 0.5).abs() < 1e-12 && (found.r2 - 1.0).abs() < 1e-12);
        let bent: Vec<_> = (0..10).map(|x| (f64::from(x), f64::from(x % 2))).collect();
        assert!(fit(&bent).unwrap().r2 < 0.1);
        assert_eq!(fit(&line[..2]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn stretch_lies_between_threshold_changes_outside_of_recovery() {
        // Ten points a second, round trips of 100 ms: one segment per point is one per round.
        let times: Vec<f64> = (0..40).map(|k| f64::from(k) / 10.0).collect();
        let cwnd = |k: i32| if k < 20 { 10.0 + f64::from(k) } else { 5.0 + f64::from(k - 20) };
        let window = curve(&[
            ("time_s", times.clone()),
            ("window", (0..40).map(cwnd).collect()),
            ("ssthresh", (0..40).map(|k| if k < 20 { 15.0 } else { 5.0 }).collect()),
        ]);
        let rto = curve(&[("time_s", vec![0.0]), ("rtt_s", vec![0.1])]);
        let recoveries = curve(&[("time_s", vec![1.95]), ("duration_s", vec![0.3])]);
        let found = stretches(&window, &rto, Some(&recoveries));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].first(), Some(&(0.0, 15.0)));
        assert_eq!(found[0].len(), 15);
        assert_eq!(
            found[1].first().map(|it| it.1),
            Some(8.0),
            "what recovery inflates is left out"
        );
        assert!(found.iter().all(|it| (whole(it).unwrap().slope - 1.0).abs() < 1e-9));
    }
}
