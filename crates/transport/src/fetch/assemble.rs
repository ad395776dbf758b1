//! In-order delivery with a bound on what waits.
//!
//! Segments that arrive before their turn wait here. What waits, plus what the reader has been
//! handed and has not taken, plus what is on its way, stays below a limit: a slow reader slows the
//! window instead of growing memory.
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};

/// How content leaves the fetch loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As it arrives; the reader knows where each segment belongs.
    Unordered,
    /// In order; the reader reports what it took with `AppInput::Consumed`.
    Ordered {
        /// Most octets that wait, are unread or are on their way.
        limit_bytes: u64,
    },
}

/// The assembler of one object.
#[derive(Debug)]
pub(crate) struct Assembler {
    delivery: Delivery,
    next: u64,
    waiting: BTreeMap<u64, Bytes>,
    waiting_bytes: u64,
    unread_bytes: u64,
    ready: VecDeque<(u64, Bytes)>,
}

impl Assembler {
    /// An assembler whose first segment is `first`.
    pub(crate) fn new(delivery: Delivery, first: u64) -> Self {
        Self {
            delivery,
            next: first,
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            unread_bytes: 0,
            ready: VecDeque::new(),
        }
    }

    /// Takes in a segment, each one once.
    pub(crate) fn push(&mut self, segment: u64, content: Bytes) {
        if self.delivery == Delivery::Unordered {
            return self.ready.push_back((segment, content));
        }
        if segment != self.next {
            self.waiting_bytes += content.len() as u64;
            self.waiting.insert(segment, content);
            return;
        }
        self.hand_out(segment, content);
        while let Some(content) = self.waiting.remove(&self.next) {
            self.waiting_bytes -= content.len() as u64;
            self.hand_out(self.next, content);
        }
    }

    fn hand_out(&mut self, segment: u64, content: Bytes) {
        self.next = segment + 1;
        self.unread_bytes += content.len() as u64;
        self.ready.push_back((segment, content));
    }

    /// The next piece for the reader.
    pub(crate) fn pop(&mut self) -> Option<(u64, Bytes)> {
        self.ready.pop_front()
    }

    /// Nothing is left to hand out.
    pub(crate) fn is_drained(&self) -> bool {
        self.ready.is_empty()
    }

    /// The reader took `bytes` octets.
    pub(crate) fn consumed(&mut self, bytes: u64) {
        self.unread_bytes = self.unread_bytes.saturating_sub(bytes);
    }

    /// There is room for one more segment of `segment_bytes` octets besides `in_flight` others.
    /// One segment always has room when nothing else is there.
    pub(crate) fn has_room(&self, in_flight: u32, segment_bytes: u64) -> bool {
        let Delivery::Ordered { limit_bytes } = self.delivery else {
            return true;
        };
        let held = self.waiting_bytes + self.unread_bytes;
        held + (u64::from(in_flight) + 1) * segment_bytes <= limit_bytes
            || (held == 0 && in_flight == 0)
    }

    /// The lowest segment that was not handed out yet, where order matters.
    pub(crate) fn handed_out(&self) -> Option<u64> {
        (self.delivery != Delivery::Unordered).then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(octets: usize) -> Bytes {
        Bytes::from(vec![0; octets])
    }

    fn drain(assembler: &mut Assembler) -> Vec<u64> {
        std::iter::from_fn(|| assembler.pop()).map(|(segment, _)| segment).collect()
    }

    #[test]
    fn segments_leave_in_order() {
        let mut assembler = Assembler::new(Delivery::Ordered { limit_bytes: 100 }, 3);
        assembler.push(5, content(10));
        assembler.push(4, content(10));
        assert_eq!(drain(&mut assembler), []);
        assembler.push(3, content(10));
        assert_eq!(drain(&mut assembler), [3, 4, 5]);
    }

    #[test]
    fn a_reader_that_takes_nothing_leaves_no_room() {
        let mut assembler = Assembler::new(Delivery::Ordered { limit_bytes: 30 }, 0);
        assert!(assembler.has_room(2, 10));
        assert!(!assembler.has_room(3, 10));
        assembler.push(0, content(10));
        assembler.push(2, content(10));
        assert!(assembler.has_room(0, 10));
        assert!(!assembler.has_room(1, 10));
        assembler.consumed(10);
        assert!(assembler.has_room(1, 10));
    }

    #[test]
    fn one_segment_larger_than_the_limit_still_gets_through() {
        let assembler = Assembler::new(Delivery::Ordered { limit_bytes: 5 }, 0);
        assert!(assembler.has_room(0, 10));
    }

    #[test]
    fn unordered_content_leaves_as_it_came() {
        let mut assembler = Assembler::new(Delivery::Unordered, 0);
        assembler.push(7, content(1));
        assembler.push(2, content(1));
        assert_eq!(drain(&mut assembler), [7, 2]);
        assert!(assembler.has_room(u32::MAX, u64::from(u32::MAX)));
    }
}
