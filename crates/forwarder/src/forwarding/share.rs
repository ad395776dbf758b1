//! What one face has taken of what its [limits](crate::limits) allow.
use crate::table::Tickets;
use recoup_transport::time::{Duration, Instant};

/// The part of a second's Interests that may arrive at once.
const BURST: Duration = Duration::from_millis(100);

/// What one face has taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    /// Places of the table of pending Interests.
    pub(crate) slots: usize,
    /// The entries that the face waits for, if it is none that comes back.
    pub(crate) tickets: Tickets,
    pub(crate) meter: Meter,
}

/// Lets so many Interests pass in a second (the virtual scheduling algorithm of ITU-T I.371).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    /// When the next Interest would come if all came in regular intervals.
    expected: Instant,
}

impl Meter {
    /// Whether an Interest that comes at `now` may pass.
    pub(crate) fn admits(&mut self, now: Instant, rate: u64) -> bool {
        let interval = Duration::from_nanos(1_000_000_000 / rate.max(1));
        if rate == 0 || self.expected.since(now) > BURST.max(interval) {
            return false;
        }
        self.expected = self.expected.max(now) + interval;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_lets_a_burst_pass_and_then_the_rate() {
        let mut meter = Meter::default();
        let mut pass = |from: u64, to: u64, each: u64| {
            let arrivals = (from..to).flat_map(|millis| (0..each).map(move |_| millis));
            arrivals.filter(|it| meter.admits(Instant::from_millis(*it), 1_000)).count()
        };
        assert_eq!(pass(0, 1, 1_000), 101, "a tenth of a second at once, and the one that comes");
        assert_eq!(pass(1, 1_001, 5), 1_000);
        assert_eq!(pass(2_000, 3_000, 1), 1_000, "who keeps the rate loses nothing");
        assert!(!meter.admits(Instant::from_millis(9_000), 0));
        assert!(meter.admits(Instant::from_millis(9_000), u64::MAX));
    }
}
