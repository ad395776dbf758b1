//! The time of day as machines that read no clock know it.
use super::{Duration, Instant};

/// Difference of the calendar clock and the clock of the run at its last reading.
///
/// The calendar clock can be set, and it goes on while the machine is suspended. After either, make a new value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeOfDay {
    /// The calendar clock at [`Instant::ZERO`], in microseconds since 1970; possibly before.
    zero_micros: i64,
}

impl TimeOfDay {
    /// The calendar clock shows `micros` microseconds since 1970 at the instant `now`.
    #[must_use]
    pub fn at(now: Instant, micros: u64) -> Self {
        let micros = i64::try_from(micros).unwrap_or(i64::MAX);
        Self { zero_micros: micros.saturating_sub(run_micros(now)) }
    }

    /// Microseconds since 1970; 0 before that.
    #[must_use]
    pub fn micros(self, now: Instant) -> u64 {
        u64::try_from(self.zero_micros.saturating_add(run_micros(now))).unwrap_or(0)
    }

    /// Milliseconds since 1970; 0 before that.
    #[must_use]
    pub fn millis(self, now: Instant) -> u64 {
        self.micros(now) / 1_000
    }

    /// By how much two readings of the calendar clock disagree.
    #[must_use]
    pub fn distance(self, other: Self) -> Duration {
        Duration::from_micros(self.zero_micros.abs_diff(other.zero_micros))
    }
}

/// Microseconds since the beginning of the run.
fn run_micros(now: Instant) -> i64 {
    i64::try_from(now.as_nanos() / 1_000).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_goes_on_with_the_run() {
        let time = TimeOfDay::at(Instant::from_millis(500), 1_800_000_000_000_000);
        assert_eq!(time.micros(Instant::from_millis(501)), 1_800_000_000_001_000);
        assert_eq!(time.millis(Instant::ZERO), 1_799_999_999_500);
        let set_back = TimeOfDay::at(Instant::from_millis(600), 1_799_999_999_100_000);
        assert_eq!(time.distance(set_back), Duration::from_secs(1));
        assert_eq!(set_back.distance(time), Duration::from_secs(1));
    }

    #[test]
    fn extreme_clocks_are_no_error() {
        let booted = TimeOfDay::at(Instant::from_millis(9_000), 5_000_000);
        assert_eq!(
            [0, 4_000, 9_001].map(|it| booted.millis(Instant::from_millis(it))),
            [0, 0, 5_001]
        );
        let late = TimeOfDay::at(Instant::ZERO, u64::MAX);
        assert_eq!(late.micros(Instant::MAX), i64::MAX as u64);
        assert_eq!(TimeOfDay::at(Instant::MAX, 0).micros(Instant::MAX), 0);
    }
}
