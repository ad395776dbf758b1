//! Fourfold growth of start-up for short objects, bounded by the rate within a train of answers.
//!
//! Answers to Interests sent together arrive with the spacing of the narrowest link (packet-train dispersion:
//! Dovrolis, Ramanathan and Moore, INFOCOM 2001). A pause of a quarter of a round trip ends a train.
//!
//! An answer to a short object ([`SHORT_OBJECT`]) adds three segments in the place of one. That ends once the window is
//! half of what the path carries at the rate of the train. SUSS (SIGCOMM 2024) does so for all objects. With
//! competitors faster growth would end start-up sooner, with a smaller share.
use super::constants::{FOURFOLD_PART, FOURFOLD_STEP, SHORT_OBJECT, TRAIN_PAUSE};
use crate::time::Instant;

/// Whether an object with so many segments that have not been requested yet counts as short.
pub(super) fn is_short(remaining: Option<u64>) -> bool {
    remaining.is_some_and(|remaining| remaining <= SHORT_OBJECT)
}

/// A train of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Train {
    begin: Instant,
    last: Instant,
    /// Answers of this train.
    count: u32,
    /// Answers per second in the train before; 0 before any.
    before: f64,
}

impl Train {
    /// Records an answer; `rtt` is a round trip in seconds.
    pub(super) fn on_delivered(&mut self, now: Instant, rtt: f64) {
        if self.count == 0 || now.since(self.last).as_secs_f64() > TRAIN_PAUSE * rtt {
            *self = Self { begin: now, before: self.rate(), count: 0, last: now };
        }
        (self.last, self.count) = (now, self.count.saturating_add(1));
    }

    /// Answers per second; infinite for simultaneous answers.
    fn rate(&self) -> f64 {
        if self.count < 2 {
            return self.before;
        }
        f64::from(self.count - 1) / self.last.since(self.begin).as_secs_f64()
    }

    /// Segments that an answer to a short object adds to the window in start-up.
    pub(super) fn growth(&self, window: f64, rtt: f64) -> f64 {
        if window < FOURFOLD_PART * self.rate() * rtt { FOURFOLD_STEP } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of a round trip.
    const RTT: f64 = 0.05;

    /// A train after answers at these times in microseconds.
    fn after(micros: impl IntoIterator<Item = u64>) -> Train {
        let mut train = Train::default();
        for micros in micros {
            train.on_delivered(Instant::from_nanos(1_000 * micros), RTT);
        }
        train
    }

    /// Largest window that grows fourfold after such a train.
    fn fourfold(train: &Train) -> u32 {
        (1..=1_000).rfind(|window| train.growth(f64::from(*window), RTT) > 1.0).unwrap_or(0)
    }

    #[test]
    fn window_grows_fourfold_up_to_half_the_path() {
        // At 10,000 segments per second the path carries 500.
        assert_eq!(fourfold(&after((0..10).map(|n| 50_000 + 100 * n))), 249);
        assert_eq!(fourfold(&after([50_000])), 0, "one answer shows no rate");
    }

    #[test]
    fn pause_ends_a_train() {
        let first = (0..10).map(|n| 50_000 + 100 * n);
        let one_more = after(first.clone().chain([100_000]));
        assert_eq!(fourfold(&one_more), 249, "as the train before");
        let slower = after(first.chain([100_000, 100_200, 100_400]));
        assert_eq!(fourfold(&slower), 124);
    }

    #[test]
    fn only_short_objects_grow_fourfold() {
        assert!(is_short(Some(SHORT_OBJECT)) && !is_short(Some(SHORT_OBJECT + 1)));
        assert!(!is_short(None), "the end is not known");
    }
}
