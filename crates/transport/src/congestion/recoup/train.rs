//! The rate within a train of answers: that of the next train of start-up, and a bound of fast growth.
//!
//! Answers to Interests sent together arrive with the spacing of the narrowest link (packet-train dispersion:
//! Dovrolis, Ramanathan and Moore, INFOCOM 2001). A pause of a quarter of a round trip ends a train. The rate counts
//! only for short objects ([`SHORT_OBJECT`]), while the window is a small part of what the path carries at it ([`TRAIN_PART`]).
//! With competitors a faster train would end start-up sooner, with a smaller share.
//!
//! *Fourfold growth.* While the path carries twice the window at the rate of the train, each answer to a short object
//! adds three segments in the place of one (SUSS, SIGCOMM 2024, does so for all objects).
use super::constants::{
    FOURFOLD_PART, FOURFOLD_STEP, MOST_TRAIN, SHORT_OBJECT, TRAIN_PART, TRAIN_PAUSE,
};
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

    /// Segments per second at which a train of a window may leave; 0 if the train before shows no rate.
    pub(super) fn pace(&self, window: f64, rtt: f64) -> f64 {
        let (rate, needed) = (self.rate(), window / rtt);
        if rate >= TRAIN_PART * needed { rate.min(MOST_TRAIN * needed) } else { 0.0 }
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

    /// Segments per second of a window after a train.
    fn pace(train: &Train, window: f64) -> u64 {
        libm::round(train.pace(window, RTT)) as u64
    }

    #[test]
    fn next_train_leaves_at_the_arrival_rate() {
        let train = after((0..10).map(|n| 50_000 + 100 * n));
        assert_eq!(pace(&train, 20.0), 10_000);
    }

    #[test]
    fn large_train_is_not_faster() {
        // At 10,000 segments per second the path carries 500.
        let train = after((0..10).map(|n| 50_000 + 100 * n));
        assert_eq!((pace(&train, 62.0), pace(&train, 63.0)), (10_000, 0));
    }

    #[test]
    fn pause_ends_a_train() {
        let first = (0..10).map(|n| 50_000 + 100 * n);
        let one_more = after(first.clone().chain([100_000]));
        assert_eq!(pace(&one_more, 20.0), 10_000, "as the train before");
        let slower = after(first.chain([100_000, 100_200, 100_400]));
        assert_eq!(pace(&slower, 20.0), 5_000);
    }

    #[test]
    fn window_grows_fourfold_up_to_half_the_path() {
        // At 10,000 segments per second the path carries 500.
        let train = after((0..10).map(|n| 50_000 + 100 * n));
        assert_eq!((train.growth(249.0, RTT), train.growth(250.0, RTT)), (3.0, 1.0));
        assert_eq!(after([50_000]).growth(10.0, RTT), 1.0, "one answer shows no rate");
    }

    #[test]
    fn only_short_objects_grow_fourfold() {
        assert!(is_short(Some(SHORT_OBJECT)) && !is_short(Some(SHORT_OBJECT + 1)));
        assert!(!is_short(None), "the end is not known");
    }

    #[test]
    fn simultaneous_answers_show_a_limited_rate() {
        assert_eq!(pace(&after([]), 20.0), 0, "nothing is known");
        assert_eq!(pace(&after([50_000, 50_000]), 20.0), 25_600);
    }
}
