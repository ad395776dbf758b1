//! The clocks: one for the machines, which only moves forward, and the calendar's.
use recoup_transport::time::{Duration, Instant, TimeOfDay};

/// A monotonic clock that shows the time since it was made.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: std::time::Instant,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// A clock that shows [`Instant::ZERO`] now.
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// A clock that was made so much earlier.
    #[cfg(test)]
    pub(crate) fn earlier(self, span: Duration) -> Self {
        Self { start: self.start.checked_sub(span).unwrap_or(self.start) }
    }

    /// Leaves so much time out: the clock shows less by it from here on. Copies show what they showed.
    pub(crate) fn leave_out(&mut self, span: Duration) {
        self.start += span;
    }

    /// The time since the clock was made, without what was left out.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    /// The time of the calendar clock now, to which differences of this clock are added.
    pub fn time_of_day(&self) -> TimeOfDay {
        let micros = u64::try_from(unix_time().as_micros()).unwrap_or(u64::MAX);
        TimeOfDay::at(self.now(), micros)
    }
}

/// Time since 1970-01-01T00:00:00Z, as the machine's calendar clock has it; zero if that clock
/// stands before 1970.
///
/// For version components and signature times; never for intervals, since the calendar can jump.
pub fn unix_time() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// A frame that seems to have waited for longer did not: the calendar clock was set.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// How long ago something was that the system has stamped with the time since 1970-01-01T00:00:00Z; zero where it did not.
pub(crate) fn waited(stamp: Option<Duration>) -> Duration {
    let waited = stamp.and_then(|stamp| unix_time().checked_sub(stamp));
    waited.filter(|waited| *waited <= LONGEST_WAIT).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_decreases_and_copies_agree() {
        let clock = Clock::new();
        let copy = clock;
        let earlier = clock.now();
        let later = copy.now();
        assert!(later >= earlier);
        assert!(later < Instant::ZERO + Duration::from_secs(60));
    }

    #[test]
    fn stamp_of_another_time_is_no_wait() {
        let hour = Duration::from_secs(3_600);
        for stamp in [None, Some(unix_time() - hour), Some(unix_time() + hour)] {
            assert_eq!(waited(stamp), Duration::ZERO);
        }
        assert!(waited(Some(unix_time() - Duration::from_millis(20))) >= Duration::from_millis(20));
    }

    #[test]
    fn the_calendar_is_past_2020() {
        assert!(unix_time() > Duration::from_secs(1_577_836_800));
    }
}
