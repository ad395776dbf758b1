//! Random numbers of a soak: one seed, and a stream for each thread.

use std::cell::Cell;
use std::time::Duration;

/// A generator (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random {
    seed: u64,
    state: Cell<u64>,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, state: Cell::new(seed) }
    }

    /// A generator that does not depend on the numbers drawn so far.
    pub(super) fn stream(&self, number: u64) -> Self {
        let mixed = Self::new(self.seed.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ number);
        Self::new(mixed.next())
    }

    pub(super) fn next(&self) -> u64 {
        self.state.set(self.state.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut z = self.state.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(super) fn below(&self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// A time between two limits, in milliseconds.
    pub(super) fn millis(&self, least: u64, most: u64) -> Duration {
        Duration::from_millis(least + self.next() % (most - least + 1))
    }

    /// One of several.
    pub(super) fn one<'a, T>(&self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Fills a buffer.
    pub(super) fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}
