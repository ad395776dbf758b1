//! What a node counts beside what its faces carry.
use recoup_transport::time::Duration;

/// Round trips shorter than this, in microseconds, are in the first class.
const FIRST_MICROS: u64 = 16;
/// Classes of round trips; each is twice as wide as the one before, the last one has no end.
const CLASSES: usize = 24;

/// What became of Interests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCounters {
    /// Pending Interests that Data answered.
    pub satisfied: u64,
    /// Pending Interests that nobody answered in time.
    pub unsatisfied: u64,
    /// Interests that the content store answered.
    pub cs_hits: u64,
    /// Interests that it did not.
    pub cs_misses: u64,
    /// Packets that were marked for congestion.
    pub marked: u64,
    /// From the last sending of an Interest to its Data, at the face that answered.
    pub round_trips: Histogram,
}

impl NodeCounters {
    /// What another node counted comes on top.
    pub fn add(&mut self, other: &Self) {
        self.satisfied += other.satisfied;
        self.unsatisfied += other.unsatisfied;
        self.cs_hits += other.cs_hits;
        self.cs_misses += other.cs_misses;
        self.marked += other.marked;
        self.round_trips.add_all(&other.round_trips);
    }
}

/// The length of a queue.
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

/// How often durations fell into classes, each twice as wide as the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; CLASSES],
    sum_micros: u64,
}

impl Histogram {
    /// Counts one.
    #[inline]
    pub fn add(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let class = (micros / FIRST_MICROS).checked_ilog2().map_or(0, |log| log as usize + 1);
        if let Some(count) = self.counts.get_mut(class.min(CLASSES - 1)) {
            *count += 1;
        }
        self.sum_micros = self.sum_micros.saturating_add(micros);
    }

    /// Counts all that another has counted.
    fn add_all(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.sum_micros = self.sum_micros.saturating_add(other.sum_micros);
    }

    /// Upper bounds, exclusive, and how many were below each of them; the last class, which has no bound, is left out.
    pub fn below(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut below = 0;
        self.counts.iter().take(CLASSES - 1).enumerate().map(move |(class, count)| {
            below += count;
            (Duration::from_micros(FIRST_MICROS << class), below)
        })
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All together.
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
