//! Recovery at faces that carry packets as values.
use super::{End, Guards};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::link::Link;
use crate::node::{Node, Output};
use crate::packet::{Body, Packet};
use recoup_packet::lp::field;
use recoup_transport::link::LinkRecovery;
use recoup_transport::link::recovery::{Arrival, Outgoing, Sending};
use recoup_transport::time::{Duration, Instant};

/// Frames of value faces take acknowledgements up to this length.
const VALUE_OCTETS: usize = 1_400;

impl Guards {
    fn value(&mut self, id: FaceId) -> Option<&mut dyn LinkRecovery<Packet>> {
        match &mut self.up_at(id)?.end {
            End::Value(end) => Some(end.as_mut()),
            End::Wire(_) => None,
        }
    }

    /// A packet leaves by a value face: it gets its number, if the face has a guard.
    #[inline]
    pub(crate) fn tag(&mut self, now: Instant, id: FaceId, packet: Packet) -> Packet {
        if self.is_empty() { packet } else { self.number(now, id, packet) }
    }

    fn number(&mut self, now: Instant, id: FaceId, mut packet: Packet) -> Packet {
        let Some(guard) = self.guards.get_mut(&id) else {
            return packet;
        };
        guard.packets += 1;
        let number = guard.packets;
        if let End::Value(end) = &mut guard.end {
            let (kind, lifetime) = packet.worth();
            if packet.retransmits() {
                end.retransmits();
            }
            let octets = packet.octets();
            // A value has no MTU; room for acknowledgements as in a common frame.
            let room_octets = VALUE_OCTETS.saturating_sub(octets);
            let octets = octets as u32;
            let sending =
                Sending { kind, octets, lifetime, packet: number, alone: true, room_octets };
            let tag = end.send(now, &packet, &sending);
            if !tag.is_empty() {
                packet.hop.extra_mut().tag = Some(Box::new(tag));
            }
        }
        self.note(id);
        packet
    }
}

impl Node {
    /// A packet came by a value face.
    #[inline]
    pub(crate) fn on_packet(&mut self, now: Instant, id: FaceId, packet: Packet) {
        if self.guards.is_empty() {
            return self.receive(now, id, packet);
        }
        if let Some(packet) = self.unguard(now, id, packet) {
            self.receive(now, id, packet);
        }
    }

    /// A packet came by a value face, which may have recovery; `None` if it goes no further.
    fn unguard(&mut self, now: Instant, id: FaceId, mut packet: Packet) -> Option<Packet> {
        let carries = !matches!(packet.body, Body::Idle);
        if let Some(end) = self.guards.value(id) {
            let tag = packet.hop.extra.as_mut().and_then(|extra| extra.tag.take());
            let arrival = end.receive(now, &tag.unwrap_or_default(), carries);
            if end.waits() {
                self.drain_guard(now, id);
            } else {
                self.guards.note(id);
            }
            if arrival == Arrival::Duplicate {
                self.discard_packet(id, packet, DropReason::Repeated);
                return None;
            }
        }
        carries.then_some(packet)
    }

    /// What the recovery of a value face sends before anything else, now that the face may send.
    fn next_guarded(&mut self, now: Instant, id: FaceId) -> Option<Packet> {
        let next = self.guards.value(id)?.poll(now);
        self.guards.note(id);
        match next? {
            Outgoing::Control(tag) | Outgoing::Greeting(tag) => Some(Packet::idle(tag)),
            Outgoing::Again { frame: mut packet, tag, waited } => {
                self.trace_is_copied(packet.trace(), 1);
                prolong(&mut packet, waited);
                packet.hop.extra_mut().tag = Some(Box::new(tag));
                Some(packet)
            }
        }
    }

    pub(super) fn drain_value(&mut self, now: Instant, id: FaceId) {
        while let Some(packet) = self.guards.value(id).and_then(|end| end.poll_lost()) {
            // Its tokens died with the frame that was lost.
            self.outbox.discard(id, packet.kind(), DropReason::LinkLoss);
            self.tell_of_loss(now, id, &packet.body);
        }
        if !self.guard_waits(id) {
            return;
        }
        let Some(Link::Value(link)) = self.faces.get_mut(id).map(|face| &mut face.link) else {
            return;
        };
        if link.is_ready(now) {
            self.lead_value(now, id);
        } else if link.ask() {
            self.outbox.outputs.push_back(Output::Wants { face: id });
        }
    }

    /// What recovery has to send leaves by a value face that may send; `false` if there is nothing.
    pub(crate) fn lead_value(&mut self, now: Instant, id: FaceId) -> bool {
        let Some(packet) = self.next_guarded(now, id) else {
            return false;
        };
        let more = self.guard_waits(id);
        self.outbox.outputs.push_back(Output::Transmit { face: id, packet });
        if let Some(Link::Value(link)) = self.faces.get_mut(id).map(|face| &mut face.link)
            && link.occupy(more)
        {
            self.outbox.outputs.push_back(Output::Wants { face: id });
        }
        true
    }
}

/// Says on Data by how much a recovery lengthened its round trip.
fn prolong(packet: &mut Packet, waited: Duration) {
    if matches!(packet.body, Body::Data(_)) {
        let carried = &mut packet.hop.extra_mut().carried;
        let before = field::time(carried, field::RTT_REDUCTION).unwrap_or_default();
        field::set_time(carried, field::RTT_REDUCTION, before.saturating_add(waited));
    }
}
