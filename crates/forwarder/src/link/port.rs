//! The link of one face that is up: a medium, and the service around it.
use super::Shared;
use super::recovery::Recovering;
use super::schedule::Scheduler;
use super::value::Value;
use super::wire::Wire;
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{FaceAttributes, FaceForm, FaceId};
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Kind, Packet};
use recoup_transport::link::{Aqm, AqmMarker};
use recoup_transport::management::FaceCounters;
use recoup_transport::time::Instant;

/// Transport of a face.
pub(super) trait Medium {
    /// Frame that recovery holds until the far end has acknowledged it.
    type Held;
}

/// Functions around a medium.
#[derive(Debug)]
pub(super) struct Service<M: Medium> {
    pub(super) medium: M,
    pub(super) marking: Option<Aqm>,
    pub(super) marker: Option<AqmMarker>,
    /// Bytes queued at the scheduler, behind the next packet: they count for marks like the link's queue.
    pub(super) scheduled_bytes: u64,
    pub(super) recovery: Option<Recovering<M::Held>>,
}

/// The link of one face.
#[derive(Debug)]
pub(super) enum Link {
    /// For frames.
    Wire(Box<Service<Wire>>),
    /// For packets as values.
    Value(Box<Service<Value>>),
}

/// Link of a face that is up.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) link: Link,
    /// Whether the peer is on this machine.
    pub(super) is_local: bool,
    pub(super) recovers: bool,
    /// Traffic sent since the face came up, and bytes of frames in both directions.
    pub(super) counters: FaceCounters,
    pub(super) scheduler: Option<Box<Scheduler>>,
    /// Time at which incomplete packets expire.
    pub(super) fragments_due: Option<Instant>,
}

impl<M: Medium> Service<M> {
    pub(super) fn new(medium: M, attributes: &FaceAttributes) -> Self {
        let marking = attributes.marking;
        let marker = marking.map(AqmMarker::new);
        Self { medium, marking, marker, scheduled_bytes: 0, recovery: None }
    }

    /// Marks a packet if its queue, with this many bytes, has been too long for too long.
    #[inline]
    pub(super) fn mark(&mut self, now: Instant, packet: &mut Packet, bytes: u64) -> bool {
        let marks = self
            .marker
            .as_mut()
            .is_some_and(|marker| marker.on_enqueue(now, bytes, || packet.bytes() as u64));
        if marks {
            packet.hop.congestion_mark = packet.hop.congestion_mark.saturating_add(1);
        }
        marks
    }
}

impl Port {
    /// Changes attributes, if the link can keep its identity.
    pub(super) fn changes_to(&mut self, attributes: &FaceAttributes) -> bool {
        match (&mut self.link, attributes.form) {
            (Link::Wire(link), FaceForm::Wire { mtu }) => {
                link.medium.change(mtu, attributes);
                if link.marking != attributes.marking {
                    link.marking = attributes.marking;
                    link.marker = link.marking.map(AqmMarker::new);
                }
            }
            (Link::Value(link), FaceForm::Value { queue }) => link.medium.set_limit(queue),
            _ => return false,
        }
        (self.is_local, self.recovers) = (attributes.local, !attributes.recovery.is_off());
        true
    }

    /// Sends a packet.
    #[inline]
    pub(super) fn transmit<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        mut packet: Packet,
        shared: &mut Shared,
        out: &mut Outbox<O>,
    ) {
        self.count_out(packet.kind());
        let marked = match &mut self.link {
            Link::Wire(link) => {
                match link.send(now, id, &mut packet, &mut self.counters, shared, &mut out.outputs)
                {
                    Ok(marked) => marked,
                    Err(reason) => return out.drop_packet(id, &packet, reason),
                }
            }
            Link::Value(link) => match link.send(now, id, packet, shared, out) {
                Ok(marked) => marked,
                Err(packet) => return out.drop_packet(id, &packet, DropReason::QueueFull),
            },
        };
        if marked {
            shared.marked += 1;
            out.event(NodeEvent::Marked { face: id });
        }
    }

    #[inline]
    fn count_out(&mut self, kind: Kind) {
        match kind {
            Kind::Interest => self.counters.out_interests += 1,
            Kind::Data => self.counters.out_data += 1,
            Kind::Nack => self.counters.out_nacks += 1,
            Kind::Idle => {}
        }
    }
}
