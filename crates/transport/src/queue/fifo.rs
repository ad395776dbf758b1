//! FIFO queue with drop-tail.
//!
//! Source: the queue of an interface in RFC 2309, section 2, "tail drop". Differences: the limit may be in packets,
//! in bytes, or both. A packet that exceeds the free bytes is rejected even if a shorter one would still fit after
//! it.

use super::{Charge, FairScheduler, FlowKey, Load, QueueLimit, Rejected, Rejection, bound};
use crate::spec::{Described, Description};
use crate::time::Instant;
use std::collections::VecDeque;
use std::fmt;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    limit: QueueLimit,
    items: VecDeque<T>,
    bytes: u64,
}

impl<T: Load> Fifo<T> {
    /// An empty queue; memory is allocated with the first packet.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        Self { limit, items: VecDeque::new(), bytes: 0 }
    }

    /// Sets the limit of later packets; queued ones stay.
    pub fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    /// Whether [`push`](Self::push) would accept an item of that size.
    #[must_use]
    pub fn fits(&self, bytes: u32) -> bool {
        self.limit.admits(self.items.len() as u64 + 1, self.bytes + u64::from(bytes))
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The queued items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// Adds an item.
    ///
    /// # Errors
    /// The item, if the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        let bytes = item.bytes();
        if !self.fits(bytes) {
            return Err(item);
        }
        self.bytes += u64::from(bytes);
        self.items.push_back(item);
        Ok(())
    }

    /// Removes the first item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.bytes = self.bytes.saturating_sub(u64::from(item.bytes()));
        Some(item)
    }

    /// Queued bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queued items.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.items.len() as u64
    }
}

impl<T: Load + fmt::Debug> FairScheduler<T> for Fifo<T> {
    fn enqueue(&mut self, _: Instant, _: FlowKey, _: Charge, item: T) -> Result<(), Rejected<T>> {
        self.push(item).map_err(|item| Rejected { item, why: Rejection::Full })
    }

    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Rejected<T>> {
        if self.is_empty() && self.fits(item.bytes()) {
            return Ok(Some(item));
        }
        self.enqueue(now, key, charge, item).map(|()| None)
    }

    fn dequeue(&mut self, _: Instant) -> Option<T> {
        self.pop()
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.is_empty()).then_some(Instant::ZERO)
    }

    fn evict(&mut self) -> Option<T> {
        self.pop()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn packets(&self) -> u64 {
        self.items.len() as u64
    }
}

/// `fifo(packets=1000)`: the order of arrival, without pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoSettings {
    /// Most queued packets.
    pub packets: u64,
}

impl Described for FifoSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.whole("packets", &mut self.packets, bound::WHOLE, bound::WHOLE_IN_WORDS);
    }
}

recoup_core::print_as_spec!(FifoSettings, "fifo");

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn item(bytes: usize, mark: u8) -> Bytes {
        Bytes::from(vec![mark; bytes])
    }

    #[test]
    fn queue_is_filled_to_the_last_byte() {
        let mut queue = Fifo::new(QueueLimit { packets: None, bytes: Some(100) });
        assert_eq!(queue.push(item(101, 1)), Err(item(101, 1)), "not even when empty");
        assert_eq!(queue.push(item(60, 1)), Ok(()));
        assert_eq!(queue.push(item(41, 2)), Err(item(41, 2)));
        assert_eq!(queue.push(item(40, 3)), Ok(()));
        assert_eq!((queue.packets(), queue.bytes()), (2, 100));
    }

    #[test]
    fn lower_limit_keeps_queued_packets() {
        let mut queue = Fifo::new(QueueLimit::default());
        for mark in 0..5 {
            assert_eq!(queue.push(item(1, mark)), Ok(()));
        }
        queue.set_limit(QueueLimit { packets: Some(3), bytes: None });
        for mark in 0..3 {
            assert!(queue.push(item(1, 9)).is_err());
            assert_eq!(queue.pop(), Some(item(1, mark)));
        }
        assert_eq!(queue.push(item(1, 9)), Ok(()));
        assert_eq!(queue.iter().map(|it| it[0]).collect::<Vec<_>>(), [3, 4, 9]);
    }

    proptest! {
        #[test]
        fn accepted_items_leave_in_order_within_limits(
            packets in proptest::option::of(0..6_u64),
            bytes in proptest::option::of(0..200_u64),
            steps in proptest::collection::vec(proptest::option::of(0..90_usize), 0..60),
        ) {
            let mut queue = Fifo::new(QueueLimit { packets, bytes });
            let (mut taken, mut left) = (Vec::new(), Vec::new());
            for (mark, step) in steps.into_iter().enumerate() {
                match step {
                    Some(len) => {
                        let item = item(len, mark as u8);
                        if queue.push(item.clone()).is_ok() {
                            taken.push(item);
                        }
                    }
                    None => left.extend(queue.pop()),
                }
                let waiting: u64 = queue.iter().map(|it| it.len() as u64).sum();
                prop_assert_eq!(queue.bytes(), waiting);
                prop_assert_eq!(queue.packets(), (taken.len() - left.len()) as u64);
                prop_assert!(packets.is_none_or(|most| queue.packets() <= most));
                prop_assert!(bytes.is_none_or(|most| queue.bytes() <= most));
            }
            left.extend(std::iter::from_fn(|| queue.pop()));
            prop_assert_eq!(left, taken);
        }
    }
}
