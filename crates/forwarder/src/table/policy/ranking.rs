//! Slots in the order of their counts; among equal counts the least recently used slot is first.
use std::collections::BTreeMap;

/// A count, and the number of the last use.
type Key = (u64, u64);

/// Slots by count. Each operation is logarithmic in the number of slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranking {
    keys: Vec<Key>,
    order: BTreeMap<Key, u32>,
    uses: u64,
}

impl Ranking {
    /// Adds a slot that is not in the ranking, as the most recently used one of its count.
    pub(super) fn add(&mut self, slot: u32, count: u64) {
        self.uses += 1;
        let (place, key) = (slot as usize, (count, self.uses));
        if place >= self.keys.len() {
            self.keys.resize(place + 1, Key::default());
        }
        self.keys[place] = key;
        self.order.insert(key, slot);
    }

    /// Removes a slot that is in the ranking; returns its count.
    pub(super) fn remove(&mut self, slot: u32) -> u64 {
        let key = self.keys[slot as usize];
        self.order.remove(&key);
        key.0
    }

    /// The slot with the least count, and the count.
    pub(super) fn least(&self) -> Option<(u32, u64)> {
        self.order.first_key_value().map(|(key, slot)| (*slot, key.0))
    }

    /// Halves all counts, rounded down.
    pub(super) fn halve(&mut self) {
        for (count, _) in &mut self.keys {
            *count /= 2;
        }
        let halved = std::mem::take(&mut self.order).into_iter();
        self.order = halved.map(|((count, use_), slot)| ((count / 2, use_), slot)).collect();
    }
}
