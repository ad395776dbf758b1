//! In-order delivery with a limit on buffered content.
//!
//! Segments that arrive out of order are buffered here. Buffered content, content that the reader has not consumed,
//! and content in flight together stay below a limit: a slow reader slows the window (back-pressure) instead of
//! growing memory.
use crate::application::Report;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};

/// Order of the delivery of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In order of arrival; the reader places each segment.
    Unordered,
    /// In order of segments; the reader reports consumed bytes with `AppInput::Consumed`.
    Ordered {
        /// Most bytes that are buffered, unread or in flight.
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
}

impl Assembler {
    /// An assembler that begins at segment `first`.
    pub(crate) fn new(delivery: Delivery, first: u64) -> Self {
        Self { delivery, next: first, waiting: BTreeMap::new(), waiting_bytes: 0, unread_bytes: 0 }
    }

    /// Adds a segment, each one once, and delivers the segments that are next for the reader.
    pub(crate) fn take(&mut self, segment: u64, content: Bytes, reports: &mut VecDeque<Report>) {
        match self.delivery {
            Delivery::Unordered => {
                reports.push_back(Report::Content { segment, content });
            }
            Delivery::Ordered { .. } => self.order(segment, content, reports),
        }
    }

    fn order(&mut self, segment: u64, content: Bytes, reports: &mut VecDeque<Report>) {
        if segment != self.next {
            self.waiting_bytes += content.len() as u64;
            self.waiting.insert(segment, content);
            return;
        }
        self.hand_out(content, reports);
        while let Some(content) = self.waiting.remove(&self.next) {
            self.waiting_bytes -= content.len() as u64;
            self.hand_out(content, reports);
        }
    }

    fn hand_out(&mut self, content: Bytes, reports: &mut VecDeque<Report>) {
        self.unread_bytes += content.len() as u64;
        reports.push_back(Report::Content { segment: self.next, content });
        self.next += 1;
    }

    /// Records that the reader consumed `bytes` bytes.
    pub(crate) fn consumed(&mut self, bytes: u64) {
        self.unread_bytes = self.unread_bytes.saturating_sub(bytes);
    }

    /// Whether one more segment of `segment_bytes` bytes fits besides `in_flight` others. Without other Interests in
    /// flight, one segment always fits.
    pub(crate) fn has_room(&self, in_flight: u32, segment_bytes: u64) -> bool {
        let Delivery::Ordered { limit_bytes } = self.delivery else {
            return true;
        };
        let held = self.waiting_bytes + self.unread_bytes;
        held + (u64::from(in_flight) + 1) * segment_bytes <= limit_bytes
            || (held == 0 && in_flight == 0)
    }

    /// The lowest segment not delivered yet, for delivery in order.
    pub(crate) fn handed_out(&self) -> Option<u64> {
        matches!(self.delivery, Delivery::Ordered { .. }).then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments delivered when those in `segments` arrive in this order, 10 bytes each.
    fn take(assembler: &mut Assembler, segments: &[u64]) -> Vec<u64> {
        let mut reports = VecDeque::new();
        let content = Bytes::from_static(&[0; 10]);
        segments.iter().for_each(|segment| assembler.take(*segment, content.clone(), &mut reports));
        let segment = |report| match report {
            Report::Content { segment, content } => (content.len() == 10).then_some(segment),
            _ => None,
        };
        reports.into_iter().filter_map(segment).collect()
    }

    #[test]
    fn segments_leave_in_order() {
        let mut assembler = Assembler::new(Delivery::Ordered { limit_bytes: 100 }, 3);
        assert_eq!(take(&mut assembler, &[5, 4]), []);
        assert_eq!(take(&mut assembler, &[3]), [3, 4, 5]);
    }

    #[test]
    fn unread_content_leaves_no_free_space() {
        let mut assembler = Assembler::new(Delivery::Ordered { limit_bytes: 30 }, 0);
        assert!(assembler.has_room(2, 10));
        assert!(!assembler.has_room(3, 10));
        take(&mut assembler, &[0, 2]);
        assert!(assembler.has_room(0, 10));
        assert!(!assembler.has_room(1, 10));
        assembler.consumed(10);
        assert!(assembler.has_room(1, 10));
    }

    #[test]
    fn segment_larger_than_the_limit_is_delivered() {
        let assembler = Assembler::new(Delivery::Ordered { limit_bytes: 5 }, 0);
        assert!(assembler.has_room(0, 10));
    }

    #[test]
    fn unordered_content_leaves_as_it_came() {
        let mut assembler = Assembler::new(Delivery::Unordered, 0);
        assert_eq!(take(&mut assembler, &[7, 2]), [7, 2]);
        assert!(assembler.has_room(u32::MAX, u64::from(u32::MAX)));
    }
}
