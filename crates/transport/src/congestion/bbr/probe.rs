//! When the rate is probed, and how fast the limit rises in a probe.
//!
//! Source: draft-ietf-ccwg-bbr-01, sections 4.3.3.4 to 4.3.3.6.
use crate::random::Rng;
use crate::time::{Duration, Instant};

/// Most rounds between two probes: a flow of Reno with as many segments in flight loses once in them.
const MOST_ROUNDS: f64 = 63.0;
/// Least time between two probes, and the random part of it.
const WAIT: Duration = Duration::from_secs(2);
const RANDOM_WAIT_SECS: f64 = 1.0;
/// Most doublings of the slope.
const MOST_DOUBLINGS: u32 = 30;

/// Transmissions that acknowledgments belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing of a probe.
    Idle,
    /// A probe is being prepared.
    Refilling,
    /// Transmissions before the probe.
    Starting,
    /// Transmissions of the probe.
    Feedback,
    /// Transmissions of a probe that has ended.
    Stopping,
}

/// State of the probes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    pub(super) phase: AckPhase,
    /// A loss beyond the threshold is one of the probe.
    pub(super) samples: bool,
    /// Rounds since the last probe.
    pub(super) rounds: u64,
    /// The next probe, if not earlier by rounds.
    due: Instant,
    /// Doublings of the slope in this probe.
    doublings: u32,
    /// Deliveries for which the limit rises by one, and those since.
    deliveries_per_step: f64,
    deliveries: f64,
}

impl Probe {
    pub(super) fn new() -> Self {
        Self {
            phase: AckPhase::Idle,
            samples: false,
            rounds: 0,
            due: Instant::ZERO,
            doublings: 0,
            deliveries_per_step: f64::INFINITY,
            deliveries: 0.0,
        }
    }

    /// Draws the time of the next probe.
    pub(super) fn pick_wait(&mut self, rng: &mut Rng, now: Instant) {
        self.rounds = rng.below(2);
        self.due = now + WAIT + Duration::from_secs_f64(RANDOM_WAIT_SECS * rng.unit_f64());
        self.deliveries_per_step = f64::INFINITY;
    }

    /// Whether a probe is due, with so many segments in flight.
    pub(super) fn is_due(&self, now: Instant, in_flight: f64) -> bool {
        now >= self.due || self.rounds as f64 >= in_flight.min(MOST_ROUNDS)
    }

    /// Prepares a probe.
    pub(super) fn refill(&mut self) {
        (self.doublings, self.deliveries) = (0, 0.0);
        self.phase = AckPhase::Refilling;
    }

    /// Doubles the slope.
    pub(super) fn raise_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1_u32 << self.doublings);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.deliveries_per_step = (cwnd / growth).max(1.0);
    }

    /// Segments by which the limit rises for one delivery.
    pub(super) fn raise(&mut self, round_start: bool, cwnd: f64) -> f64 {
        self.deliveries += 1.0;
        let steps = libm::floor(self.deliveries / self.deliveries_per_step);
        if steps > 0.0 {
            self.deliveries -= steps * self.deliveries_per_step;
        }
        if round_start {
            self.raise_slope(cwnd);
        }
        steps
    }
}
