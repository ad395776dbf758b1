//! Links for frames of bytes: they are cut into fragments that fit, and put together again.
//!
//! As long as nothing is lost a frame of a link with recovery is a number and a packet. That one is written and read without
//! the detour over a link header, and without copying the packet: it costs what the numbers cost.
use super::{Lost, Medium, Received, Service, Shared, Timers, Whole};
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceId};
use crate::frame::Frame;
use crate::message::Output;
use crate::outbox::Outputs;
use crate::packet::Packet;
use bytes::{Buf, Bytes};
use recoup_packet::lp::{LpHeader, LpPacket, field};
use recoup_packet::tlv::{MAX_PACKET_SIZE, typ};
use recoup_transport::link::recovery::{Arrival, Label, Outgoing, Sending, Tag, lean};
use recoup_transport::link::{Fragmenter, Reassembler, ReassemblyLimits};
use recoup_transport::management::FaceCounters;
use recoup_transport::time::{Duration, Instant};

/// What a greeting carries: an Interest for `/localhop/hello` that may take no hop, so that everybody discards it.
pub(super) const GREETING: &[u8] = &[
    5, 28, 7, 17, 8, 8, b'l', b'o', b'c', b'a', b'l', b'h', b'o', b'p', 8, 5, b'h', b'e', b'l',
    b'l', b'o', 10, 4, 0, 0, 0, 0, 34, 1, 0,
];
/// Bytes by which a packet grows that would travel bare but for its tag.
const WRAPPING_BYTES: usize = 8;
/// Bytes of the field that says by how much a recovery lengthened a round trip.
const REDUCTION_BYTES: usize = 12;

/// Fragmentation of one face.
#[derive(Debug)]
pub(super) struct Wire {
    fragmenter: Fragmenter,
    reassembler: Reassembler,
    /// Fragments that were discarded and not yet accounted for.
    discarded: u64,
    /// The driver's send queue as it last said, and what it was given since, in bytes.
    backlog_bytes: u64,
    provisional: bool,
}

impl Medium for Wire {
    type Held = Piece;
}

/// What incomplete packets may take on a face. Any peer may open a thousand faces, and has only Interests to send; one at a
/// time, as long as none is answered.
fn reassembly(attributes: &FaceAttributes) -> ReassemblyLimits {
    let whole = ReassemblyLimits::default();
    if attributes.permanent {
        return whole;
    }
    match attributes.provisional {
        true => ReassemblyLimits { packets: 1, bytes: MAX_PACKET_SIZE, ..whole },
        false => ReassemblyLimits { packets: 8, bytes: 4 * MAX_PACKET_SIZE, ..whole },
    }
}

impl Wire {
    pub(super) fn new(mtu: usize, attributes: &FaceAttributes) -> Self {
        Self {
            fragmenter: Fragmenter::new(mtu, 0),
            reassembler: Reassembler::new(reassembly(attributes)),
            discarded: 0,
            backlog_bytes: 0,
            provisional: attributes.provisional,
        }
    }

    /// The face carries longer or shorter frames from now on, and may hold more or fewer incomplete packets.
    pub(super) fn change(&mut self, mtu: usize, attributes: &FaceAttributes) {
        self.fragmenter.set_mtu(mtu);
        if self.provisional != attributes.provisional {
            self.provisional = attributes.provisional;
            self.reassembler.set_limits(reassembly(attributes));
        }
    }

    /// Sets the length of the driver's send queue.
    pub(super) fn set_backlog(&mut self, bytes: u64) {
        self.backlog_bytes = bytes;
    }

    /// The driver is given so many bytes more.
    fn add_backlog(&mut self, bytes: usize) {
        self.backlog_bytes += bytes as u64;
    }

    /// Takes a frame that was read; returns the network packet that it completes.
    ///
    /// # Errors
    /// If it is not a fragment that is needed.
    fn accept(
        &mut self,
        now: Instant,
        sender: u64,
        frame: LpPacket,
    ) -> Result<Option<Whole>, DropReason> {
        let Some(fragment) = frame.fragment else {
            return Ok(None);
        };
        let whole = match frame.header.frag_count {
            None | Some(1) => Some((frame.header, fragment)),
            Some(_) => {
                let whole = self.reassembler.accept_from(now, sender, frame.header, fragment);
                self.count_discarded();
                whole.map_err(|_| DropReason::Fragment)?
            }
        };
        Ok(whole.map(|(header, packet)| Whole { header: Some(header), packet }))
    }

    /// Discards incomplete packets that are too old.
    pub(super) fn expire(&mut self, now: Instant) {
        self.reassembler.expire(now);
        self.count_discarded();
    }

    /// Discards all incomplete packets; how many fragments that were.
    pub(super) fn give_up(&mut self) -> u64 {
        self.expire(Instant::MAX);
        self.take_discarded()
    }

    /// When the next incomplete packet is too old.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.reassembler.deadline()
    }

    /// How many fragments were discarded since this was last asked.
    pub(super) fn take_discarded(&mut self) -> u64 {
        std::mem::take(&mut self.discarded)
    }

    fn count_discarded(&mut self) {
        let discarded = self.reassembler.take_discarded();
        self.discarded += discarded.expired + discarded.evicted;
    }

    /// Longest frame, in bytes.
    fn mtu(&self) -> usize {
        self.fragmenter.mtu()
    }

    /// Writes a frame that leaves.
    fn write(&mut self, frame: &LpPacket) -> Bytes {
        let bytes = self.fragmenter.encode(frame);
        self.add_backlog(bytes.len());
        bytes
    }
}

/// A packet or a piece of one, before it is written to a frame.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// `None` if there are no fields.
    header: Option<Box<LpHeader>>,
    fragment: Bytes,
}

impl Piece {
    fn new(frame: LpPacket) -> Self {
        let header = (!frame.header.is_empty()).then(|| Box::new(frame.header));
        Self { header, fragment: frame.fragment.unwrap_or_default() }
    }

    fn tagged(self, tag: &Tag) -> LpPacket {
        let mut header = self.header.map(|header| *header).unwrap_or_default();
        tag.write(&mut header);
        LpPacket { header, fragment: Some(self.fragment) }
    }

    /// As it leaves for the first time.
    fn into_frame(self, link: &mut Wire, tag: &Tag) -> Frame {
        match tag.only_label() {
            Some(label) => self.numbered(link, label),
            None => link.write(&self.tagged(tag)).into(),
        }
    }

    /// As it leaves for the first time with nothing but a number.
    fn numbered(self, link: &mut Wire, label: Label) -> Frame {
        match lean::Head::new(label, self.fragment.len()).filter(|_| self.header.is_none()) {
            Some(head) => {
                let frame = Frame::new(head, self.fragment);
                link.add_backlog(frame.len());
                frame
            }
            None => link.write(&self.tagged(&Tag::label(label))).into(),
        }
    }

    /// As it leaves once more, `waited` after the first time; Data says how long that was, if there is room for it.
    fn again(self, link: &mut Wire, tag: &Tag, waited: Duration) -> Frame {
        let begins_data = self.fragment.first().is_some_and(|it| u64::from(*it) == typ::DATA);
        let mut frame = self.tagged(tag);
        let is_first = frame.header.frag_index.unwrap_or(0) == 0;
        if begins_data && is_first && frame.encoded_len() + REDUCTION_BYTES <= link.mtu() {
            let fields = &mut frame.header.ignorable;
            let before = field::time(fields, field::RTT_REDUCTION).unwrap_or_default();
            field::set_time(fields, field::RTT_REDUCTION, before.saturating_add(waited));
        }
        link.write(&frame).into()
    }
}

/// A frame that the ends of a link speak with.
fn control(tag: &Tag, packet: Option<&'static [u8]>) -> LpPacket {
    let mut header = LpHeader::default();
    tag.write(&mut header);
    LpPacket { header, fragment: packet.map(Bytes::from_static) }
}

impl Service<Wire> {
    /// A packet leaves; whether it was marked for congestion.
    ///
    /// # Errors
    /// If the packet does not fit the frames of the link, however it is cut.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: &mut Packet,
        counters: &mut FaceCounters,
        shared: &mut Shared,
        outputs: &mut Outputs,
    ) -> Result<bool, DropReason> {
        if self.recovery.is_some() {
            return self.send_recovering(now, id, packet, counters, shared, outputs);
        }
        self.send_plain(now, id, packet, counters, shared, outputs)
    }

    /// As [`send`](Self::send), without recovery.
    fn send_plain(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: &mut Packet,
        counters: &mut FaceCounters,
        shared: &mut Shared,
        outputs: &mut Outputs,
    ) -> Result<bool, DropReason> {
        let wire = shared.wires.of(packet);
        let marked = self.mark_queued(now, packet);
        let backlog = &mut self.medium.backlog_bytes;
        let mut push = |frame: Bytes| {
            *backlog += frame.len() as u64;
            counters.out_octets += frame.len() as u64;
            outputs.push_back(Output::Send { face: id, frame: frame.into() });
        };
        if wire.len() <= self.medium.fragmenter.mtu() && !packet.has_link_fields() {
            push(wire);
            return Ok(marked);
        }
        let cut = self.medium.fragmenter.fragment(packet.link_header(), wire, push);
        cut.map(|()| marked).map_err(|_| DropReason::TooLong)
    }

    fn mark_queued(&mut self, now: Instant, packet: &mut Packet) -> bool {
        let bytes = self.medium.backlog_bytes + self.scheduled_bytes;
        self.mark(now, packet, bytes)
    }

    /// As [`send`](Self::send), with recovery.
    fn send_recovering(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: &mut Packet,
        counters: &mut FaceCounters,
        shared: &mut Shared,
        outputs: &mut Outputs,
    ) -> Result<bool, DropReason> {
        let Some(recovery) = &mut self.recovery else {
            return Err(DropReason::NoFace);
        };
        let (kind, lifetime) = packet.worth();
        if packet.retransmits() {
            recovery.end.retransmits();
        }
        if recovery.end.leaves_plain(now, kind) {
            return self.send_plain(now, id, packet, counters, shared, outputs);
        }
        recovery.packets += 1;
        let (number, tag_bytes) = (recovery.packets, recovery.end.tag_octets());
        let wire = shared.wires.held(packet);
        let marked = self.mark_queued(now, packet);
        let Self { medium: link, recovery: Some(recovery), .. } = self else {
            return Err(DropReason::NoFace);
        };
        let mtu = link.mtu();
        let describe = |bytes: usize, alone| {
            let room_octets = mtu.saturating_sub(bytes + tag_bytes + WRAPPING_BYTES);
            Sending { kind, octets: bytes as u32, lifetime, packet: number, alone, room_octets }
        };
        let mut push = |frame: Frame| {
            counters.out_octets += frame.len() as u64;
            outputs.push_back(Output::Send { face: id, frame });
        };
        if !packet.has_link_fields() && wire.len() + tag_bytes + WRAPPING_BYTES <= mtu {
            let sending = describe(wire.len(), true);
            let piece = Piece { header: None, fragment: wire };
            push(match recovery.end.number(now, &piece, &sending) {
                Some(label) => piece.numbered(link, label),
                None => {
                    let tag = recovery.end.send(now, &piece, &sending);
                    piece.into_frame(link, &tag)
                }
            });
        } else {
            let mut pieces = Vec::new();
            let header = packet.link_header();
            let cut = link.fragmenter.leave_room(header, wire, tag_bytes, |it| pieces.push(it));
            cut.map_err(|_| DropReason::TooLong)?;
            let alone = pieces.len() == 1;
            for frame in pieces {
                let sending = describe(frame.encoded_len(), alone);
                let piece = Piece::new(frame);
                let tag = recovery.end.send(now, &piece, &sending);
                push(piece.into_frame(link, &tag));
            }
        }
        if recovery.end.waits() {
            // Behind everything else that leaves at this instant: between equally long frames it would end their batch.
            recovery.wake(id, &mut shared.timers, now);
        } else {
            recovery.arm(id, &mut shared.timers);
        }
        Ok(marked)
    }

    /// The network packet that a frame completes.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        id: FaceId,
        sender: u64,
        mut frame: Bytes,
        timers: &mut Timers,
    ) -> Received {
        let Some(recovery) = &mut self.recovery else {
            let read = LpPacket::decode(frame).map_err(|_| DropReason::Malformed);
            let whole = read.and_then(|frame| self.medium.accept(now, sender, frame));
            return Received { whole, drains: false };
        };
        let arrival = if LpPacket::is_bare(&frame) {
            recovery.end.receive(now, &Tag::default(), true)
        } else if let Some((label, packet_at)) = lean::read(&frame) {
            frame.advance(packet_at);
            recovery.end.numbered(now, label)
        } else {
            return self.receive_tagged(now, id, frame, timers);
        };
        let drains = recovery.end.waits();
        if !drains {
            recovery.arm(id, timers);
        }
        let whole = match arrival {
            Arrival::Duplicate => Err(DropReason::Repeated),
            _ => Ok(Some(Whole { header: None, packet: frame })),
        };
        Received { whole, drains }
    }

    /// As [`receive`](Self::receive), of a frame with a link header.
    fn receive_tagged(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: Bytes,
        timers: &mut Timers,
    ) -> Received {
        let Ok(mut frame) = LpPacket::decode(frame) else {
            return Received { whole: Err(DropReason::Malformed), drains: false };
        };
        let mut drains = false;
        if let Some(recovery) = &mut self.recovery {
            let tag = Tag::take(&mut frame.header);
            let greets = tag.notice.is_some() && frame.fragment.as_deref() == Some(GREETING);
            frame.fragment = frame.fragment.filter(|_| !greets);
            let arrival = recovery.end.receive(now, &tag, frame.fragment.is_some());
            drains = recovery.end.waits();
            if !drains {
                recovery.arm(id, timers);
            }
            if arrival == Arrival::Duplicate {
                return Received { whole: Err(DropReason::Repeated), drains };
            }
        }
        Received { whole: self.medium.accept(now, 0, frame), drains }
    }

    /// A frame was dropped by a queue of this machine.
    pub(super) fn overflowed(&mut self, id: FaceId, frame: Bytes, timers: &mut Timers) {
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        let label = lean::read(&frame).map(|(label, _)| label).or_else(|| {
            let mut packet = LpPacket::decode(frame).ok()?;
            Tag::take(&mut packet.header).label
        });
        if let Some(label) = label {
            recovery.end.dropped(label);
            recovery.arm(id, timers);
        }
    }

    /// Sends what recovery has to send; returns what it lost and does not send again. One fragment does not say which
    /// packet it is of.
    pub(super) fn drain(
        &mut self,
        now: Instant,
        id: FaceId,
        counters: &mut FaceCounters,
        outputs: &mut Outputs,
    ) -> Vec<Lost> {
        let Self { medium: link, recovery: Some(recovery), .. } = self else {
            return Vec::new();
        };
        while let Some(next) = recovery.end.poll(now) {
            let frame = match next {
                Outgoing::Again { frame, tag, waited } => frame.again(link, &tag, waited),
                Outgoing::Control(tag) => link.write(&control(&tag, None)).into(),
                Outgoing::Greeting(tag) => link.write(&control(&tag, Some(GREETING))).into(),
            };
            counters.out_octets += frame.len() as u64;
            outputs.push_back(Output::Send { face: id, frame });
        }
        let lost = std::iter::from_fn(|| recovery.end.poll_lost());
        let lost = lost.map(|piece| match piece.header {
            Some(header) if header.frag_count.is_some() => Lost::Fragment,
            _ => Lost::Bytes(piece.fragment),
        });
        lost.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::interest::Interest;

    #[test]
    fn a_greeting_carries_an_interest_that_may_take_no_hop() {
        let interest = Interest::decode(Bytes::from_static(GREETING)).unwrap();
        assert_eq!(interest.name.to_string(), "/localhop/hello");
        assert_eq!((interest.hop_limit, interest.nonce), (Some(0), Some(0)));
    }
}
