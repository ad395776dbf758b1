//! A node as one of several workers: messages, and packets of other workers.
use super::Node;
use super::view::NodeView;
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::flow;
use crate::observer::Observer;
use crate::order::Notice;
use crate::packet::{Body, Packet};
use crate::shard::{DataSearch, Placement, RingTask, Shard, Task, Visit, Worker, WorkerMessage};
use crate::table::CsCapacity;
use crate::tally::Tally;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<O: Observer> Node<O> {
    /// Handles a message of another worker.
    pub(super) fn on_message(&mut self, now: Instant, message: WorkerMessage) {
        match message {
            WorkerMessage::Came { face, header, packet, search } => {
                self.take_in(now, face, header.as_deref(), packet, search);
            }
            WorkerMessage::Leaves { face, group, packet } => {
                self.leave(now, face, group, packet);
            }
            WorkerMessage::Answered { face, key, bytes } => {
                self.forwarder.edge.links.charge_flow(face, key, bytes);
            }
            WorkerMessage::Lost { face, interest } => {
                self.forwarder.packet_lost(now, face, &Body::Interest(interest));
            }
            WorkerMessage::FaceUp { face, worker, attributes } => {
                self.face_up(now, face, *attributes, Some(worker));
            }
            WorkerMessage::FaceDown { face } => self.face_down(now, face),
            WorkerMessage::FaceHeld { face, silent } => self.hold(now, face, silent),
            WorkerMessage::FaceReleased { face, silent } => self.release(now, face, silent),
            WorkerMessage::GivenUp { face, name } => self.forwarder.given_up(now, face, name),
            WorkerMessage::Route(change) => self.change_route(now, &change),
            WorkerMessage::RoutesGone { face, prefixes } => {
                self.forwarder.remove_routes(face, &prefixes);
            }
            WorkerMessage::Schedule { face, scheduling } => {
                let (links, out) = self.links_and_out();
                links.plan(now, face, *scheduling, out);
            }
            WorkerMessage::Notice(notice) => self.apply_notice(now, *notice),
            WorkerMessage::Task(task) => self.on_task(now, *task),
        }
    }

    /// Sends a packet of another worker by a face of this one.
    fn leave(&mut self, now: Instant, face: FaceId, group: Option<FaceId>, packet: Packet) {
        let content = group.map(|_| flow::content(&self.forwarder.hasher, packet.name()));
        let (links, out) = self.links_and_out();
        match group.zip(content) {
            Some(flow) => links.schedule(now, face, flow, packet, out),
            None => links.transmit(now, face, packet, out),
        }
    }

    fn send(&mut self, worker: Worker, message: WorkerMessage) {
        self.out().send_to_worker(worker, message);
    }

    /// Sends a message to all other workers, if there are any.
    pub(super) fn send_to_all(&mut self, message: impl Fn() -> WorkerMessage) {
        let others = self.shard.as_ref().map(|shard| shard.others());
        others.into_iter().flatten().for_each(|worker| self.send(worker, message()));
    }

    /// Sends a message to all other workers, if this worker is the leader.
    pub(super) fn send_as_leader(&mut self, message: impl Fn() -> WorkerMessage) {
        if self.shard.as_ref().is_some_and(|shard| shard.leads()) {
            self.send_to_all(message);
        }
    }

    /// Forwards a report of the driver about a face to the leader, or to all workers.
    pub(super) fn forward_notice(&mut self, notice: &Notice) {
        let leads = self.shard.as_ref().is_some_and(|shard| shard.leads());
        let message = || WorkerMessage::Notice(Box::new(notice.clone()));
        match notice {
            Notice::FaceGone { .. } => self.send_to_all(message),
            Notice::Strategy { .. } => self.send_as_leader(message),
            Notice::FaceKnown { .. } | Notice::FaceMade { .. } if !leads => self.send(0, message()),
            _ => {}
        }
    }

    // --- packets --------------------------------------------------------------------------------

    /// Passes a network packet from a face of this node to the worker that it belongs to, if permitted.
    #[inline(never)]
    pub(super) fn read_as_worker(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
    ) {
        if !self.is_too_fast(now, face, header, &packet) {
            self.sort(now, face, header, packet, DataSearch::default());
        }
    }

    fn sort(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
        search: DataSearch,
    ) {
        let place = |shard: &Shard| shard.place(&packet, search.next.unwrap_or(0));
        let Some(Placement { worker, next }) = self.shard.as_deref().and_then(place) else {
            return self.out().dropped(face, None, DropReason::Malformed);
        };
        let search = DataSearch { next, ..search };
        if self.shard.as_ref().is_some_and(|shard| shard.worker() == worker) {
            return self.take_in(now, face, header, packet, search);
        }
        let header = header.map(|header| Box::new(header.clone()));
        self.send(worker, WorkerMessage::Came { face, header, packet, search });
    }

    /// Handles a network packet that belongs to this worker.
    fn take_in(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: Bytes,
        search: DataSearch,
    ) {
        let read = match self.forwarder.decode(header, &packet) {
            Ok(read) => read,
            Err(reason) => return self.out().dropped(face, None, reason),
        };
        if search.next.is_some() {
            let here = self.forwarder.enter(now, face, read, Visit::Passing);
            let answered = here || search.answered;
            return self.sort(now, face, header, packet, DataSearch { answered, ..search });
        }
        self.forwarder.edge.links.wire_buffers().came = read.leaves_as(packet);
        self.forwarder.enter(now, face, read, Visit::Last { answered: search.answered });
        self.forwarder.edge.links.wire_buffers().came = None;
    }

    /// Rejects an Interest beyond the rate limit of a face of this node; returns whether it did.
    fn is_too_fast(
        &mut self,
        now: Instant,
        face: FaceId,
        header: Option<&LpHeader>,
        packet: &Bytes,
    ) -> bool {
        let is_interest = packet.first().is_some_and(|it| u64::from(*it) == typ::INTEREST);
        let is_nack = header.is_some_and(|header| header.nack.is_some());
        if !is_interest || is_nack || self.forwarder.faces.admits(now, face) {
            return false;
        }
        match self.forwarder.decode(header, packet) {
            Ok(packet) => self.forwarder.reject_fast(now, face, packet),
            Err(reason) => self.out().dropped(face, None, reason),
        }
        true
    }

    /// Passes an Interest that a link lost to the worker that it belongs to; `false` if it is this one.
    pub(super) fn forward_lost(&mut self, face: FaceId, interest: &Arc<Interest>) -> bool {
        let Some(shard) = &self.shard else {
            return false;
        };
        let worker = shard.worker_of_interest(&interest.name);
        let is_here = worker == shard.worker();
        if !is_here {
            self.send(worker, WorkerMessage::Lost { face, interest: Arc::clone(interest) });
        }
        !is_here
    }

    /// The worker that Interests for a name belong to; `None` if it is this one.
    pub(super) fn worker_elsewhere(&self, name: &Name) -> Option<Worker> {
        let shard = self.shard.as_ref()?;
        Some(shard.worker_of_interest(name)).filter(|worker| *worker != shard.worker())
    }

    // --- tasks ----------------------------------------------------------------------------------

    /// Handles a task from another worker.
    fn on_task(&mut self, now: Instant, task: RingTask) {
        if self.shard.as_ref().is_some_and(|shard| shard.leads()) {
            self.task_done(task);
            self.follow_management(now);
        } else {
            self.pass_task(task);
        }
    }

    /// Executes a task here, and passes it to the next worker; without another worker it is done.
    pub(super) fn pass_task(&mut self, mut task: RingTask) {
        self.carry_out_task(&mut task.task);
        match self.shard.as_ref().map(|shard| (shard.next(), shard.worker())) {
            Some((next, own)) if next != own => {
                self.send(next, WorkerMessage::Task(Box::new(task)))
            }
            _ => self.task_done(task),
        }
    }

    fn task_done(&mut self, task: RingTask) {
        if let Task::Count(tally) = &task.task {
            self.set_others(Tally::clone(tally));
        }
        let Self { forwarder, management: Some(management), shard, .. } = self else {
            return;
        };
        management.task_done(task, &NodeView { forwarder, shard: shard.as_deref() });
    }

    /// Executes a task here.
    fn carry_out_task(&mut self, task: &mut Task) {
        match task {
            // The leader adds its own counters.
            Task::Count(_) if self.management.is_some() => {}
            Task::Count(tally) => tally.add(&self.tally()),
            Task::Erase { prefix, left, erased, more } => {
                let (here, more_here) = self.forwarder.cs.erase(prefix, *left);
                *left -= here.min(*left);
                *erased += here;
                *more |= more_here;
            }
            Task::Configure { capacity, admits, serves, holds } => {
                let store = &mut self.forwarder.cs;
                if let Some(packets) = *capacity {
                    let share = self.shard.as_ref().map_or(packets, |it| it.options.share(packets));
                    store.set_capacity(CsCapacity::Packets(share));
                }
                if let Some(admits) = *admits {
                    store.set_admitting(admits);
                }
                if let Some(serves) = *serves {
                    store.set_serving(serves);
                }
                *holds = holds.saturating_add(store.capacity().packets());
            }
        }
    }
}
