//! One estimator over one trace.
use super::trace::{Row, Trace};
use crate::format::ms;
use recoup_transport::rto::{Question, RtoEstimator, RttSample, Target};
use recoup_transport::time::{Duration, Instant};
use serde::Serialize;

/// Timeouts of an estimator, and their quality.
#[derive(Debug, Serialize)]
pub(crate) struct Replay {
    /// The estimator as given.
    pub spec: String,
    /// The estimator with all parameters.
    pub estimator: String,
    /// Round trips that were longer than the timeout in force.
    pub bad: usize,
    /// Their share; approximates B.
    pub bad_share: Option<f64>,
    /// Mean of the timeout over the latest round trip; approximates W.
    pub relative_wait: Option<f64>,
    /// Mean timeout of first transmissions.
    pub rto_mean_ms: Option<f64>,
    /// Least and greatest of these.
    pub rto_min_ms: Option<f64>,
    pub rto_max_ms: Option<f64>,
    /// Timeout in force at the first transmission of each row.
    #[serde(skip)]
    pub timeouts: Vec<Duration>,
}

/// Whether the timeout expires before the answer arrives.
pub(crate) fn is_early(row: &Row, rto: Duration) -> bool {
    row.is_sample() && row.rtt > rto
}

/// An event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Data arrives: ordered before Interests of the same instant.
    Arrival,
    /// An Interest is sent.
    Departure,
}

impl Replay {
    /// Runs `estimator`, given as `spec`, over `trace`.
    pub(crate) fn new(spec: &str, mut estimator: Box<dyn RtoEstimator>, trace: &Trace) -> Self {
        let parameters = estimator.to_string();
        let mut timeouts = vec![Duration::ZERO; trace.rows().len()];
        let (mut wait, mut waits, mut latest) = (0.0, 0_u64, None::<Duration>);
        for (at, step, place) in steps(trace) {
            let row = &trace.rows()[place];
            let target = Target { content: row.segment, class: 0 };
            match step {
                Step::Departure => {
                    let question = Question { target, retransmissions: 0 };
                    let rto = estimator.rto_for(at, &question);
                    timeouts[place] = rto;
                    if let Some(rtt) = latest.filter(|rtt| !rtt.is_zero()) {
                        wait += rto.as_secs_f64() / rtt.as_secs_f64();
                        waits += 1;
                    }
                }
                Step::Arrival => {
                    estimator.on_sample(at, &RttSample::new(row.segment, row.rtt));
                    latest = Some(row.rtt);
                }
            }
        }
        let relative_wait = (waits > 0).then(|| wait / waits as f64);
        Self::judge(spec, parameters, trace, timeouts, relative_wait)
    }

    fn judge(
        spec: &str,
        estimator: String,
        trace: &Trace,
        timeouts: Vec<Duration>,
        relative_wait: Option<f64>,
    ) -> Self {
        let rows = trace.rows().iter().zip(&timeouts);
        let bad = rows.filter(|(row, rto)| is_early(row, **rto)).count();
        let samples = trace.samples();
        let sum: f64 = timeouts.iter().map(|rto| ms(*rto)).sum();
        Self {
            spec: spec.to_owned(),
            estimator,
            bad,
            bad_share: (samples > 0).then(|| bad as f64 / samples as f64),
            relative_wait,
            rto_mean_ms: (!timeouts.is_empty()).then(|| sum / timeouts.len() as f64),
            rto_min_ms: timeouts.iter().min().copied().map(ms),
            rto_max_ms: timeouts.iter().max().copied().map(ms),
            timeouts,
        }
    }
}

/// All events in order. Without times, each Interest is sent just before its answer.
fn steps(trace: &Trace) -> Vec<(Instant, Step, usize)> {
    let mut steps = Vec::with_capacity(2 * trace.rows().len());
    let timed = trace.is_timed();
    let mut now = Instant::ZERO;
    for (place, row) in trace.rows().iter().enumerate() {
        let sent = row.sent.filter(|_| timed).unwrap_or(now);
        now = sent + row.rtt;
        steps.push((sent, Step::Departure, place));
        if row.is_sample() {
            steps.push((now, Step::Arrival, place));
        }
    }
    if timed {
        steps.sort_unstable();
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::rto;

    fn replay(spec: &str, trace: &Trace) -> Replay {
        Replay::new(spec, rto::parse(spec).unwrap(), trace)
    }

    fn trace(text: &str) -> Trace {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        std::fs::write(&path, text).unwrap();
        Trace::read(&path).unwrap()
    }

    #[test]
    fn round_trip_above_the_timeout_counts_as_bad() {
        let trace = trace("segment\trtt\n0\t100\n1\t100\n2\t301\n3\t100\n");
        let replay = replay("jacobson(alpha=0,beta=0,min=0ms,init=1s)", &trace);
        // SRTT 100 ms and RTTVAR 50 ms stay: 300 ms.
        let timeouts: Vec<_> = replay.timeouts.iter().map(|rto| rto.as_millis()).collect();
        assert_eq!(timeouts, [1_000, 300, 300, 300]);
        assert_eq!((replay.bad, replay.bad_share), (1, Some(0.25)));
        let expected = (3.0 + 3.0 + 300.0 / 301.0) / 3.0;
        assert!((replay.relative_wait.unwrap() - expected).abs() < 1e-9);
        assert_eq!(replay.rto_max_ms, Some(1_000.0));
    }

    #[test]
    fn timeout_is_taken_at_departure() {
        // Segment 1 is sent before the estimator has a sample of segment 0.
        let text = "segment\trtt\ttime\n0\t100\t0.1\n1\t90\t0.15\n2\t90\t0.3\n";
        let replay = replay("jacobson(min=0ms,init=1s)", &trace(text));
        let timeouts: Vec<_> = replay.timeouts.iter().map(|rto| rto.as_millis()).collect();
        assert_eq!(timeouts[..2], [1_000, 1_000]);
        assert!(timeouts[2] < 400, "{timeouts:?}");
    }

    #[test]
    fn a_segment_that_was_sent_twice_teaches_nothing() {
        let text = "segment\tfirst_sent\tarrived\trtt\trto\ttransmissions\n\
                    0\t0\t9\t9000\t1\t2\n1\t10\t10.1\t100\t1\t1\n";
        let replay = replay("jacobson(min=0ms,init=1s)", &trace(text));
        assert_eq!(replay.rto_max_ms, Some(1_000.0));
        assert_eq!((replay.bad, replay.relative_wait), (0, None));
    }

    #[test]
    fn every_estimator_survives_an_empty_trace() {
        let empty = trace("segment\trtt\n");
        for name in rto::names() {
            let replay = replay(name, &empty);
            assert_eq!((replay.bad_share, replay.rto_mean_ms), (None, None), "{name}");
        }
    }
}
