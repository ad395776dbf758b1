//! Slots of one face under its [limits](crate::limits).
use crate::table::Tickets;
use recoup_transport::time::{Duration, Instant};

/// The part of a second's Interests that may arrive at once.
const BURST: Duration = Duration::from_millis(100);

/// Slots of one face.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    /// Slots of the PIT.
    pub(crate) slots: usize,
    /// The entries of the face, if it does not come up again.
    pub(crate) tickets: Tickets,
    pub(crate) meter: Meter,
}

/// Rate limit in Interests per second (the virtual scheduling algorithm of ITU-T I.371).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    /// Expected time of the next Interest at the regular interval.
    expected: Instant,
}

impl Meter {
    /// Whether an Interest at `now` is within the rate.
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
    fn meter_admits_a_burst_and_then_the_rate() {
        let mut meter = Meter::default();
        let mut pass = |from: u64, to: u64, each: u64| {
            let arrivals = (from..to).flat_map(|millis| (0..each).map(move |_| millis));
            arrivals.filter(|it| meter.admits(Instant::from_millis(*it), 1_000)).count()
        };
        assert_eq!(pass(0, 1, 1_000), 101, "a tenth of a second at once, and the one that comes");
        assert_eq!(pass(1, 1_001, 5), 1_000);
        assert_eq!(pass(2_000, 3_000, 1), 1_000, "Interests within the rate pass");
        assert!(!meter.admits(Instant::from_millis(9_000), 0));
        assert!(meter.admits(Instant::from_millis(9_000), u64::MAX));
    }
}
