//! Counters of a node, beside those of its faces.
use recoup_transport::time::Duration;

/// Limit of the first class of round trips, in microseconds.
const FIRST_MICROS: u64 = 16;
/// Classes of round trips; each is twice as wide as the one before, the last one has no limit.
const CLASSES: usize = 24;

/// Counters of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCounters {
    /// Pending Interests that Data answered.
    pub satisfied: u64,
    /// Pending Interests that expired without an answer.
    pub unsatisfied: u64,
    /// Interests that the content store answered.
    pub cs_hits: u64,
    /// Interests that it did not.
    pub cs_misses: u64,
    /// Packets that were marked for congestion.
    pub marked: u64,
    /// Round-trip times from the last transmission of an Interest to its Data, at the upstream face.
    pub round_trips: Histogram,
}

/// Length of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Queued packets.
    pub packets: u64,
    /// Queued bytes, link headers included.
    pub bytes: u64,
}

impl std::ops::AddAssign for QueueState {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Numbers of durations by class, each twice as wide as the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; CLASSES],
    sum_micros: u64,
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn add(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let class = (micros / FIRST_MICROS).checked_ilog2().map_or(0, |log| log as usize + 1);
        if let Some(count) = self.counts.get_mut(class.min(CLASSES - 1)) {
            *count += 1;
        }
        self.sum_micros = self.sum_micros.saturating_add(micros);
    }

    /// Upper limits, exclusive, and the number of durations below each of them. The last class, which has no limit,
    /// is left out.
    pub fn below(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut below = 0;
        self.counts.iter().take(CLASSES - 1).enumerate().map(move |(class, count)| {
            below += count;
            (Duration::from_micros(FIRST_MICROS << class), below)
        })
    }

    /// Number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Sum of all durations.
    #[must_use]
    pub const fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_falls_into_its_class() {
        let mut found = Histogram::default();
        for micros in [0, 15, 16, 31, 32, u64::MAX] {
            found.add(Duration::from_micros(micros));
        }
        let below: Vec<_> =
            found.below().take(4).map(|(to, many)| (to.as_micros(), many)).collect();
        assert_eq!(below, [(16, 2), (32, 4), (64, 5), (128, 5)]);
        assert_eq!((found.count(), found.below().last().unwrap().1), (6, 5));
    }
}
