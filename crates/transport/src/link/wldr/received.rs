//! Numbers received from a neighbour: one bit for each, in memory for as many as there were.

/// Most numbers below the highest one whose arrival is recorded.
pub(super) const HISTORY: u64 = super::MAX_RING as u64;
/// Least numbers for which there is memory, once there is any.
const LEAST: u64 = 512;

/// The last [`HISTORY`] numbers, received or not.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// A ring of bits whose length is a power of two, up to [`HISTORY`].
    words: Vec<u64>,
    /// First number of the ring while that is shorter than [`HISTORY`]; it begins a word.
    low: u64,
}

impl Received {
    /// Records a number; returns whether it was received before. It is at most [`HISTORY`] below the highest one. For a
    /// new highest number the answer holds only if it was [forgotten](Self::forget) before.
    #[inline]
    pub(super) fn record(&mut self, number: u64) -> bool {
        self.cover(number, number);
        let (word, bit) = self.place(number);
        let Some(word) = self.words.get_mut(word) else { return false };
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// Marks the numbers from `first` to `last` as not received.
    pub(super) fn forget(&mut self, first: u64, last: u64) {
        self.cover(first, last);
        let mut next = first;
        while next <= last {
            let (word, _) = self.place(next);
            let many = (64 - next % 64).min(last - next + 1);
            if let Some(word) = self.words.get_mut(word) {
                *word &= !(u64::MAX >> (64 - many) << (next % 64));
            }
            next += many;
        }
    }

    /// Numbers for which there is memory.
    #[inline]
    fn bits(&self) -> u64 {
        64 * self.words.len() as u64
    }

    /// Provides memory for the numbers from `first` to `last`, beside the recorded ones.
    #[inline]
    fn cover(&mut self, first: u64, last: u64) {
        let bits = self.bits();
        if bits < HISTORY && (first < self.low || last >= self.low + bits) {
            self.grow(first, last);
        }
    }

    fn grow(&mut self, first: u64, last: u64) {
        let before = std::mem::take(&mut self.words);
        let recorded = self.low / 64..self.low / 64 + before.len() as u64;
        let (mut low, mut end) = (first / 64 * 64, last + 1);
        if !before.is_empty() {
            (low, end) = (low.min(self.low), end.max(recorded.end * 64));
        }
        let bits = (end - low).clamp(LEAST, HISTORY).next_power_of_two();
        (self.low, self.words) = (low, vec![0; (bits / 64) as usize]);
        for (group, at) in recorded.map(|group| (group, group as usize & (before.len() - 1))) {
            let (word, _) = self.place(group * 64);
            self.words[word] = before[at];
        }
    }

    /// Word and bit of a number.
    #[inline]
    fn place(&self, number: u64) -> (usize, u64) {
        let mask = self.words.len().wrapping_sub(1);
        ((number / 64) as usize & mask, 1 << (number % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ring_of_any_length_knows_each_number(
            first in 0..u64::MAX / 2,
            steps in prop::collection::vec((0..3_000_u64, 0..4_000_u64), 1..200),
        ) {
            let (mut received, mut known) = (Received::default(), BTreeSet::new());
            let mut next = first;
            for (skip, back) in steps {
                let (from, number) = (next, next + skip);
                received.forget(from, number);
                prop_assert!(!received.record(number));
                known.insert(number);
                next = number + 1;
                let old = number.saturating_sub(back);
                prop_assert_eq!(received.record(old), !known.insert(old), "{}", old);
            }
            prop_assert!(received.bits() <= HISTORY);
        }
    }

    #[test]
    fn forgetting_clears_only_these_numbers() {
        let jumps =
            [(0, 1), (3, 61), (63, 2), (64, 64), (100, 1_000), (HISTORY - 9, 30), (17, HISTORY)];
        for (first, many) in jumps {
            let mut received = Received::default();
            (first..first + HISTORY).for_each(|number| assert!(!received.record(number)));
            received.forget(first, first + many - 1);
            let left = (first..first + HISTORY).filter(|number| received.record(*number));
            assert!(left.eq(first + many..first + HISTORY));
        }
    }

    #[test]
    fn memory_follows_the_numbers() {
        let mut received = Received::default();
        assert_eq!(received.bits(), 0);
        for (number, bits) in
            [(1_000_001, 512), (1_000_400, 512), (1_000_800, 1_024), (999_000, 2_048)]
        {
            received.record(number);
            assert_eq!(received.bits(), bits, "{number}");
        }
        for number in 1_001_001..1_100_000 {
            received.forget(number, number);
            assert!(!received.record(number));
        }
        assert_eq!(received.bits(), HISTORY);
        assert!(received.record(1_100_000 - HISTORY));
    }
}
