//! First come, first served; what finds the queue full is dropped (drop-tail).
//!
//! Source: the queue of an interface in RFC 2309, section 2, "tail drop". Differences: the limit may be in
//! packets, in octets, or both; a packet that does not fit into the octets left is refused even if a
//! shorter one would still fit after it.

use super::{Charge, FairScheduler, FlowKey, Load, QueueLimit, Refusal, Refused, bound};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::Instant;
use std::collections::VecDeque;
use std::fmt;

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    limit: QueueLimit,
    items: VecDeque<T>,
    octets: u64,
}

impl<T: Load> Fifo<T> {
    /// An empty queue; no memory is taken before something waits.
    #[must_use]
    pub fn new(limit: QueueLimit) -> Self {
        Self { limit, items: VecDeque::new(), octets: 0 }
    }

    /// Changes what may wait from here on; what waits already stays.
    pub fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }

    /// Whether [`push`](Self::push) would take an item of so many octets.
    #[must_use]
    pub fn has_room_for(&self, octets: u32) -> bool {
        self.limit.admits(self.items.len() as u64 + 1, self.octets + u64::from(octets))
    }

    /// Nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What waits, in the order in which it will leave.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// An item is to leave; it comes back if there is no room for it.
    ///
    /// # Errors
    /// The item, if the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        let octets = item.octets();
        if !self.has_room_for(octets) {
            return Err(item);
        }
        self.octets += u64::from(octets);
        self.items.push_back(item);
        Ok(())
    }

    /// The link takes one item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.octets = self.octets.saturating_sub(u64::from(item.octets()));
        Some(item)
    }

    /// Octets that wait.
    #[must_use]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Items that wait.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.items.len() as u64
    }
}

impl<T: Load + fmt::Debug> FairScheduler<T> for Fifo<T> {
    fn enqueue(&mut self, _: Instant, _: FlowKey, _: Charge, item: T) -> Result<(), Refused<T>> {
        self.push(item).map_err(|item| Refused { item, why: Refusal::Full })
    }

    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Refused<T>> {
        if self.is_empty() && self.has_room_for(item.octets()) {
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

    fn octets(&self) -> u64 {
        self.octets
    }

    fn packets(&self) -> u64 {
        self.items.len() as u64
    }
}

/// `fifo(packets=1000)`: no order but that of arrival, no pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoSettings {
    /// Most packets that wait.
    pub packets: u64,
}

impl FifoSettings {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let expected = "a whole number from 1 to 1000000000";
        let packets = spec.take("packets", 1000, expected, bound::whole)?;
        spec.finish()?;
        Ok(Self { packets })
    }
}

impl fmt::Display for FifoSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "fifo").value("packets", self.packets).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn item(octets: usize, mark: u8) -> Bytes {
        Bytes::from(vec![mark; octets])
    }

    #[test]
    fn what_comes_first_leaves_first_and_what_comes_last_is_refused() {
        let mut queue = Fifo::new(QueueLimit { packets: Some(2), octets: None });
        assert!(queue.is_empty() && queue.pop().is_none());
        assert_eq!(queue.push(item(10, 1)), Ok(()));
        assert_eq!(queue.push(item(20, 2)), Ok(()));
        assert_eq!(queue.push(item(1, 3)), Err(item(1, 3)));
        assert_eq!((queue.packets(), queue.octets()), (2, 30));
        assert_eq!(queue.pop(), Some(item(10, 1)));
        assert_eq!(queue.push(item(1, 3)), Ok(()));
        assert_eq!([queue.pop(), queue.pop()], [item(20, 2), item(1, 3)].map(Some));
        assert_eq!((queue.packets(), queue.octets()), (0, 0));
    }

    #[test]
    fn octets_are_filled_to_the_last_one_and_no_further() {
        let mut queue = Fifo::new(QueueLimit { packets: None, octets: Some(100) });
        assert_eq!(queue.push(item(101, 1)), Err(item(101, 1)), "not even when empty");
        assert_eq!(queue.push(item(60, 1)), Ok(()));
        assert_eq!(queue.push(item(41, 2)), Err(item(41, 2)));
        assert_eq!(queue.push(item(40, 3)), Ok(()));
        assert_eq!((queue.packets(), queue.octets()), (2, 100));
    }

    #[test]
    fn a_limit_that_shrinks_refuses_newcomers_and_keeps_what_waits() {
        let mut queue = Fifo::new(QueueLimit::default());
        for mark in 0..5 {
            assert_eq!(queue.push(item(1, mark)), Ok(()));
        }
        queue.set_limit(QueueLimit { packets: Some(3), octets: None });
        for mark in 0..3 {
            assert!(queue.push(item(1, 9)).is_err());
            assert_eq!(queue.pop(), Some(item(1, mark)));
        }
        assert_eq!(queue.push(item(1, 9)), Ok(()));
        assert_eq!(queue.iter().map(|it| it[0]).collect::<Vec<_>>(), [3, 4, 9]);
    }

    proptest! {
        #[test]
        fn what_was_taken_leaves_once_and_in_order_and_no_limit_is_ever_passed(
            packets in proptest::option::of(0..6_u64),
            octets in proptest::option::of(0..200_u64),
            steps in proptest::collection::vec(proptest::option::of(0..90_usize), 0..60),
        ) {
            let mut queue = Fifo::new(QueueLimit { packets, octets });
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
                prop_assert_eq!(queue.octets(), waiting);
                prop_assert_eq!(queue.packets(), (taken.len() - left.len()) as u64);
                prop_assert!(packets.is_none_or(|most| queue.packets() <= most));
                prop_assert!(octets.is_none_or(|most| queue.octets() <= most));
            }
            left.extend(std::iter::from_fn(|| queue.pop()));
            prop_assert_eq!(left, taken);
        }
    }
}
