//! Puts fragments together again.
//!
//! Source: NDNLPv2, "Indexed Fragmentation".
//!
//! Differences from established forwarders:
//! - a congestion mark is taken from any fragment (the highest), not from the first one only: the
//!   queue that marked it did not know which fragment carries the fields;
//! - a packet has its time from its first fragment on; later fragments do not prolong it;
//! - fragments are copied when they arrive: one held by reference would keep the whole receive
//!   buffer alive, which an attacker could multiply.
//!
//! Everything is bounded ([`ReassemblyLimits`]): where the bounds are reached the oldest incomplete
//! packet gives way, for it is the likeliest to have lost a fragment.
use super::MAX_FRAGMENTS;
use crate::time::{Duration, Instant};
use bytes::{Bytes, BytesMut};
use recoup_packet::lp::LpHeader;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use std::collections::VecDeque;

/// What one fragment that arrived too early costs beside its octets.
const PIECE_BYTES: usize = 64;

/// Bounds of a [`Reassembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyLimits {
    /// Most incomplete packets.
    pub packets: usize,
    /// Most octets of all incomplete packets.
    pub bytes: usize,
    /// Most fragments of one packet.
    pub fragments: u64,
    /// How long a packet may stay incomplete.
    pub timeout: Duration,
}

impl Default for ReassemblyLimits {
    fn default() -> Self {
        let timeout = Duration::from_millis(500);
        Self { packets: 64, bytes: 1 << 20, fragments: MAX_FRAGMENTS, timeout }
    }
}

/// Why a fragment was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// A fragment without a sequence number.
    #[error("fragment without a sequence number")]
    NoSequence,
    /// Its index is not below its count, or there are too many.
    #[error("fragment index or count out of range")]
    OutOfRange,
    /// Other fragments of the packet gave another count.
    #[error("fragment count differs from that of the packet's other fragments")]
    Inconsistent,
    /// It is there already.
    #[error("duplicate fragment")]
    Duplicate,
    /// It carries nothing.
    #[error("empty fragment")]
    Empty,
    /// The packet would be longer than any network packet may be; its other fragments went too.
    #[error("fragments of a packet longer than {MAX_PACKET_SIZE} bytes")]
    TooLong,
}

/// Fragments that were accepted and discarded later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Their packet stayed incomplete for too long.
    pub expired: u64,
    /// Their packet had to give way, or grew too long.
    pub evicted: u64,
}

/// Puts the fragments of one link together.
#[derive(Debug, Default)]
pub struct Reassembler {
    limits: ReassemblyLimits,
    /// Oldest first.
    partials: VecDeque<Partial>,
    bytes: usize,
    discarded: Discarded,
}

#[derive(Debug)]
struct Partial {
    /// Who sent it, and the sequence number of its first fragment.
    base: (u64, u64),
    count: u64,
    since: Instant,
    header: LpHeader,
    /// Of any fragment, the highest.
    congestion_mark: Option<u64>,
    /// Fragments `0..next`, in place.
    whole: BytesMut,
    next: u64,
    /// Fragments beyond `next`, by increasing index.
    early: Vec<(u64, Bytes)>,
    /// Octets that it counts for.
    bytes: usize,
}

impl Reassembler {
    /// A reassembler with bounds of its own.
    pub fn new(limits: ReassemblyLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Other bounds hold from the next fragment on.
    pub fn set_limits(&mut self, limits: ReassemblyLimits) {
        self.limits = limits;
    }

    /// As [`accept_from`](Self::accept_from) on a link where nobody else sends.
    ///
    /// # Errors
    /// As there.
    pub fn accept(
        &mut self,
        now: Instant,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, Refused> {
        self.accept_from(now, 0, header, fragment)
    }

    /// Takes the payload of one frame and returns the packet that it completes, with the fields of
    /// its first fragment (fields of the frame only, sequence numbers and acknowledgements, are the
    /// caller's business before and are removed).
    ///
    /// A frame that is no fragment of anything passes unchanged. Where several send, each has sequence numbers of its
    /// own, and a number as `sender`.
    ///
    /// # Errors
    /// If the fragment cannot belong to any packet, or is not needed.
    pub fn accept_from(
        &mut self,
        now: Instant,
        sender: u64,
        header: LpHeader,
        fragment: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, Refused> {
        let (index, count) = (header.frag_index.unwrap_or(0), header.frag_count.unwrap_or(1));
        if index >= count || count > self.limits.fragments {
            return Err(Refused::OutOfRange);
        }
        if count == 1 {
            return Ok(Some((header, fragment)));
        }
        let base = header.sequence.ok_or(Refused::NoSequence)?.wrapping_sub(index);
        if fragment.is_empty() {
            return Err(Refused::Empty);
        }
        self.expire(now);
        let place = self.place((sender, base), count, now)?;
        self.add(place, index, header, &fragment)?;
        Ok(self.complete(place))
    }

    /// Discards packets that stayed incomplete for too long.
    pub fn expire(&mut self, now: Instant) {
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            self.discarded.expired += self.discard(0);
        }
    }

    /// When the next incomplete packet expires.
    pub fn deadline(&self) -> Option<Instant> {
        self.partials.front().map(|oldest| oldest.since + self.limits.timeout)
    }

    /// How many fragments were discarded since this was last asked.
    pub fn take_discarded(&mut self) -> Discarded {
        std::mem::take(&mut self.discarded)
    }

    /// How many packets are incomplete.
    pub fn incomplete(&self) -> usize {
        self.partials.len()
    }

    /// Octets that incomplete packets hold.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// The place of the packet of that sender and first sequence number, which is begun if it is new.
    fn place(&mut self, base: (u64, u64), count: u64, now: Instant) -> Result<usize, Refused> {
        // Fragments of the latest packets are the likeliest to come.
        if let Some(place) = self.partials.iter().rposition(|partial| partial.base == base) {
            let same = self.partials[place].count == count;
            return if same { Ok(place) } else { Err(Refused::Inconsistent) };
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
    ) -> Result<(), Refused> {
        let partial = &mut self.partials[place];
        let before = partial.bytes;
        let result = partial.add(index, header, fragment);
        self.bytes = self.bytes - before + partial.bytes;
        if result == Err(Refused::TooLong) {
            self.discarded.evicted += self.discard(place);
        }
        result
    }

    /// The packet at `place` if it is complete; otherwise makes room if too much is held.
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

    /// Discards the packet at `place`; returns how many fragments of it there were.
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

    fn add(&mut self, index: u64, header: LpHeader, fragment: &[u8]) -> Result<(), Refused> {
        let early = self.early.binary_search_by_key(&index, |piece| piece.0);
        let Err(place) = early else {
            return Err(Refused::Duplicate);
        };
        if index < self.next {
            return Err(Refused::Duplicate);
        }
        if self.payload_bytes() + fragment.len() > MAX_PACKET_SIZE {
            return Err(Refused::TooLong);
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

    /// Octets of the packet that are there.
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

    /// Moves the early fragments whose turn has come into place.
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

/// The fields that belong to the packet, not to the frame, holding on to no receive buffer.
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

    type Accepted = Result<Option<Bytes>, Refused>;

    fn give(reassembler: &mut Reassembler, sequence: u64, index: u64, count: u64) -> Accepted {
        let payload = Bytes::from(vec![index as u8 + 1; 3]);
        let accepted = reassembler.accept(Instant::ZERO, header(sequence, index, count), payload);
        accepted.map(|packet| packet.map(|(_, packet)| packet))
    }

    fn whole(count: u8) -> Accepted {
        Ok(Some((1..=count).flat_map(|octet| [octet; 3]).collect()))
    }

    #[test]
    fn fragments_in_any_order_make_the_packet() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut reassembler = Reassembler::default();
            let [first, second, last] = order;
            assert_eq!(give(&mut reassembler, 10 + first, first, 3), Ok(None));
            assert_eq!(give(&mut reassembler, 10 + second, second, 3), Ok(None));
            assert_eq!(give(&mut reassembler, 10 + last, last, 3), whole(3), "{order:?}");
            assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
        }
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
    fn what_is_no_fragment_passes_unchanged() {
        let (plain, payload) = (LpHeader::default(), Bytes::from_static(b"x"));
        let mut reassembler = Reassembler::default();
        let passed = reassembler.accept(Instant::ZERO, plain.clone(), payload.clone());
        assert_eq!(passed, Ok(Some((plain, payload.clone()))));
        let alone = header(7, 0, 1);
        let passed = reassembler.accept(Instant::ZERO, alone.clone(), payload.clone());
        assert_eq!(passed, Ok(Some((alone, payload))));
    }

    #[test]
    fn nonsense_is_refused_and_holds_nothing() {
        let mut reassembler = Reassembler::default();
        let payload = || Bytes::from_static(b"x");
        let no_sequence = LpHeader { sequence: None, ..header(0, 0, 2) };
        for (header, payload, refused) in [
            (no_sequence, payload(), Refused::NoSequence),
            (header(0, 2, 2), payload(), Refused::OutOfRange),
            (header(0, 0, 0), payload(), Refused::OutOfRange),
            (header(0, 0, MAX_FRAGMENTS + 1), payload(), Refused::OutOfRange),
            (header(0, u64::MAX, u64::MAX), payload(), Refused::OutOfRange),
            (header(0, 0, 2), Bytes::new(), Refused::Empty),
        ] {
            assert_eq!(reassembler.accept(Instant::ZERO, header, payload), Err(refused));
            assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
        }
    }

    #[test]
    fn duplicates_and_contradictions_are_refused_without_harm() {
        let mut reassembler = Reassembler::default();
        assert_eq!(give(&mut reassembler, 0, 0, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 0, 0, 4), Err(Refused::Duplicate));
        assert_eq!(give(&mut reassembler, 2, 2, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 2, 2, 4), Err(Refused::Duplicate));
        assert_eq!(give(&mut reassembler, 1, 1, 3), Err(Refused::Inconsistent));
        assert_eq!(give(&mut reassembler, 1, 1, 4), Ok(None));
        assert_eq!(give(&mut reassembler, 3, 3, 4), whole(4));
    }

    #[test]
    fn the_fields_are_those_of_the_first_fragment_and_the_mark_that_of_any() {
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
    fn an_incomplete_packet_expires_after_its_first_fragment() {
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
    fn the_oldest_packet_gives_way_when_there_are_too_many() {
        let mut reassembler = Reassembler::default();
        (0..65).for_each(|i| assert_eq!(give(&mut reassembler, 10 * i, 0, 2), Ok(None)));
        assert_eq!(reassembler.incomplete(), 64);
        assert_eq!(reassembler.take_discarded(), Discarded { expired: 0, evicted: 1 });
        assert_eq!(give(&mut reassembler, 11, 1, 2), whole(2));
        assert_eq!(give(&mut reassembler, 1, 1, 2), Ok(None));
    }

    #[test]
    fn a_packet_longer_than_any_network_packet_is_given_up() {
        let mut reassembler = Reassembler::default();
        for index in 0..2 {
            let (at, part) = (Instant::ZERO, Bytes::from(vec![0; 4_400]));
            assert_eq!(reassembler.accept(at, header(index, index, 3), part), Ok(None));
        }
        assert_eq!(give(&mut reassembler, 2, 2, 3), Err(Refused::TooLong));
        assert_eq!((reassembler.incomplete(), reassembler.held_bytes()), (0, 0));
        assert_eq!(reassembler.take_discarded(), Discarded { expired: 0, evicted: 2 });
    }
}
