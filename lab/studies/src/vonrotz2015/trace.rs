//! Traces: lifetimes and round trips segment by segment, as Figures 2, 5 and 7 show them.
use super::axis::{ADAPTIVE, Scenario};
use super::runs::{At, Runs, mean_of};
use crate::claim::Outcome;
use crate::result::Curve;
use crate::rule::{Finding, less, within};
use recoup_sim::statistic::{Seeded, mean};

/// Figure 2: scenario 1, three hops.
pub(super) const ONE: At = (Scenario::One, "3");
/// Figure 5: scenario 2, five hops.
pub(super) const ROW: At = (Scenario::Row, "5");
/// Figure 7: scenario 3, one hop.
pub(super) const SIDES: At = (Scenario::Sides, "1");

/// Segments of a trace that the paper shows.
const SHOWN: usize = 1_000;

/// Segments after which lifetimes have come down from 4 s.
const SETTLED: usize = 100;

/// The first segments of one run, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// Time of the first transmission of each segment, in seconds.
    pub sent: Vec<f64>,
    /// Lifetime of the first transmission.
    pub lifetime: Vec<f64>,
    /// Time from the first transmission to the Data.
    pub round_trip: Vec<f64>,
}

impl Trace {
    fn of(curve: &Curve) -> Self {
        let column = |name| curve.column(name);
        let (segment, sent) = (column("segment"), column("first_sent_s"));
        let (lifetime, round_trip) = (column("first_rto_s"), column("delay_s"));
        let mut order: Vec<usize> = (0..segment.len()).collect();
        order.sort_by(|a, b| segment[*a].total_cmp(&segment[*b]));
        order.truncate(SHOWN);
        let pick =
            |column: &[f64]| order.iter().filter_map(|at| column.get(*at).copied()).collect();
        Self { sent: pick(sent), lifetime: pick(lifetime), round_trip: pick(round_trip) }
    }

    /// Number of times that the lifetime goes up to 4 s from less than 3.9 s.
    fn resets(&self) -> f64 {
        self.lifetime.windows(2).filter(|pair| pair[0] < 3.9 && pair[1] >= 3.999).count() as f64
    }

    /// The share of time in which the lifetime is 3.9 s or more.
    fn share_at_most(&self) -> f64 {
        let spans = self.sent.windows(2).map(|pair| pair[1] - pair[0]);
        let (mut all, mut most) = (0.0, 0.0);
        for (span, lifetime) in spans.zip(&self.lifetime) {
            all += span;
            most += if *lifetime >= 3.9 { span } else { 0.0 };
        }
        if all > 0.0 { most / all } else { 0.0 }
    }

    /// The share of segments that took 4 s or more.
    fn share_lost(&self) -> f64 {
        let lost = self.round_trip.iter().filter(|it| **it >= 4.0).count();
        lost as f64 / self.round_trip.len().max(1) as f64
    }

    /// The share of these that took less than a second more than a multiple of 4 s.
    fn share_just_above(&self) -> Option<f64> {
        let lost: Vec<_> = self.round_trip.iter().filter(|it| **it >= 4.0).collect();
        let near = lost.iter().filter(|it| **it % 4.0 < 1.0).count();
        (!lost.is_empty()).then(|| near as f64 / lost.len() as f64)
    }

    /// The settled lifetimes: those after the first, which come down from 4 s. `None` if they never change: such a run
    /// has no cycle, and no memory.
    fn settled(&self) -> Option<&[f64]> {
        let lifetime = self.lifetime.get(SETTLED..)?;
        lifetime.windows(2).any(|pair| pair[0] != pair[1]).then_some(lifetime)
    }

    /// Segments from one upward crossing of the mean lifetime to the next.
    fn period(&self) -> Option<f64> {
        let lifetime = self.settled()?;
        let centre = mean(lifetime).unwrap_or_default();
        let up = lifetime.windows(2).filter(|pair| pair[0] < centre && pair[1] >= centre);
        Some(lifetime.len() as f64 / (up.count() as f64).max(1.0))
    }

    /// Segments after which the autocorrelation of the lifetime has fallen below 1/e.
    fn memory(&self) -> Option<f64> {
        let lifetime = self.settled()?;
        let centre = mean(lifetime)?;
        let values: Vec<f64> = lifetime.iter().map(|it| it - centre).collect();
        let at = |lag: usize| {
            values.iter().zip(values.iter().skip(lag)).map(|(a, b)| a * b).sum::<f64>()
        };
        let whole = at(0);
        let fallen = |lag: &usize| at(*lag) < whole * 0.367_879;
        Some((1..values.len() / 2).find(fallen).unwrap_or(values.len() / 2) as f64)
    }
}

/// The traces of the leftmost requester, by seed.
pub(super) fn traces(runs: &Runs<'_>, at: At, timer: &str) -> Vec<(u64, Trace)> {
    let (experiment, point) = runs.curves(at, timer);
    let name = format!("{point}/c1/segments");
    let all = runs.results.curves_of(experiment, &name);
    all.map(|(seed, curve)| (seed, Trace::of(curve))).collect()
}

/// Whether there are traces of a place.
pub(super) fn is_traced(runs: &Runs<'_>, at: At) -> bool {
    ADAPTIVE.iter().any(|timer| !traces(runs, at, timer).is_empty())
}

/// A number of each trace that has it, by seed.
fn each<N>(runs: &Runs<'_>, at: At, timer: &str, of: impl Fn(&Trace) -> N) -> Vec<Seeded>
where
    N: Into<Option<f64>>,
{
    let all = traces(runs, at, timer);
    all.iter().filter_map(|(seed, trace)| Some((*seed, of(trace).into()?))).collect()
}

/// Losses show as round trips just above multiples of 4 s.
pub(super) fn losses_are_multiples_of_four(runs: &Runs<'_>) -> Finding {
    let traces = traces(runs, ONE, "constant");
    let share = |(seed, trace): &(u64, Trace)| Some((*seed, trace.share_just_above()?));
    let near: Vec<_> = traces.iter().filter_map(share).collect();
    let most = traces.iter().flat_map(|(_, trace)| &trace.round_trip).copied().fold(0.0, f64::max);
    let lost = mean_of(&each(runs, ONE, "constant", Trace::share_lost)).unwrap_or(f64::NAN);
    within("share within 1 s above", &near, "", 0.9, f64::INFINITY)
        .beside(&format!("{:.1} % of segments lost, greatest {most:.1} s", 100.0 * lost))
}

/// Resets to 4 s of WMA and CCNTimer, without judgement.
pub(super) fn resets(runs: &Runs<'_>) -> Finding {
    let of = |timer| mean_of(&each(runs, ONE, timer, Trace::resets)).unwrap_or(f64::NAN);
    let ours = format!("WMA {:.1}, CCNTimer {:.1}", of("WMA"), of("CCNTimer"));
    Finding { outcome: Outcome::Reported, ours }
}

/// ICP's lifetime changes in slow cycles.
pub(super) fn icp_is_slow(runs: &Runs<'_>) -> Finding {
    let memory = |timer| each(runs, ONE, timer, Trace::memory);
    let icp = memory("ICP");
    let others = ADAPTIVE.into_iter().filter(|timer| *timer != "ICP");
    let slower = others.map(|timer| less((timer, &memory(timer)), ("ICP", &icp), "segments"));
    let slower = Finding::all(slower).labelled("memory");
    slower.and(icp_cycles(runs, ONE))
}

/// The period of ICP's cycles.
pub(super) fn icp_cycles(runs: &Runs<'_>, at: At) -> Finding {
    let period = each(runs, at, "ICP", Trace::period);
    within("period", &period, "segments", 20.0, f64::INFINITY)
}

/// More is lost where everybody asks over five hops than where one asks over three.
pub(super) fn more_is_lost(runs: &Runs<'_>) -> Finding {
    let share = |at| {
        let lost = each(runs, at, "constant", Trace::share_lost);
        lost.into_iter().map(|(seed, share)| (seed, 100.0 * share)).collect::<Vec<_>>()
    };
    less(("scenario 1, 3 hops", &share(ONE)), ("scenario 2, 5 hops", &share(ROW)), "%")
}

fn time_at_most(runs: &Runs<'_>, timer: &str) -> Vec<Seeded> {
    let share = each(runs, ROW, timer, Trace::share_at_most);
    share.into_iter().map(|(seed, share)| (seed, 100.0 * share)).collect()
}

/// CCNTimer is at 4 s for less time than Timeest, and that than ICP.
pub(super) fn time_at_four(runs: &Runs<'_>) -> Finding {
    let at = |timer| time_at_most(runs, timer);
    less(("CCNTimer", &at("CCNTimer")), ("Timeest", &at("Timeest")), "%").and(less(
        ("Timeest", &at("Timeest")),
        ("ICP", &at("ICP")),
        "%",
    ))
}

/// Time of ICP at 4 s, without judgement.
pub(super) fn icp_at_four(runs: &Runs<'_>) -> Finding {
    let share = mean_of(&time_at_most(runs, "ICP")).unwrap_or(f64::NAN);
    Finding {
        outcome: Outcome::Reported,
        ours: format!("{share:.0} % of the time at 3.9 s or more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetimes(lifetime: Vec<f64>) -> Trace {
        let sent = (0..lifetime.len()).map(|at| at as f64).collect();
        Trace { sent, lifetime, round_trip: Vec::new() }
    }

    #[test]
    fn square_wave_has_its_period_and_duty_cycle() {
        let wave = (0..500).map(|at| if at % 40 < 20 { 1.0 } else { 4.0 }).collect();
        let trace = lifetimes(wave);
        // Nine upward crossings in the 400 that count.
        assert_eq!((trace.period(), trace.resets()), (Some(400.0 / 9.0), 12.0));
        assert!((trace.share_at_most() - 0.5).abs() < 0.03);
        assert!(trace.memory().is_some_and(|it| (6.0..8.0).contains(&it)), "{:?}", trace.memory());
    }

    #[test]
    fn constant_lifetime_has_no_memory() {
        let trace = lifetimes([vec![4.0; 50], vec![0.1; 450]].concat());
        assert_eq!((trace.memory(), trace.period()), (None, None));
    }

    #[test]
    fn round_trips_after_losses_differ_from_late_ones() {
        let round_trip = vec![0.3, 4.2, 8.9, 5.5, 3.9];
        let trace = Trace { round_trip, ..Trace::default() };
        assert_eq!((trace.share_lost(), trace.share_just_above()), (0.6, Some(2.0 / 3.0)));
        assert_eq!(Trace::default().share_just_above(), None);
    }

    #[test]
    fn reordered_segments_are_sorted() {
        let mut curve = Curve::default();
        for (name, values) in [
            ("segment", [2.0, 0.0, 1.0]),
            ("first_sent_s", [0.2, 0.0, 0.1]),
            ("first_rto_s", [3.0, 1.0, 2.0]),
            ("delay_s", [0.3, 0.1, 0.2]),
        ] {
            curve.columns.insert(name.into(), values.to_vec());
        }
        let trace = Trace::of(&curve);
        assert_eq!(trace.lifetime, [1.0, 2.0, 3.0]);
        assert_eq!((trace.sent, trace.round_trip), (vec![0.0, 0.1, 0.2], vec![0.1, 0.2, 0.3]));
    }
}
