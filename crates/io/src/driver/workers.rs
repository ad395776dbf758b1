//! Drivers of the workers of one forwarder.
//!
//! The first worker has all listeners and opens all faces. Connections, and sockets of one face,
//! are assigned to workers in turn. Peers of a UDP listener, multi-access faces and Ethernet
//! stations stay with the socket's worker. The first worker counts all faces and chooses the face
//! to evict, on any worker.
use super::channel::{Channels, FaceHandover, LastReceived, Message};
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::room::{Neighbour, PeerKind};
use super::{Arrival, Driver, DriverError, DriverOptions, Token};
use crate::face::{CloseReason, FaceId};
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::management::Notice;
use recoup_forwarder::node::{Input, Machine};
use recoup_forwarder::shard::Worker;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Time until queued messages are offered to a full ring again.
const RETRY: Duration = Duration::from_millis(1);

/// A face that the first worker has opened and another one has.
#[derive(Debug)]
pub(super) struct RemoteFace {
    worker: Worker,
    kind: Option<PeerKind>,
    neighbour: Option<Neighbour>,
    /// Where it leads, if this side has opened it.
    remote: Option<String>,
    last_received: LastReceived,
}

/// A face that is to move at the end of the turn.
#[derive(Debug)]
pub(super) struct PendingMove {
    id: FaceId,
    worker: Worker,
    ticket: Option<u64>,
}

impl Driver {
    /// The drivers of so many workers, at least one, the first of which is to open everything. Each belongs to a thread of its
    /// own, with a node that is the part of the same number
    /// ([`ShardOptions::of`](recoup_forwarder::shard::ShardOptions::of)).
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn workers(workers: Worker, options: &DriverOptions) -> Result<Vec<Self>, DriverError> {
        let mut drivers = Vec::new();
        for _ in 0..workers.max(1) {
            drivers.push(Self::with_options(options.clone())?);
        }
        let (clock, calendar) = (drivers[0].clock, drivers[0].calendar);
        if drivers.len() > 1 {
            let all = Channels::among(drivers.iter().map(Self::waker).collect());
            for (driver, channels) in drivers.iter_mut().zip(all) {
                (driver.clock, driver.calendar, driver.channels) =
                    (clock, calendar, Some(channels));
            }
        }
        Ok(drivers)
    }

    /// Sends something to another worker.
    pub(super) fn write(&mut self, to: Worker, message: Message) {
        let dropped = self.channels.as_mut().map_or(0, |channels| channels.send(to, message));
        self.note_busy(dropped);
    }

    /// Lets others have what was sent to them.
    pub(super) fn publish(&mut self) {
        let dropped = self.channels.as_mut().map_or(0, Channels::publish);
        self.note_busy(dropped);
    }

    fn note_busy(&mut self, packets: u64) {
        if packets > 0 {
            *self.node_drops.entry(DropReason::WorkerBusy).or_default() += packets;
        }
    }

    /// Does what others have sent; how many messages there were.
    pub(super) fn receive_messages<M: Machine + ?Sized>(&mut self, machine: &mut M) -> usize {
        let Some(channels) = &mut self.channels else {
            return 0;
        };
        let mut messages = std::mem::take(&mut self.messages);
        channels.take(&mut messages);
        let (count, now) = (messages.len(), self.clock.now());
        for message in messages.drain(..) {
            match message {
                Message::Node(message) => machine.handle(now, Input::Worker(message)),
                Message::Handover(handover) => self.accept_face(*handover),
                Message::Order(order) => self.obey(*order),
                Message::Close(face, reason) => self.close_for(face, reason),
                Message::Closed(face) => self.forget_remote(face),
            }
        }
        self.messages = messages;
        count
    }

    /// Time of the next attempt to publish queued messages.
    pub(super) fn retry_at(&self, now: Instant) -> Option<Instant> {
        self.channels.as_ref().filter(|channels| channels.is_stuck()).map(|_| now + RETRY)
    }

    /// Whether another worker has left so many messages lying that nothing is to be read that may lead to more.
    pub(super) fn is_held_up(&self) -> bool {
        self.channels.as_ref().is_some_and(Channels::is_overfull)
    }

    /// Gives another worker time to take its messages.
    pub(super) fn hold(&mut self) {
        self.held_up += 1;
        std::thread::sleep(RETRY);
    }

    /// How often this worker has read nothing for a millisecond because another one left its messages lying.
    pub fn held_up(&self) -> u64 {
        self.held_up
    }

    // --- faces that move ------------------------------------------------------------------------

    /// To whom a face that is opened goes, if not to this worker.
    pub(super) fn home_of(&mut self, face: &Face) -> Option<Worker> {
        let channels = self.channels.as_ref().filter(|_| !face.uri.is_medium())?;
        if let Conduit::Udp(peer) = &face.conduit
            && let Some(Some(Port { used: PortUse::Shared { .. }, .. })) = self.ports.get(peer.port)
        {
            return None;
        }
        let home = self.next_home % channels.workers();
        self.next_home = home + 1;
        (home != channels.worker()).then_some(home)
    }

    /// Schedules the move of a face, after all pending notices of its opener.
    pub(super) fn schedule_move(&mut self, id: FaceId, worker: Worker) {
        self.pending_moves.push(PendingMove { id, worker, ticket: None });
    }

    /// Whether a face is about to move.
    pub(super) fn moves(&self, id: FaceId) -> bool {
        self.pending_moves.iter().any(|pending| pending.id == id)
    }

    /// Lets the new owner of a face answer the command that opened it; `false` if the face stays.
    pub(super) fn leave_answer(&mut self, id: FaceId, ticket: u64) -> bool {
        let pending = self.pending_moves.iter_mut().find(|pending| pending.id == id);
        pending.map(|pending| pending.ticket = Some(ticket)).is_some()
    }

    /// Sends faces to where they belong.
    pub(super) fn send_moves(&mut self) {
        for PendingMove { id, worker, ticket } in std::mem::take(&mut self.pending_moves) {
            let Some(mut face) = self.faces.remove(&id) else {
                continue;
            };
            let port = match &face.conduit {
                Conduit::Udp(peer) => self.take_port(peer.port),
                Conduit::Link { .. } | Conduit::Down { .. } => None,
            };
            let last_received = LastReceived::new(face.last_received.as_nanos().into());
            face.shared_last_received = Some(Arc::clone(&last_received));
            let (kind, neighbour) = (face.peer_kind(), face.neighbour);
            let remote = face.permanent.then(|| face.remote_text());
            self.remote_faces
                .insert(id, RemoteFace { worker, kind, neighbour, remote, last_received });
            self.write(
                worker,
                Message::Handover(Box::new(FaceHandover { id, face, port, ticket })),
            );
        }
    }

    /// A face comes that is this worker's from here on.
    fn accept_face(&mut self, handover: FaceHandover) {
        let FaceHandover { id, mut face, port, ticket } = handover;
        let mut failed = None;
        if let (Some(socket), Conduit::Udp(peer)) = (port, &mut face.conduit) {
            let port = Port { socket, used: PortUse::Connected(id), writes: false };
            match self.add_port(port) {
                Ok(index) => peer.port = index,
                Err(error) => failed = Some(error),
            }
        }
        self.move_into(id, face);
        if let Some(ticket) = ticket {
            let made = Notice::FaceMade { ticket, outcome: Ok(id) };
            self.arrivals.push_back(Arrival::Notice(Box::new(made)));
        }
        if let Some(error) = failed {
            self.end(id, error.into(), false);
        }
    }

    /// Removes a socket from this worker.
    fn take_port(&mut self, index: usize) -> Option<crate::udp::UdpPort> {
        let port = self.ports.get_mut(index)?.take()?;
        self.watch.remove(port.socket.fd(), Token::Port(index));
        Some(port.socket)
    }

    // --- faces that others have -----------------------------------------------------------------

    /// The worker that has a face which this one has opened, or will have it.
    pub fn worker_of(&self, id: FaceId) -> Worker {
        let own = self.channels.as_ref().map_or(0, Channels::worker);
        let pending = self
            .pending_moves
            .iter()
            .find(|pending| pending.id == id)
            .map(|pending| pending.worker);
        pending.or(self.holder(id)).unwrap_or(own)
    }

    /// The other worker that has a face which this one has opened.
    pub(super) fn holder(&self, id: FaceId) -> Option<Worker> {
        self.remote_faces.get(&id).map(|remote_face| remote_face.worker)
    }

    /// The face of another worker that was opened toward there.
    pub(super) fn remote_toward(&self, remote: &str) -> Option<FaceId> {
        let leads = |remote_face: &RemoteFace| remote_face.remote.as_deref() == Some(remote);
        self.remote_faces.iter().find(|(_, remote_face)| leads(remote_face)).map(|(id, _)| *id)
    }

    /// A face of this worker is gone for good.
    pub(super) fn report_left(&mut self, id: FaceId) {
        if self.channels.as_ref().is_some_and(|channels| channels.worker() != 0) {
            self.write(0, Message::Closed(id));
        }
    }

    /// A face of another worker is gone for good, or about to go.
    pub(super) fn forget_remote(&mut self, id: FaceId) {
        if let Some(RemoteFace { kind: Some(kind), neighbour, .. }) = self.remote_faces.remove(&id)
        {
            self.move_out(kind, neighbour);
        }
    }

    /// Ends a face of another worker.
    pub(super) fn close_remote(&mut self, id: FaceId, reason: CloseReason) {
        if let Some(worker) = self.holder(id) {
            self.forget_remote(id);
            self.write(worker, Message::Close(id, reason));
        }
    }

    /// Idle on-demand faces of other workers, with the time of their last frame.
    pub(super) fn idle_remote(
        &self,
        may_go: impl Fn(PeerKind, Option<Neighbour>) -> bool,
    ) -> impl Iterator<Item = (Instant, FaceId)> {
        let remote_faces = self.remote_faces.iter();
        let may_go = move |it: &RemoteFace| it.kind.is_some_and(|kind| may_go(kind, it.neighbour));
        remote_faces.filter(move |(_, it)| may_go(it)).map(|(id, it)| {
            (Instant::ZERO + Duration::from_nanos(it.last_received.load(Ordering::Relaxed)), *id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;
    use recoup_forwarder::face::FaceUse;
    use recoup_forwarder::management::{FaceOrder, FaceSettings};
    use recoup_forwarder::node::Output;
    use recoup_transport::time::TimeOfDay;

    /// Records its inputs.
    #[derive(Default)]
    struct InputLog(Vec<String>);

    impl Machine for InputLog {
        fn handle(&mut self, _: Instant, input: Input) {
            self.0.push(match input {
                Input::FaceUp { face, .. } => format!("up {}", face.0),
                Input::FaceDown { face } => format!("down {}", face.0),
                Input::Notice(notice) => match *notice {
                    Notice::FaceKnown { face, .. } => format!("known {}", face.0),
                    Notice::FaceGone { face } => format!("gone {}", face.0),
                    Notice::FaceMade { ticket, outcome } => format!("made {ticket} {outcome:?}"),
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            });
        }

        fn poll(&mut self, _: Instant) -> Option<Output> {
            None
        }

        fn deadline(&self) -> Option<Instant> {
            None
        }
    }

    fn two(options: &DriverOptions) -> (Driver, Driver) {
        let mut drivers = Driver::workers(2, options).unwrap();
        let mut second = drivers.pop().unwrap();
        let mut first = drivers.pop().unwrap();
        // The next face is for the second one.
        (first.next_home, second.next_home) = (1, 1);
        (first, second)
    }

    /// Inputs of a machine that result from pending events and messages.
    fn inputs(driver: &mut Driver) -> Vec<String> {
        let mut log = InputLog::default();
        driver.send_moves();
        driver.deliver(&mut log, &mut |_, _, _| {});
        log.0
    }

    #[test]
    fn faces_are_assigned_round_robin() {
        let (mut first, mut second) = two(&DriverOptions::default());
        let pairs: Vec<_> = (0..4).map(|_| memory::pair(1 << 20).unwrap()).collect();
        let (ours, _theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let ids: Vec<_> = ours.into_iter().map(|end| first.attach(end, false).unwrap()).collect();
        assert_eq!(ids.iter().map(|id| first.worker_of(*id)).collect::<Vec<_>>(), [1, 0, 1, 0]);
        assert_eq!(inputs(&mut first), ["up 2", "up 4"]);
        assert_eq!(inputs(&mut second), ["up 1", "up 3"]);
        assert_eq!(ids.iter().map(|id| first.worker_of(*id)).collect::<Vec<_>>(), [1, 0, 1, 0]);
        first.close(FaceId(3));
        assert_eq!(inputs(&mut second), ["down 3"]);
        assert!(second.is_up(FaceId(1)) && !second.is_up(FaceId(3)));
    }

    #[test]
    fn owner_of_a_face_answers_its_commands() {
        let (mut first, mut second) =
            two(&DriverOptions { managed: true, ..DriverOptions::default() });
        let uri = "udp4://127.0.0.1:9".to_owned();
        let settings = FaceSettings { mtu: Some(1_000), ..FaceSettings::default() };
        let created = settings.clone();
        first.obey(FaceOrder::Create { ticket: 7, uri, local_uri: None, settings: created });
        assert_eq!(inputs(&mut first), [""; 0]);
        assert_eq!(inputs(&mut second), ["known 1", "up 1", "made 7 Ok(FaceId(1))"]);
        assert_eq!(second.describe(FaceId(1)).unwrap().mtu, 1_000);
        assert_eq!(first.remote_toward("udp4://127.0.0.1:9"), Some(FaceId(1)));
        let settings = FaceSettings { mtu: Some(900), ..settings };
        first.obey(FaceOrder::Update { ticket: 8, face: FaceId(1), settings });
        assert_eq!(inputs(&mut first), [""; 0]);
        assert_eq!(inputs(&mut second), ["up 1", "known 1", "made 8 Ok(FaceId(1))"]);
        assert_eq!(second.describe(FaceId(1)).unwrap().mtu, 900);
        first.obey(FaceOrder::Destroy { face: FaceId(1) });
        assert_eq!(inputs(&mut second), ["down 1", "gone 1"]);
        assert_eq!(second.faces().count(), 0);
    }

    #[test]
    fn full_queue_to_a_worker_stops_reading() {
        let (mut first, mut second) = two(&DriverOptions::default());
        first.set_longest_wait(Some(Duration::from_millis(5)));
        let door = first.listen(&"udp4://127.0.0.1:0".parse().unwrap()).unwrap();
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut messages = 0;
        while !first.is_held_up() {
            first.write(1, Message::Closed(FaceId(messages)));
            messages += 1;
        }
        peer.send_to(&[5, 2, 7, 0], door.address.unwrap()).unwrap();
        let mut log = InputLog::default();
        for _ in 0..20 {
            first.turn(&mut log, &mut |_, _, _| {}).unwrap();
        }
        assert_eq!((first.faces().count(), first.held_up()), (0, 20));
        let (mut taken, end) = (0, first.now() + Duration::from_secs(20));
        while log.0.len() < 2 && first.now() < end {
            taken += second.receive_messages(&mut InputLog::default());
            first.turn(&mut log, &mut |_, _, _| {}).unwrap();
        }
        taken += second.receive_messages(&mut InputLog::default());
        assert_eq!((taken as u32, log.0.len()), (messages, 2), "{:?}", log.0);
        assert!(!first.is_held_up());
    }

    #[test]
    fn changed_clock_is_reported_once() {
        let (mut first, mut second) = two(&DriverOptions::default());
        for driver in [&mut first, &mut second] {
            driver.set_longest_wait(Some(Duration::from_millis(1)));
            let (now, shown) = (driver.now(), driver.time_of_day());
            driver.calendar = TimeOfDay::at(now, shown.micros(now) - 3_600_000_000);
        }
        let mut logs = [InputLog::default(), InputLog::default()];
        for _ in 0..3 {
            first.turn(&mut logs[0], &mut |_, _, _| {}).unwrap();
            second.turn(&mut logs[1], &mut |_, _, _| {}).unwrap();
        }
        let [first, other] = logs.map(|log| log.0);
        assert_eq!((first.len(), other), (1, Vec::new()), "{first:?}");
        assert!(first[0].starts_with("TimeOfDay"), "{first:?}");
    }

    #[test]
    fn longest_idle_face_is_evicted_on_any_worker() {
        let options = DriverOptions { on_demand_faces: 2, ..DriverOptions::default() };
        let unused = |_| FaceUse::default();
        let (mut first, mut second) = two(&options);
        let [(one, _one), (other, _other)] = [(); 2].map(|()| memory::pair(1 << 20).unwrap());
        first.attach(one, false).unwrap();
        first.attach(other, false).unwrap();
        inputs(&mut first);
        inputs(&mut second);
        let now = first.now();
        let room = |first: &mut Driver, at| first.make_room(at, PeerKind::Local, None, &unused);
        assert!(!room(&mut first, now), "no face has been idle for long");
        let later = now + Duration::from_secs(5);
        assert!(room(&mut first, later), "one face can be evicted");
        assert_eq!(inputs(&mut second), ["down 1"]);
        assert_eq!((first.peers(), first.remote_faces.len()), (1, 0));
        // That it has left is known by then.
        inputs(&mut first);
        assert_eq!((first.peers(), first.faces().count()), (1, 1));
    }
}
