//! The clocks: one for the machines, which only moves forward, and the calendar's.
use recoup_transport::time::{Duration, Instant};

/// A monotonic clock that shows the time since it was made.
///
/// Copies show the same time.
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

    /// The time since the clock was made.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }
}

/// Time since 1970-01-01T00:00:00Z, as the machine's calendar clock has it; zero if that clock
/// stands before 1970.
///
/// For version components and signature times; never for intervals, since the calendar can jump.
pub fn unix_time() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO)
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
    fn the_calendar_is_past_2020() {
        assert!(unix_time() > Duration::from_secs(1_577_836_800));
    }
}
