//! Reassembly of fragments.
//!
//! Source: NDNLPv2, "Indexed Fragmentation".
//!
//! Differences from established forwarders:
//! - a congestion mark is taken from any fragment (the highest), not from the first one only: queues that mark do not
//!   know which fragment carries the fields;
//! - the timeout of a packet counts from its first fragment; later fragments do not extend it;
//! - fragments are copied when they arrive: one held by reference would keep the whole receive buffer alive, which an
//!   attacker could multiply.
//!
//! All memory is limited ([`ReassemblyLimits`]). At the limits the oldest incomplete packet is dropped, because it is
//! the likeliest to have lost a fragment.
use super::MAX_FRAGMENTS;
use crate::time::{Duration, Instant};
use bytes::{Bytes, BytesMut};
use recoup_packet::lp::LpHeader;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use std::collections::VecDeque;

/// Overhead of a fragment received out of order, bytes.
const PIECE_BYTES: usize = 64;

/// Limits of a [`Reassembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Most incomplete packets.
    pub packets: usize,
    /// Most bytes of all incomplete packets.
    pub bytes: usize,
    /// Most fragments of one packet.
    pub fragments: u64,
    /// Lifetime of an incomplete packet.
    pub timeout: Duration,
}

impl Default for ReassemblyLimits {
    fn default() -> Self {
        let timeout = Duration::from_millis(500);
        Self { packets: 64, bytes: 1 << 20, fragments: MAX_FRAGMENTS, timeout }
    }
}

/// Reason why a fragment was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RejectedFragment {
    /// A fragment without a sequence number.
    #[error("fragment without a sequence number")]
    NoSequence,
    /// The index is not below the count, or the count is too large.
    #[error("fragment index or count out of range")]
    OutOfRange,
    /// Other fragments of the packet have another count.
    #[error("fragment count differs from that of the packet's other fragments")]
    Inconsistent,
    /// The fragment is a duplicate.
    #[error("duplicate fragment")]
    Duplicate,
    /// The fragment is empty.
    #[error("empty fragment")]
    Empty,
    /// The packet exceeds the largest network packet; its other fragments were dropped too.
    #[error("fragments of a packet longer than {MAX_PACKET_SIZE} bytes")]
    TooLong,
}

/// Fragments that were accepted and dropped later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Their packet stayed incomplete until its timeout.
    pub expired: u64,
    /// Their packet was evicted, or grew too long.
    pub evicted: u64,
}

/// Reassembles the packets of one link.
#[derive(Debug, Default)]
pub struct Reassembler {
    limits: ReassemblyLimits,
    /// The oldest first.
    partials: VecDeque<Partial>,
    bytes: usize,
    discarded: Discarded,
}

#[derive(Debug)]
struct Partial {
    /// Sender, and sequence number of the first fragment.
    base: (u64, u64),
    count: u64,
    since: Instant,
    header: LpHeader,
    /// The highest mark of any fragment.
    congestion_mark: Option<u64>,
    /// Fragments `0..next`, in order.
    whole: BytesMut,
    next: u64,
    /// Fragments above `next`, by increasing index.
    early: Vec<(u64, Bytes)>,
    /// Bytes charged to the limit.
    bytes: usize,
}

impl Reassembler {
    /// A reassembler with the given limits.
    pub fn new(limits: ReassemblyLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Sets the limits; they apply from the next fragment on.
    pub fn set_limits(&mut self, limits: ReassemblyLimits) {
        self.limits = limits;
    }

    /// As [`accept_from`](Self::accept_from), on a link with a single sender.
    ///
    /// # Errors
    /// Those of [`accept_from`](Self::accept_from).
    pub fn accept(
        &mut self,
        now: Instant,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, RejectedFragment> {
        self.accept_from(now, 0, header, fragment)
    }

    /// Accepts the payload of one frame and returns the packet that it completes, with the fields of its first
    /// fragment. The caller handles fields of the frame only (sequence numbers and acknowledgements) before; they are
    /// removed.
    ///
    /// A frame that is no fragment passes unchanged. On a link with several senders, each has sequence numbers of its
    /// own and is identified by `sender`.
    ///
    /// # Errors
    /// The fragment belongs to no packet, or is not needed.
    pub fn accept_from(
        &mut self,
        now: Instant,
        sender: u64,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, RejectedFragment> {
        let (index, count) = (header.frag_index.unwrap_or(0), header.frag_count.unwrap_or(1));
        if index >= count || count > self.limits.fragments {
            return Err(RejectedFragment::OutOfRange);
        }
        if count == 1 {
            return Ok(Some((header, fragment)));
        }
        let base = header.sequence.ok_or(RejectedFragment::NoSequence)?.wrapping_sub(index);
        if fragment.is_empty() {
            return Err(RejectedFragment::Empty);
        }
        self.expire(now);
        let place = self.place((sender, base), count, now)?;
        self.add(place, index, header, &fragment)?;
        Ok(self.complete(place))
    }

    /// Drops packets whose timeout has expired.
    pub fn expire(&mut self, now: Instant) {
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            self.discarded.expired += self.discard(0);
        }
    }

    /// Time at which the next incomplete packet expires.
    pub fn deadline(&self) -> Option<Instant> {
        self.partials.front().map(|oldest| oldest.since + self.limits.timeout)
    }

    /// Fragments dropped since the last call.
    pub fn take_discarded(&mut self) -> Discarded {
        std::mem::take(&mut self.discarded)
    }

    /// Number of incomplete packets.
    pub fn incomplete(&self) -> usize {
        self.partials.len()
    }

    /// Bytes held by incomplete packets.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Index of the packet of that sender and first sequence number; a new packet is begun.
    fn place(
        &mut self,
        base: (u64, u64),
        count: u64,
        now: Instant,
    ) -> Result<usize, RejectedFragment> {
        // Fragments of the latest packets are the likeliest to arrive.
        if let Some(place) = self.partials.iter().rposition(|partial| partial.base == base) {
            let same = self.partials[place].count == count;
            return if same { Ok(place) } else { Err(RejectedFragment::Inconsistent) };
        }
        while !self.partials.is_empty() && self.partials.len() >= self.limits.packets {
            self.discarded.evicted += self.discard(0);
        }
        self.partials.push_back(Partial::new(base, count, now));
        Ok(self.partials.len() - 1)
    }

    fn add(
        &mut self,
        place: usize,
        index: u64,
        header: LpHeader,
        fragment: &[u8],
    ) -> Result<(), RejectedFragment> {
        let partial = &mut self.partials[place];
        let before = partial.bytes;
        let result = partial.add(index, header, fragment);
        self.bytes = self.bytes - before + partial.bytes;
        if result == Err(RejectedFragment::TooLong) {
            self.discarded.evicted += self.discard(place);
        }
        result
    }

    /// The packet at `place` if it is complete; otherwise enforces the limits.
    fn complete(&mut self, place: usize) -> Option<(LpHeader, Bytes)> {
        if self.partials[place].next == self.partials[place].count {
            let partial = self.partials.remove(place)?;
            self.bytes -= partial.bytes;
            return Some(partial.finish());
        }
        while self.bytes > self.limits.bytes && !self.partials.is_empty() {
            self.discarded.evicted += self.discard(0);
        }
        None
    }

    /// Drops the packet at `place`; returns the number of its fragments.
    fn discard(&mut self, place: usize) -> u64 {
        let Some(partial) = self.partials.remove(place) else {
            return 0;
        };
        self.bytes -= partial.bytes;
        partial.next + partial.early.len() as u64
    }
}

impl Partial {
    fn new(base: (u64, u64), count: u64, since: Instant) -> Self {
        Self {
            base,
            count,
            since,
            header: LpHeader::default(),
            congestion_mark: None,
            whole: BytesMut::new(),
            next: 0,
            early: Vec::new(),
            bytes: 0,
        }
    }

    fn add(
        &mut self,
        index: u64,
        header: LpHeader,
        fragment: &[u8],
    ) -> Result<(), RejectedFragment> {
        let early = self.early.binary_search_by_key(&index, |piece| piece.0);
        let Err(place) = early else {
            return Err(RejectedFragment::Duplicate);
        };
        if index < self.next {
            return Err(RejectedFragment::Duplicate);
        }
        if self.payload_bytes() + fragment.len() > MAX_PACKET_SIZE {
            return Err(RejectedFragment::TooLong);
        }
        self.congestion_mark = self.congestion_mark.max(header.congestion_mark);
        if index == 0 {
            self.header = of_packet(header);
            self.bytes += self.header.encoded_len();
        }
        if index == self.next {
            self.append(fragment);
            self.append_early();
        } else {
            self.early.insert(place, (index, Bytes::copy_from_slice(fragment)));
            self.bytes += fragment.len() + PIECE_BYTES;
        }
        Ok(())
    }

    /// Bytes of the packet received.
    fn payload_bytes(&self) -> usize {
        self.whole.len() + self.early.iter().map(|(_, piece)| piece.len()).sum::<usize>()
    }

    fn append(&mut self, fragment: &[u8]) {
        let before = self.whole.capacity();
        if self.whole.is_empty() {
            // The first fragment is shorter than others by the fields that only it carries.
            let expected = (fragment.len() + 64).saturating_mul(self.count as usize);
            self.whole.reserve(expected.min(MAX_PACKET_SIZE));
        }
        self.whole.extend_from_slice(fragment);
        self.next += 1;
        self.bytes += self.whole.capacity() - before;
    }

    /// Moves early fragments into place once their predecessors have arrived.
    fn append_early(&mut self) {
        let in_turn = |(piece, at): &(&(u64, Bytes), u64)| piece.0 == *at;
        let ready = self.early.iter().zip(self.next..).take_while(in_turn).count();
        let pieces: Vec<_> = self.early.drain(..ready).collect();
        for (_, piece) in pieces {
            self.bytes -= piece.len() + PIECE_BYTES;
            self.append(&piece);
        }
    }

    fn finish(self) -> (LpHeader, Bytes) {
        let header = LpHeader { congestion_mark: self.congestion_mark, ..self.header };
        (header, self.whole.freeze())
    }
}

/// The fields that belong to the packet, not to the frame, without a reference to the receive buffer.
fn of_packet(mut header: LpHeader) -> LpHeader {
    header.sequence = None;
    header.frag_index = None;
    header.frag_count = None;
    header.tx_sequence = None;
    header.acks = Vec::new();
    let detach = |value: Bytes| Bytes::copy_from_slice(&value);
    header.pit_token = header.pit_token.map(detach);
    header.prefix_announcement = header.prefix_announcement.map(detach);
    let types: Vec<u64> = header.ignorable.iter().map(|(typ, _)| typ).collect();
    for typ in types {
        if let Some(value) = header.ignorable.take(typ) {
            header.ignorable.set(typ, detach(value));
        }
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u64, index: u64, count: u64) -> LpHeader {
        LpHeader {
            sequence: Some(sequence),
            frag_index: Some(index),
            frag_count: Some(count),
            ..LpHeader::default()
        }
    }

    type Accepted = Result<Option<Bytes>, RejectedFragment>;

    fn give(reassembler: &mut Reassembler, sequence: u64, index: u64, count: u64) -> Accepted {
        let payload = Bytes::from(vec![index as u8 + 1; 3]);
        let accepted = reassembler.accept(Instant::ZERO, header(sequence, index, count), payload);
        accepted.map(|packet| packet.map(|(_, packet)| packet))
    }

    fn whole(count: u8) -> Accepted {
        Ok(Some((1..=count).flat_map(|byte| [byte; 3]).collect()))
    }

    #[test]
    fn packets_may_be_interleaved_and_numbers_may_wrap() {
        let mut reassembler = Reassembler::default();
        assert_eq!(give(&mut reassembler, u64::MAX, 0, 2), Ok(None));
        assert_eq!(give(&mut reassembler, 1, 0, 2), Ok(None));
        assert_eq!(give(&mut reassembler, 0, 1, 2), whole(2));
        assert_eq!(give(&mut reassembler, 2, 1, 2), whole(2));
    }

    #[test]
    fn frame_without_fragment_passes_unchanged() {
        let (plain, payload) = (LpHeader::default(), Bytes::from_static(b"x"));
        let mut reassembler = Reassembler::default();
        let passed = reassembler.accept(Instant::ZERO, plain.clone(), payload.clone());
        assert_eq!(passed, Ok(Some((plain, payload.clone()))));
        let alone = header(7, 0, 1);
        let passed = reassembler.accept(Instant::ZERO, alone.clone(), payload.clone());
        assert_eq!(passed, Ok(Some((alone, payload))));
    }

    #[test]
    fn malformed_fragments_are_rejected() {
        let mut reassembler = Reassembler::default();
        let payload = || Bytes::from_static(b"x");
        let no_sequence = LpHeader { sequence: None, ..header(0, 0, 2) };
        for (header, payload, reason) in [
            (no_sequence, payload(), RejectedFragment::NoSequence),
            (header(0, 2, 2), payload(), RejectedFragment::OutOfRange),
            (header(0, 0, 0), payload(), RejectedFragment::OutOfRange),
            (header(0, 0, MAX_FRAGMENTS + 1), payload(), RejectedFragment::OutOfRange),
            (header(0, u64::MAX, u64::MAX), payload(), RejectedFragment::OutOfRange),
            (header(0, 0, 2), Bytes::new(), RejectedFragment::Empty),
        ] {
            assert_eq!(reassembler.accept(Instant::ZERO, header, payload), Err(reason));
            assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
        }
    }

    #[test]
    fn duplicate_and_inconsistent_fragments_are_rejected() {
        let mut reassembler = Reassembler::default();
        assert_eq!(give(&mut reassembler, 0, 0, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 0, 0, 4), Err(RejectedFragment::Duplicate));
        assert_eq!(give(&mut reassembler, 2, 2, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 2, 2, 4), Err(RejectedFragment::Duplicate));
        assert_eq!(give(&mut reassembler, 1, 1, 3), Err(RejectedFragment::Inconsistent));
        assert_eq!(give(&mut reassembler, 1, 1, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 3, 3, 4), whole(4));
    }

    #[test]
    fn packet_has_first_fields_and_highest_mark() {
        let mut reassembler = Reassembler::default();
        let token = Some(Bytes::from_static(b"token"));
        let first = LpHeader { pit_token: token.clone(), acks: vec![1, 2], ..header(0, 0, 2) };
        let marked = LpHeader { congestion_mark: Some(1), ..header(1, 1, 2) };
        let payload = Bytes::from_static(b"x");
        assert_eq!(reassembler.accept(Instant::ZERO, marked, payload.clone()), Ok(None));
        let (header, packet) =
            reassembler.accept(Instant::ZERO, first, payload).unwrap().expect("complete");
        let expected =
            LpHeader { pit_token: token, congestion_mark: Some(1), ..LpHeader::default() };
        assert_eq!((header, &packet[..]), (expected, &b"xx"[..]));
    }

    #[test]
    fn incomplete_packet_expires_after_its_first_fragment() {
        let mut reassembler = Reassembler::default();
        give(&mut reassembler, 0, 0, 3).unwrap();
        let payload = Bytes::from_static(b"x");
        reassembler.accept(Instant::from_millis(499), header(1, 1, 3), payload).unwrap();
        assert_eq!(reassembler.deadline(), Some(Instant::from_millis(500)));
        reassembler.expire(Instant::from_millis(500));
        assert_eq!((reassembler.deadline(), reassembler.held_bytes()), (None, 0));
        assert_eq!(reassembler.take_discarded(), Discarded { expired: 2, evicted: 0 });
        assert_eq!(reassembler.take_discarded(), Discarded::default());
    }

    #[test]
    fn oldest_packet_is_evicted_at_the_limit() {
        let mut reassembler = Reassembler::default();
        (0..65).for_each(|i| assert_eq!(give(&mut reassembler, 10 * i, 0, 2), Ok(None)));
        assert_eq!(reassembler.incomplete(), 64);
        assert_eq!(reassembler.take_discarded(), Discarded { expired: 0, evicted: 1 });
        assert_eq!(give(&mut reassembler, 11, 1, 2), whole(2));
        assert_eq!(give(&mut reassembler, 1, 1, 2), Ok(None));
    }

    #[test]
    fn too_long_packet_is_dropped() {
        let mut reassembler = Reassembler::default();
        for index in 0..2 {
            let (at, part) = (Instant::ZERO, Bytes::from(vec![0; 4_400]));
            assert_eq!(reassembler.accept(at, header(index, index, 3), part), Ok(None));
        }
        assert_eq!(give(&mut reassembler, 2, 2, 3), Err(RejectedFragment::TooLong));
        assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
        assert_eq!(reassembler.take_discarded(), Discarded { expired: 0, evicted: 2 });
    }
}
