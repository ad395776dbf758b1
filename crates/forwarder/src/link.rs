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
mod arrive;
mod face;
mod path;
mod port;
mod recovery;
mod schedule;
#[cfg(test)]
mod tests;
mod timer;
mod value;
mod watch;
mod wire;

use crate::counters::QueueState;
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hash::NameHasher;
use crate::message::Output;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Packet, WireBuffers};
pub(crate) use arrive::{Lean, Received, Whole};
use bytes::Bytes;
use port::{Link, Medium, Port, Service};
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::management::FaceCounters;
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use recovery::Recoveries;
use std::collections::BTreeMap;
pub(crate) use timer::Duty;
use timer::Timers;

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
        }
    }

    fn get(&self, id: FaceId) -> Option<&Port> {
        Some(&self.ports[place(&self.ports, id).ok()?].1)
    }

    /// Whether packets of any face are scheduled.
    #[inline]
    pub(crate) fn schedules(&self) -> bool {
        self.schedulers > 0
    }

    /// Whether the link of a face recovers losses.
    #[inline]
    pub(crate) fn recovers(&self, id: FaceId) -> bool {
        self.recoveries.any && self.get(id).is_some_and(|port| port.recovers)
    }

    /// Whether any link recovers losses, or did.
    #[inline]
    pub(crate) fn any_recovers(&self) -> bool {
        self.recoveries.any
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
            Link::Wire(_) => None,
        };
        let scheduled = port.scheduler.as_ref().map(|scheduler| scheduler.state());
        if linked.is_none() && scheduled.is_none() {
            return None;
        }
        let mut all = linked.unwrap_or_default();
        all += scheduled.unwrap_or_default();
        Some(all)
    }

    // --- packets that leave ---------------------------------------------------------------------

    /// Sends a packet by a face, past its scheduler.
    #[inline]
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
        self.limit_held();
    }

    /// Drops held frames if all peers together have too many of them.
    #[inline]
    fn limit_held(&mut self) {
        if self.recoveries.are_full() {
            self.recoveries.shed(&mut self.ports);
        }
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
        self.limit_held();
    }

    /// Sets the time from which a value face takes the next packet at once.
    #[inline]
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

    // --- recovery -------------------------------------------------------------------------------

    /// Sends the frames of a wire face's recovery, and returns losses of both kinds of links. Call
    /// [`settle`](Self::settle) after reporting the losses.
    pub(crate) fn drain<O>(&mut self, now: Instant, id: FaceId, out: &mut Outbox<O>) -> Vec<Lost> {
        match port(&mut self.ports, id) {
            Some(Port { link: Link::Wire(link), counters, .. }) => {
                link.drain(now, id, counters, &mut out.outputs)
            }
            Some(Port { link: Link::Value(link), .. }) => link.lost(),
            None => Vec::new(),
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
            None => {}
        }
    }

    /// Counters of the recovery of a face; `None` if it has none.
    pub(crate) fn recovery(&self, id: FaceId) -> Option<Counters> {
        self.recoveries.counters(id, self.get(id).map(|port| &port.link))
    }

    /// Detects neighbours on other machines that fall silent or are replaced, from now on.
    pub(crate) fn watch(&mut self) {
        self.recoveries.watches = true;
        for (_, port) in self.ports.iter_mut().filter(|(_, port)| !port.is_local) {
            Recoveries::begin_watch(&mut port.link);
        }
    }

    /// Whether the neighbour of a face has left all questions unanswered.
    pub(crate) fn is_silent(&self, id: FaceId) -> bool {
        self.recoveries.watches && self.get(id).is_some_and(|it| Recoveries::is_silent(&it.link))
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
