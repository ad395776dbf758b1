//! Time as the machines see it: nanoseconds since the run began.
//!
//! Unlike [`std::time::Instant`] an [`Instant`] can be constructed, printed and compared across runs: a machine is
//! testable with literal times.
mod of_day;

pub use of_day::TimeOfDay;

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
pub use std::time::Duration;

/// A point in time: nanoseconds since the run began. Good for 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// The end of time.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the beginning of the run.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The instant `millis` milliseconds after the beginning of the run.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the beginning of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Nanoseconds of a duration, saturating.
#[inline]
fn nanos(duration: Duration) -> u64 {
    let whole = duration.as_secs().saturating_mul(1_000_000_000);
    whole.saturating_add(u64::from(duration.subsec_nanos()))
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::MAX`].
    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanos(duration)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::ZERO`].
    #[inline]
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanos(duration)))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let second = Duration::from_secs(1);
        assert_eq!(Instant::MAX + second, Instant::MAX);
        assert_eq!(Instant::ZERO - second, Instant::ZERO);
        assert_eq!(Instant::ZERO.since(Instant::from_millis(5)), Duration::ZERO);
        assert_eq!(Instant::ZERO + Duration::MAX, Instant::MAX);
    }

    #[test]
    fn it_prints_as_seconds() {
        assert_eq!(Instant::from_millis(1_002).to_string(), "1.002000000s");
    }
}
