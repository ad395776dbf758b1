//! Times of signed commands.
use super::GRACE;
use crate::time::{Instant, TimeOfDay};

/// Assigns each command a later time than the one before, as forwarders require of the commands of one key.
///
/// If the clock was set back by less than half of [`GRACE`], times continue from the last one. After a longer step
/// they follow the clock, because forwarders reject a time that is further ahead than [`GRACE`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandTimes {
    clock: TimeOfDay,
    last_millis: u64,
}

impl CommandTimes {
    pub(crate) fn new(clock: TimeOfDay) -> Self {
        Self { clock, last_millis: 0 }
    }

    /// The clock was set, or the machine was suspended.
    pub(crate) fn set(&mut self, clock: TimeOfDay) {
        self.clock = clock;
    }

    /// The time of the next command, in milliseconds since 1970.
    pub(crate) fn next(&mut self, now: Instant) -> u64 {
        let now_millis = self.clock.millis(now);
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        let later = self.last_millis.saturating_add(1);
        let is_taken = later <= now_millis.saturating_add(grace / 2);
        self.last_millis = if is_taken { later.max(now_millis) } else { now_millis };
        self.last_millis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: u64 = 1_800_000_000_000;

    fn clock(millis: u64) -> TimeOfDay {
        TimeOfDay::at(Instant::ZERO, millis * 1_000)
    }

    #[test]
    fn times_increase_after_a_small_clock_step() {
        let mut times = CommandTimes::new(clock(NOON));
        assert_eq!([(); 3].map(|()| times.next(Instant::ZERO)), [NOON, NOON + 1, NOON + 2]);
        times.set(clock(NOON - 30_000));
        assert_eq!(times.next(Instant::ZERO), NOON + 3);
        times.set(clock(NOON + 9_000));
        assert_eq!(times.next(Instant::ZERO), NOON + 9_000);
    }

    #[test]
    fn times_follow_a_clock_set_far_back() {
        let mut times = CommandTimes::new(clock(NOON));
        times.next(Instant::ZERO);
        times.set(clock(NOON - 3_600_000));
        assert_eq!(times.next(Instant::from_millis(5)), NOON - 3_600_000 + 5);
        assert_eq!(times.next(Instant::from_millis(5)), NOON - 3_600_000 + 6);
    }
}
