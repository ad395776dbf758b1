//! Least frequently used, counted while Data is stored.
//!
//! Source: icarus (Saino, Psaras and Pavlou, 2014), policy IN_CACHE_LFU. Among Data with equal counts the least recently used
//! is evicted. Counts end with the eviction.
use super::ranking::Ranking;
use super::{Entry, ReplacementPolicy};
use std::fmt;

/// `lfu`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lfu(Ranking);

impl ReplacementPolicy for Lfu {
    fn on_insert(&mut self, entry: &Entry<'_>) {
        self.0.add(entry.slot, 1);
    }

    fn on_hit(&mut self, entry: &Entry<'_>) {
        let count = self.0.remove(entry.slot);
        self.0.add(entry.slot, count + 1);
    }

    fn on_remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.least().map(|(slot, _)| slot)
    }
}

impl fmt::Display for Lfu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lfu")
    }
}
