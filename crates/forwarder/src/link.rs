//! Links of faces: framing, fragments, recovery, queues and schedulers.
//!
//! `Links` is a machine of its own. Packets that leave the tables enter it, frames and packets that arrive leave it
//! whole; what it sends goes to the node's outputs. What a face carries is its `Medium`: frames of bytes, of which
//! the queue is the driver's, or packets as values, which are queued here until the driver is ready for them. Both have
//! the same `Service` around them: congestion marks, recovery and a scheduler.
//!
//! Recovery is below everything else of a link: a packet is numbered at the moment at which its frame leaves, after
//! queue and marks, and what arrives is checked before it is read. The recovery of a permanent face outlives its going
//! down, so that a neighbour that is found again is asked for what was lost meanwhile.
//! A permanent face greets its neighbour when it comes up: both ends know each other before the first packet leaves.
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

/// What a face carries.
trait Medium {
    /// What recovery holds until the far end has acknowledged it.
    type Held;
}

/// The service around a medium.
#[derive(Debug)]
struct Service<M: Medium> {
    medium: M,
    marking: Option<Marking>,
    marker: Option<Marker>,
    /// Bytes that wait at the scheduler, behind the packet that leaves next: they count for marks like the link's queue.
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

/// A face that is up, as its link knows it.
#[derive(Debug)]
struct Port {
    link: Link,
    /// The far end is on this machine.
    is_local: bool,
    recovers: bool,
    /// What left since the face came up, and bytes of frames both ways.
    counters: FaceCounters,
    scheduler: Option<Box<Scheduler>>,
    /// When incomplete packets are too old.
    fragments_due: Option<Instant>,
}

/// Reasons for a link to wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Duty {
    /// Its scheduler lets a packet pass.
    Schedule,
    /// Incomplete packets are too old.
    Fragments,
    /// Its recovery has something to do.
    Recovery,
}

/// When links wake up.
#[derive(Debug, Default)]
struct Timers(BTreeSet<(Instant, Duty, FaceId)>);

impl Timers {
    /// Sets the time of one reason; `slot` is the time that was set before.
    fn set(&mut self, slot: &mut Option<Instant>, duty: Duty, id: FaceId, due: Option<Instant>) {
        if *slot != due {
            slot.map(|before| self.0.remove(&(before, duty, id)));
            due.map(|due| self.0.insert((due, duty, id)));
            *slot = due;
        }
    }
}

/// What all links share.
#[derive(Debug, Default)]
struct Shared {
    timers: Timers,
    wires: WireBuffers,
    /// Packets that were marked for congestion.
    marked: u64,
}

/// The links of a node.
#[derive(Debug)]
pub(crate) struct Links {
    /// By number. Where faces come and go, the others are searched and moved: entries are small.
    ports: Vec<(FaceId, Box<Port>)>,
    shared: Shared,
    hasher: NameHasher,
    recoveries: Recoveries,
    /// Schedulers of faces, up or not.
    plans: BTreeMap<FaceId, Scheduling>,
    /// The scheduler of all other faces that lead to other machines.
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

/// What became of a frame.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) whole: Result<Option<Whole>, DropReason>,
    /// The link is to be [drained](Links::drain) first.
    pub(crate) drains: bool,
}

/// A packet that a link lost and does not send again.
#[derive(Debug)]
pub(crate) enum Lost {
    /// A packet as a value.
    Packet(Packet),
    /// A whole network packet.
    Bytes(Bytes),
    /// A fragment of a packet.
    Fragment,
}

/// What is left of a link that is gone.
#[derive(Debug)]
pub(crate) struct Closed {
    /// What left since the face came up, and bytes of frames both ways.
    pub(crate) counters: FaceCounters,
    /// Another worker has the face.
    pub(crate) is_elsewhere: bool,
}

/// The port of a face. As long as none of those between is gone it is as far from the first as its number.
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
    /// No links yet; `rng` gives the sessions of recovery, and `plan` the scheduler of faces toward other machines.
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

    /// Packets that were marked for congestion.
    pub(crate) fn marked(&self) -> u64 {
        self.shared.marked
    }

    /// Where the bytes of Interests that leave come from.
    #[inline]
    pub(crate) fn wire_buffers(&mut self) -> &mut WireBuffers {
        &mut self.shared.wires
    }

    /// What left by a face that is up, and bytes of frames both ways.
    pub(crate) fn counters(&self, id: FaceId) -> FaceCounters {
        self.get(id).map_or_else(FaceCounters::default, |port| port.counters)
    }

    /// What is queued for a face that is up: at its scheduler, and at its link if that is for values. `None` where nothing
    /// is ever queued.
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

    /// A face is up, perhaps at another worker; whether it keeps the link that it had. To be followed by
    /// [`open`](Self::open).
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

    /// Opens the link of a face that is up: its scheduler, and its recovery. To be followed by [`drain`](Self::drain).
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

    /// A face is down. The recovery of its link is kept if it may come up again.
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

    /// A face is gone for good.
    pub(crate) fn forget(&mut self, id: FaceId) {
        let Self { ports, shared, recoveries, .. } = self;
        if let Some(port) = port(ports, id) {
            recoveries.rest(id, &mut port.link);
        }
        recoveries.forget(id, &mut shared.timers);
    }

    // --- packets that leave ---------------------------------------------------------------------

    /// A packet leaves by a face, past its scheduler.
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

    /// A frame arrives: whether it is a bare packet that needs nothing done.
    ///
    /// # Errors
    /// If no link takes it.
    #[inline]
    pub(crate) fn arrives(&mut self, id: FaceId, frame: &Bytes) -> Result<bool, DropReason> {
        let port = port(&mut self.ports, id).ok_or(DropReason::NoFace)?;
        if !matches!(port.link, Link::Wire(_)) {
            return Err(DropReason::Malformed);
        }
        port.counters.in_octets += frame.len() as u64;
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

    /// Accounts for fragments that were discarded, and for when others will be.
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

    /// A packet arrives by a face for values, which may have recovery; `None` if it goes no further. If the link is to be
    /// [drained](Self::drain) first, `drains` is set.
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

    /// A face for values may send one more packet.
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

    /// A face for values takes the next packet from then on without being asked.
    pub(crate) fn busy(&mut self, id: FaceId, until: Instant) {
        if let Some(Link::Value(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.medium.set_busy(until);
        }
    }

    /// The driver's send queue of a face for frames is so long.
    pub(crate) fn backlog(&mut self, id: FaceId, bytes: u64) {
        if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.medium.set_backlog(bytes);
        }
    }

    /// A frame was dropped by a queue of this machine: its recovery does not repair that.
    pub(crate) fn overflowed(&mut self, id: FaceId, frame: Bytes) {
        if let Some(Link::Wire(link)) = port(&mut self.ports, id).map(|port| &mut port.link) {
            link.overflowed(id, frame, &mut self.shared.timers);
        }
    }

    // --- timers ---------------------------------------------------------------------------------

    /// When the next timer is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.shared.timers.0.first().map(|(due, ..)| *due)
    }

    /// Handles one timer that is due; the face whose link is to be [drained](Self::drain) if its recovery was. `None` if
    /// none is due.
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

    /// Sends what the recovery of a face for frames sends again, and returns what links of both kinds lost. To be followed
    /// by [`settle`](Self::settle) when the loss was reported.
    pub(crate) fn drain<O>(&mut self, now: Instant, id: FaceId, out: &mut Outbox<O>) -> Vec<Lost> {
        match port(&mut self.ports, id) {
            Some(Port { link: Link::Wire(link), counters, .. }) => {
                link.drain(now, id, counters, &mut out.outputs)
            }
            Some(Port { link: Link::Value(link), .. }) => link.lost(),
            _ => Vec::new(),
        }
    }

    /// Lets recovery of a face for values send, and notes when it has something to do again.
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

    /// What the recovery of a face did so far; `None` if it has none.
    pub(crate) fn recovery(&self, id: FaceId) -> Option<Counters> {
        self.recoveries.counters(id, self.get(id).map(|port| &port.link))
    }

    /// Whether both ends of a face's link recover what it loses.
    pub(crate) fn agreement(&self, id: FaceId) -> Agreement {
        self.recoveries.agreement(id, self.get(id).map(|port| &port.link))
    }

    /// What the recoveries of all faces did so far, past ones included; `None` if there never was one.
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

    /// Marks a packet if the queue that it joins, which holds so many bytes, has been too long for too long.
    fn mark(&mut self, now: Instant, packet: &mut Packet, bytes: u64) -> bool {
        let marks = self.marker.as_mut().is_some_and(|marker| marker.on_enqueue(now, bytes));
        if marks {
            packet.hop.congestion_mark = packet.hop.congestion_mark.saturating_add(1);
        }
        marks
    }
}

impl Port {
    /// Takes new attributes on, if it can without becoming another link.
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

    /// A packet leaves.
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
