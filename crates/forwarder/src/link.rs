//! Links: what stands between the pipelines and the world at each network face.
//!
//! A *wire link* is the link service of NDNLPv2: incoming frames are decoded and joined, outgoing packets are marked,
//! encoded and cut. A *value link* holds the queue of its face: a packet leaves when the world is ready for it.
use crate::drop::DropReason;
use crate::face::{FaceAttributes, QueueLimit};
use crate::packet::{Packet, Wires};
use crate::shard::Worker;
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::tlv::MAX_PACKET_SIZE;
use recoup_transport::link::{Fragmenter, Marker, Reassembler, ReassemblyLimits};
use recoup_transport::queue::{Fifo, Load};
use recoup_transport::time::Instant;

/// The link of one face.
#[derive(Debug)]
pub(crate) enum Link {
    /// For frames.
    Wire(Box<WireLink>),
    /// For packets as values.
    Value(Box<ValueLink>),
    /// That of another worker, which has the face.
    Elsewhere(Worker),
}

impl Link {
    /// So much waits at the gate in front of the link, behind the packet that leaves next: it counts for marks as what
    /// waits in the link does.
    pub(crate) fn set_gated(&mut self, octets: u64) {
        match self {
            Self::Wire(link) => link.gated_octets = octets,
            Self::Value(link) => link.gated_octets = octets,
            Self::Elsewhere(_) => {}
        }
    }
}

/// What became of a packet that was to leave by a wire link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// It was marked for congestion.
    pub(crate) marked: bool,
}

/// A link for frames.
#[derive(Debug)]
pub(crate) struct WireLink {
    fragmenter: Fragmenter,
    reassembler: Reassembler,
    /// Fragments that were discarded and not yet accounted for.
    discarded: u64,
    marker: Option<Marker>,
    /// What the driver said to be waiting, and what it was given since.
    backlog_octets: u64,
    /// What waits at the gate.
    gated_octets: u64,
}

/// What incomplete packets may take on a face. Anybody may open a face toward us, a thousand of them,
/// and has only Interests to send; one at a time, as long as none is answered.
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

fn marker(attributes: &FaceAttributes) -> Option<Marker> {
    attributes.marking.map(Marker::new)
}

impl WireLink {
    pub(crate) fn new(mtu: usize, attributes: &FaceAttributes) -> Self {
        Self {
            fragmenter: Fragmenter::new(mtu, 0),
            reassembler: Reassembler::new(reassembly(attributes)),
            discarded: 0,
            marker: marker(attributes),
            backlog_octets: 0,
            gated_octets: 0,
        }
    }

    /// The face carries longer or shorter frames from now on.
    pub(crate) fn set_mtu(&mut self, mtu: usize) {
        self.fragmenter.set_mtu(mtu);
    }

    /// Packets that leave are marked otherwise from now on.
    pub(crate) fn set_marking(&mut self, attributes: &FaceAttributes) {
        self.marker = marker(attributes);
    }

    /// More or fewer incomplete packets may be held from now on.
    pub(crate) fn set_reassembly(&mut self, attributes: &FaceAttributes) {
        self.reassembler.set_limits(reassembly(attributes));
    }

    /// What waits in the driver.
    pub(crate) fn set_backlog(&mut self, octets: u64) {
        self.backlog_octets = octets;
    }

    /// Takes a frame; returns the network packet that it completes, with its link fields.
    ///
    /// # Errors
    /// If it is no frame, or not a fragment that is needed.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        sender: u64,
        frame: Bytes,
    ) -> Result<Option<(LpHeader, Bytes)>, DropReason> {
        let packet = LpPacket::decode(frame).map_err(|_| DropReason::Malformed)?;
        self.accept(now, sender, packet)
    }

    /// Takes a frame that was read.
    ///
    /// # Errors
    /// If it is not a fragment that is needed.
    pub(crate) fn accept(
        &mut self,
        now: Instant,
        sender: u64,
        packet: LpPacket,
    ) -> Result<Option<(LpHeader, Bytes)>, DropReason> {
        let Some(fragment) = packet.fragment else {
            return Ok(None);
        };
        match packet.header.frag_count {
            None | Some(1) => Ok(Some((packet.header, fragment))),
            Some(_) => {
                let whole = self.reassembler.accept_from(now, sender, packet.header, fragment);
                self.count_discarded();
                whole.map_err(|_| DropReason::Fragment)
            }
        }
    }

    /// Discards incomplete packets that are too old.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.reassembler.expire(now);
        self.count_discarded();
    }

    /// Discards all incomplete packets; how many fragments that were.
    pub(crate) fn give_up(&mut self) -> u64 {
        self.expire(Instant::MAX);
        self.take_discarded()
    }

    /// Whether fragments were discarded that are not accounted for.
    pub(crate) fn has_discarded(&self) -> bool {
        self.discarded > 0
    }

    /// When the next incomplete packet is too old.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.reassembler.deadline()
    }

    /// How many fragments were discarded since this was last asked.
    pub(crate) fn take_discarded(&mut self) -> u64 {
        std::mem::take(&mut self.discarded)
    }

    fn count_discarded(&mut self) {
        let discarded = self.reassembler.take_discarded();
        self.discarded += discarded.expired + discarded.evicted;
    }

    /// Longest frame, octets.
    pub(crate) fn mtu(&self) -> usize {
        self.fragmenter.mtu()
    }

    /// A packet is to leave: its octets, which are to be [cut](Self::cut) where they do not fit one frame.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        packet: &mut Packet,
        wires: &mut Wires,
    ) -> (Bytes, Sent) {
        (wires.held(packet), self.mark(now, packet))
    }

    fn mark(&mut self, now: Instant, packet: &mut Packet) -> Sent {
        let octets = self.backlog_octets + self.gated_octets;
        Sent { marked: mark(&mut self.marker, now, packet, octets) }
    }

    /// Hands the frames of a packet to `out`, with room for some more octets of fields in each; they are to be
    /// [written](Self::write).
    ///
    /// # Errors
    /// If the packet does not fit the frames of the link, however it is cut.
    pub(crate) fn cut(
        &mut self,
        header: LpHeader,
        packet: Bytes,
        room_octets: usize,
        out: impl FnMut(LpPacket),
    ) -> Result<(), DropReason> {
        let cut = self.fragmenter.leave_room(header, packet, room_octets, out);
        cut.map_err(|_| DropReason::TooLong)
    }

    /// Writes a frame that leaves.
    pub(crate) fn write(&mut self, frame: &LpPacket) -> Bytes {
        let octets = self.fragmenter.encode(frame);
        self.note_backlog(octets.len());
        octets
    }

    /// The driver is given that many octets more.
    pub(crate) fn note_backlog(&mut self, octets: usize) {
        self.backlog_octets += octets as u64;
    }

    /// Hands the frames of a packet to `out`.
    ///
    /// # Errors
    /// If the packet does not fit the frames of the link, however it is cut.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        packet: &mut Packet,
        wires: &mut Wires,
        mut out: impl FnMut(Bytes),
    ) -> Result<Sent, DropReason> {
        let (wire, sent) = (wires.of(packet), self.mark(now, packet));
        let backlog = &mut self.backlog_octets;
        if wire.len() <= self.fragmenter.mtu() && !packet.has_link_fields() {
            *backlog += wire.len() as u64;
            out(wire);
            return Ok(sent);
        }
        let push = |frame: Bytes| {
            *backlog += frame.len() as u64;
            out(frame);
        };
        let cut = self.fragmenter.fragment(packet.link_header(), wire, push);
        cut.map(|()| sent).map_err(|_| DropReason::TooLong)
    }
}

/// Marks a packet if the queue that it joins, which holds `octets`, has been too long for too long.
fn mark(marker: &mut Option<Marker>, now: Instant, packet: &mut Packet, octets: u64) -> bool {
    let marks = marker.as_mut().is_some_and(|marker| marker.on_enqueue(now, octets));
    if marks {
        packet.hop.congestion_mark = packet.hop.congestion_mark.saturating_add(1);
    }
    marks
}

/// A link for packets as values.
#[derive(Debug)]
pub(crate) struct ValueLink {
    queue: Fifo<Packet>,
    /// From when on the world takes a packet at once, if none waits.
    ready_from: Instant,
    /// The world knows that something waits.
    asked: bool,
    marker: Option<Marker>,
    /// What waits at the gate.
    gated_octets: u64,
}

/// What waits in the queue of a value face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Packets.
    pub packets: u64,
    /// Octets, link header included.
    pub octets: u64,
}

/// What becomes of a packet that is to leave by a value link.
#[derive(Debug)]
pub(crate) enum Enqueued {
    /// It leaves at once.
    Leaves {
        /// The packet.
        packet: Packet,
        /// It was marked for congestion.
        marked: bool,
    },
    /// It waits.
    Waits {
        /// The world must be told that something waits.
        wants: bool,
        /// It was marked for congestion.
        marked: bool,
    },
    /// There is no room for it.
    Full(Packet),
}

impl ValueLink {
    pub(crate) fn new(queue: QueueLimit, attributes: &FaceAttributes) -> Self {
        let marker = marker(attributes);
        let (ready_from, gated_octets) = (Instant::ZERO, 0);
        Self { queue: Fifo::new(queue), ready_from, asked: false, marker, gated_octets }
    }

    /// The queue holds more or less from now on; what waits stays.
    pub(crate) fn set_limit(&mut self, queue: QueueLimit) {
        self.queue.set_limit(queue);
    }

    /// The world, which was given a packet, takes the next one from then on.
    pub(crate) fn set_busy(&mut self, until: Instant) {
        self.ready_from = until;
    }

    pub(crate) fn state(&self) -> QueueState {
        QueueState { packets: self.queue.packets(), octets: self.queue.octets() }
    }

    /// A packet is to leave.
    pub(crate) fn enqueue(&mut self, now: Instant, mut packet: Packet) -> Enqueued {
        if self.is_ready(now) {
            let marked = mark(&mut self.marker, now, &mut packet, self.gated_octets);
            self.ready_from = Instant::MAX;
            return Enqueued::Leaves { packet, marked };
        }
        if !self.queue.has_room_for(Load::octets(&packet)) {
            return Enqueued::Full(packet);
        }
        let marked = mark(&mut self.marker, now, &mut packet, self.queue.octets());
        match self.queue.push(packet) {
            Ok(()) => Enqueued::Waits { wants: !std::mem::replace(&mut self.asked, true), marked },
            Err(packet) => Enqueued::Full(packet),
        }
    }

    /// Whether a packet would leave at once.
    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        self.ready_from <= now && self.queue.is_empty()
    }

    /// Something waits elsewhere for the link, which is not ready; says whether the world must be told.
    pub(crate) fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    /// The world takes something that never was in the queue; whether it must be told that others wait, here or elsewhere.
    pub(crate) fn occupy(&mut self, more: bool) -> bool {
        self.ready_from = Instant::MAX;
        self.asked = more || !self.queue.is_empty();
        self.asked
    }

    /// The world takes one more packet: the next one, and whether others wait behind it.
    pub(crate) fn ready(&mut self, now: Instant) -> Option<(Packet, bool)> {
        let next = self.queue.pop();
        self.ready_from = if next.is_some() { Instant::MAX } else { now };
        self.asked = !self.queue.is_empty();
        Some((next?, self.asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::NameHasher;
    use recoup_packet::interest::Interest;
    use std::sync::Arc;

    fn packet(number: u8) -> Packet {
        let name = format!("/{number}").parse().unwrap();
        Packet::interest(Arc::new(Interest::new(name)), &NameHasher::new(1))
    }

    fn link(packets: u64) -> ValueLink {
        let limit = QueueLimit { packets: Some(packets), octets: None };
        ValueLink::new(limit, &FaceAttributes::value(limit))
    }

    #[test]
    fn an_idle_link_takes_one_packet_at_once_and_asks_once_for_the_others() {
        let mut link = link(2);
        assert!(matches!(link.enqueue(Instant::ZERO, packet(1)), Enqueued::Leaves { .. }));
        let waits = |wants| Enqueued::Waits { wants, marked: false };
        for (number, wants) in [(2, true), (3, false)] {
            let enqueued = link.enqueue(Instant::ZERO, packet(number));
            assert_eq!(format!("{enqueued:?}"), format!("{:?}", waits(wants)));
        }
        assert_eq!(link.state().packets, 2);
        let full = link.enqueue(Instant::ZERO, packet(4));
        assert!(matches!(full, Enqueued::Full(it) if it.name() == packet(4).name()));
        let mut next =
            || link.ready(Instant::ZERO).map(|(packet, more)| (packet.name().to_string(), more));
        assert_eq!(next(), Some(("/2".into(), true)));
        assert_eq!(next(), Some(("/3".into(), false)));
        assert_eq!(next(), None);
        assert_eq!(link.state(), QueueState::default());
        assert!(matches!(link.enqueue(Instant::ZERO, packet(5)), Enqueued::Leaves { .. }));
    }

    #[test]
    fn a_link_that_is_free_again_takes_a_packet_at_once_unless_others_wait() {
        let (mut link, at) = (link(2), Instant::from_millis);
        let enqueue = |link: &mut ValueLink, millis| {
            matches!(link.enqueue(at(millis), packet(1)), Enqueued::Leaves { .. })
        };
        assert!(enqueue(&mut link, 0));
        link.set_busy(at(10));
        assert!(!enqueue(&mut link, 9) && !enqueue(&mut link, 10), "one waits since 9");
        assert!(link.ready(at(10)).is_some() && link.ready(at(10)).is_some());
        link.set_busy(at(30));
        assert!(enqueue(&mut link, 30) && !enqueue(&mut link, 31), "nobody said how long");
    }

    #[test]
    fn a_queue_in_octets_drops_what_does_not_fit() {
        let octets = packet(1).octets() as u64;
        let limit = QueueLimit { packets: None, octets: Some(2 * octets) };
        let mut link = ValueLink::new(limit, &FaceAttributes::value(limit));
        let mut fits = || !matches!(link.enqueue(Instant::ZERO, packet(1)), Enqueued::Full(_));
        assert_eq!([fits(), fits(), fits(), fits()], [true, true, true, false]);
        assert_eq!(link.state().octets, 2 * octets);
    }
}
