//! Dead nonce list: nonces of Interests that are no longer pending, to detect looping copies.
//!
//! Source: NFD's dead nonce list (lifetime 6 s). Difference: the exact time of each nonce is kept instead of
//! estimating the capacity from the rate of arrivals.
use crate::hash::mix;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;

/// Settings of a dead nonce list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadNonceOptions {
    /// Time for which a nonce is remembered.
    pub lifetime: Duration,
    /// Most nonces remembered; the oldest are dropped first.
    pub limit: usize,
}

impl Default for DeadNonceOptions {
    /// The capacity of a hash table of 2^17 slots before it grows.
    fn default() -> Self {
        Self { lifetime: Duration::from_secs(6), limit: 7 << 14 }
    }
}

/// Upper limit of the limit: each nonce has a number of its own.
const MOST: usize = 1 << 31;

/// Pairs of name and nonce, for a limited time. Pairs with the same 64 bits of hash are not distinguished.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    options: DeadNonceOptions,
    /// In the order of insertion; a pair that was inserted again is there twice.
    keys: VecDeque<u64>,
    /// The number of the first of these. Numbers increase with each insertion, and wrap.
    first: u32,
    /// The instants of insertion: packets that arrive together share one.
    batches: VecDeque<Batch>,
    /// For each pair the number of its last insertion. Every packet is looked up here, so the table has to be small
    /// enough for the processor's own caches.
    latest: HashTable<u32>,
}

/// Pairs that were inserted at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Batch {
    at: Instant,
    /// The number after the last of them.
    end: u32,
}

impl DeadNonces {
    /// An empty list.
    #[must_use]
    pub const fn new(options: DeadNonceOptions) -> Self {
        Self {
            options,
            keys: VecDeque::new(),
            first: 0,
            batches: VecDeque::new(),
            latest: HashTable::new(),
        }
    }

    /// Remembers the nonce of an Interest whose name has the hash `hash`.
    pub fn insert(&mut self, now: Instant, hash: u64, nonce: u32) {
        self.forget(now);
        if self.options.limit == 0 {
            return;
        }
        let new = key(hash, nonce);
        let Self { keys, first, batches, latest, .. } = self;
        let find = |number: u32| keys.get(number.wrapping_sub(*first) as usize).copied();
        let number = first.wrapping_add(keys.len() as u32);
        let is = |number: &u32| find(*number) == Some(new);
        match latest.entry(new, is, |number| find(*number).unwrap_or(0)) {
            Entry::Occupied(mut before) => {
                if inserted(batches, *first, *before.get()) == Some(now) {
                    return;
                }
                *before.get_mut() = number;
            }
            Entry::Vacant(place) => {
                place.insert(number);
            }
        }
        keys.push_back(new);
        let end = number.wrapping_add(1);
        match batches.back_mut() {
            Some(batch) if batch.at == now => batch.end = end,
            _ => batches.push_back(Batch { at: now, end }),
        }
        if self.keys.len() > self.options.limit.min(MOST) {
            self.forget_oldest();
        }
    }

    /// Whether that nonce is remembered.
    #[must_use]
    pub fn contains(&self, now: Instant, hash: u64, nonce: u32) -> bool {
        if self.latest.is_empty() {
            return false;
        }
        let key = key(hash, nonce);
        let is = |number: &u32| {
            self.keys.get(number.wrapping_sub(self.first) as usize).is_some_and(|it| *it == key)
        };
        let number = self.latest.find(key, is);
        let at = number.and_then(|number| inserted(&self.batches, self.first, *number));
        at.is_some_and(|at| now < at + self.options.lifetime)
    }

    /// Number of stored nonces, expired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no nonce is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn forget(&mut self, now: Instant) {
        while self.batches.front().is_some_and(|batch| batch.at + self.options.lifetime <= now) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.keys.pop_front() else {
            return;
        };
        let gone = self.first;
        self.first = gone.wrapping_add(1);
        if self.batches.front().is_some_and(|batch| batch.end == self.first) {
            self.batches.pop_front();
        }
        // A pair that was inserted again has another number.
        if let Ok(place) = self.latest.find_entry(key, |number| *number == gone) {
            place.remove();
        }
    }
}

/// When the pair of that number was inserted; `first` is the number of the oldest pair.
fn inserted(batches: &VecDeque<Batch>, first: u32, number: u32) -> Option<Instant> {
    let index = number.wrapping_sub(first);
    let batch = batches.partition_point(|batch| batch.end.wrapping_sub(first) <= index);
    batches.get(batch).map(|batch| batch.at)
}

/// The hash of the name is unknown to the senders of nonces, so they cannot choose keys.
fn key(hash: u64, nonce: u32) -> u64 {
    mix(hash ^ (u64::from(nonce) << 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn nonce_is_remembered_for_its_lifetime_and_name() {
        let mut list = DeadNonces::new(DeadNonceOptions::default());
        list.insert(at(0), 7, 1);
        assert!(list.contains(at(5_999), 7, 1));
        assert!(!list.contains(at(6_000), 7, 1));
        assert!(!list.contains(at(0), 7, 2) && !list.contains(at(0), 8, 1));
    }

    proptest! {
        #[test]
        fn list_behaves_like_the_reference_log(
            steps in prop::collection::vec((0..30_u64, 0..3_u64, 0..3_u32), 0..120),
            limit in 0..8_usize,
        ) {
            let options = DeadNonceOptions { lifetime: Duration::from_millis(60), limit };
            let (mut list, mut log, mut now) = (DeadNonces::new(options), Vec::new(), 0);
            list.first = u32::MAX - 9;
            for (wait, hash, nonce) in steps {
                now += wait;
                list.insert(at(now), hash, nonce);
                let recent = &log[log.len().saturating_sub(limit)..];
                if !recent.contains(&(now, hash, nonce)) {
                    log.push((now, hash, nonce));
                }
                let recent = &log[log.len().saturating_sub(limit)..];
                for pair in (0..3).flat_map(|hash| (0..3).map(move |nonce| (hash, nonce))) {
                    let known = recent.iter().any(|(then, hash, nonce)| pair == (*hash, *nonce) && now < then + 60);
                    prop_assert_eq!(list.contains(at(now), pair.0, pair.1), known);
                }
                prop_assert!(list.len() <= limit);
            }
        }
    }
}
