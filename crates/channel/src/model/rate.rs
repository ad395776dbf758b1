//! The time that a frame takes at a rate, exact in the long run.
//!
//! A transmission may leave a fraction of a nanosecond. It is carried over to the next one that follows without a
//! pause,
//! so that a busy channel never drifts.

use super::trace::{RateTrace, Rest};
use recoup_transport::time::Instant;
use std::sync::Arc;

/// A rate in bits per second, or over time, with what the last transmission left over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    over_time: Option<(Arc<RateTrace>, Rest)>,
    bits: u64,
    /// Part of a nanosecond, in units of 1/bits.
    remainder: u64,
}

/// Nanoseconds in a second times bits in a byte.
const SCALE: u64 = 8_000_000_000;

impl Rate {
    /// `bits` per second; 0 means without limit.
    pub fn new(bits: u64) -> Self {
        Self { over_time: None, bits, remainder: 0 }
    }

    /// A rate over time.
    pub fn over_time(trace: Arc<RateTrace>) -> Self {
        Self { over_time: Some((trace, Rest::default())), ..Self::new(0) }
    }

    /// A pause drops the carried fraction.
    pub fn pause(&mut self) {
        self.remainder = 0;
        if let Some((_, rest)) = &mut self.over_time {
            *rest = Rest::default();
        }
    }

    /// The end of a transmission of `bytes` that begins at `begun`.
    #[inline]
    pub fn end(&mut self, begun: Instant, bytes: u32) -> Instant {
        if let Some((trace, rest)) = &mut self.over_time {
            return Instant::from_nanos(trace.end(begun, bytes, rest));
        }
        Instant::from_nanos(begun.as_nanos().saturating_add(self.transmission(bytes)))
    }

    /// Nanoseconds of a transmission of `bytes` at a constant rate, right after the previous one.
    fn transmission(&mut self, bytes: u32) -> u64 {
        if self.bits == 0 {
            return 0;
        }
        let work =
            u64::from(bytes).checked_mul(SCALE).and_then(|work| work.checked_add(self.remainder));
        let Some(work) = work else {
            return self.long_transmission(bytes);
        };
        self.remainder = work % self.bits;
        work / self.bits
    }

    /// A transmission of gigabytes, in 128 bits.
    fn long_transmission(&mut self, bytes: u32) -> u64 {
        let (rate, scale) = (u128::from(self.bits), u128::from(SCALE));
        let work = u128::from(bytes) * scale + u128::from(self.remainder);
        self.remainder = (work % rate) as u64;
        u64::try_from(work / rate).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_megabits_take_a_second_at_that_rate() {
        let mut rate = Rate::new(7_000_000);
        let nanos: u64 = (0..7_000).map(|_| rate.transmission(125)).sum();
        assert_eq!(nanos, 1_000_000_000);
    }

    #[test]
    fn a_pause_forgets_what_was_left_over() {
        let mut rate = Rate::new(3_000_000_000);
        let first = rate.transmission(1);
        rate.pause();
        assert_eq!((first, rate.transmission(1)), (2, 2));
        assert_eq!((rate.transmission(1), rate.transmission(1)), (3, 3));
    }

    #[test]
    fn a_frame_of_gigabytes_takes_its_time() {
        assert_eq!(Rate::new(8_000_000_000).transmission(u32::MAX), u64::from(u32::MAX));
        assert_eq!(Rate::new(0).transmission(u32::MAX), 0);
    }
}
