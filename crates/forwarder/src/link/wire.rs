//! Recovery at faces that carry frames of octets.
//!
//! As long as nothing is lost a frame is a number and a packet. That one is written and read without the detour over a link
//! header, and without copying the packet: it costs what the numbers cost.
use super::{End, Guards};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::frame::Frame;
use crate::link::{Link, Sent, WireLink};
use crate::node::{Node, Output};
use crate::packet::Packet;
use bytes::{Buf, Bytes};
use recoup_packet::lp::{LpHeader, LpPacket, field};
use recoup_packet::tlv::typ;
use recoup_transport::link::LinkRecovery;
use recoup_transport::link::recovery::{Arrival, Label, Outgoing, Sending, Tag, lean};
use recoup_transport::time::{Duration, Instant};

/// What a greeting carries: an Interest for `/localhop/hello` that may take no hop, so that everybody discards it.
pub(super) const GREETING: &[u8] = &[
    5, 28, 7, 17, 8, 8, b'l', b'o', b'c', b'a', b'l', b'h', b'o', b'p', 8, 5, b'h', b'e', b'l',
    b'l', b'o', 10, 4, 0, 0, 0, 0, 34, 1, 0,
];
/// Octets by which a packet grows that would travel bare but for its tag.
const WRAPPING_OCTETS: usize = 8;
/// Octets of the field that says by how much a recovery lengthened a round trip.
const REDUCTION_OCTETS: usize = 12;

/// Why a frame is not just a number and a packet that goes on.
#[derive(Debug)]
pub(crate) enum Lean {
    /// It is another frame.
    Other(Bytes),
    /// Its packet goes no further.
    Dropped(DropReason),
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
    fn into_frame(self, link: &mut WireLink, tag: &Tag) -> Frame {
        match tag.only_label() {
            Some(label) => self.numbered(link, label),
            None => link.write(&self.tagged(tag)).into(),
        }
    }

    /// As it leaves for the first time with nothing but a number.
    fn numbered(self, link: &mut WireLink, label: Label) -> Frame {
        match lean::Head::new(label, self.fragment.len()).filter(|_| self.header.is_none()) {
            Some(head) => {
                let frame = Frame::new(head, self.fragment);
                link.note_backlog(frame.len());
                frame
            }
            None => link.write(&self.tagged(&Tag::label(label))).into(),
        }
    }

    /// As it leaves once more, `waited` after the first time; Data says how long that was, if there is room for it.
    fn again(self, link: &mut WireLink, tag: &Tag, waited: Duration) -> Frame {
        let begins_data = self.fragment.first().is_some_and(|it| u64::from(*it) == typ::DATA);
        let mut frame = self.tagged(tag);
        let is_first = frame.header.frag_index.unwrap_or(0) == 0;
        if begins_data && is_first && frame.encoded_len() + REDUCTION_OCTETS <= link.mtu() {
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

impl Guards {
    fn wire(&mut self, id: FaceId) -> Option<&mut dyn LinkRecovery<Piece>> {
        match &mut self.up_at(id)?.end {
            End::Wire(end) => Some(end.as_mut()),
            End::Value(_) => None,
        }
    }
}

impl Node {
    /// The frames of a packet leave by a wire face with recovery.
    pub(crate) fn send_guarded(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: &mut Packet,
    ) -> Result<Sent, DropReason> {
        let Guards { guards, due, .. } = &mut self.guards;
        let (Some(face), Some(guard)) = (self.faces.get_mut(id), guards.get_mut(&id)) else {
            return Err(DropReason::NoFace);
        };
        let (Link::Wire(link), End::Wire(end)) = (&mut face.link, &mut guard.end) else {
            return Err(DropReason::NoFace);
        };
        let (kind, lifetime) = packet.worth();
        if packet.retransmits() {
            end.retransmits();
        }
        if end.leaves_plain(now, kind) {
            let (outputs, counters) = (&mut self.outbox.outputs, &mut face.counters);
            let push = |frame: Bytes| {
                counters.out_octets += frame.len() as u64;
                outputs.push_back(Output::Send { face: id, frame: frame.into() });
            };
            return link.send(now, packet, &mut self.wires, push);
        }
        guard.packets += 1;
        let tag_octets = end.tag_octets();
        let (wire, sent) = link.begin(now, packet, &mut self.wires);
        let mut sending = Sending {
            kind,
            octets: 0,
            lifetime,
            packet: guard.packets,
            alone: true,
            room_octets: 0,
        };
        let mtu = link.mtu();
        let mut describe = |octets: usize| {
            sending.octets = octets as u32;
            sending.room_octets = mtu.saturating_sub(octets + tag_octets + WRAPPING_OCTETS);
            sending
        };
        if !packet.has_link_fields() && wire.len() + tag_octets + WRAPPING_OCTETS <= mtu {
            let sending = describe(wire.len());
            let piece = Piece { header: None, fragment: wire };
            let frame = match end.number(now, &piece, &sending) {
                Some(label) => piece.numbered(link, label),
                None => {
                    let tag = end.send(now, &piece, &sending);
                    piece.into_frame(link, &tag)
                }
            };
            face.counters.out_octets += frame.len() as u64;
            self.outbox.outputs.push_back(Output::Send { face: id, frame });
        } else {
            let mut pieces = Vec::new();
            link.cut(packet.link_header(), wire, tag_octets, |it| pieces.push(it))?;
            let alone = pieces.len() == 1;
            for frame in pieces {
                let sending = Sending { alone, ..describe(frame.encoded_len()) };
                let piece = Piece::new(frame);
                let tag = end.send(now, &piece, &sending);
                let frame = piece.into_frame(link, &tag);
                face.counters.out_octets += frame.len() as u64;
                self.outbox.outputs.push_back(Output::Send { face: id, frame });
            }
        }
        if end.waits() {
            // Behind everything else that leaves at this instant: between equally long frames it would end their batch.
            guard.wake(id, due, now);
        } else {
            guard.note(id, due);
        }
        Ok(sent)
    }

    /// A packet came bare by a wire face with recovery.
    pub(crate) fn receive_bare(&mut self, now: Instant, id: FaceId) -> Result<(), DropReason> {
        self.hear(now, id, |end| end.receive(now, &Tag::default(), true))
    }

    /// A frame came by a wire face with recovery: its packet, if it is that and a number.
    pub(crate) fn receive_lean(
        &mut self,
        now: Instant,
        id: FaceId,
        mut frame: Bytes,
    ) -> Result<Bytes, Lean> {
        let Some((label, packet_at)) = lean::read(&frame) else {
            return Err(Lean::Other(frame));
        };
        self.hear(now, id, |end| end.numbered(now, label)).map_err(Lean::Dropped)?;
        frame.advance(packet_at);
        Ok(frame)
    }

    /// A frame came by a wire face with recovery: the network packet that it completes.
    pub(crate) fn receive_guarded(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, DropReason> {
        let mut packet = LpPacket::decode(frame).map_err(|_| DropReason::Malformed)?;
        if self.guards.wire(id).is_some() {
            let tag = Tag::take(&mut packet.header);
            let greets = tag.notice.is_some() && packet.fragment.as_deref() == Some(GREETING);
            packet.fragment = packet.fragment.filter(|_| !greets);
            let carries = packet.fragment.is_some();
            self.hear(now, id, |end| end.receive(now, &tag, carries))?;
        }
        match self.faces.get_mut(id).map(|face| &mut face.link) {
            Some(Link::Wire(link)) => link.accept(now, 0, packet),
            _ => Err(DropReason::NoFace),
        }
    }

    /// A frame was dropped by a queue of this machine: its recovery does not repair that.
    pub(crate) fn on_overflow(&mut self, id: FaceId, frame: Bytes) {
        let Some(end) = self.guards.wire(id) else {
            return;
        };
        let label = lean::read(&frame).map(|(label, _)| label).or_else(|| {
            let mut packet = LpPacket::decode(frame).ok()?;
            Tag::take(&mut packet.header).label
        });
        if let Some(label) = label {
            end.dropped(label);
            self.guards.note(id);
        }
    }

    /// A frame came, perhaps with a packet, which may have come before: the recovery of its face is `told`.
    fn hear(
        &mut self,
        now: Instant,
        id: FaceId,
        told: impl FnOnce(&mut dyn LinkRecovery<Piece>) -> Arrival,
    ) -> Result<(), DropReason> {
        let Guards { guards, due, .. } = &mut self.guards;
        let Some(guard) = guards.get_mut(&id).filter(|guard| !guard.down) else {
            return Ok(());
        };
        let End::Wire(end) = &mut guard.end else {
            return Ok(());
        };
        let arrival = told(end.as_mut());
        if end.waits() {
            self.drain_guard(now, id);
        } else {
            guard.note(id, due);
        }
        if arrival == Arrival::Duplicate { Err(DropReason::Repeated) } else { Ok(()) }
    }

    /// A frame was lost and is not sent again. Of a packet in pieces nobody is told: one piece does not say whose it is.
    fn give_up(&mut self, now: Instant, id: FaceId, piece: Piece) {
        let whole = piece.header.is_none_or(|header| header.frag_count.is_none());
        if whole {
            self.tell_of_lost_octets(now, id, piece.fragment);
        } else {
            self.outbox.discard(id, None, DropReason::LinkLoss);
        }
    }

    pub(super) fn drain_wire(&mut self, now: Instant, id: FaceId) {
        let (Some(face), Some(end)) = (self.faces.get_mut(id), self.guards.wire(id)) else {
            return;
        };
        let Link::Wire(link) = &mut face.link else {
            return;
        };
        while let Some(next) = end.poll(now) {
            let frame = match next {
                Outgoing::Again { frame, tag, waited } => frame.again(link, &tag, waited),
                Outgoing::Control(tag) => link.write(&control(&tag, None)).into(),
                Outgoing::Greeting(tag) => link.write(&control(&tag, Some(GREETING))).into(),
            };
            face.counters.out_octets += frame.len() as u64;
            self.outbox.outputs.push_back(Output::Send { face: id, frame });
        }
        let mut lost = Vec::new();
        while let Some(piece) = end.poll_lost() {
            lost.push(piece);
        }
        for piece in lost {
            self.give_up(now, id, piece);
        }
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
