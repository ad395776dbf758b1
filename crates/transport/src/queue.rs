//! Queues in front of a link: what may wait, and what leaves next.
//!
//! A queue knows neither packets nor faces: an item is anything with a length in octets. It discards
//! nothing by itself; what it has no room for comes back to the caller, who says why it is dropped.
//!
//! A *scheduler* orders what leaves a face by the flows that it belongs to: [`FairScheduler`]. Its name and
//! parameters are text, as those of the other exchangeable parts: `fifo`, `max-min(share=face,gain=1/8)`,
//! `drr(quantum=1500)`; see [`Discipline`].
mod bound;
mod discipline;
mod drr;
mod fifo;
mod max_min;
mod shelf;
mod water;

pub use bound::SchedulerBounds;
pub use discipline::{Discipline, Scheduling};
pub use drr::{Drr, DrrSettings};
pub use fifo::{Fifo, FifoSettings};
pub use max_min::{Duplex, MaxMin, MaxMinSettings};
pub use recoup_core::load::Load;
pub use water::{Demand, Demands};

use crate::time::{Duration, Instant};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much may wait; `None` means without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QueueLimit {
    /// Most packets.
    pub packets: Option<u64>,
    /// Most octets.
    pub octets: Option<u64>,
}

impl QueueLimit {
    /// Whether so many packets with so many octets may wait.
    #[must_use]
    pub fn admits(&self, packets: u64, octets: u64) -> bool {
        self.packets.is_none_or(|most| packets <= most)
            && self.octets.is_none_or(|most| octets <= most)
    }
}

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// The neighbour on whose behalf it travels. Nobody can pretend to be several neighbours.
    pub group: u32,
    /// Hash of content and originator, with a secret: what a stranger chooses here is spread evenly.
    pub flow: u64,
}

/// What a packet takes of its face's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charge {
    /// Its own octets, on the way out.
    Itself,
    /// Those of the Data that it brings back, on the way in: what an Interest takes.
    Answer,
}

/// What a face's link carries, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Capacity {
    /// Bits per second on the way out; `None` if nobody knows, and then nothing is paced.
    pub sending_bits: Option<u64>,
    /// Bits per second on the way in.
    pub receiving_bits: Option<u64>,
    /// Octets that the layers below add to each packet.
    pub overhead_octets: u32,
    /// Bits per second on the way out that others take, such as traffic that is not NDN's.
    pub other_sending_bits: u64,
    /// Bits per second on the way in that others take.
    pub other_receiving_bits: u64,
}

impl Capacity {
    /// A link that carries as much in both directions, for this face alone.
    #[must_use]
    pub const fn symmetric(bits: u64) -> Self {
        Self {
            sending_bits: Some(bits),
            receiving_bits: Some(bits),
            overhead_octets: 0,
            other_sending_bits: 0,
            other_receiving_bits: 0,
        }
    }

    /// What is left of a direction, in bits per second; never less than a hundredth of its rate, or what others
    /// send could silence the face for ever.
    #[must_use]
    pub fn available_bits(&self, charge: Charge) -> Option<u64> {
        let (rate, others) = match charge {
            Charge::Itself => (self.sending_bits?, self.other_sending_bits),
            Charge::Answer => (self.receiving_bits?, self.other_receiving_bits),
        };
        Some(rate.saturating_sub(others).max(rate / 100).max(1))
    }
}

/// Why a scheduler has no room for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// As much as may wait waits already, or the neighbour has its part of that.
    Full,
    /// As many packets of its flow wait as may.
    FlowFull,
    /// There are as many flows as may be, and all of them have packets that wait.
    TooManyFlows,
}

/// A packet for which there is no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused<T> {
    /// The packet.
    pub item: T,
    /// Why.
    pub why: Refusal,
}

/// Decides which of the waiting packets leaves a face next, and when.
///
/// Holds for every implementation: what was taken leaves once, packets of one flow in their order; what waits and how
/// many flows are remembered is bounded, whatever keys come; the same calls give the same answers.
pub trait FairScheduler<T>: fmt::Debug {
    /// A packet is to leave.
    ///
    /// # Errors
    /// The packet comes back if there is no room for it.
    fn enqueue(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<(), Refused<T>>;

    /// A packet is to leave, and the link would take it: it comes back at once if it may leave before everything that
    /// waits, as if it had been taken and had left. So what has no need to wait is never put aside.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Refused<T>> {
        self.enqueue(now, key, charge, item).map(|()| None)
    }

    /// The packet that may leave, if there is one.
    fn dequeue(&mut self, now: Instant) -> Option<T>;

    /// When [`dequeue`](Self::dequeue) is to be asked again; a time that has passed means at once. `None` if nothing
    /// waits.
    fn deadline(&self) -> Option<Instant>;

    /// Takes any packet that waits, whether it may leave or not: the face is gone.
    fn evict(&mut self) -> Option<T>;

    /// Data of `octets` came for an Interest of the flow.
    fn answered(&mut self, key: FlowKey, octets: u32) {
        let _ = (key, octets);
    }

    /// The link carries this much from now on.
    fn set_capacity(&mut self, capacity: Capacity) {
        let _ = capacity;
    }

    /// Octets that wait.
    fn octets(&self) -> u64;

    /// Packets that wait.
    fn packets(&self) -> u64;
}

/// A driver that comes late may catch up so much: releases stay on the grid of their times.
const CATCH_UP: Duration = Duration::from_millis(10);

/// Time that `octets` take at `bits` per second.
fn time_of(octets: u32, bits: u64) -> Duration {
    Duration::from_nanos(u64::from(octets).saturating_mul(8_000_000_000) / bits.max(1))
}

/// So much of a rate, as a share of it.
fn part_of(bits: Option<u64>, share: f64) -> Option<u64> {
    bits.map(|bits| ((bits as f64 * share) as u64).max(1))
}

/// Whether there are shares for neighbours before there are shares for flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Share {
    /// Shares for neighbours first, then among the flows of each: who invents flows takes from their own.
    #[default]
    Face,
    /// All flows are equal, whoever they belong to, as in the paper.
    Flow,
}

impl Share {
    /// The words for it.
    const WORDS: [(&'static str, Self); 2] = [("face", Self::Face), ("flow", Self::Flow)];

    /// The key under which a packet is accounted.
    const fn apply(self, key: FlowKey) -> FlowKey {
        match self {
            Self::Face => key,
            Self::Flow => FlowKey { group: 0, flow: key.flow },
        }
    }
}
