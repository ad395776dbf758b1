//! Nonces of Interests that are pending no more: a copy that still circles is recognised by them.
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
    /// How long a nonce is remembered.
    pub lifetime: Duration,
    /// Most nonces remembered; the oldest give way.
    pub limit: usize,
}

impl Default for DeadNonceOptions {
    fn default() -> Self {
        Self { lifetime: Duration::from_secs(6), limit: 1 << 17 }
    }
}

/// More are never remembered: each has a number of its own.
const MOST: usize = 1 << 31;

/// Names with nonces, for a while. Two that share 64 bits of hash are taken for one.
#[derive(Clone, Debug)]
pub struct DeadNonces {
    options: DeadNonceOptions,
    /// In the order of insertion; a pair that was inserted again is there twice.
    order: VecDeque<Seen>,
    /// The number of the first of these. Numbers go on with each insertion, and begin again after the largest.
    first: u32,
    /// For each pair the number under which it was inserted last: where every packet comes here, the table has to be small
    /// to stay in the processor's own caches.
    latest: HashTable<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    key: u64,
    at: Instant,
}

impl DeadNonces {
    /// An empty list.
    #[must_use]
    pub const fn new(options: DeadNonceOptions) -> Self {
        Self { options, order: VecDeque::new(), first: 0, latest: HashTable::new() }
    }

    /// Remembers the nonce of an Interest whose name has the hash `hash`.
    pub fn insert(&mut self, now: Instant, hash: u64, nonce: u32) {
        self.forget(now);
        if self.options.limit == 0 {
            return;
        }
        let seen = Seen { key: key(hash, nonce), at: now };
        let Self { order, first, latest, .. } = self;
        let find = |number: u32| order.get(number.wrapping_sub(*first) as usize);
        let is = |number: &u32| find(*number).is_some_and(|other| other.key == seen.key);
        let number = first.wrapping_add(order.len() as u32);
        match latest.entry(seen.key, is, |number| find(*number).map_or(0, |other| other.key)) {
            Entry::Occupied(before) if find(*before.get()) == Some(&seen) => return,
            Entry::Occupied(mut before) => *before.get_mut() = number,
            Entry::Vacant(place) => {
                place.insert(number);
            }
        }
        self.order.push_back(seen);
        if self.order.len() > self.options.limit.min(MOST) {
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
        let find = |number: u32| self.order.get(number.wrapping_sub(self.first) as usize);
        let is = |number: &u32| find(*number).is_some_and(|seen| seen.key == key);
        let seen = self.latest.find(key, is).and_then(|number| find(*number));
        seen.is_some_and(|seen| now < seen.at + self.options.lifetime)
    }

    /// How many nonces take up room.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether none takes up room.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn forget(&mut self, now: Instant) {
        while self.order.front().is_some_and(|seen| seen.at + self.options.lifetime <= now) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(seen) = self.order.pop_front() else {
            return;
        };
        let gone = self.first;
        self.first = gone.wrapping_add(1);
        // One that was inserted again has another number.
        if let Ok(place) = self.latest.find_entry(seen.key, |number| *number == gone) {
            place.remove();
        }
    }
}

/// The hash of the name is secret to those who choose nonces, so they cannot choose keys.
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
    fn a_nonce_is_remembered_for_its_lifetime_with_its_name_alone() {
        let mut list = DeadNonces::new(DeadNonceOptions::default());
        list.insert(at(0), 7, 1);
        assert!(list.contains(at(5_999), 7, 1));
        assert!(!list.contains(at(6_000), 7, 1));
        assert!(!list.contains(at(0), 7, 2) && !list.contains(at(0), 8, 1));
    }

    proptest! {
        #[test]
        fn the_list_behaves_like_a_log_searched_from_end_to_end(
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
