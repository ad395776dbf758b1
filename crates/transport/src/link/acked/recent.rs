//! Recently received frames, by their Sequence.
use crate::time::{Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

/// Most Sequences remembered.
const MOST: usize = 65_536;

/// Sequences received within the time in which a frame may be retransmitted.
#[derive(Debug, Default)]
pub(super) struct Recent {
    order: VecDeque<(Instant, u64)>,
    known: BTreeSet<u64>,
}

impl Recent {
    /// Records a frame; `false` for a duplicate of a frame received less than `memory` ago.
    pub(super) fn insert(&mut self, now: Instant, sequence: u64, memory: Duration) -> bool {
        let old = |at: &Instant| now.since(*at) > memory;
        while self.order.front().is_some_and(|(at, _)| old(at) || self.order.len() >= MOST) {
            if let Some((_, sequence)) = self.order.pop_front() {
                self.known.remove(&sequence);
            }
        }
        let new = self.known.insert(sequence);
        if new {
            self.order.push_back((now, sequence));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_remembered_while_retransmissions_may_come() {
        let mut recent = Recent::default();
        let memory = Duration::from_millis(200);
        let mut insert = |milli| recent.insert(Instant::from_millis(milli), 7, memory);
        assert_eq!([0, 0, 200, 201, 300].map(&mut insert), [true, false, false, true, false]);
    }

    #[test]
    fn a_flood_of_sequences_is_bounded() {
        let mut recent = Recent::default();
        for sequence in 0..2 * MOST as u64 {
            assert!(recent.insert(Instant::ZERO, sequence, Duration::from_secs(1)));
        }
        assert_eq!((recent.order.len(), recent.known.len()), (MOST, MOST));
    }
}
