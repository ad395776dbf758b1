//! Model of the path: its rate, its round-trip time, and limits of what may be in flight.
//!
//! Source: draft-ietf-ccwg-bbr-01, sections 4.5.1 to 4.5.7.
use super::{Ack, BETA, HEADROOM, MIN_PIPE_CWND, MIN_RTT_SPAN, PROBE_RTT_INTERVAL};
use crate::time::{Duration, Instant};

/// Rounds over which aggregated deliveries count.
const AGGREGATION_ROUNDS: usize = 10;

/// Rates are segments per second, amounts segments.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    /// Highest rates of the present and of the last cycle of ProbeBW.
    max_bw: [f64; 2],
    bw_lo: f64,
    /// Highest rate and most deliveries of the samples of this round.
    bw_latest: f64,
    pub(super) inflight_latest: f64,
    pub(super) inflight_hi: f64,
    pub(super) inflight_lo: f64,
    pub(super) min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    probe_rtt_min: Option<Duration>,
    pub(super) probe_rtt_stamp: Instant,
    /// Losses and deliveries of this round.
    round: Round,
    aggregation: Aggregation,
}

/// Losses and deliveries of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Round {
    pub(super) lost: u64,
    pub(super) delivered: u64,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            max_bw: [0.0; 2],
            bw_lo: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            inflight_hi: f64::INFINITY,
            inflight_lo: f64::INFINITY,
            min_rtt: None,
            min_rtt_stamp: Instant::ZERO,
            probe_rtt_min: None,
            probe_rtt_stamp: Instant::ZERO,
            round: Round::default(),
            aggregation: Aggregation::default(),
        }
    }

    /// The highest rate of two cycles; 0 before any.
    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// The rate that the model allows; `None` before any sample.
    pub(super) fn bw(&self) -> Option<f64> {
        Some(self.max_bw().min(self.bw_lo)).filter(|bw| *bw > 0.0)
    }

    /// So many bandwidth-delay products.
    pub(super) fn bdp(&self, gain: f64) -> Option<f64> {
        self.bdp_of(self.bw()?, gain)
    }

    /// So many products of a rate and the round-trip time.
    pub(super) fn bdp_of(&self, rate: f64, gain: f64) -> Option<f64> {
        Some(gain * rate * self.min_rtt?.as_secs_f64()).filter(|bdp| *bdp > 0.0)
    }

    /// Most segments that a gain allows in flight.
    pub(super) fn max_inflight(&self, gain: f64) -> Option<f64> {
        Some((self.bdp(gain)? + self.aggregation.extra()).max(MIN_PIPE_CWND))
    }

    /// The long-term limit without the share of others.
    pub(super) fn with_headroom(&self) -> f64 {
        if self.inflight_hi.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (HEADROOM * self.inflight_hi).max(1.0);
        (self.inflight_hi - headroom).max(MIN_PIPE_CWND)
    }

    /// Records a delivery. Returns the round that it ends.
    pub(super) fn on_ack(&mut self, ack: &Ack, lost: u64) -> Option<Round> {
        self.round.lost += lost;
        self.round.delivered += 1;
        if let Some(sample) = ack.sample {
            self.bw_latest = self.bw_latest.max(sample.rate);
            self.inflight_latest = self.inflight_latest.max(sample.delivered);
            if sample.rate >= self.max_bw() || !ack.app_limited {
                self.max_bw[0] = self.max_bw[0].max(sample.rate);
            }
        }
        let rate = self.bw().unwrap_or(0.0);
        self.aggregation.on_ack(ack, rate);
        ack.round_start.then(|| std::mem::take(&mut self.round))
    }

    /// Begins a cycle: the rates of the one before the last are forgotten.
    pub(super) fn advance_max_bw(&mut self) {
        if self.max_bw[0] > 0.0 {
            self.max_bw = [0.0, self.max_bw[0]];
        }
    }

    /// Lowers the short-term limits after a round with losses.
    pub(super) fn lower_short_term(&mut self, cwnd: f64) {
        if self.bw_lo.is_infinite() {
            self.bw_lo = self.max_bw();
        }
        if self.inflight_lo.is_infinite() {
            self.inflight_lo = cwnd;
        }
        self.bw_lo = self.bw_latest.max(BETA * self.bw_lo);
        self.inflight_lo = self.inflight_latest.max(BETA * self.inflight_lo).max(MIN_PIPE_CWND);
    }

    /// At the start of a round its samples begin anew, with the present one.
    pub(super) fn advance_latest(&mut self, ack: &Ack) {
        if ack.round_start {
            self.bw_latest = ack.sample.map_or(0.0, |sample| sample.rate);
            self.inflight_latest = ack.sample.map_or(0.0, |sample| sample.delivered);
        }
    }

    /// Forgets the short-term limits.
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    /// Forgets losses and samples of the present round.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.round.lost = 0;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    /// Records a round trip. True if there was no lower one for the interval of ProbeRTT.
    pub(super) fn update_min_rtt(&mut self, now: Instant, rtt: Option<Duration>) -> bool {
        let is_old = now.since(self.probe_rtt_stamp) > PROBE_RTT_INTERVAL;
        let expired = is_old && self.probe_rtt_min.is_some();
        if let Some(rtt) = rtt
            && (expired || self.probe_rtt_min.is_none_or(|least| rtt < least))
        {
            (self.probe_rtt_min, self.probe_rtt_stamp) = (Some(rtt), now);
        }
        let outdated = now.since(self.min_rtt_stamp) > MIN_RTT_SPAN;
        if let Some(rtt) = self.probe_rtt_min
            && (outdated || self.min_rtt.is_none_or(|least| rtt < least))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), self.probe_rtt_stamp);
        }
        expired
    }
}

/// Deliveries that come in bursts: how many more than the rate explains.
#[derive(Clone, Debug, Default, PartialEq)]
struct Aggregation {
    since: Instant,
    delivered: f64,
    /// Excess of the last rounds.
    rounds: [f64; AGGREGATION_ROUNDS],
}

impl Aggregation {
    fn extra(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }

    fn on_ack(&mut self, ack: &Ack, rate: f64) {
        if ack.round_start {
            self.rounds.rotate_right(1);
            self.rounds[0] = 0.0;
        }
        let expected = rate * ack.now.since(self.since).as_secs_f64();
        if self.delivered <= expected {
            (self.delivered, self.since) = (0.0, ack.now);
        }
        self.delivered += 1.0;
        let expected = rate * ack.now.since(self.since).as_secs_f64();
        if rate > 0.0 {
            self.rounds[0] = self.rounds[0].max(self.delivered - expected);
        }
    }
}
