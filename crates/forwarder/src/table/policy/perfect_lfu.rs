//! `perfect-lfu(names=1000000)`: least frequently requested, counted for stored Data and for other names.
//!
//! Source: icarus (Saino, Psaras and Pavlou, 2014), policy PERFECT_LFU. New Data is stored in a full store only if its name was
//! requested at least as often as the victim's.
//!
//! Difference: memory is limited to counts for `names` names. If there are more, all counts are halved until half of the places
//! are free. Names whose count is 0 are forgotten.
use super::ranking::Ranking;
use super::{Entry, ReplacementPolicy};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry as Place;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::Instant;
use std::hash::{BuildHasherDefault, Hasher};

/// Names that are counted by default.
const NAMES: u32 = 1_000_000;

/// `perfect-lfu`.
#[derive(Clone, Debug, PartialEq)]
pub struct PerfectLfu {
    names: u32,
    counts: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    ranking: Ranking,
}

/// Hashes of names are hashes with a secret key already.
#[derive(Clone, Copy, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl PerfectLfu {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (counts, ranking) = (HashMap::default(), Ranking::default());
        spec.read(Self { names: NAMES, counts, ranking })
    }

    /// Counts a request; returns the count.
    fn count(&mut self, hash: u64) -> u64 {
        if self.counts.len() >= self.names as usize && !self.counts.contains_key(&hash) {
            self.age();
        }
        match self.counts.entry(hash) {
            Place::Occupied(mut count) => {
                *count.get_mut() = count.get().saturating_add(1);
                u64::from(*count.get())
            }
            Place::Vacant(place) => u64::from(*place.insert(1)),
        }
    }

    /// Halves counts until half of the places are free.
    fn age(&mut self) {
        while self.counts.len() > self.names as usize / 2 {
            self.counts.retain(|_, count| {
                *count /= 2;
                *count > 0
            });
            self.ranking.halve();
        }
    }

    fn counted(&self, hash: u64) -> u64 {
        self.counts.get(&hash).copied().map_or(0, u64::from)
    }
}

impl ReplacementPolicy for PerfectLfu {
    fn on_insert(&mut self, entry: &Entry<'_>) {
        self.ranking.add(entry.slot, self.counted(entry.hash));
    }

    fn on_hit(&mut self, entry: &Entry<'_>) {
        let count = self.count(entry.hash);
        self.ranking.remove(entry.slot);
        self.ranking.add(entry.slot, count);
    }

    /// The Interest for it was counted as a miss.
    fn on_replace(&mut self, entry: &Entry<'_>) {
        self.ranking.remove(entry.slot);
        self.ranking.add(entry.slot, self.counted(entry.hash));
    }

    fn on_miss(&mut self, _now: Instant, hash: u64) {
        self.count(hash);
    }

    fn on_remove(&mut self, slot: u32) {
        self.ranking.remove(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.ranking.least().map(|(slot, _)| slot)
    }

    fn displaces(&mut self, _now: Instant, hash: u64) -> bool {
        self.ranking.least().is_none_or(|(_, count)| self.counted(hash) >= count)
    }
}

impl Described for PerfectLfu {
    fn describe(&mut self, each: &mut Description<'_>) {
        let expected = "a number from 1 to 100000000";
        self.names = each.truncated("names", self.names.into(), 1.0..=1e8, expected) as u32;
    }
}

recoup_core::print_as_spec!(PerfectLfu, "perfect-lfu");
