//! First in, first out: the Data that was stored first is evicted first, used or not.
//!
//! Source: icarus (Saino, Psaras and Pavlou, 2014), policy FIFO. NFD's `priority-fifo` evicts stale Data first, which this
//! policy does not.
use super::{Entry, ReplacementPolicy};
use crate::table::recency::Recency;
use std::fmt;

/// `fifo`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fifo(Recency);

impl ReplacementPolicy for Fifo {
    fn on_insert(&mut self, entry: &Entry<'_>) {
        self.0.add(entry.slot);
    }

    fn on_hit(&mut self, _entry: &Entry<'_>) {}

    fn on_remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.oldest()
    }
}

impl fmt::Display for Fifo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fifo")
    }
}
