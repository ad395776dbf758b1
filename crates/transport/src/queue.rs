//! Queues in front of a link: what may wait, and what leaves next.
//!
//! A queue knows neither packets nor faces: an item is anything with a length in octets. It discards
//! nothing by itself; what it has no room for comes back to the caller, who says why it is dropped.
mod fifo;

pub use fifo::Fifo;

use crate::time::Instant;
use bytes::Bytes;
use std::fmt;

/// Something that takes room in a queue and time on a link.
pub trait Load {
    /// Octets that it is charged with; the same as long as it waits.
    fn octets(&self) -> u32;
}

impl Load for Bytes {
    fn octets(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
}

/// How much may wait; `None` means without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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

/// Decides which of the waiting items leaves next.
pub trait FairScheduler<T>: fmt::Debug {
    /// An item is to leave; it comes back if there is no room for it.
    fn enqueue(&mut self, now: Instant, item: T) -> Result<(), T>;

    /// The link takes one item.
    fn dequeue(&mut self, now: Instant) -> Option<T>;

    /// Octets that wait.
    fn octets(&self) -> u64;

    /// Items that wait.
    fn packets(&self) -> u64;
}
