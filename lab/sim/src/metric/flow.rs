//! Metrics of one application, from its events.
use super::summary::Summary;
use crate::statistic::moments::{Durations, Moments, TimeMean};
use recoup_transport::event::{Cause, Event};
use recoup_transport::fetch::{FetchError, FetchStats};
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeSet;

/// FetchStats of one application, or of several together.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    counts: FetchStats,
    window: TimeMean,
    delay_window: TimeMean,
    rtt: Durations,
    delay: Durations,
    rto: Durations,
    srtt: Moments,
    rttvar: Moments,
    recovery: Recovery,
    moves: Moves,
    outcome: Option<Outcome>,
    /// Interests that left the node.
    left: u64,
    served: u64,
    served_bytes: u64,
    unknown: u64,
}

/// How an application ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Completed,
    /// Nothing new arrived for too long.
    NoProgress,
    /// Retransmissions were answered by nothing or by Nacks until there were none left.
    NoAnswer,
    Failed,
}

/// Segments whose Interest or Data was lost by a move: the network forwarded the Interest again, or sent a notice.
#[derive(Clone, Debug, Default)]
struct Moves {
    /// Awaited segments.
    awaited: BTreeSet<u64>,
    /// First Interest to Data.
    satisfaction: Durations,
}

/// Progress of the consumer at its window reductions.
#[derive(Clone, Copy, Debug, Default)]
struct Recovery {
    /// Highest requested segment so far, plus one.
    asked: u64,
    /// Highest requested segment, plus one, at the last reduction.
    point: Option<u64>,
    /// Whether a reduction followed another one without an Interest in between.
    stood_still: bool,
}

impl Flow {
    /// The counters of its transfer.
    pub(super) fn counts(&self) -> &FetchStats {
        &self.counts
    }

    /// Takes in one event.
    pub(super) fn on_event(&mut self, now: Instant, event: &Event) {
        self.counts.on_event(now, event);
        match *event {
            Event::Sent { segment, transmissions, rto } => {
                self.recovery.asked = self.recovery.asked.max(segment.saturating_add(1));
                if transmissions == 1 {
                    self.rto.add(rto.into());
                }
            }
            Event::Explained { segment, cause: Cause::Mobility, .. }
            | Event::Prolonged { segment, .. } => {
                self.moves.awaited.insert(segment);
            }
            Event::LeftOut { segment } => {
                self.moves.awaited.remove(&segment);
            }
            Event::Received { segment, rtt, delay, transmissions, .. } => {
                if self.moves.awaited.remove(&segment) {
                    self.moves.satisfaction.add(delay.into());
                }
                self.delay.add(delay.into());
                if transmissions == 1 {
                    self.rtt.add(rtt.into());
                }
            }
            Event::Sampled { srtt, rttvar, .. } => {
                self.srtt.add(Duration::from(srtt).as_secs_f64());
                self.rttvar.add(Duration::from(rttvar).as_secs_f64());
            }
            Event::Window { window, delay_window, .. } => {
                self.window.set(now, window);
                self.delay_window.set(now, delay_window);
            }
            Event::Reduced { .. } => self.recovery.reduce(),
            Event::Served { content_bytes, .. } => {
                self.served += 1;
                self.served_bytes += u64::from(content_bytes);
            }
            Event::Unknown => self.unknown += 1,
            _ => {}
        }
    }

    /// An Interest of it left its node.
    pub(super) fn on_left(&mut self) {
        self.left += 1;
    }

    /// The application ended.
    pub(super) fn on_done(&mut self, result: &Result<(), Box<FetchError>>) {
        self.outcome = Some(match result.as_ref().map_err(AsRef::as_ref) {
            Ok(()) => Outcome::Completed,
            Err(FetchError::NoProgress(_)) => Outcome::NoProgress,
            Err(FetchError::NoAnswer { .. } | FetchError::Nacked { .. }) => Outcome::NoAnswer,
            Err(_) => Outcome::Failed,
        });
    }

    /// The run is over. A window that outlives its fetch does not count.
    pub(super) fn finish(&mut self, now: Instant) {
        let until = if self.outcome.is_some() { self.counts.ended } else { Some(now) };
        self.window.advance(until.unwrap_or(now));
        self.delay_window.advance(until.unwrap_or(now));
    }

    /// Several together, without means over consumers.
    pub(super) fn merged<'a>(flows: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self { outcome: Some(Outcome::Completed), ..Self::default() };
        flows.for_each(|flow| all.merge(flow));
        all
    }

    fn merge(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.left += other.left;
        self.moves.satisfaction.merge(&other.moves.satisfaction);
        self.rtt.merge(&other.rtt);
        self.delay.merge(&other.delay);
        self.rto.merge(&other.rto);
        self.srtt.merge(&other.srtt);
        self.rttvar.merge(&other.rttvar);
        self.recovery.stood_still |= other.recovery.stood_still;
        if !other.is_completed() {
            self.outcome = other.outcome;
        }
    }

    /// Whether it ended as it should.
    pub(super) fn is_completed(&self) -> bool {
        self.outcome == Some(Outcome::Completed)
    }

    /// Metric of the reason why it did not complete.
    pub(super) fn shortfall(&self) -> Option<&'static str> {
        match self.outcome {
            Some(Outcome::Completed) => None,
            Some(Outcome::NoProgress) => Some("no_progress"),
            Some(Outcome::NoAnswer) => Some("no_answer"),
            Some(Outcome::Failed) => Some("failed"),
            None => Some("stopped"),
        }
    }

    /// First Interest to last Data, if it completed.
    pub(super) fn time_s(&self) -> Option<f64> {
        self.active_s().filter(|_| self.is_completed())
    }

    fn active_s(&self) -> Option<f64> {
        self.counts.started.and(self.counts.ended)?;
        Some(self.counts.elapsed().as_secs_f64())
    }

    /// Content per active time.
    pub(super) fn goodput_bps(&self) -> Option<f64> {
        self.rate(self.counts.content_bytes)
    }

    /// Data packets per active time.
    pub(super) fn throughput_bps(&self) -> Option<f64> {
        self.rate(self.counts.wire_bytes)
    }

    /// Mean of the window over time.
    pub(super) fn window_mean(&self) -> Option<f64> {
        self.window.mean()
    }

    fn rate(&self, bytes: u64) -> Option<f64> {
        let seconds = self.active_s().filter(|seconds| *seconds > 0.0)?;
        Some(bytes as f64 * 8.0 / seconds)
    }

    /// Appends a consumer's metrics.
    pub(super) fn report(&self, place: &str, summary: &mut Summary) {
        let completed = if self.is_completed() { 1.0 } else { 0.0 };
        summary.push(place, "completed", "", completed);
        summary.option(place, "time_s", "s", self.time_s());
        summary.option(place, "active_s", "s", self.active_s());
        self.report_counts(place, summary);
        summary.option(place, "goodput_bps", "bit/s", self.goodput_bps());
        summary.option(place, "throughput_bps", "bit/s", self.throughput_bps());
        self.report_loss(place, summary);
        if self.window.current().is_some() {
            summary.option(place, "window_mean", "segments", self.window_mean());
            summary.option(place, "window_max", "segments", self.window.max());
        }
        let statistics = [
            ("rtt", &self.rtt),
            ("delay", &self.delay),
            ("rto", &self.rto),
            ("ist", &self.moves.satisfaction),
        ];
        for (what, durations) in statistics {
            report_durations(place, what, durations, summary);
        }
        summary.option(place, "srtt_mean_s", "s", self.srtt.mean());
        summary.option(place, "rttvar_mean_s", "s", self.rttvar.mean());
    }

    fn report_counts(&self, place: &str, summary: &mut Summary) {
        let counts = &self.counts;
        for (what, unit, count) in [
            ("segments", "segments", counts.segments),
            ("content_bytes", "bytes", counts.content_bytes),
            ("packet_bytes", "bytes", counts.wire_bytes),
            ("interests", "", counts.interests),
            ("network_interests", "", self.left),
            ("retransmissions", "", counts.retransmissions),
            ("timeouts", "", counts.timeouts),
            ("nacks", "", counts.nacks),
            ("marks", "", counts.marks),
            ("duplicates", "", counts.duplicates),
            ("withdrawn", "", counts.withdrawn),
            ("spurious", "", counts.spurious),
            ("left_out", "segments", counts.left_out),
            ("losses_congestion", "", counts.congestion_losses()),
            ("losses_random", "", counts.random_losses()),
            ("losses_unknown", "", counts.unknown_losses()),
            ("losses_wireless", "", counts.explained.wireless),
            ("losses_mobility", "", counts.mobility_losses()),
            ("lost_by_order", "", counts.lost_by_order),
            ("repaired", "", counts.repaired),
            ("false_alarms", "", counts.false_alarms),
            ("suspicions", "", counts.recovery.suspicions),
            ("recoveries", "", counts.recovery.entries),
            ("rejected", "", counts.rejected),
        ] {
            summary.push(place, what, unit, count as f64);
        }
    }

    fn report_loss(&self, place: &str, summary: &mut Summary) {
        let reductions = self.counts.reductions;
        let events = reductions.total();
        summary.push(place, "loss_events", "", events as f64);
        summary.push(place, "loss_events_timeout", "", reductions.timeout as f64);
        summary.push(place, "loss_events_nack", "", reductions.nack as f64);
        summary.push(place, "loss_events_mark", "", reductions.mark as f64);
        summary.push(place, "loss_events_order", "", reductions.order as f64);
        let recovery = self.counts.recovery;
        summary.push(place, "recovery_s", "s", recovery.time.as_secs_f64());
        summary.option(place, "recovery_mean_s", "s", recovery.mean_s());
        if self.delay_window.current().is_some() {
            summary.option(place, "delay_window_mean", "segments", self.delay_window.mean());
        }
        if self.counts.segments > 0 {
            let percent = events as f64 * 100.0 / self.counts.segments as f64;
            summary.push(place, "loss_event_percent", "%", percent);
        }
        let rises = if self.recovery.stood_still { 0.0 } else { 1.0 };
        summary.push(place, "recovery_point_rises", "", rises);
    }

    /// Appends a producer's metrics.
    pub(super) fn report_producer(&self, place: &str, summary: &mut Summary) {
        summary.push(place, "served", "", self.served as f64);
        summary.push(place, "served_bytes", "bytes", self.served_bytes as f64);
        summary.push(place, "unknown", "", self.unknown as f64);
    }
}

impl Recovery {
    fn reduce(&mut self) {
        self.stood_still |= self.point.is_some_and(|point| self.asked <= point);
        self.point = Some(self.asked);
    }
}

/// Reported quantiles, in percent.
const QUANTILES: [(&str, f64); 8] = [
    ("p05", 0.05),
    ("p10", 0.1),
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
];

fn report_durations(place: &str, what: &str, durations: &Durations, summary: &mut Summary) {
    let moments = durations.moments();
    for (of, value) in [
        ("mean", moments.mean()),
        ("sd", moments.sd()),
        ("min", moments.min()),
        ("max", moments.max()),
    ] {
        summary.option(place, &format!("{what}_{of}_s"), "s", value);
    }
    for (of, p) in QUANTILES {
        summary.option(place, &format!("{what}_{of}_s"), "s", durations.quantile(p));
    }
}
