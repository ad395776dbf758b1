//! Links for frames of bytes, with fragmentation and reassembly.
//!
//! While no frame is lost, a frame of a link with recovery is a number and a packet. It is encoded and decoded
//! without a link header, and without copying the packet.
use super::path::Path;
use super::{Lean, Lost, Medium, Received, Service, Shared, Timers, Whole};
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceId};
use crate::frame::Frame;
use crate::message::Output;
use crate::outbox::Outputs;
use crate::packet::{Body, Kind, Packet};
use bytes::{Buf, Bytes};
use recoup_packet::lp::{LpHeader, LpPacket, field};
use recoup_packet::tlv::{MAX_PACKET_SIZE, typ};
use recoup_transport::link::recovery::{Arrival, FrameKind, Label, Outgoing, Sending, Tag, lean};
use recoup_transport::link::{Fragmenter, Reassembler, ReassemblyLimits};
use recoup_transport::management::FaceCounters;
use recoup_transport::time::{Duration, Instant};

/// Packet of a greeting: an Interest for `/localhop/hello` with hop limit 0, so that every forwarder drops it.
pub(super) const GREETING: &[u8] = &[
    5, 28, 7, 17, 8, 8, b'l', b'o', b'c', b'a', b'l', b'h', b'o', b'p', 8, 5, b'h', b'e', b'l',
    b'l', b'o', 10, 4, 0, 0, 0, 0, 34, 1, 0,
];
/// A frame without packet: an empty LpPacket (NDNLPv2), which NFD and ndnd accept as a sign of life.
const IDLE: &[u8] = &[typ::LP_PACKET as u8, 0];
/// Bytes by which a packet grows that would be bare without its tag.
const WRAPPING_BYTES: usize = 8;
/// Bytes of the RttReduction field.
const REDUCTION_BYTES: usize = 12;

/// Fragmentation of one face.
#[derive(Debug)]
pub(super) struct Wire {
    fragmenter: Fragmenter,
    /// Known properties of the path, if there is a path that may be narrower than the first link.
    path: Option<Path>,
    reassembler: Reassembler,
    /// Fragments dropped and not yet reported.
    discarded: u64,
    /// Length of the driver's send queue as last reported, and bytes sent since.
    backlog_bytes: u64,
    provisional: bool,
}

impl Medium for Wire {
    type Held = Piece;
}

/// Limits of incomplete packets on a face. Any peer may open a thousand faces and has only Interests to send: one at
/// a time, while none is answered.
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
            path: Path::may_be_narrow(mtu, attributes).then(Path::default),
            reassembler: Reassembler::new(reassembly(attributes)),
            discarded: 0,
            backlog_bytes: 0,
            provisional: attributes.provisional,
        }
    }

    /// Changes the MTU and the limits of incomplete packets.
    pub(super) fn change(&mut self, mtu: usize, attributes: &FaceAttributes) {
        self.fragmenter.set_mtu(self.path.as_ref().map_or(mtu, |path| path.limit(mtu)));
        if self.provisional != attributes.provisional {
            self.provisional = attributes.provisional;
            self.reassembler.set_limits(reassembly(attributes));
        }
    }

    /// Sets the length of the driver's send queue.
    pub(super) fn set_backlog(&mut self, bytes: u64) {
        self.backlog_bytes = bytes;
    }

    /// Adds bytes sent to the driver.
    fn add_backlog(&mut self, bytes: usize) {
        self.backlog_bytes += bytes as u64;
    }

    /// Records a packet that is about to be sent. If the path turns out to drop long frames, further ones are short.
    #[inline]
    fn watch(&mut self, packet: &Packet) {
        if let (Some(path), Body::Data(data)) = (&mut self.path, &packet.body)
            && path.sends(data.name_value(), packet.bytes())
        {
            self.fragmenter.set_mtu(path.limit(self.fragmenter.mtu()));
        }
    }

    /// Accepts a decoded frame; returns the network packet that it completes.
    ///
    /// # Errors
    /// The frame is a fragment that is not needed.
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
        Ok(whole.map(|(header, packet)| Whole { header, packet }))
    }

    /// Drops incomplete packets whose timeout has expired.
    pub(super) fn expire(&mut self, now: Instant) {
        self.reassembler.expire(now);
        self.count_discarded();
    }

    /// Drops all incomplete packets; returns the number of their fragments.
    pub(super) fn give_up(&mut self) -> u64 {
        self.expire(Instant::MAX);
        self.take_discarded()
    }

    /// Time at which the next incomplete packet expires.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.reassembler.deadline()
    }

    /// Fragments dropped since the last call.
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

    /// Encodes an outgoing frame.
    fn write(&mut self, frame: &LpPacket) -> Bytes {
        let bytes = self.fragmenter.encode(frame);
        self.add_backlog(bytes.len());
        bytes
    }
}

/// A packet or a fragment, before it is encoded.
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

    /// The frame of the first transmission.
    fn into_frame(self, link: &mut Wire, tag: &Tag) -> Frame {
        match tag.only_label() {
            Some(label) => self.numbered(link, label),
            None => link.write(&self.tagged(tag)).into(),
        }
    }

    /// The frame of the first transmission with a number only.
    #[inline]
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

    /// The frame of a retransmission, `waited` after the first transmission; Data carries that time if it fits.
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

/// A control frame between the ends of a link.
fn control(tag: &Tag, packet: Option<&'static [u8]>) -> LpPacket {
    let mut header = LpHeader::default();
    tag.write(&mut header);
    LpPacket { header, fragment: packet.map(Bytes::from_static) }
}

impl Service<Wire> {
    /// Sends a packet; returns whether it was marked for congestion.
    ///
    /// # Errors
    /// The packet does not fit the frames of the link, even in fragments.
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
        if packet.kind() == Kind::Idle {
            if let Some(recovery) = &mut self.recovery {
                recovery.sends(now, FrameKind::Data);
                recovery.arm(id, &mut shared.timers);
            }
            self.medium.backlog_bytes += IDLE.len() as u64;
            counters.out_bytes += IDLE.len() as u64;
            outputs.push_back(Output::Send { face: id, frame: Bytes::from_static(IDLE).into() });
            return Ok(false);
        }
        self.medium.watch(packet);
        if self.recovery.is_some() {
            return self.send_recovering(now, id, packet, counters, shared, outputs);
        }
        self.send_plain(now, id, packet, counters, shared, outputs)
    }

    /// As [`send`](Self::send), without recovery.
    #[inline]
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
            counters.out_bytes += frame.len() as u64;
            outputs.push_back(Output::Send { face: id, frame: frame.into() });
        };
        if wire.len() <= self.medium.fragmenter.mtu() && !packet.has_link_fields() {
            push(wire);
            return Ok(marked);
        }
        let cut = self.medium.fragmenter.fragment(packet.link_header(), wire, push);
        cut.map(|()| marked).map_err(|_| DropReason::TooLong)
    }

    #[inline]
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
        recovery.sends(now, kind);
        if recovery.end.leaves_plain(now, kind) {
            recovery.arm(id, &mut shared.timers);
            return self.send_plain(now, id, packet, counters, shared, outputs);
        }
        recovery.packets += 1;
        let (number, tag_bytes) = (recovery.packets, recovery.end.tag_bytes());
        let wire = shared.wires.held(packet);
        let marked = self.mark_queued(now, packet);
        let Self { medium: link, recovery: Some(recovery), .. } = self else {
            return Err(DropReason::NoFace);
        };
        let mtu = link.mtu();
        let describe = |bytes: usize, alone| {
            let free_bytes = mtu.saturating_sub(bytes + tag_bytes + WRAPPING_BYTES);
            Sending { kind, bytes: bytes as u32, lifetime, packet: number, alone, free_bytes }
        };
        let mut push = |frame: Frame| {
            counters.out_bytes += frame.len() as u64;
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
            let cut =
                link.fragmenter.fragment_with_space(header, wire, tag_bytes, |it| pieces.push(it));
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
            // After all other frames of this instant: between equally long frames it would end their batch.
            recovery.wake(id, &mut shared.timers, now);
        } else {
            recovery.arm(id, &mut shared.timers);
        }
        Ok(marked)
    }

    /// Receives a packet with a number at most, on a link with recovery; leaves the packet in `frame`. `None` for any other
    /// frame.
    #[inline]
    pub(super) fn receive_lean(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: &mut Bytes,
        timers: &mut Timers,
    ) -> Option<Lean> {
        let recovery = self.recovery.as_mut()?;
        let arrival = if LpPacket::is_bare(frame) {
            recovery.end.receive(now, &Tag::default(), true)
        } else {
            let (label, packet_at) = lean::read(frame)?;
            frame.advance(packet_at);
            recovery.end.numbered(now, label)
        };
        recovery.receives(now, true);
        let drains = recovery.end.waits();
        if !drains {
            recovery.arm(id, timers);
        }
        Some(Lean { is_duplicate: arrival == Arrival::Duplicate, drains })
    }

    /// The network packet that a frame with a link header completes.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        id: FaceId,
        sender: u64,
        frame: Bytes,
        timers: &mut Timers,
    ) -> Received {
        if self.recovery.is_some() {
            return self.receive_tagged(now, id, frame, timers);
        }
        let read = LpPacket::decode(frame).map_err(|_| DropReason::Malformed);
        let whole = read.and_then(|frame| self.medium.accept(now, sender, frame));
        Received::of(whole)
    }

    /// As [`receive`](Self::receive), on a link with recovery.
    fn receive_tagged(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: Bytes,
        timers: &mut Timers,
    ) -> Received {
        let Ok(mut frame) = LpPacket::decode(frame) else {
            return Received::of(Err(DropReason::Malformed));
        };
        let (mut drains, mut replaced) = (false, None);
        if let Some(recovery) = &mut self.recovery {
            let tag = Tag::take(&mut frame.header);
            let greets = tag.notice.is_some() && frame.fragment.as_deref() == Some(GREETING);
            frame.fragment = frame.fragment.filter(|_| !greets);
            let arrival = recovery.end.receive(now, &tag, frame.fragment.is_some());
            replaced = recovery.receives_control(now, frame.fragment.is_some());
            drains = recovery.end.waits();
            if !drains {
                recovery.arm(id, timers);
            }
            if arrival == Arrival::Duplicate {
                return Received { whole: Err(DropReason::Repeated), drains, replaced };
            }
        }
        Received { whole: self.medium.accept(now, 0, frame), drains, replaced }
    }

    /// A queue of this machine dropped a frame.
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

    /// Sends the frames of the recovery; returns lost packets that it does not resend. A single fragment does not
    /// identify its packet.
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
            counters.out_bytes += frame.len() as u64;
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
    fn greeting_carries_an_interest_without_hops() {
        let interest = Interest::decode(Bytes::from_static(GREETING)).unwrap();
        assert_eq!(interest.name.to_string(), "/localhop/hello");
        assert_eq!((interest.hop_limit, interest.nonce), (Some(0), Some(0)));
    }
}
