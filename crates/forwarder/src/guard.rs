//! Links that send again what they lose: the recovery at each face that has one.
//!
//! Recovery stands below everything else of a link: a packet is numbered at the moment at which its frame leaves, after
//! queue and marks, and what comes is judged before it is read. What is kept of a permanent face outlives its going down,
//! so that a neighbour that is found again is asked for what was lost meanwhile.
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceForm, FaceId};
use crate::link::{Link, Sent};
use crate::node::{Node, Output};
use crate::packet::{Body, Packet};
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, LpPacket, field};
use recoup_transport::link::recovery::{Arrival, Counters, Outgoing, Sending, Tag};
use recoup_transport::link::{LinkRecovery, Recovery};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// The recovery at faces that have one.
#[derive(Debug, Default)]
pub(crate) struct Guards {
    guards: BTreeMap<FaceId, Guard>,
    /// When which of them has something to do.
    due: BTreeSet<(Instant, FaceId)>,
    /// What guards did that are gone.
    past: Counters,
    /// How many there were: each draws a session of its own.
    made: u64,
}

/// The recovery at one face.
#[derive(Debug)]
struct Guard {
    recovery: Recovery,
    end: End,
    down: bool,
    /// As it stands in [`Guards::due`].
    due: Option<Instant>,
    /// How many packets left.
    packets: u64,
}

/// One end of a link, with what it holds.
#[derive(Debug)]
enum End {
    Wire(Box<dyn LinkRecovery<Piece>>),
    Value(Box<dyn LinkRecovery<Packet>>),
}

/// Calls a method that both kinds of ends have.
macro_rules! end {
    ($end:expr, $it:ident => $call:expr) => {
        match $end {
            End::Wire($it) => $call,
            End::Value($it) => $call,
        }
    };
}

/// A packet or a piece of one, before it is written to a frame.
#[derive(Clone, Debug)]
struct Piece {
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
}

impl Guards {
    /// Whether no face has one, which is all that others pay then.
    pub(crate) fn is_empty(&self) -> bool {
        self.guards.is_empty()
    }

    /// Whether this face has one.
    pub(crate) fn has(&self, face: FaceId) -> bool {
        !self.is_empty() && self.guards.contains_key(&face)
    }

    /// When one of them has something to do.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|(due, _)| *due)
    }

    /// What the recovery of a face did so far.
    pub(crate) fn counters(&self, face: FaceId) -> Option<Counters> {
        self.guards.get(&face).map(|guard| end!(&guard.end, it => it.counters()))
    }

    /// A face is up; `rng` gives the session of a guard that it has for the first time.
    fn up(&mut self, now: Instant, id: FaceId, attributes: &FaceAttributes, rng: &Rng) {
        let recovery = attributes.recovery;
        if recovery.is_off() {
            return self.remove(id);
        }
        let same = |guard: &Guard| guard.recovery == recovery && guard.end.fits(attributes.form);
        if !self.guards.get(&id).is_some_and(same) {
            self.remove(id);
            let rng = rng.substream(&format!("recovery/{}", self.made));
            self.made += 1;
            let end = match attributes.form {
                FaceForm::Wire { .. } => End::Wire(recovery.build(rng)),
                FaceForm::Value { .. } => End::Value(recovery.build(rng)),
            };
            self.guards.insert(id, Guard { recovery, end, down: false, due: None, packets: 0 });
        }
        if let Some(guard) = self.guards.get_mut(&id)
            && std::mem::take(&mut guard.down)
        {
            end!(&mut guard.end, it => it.link_up(now));
        }
    }

    /// A face is down; what is known of its link is kept if it may come up again.
    fn down(&mut self, now: Instant, id: FaceId, keep: bool) {
        if !keep {
            return self.remove(id);
        }
        if let Some(guard) = self.guards.get_mut(&id) {
            guard.down = true;
            end!(&mut guard.end, it => it.link_down(now));
        }
        self.note(id);
    }

    fn remove(&mut self, id: FaceId) {
        let Some(guard) = self.guards.remove(&id) else {
            return;
        };
        guard.due.map(|due| self.due.remove(&(due, id)));
        let all = end!(&guard.end, it => it.counters());
        // What it held is lost with it.
        let given_up = all.given_up + all.held;
        self.past += Counters { given_up, held: 0, held_octets: 0, ..all };
    }

    /// Notes anew when a guard has something to do.
    fn note(&mut self, id: FaceId) {
        let Some(guard) = self.guards.get_mut(&id) else {
            return;
        };
        let due = end!(&guard.end, it => it.deadline());
        if due != guard.due {
            guard.due.map(|before| self.due.remove(&(before, id)));
            due.map(|due| self.due.insert((due, id)));
            guard.due = due;
        }
    }

    /// The guard of a face that is up.
    fn up_at(&mut self, id: FaceId) -> Option<&mut Guard> {
        self.guards.get_mut(&id).filter(|guard| !guard.down)
    }

    fn wire(&mut self, id: FaceId) -> Option<&mut dyn LinkRecovery<Piece>> {
        match &mut self.up_at(id)?.end {
            End::Wire(end) => Some(end.as_mut()),
            End::Value(_) => None,
        }
    }

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

/// Frames of value faces take acknowledgements up to this length.
const VALUE_OCTETS: usize = 1_400;

impl End {
    fn fits(&self, form: FaceForm) -> bool {
        matches!(
            (self, form),
            (Self::Wire(_), FaceForm::Wire { .. }) | (Self::Value(_), FaceForm::Value { .. })
        )
    }
}

impl Node {
    /// What the recovery of a face did so far; `None` if it has none.
    #[must_use]
    pub fn recovery(&self, face: FaceId) -> Option<Counters> {
        self.guards.counters(face)
    }

    /// What the recoveries of all faces did so far, past ones included; `None` if there never was one.
    #[must_use]
    pub fn recovered(&self) -> Option<Counters> {
        let mut all = self.guards.past;
        for guard in self.guards.guards.values() {
            all += end!(&guard.end, it => it.counters());
        }
        (!self.guards.is_empty() || all != Counters::default()).then_some(all)
    }

    pub(crate) fn guard_up(&mut self, now: Instant, id: FaceId, attributes: &FaceAttributes) {
        self.guards.up(now, id, attributes, &self.rng);
        self.drain_guard(now, id);
    }

    pub(crate) fn guard_down(&mut self, now: Instant, id: FaceId, keep: bool) {
        self.guards.down(now, id, keep);
    }

    /// Does what is due at one face; `false` if nothing is.
    pub(crate) fn fire_guard(&mut self, now: Instant) -> bool {
        match self.guards.due.first() {
            Some(&(due, id)) if due <= now => {
                if let Some(guard) = self.guards.guards.get_mut(&id) {
                    end!(&mut guard.end, it => it.fire(now));
                }
                self.drain_guard(now, id);
                true
            }
            _ => false,
        }
    }

    // --- wire faces -----------------------------------------------------------------------------

    /// The frames of a packet leave by a wire face with recovery.
    pub(crate) fn send_guarded(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: &mut Packet,
    ) -> Result<Sent, DropReason> {
        let (Some(face), Some(guard)) = (self.faces.get_mut(id), self.guards.guards.get_mut(&id))
        else {
            return Err(DropReason::NoFace);
        };
        let (Link::Wire(link), End::Wire(end)) = (&mut face.link, &mut guard.end) else {
            return Err(DropReason::NoFace);
        };
        let counters = &mut face.counters;
        let (kind, lifetime) = packet.worth();
        let room_octets = end.tag_octets();
        let mut pieces = Vec::new();
        let sent = link.cut(now, packet, &mut self.pool, room_octets, |it| pieces.push(it))?;
        guard.packets += 1;
        let alone = pieces.len() == 1;
        for frame in pieces {
            let octets = frame.encoded_len();
            let room_octets = link.mtu().saturating_sub(octets + room_octets + WRAPPING_OCTETS);
            let sending = Sending {
                kind,
                octets: octets as u32,
                lifetime,
                packet: guard.packets,
                alone,
                room_octets,
            };
            let piece = Piece::new(frame);
            let tag = end.send(now, &piece, &sending);
            let frame = link.write(&piece.tagged(&tag));
            counters.out_octets += frame.len() as u64;
            self.outbox.outputs.push_back(Output::Send { face: id, frame });
        }
        self.guards.note(id);
        Ok(sent)
    }

    /// A frame came by a wire face, which may have recovery: the network packet that it completes.
    pub(crate) fn receive_guarded(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, DropReason> {
        let mut packet = LpPacket::decode(frame).map_err(|_| DropReason::Malformed)?;
        if let Some(end) = self.guards.wire(id) {
            let tag = Tag::take(&mut packet.header);
            let arrival = end.receive(now, &tag, packet.fragment.is_some());
            self.drain_guard(now, id);
            if arrival == Arrival::Duplicate {
                return Err(DropReason::Repeated);
            }
        }
        match self.faces.get_mut(id).map(|face| &mut face.link) {
            Some(Link::Wire(link)) => link.accept(now, packet),
            _ => Err(DropReason::NoFace),
        }
    }

    // --- value faces ----------------------------------------------------------------------------

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
            self.drain_guard(now, id);
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
            Outgoing::Control(tag) => Some(Packet::idle(tag)),
            Outgoing::Again { frame: mut packet, tag, waited } => {
                self.trace_is_copied(packet.trace(), 1);
                prolong(&mut packet, waited);
                packet.hop.extra_mut().tag = Some(Box::new(tag));
                Some(packet)
            }
        }
    }

    /// Whether the recovery of a face waits for it.
    fn guard_waits(&self, id: FaceId) -> bool {
        let guard = self.guards.guards.get(&id);
        guard.is_some_and(|guard| end!(&guard.end, it => it.waits()))
    }

    // --- both -----------------------------------------------------------------------------------

    /// Lets leave what may leave, and accounts for what will not leave any more.
    fn drain_guard(&mut self, now: Instant, id: FaceId) {
        match self.guards.guards.get(&id).map(|guard| &guard.end) {
            Some(End::Wire(_)) => self.drain_wire(now, id),
            Some(End::Value(_)) => self.drain_value(now, id),
            None => return,
        }
        self.guards.note(id);
    }

    fn drain_wire(&mut self, now: Instant, id: FaceId) {
        let (Some(face), Some(end)) = (self.faces.get_mut(id), self.guards.wire(id)) else {
            return;
        };
        let Link::Wire(link) = &mut face.link else {
            return;
        };
        while let Some(next) = end.poll(now) {
            let frame = match next {
                Outgoing::Again { frame, tag, .. } => frame.tagged(&tag),
                Outgoing::Control(tag) => {
                    let mut header = LpHeader::default();
                    tag.write(&mut header);
                    LpPacket { header, fragment: None }
                }
            };
            let frame = link.write(&frame);
            face.counters.out_octets += frame.len() as u64;
            self.outbox.outputs.push_back(Output::Send { face: id, frame });
        }
        while end.poll_lost().is_some() {
            self.outbox.discard(id, None, DropReason::LinkLoss);
        }
    }

    fn drain_value(&mut self, now: Instant, id: FaceId) {
        while let Some(packet) = self.guards.value(id).and_then(|end| end.poll_lost()) {
            // Its tokens died with the frame that was lost.
            self.outbox.discard(id, packet.kind(), DropReason::LinkLoss);
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

/// Octets by which a packet grows that would travel bare but for its tag.
const WRAPPING_OCTETS: usize = 8;

/// Says on Data by how much a recovery lengthened its round trip.
fn prolong(packet: &mut Packet, waited: Duration) {
    if matches!(packet.body, Body::Data(_)) {
        let carried = &mut packet.hop.extra_mut().carried;
        let before = field::time(carried, field::RTT_REDUCTION).unwrap_or_default();
        field::set_time(carried, field::RTT_REDUCTION, before.saturating_add(waited));
    }
}
