//! Queues in front of a link: admission, and order of transmission.
//!
//! A queue knows neither packets nor faces: an item is any value with a length in bytes. A queue drops no item by
//! itself; a rejected item is returned to the caller, which counts the drop.
//!
//! A *scheduler* orders the outgoing packets of a face by their flows: [`FairScheduler`]. It is specified as text,
//! like the other exchangeable parts: `fifo`, `max-min(share=face,gain=1/8)`, `drr(quantum=1500)`; see
//! [`Discipline`].
pub mod as_rooms;
mod bound;
mod discipline;
mod drr;
mod fifo;
mod max_min;
mod shelf;
mod water;

pub use bound::SchedulerBounds;
pub use discipline::{Discipline, Scheduler, Scheduling};
pub use drr::{Drr, DrrSettings};
pub use fifo::{Fifo, FifoSettings};
pub use max_min::{Duplex, MaxMin, MaxMinSettings};
pub use recoup_core::load::Load;
pub use water::{Demand, Demands};

use crate::time::{Duration, Instant};
use std::fmt;

/// Limits of a queue; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueLimit {
    /// Most packets.
    pub packets: Option<u64>,
    /// Most bytes.
    pub bytes: Option<u64>,
}

impl QueueLimit {
    /// No limit.
    pub const UNLIMITED: Self = Self { packets: None, bytes: None };

    /// So many packets.
    #[must_use]
    pub const fn of_packets(packets: u64) -> Self {
        Self { packets: Some(packets), bytes: None }
    }

    /// So many bytes.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { packets: None, bytes: Some(bytes) }
    }

    /// Whether this many packets and bytes are within the limits.
    #[must_use]
    pub fn admits(&self, packets: u64, bytes: u64) -> bool {
        self.packets.is_none_or(|most| packets <= most)
            && self.bytes.is_none_or(|most| bytes <= most)
    }
}

/// Flow of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// The neighbour for which the packet is forwarded. A neighbour cannot pretend to be several.
    pub group: u32,
    /// Keyed hash of content and originator. Remote nodes cannot choose it, so it is evenly distributed.
    pub flow: u64,
}

/// Direction in which a packet is charged to its face's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charge {
    /// An outgoing packet, with its own bytes.
    Itself,
    /// An outgoing Interest, with the bytes of the incoming Data that it requests.
    Answer,
}

/// Known capacity of a face's link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capacity {
    /// Outgoing rate in bits per second; `None` if unknown, without pacing.
    pub sending_bits: Option<u64>,
    /// Incoming rate in bits per second.
    pub receiving_bits: Option<u64>,
    /// Bytes that lower layers add to each packet.
    pub overhead_bytes: u32,
    /// Outgoing bits per second of other traffic, such as IP traffic.
    pub other_sending_bits: u64,
    /// Incoming bits per second of other traffic.
    pub other_receiving_bits: u64,
}

impl Capacity {
    /// A link with the same rate in both directions, without other traffic.
    #[must_use]
    pub const fn symmetric(bits: u64) -> Self {
        Self {
            sending_bits: Some(bits),
            receiving_bits: Some(bits),
            overhead_bytes: 0,
            other_sending_bits: 0,
            other_receiving_bits: 0,
        }
    }

    /// Available rate of a direction, in bits per second. It is at least a hundredth of the link's rate, so that
    /// other traffic cannot block the face.
    #[must_use]
    pub fn available_bits(&self, charge: Charge) -> Option<u64> {
        let (rate, others) = match charge {
            Charge::Itself => (self.sending_bits?, self.other_sending_bits),
            Charge::Answer => (self.receiving_bits?, self.other_receiving_bits),
        };
        Some(rate.saturating_sub(others).max(rate / 100).max(1))
    }
}

/// Reason why a scheduler rejects a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The queue is full, or the neighbour's share of it.
    Full,
    /// The queue of its flow is full.
    FlowFull,
    /// The limit of flows is reached, and all of them have queued packets.
    TooManyFlows,
}

/// A rejected packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected<T> {
    /// The packet.
    pub item: T,
    /// Reason of the rejection.
    pub why: Rejection,
}

/// Decides which of the queued packets leaves a face next, and when.
///
/// Each implementation keeps these invariants. An accepted packet leaves once, packets of one flow in order. The
/// number of queued packets and of flows is limited, whatever the keys. Equal calls have equal results.
pub trait FairScheduler<T>: fmt::Debug {
    /// Adds an outgoing packet.
    ///
    /// # Errors
    /// The packet is returned if it is rejected.
    fn enqueue(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<(), Rejected<T>>;

    /// Adds an outgoing packet while the link is idle. The packet is returned at once if it may precede all queued
    /// packets, as if it had been enqueued and dequeued.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Rejected<T>> {
        self.enqueue(now, key, charge, item).map(|()| None)
    }

    /// The next packet that may leave, if any.
    fn dequeue(&mut self, now: Instant) -> Option<T>;

    /// Time of the next call of [`dequeue`](Self::dequeue); a past time means at once. `None` if the queue is empty.
    fn deadline(&self) -> Option<Instant>;

    /// Removes any queued packet, whether it may leave or not: the face is gone.
    fn evict(&mut self) -> Option<T>;

    /// Data of `bytes` arrived for an Interest of the flow.
    fn answered(&mut self, key: FlowKey, bytes: u32) {
        let _ = (key, bytes);
    }

    /// Sets the capacity of the link.
    fn set_capacity(&mut self, capacity: Capacity) {
        let _ = capacity;
    }

    /// Queued bytes.
    fn bytes(&self) -> u64;

    /// Queued packets.
    fn packets(&self) -> u64;
}

/// Longest delay of a driver that is caught up: departures stay on their schedule.
const CATCH_UP: Duration = Duration::from_millis(10);

/// Time of `bytes` at `bits` per second.
fn time_of(bytes: u32, bits: u64) -> Duration {
    Duration::from_nanos(u64::from(bytes).saturating_mul(8_000_000_000) / bits.max(1))
}

/// A share of a rate.
fn part_of(bits: Option<u64>, share: f64) -> Option<u64> {
    bits.map(|bits| ((bits as f64 * share) as u64).max(1))
}

/// Level of fairness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Share {
    /// Fair between neighbours first, then between the flows of each. A neighbour with many flows takes only from its
    /// own.
    #[default]
    Face,
    /// Fair between all flows, whatever their neighbour, as in the paper.
    Flow,
}

impl Share {
    /// Their names in specifications.
    const WORDS: [(&'static str, Self); 2] = [("face", Self::Face), ("flow", Self::Flow)];

    /// The key under which a packet is scheduled.
    const fn apply(self, key: FlowKey) -> FlowKey {
        match self {
            Self::Face => key,
            Self::Flow => FlowKey { group: 0, flow: key.flow },
        }
    }
}
