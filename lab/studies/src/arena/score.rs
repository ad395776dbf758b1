//! The score of one run.
use super::case::{Kind, Terms};
use recoup_sim::statistic::{jain, mean};
use std::collections::BTreeMap;

/// Goodputs in bit/s by consumer and second.
pub type Goodputs = BTreeMap<String, BTreeMap<u64, f64>>;

/// Jain's index above which shares count as converged.
const CONVERGED: f64 = 0.9;
/// Seconds for which it has to stay there.
const CONVERGED_FOR: u64 = 5;

/// The result of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Every consumer under test whose completion is wanted completed.
    pub completed: bool,
    /// Time of the last fetch in s; that of the cut-off if one did not complete.
    pub time_s: Option<f64>,
    /// How far the run is from the best possible one, which is 1: the completion time over the ideal; of sharing, the
    /// inverse of the utilisation times how far the share is from the fair one, or over Jain's index.
    pub factor: f64,
    /// 95th percentile of the queueing delay, in ms; the mean over the consumers under test.
    pub queueing_ms: Option<f64>,
    /// Retransmissions, in % of segments.
    pub retransmitted_percent: Option<f64>,
    /// Spurious retransmissions, in % of segments.
    pub spurious_percent: Option<f64>,
    /// Shares of the link.
    pub sharing: Option<Sharing>,
}

/// Shares of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Share of the link's capacity for content that was used.
    pub utilisation: f64,
    /// Share of the consumers under test in the goodput of all consumers.
    pub share: f64,
    /// Jain's index of the consumers under test.
    pub jain: f64,
    /// The smallest goodput of these over the largest.
    pub min_max: f64,
    /// Seconds from the last arrival until Jain's index is at least 0.9 for five seconds; `None` without convergence,
    /// or with one consumer.
    pub convergence_s: Option<f64>,
}

impl Score {
    /// The score of a run with these metrics. `goodputs` are read for sharing only.
    pub fn new(terms: &Terms, metric: &dyn Fn(&str) -> Option<f64>, goodputs: &Goodputs) -> Self {
        let of = |what: &str| {
            let values = terms.under_test.iter().map(|name| metric(&format!("{name}.{what}")));
            values.collect::<Option<Vec<_>>>()
        };
        let sum = |what: &str| of(what).map(|values| values.iter().sum::<f64>());
        let segments = sum("segments").filter(|segments| *segments > 0.0);
        let percent = |count: Option<f64>| Some(100.0 * count? / segments?);
        let mut score = Self {
            queueing_ms: queueing_ms(terms, &of),
            retransmitted_percent: percent(sum("retransmissions")),
            completed: true,
            ..Self::default()
        };
        match terms.kind {
            Kind::Completion { ideal_s } => {
                score.completed =
                    of("completed").is_some_and(|all| all.iter().all(|it| *it == 1.0));
                let time_s = of("time_s").map(|all| all.iter().copied().fold(0.0, f64::max));
                let time_s = time_s.filter(|_| score.completed).unwrap_or(terms.stop_s);
                score.time_s = Some(time_s);
                score.factor = time_s / ideal_s;
                score.spurious_percent = percent(Some(spurious(terms, metric, &sum)));
            }
            Kind::Sharing { goodput, fair_share, last_arrival_s, since_s } => {
                let period = since_s as u64..terms.stop_s as u64;
                let mut sharing = sharing(terms, period, goodputs, goodput);
                sharing.convergence_s = convergence_s(terms, goodputs, last_arrival_s);
                score.factor = sharing.factor(fair_share);
                score.sharing = Some(sharing);
            }
        }
        score
    }
}

impl Sharing {
    fn factor(&self, fair_share: f64) -> f64 {
        let unused = 1.0 / self.utilisation.max(1e-3);
        let share = self.share.max(1e-3);
        match fair_share < 1.0 {
            true => unused * (share / fair_share).max(fair_share / share),
            false => unused / self.jain.max(1e-3),
        }
    }
}

fn queueing_ms(terms: &Terms, of: &dyn Fn(&str) -> Option<Vec<f64>>) -> Option<f64> {
    let (high, low) = (of("rtt_p95_s")?, of("rtt_min_s")?);
    let delays = high.iter().zip(&low).map(|(p95, min)| p95 - terms.base_rtt_s.unwrap_or(*min));
    mean(&delays.collect::<Vec<_>>()).map(|delay| delay * 1e3)
}

/// Retransmissions beyond the losses; if other traffic loses packets, too, spurious timeouts and
/// false alarms.
fn spurious(
    terms: &Terms,
    metric: &dyn Fn(&str) -> Option<f64>,
    sum: &dyn Fn(&str) -> Option<f64>,
) -> f64 {
    let or_none = |value: Option<f64>| value.unwrap_or(0.0);
    match metric("all.lost").filter(|_| terms.losses_are_its_own) {
        Some(lost) => {
            let dropped = or_none(metric("all.drops_queue_full"));
            (or_none(sum("retransmissions")) - lost - dropped).max(0.0)
        }
        None => or_none(sum("bad_timeouts")) + or_none(sum("false_alarms")),
    }
}

fn sharing(
    terms: &Terms,
    period: std::ops::Range<u64>,
    goodputs: &Goodputs,
    capacity: f64,
) -> Sharing {
    let of = |name: &String| {
        let rates = goodputs.get(name);
        let rate = |second| rates.and_then(|rates| rates.get(&second)).copied().unwrap_or(0.0);
        mean(&period.clone().map(rate).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let ours: Vec<f64> = terms.under_test.iter().map(of).collect();
    let all: f64 = terms.consumers.iter().map(of).sum();
    let most = ours.iter().copied().fold(0.0, f64::max);
    let least = ours.iter().copied().fold(f64::INFINITY, f64::min);
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    Sharing {
        utilisation: share(all, capacity),
        share: share(ours.iter().sum(), all),
        jain: jain(&ours).unwrap_or(0.0),
        min_max: share(least, most),
        convergence_s: None,
    }
}

fn convergence_s(terms: &Terms, goodputs: &Goodputs, last_arrival_s: f64) -> Option<f64> {
    if terms.under_test.len() < 2 {
        return None;
    }
    let mut fair = 0;
    for second in 0..terms.stop_s as u64 {
        let rate = |name: &String| goodputs.get(name).and_then(|rates| rates.get(&second));
        let rates = terms.under_test.iter().map(|name| rate(name).copied().unwrap_or(0.0));
        let index = jain(&rates.collect::<Vec<_>>()).unwrap_or(0.0);
        fair = if index >= CONVERGED { fair + 1 } else { 0 };
        if fair == CONVERGED_FOR {
            return Some((second + 1 - CONVERGED_FOR) as f64 - last_arrival_s);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(kind: Kind, under_test: &[&str], consumers: &[&str]) -> Terms {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Terms {
            under_test: names(under_test),
            consumers: names(consumers),
            stop_s: 20.0,
            base_rtt_s: Some(0.04),
            losses_are_its_own: true,
            kind,
        }
    }

    fn metrics(pairs: &'static [(&'static str, f64)]) -> impl Fn(&str) -> Option<f64> {
        move |name| pairs.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    fn near(value: Option<f64>, expected: f64) {
        assert!(
            value.is_some_and(|it| (it - expected).abs() < 1e-9),
            "{value:?} is not {expected}"
        );
    }

    const RUN: &[(&str, f64)] = &[
        ("c1.completed", 1.0),
        ("c1.time_s", 6.0),
        ("c1.segments", 1000.0),
        ("c1.retransmissions", 50.0),
        ("c1.rtt_p95_s", 0.065),
        ("c1.rtt_min_s", 0.041),
        ("c1.bad_timeouts", 7.0),
        ("all.lost", 20.0),
        ("all.drops_queue_full", 10.0),
    ];

    #[test]
    fn completion_is_relative_to_the_ideal() {
        let terms = terms(Kind::Completion { ideal_s: 4.0 }, &["c1"], &["c1"]);
        let score = Score::new(&terms, &metrics(RUN), &Goodputs::new());
        assert!(score.completed);
        near(Some(score.factor), 1.5);
        near(score.queueing_ms, 25.0);
        near(score.retransmitted_percent, 5.0);
        // 50 were sent again, 20 were lost and 10 dropped.
        near(score.spurious_percent, 2.0);
        let shared = Terms { losses_are_its_own: false, base_rtt_s: None, ..terms };
        let score = Score::new(&shared, &metrics(RUN), &Goodputs::new());
        near(score.spurious_percent, 0.7);
        near(score.queueing_ms, 24.0);
    }

    #[test]
    fn fetch_that_fails_takes_the_whole_run() {
        let terms = terms(Kind::Completion { ideal_s: 4.0 }, &["c1"], &["c1"]);
        let failed = metrics(&[("c1.completed", 0.0), ("c1.segments", 10.0)]);
        let score = Score::new(&terms, &failed, &Goodputs::new());
        assert!(!score.completed);
        near(score.time_s, 20.0);
        near(Some(score.factor), 5.0);
    }

    fn rates(name: &str, rate: impl Fn(u64) -> f64) -> (String, BTreeMap<u64, f64>) {
        (name.to_owned(), (0..20).map(|second| (second, rate(second))).collect())
    }

    #[test]
    fn sharing_counts_use_share_and_fairness() {
        let kind =
            Kind::Sharing { goodput: 10e6, fair_share: 0.5, last_arrival_s: 2.0, since_s: 10.0 };
        let terms = terms(kind, &["c1"], &["c1", "c2"]);
        let goodputs = Goodputs::from([rates("c1", |_| 2e6), rates("c2", |_| 6e6)]);
        let score = Score::new(&terms, &metrics(RUN), &goodputs);
        let sharing = score.sharing.unwrap();
        near(Some(sharing.utilisation), 0.8);
        near(Some(sharing.share), 0.25);
        // A quarter instead of half, on a link of which four fifths are used.
        near(Some(score.factor), 2.0 / 0.8);
        assert_eq!((sharing.convergence_s, score.spurious_percent), (None, None));
    }

    #[test]
    fn convergence_counts_from_the_last_arrival() {
        let kind =
            Kind::Sharing { goodput: 10e6, fair_share: 1.0, last_arrival_s: 4.0, since_s: 10.0 };
        let terms = terms(kind, &["c1", "c2"], &["c1", "c2"]);
        // The second starts at 4 s and has an equal share from 7 s on.
        let second = |at| {
            if at < 4 {
                0.0
            } else if at < 7 {
                1e6
            } else {
                5e6
            }
        };
        let goodputs = Goodputs::from([rates("c1", |_| 5e6), rates("c2", second)]);
        let score = Score::new(&terms, &metrics(RUN), &goodputs);
        let sharing = score.sharing.unwrap();
        near(sharing.convergence_s, 3.0);
        near(Some(sharing.jain), 1.0);
        near(Some(score.factor), 1.0);
        let never = Goodputs::from([rates("c1", |_| 9e6), rates("c2", |_| 1e6)]);
        let score = Score::new(&terms, &metrics(RUN), &never);
        let sharing = score.sharing.unwrap();
        assert_eq!(sharing.convergence_s, None);
        // (9 + 1)² / (2 · (81 + 1)).
        near(Some(sharing.jain), 100.0 / 164.0);
        near(Some(sharing.min_max), 1.0 / 9.0);
    }
}
