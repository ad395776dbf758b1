//! Sources of requests: the segments of an object, or contents of its owner's choice.
use crate::rto::Target;
use crate::time::Instant;
use bytes::BytesMut;
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use std::fmt;

/// Requests, numbered in the order in which they are made. Events name a request by its number, as they name a segment.
///
/// The transfer decides when a request may be sent, and when it is sent again; the source decides what it is for.
pub trait Source: fmt::Debug {
    /// The requests are parts of one object.
    ///
    /// Otherwise an abandoned request does not end the transfer, and arrivals have no order. An answer that the content
    /// does not exist ends its request only.
    const ORDERED: bool;

    /// Most requests from the lowest open one to the highest made. If an ordered source reaches it, the transfer waits
    /// for the lowest; otherwise the lowest is given up. Memory is proportional to it at worst.
    const SPAN: u64;

    /// The name of an open request.
    fn name(&mut self, number: u64) -> Name;

    /// The open request that a packet of this name answers: the first one, if several are for one content.
    fn answered(&self, name: &Name) -> Option<u64>;

    /// The open request that is answered by the same packet as request `number`, after that one.
    fn next_answered(&self, _number: u64) -> Option<u64> {
        None
    }

    /// The number in [`Target::content`] of the content of this name.
    fn content(&self, name: &Name) -> Option<u64> {
        self.answered(name)
    }

    /// The content of an open request, for a timer.
    fn target(&self, number: u64) -> Target {
        Target { content: number, class: 0 }
    }

    /// Whether the timer takes samples of the requests' round trips.
    fn is_timed(&self) -> bool {
        true
    }

    /// Whether a timer ends by the timeout at the time of a scan, instead of that at the transmission. It takes
    /// [`FetchOptions::rto_check`](super::FetchOptions::rto_check) above zero.
    fn follows_estimate(&self) -> bool {
        false
    }

    /// Names of at most `most` contents that follow request `number`, up to request `last` if that is known.
    fn upcoming(&mut self, number: u64, most: usize, last: Option<u64>) -> Vec<Name>;

    /// Number of the last request, if a packet announces it.
    fn announced_end(&self, _data: &Data) -> Option<u64> {
        None
    }

    /// Whether the next request may be made, as far as the source limits it. It is asked at each time of sending.
    fn is_due(&mut self, _now: Instant) -> bool {
        true
    }

    /// Request `number` is made: it is open from here on.
    fn on_requested(&mut self, _number: u64) {}

    /// Request `number` is open no more.
    fn on_settled(&mut self, _number: u64) {}

    /// When the next request may be made, if none may be now.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether no further request will be made.
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// Bytes of one allocation of segment names.
const NAME_BYTES: usize = 4_096;
/// Most bytes of the component of a segment: type, length, marker and number.
const NUMBER_BYTES: usize = 11;

/// The segments of one version of one object.
#[derive(Debug)]
pub(super) struct Object {
    name: Name,
    /// Naming convention of its segments.
    convention: Convention,
    /// Memory for names of segments.
    names: BytesMut,
}

impl Object {
    pub(super) fn new(name: Name, convention: Convention) -> Self {
        Self { name, convention, names: BytesMut::new() }
    }
}

impl Source for Object {
    const ORDERED: bool = true;
    const SPAN: u64 = 1 << 16;

    /// Names of consecutive segments share their memory.
    fn name(&mut self, number: u64) -> Name {
        let bytes = self.name.value().len() + NUMBER_BYTES;
        if self.names.capacity() < bytes {
            self.names = BytesMut::with_capacity(NAME_BYTES.max(bytes));
        }
        self.name.append_in(self.convention.segment(number), &mut self.names)
    }

    fn answered(&self, name: &Name) -> Option<u64> {
        if name.len() != self.name.len() + 1 {
            return None;
        }
        self.convention.parse_segment(&name.strip_prefix(&self.name)?.next()?)
    }

    fn upcoming(&mut self, number: u64, most: usize, last: Option<u64>) -> Vec<Name> {
        let end = number.saturating_add(most as u64).min(last.unwrap_or(u64::MAX));
        (number.saturating_add(1)..=end).map(|next| self.name(next)).collect()
    }

    fn announced_end(&self, data: &Data) -> Option<u64> {
        self.convention.parse_segment(&data.final_block()?)
    }
}
