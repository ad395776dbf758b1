//! The table of pending Interests (PIT).
//!
//! Interests share an entry if they agree in name, CanBePrefix, MustBeFresh and forwarding hint. Data is matched by
//! its whole name, and by shorter names only for lengths with an entry with CanBePrefix. Its digest is computed only
//! if an entry for that name has a digest.
mod entry;

pub(crate) use entry::Backoff;
pub use entry::{Arrival, DuplicateNonce, InRecord, OutRecord, PitEntry, Rare};

use super::lengths::Lengths;
use crate::face::FaceId;
use crate::hash::NameHasher;
use hashbrown::HashTable;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;
use recoup_transport::time::Instant;
use recoup_transport::timer::Timers;
use std::sync::Arc;
use thiserror::Error;

/// Most entries of one name with different forwarding hints, which any node can invent: all entries of a name have
/// the same hash.
const MAX_HINTED: usize = 32;

/// Bytes of an implicit digest component, and those before the digest.
const DIGEST_COMPONENT: usize = 34;
const DIGEST_HEADER: [u8; 2] = [typ::IMPLICIT_SHA256_DIGEST as u8, 32];

/// Number of an entry, valid until the entry is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PitId(u32);

/// The table, or the number of entries of one name, is at its limit.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the table of pending Interests is full; raise its limit or shorten the lifetimes")]
pub struct PitFull;

/// Pending Interests.
#[derive(Clone, Debug)]
pub struct Pit {
    hasher: NameHasher,
    limit: usize,
    entries: Vec<PitEntry>,
    free: Vec<u32>,
    /// By the hash of the name alone.
    index: HashTable<u32>,
    timers: Timers,
    /// Lengths of the names with CanBePrefix.
    prefixes: Lengths,
    /// Hashes of names of entries with an implicit digest, and their number.
    digests: HashTable<(u64, u32)>,
    bytes: Vec<u8>,
}

impl Pit {
    /// An empty table for at most `limit` Interests.
    #[must_use]
    pub fn new(hasher: NameHasher, limit: usize) -> Self {
        Self {
            hasher,
            limit: limit.min(u32::MAX as usize - 1),
            entries: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            timers: Timers::new(),
            prefixes: Lengths::default(),
            digests: HashTable::new(),
            bytes: Vec::new(),
        }
    }

    /// Number of pending Interests.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether no Interest is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Limit of pending Interests.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The entry of `interest`, if there is one; `hash` is that of its name.
    #[must_use]
    #[inline]
    pub fn find(&self, interest: &Interest, hash: u64) -> Option<PitId> {
        let is = |slot: &u32| {
            let entry = &self.entries[*slot as usize];
            entry.hash() == hash && is_same(entry.interest(), interest)
        };
        self.index.find(hash, is).copied().map(PitId)
    }

    /// Adds an entry without records and without a timer. [`find`](Self::find) must have returned `None` before.
    ///
    /// # Errors
    /// The table is full.
    #[inline]
    pub fn insert(&mut self, interest: Arc<Interest>, hash: u64) -> Result<PitId, PitFull> {
        debug_assert!(self.find(&interest, hash).is_none(), "the Interest has an entry");
        if self.index.len() >= self.limit || self.has_too_many_hints(&interest, hash) {
            return Err(PitFull);
        }
        let is_counted = self.count_in(&interest);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(PitEntry::vacant());
            (self.entries.len() - 1) as u32
        });
        let entry = &mut self.entries[slot as usize];
        entry.fill(interest, hash);
        entry.is_counted = is_counted;
        let entries = &self.entries;
        self.index.insert_unique(hash, slot, |slot| entries[*slot as usize].hash());
        Ok(PitId(slot))
    }

    /// An entry.
    #[must_use]
    #[inline]
    pub fn entry(&self, id: PitId) -> &PitEntry {
        &self.entries[id.0 as usize]
    }

    /// An entry, mutable.
    #[must_use]
    #[inline]
    pub fn entry_mut(&mut self, id: PitId) -> &mut PitEntry {
        &mut self.entries[id.0 as usize]
    }

    /// A ticket of an entry, valid until the entry is removed.
    #[must_use]
    #[inline]
    pub fn ticket(&self, id: PitId) -> u64 {
        (u64::from(self.entry(id).generation()) << 32) | u64::from(id.0)
    }

    /// The entry of a ticket, if it still exists.
    #[must_use]
    #[inline]
    pub fn by_ticket(&self, ticket: u64) -> Option<PitId> {
        let slot = ticket as u32;
        let entry = self.entries.get(slot as usize)?;
        let same = !entry.is_vacant() && entry.generation() == (ticket >> 32) as u32;
        same.then_some(PitId(slot))
    }

    /// Writes the entries that `data` answers to `found`, in the order of their numbers; `hash` is that of its name.
    /// Earlier contents of `found` are cleared.
    #[inline]
    pub fn matches(&mut self, data: &Data, hash: u64, found: &mut Vec<PitId>) {
        found.clear();
        let name = data.name_value();
        self.collect(name, hash, |_| true, found);
        if !self.prefixes.is_empty() {
            let ends = self.prefixes.ends(data.name());
            for bytes in ends.iter().filter_map(|end| name.get(..*end as usize)) {
                if bytes.len() < name.len() {
                    let hash = self.hasher.hash(bytes);
                    self.collect(bytes, hash, |interest| interest.can_be_prefix, found);
                }
            }
        }
        if !self.digests.is_empty()
            && self.digests.find(hash, |(parent, _)| *parent == hash).is_some()
        {
            self.collect_by_digest(data, found);
        }
        if found.len() > 1 {
            found.sort_unstable();
        }
    }

    /// Sets the timer of an entry to `at`, in place of an earlier one.
    #[inline]
    pub fn arm(&mut self, id: PitId, at: Instant) {
        self.timers.arm(id.0, at);
    }

    /// Stops the first timer that is due at `now`, and returns its entry. The entry stays.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<PitId> {
        self.timers.pop_due(now).map(PitId)
    }

    /// Time of the next timer.
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        self.timers.deadline()
    }

    /// Removes an entry and its timer; returns its Interest, unless it was removed already.
    #[inline]
    pub fn remove(&mut self, id: PitId) -> Option<Arc<Interest>> {
        let entry = self.entries.get_mut(id.0 as usize)?;
        let interest = entry.vacate()?;
        let (hash, is_counted) = (entry.hash(), entry.is_counted);
        if let Ok(place) = self.index.find_entry(hash, |slot| *slot == id.0) {
            place.remove();
        }
        self.timers.cancel(id.0);
        self.free.push(id.0);
        if is_counted {
            self.count_out(&interest);
        }
        Some(interest)
    }

    /// All entries, by number.
    pub fn iter(&self) -> impl Iterator<Item = (PitId, &PitEntry)> {
        let numbered = (0_u32..).map(PitId).zip(&self.entries);
        numbered.filter(|(_, entry)| !entry.is_vacant())
    }

    /// Removes the out-records of a face, for instance because its number may be reused. Entries stay until their
    /// timer.
    pub fn forget_asked(&mut self, face: FaceId) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_vacant()) {
            entry.remove_out(face);
        }
    }

    #[inline]
    fn collect(
        &self,
        bytes: &[u8],
        hash: u64,
        wanted: impl Fn(&Interest) -> bool,
        found: &mut Vec<PitId>,
    ) {
        for slot in self.index.iter_hash(hash) {
            let entry = &self.entries[*slot as usize];
            let interest = entry.interest();
            if entry.hash() == hash && is_equal(interest.name.value(), bytes) && wanted(interest) {
                found.push(PitId(*slot));
            }
        }
    }

    fn collect_by_digest(&mut self, data: &Data, found: &mut Vec<PitId>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend_from_slice(data.name_value());
        bytes.extend_from_slice(&DIGEST_HEADER);
        bytes.extend_from_slice(&data.implicit_digest());
        self.collect(&bytes, self.hasher.hash(&bytes), |_| true, found);
        self.bytes = bytes;
    }

    #[inline]
    fn has_too_many_hints(&self, interest: &Interest, hash: u64) -> bool {
        let is_hinted = |slot: &&u32| {
            let other = self.entries[**slot as usize].interest();
            !other.forwarding_hint.is_empty() && other.name == interest.name
        };
        !interest.forwarding_hint.is_empty()
            && self.index.iter_hash(hash).filter(is_hinted).count() >= MAX_HINTED
    }

    /// Counts a name that is not matched by the whole name only; returns whether it is one.
    #[inline]
    fn count_in(&mut self, interest: &Interest) -> bool {
        if interest.can_be_prefix {
            self.prefixes.add(interest.name.len());
        }
        if let Some(parent) = without_digest(&interest.name) {
            let hash = self.hasher.hash(parent);
            match self.digests.find_mut(hash, |(parent, _)| *parent == hash) {
                Some((_, count)) => *count += 1,
                None => {
                    self.digests.insert_unique(hash, (hash, 1), |(parent, _)| *parent);
                }
            }
            return true;
        }
        interest.can_be_prefix
    }

    #[inline]
    fn count_out(&mut self, interest: &Interest) {
        if interest.can_be_prefix {
            self.prefixes.remove(interest.name.len());
        }
        if let Some(parent) = without_digest(&interest.name) {
            let hash = self.hasher.hash(parent);
            if let Ok(mut place) = self.digests.find_entry(hash, |(parent, _)| *parent == hash) {
                place.get_mut().1 -= 1;
                if place.get().1 == 0 {
                    place.remove();
                }
            }
        }
    }
}

/// Whether two names are equal. The bytes of an answer's name are often those of the Interest's, and need no
/// comparison then.
#[inline]
pub(super) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other) || one == other
}

#[inline]
fn is_same(one: &Interest, other: &Interest) -> bool {
    one.can_be_prefix == other.can_be_prefix
        && one.must_be_fresh == other.must_be_fresh
        && is_equal(one.name.value(), other.name.value())
        && one.forwarding_hint == other.forwarding_hint
}

/// The bytes before an implicit digest at the end of a name.
#[inline]
pub(super) fn without_digest(name: &Name) -> Option<&[u8]> {
    let (parent, last) = name.value().split_last_chunk::<DIGEST_COMPONENT>()?;
    // A longer component may end with the same bytes.
    let is_digest =
        last.starts_with(&DIGEST_HEADER) && name.last()?.typ() == u16::from(DIGEST_HEADER[0]);
    is_digest.then_some(parent)
}

#[cfg(test)]
mod tests;
