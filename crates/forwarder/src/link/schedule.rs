//! Schedulers of faces: the order and time of outgoing packets.
//!
//! A scheduler stands between the pipelines and the link of a face. Interests and Data pass it, each as part of a
//! flow. Nacks are short and bypass it. A packet passes when the scheduler permits and the link is ready; application
//! faces have no scheduler.
//!
//! Source: Udugama et al., hop-by-hop fairness (2013): Interests after the FIB look-up, charged with the Data that
//! they request; Data after the PIT match and from the content store.
use super::{Duty, Link, Links, Port, Shared, Timers, port};
use crate::counters::QueueState;
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::flow::{flow, nonce_of};
use crate::message::Output;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Hop, Kind, Packet};
use recoup_transport::queue::{
    Charge, Discipline, FairScheduler, FlowKey, Rejected, Rejection, Scheduling,
};
use recoup_transport::time::Instant;

/// The scheduler of one face.
#[derive(Debug)]
pub(super) struct Scheduler {
    discipline: Discipline,
    queue: Box<dyn FairScheduler<Packet>>,
    /// Time of its next packet, as set in [`Timers`].
    due: Option<Instant>,
}

impl Scheduler {
    fn new(Scheduling { discipline, capacity }: Scheduling) -> Self {
        Self { discipline, queue: discipline.build(capacity), due: None }
    }

    pub(super) fn state(&self) -> QueueState {
        QueueState { packets: self.queue.packets(), bytes: self.queue.bytes() }
    }

    /// Removes any queued packet.
    pub(super) fn evict(&mut self) -> Option<Packet> {
        self.queue.evict()
    }

    pub(super) fn arm(&mut self, id: FaceId, timers: &mut Timers, due: Option<Instant>) {
        timers.set(&mut self.due, Duty::Schedule, id, due);
    }

    /// Changes discipline and capacity; queued packets beyond the new limits are returned.
    fn change(&mut self, now: Instant, id: FaceId, to: Scheduling) -> Vec<Packet> {
        let Scheduling { discipline, capacity } = to;
        if self.discipline == discipline {
            self.queue.set_capacity(capacity);
            return Vec::new();
        }
        let mut before = std::mem::replace(&mut self.queue, discipline.build(capacity));
        self.discipline = discipline;
        let mut lost = Vec::new();
        while let Some(packet) = before.evict() {
            let key = FlowKey { group: id.0, flow: 0 };
            let moved = self.queue.enqueue(now, key, Charge::Itself, packet);
            lost.extend(moved.err().map(|rejected| rejected.item));
        }
        lost
    }
}

impl Links {
    /// Sets the scheduler of a face, up or not.
    pub(crate) fn plan<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        scheduling: Scheduling,
        out: &mut Outbox<O>,
    ) {
        self.plans.insert(id, scheduling);
        self.open_scheduler(now, id, out);
        let Self { ports, shared, .. } = self;
        if let Some(port) = port(ports, id) {
            port.let_pass(now, id, shared, out);
        }
        self.limit_held();
    }

    /// Creates or changes the scheduler of a face that is up.
    pub(super) fn open_scheduler<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        out: &mut Outbox<O>,
    ) {
        let Self { ports, plans, default_plan, schedulers, .. } = self;
        let Some(port) = port(ports, id) else {
            return;
        };
        // Applications on this machine receive packets without pacing.
        let default = default_plan.filter(|_| !port.is_local);
        let Some(plan) = plans.get(&id).copied().or(default) else {
            return;
        };
        match &mut port.scheduler {
            Some(scheduler) => {
                for packet in scheduler.change(now, id, plan) {
                    out.drop_packet(id, &packet, DropReason::QueueFull);
                }
            }
            none => {
                *none = Some(Box::new(Scheduler::new(plan)));
                *schedulers += 1;
            }
        }
    }

    /// Schedules an Interest or Data for a neighbour; `content` is the hash of its content.
    pub(crate) fn schedule<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        (neighbour, content): (FaceId, u64),
        packet: Packet,
        out: &mut Outbox<O>,
    ) {
        let Self { ports, shared, hasher, .. } = self;
        let Some(port) = port(ports, id) else {
            return out.drop_packet(id, &packet, DropReason::NoFace);
        };
        let Some(scheduler) = &mut port.scheduler else {
            port.transmit(now, id, packet, shared, out);
            return self.limit_held();
        };
        let charge = match packet.kind() {
            Kind::Interest => Charge::Answer,
            Kind::Data | Kind::Nack | Kind::Idle => Charge::Itself,
        };
        let flow = flow(hasher, content, nonce_of(&packet.hop));
        let key = FlowKey { group: neighbour.0, flow };
        let takes_it = match &port.link {
            Link::Wire(_) => true,
            Link::Value(link) => link.medium.is_ready(now),
        };
        let offered = match takes_it {
            true => scheduler.queue.offer(now, key, charge, packet),
            false => scheduler.queue.enqueue(now, key, charge, packet).map(|()| None),
        };
        match offered {
            Ok(Some(packet)) => {
                port.link.set_scheduled(scheduler.queue.bytes());
                port.transmit(now, id, packet, shared, out);
            }
            Ok(None) => {
                port.let_pass(now, id, shared, out);
                port.report_queue(id, out);
            }
            Err(Rejected { item, why }) => out.drop_packet(id, &item, reason(why)),
        }
        self.limit_held();
    }

    /// Charges the scheduler of `ingress` for Data that answers an Interest of a flow.
    pub(crate) fn charge(
        &mut self,
        ingress: FaceId,
        (neighbour, content): (FaceId, u64),
        nonce: Option<u64>,
        came: &Hop,
    ) {
        let Self { ports, hasher, .. } = self;
        let scheduler = port(ports, ingress).and_then(|port| port.scheduler.as_mut());
        if let Some(scheduler) = scheduler {
            let key = FlowKey { group: neighbour.0, flow: flow(hasher, content, nonce) };
            scheduler.queue.answered(key, came.link_bytes());
        }
    }
}

impl Port {
    /// Sends all packets that may pass, while the link is ready.
    pub(super) fn let_pass<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        shared: &mut Shared,
        out: &mut Outbox<O>,
    ) {
        while let Some(scheduler) = &mut self.scheduler {
            if let Link::Value(link) = &mut self.link
                && !link.medium.is_ready(now)
            {
                if scheduler.queue.packets() > 0 && link.medium.ask() {
                    out.push(Output::Wants { face: id });
                }
                return scheduler.arm(id, &mut shared.timers, None);
            }
            let Some(packet) = scheduler.queue.dequeue(now) else {
                let due = scheduler.queue.deadline();
                return scheduler.arm(id, &mut shared.timers, due);
            };
            let is_last = scheduler.queue.packets() == 0;
            if is_last {
                scheduler.arm(id, &mut shared.timers, None);
            }
            self.link.set_scheduled(scheduler.queue.bytes());
            self.transmit(now, id, packet, shared, out);
            if is_last {
                return;
            }
        }
    }

    fn report_queue<O: Observer>(&self, id: FaceId, out: &mut Outbox<O>) {
        if out.observer.is_recording()
            && let Some(QueueState { packets, bytes }) =
                self.scheduler.as_ref().map(|it| it.state())
            && packets > 0
        {
            let (packets, bytes) = (packets as u32, bytes as u32);
            out.event(NodeEvent::Queued { face: id, packets, bytes });
        }
    }
}

impl Link {
    /// Sets the bytes queued at the scheduler, behind the next packet.
    fn set_scheduled(&mut self, bytes: u64) {
        match self {
            Self::Wire(link) => link.scheduled_bytes = bytes,
            Self::Value(link) => link.scheduled_bytes = bytes,
        }
    }
}

fn reason(why: Rejection) -> DropReason {
    match why {
        Rejection::Full => DropReason::QueueFull,
        Rejection::FlowFull => DropReason::FlowFull,
        Rejection::TooManyFlows => DropReason::TooManyFlows,
    }
}
