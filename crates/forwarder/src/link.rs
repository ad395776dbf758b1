//! Links of faces: framing, fragments, recovery, queues and schedulers.
//!
//! `Links` is a state machine of its own. Its inputs are outgoing packets from the tables and arriving frames; its
//! outputs are whole packets, and frames for the node's outputs. The transport of a face is its `Medium`. A wire face
//! carries frames of bytes, which the driver queues. A value face carries packets as values, which are queued here
//! until the driver is ready. Both have the same `Service`: congestion marks, recovery and a scheduler.
//!
//! Recovery is below all other functions of a link: a packet is numbered when its frame is sent, after queue and
//! marks, and an arriving frame is checked before it is decoded. The recovery of a permanent face outlives its going
//! down, so that losses in the meantime are repaired when the neighbour returns.
//!
//! A permanent face greets its neighbour when it comes up: both ends know each other before the first packet is sent.
mod recovery;
mod schedule;
#[cfg(test)]
mod tests;
mod value;
mod wire;

use crate::counters::QueueState;
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{FaceAttributes, FaceForm, FaceId};
use crate::hash::NameHasher;
use crate::message::Output;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Kind, Packet, WireBuffers};
use crate::shard::{Worker, WorkerMessage};
use bytes::Bytes;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::link::{Marker, Marking};
use recoup_transport::management::FaceCounters;
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use recovery::{Recoveries, Recovering};
use schedule::Scheduler;
use std::collections::{BTreeMap, BTreeSet};
use value::Value;
use wire::Wire;

/// Transport of a face.
trait Medium {
    /// Frame that recovery holds until the far end has acknowledged it.
    type Held;
}

/// Functions around a medium.
#[derive(Debug)]
struct Service<M: Medium> {
    medium: M,
    marking: Option<Marking>,
    marker: Option<Marker>,
    /// Bytes queued at the scheduler, behind the next packet: they count for marks like the link's queue.
    scheduled_bytes: u64,
    recovery: Option<Recovering<M::Held>>,
}

/// The link of one face.
#[derive(Debug)]
enum Link {
    /// For frames.
    Wire(Box<Service<Wire>>),
    /// For packets as values.
    Value(Box<Service<Value>>),
    /// Another worker has it.
    Elsewhere(Worker),
}

/// Link of a face that is up.
#[derive(Debug)]
struct Port {
    link: Link,
    /// Whether the peer is on this machine.
    is_local: bool,
    recovers: bool,
    /// Traffic sent since the face came up, and bytes of frames in both directions.
    counters: FaceCounters,
    scheduler: Option<Box<Scheduler>>,
    /// Time at which incomplete packets expire.
    fragments_due: Option<Instant>,
}

/// Kinds of timers of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Duty {
    /// The next packet of its scheduler.
    Schedule,
    /// Expiry of incomplete packets.
    Fragments,
    /// Its recovery.
    Recovery,
}

/// Timers of all links.
#[derive(Debug, Default)]
struct Timers(BTreeSet<(Instant, Duty, FaceId)>);

impl Timers {
    /// Sets a timer; `slot` is its earlier time.
    fn set(&mut self, slot: &mut Option<Instant>, duty: Duty, id: FaceId, due: Option<Instant>) {
        if *slot != due {
            slot.map(|before| self.0.remove(&(before, duty, id)));
            due.map(|due| self.0.insert((due, duty, id)));
            *slot = due;
        }
    }
}

/// Common state of all links.
#[derive(Debug, Default)]
struct Shared {
    timers: Timers,
    wires: WireBuffers,
    /// Number of packets marked for congestion.
    marked: u64,
}

/// The links of a node.
#[derive(Debug)]
pub(crate) struct Links {
    /// By number. Insertions and removals search and move the others: entries are small.
    ports: Vec<(FaceId, Box<Port>)>,
    shared: Shared,
    hasher: NameHasher,
    recoveries: Recoveries,
    /// Schedulers of faces, up or not.
    plans: BTreeMap<FaceId, Scheduling>,
    /// The scheduler of all other faces to other machines.
    default_plan: Option<Scheduling>,
    /// Faces with a scheduler.
    schedulers: usize,
    /// A face of another worker has a scheduler, or had one.
    schedules_elsewhere: bool,
}

/// A whole network packet that arrived in frames.
#[derive(Debug)]
pub(crate) struct Whole {
    /// `None` if the packet was bare.
    pub(crate) header: Option<LpHeader>,
    pub(crate) packet: Bytes,
}

/// Result of a received frame.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) whole: Result<Option<Whole>, DropReason>,
    /// The link is to be [drained](Links::drain) first.
    pub(crate) drains: bool,
}

/// A packet that a link lost and does not resend.
#[derive(Debug)]
pub(crate) enum Lost {
    /// A packet as a value.
    Packet(Packet),
    /// A whole network packet.
    Bytes(Bytes),
    /// A fragment of a packet.
    Fragment,
}

/// Result of closing a link.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Traffic sent since the face came up, and bytes of frames in both directions.
    pub(crate) counters: FaceCounters,
    /// Another worker has the face.
    pub(crate) is_elsewhere: bool,
}

/// Index of the port of a face. While no face between is gone, the distance from the first is that of the numbers.
#[inline]
fn place(ports: &[(FaceId, Box<Port>)], id: FaceId) -> Result<usize, usize> {
    let first = ports.first().map_or(0, |(first, _)| first.0);
    let guess = id.0.wrapping_sub(first) as usize;
    if ports.get(guess).is_some_and(|(known, _)| *known == id) {
        return Ok(guess);
    }
    search(ports, id)
}

#[inline(never)]
fn search(ports: &[(FaceId, Box<Port>)], id: FaceId) -> Result<usize, usize> {
    ports.binary_search_by_key(&id, |(known, _)| *known)
}

#[inline]
fn port(ports: &mut [(FaceId, Box<Port>)], id: FaceId) -> Option<&mut Port> {
    let place = place(ports, id).ok()?;
    Some(&mut ports[place].1)
}

impl Links {
    /// No links; `rng` draws the sessions of recovery, and `plan` is the scheduler of faces to other machines.
    pub(crate) fn new(hasher: NameHasher, rng: Rng, plan: Option<Scheduling>) -> Self {
        Self {
            ports: Vec::new(),
            shared: Shared::default(),
            hasher,
            recoveries: Recoveries::new(rng),
            plans: BTreeMap::new(),
            default_plan: plan,
            schedulers: 0,
            schedules_elsewhere: false,
        }
    }

    fn get(&self, id: FaceId) -> Option<&Port> {
        Some(&self.ports[place(&self.ports, id).ok()?].1)
    }

    /// Whether packets of any face are scheduled.
    #[inline]
    pub(crate) fn schedules(&self) -> bool {
        self.schedulers > 0 || self.schedules_elsewhere
    }

    /// Whether the link of a face recovers losses.
    #[inline]
    pub(crate) fn recovers(&self, id: FaceId) -> bool {
        self.recoveries.any && self.get(id).is_some_and(|port| port.recovers)
    }

    /// Number of packets marked for congestion.
    pub(crate) fn marked(&self) -> u64 {
        self.shared.marked
    }

    /// Memory for outgoing Interests.
    #[inline]
    pub(crate) fn wire_buffers(&mut self) -> &mut WireBuffers {
        &mut self.shared.wires
    }

    /// Traffic sent by a face that is up, and bytes of frames in both directions.
    pub(crate) fn counters(&self, id: FaceId) -> FaceCounters {
        self.get(id).map_or_else(FaceCounters::default, |port| port.counters)
    }

    /// Length of the queue of a face that is up: at its scheduler, and at its link if that is for values. `None`
    /// without queue.
    pub(crate) fn queue(&self, id: FaceId) -> Option<QueueState> {
        let port = self.get(id)?;
        let linked = match &port.link {
            Link::Value(link) => Some(link.medium.state()),
            Link::Wire(_) | Link::Elsewhere(_) => None,
        };
        let scheduled = port.scheduler.as_ref().map(|scheduler| scheduler.state());
        if linked.is_none() && scheduled.is_none() {
            return None;
        }
        let mut all = linked.unwrap_or_default();
        all += scheduled.unwrap_or_default();
        Some(all)
    }

    // --- faces come and go ----------------------------------------------------------------------

    /// Adds a face that is up, perhaps at another worker; returns whether it keeps its link. Call
    /// [`open`](Self::open) afterwards.
    pub(crate) fn up(
        &mut self,
        id: FaceId,
        attributes: &FaceAttributes,
        elsewhere: Option<Worker>,
    ) -> bool {
        self.recoveries.any |= !attributes.recovery.is_off();
        if let Some(port) = port(&mut self.ports, id)
            && port.changes_to(attributes, elsewhere)
        {
            return true;
        }
        let link = match (attributes.form, elsewhere) {
            (_, Some(worker)) => Link::Elsewhere(worker),
            (FaceForm::Wire { mtu }, _) => {
                Link::Wire(Box::new(Service::new(Wire::new(mtu, attributes), attributes)))
            }
            (FaceForm::Value { queue }, _) => {
                Link::Value(Box::new(Service::new(Value::new(queue), attributes)))
            }
        };
        let mut new = Port {
            link,
            is_local: attributes.local,
            recovers: !attributes.recovery.is_off(),
            counters: FaceCounters::default(),
            scheduler: None,
            fragments_due: None,
        };
        match place(&self.ports, id) {
            Ok(place) => {
                let port = &mut self.ports[place].1;
                let Shared { timers, .. } = &mut self.shared;
                timers.set(&mut port.fragments_due, Duty::Fragments, id, None);
                self.recoveries.rest(id, &mut port.link);
                new.scheduler = port.scheduler.take();
                **port = new;
            }
            Err(place) => self.ports.insert(place, (id, Box::new(new))),
        }
        false
    }

    /// Opens the link of a face that is up: its scheduler, and its recovery. Call [`drain`](Self::drain) afterwards.
    pub(crate) fn open<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        attributes: &FaceAttributes,
        out: &mut Outbox<O>,
    ) {
        self.open_scheduler(now, id, out);
        let Self { ports, shared, recoveries, .. } = self;
        if let Some(port) = port(ports, id) {
            recoveries.up(now, id, attributes, &mut port.link, &mut shared.timers);
        }
    }

    /// Handles a face that is down. The recovery of its link is kept if it may come up again.
    pub(crate) fn down<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        keep: bool,
        out: &mut Outbox<O>,
    ) -> Option<Closed> {
        let place = place(&self.ports, id).ok()?;
        let (_, mut port) = self.ports.remove(place);
        let timers = &mut self.shared.timers;
        timers.set(&mut port.fragments_due, Duty::Fragments, id, None);
        if let Some(mut scheduler) = port.scheduler.take() {
            self.schedulers -= 1;
            scheduler.arm(id, timers, None);
            while let Some(packet) = scheduler.evict() {
                out.drop_packet(id, &packet, DropReason::NoFace);
            }
        }
        self.recoveries.down(now, id, &mut port.link, keep, timers);
        match &mut port.link {
            Link::Value(link) => {
                while let Some((packet, _)) = link.medium.ready(now) {
                    out.drop_packet(id, &packet, DropReason::NoFace);
                }
            }
            Link::Wire(link) => {
                for _ in 0..link.medium.give_up() {
                    out.dropped(id, None, DropReason::NoFace);
                }
            }
            Link::Elsewhere(_) => {}
        }
        let is_elsewhere = matches!(port.link, Link::Elsewhere(_));
        Some(Closed { counters: port.counters, is_elsewhere })
    }

    /// Removes a face for good.
    pub(crate) fn forget(&mut self, id: FaceId) {
        let Self { ports, shared, recoveries, .. } = self;
        if let Some(port) = port(ports, id) {
            recoveries.rest(id, &mut port.link);
        }
        recoveries.forget(id, &mut shared.timers);
    }

    // --- packets that leave ---------------------------------------------------------------------

    /// Sends a packet by a face, past its scheduler.
    pub(crate) fn transmit<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: Packet,
        out: &mut Outbox<O>,
    ) {
        match port(&mut self.ports, id) {
            Some(port) => port.transmit(now, id, packet, &mut self.shared, out),
            None => out.drop_packet(id, &packet, DropReason::NoFace),
        }
    }

    // --- frames and packets that arrive ---------------------------------------------------------

    /// Counts an arriving frame; returns whether it is a bare packet without further work.
    ///
    /// # Errors
    /// There is no such link.
    #[inline]
    pub(crate) fn arrives(&mut self, id: FaceId, frame: &Bytes) -> Result<bool, DropReason> {
        let port = port(&mut self.ports, id).ok_or(DropReason::NoFace)?;
        if !matches!(port.link, Link::Wire(_)) {
            return Err(DropReason::Malformed);
        }
        port.counters.in_bytes += frame.len() as u64;
        Ok(!port.recovers && LpPacket::is_bare(frame))
    }

    /// The network packet that a frame completes.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        id: FaceId,
        sender: u64,
        frame: Bytes,
    ) -> Received {
        match port(&mut self.ports, id).map(|port| &mut port.link) {
            Some(Link::Wire(link)) => link.receive(now, id, sender, frame, &mut self.shared.timers),
            _ => Received { whole: Err(DropReason::NoFace), drains: false },
        }
    }

    /// Reports dropped fragments, and sets the timer of the next ones.
    pub(crate) fn settle_fragments<O: Observer>(&mut self, id: FaceId, out: &mut Outbox<O>) {
        let Some(port) = port(&mut self.ports, id) else {
            return;
        };
        let Link::Wire(link) = &mut port.link else {
            return;
        };
        let due = link.medium.deadline();
        self.shared.timers.set(&mut port.fragments_due, Duty::Fragments, id, due);
        for _ in 0..link.medium.take_discarded() {
            out.dropped(id, None, DropReason::Fragment);
        }
    }

    /// Handles an arriving packet of a value face, which may have recovery; `None` if it is not delivered. `drains`
    /// is set if the link is to be [drained](Self::drain) first.
    pub(crate) fn receive_value(
        &mut self,
        now: Instant,
        id: FaceId,
        packet: Packet,
        drains: &mut bool,
    ) -> Result<Option<Packet>, Packet> {
        let Self { ports, shared, .. } = self;
        match port(ports, id).map(|port| &mut port.link) {
            Some(Link::Value(link)) => link.receive(now, id, packet, &mut shared.timers, drains),
            _ => Ok((packet.kind() != Kind::Idle).then_some(packet)),
        }
    }

    /// Whether any link recovers losses, or did.
    #[inline]
    pub(crate) fn any_recovers(&self) -> bool {
        self.recoveries.any
    }

    // --- the driver -----------------------------------------------------------------------------

    /// Handles `Ready` of a value face: it may send one more packet.
    pub(crate) fn ready<O: Observer>(&mut self, now: Instant, id: FaceId, out: &mut Outbox<O>) {
        let Self { ports, shared, .. } = self;
        let Some(port) = port(ports, id) else {
            return;
        };
        let Link::Value(link) = &mut port.link else {
            return;
        };
        let led = link.recovery.is_some() && link.send_recovered(now, id, &mut shared.timers, out);
        if !led && let Some((packet, more)) = link.medium.ready(now) {
            let packet = link.tag(now, id, packet, &mut shared.timers);
            out.push(Output::Transmit { face: id, packet });
            if more {
                out.push(Output::Wants { face: id });
            }
        }
        port.let_pass(now, id, shared, out);
    }

    /// Sets the time from which a value face takes the next packet at once.
    pub(crate) fn busy(&mut self, id: FaceId, until: Instant) {
        if let Some(Link::Value(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.medium.set_busy(until);
        }
    }

    /// Sets the length of the driver's send queue of a wire face.
    pub(crate) fn backlog(&mut self, id: FaceId, bytes: u64) {
        if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.medium.set_backlog(bytes);
        }
    }

    /// Records that a queue of this machine dropped a frame: its recovery does not repair that.
    pub(crate) fn overflowed(&mut self, id: FaceId, frame: Bytes) {
        if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.overflowed(id, frame, &mut self.shared.timers);
        }
    }

    // --- timers ---------------------------------------------------------------------------------

    /// Time of the next timer.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.shared.timers.0.first().map(|(due, ..)| *due)
    }

    /// Handles one expired timer; returns the face to be [drained](Self::drain) if it was that of its recovery.
    /// `None` if no timer is due.
    pub(crate) fn fire<O: Observer>(
        &mut self,
        now: Instant,
        out: &mut Outbox<O>,
    ) -> Option<Option<FaceId>> {
        let (due, duty, id) = self.shared.timers.0.first().copied()?;
        if due > now {
            return None;
        }
        match duty {
            Duty::Schedule => {
                if let Some(port) = port(&mut self.ports, id) {
                    if let Some(scheduler) = &mut port.scheduler {
                        scheduler.arm(id, &mut self.shared.timers, None);
                    }
                    port.let_pass(now, id, &mut self.shared, out);
                }
            }
            Duty::Fragments => {
                if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|it| &mut it.link) {
                    link.medium.expire(now);
                }
                self.settle_fragments(id, out);
            }
            Duty::Recovery => {
                let link = port(&mut self.ports, id).map(|port| &mut port.link);
                self.recoveries.fire(now, id, link, &mut self.shared.timers);
                return Some(Some(id));
            }
        }
        Some(None)
    }

    // --- recovery -------------------------------------------------------------------------------

    /// Sends the frames of a wire face's recovery, and returns losses of both kinds of links. Call
    /// [`settle`](Self::settle) after reporting the losses.
    pub(crate) fn drain<O>(&mut self, now: Instant, id: FaceId, out: &mut Outbox<O>) -> Vec<Lost> {
        match port(&mut self.ports, id) {
            Some(Port { link: Link::Wire(link), counters, .. }) => {
                link.drain(now, id, counters, &mut out.outputs)
            }
            Some(Port { link: Link::Value(link), .. }) => link.lost(),
            _ => Vec::new(),
        }
    }

    /// Sends the frames of a value face's recovery, and sets its timer.
    pub(crate) fn settle<O: Observer>(&mut self, now: Instant, id: FaceId, out: &mut Outbox<O>) {
        let Self { ports, shared, .. } = self;
        let timers = &mut shared.timers;
        match port(ports, id).map(|port| &mut port.link) {
            Some(Link::Wire(link)) => {
                if let Some(recovery) = &mut link.recovery {
                    recovery.arm(id, timers);
                }
            }
            Some(Link::Value(link)) => link.settle(now, id, timers, out),
            _ => {}
        }
    }

    /// Counters of the recovery of a face; `None` if it has none.
    pub(crate) fn recovery(&self, id: FaceId) -> Option<Counters> {
        self.recoveries.counters(id, self.get(id).map(|port| &port.link))
    }

    /// Whether both ends of a face's link recover losses.
    pub(crate) fn agreement(&self, id: FaceId) -> Agreement {
        self.recoveries.agreement(id, self.get(id).map(|port| &port.link))
    }

    /// Counters of the recoveries of all faces, past ones included; `None` if there never was one.
    pub(crate) fn recovered(&self) -> Option<Counters> {
        self.recoveries.all(self.ports.iter().map(|(_, port)| &port.link))
    }
}

impl<M: Medium> Service<M> {
    fn new(medium: M, attributes: &FaceAttributes) -> Self {
        let marking = attributes.marking;
        let marker = marking.map(Marker::new);
        Self { medium, marking, marker, scheduled_bytes: 0, recovery: None }
    }

    /// Marks a packet if its queue, with this many bytes, has been too long for too long.
    fn mark(&mut self, now: Instant, packet: &mut Packet, bytes: u64) -> bool {
        let marks = self.marker.as_mut().is_some_and(|marker| marker.on_enqueue(now, bytes));
        if marks {
            packet.hop.congestion_mark = packet.hop.congestion_mark.saturating_add(1);
        }
        marks
    }
}

impl Port {
    /// Changes attributes, if the link can keep its identity.
    fn changes_to(&mut self, attributes: &FaceAttributes, elsewhere: Option<Worker>) -> bool {
        match (&mut self.link, attributes.form) {
            (Link::Elsewhere(worker), _) if elsewhere == Some(*worker) => {}
            _ if elsewhere.is_some() => return false,
            (Link::Wire(link), FaceForm::Wire { mtu }) => {
                link.medium.change(mtu, attributes);
                if link.marking != attributes.marking {
                    link.marking = attributes.marking;
                    link.marker = link.marking.map(Marker::new);
                }
            }
            (Link::Value(link), FaceForm::Value { queue }) => link.medium.set_limit(queue),
            _ => return false,
        }
        (self.is_local, self.recovers) = (attributes.local, !attributes.recovery.is_off());
        true
    }

    /// Sends a packet.
    fn transmit<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        mut packet: Packet,
        shared: &mut Shared,
        out: &mut Outbox<O>,
    ) {
        if let Link::Elsewhere(worker) = self.link {
            let message = WorkerMessage::Leaves { face: id, group: None, packet };
            return out.send_to_worker(worker, message);
        }
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
            Link::Elsewhere(_) => false,
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
