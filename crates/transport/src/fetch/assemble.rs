//! In-order delivery with a bound on what waits.
//!
//! Segments that arrive before their turn wait here. What waits, plus what the reader has been
//! handed and has not taken, plus what is on its way, stays below a limit: a slow reader slows the
//! window instead of growing memory.
use crate::application::Report;
use bytes::Bytes;
use recoup_packet::data::Data;
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
}

impl Assembler {
    /// An assembler whose first segment is `first`.
    pub(crate) fn new(delivery: Delivery, first: u64) -> Self {
        Self { delivery, next: first, waiting: BTreeMap::new(), waiting_bytes: 0, unread_bytes: 0 }
    }

    /// Takes in a segment, each one once, and hands out what is next for the reader.
    pub(crate) fn take(&mut self, segment: u64, data: &Data, reports: &mut VecDeque<Report>) {
        match self.delivery {
            Delivery::Unordered => {
                reports.push_back(Report::Content { segment, content: data.content_bytes() });
            }
            Delivery::Ordered { .. } => self.order(segment, data.content_bytes(), reports),
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
        matches!(self.delivery, Delivery::Ordered { .. }).then_some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::{data::DataBuilder, name::Name, signature::DigestSigner};

    /// Segments that are handed out when those in `segments` arrive in this order, 10 octets each.
    fn take(assembler: &mut Assembler, segments: &[u64]) -> Vec<u64> {
        let mut reports = VecDeque::new();
        let data = DataBuilder::new(&Name::root()).build(&[0; 10], &DigestSigner);
        segments.iter().for_each(|segment| assembler.take(*segment, &data, &mut reports));
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
    fn a_reader_that_takes_nothing_leaves_no_room() {
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
    fn one_segment_larger_than_the_limit_still_gets_through() {
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
