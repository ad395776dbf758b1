//! Whether what looks like loss is only late: an experiment with one transmission at a time.
//!
//! If a router sends a retransmission to a nearer source than the transmission before, the answer of the nearer one takes
//! the pending Interest, and the late answer of the far one is dropped on the way. A consumer sees neither that it was
//! late nor any round trip of the far source, so that no threshold grows: each transmission to the far source is judged
//! lost. Therefore, if a quarter of the first transmissions of late is judged lost, one of them is awaited for
//! [`PATIENCE`] longest round trips without a retransmission. If its answer comes, that is a round trip like any other. If
//! not, the next experiment begins after twice as many round trips as this one, so that heavy loss costs little.
//!
//! Differences from DSACK (RFC 2883; RFC 8985, 6.2, step 4), which tells of late answers: the network drops them here.
use crate::time::{Duration, Instant};

/// Transmissions over which counts fade.
const FADE: f64 = 64.0;
/// Losses that are enough to doubt, and their least part of the first transmissions.
const LOSSES: (f64, f64) = (8.0, 0.25);
/// Longest round trips for which an answer is awaited, and no longer than this.
const PATIENCE: (f64, Duration) = (16.0, Duration::from_secs(2));
/// Longest round trips from one experiment to the next, at first and at most.
const REST: (f64, f64) = (32.0, 1e6);

/// Counts first transmissions, and says when one of them is awaited for longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Doubt {
    /// First transmissions of late that were judged lost.
    lost: f64,
    /// First transmissions of late that were answered.
    answered: f64,
    /// No experiment begins before then.
    after: Instant,
    /// Longest round trips to the next experiment.
    rest: f64,
}

impl Default for Doubt {
    fn default() -> Self {
        Self { lost: 0.0, answered: 0.0, after: Instant::ZERO, rest: REST.0 }
    }
}

impl Doubt {
    fn count(&mut self, lost: f64, answered: f64) {
        let fade = 1.0 - 1.0 / FADE;
        self.lost = self.lost * fade + lost;
        self.answered = self.answered * fade + answered;
    }

    /// A first transmission was answered.
    pub(super) fn on_answered(&mut self) {
        self.count(0.0, 1.0);
    }

    /// A first transmission would be lost; for how long after it its answer is awaited instead, if it is.
    pub(super) fn on_lost(&mut self, now: Instant, longest: Duration) -> Option<Duration> {
        self.count(1.0, 0.0);
        let few = self.lost < LOSSES.0 || self.lost < LOSSES.1 * (self.lost + self.answered);
        if few || now < self.after {
            return None;
        }
        let trips = |number: f64| {
            let seconds = number * longest.as_secs_f64();
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        };
        self.after = now + trips(self.rest);
        self.rest = (2.0 * self.rest).min(REST.1);
        Some(trips(PATIENCE.0).min(PATIENCE.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_millis(30);

    /// When answers are awaited for longer, in milliseconds, if of so many first transmissions, one each millisecond, one is lost.
    fn experiments(one_in: u64) -> Vec<u64> {
        let mut doubt = Doubt::default();
        let mut is_lost = |millis: u64| {
            if millis.is_multiple_of(one_in) {
                return doubt.on_lost(Instant::from_millis(millis), LONGEST).is_some();
            }
            doubt.on_answered();
            false
        };
        (0..10_000).filter(|millis| is_lost(*millis)).collect()
    }

    #[test]
    fn heavy_loss_is_doubted_ever_more_rarely() {
        let experiments = experiments(2);
        let rests: Vec<u64> = experiments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(experiments[0] < 20, "{experiments:?}");
        assert_eq!(rests, [960, 1_920, 3_840], "32 longest round trips, doubled");
    }

    #[test]
    fn light_loss_is_believed() {
        assert!(experiments(8).is_empty());
    }

    #[test]
    fn patience_is_bounded() {
        let mut doubt = Doubt::default();
        let mut awaited = |longest| (0..64).find_map(|_| doubt.on_lost(Instant::ZERO, longest));
        assert_eq!(awaited(Duration::MAX), Some(PATIENCE.1));
    }
}
