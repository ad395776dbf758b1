//! The content store (CS). Its [policies](super::policy) select the Data that it stores and evicts.
//!
//! Each name has one Data: later Data of the same name, with another digest, replaces it. Names are looked
//! up by hash. An ordered index for Interests with CanBePrefix is built when the first of them arrives, and kept from
//! then on.
use super::pit::without_digest;
use super::policy::{Admission, AdmissionPolicy, Candidate, CopyDown, Entry};
use super::policy::{Replacement, ReplacementPolicy};
use super::recency::Recency;
use super::slab::Slab;
use crate::hash::NameHasher;
use hashbrown::HashTable;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use recoup_transport::random::Rng;
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

/// The order of evictions. That of the default policy costs no virtual calls.
#[derive(Debug)]
enum Order {
    Lru(Recency),
    Policy(Box<dyn ReplacementPolicy>),
}

impl Order {
    #[inline]
    fn on_insert(&mut self, entry: &Entry<'_>) {
        match self {
            Self::Lru(recency) => recency.add(entry.slot),
            Self::Policy(policy) => policy.on_insert(entry),
        }
    }

    #[inline]
    fn on_hit(&mut self, entry: &Entry<'_>) {
        match self {
            Self::Lru(recency) => recency.touch(entry.slot),
            Self::Policy(policy) => policy.on_hit(entry),
        }
    }

    fn on_replace(&mut self, entry: &Entry<'_>) {
        match self {
            Self::Lru(recency) => recency.touch(entry.slot),
            Self::Policy(policy) => policy.on_replace(entry),
        }
    }

    #[inline]
    fn on_remove(&mut self, slot: u32) {
        match self {
            Self::Lru(recency) => recency.remove(slot),
            Self::Policy(policy) => policy.on_remove(slot),
        }
    }

    #[inline]
    fn victim(&mut self) -> Option<u32> {
        match self {
            Self::Lru(recency) => recency.oldest(),
            Self::Policy(policy) => policy.victim(),
        }
    }
}

/// A content store.
#[derive(Debug)]
pub struct Cs {
    hasher: NameHasher,
    capacity: CsCapacity,
    /// Limit of the capacity.
    most_packets: u64,
    most_bytes: u64,
    slots: Slab<Stored>,
    index: HashTable<u32>,
    order: Order,
    /// `None`: all Data is admitted.
    admission: Option<Box<dyn AdmissionPolicy>>,
    copy_down: CopyDown,
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

impl Stored {
    #[inline]
    fn entry(&self, now: Instant, slot: u32) -> Entry<'_> {
        Entry { now, slot, hash: self.hash, data: &self.data }
    }
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
            order: Order::Lru(Recency::default()),
            admission: None,
            copy_down: CopyDown::Off,
            ordered: None,
            bytes: 0,
            gone: None,
            admits: true,
            serves: true,
        }
    }

    /// This content store, which must be empty, with other policies than `lru` and `lce`. Policies draw from streams of `rng`.
    #[must_use]
    pub fn with_policies(
        mut self,
        replacement: &Replacement,
        admission: &Admission,
        rng: &Rng,
    ) -> Self {
        if !matches!(replacement, Replacement::Lru(_)) {
            let mut policy = replacement.build();
            policy.seed(rng.substream("replacement"));
            self.order = Order::Policy(policy);
        }
        if !matches!(admission, Admission::Lce(_)) {
            let mut policy = admission.build();
            policy.seed(rng.substream("admission"));
            self.copy_down = policy.copy_down();
            self.admission = Some(policy);
        }
        self
    }

    /// The copies of Data that nodes downstream keep.
    #[must_use]
    #[inline]
    pub const fn copy_down(&self) -> CopyDown {
        self.copy_down
    }

    /// Number of stored packets.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no packet is stored.
    #[must_use]
    #[inline]
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
            self.evict();
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
    #[inline]
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
    #[inline]
    pub fn find(&mut self, now: Instant, interest: &Interest, hash: u64) -> Option<Data> {
        if !self.serves {
            return None;
        }
        let Some(slot) = self.search(now, interest, hash) else {
            if let Order::Policy(policy) = &mut self.order {
                policy.on_miss(now, hash);
            }
            return None;
        };
        let Self { slots, order, .. } = self;
        let stored = slots.get(slot)?;
        order.on_hit(&stored.entry(now, slot));
        Some(stored.data.clone())
    }

    #[inline]
    fn search(&mut self, now: Instant, interest: &Interest, hash: u64) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.exact(interest.name.value(), hash)
            .filter(|slot| self.answers(now, interest, *slot))
            .or_else(|| self.by_digest(now, interest))
            .or_else(|| self.by_prefix(now, interest))
    }

    /// Erases Data of exactly this name, whose hash is `hash`.
    pub fn erase_exact(&mut self, name: &[u8], hash: u64) {
        if let Some(slot) = self.exact(name, hash) {
            self.remove(slot);
        }
    }

    /// Whether Data of exactly this name, whose hash is `hash`, is stored. The call does not count as a use.
    #[must_use]
    pub fn contains(&self, name: &Name, hash: u64) -> bool {
        self.exact(name.value(), hash).is_some()
    }

    /// Stores `data`, whose name has the hash `hash`, if it fits at all and the policies admit it. Returns the number of evicted
    /// packets, or `None` if the Data is not stored. A packet in a receive buffer is copied, because the buffer may be
    /// much larger.
    #[inline]
    pub fn insert(&mut self, now: Instant, data: Data, hash: u64) -> Option<u64> {
        let bytes = data.encoded_len() as u64;
        if !self.takes(bytes) {
            return None;
        }
        let stale_at = now + data.freshness();
        if let Some(slot) = self.exact(data.name_value(), hash) {
            return self.replace(now, slot, Stored { data: data.detached(), hash, stale_at });
        }
        if let Some(policy) = &mut self.admission
            && !policy.admits(&Candidate { now, hash, data: &data })
        {
            return None;
        }
        if let Order::Policy(policy) = &mut self.order
            && (self.slots.len() as u64 >= self.most_packets
                || self.bytes + bytes > self.most_bytes)
            && !policy.displaces(now, hash)
        {
            return None;
        }
        let data = data.detached();
        let mut evicted = 0;
        while self.lacks_room(bytes) {
            self.evict();
            evicted += 1;
        }
        self.bytes += bytes;
        let slot = self.slots.insert(Stored { data, hash, stale_at });
        let Self { slots, index, order, ordered, .. } = self;
        index.insert_unique(hash, slot, |slot| slots.get(*slot).map_or(0, |slot| slot.hash));
        if let Some(stored) = slots.get(slot) {
            order.on_insert(&stored.entry(now, slot));
            if let Some(ordered) = ordered {
                ordered.insert(stored.data.name().clone(), slot);
            }
        }
        Some(evicted)
    }

    /// Replaces the Data of a slot by Data of the same name. Returns the number of evicted packets, or `None` if the policy
    /// evicted the new Data.
    fn replace(&mut self, now: Instant, slot: u32, new: Stored) -> Option<u64> {
        let Self { slots, order, ordered, bytes, .. } = self;
        let stored = slots.get_mut(slot)?;
        *bytes = *bytes - stored.data.encoded_len() as u64 + new.data.encoded_len() as u64;
        *stored = new;
        order.on_replace(&stored.entry(now, slot));
        if let Some(ordered) = ordered {
            // The old name may be a part of the old Data.
            ordered.remove(stored.data.name());
            ordered.insert(stored.data.name().clone(), slot);
        }
        let mut evicted = 0;
        while self.exceeds() {
            self.evict();
            evicted += 1;
        }
        self.slots.get(slot).map(|_| evicted)
    }

    /// Whether Data of that many bytes is stored.
    #[must_use]
    #[inline]
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
        while !self.is_empty() {
            self.evict();
        }
        self.ordered = None;
        self.gone = None;
    }

    /// Evicts the next victim.
    #[inline]
    fn evict(&mut self) {
        let victim = self.order.victim();
        self.gone = victim.and_then(|slot| self.remove(slot));
        if self.gone.is_none() {
            self.evict_any();
        }
    }

    /// Evicts any Data: the policy named no slot that is in use, and the limit holds all the same.
    #[cold]
    fn evict_any(&mut self) {
        let first = self.slots.iter().next().map(|(slot, _)| slot);
        self.gone = first.and_then(|slot| self.remove(slot));
    }

    #[inline]
    fn lacks_room(&self, bytes: u64) -> bool {
        self.slots.len() as u64 >= self.most_packets || self.bytes + bytes > self.most_bytes
    }

    fn exceeds(&self) -> bool {
        self.slots.len() as u64 > self.most_packets || self.bytes > self.most_bytes
    }

    #[inline]
    fn remove(&mut self, slot: u32) -> Option<Data> {
        let stored = self.slots.remove(slot)?;
        self.bytes -= stored.data.encoded_len() as u64;
        self.order.on_remove(slot);
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
    #[inline]
    fn answers(&self, now: Instant, interest: &Interest, slot: u32) -> bool {
        let is_fresh = |stored: &Stored| now < stored.stale_at;
        !interest.must_be_fresh || self.slots.get(slot).is_some_and(is_fresh)
    }

    #[inline]
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
