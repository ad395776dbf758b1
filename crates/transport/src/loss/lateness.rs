//! Distinguishes late answers from losses: an experiment with one transmission at a time.
//!
//! If a router forwards a retransmission to a nearer source, the answer of that source consumes the pending Interest.
//! The late answer of the far source is then dropped. A consumer sees neither the lateness nor any round trip of the
//! far source, so that no threshold grows: each transmission to the far source is declared lost.
//!
//! Therefore, if a quarter of the recent first transmissions is declared lost, one of them is awaited for
//! [`PATIENCE_TRIPS`] longest round trips without a retransmission. Its answer, if any, is an ordinary round-trip sample.
//! Otherwise the next experiment begins after twice as many round trips, so that heavy loss costs little.
//!
//! Differences from DSACK (RFC 2883; RFC 8985, 6.2, step 4), which reports late answers: the network drops them here.
use crate::time::{Duration, Instant};

/// Transmissions over which counts decay.
const FADE: f64 = 64.0;
/// Losses before an experiment: their minimum number, and their minimum fraction of the first transmissions.
const MIN_LOSSES: f64 = 8.0;
const MIN_LOSS_FRACTION: f64 = 0.25;
/// Longest wait for an answer, in longest round trips and in time.
const PATIENCE_TRIPS: f64 = 16.0;
const MAX_PATIENCE: Duration = Duration::from_secs(2);
/// Longest round trips between two experiments, at first and at most.
const FIRST_REST_TRIPS: f64 = 32.0;
const MAX_REST_TRIPS: f64 = 1e6;

/// Counts first transmissions, and begins experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LatenessTest {
    /// Recent first transmissions declared lost.
    lost: f64,
    /// Recent first transmissions answered.
    answered: f64,
    /// Earliest time of the next experiment.
    after: Instant,
    /// Longest round trips until the next experiment.
    rest: f64,
}

impl Default for LatenessTest {
    fn default() -> Self {
        Self { lost: 0.0, answered: 0.0, after: Instant::ZERO, rest: FIRST_REST_TRIPS }
    }
}

impl LatenessTest {
    fn count(&mut self, lost: f64, answered: f64) {
        let fade = 1.0 - 1.0 / FADE;
        self.lost = self.lost * fade + lost;
        self.answered = self.answered * fade + answered;
    }

    /// Counts an answered first transmission.
    pub(super) fn on_answered(&mut self) {
        self.count(0.0, 1.0);
    }

    /// Counts a first transmission that would be lost; returns how long its answer is awaited instead, if it is.
    pub(super) fn on_lost(&mut self, now: Instant, longest: Duration) -> Option<Duration> {
        self.count(1.0, 0.0);
        let few =
            self.lost < MIN_LOSSES || self.lost < MIN_LOSS_FRACTION * (self.lost + self.answered);
        if few || now < self.after {
            return None;
        }
        let trips = |number: f64| {
            let seconds = number * longest.as_secs_f64();
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        };
        self.after = now + trips(self.rest);
        self.rest = (2.0 * self.rest).min(MAX_REST_TRIPS);
        Some(trips(PATIENCE_TRIPS).min(MAX_PATIENCE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(30);

    /// Times of experiments, in milliseconds, if one first transmission in `one_in` is lost, one each millisecond.
    fn experiments(one_in: u64) -> Vec<u64> {
        let mut test = LatenessTest::default();
        let mut is_lost = |millis: u64| {
            if millis.is_multiple_of(one_in) {
                return test.on_lost(Instant::from_millis(millis), LONGEST).is_some();
            }
            test.on_answered();
            false
        };
        (0..10_000).filter(|millis| is_lost(*millis)).collect()
    }

    #[test]
    fn experiments_back_off_under_heavy_loss() {
        let experiments = experiments(2);
        let rests: Vec<u64> = experiments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(experiments[0] < 20, "{experiments:?}");
        assert_eq!(rests, [960, 1_920, 3_840], "32 longest round trips, doubled");
    }

    #[test]
    fn light_loss_begins_no_experiment() {
        assert!(experiments(8).is_empty());
    }

    #[test]
    fn wait_is_limited() {
        let mut test = LatenessTest::default();
        let mut awaited = |longest| (0..64).find_map(|_| test.on_lost(Instant::ZERO, longest));
        assert_eq!(awaited(Duration::MAX), Some(MAX_PATIENCE));
    }
}
