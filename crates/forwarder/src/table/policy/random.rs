//! Any Data is evicted with the same probability.
//!
//! Source: icarus (Saino, Psaras and Pavlou, 2014), policy RAND.
use super::{Entry, ReplacementPolicy};
use recoup_transport::random::Rng;
use std::fmt;

/// `random`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Random {
    /// Slots in use, in any order.
    slots: Vec<u32>,
    /// For each slot its index in `slots`.
    places: Vec<u32>,
    rng: Option<Rng>,
}

impl ReplacementPolicy for Random {
    fn seed(&mut self, rng: Rng) {
        self.rng = Some(rng);
    }

    fn on_insert(&mut self, entry: &Entry<'_>) {
        let slot = entry.slot as usize;
        if slot >= self.places.len() {
            self.places.resize(slot + 1, 0);
        }
        self.places[slot] = self.slots.len() as u32;
        self.slots.push(entry.slot);
    }

    fn on_hit(&mut self, _entry: &Entry<'_>) {}

    fn on_remove(&mut self, slot: u32) {
        let place = self.places[slot as usize];
        self.slots.swap_remove(place as usize);
        if let Some(moved) = self.slots.get(place as usize) {
            self.places[*moved as usize] = place;
        }
    }

    fn victim(&mut self) -> Option<u32> {
        let drawn = match (&mut self.rng, self.slots.len()) {
            (_, 0) => return None,
            (Some(rng), used) => rng.below(used as u64),
            (None, _) => 0,
        };
        self.slots.get(drawn as usize).copied()
    }
}

impl fmt::Display for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("random")
    }
}
