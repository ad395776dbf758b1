//! Least recently used.
//!
//! Source: NFD, `daemon/table/cs-policy-lru.cpp`. The content store has this policy without a virtual call.
use super::{Entry, ReplacementPolicy};
use crate::table::recency::Recency;
use std::fmt;

/// `lru`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lru(Recency);

impl ReplacementPolicy for Lru {
    fn on_insert(&mut self, entry: &Entry<'_>) {
        self.0.add(entry.slot);
    }

    fn on_hit(&mut self, entry: &Entry<'_>) {
        self.0.touch(entry.slot);
    }

    fn on_remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.oldest()
    }
}

impl fmt::Display for Lru {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lru")
    }
}
