//! The content store (CS), with least-recently-used eviction.
//!
//! There is one Data for each name: a later one of the same name (and another digest) replaces it. Names are looked
//! up by hash. An ordered index for Interests with CanBePrefix is built when the first of them arrives, and kept from
//! then on.
use super::pit::without_digest;
use super::recency::Recency;
use super::slab::Slab;
use crate::hash::NameHasher;
use hashbrown::HashTable;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use recoup_transport::time::Instant;
use recoup_transport::unit::{self, Capacity, UnitError};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::str::FromStr;

/// Most Data that one look-up with CanBePrefix inspects before it counts as a miss: the first ones may all be stale
/// or have another digest.
const MAX_INSPECTED: usize = 64;

/// Capacity of a content store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsCapacity {
    /// Packets; with 0 nothing is stored.
    Packets(u64),
    /// Bytes of Data packets, counted as on the wire; with 0 nothing is stored.
    Bytes(u64),
    /// Packets and bytes; with 0 of either nothing is stored.
    Both {
        /// Packets.
        packets: u64,
        /// Bytes of all, counted as on the wire.
        bytes: u64,
    },
    /// No limit.
    Unlimited,
}

impl CsCapacity {
    /// A capacity of this kind with each number replaced.
    pub(crate) fn map(self, number: impl Fn(u64) -> u64) -> Self {
        match self {
            Self::Packets(packets) => Self::Packets(number(packets)),
            Self::Bytes(bytes) => Self::Bytes(number(bytes)),
            Self::Both { packets, bytes } => {
                Self::Both { packets: number(packets), bytes: number(bytes) }
            }
            Self::Unlimited => Self::Unlimited,
        }
    }

    /// Packets that always fit, however long they are.
    pub(crate) const fn packets(self) -> u64 {
        match self {
            Self::Packets(packets) | Self::Both { packets, .. } => packets,
            Self::Bytes(bytes) => bytes / MAX_PACKET_SIZE as u64,
            Self::Unlimited => u64::MAX,
        }
    }

    /// Limits of packets and of bytes.
    const fn bounds(self) -> (u64, u64) {
        match self {
            Self::Packets(packets) => (packets, u64::MAX),
            Self::Bytes(bytes) => (u64::MAX, bytes),
            Self::Both { packets, bytes } => (packets, bytes),
            Self::Unlimited => (u64::MAX, u64::MAX),
        }
    }
}

impl FromStr for CsCapacity {
    type Err = UnitError;

    /// Parses `1000 packets`, `10 MiB`, `1000 packets, 10 MiB` (of both), `unlimited` or `0`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let whole = || {
            Ok(match unit::capacity(text)? {
                Capacity::Packets(packets) => Self::Packets(packets),
                Capacity::Bytes(bytes) => Self::Bytes(bytes),
                Capacity::Unlimited => Self::Unlimited,
            })
        };
        let Some((first, second)) = text.split_once(',') else {
            return whole();
        };
        match (unit::capacity(first)?, unit::capacity(second)?) {
            (Capacity::Packets(packets), Capacity::Bytes(bytes)) => {
                Ok(Self::Both { packets, bytes })
            }
            _ => whole(),
        }
    }
}

impl fmt::Display for CsCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(packets) => f.pad(&unit::print_capacity(Capacity::Packets(packets))),
            Self::Bytes(bytes) => f.pad(&unit::print_capacity(Capacity::Bytes(bytes))),
            Self::Unlimited => f.pad(&unit::print_capacity(Capacity::Unlimited)),
            Self::Both { packets, bytes } => {
                write!(f, "{}, {}", Self::Packets(packets), Self::Bytes(bytes))
            }
        }
    }
}

/// A content store.
#[derive(Clone, Debug)]
pub struct Cs {
    hasher: NameHasher,
    capacity: CsCapacity,
    /// Limit of the capacity.
    most_packets: u64,
    most_bytes: u64,
    slots: Slab<Stored>,
    index: HashTable<u32>,
    recency: Recency,
    /// By name, for prefixes; `None` before the first look-up of a prefix.
    ordered: Option<BTreeMap<Name, u32>>,
    bytes: u64,
    /// The last evicted Data.
    gone: Option<Data>,
    admits: bool,
    serves: bool,
}

#[derive(Clone, Debug)]
struct Stored {
    data: Data,
    hash: u64,
    stale_at: Instant,
}

impl Cs {
    /// An empty content store.
    #[must_use]
    pub fn new(hasher: NameHasher, capacity: CsCapacity) -> Self {
        let (most_packets, most_bytes) = capacity.bounds();
        Self {
            hasher,
            capacity,
            most_packets,
            most_bytes,
            slots: Slab::default(),
            index: HashTable::new(),
            recency: Recency::default(),
            ordered: None,
            bytes: 0,
            gone: None,
            admits: true,
            serves: true,
        }
    }

    /// Number of stored packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no packet is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.len() == 0
    }

    /// Bytes stored, counted as on the wire.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing is ever stored.
    #[must_use]
    #[inline]
    pub const fn is_off(&self) -> bool {
        self.most_packets == 0 || self.most_bytes == 0
    }

    /// The capacity.
    #[must_use]
    pub const fn capacity(&self) -> CsCapacity {
        self.capacity
    }

    /// Sets the capacity; Data beyond it is evicted at once.
    pub fn set_capacity(&mut self, capacity: CsCapacity) {
        self.capacity = capacity;
        (self.most_packets, self.most_bytes) = capacity.bounds();
        while self.exceeds() {
            match self.recency.oldest() {
                Some(slot) => drop(self.remove(slot)),
                None => return,
            }
        }
    }

    /// Whether Data is admitted.
    #[must_use]
    pub const fn admits(&self) -> bool {
        self.admits
    }

    /// Sets whether Data is admitted.
    pub fn set_admitting(&mut self, admits: bool) {
        self.admits = admits;
    }

    /// Whether it answers Interests.
    #[must_use]
    pub const fn serves(&self) -> bool {
        self.serves
    }

    /// Sets whether Interests are answered.
    pub fn set_serving(&mut self, serves: bool) {
        self.serves = serves;
    }

    /// Erases Data below `prefix`, at most `limit` packets; returns their number, and whether there are others.
    pub fn erase(&mut self, prefix: &Name, limit: u64) -> (u64, bool) {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let below = self.ordered().range::<Name, _>(from);
        let below = below.take_while(|(name, _)| prefix.is_prefix_of(name)).map(|(_, slot)| *slot);
        let mut slots: Vec<u32> = below.take(limit.saturating_add(1)).collect();
        let more = slots.len() > limit;
        slots.truncate(limit);
        slots.iter().for_each(|slot| drop(self.remove(*slot)));
        (slots.len() as u64, more)
    }

    /// Data that answers `interest` at `now`; `hash` is that of the Interest's name. If the name is a
    /// prefix of several, the first in canonical order.
    #[must_use]
    pub fn find(&mut self, now: Instant, interest: &Interest, hash: u64) -> Option<Data> {
        if self.is_empty() || !self.serves {
            return None;
        }
        let slot = self
            .exact(interest.name.value(), hash)
            .filter(|slot| self.answers(now, interest, *slot))
            .or_else(|| self.by_digest(now, interest))
            .or_else(|| self.by_prefix(now, interest))?;
        self.recency.touch(slot);
        Some(self.slots.get(slot)?.data.clone())
    }

    /// Whether Data of exactly this name, whose hash is `hash`, is stored. The call does not count as a use.
    #[must_use]
    pub fn contains(&self, name: &Name, hash: u64) -> bool {
        self.exact(name.value(), hash).is_some()
    }

    /// Stores `data`, whose name has the hash `hash`, if it fits at all; returns the number of evicted packets. A
    /// packet in a receive buffer is copied, because the buffer may be much larger.
    pub fn insert(&mut self, now: Instant, data: Data, hash: u64) -> u64 {
        let bytes = data.encoded_len() as u64;
        if !self.takes(bytes) {
            return 0;
        }
        if let Some(slot) = self.exact(data.name_value(), hash) {
            self.remove(slot);
        }
        let stale_at = now + data.freshness();
        let data = data.detached();
        let evicted = self.make_room(bytes);
        self.bytes += bytes;
        let slot = self.slots.insert(Stored { data, hash, stale_at });
        let slots = &self.slots;
        self.index.insert_unique(hash, slot, |slot| slots.get(*slot).map_or(0, |slot| slot.hash));
        self.recency.add(slot);
        if let Some(ordered) = &mut self.ordered
            && let Some(stored) = self.slots.get(slot)
        {
            ordered.insert(stored.data.name().clone(), slot);
        }
        evicted
    }

    /// Whether Data of that many bytes is stored.
    #[must_use]
    pub const fn takes(&self, bytes: u64) -> bool {
        self.admits && bytes <= self.most_bytes && !self.is_off()
    }

    /// The last evicted Data, whose memory may be reused.
    #[inline]
    pub fn take_gone(&mut self) -> Option<Data> {
        self.gone.take()
    }

    /// Erases everything.
    pub fn clear(&mut self) {
        while let Some(slot) = self.recency.oldest() {
            self.remove(slot);
        }
        self.ordered = None;
    }

    fn make_room(&mut self, bytes: u64) -> u64 {
        let mut evicted = 0;
        while self.lacks_room(bytes) {
            let Some(slot) = self.recency.oldest() else {
                break;
            };
            self.gone = self.remove(slot);
            evicted += 1;
        }
        evicted
    }

    fn lacks_room(&self, bytes: u64) -> bool {
        self.slots.len() as u64 >= self.most_packets || self.bytes + bytes > self.most_bytes
    }

    fn exceeds(&self) -> bool {
        self.slots.len() as u64 > self.most_packets || self.bytes > self.most_bytes
    }

    fn remove(&mut self, slot: u32) -> Option<Data> {
        let stored = self.slots.remove(slot)?;
        self.bytes -= stored.data.encoded_len() as u64;
        self.recency.remove(slot);
        if let Ok(place) = self.index.find_entry(stored.hash, |other| *other == slot) {
            place.remove();
        }
        if let Some(ordered) = &mut self.ordered {
            ordered.remove(stored.data.name());
        }
        Some(stored.data)
    }

    #[inline]
    fn exact(&self, bytes: &[u8], hash: u64) -> Option<u32> {
        let is = |stored: &Stored| stored.hash == hash && stored.data.name_value() == bytes;
        self.index.find(hash, |slot| self.slots.get(*slot).is_some_and(is)).copied()
    }

    /// Whether Data with a matching name is fresh enough.
    fn answers(&self, now: Instant, interest: &Interest, slot: u32) -> bool {
        let is_fresh = |stored: &Stored| now < stored.stale_at;
        !interest.must_be_fresh || self.slots.get(slot).is_some_and(is_fresh)
    }

    fn by_digest(&self, now: Instant, interest: &Interest) -> Option<u32> {
        let parent = without_digest(&interest.name)?;
        let slot = self.exact(parent, self.hasher.hash(parent))?;
        let is_meant = interest.is_satisfied_by(&self.slots.get(slot)?.data);
        (is_meant && self.answers(now, interest, slot)).then_some(slot)
    }

    /// The index by name, built at the first call.
    fn ordered(&mut self) -> &BTreeMap<Name, u32> {
        let slots = &self.slots;
        self.ordered.get_or_insert_with(|| {
            let named = |(slot, stored): (u32, &Stored)| (stored.data.name().clone(), slot);
            slots.iter().map(named).collect()
        })
    }

    fn by_prefix(&mut self, now: Instant, interest: &Interest) -> Option<u32> {
        if !interest.can_be_prefix {
            return None;
        }
        let from = (Bound::Included(&interest.name), Bound::Unbounded);
        self.ordered();
        self.ordered
            .as_ref()?
            .range::<Name, _>(from)
            .take_while(|(name, _)| interest.name.is_prefix_of(name))
            .take(MAX_INSPECTED)
            .map(|(_, slot)| *slot)
            .find(|slot| self.answers(now, interest, *slot))
    }
}

#[cfg(test)]
mod tests;
