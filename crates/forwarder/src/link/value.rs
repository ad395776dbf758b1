//! Links for packets as values: the node queues them until the driver is ready.
use super::recovery::Recovering;
use super::{Lost, Medium, Service, Shared, Timers};
use crate::counters::QueueState;
use crate::event::NodeEvent;
use crate::face::{FaceId, QueueLimit};
use crate::message::Output;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Body, Kind, Packet};
use recoup_packet::lp::field;
use recoup_transport::link::recovery::{Arrival, Outgoing, Sending};
use recoup_transport::queue::{Fifo, Load};
use recoup_transport::time::{Duration, Instant};

/// Frame size of value faces, for acknowledgements.
const VALUE_BYTES: usize = 1_400;

/// The queue in front of a driver that takes one packet at a time.
#[derive(Debug)]
pub(super) struct Value {
    queue: Fifo<Packet>,
    /// Time from which the driver takes a packet at once, if none is queued.
    ready_from: Instant,
    /// The driver has been notified of queued packets.
    asked: bool,
}

impl Medium for Value {
    type Held = Packet;
}

impl Value {
    pub(super) fn new(queue: QueueLimit) -> Self {
        Self { queue: Fifo::new(queue), ready_from: Instant::ZERO, asked: false }
    }

    /// Sets the limit of the queue; queued packets stay.
    pub(super) fn set_limit(&mut self, queue: QueueLimit) {
        self.queue.set_limit(queue);
    }

    /// Sets the time until which the driver is busy with a packet.
    #[inline]
    pub(super) fn set_busy(&mut self, until: Instant) {
        self.ready_from = until;
    }

    pub(super) fn state(&self) -> QueueState {
        QueueState { packets: self.queue.packets(), bytes: self.queue.bytes() }
    }

    /// Whether a packet would leave at once.
    pub(super) fn is_ready(&self, now: Instant) -> bool {
        self.ready_from <= now && self.queue.is_empty()
    }

    /// Records packets queued elsewhere for a link that is not ready; returns whether the driver must be notified.
    pub(super) fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    /// Records a packet given to the driver without queueing; returns whether the driver must be notified of others,
    /// queued here or elsewhere.
    fn occupy(&mut self, more: bool) -> bool {
        self.ready_from = Instant::MAX;
        self.asked = more || !self.queue.is_empty();
        self.asked
    }

    /// Takes the next packet for the driver; the flag is set if others are queued behind it.
    pub(super) fn ready(&mut self, now: Instant) -> Option<(Packet, bool)> {
        let next = self.queue.pop();
        self.ready_from = if next.is_some() { Instant::MAX } else { now };
        self.asked = !self.queue.is_empty();
        Some((next?, self.asked))
    }
}

impl Service<Value> {
    /// Sends a packet; returns whether it was marked for congestion.
    ///
    /// # Errors
    /// The packet is returned if the queue is full.
    pub(super) fn send<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        mut packet: Packet,
        shared: &mut Shared,
        out: &mut Outbox<O>,
    ) -> Result<bool, Packet> {
        if self.medium.is_ready(now) {
            let marked = self.mark(now, &mut packet, self.scheduled_bytes);
            self.medium.ready_from = Instant::MAX;
            let packet = self.tag(now, id, packet, &mut shared.timers);
            out.push(Output::Transmit { face: id, packet });
            return Ok(marked);
        }
        if !self.medium.queue.fits(Load::bytes(&packet)) {
            return Err(packet);
        }
        let marked = self.mark(now, &mut packet, self.medium.queue.bytes());
        self.medium.queue.push(packet)?;
        if self.medium.ask() {
            out.push(Output::Wants { face: id });
        }
        let QueueState { packets, bytes } = self.medium.state();
        let (packets, bytes) = (packets as u32, bytes as u32);
        out.event(NodeEvent::Queued { face: id, packets, bytes });
        Ok(marked)
    }

    /// Writes the recovery tag of an outgoing packet, if the link recovers losses.
    #[inline]
    pub(super) fn tag(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: Packet,
        timers: &mut Timers,
    ) -> Packet {
        match &mut self.recovery {
            Some(recovery) => number(recovery, now, id, packet, timers),
            None => packet,
        }
    }

    /// Handles an arriving packet; the error is a duplicate.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        id: FaceId,
        mut packet: Packet,
        timers: &mut Timers,
        drains: &mut bool,
    ) -> Result<Option<Packet>, Packet> {
        let carries = packet.kind() != Kind::Idle;
        if let Some(recovery) = &mut self.recovery {
            let tag = packet.hop.extra.as_mut().and_then(|extra| extra.tag.take());
            let arrival = recovery.end.receive(now, &tag.unwrap_or_default(), carries);
            *drains = recovery.end.waits();
            if !*drains {
                recovery.arm(id, timers);
            }
            if arrival == Arrival::Duplicate {
                return Err(packet);
            }
        }
        Ok(carries.then_some(packet))
    }

    /// Lost packets that the link does not resend.
    pub(super) fn lost(&mut self) -> Vec<Lost> {
        let end = self.recovery.iter_mut().map(|it| &mut it.end);
        end.flat_map(|end| std::iter::from_fn(|| end.poll_lost())).map(Lost::Packet).collect()
    }

    /// Sends frames of the recovery if the driver is ready, and sets its timer.
    pub(super) fn settle<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        timers: &mut Timers,
        out: &mut Outbox<O>,
    ) {
        let waits = |link: &Self| link.recovery.as_ref().is_some_and(|it| it.end.waits());
        if waits(self) {
            if self.medium.is_ready(now) {
                self.send_recovered(now, id, timers, out);
            } else if self.medium.ask() {
                out.push(Output::Wants { face: id });
            }
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.arm(id, timers);
        }
    }

    /// Sends a frame of the recovery, now that the driver is ready; `false` if there is none.
    pub(super) fn send_recovered<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        timers: &mut Timers,
        out: &mut Outbox<O>,
    ) -> bool {
        let Some(recovery) = &mut self.recovery else {
            return false;
        };
        let next = recovery.end.poll(now);
        recovery.arm(id, timers);
        let packet = match next {
            None => return false,
            Some(Outgoing::Control(tag) | Outgoing::Greeting(tag)) => Packet::idle(tag),
            Some(Outgoing::Again { frame: mut packet, tag, waited }) => {
                out.observer.packet_resent(&packet, &mut out.outputs);
                prolong(&mut packet, waited);
                packet.hop.extra_mut().tag = Some(Box::new(tag));
                packet
            }
        };
        let more = recovery.end.waits();
        out.push(Output::Transmit { face: id, packet });
        if self.medium.occupy(more) {
            out.push(Output::Wants { face: id });
        }
        true
    }
}

fn number(
    recovery: &mut Recovering<Packet>,
    now: Instant,
    id: FaceId,
    mut packet: Packet,
    timers: &mut Timers,
) -> Packet {
    recovery.packets += 1;
    let (kind, lifetime) = packet.worth();
    if packet.retransmits() {
        recovery.end.retransmits();
    }
    let bytes = packet.bytes();
    // A value has no MTU; acknowledgements get the space of a common frame.
    let free_bytes = VALUE_BYTES.saturating_sub(bytes);
    let (bytes, packet_number) = (bytes as u32, recovery.packets);
    let sending = Sending { kind, bytes, lifetime, packet: packet_number, alone: true, free_bytes };
    let tag = recovery.end.send(now, &packet, &sending);
    if !tag.is_empty() {
        packet.hop.extra_mut().tag = Some(Box::new(tag));
    }
    recovery.arm(id, timers);
    packet
}

/// Adds the delay of a recovery to the RttReduction field of Data.
fn prolong(packet: &mut Packet, waited: Duration) {
    if matches!(packet.body, Body::Data(_)) {
        let carried = &mut packet.hop.extra_mut().carried;
        let before = field::time(carried, field::RTT_REDUCTION).unwrap_or_default();
        field::set_time(carried, field::RTT_REDUCTION, before.saturating_add(waited));
    }
}
