//! Drivers of the workers of one forwarder.
//!
//! The first one has all listeners and opens all faces. Connections, and sockets for datagrams that one face has for itself, are
//! given to all in turn. Peers of a UDP listener stay with its socket, and so do faces that several share, and stations. How many faces there are, and who has to go for another,
//! is for the first one to say, whoever has them.
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::post::{Heard, Letter, Post, Settler};
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

/// What waits for room at another worker is offered again after this time.
const RETRY: Duration = Duration::from_millis(1);

/// A face that the first worker has opened and another one has.
#[derive(Debug)]
pub(super) struct Tenant {
    worker: Worker,
    kind: Option<PeerKind>,
    neighbour: Option<Neighbour>,
    /// Where it leads, if this side has opened it.
    remote: Option<String>,
    heard: Heard,
}

/// A face that is to move at the end of the turn.
#[derive(Debug)]
pub(super) struct Mover {
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
            let posts = Post::among(drivers.iter().map(Self::waker).collect());
            for (driver, post) in drivers.iter_mut().zip(posts) {
                (driver.clock, driver.calendar, driver.post) = (clock, calendar, Some(post));
            }
        }
        Ok(drivers)
    }

    /// Sends something to another worker.
    pub(super) fn write(&mut self, to: Worker, letter: Letter) {
        let dropped = self.post.as_mut().map_or(0, |post| post.send(to, letter));
        self.note_busy(dropped);
    }

    /// Lets others have what was sent to them.
    pub(super) fn publish(&mut self) {
        let dropped = self.post.as_mut().map_or(0, Post::publish);
        self.note_busy(dropped);
    }

    fn note_busy(&mut self, packets: u64) {
        if packets > 0 {
            *self.node_drops.entry(DropReason::WorkerBusy).or_default() += packets;
        }
    }

    /// Does what others have sent; how many letters there were.
    pub(super) fn open_letters<M: Machine + ?Sized>(&mut self, machine: &mut M) -> usize {
        let Some(post) = &mut self.post else {
            return 0;
        };
        let mut letters = std::mem::take(&mut self.letters);
        post.take(&mut letters);
        let (count, now) = (letters.len(), self.clock.now());
        for letter in letters.drain(..) {
            match letter {
                Letter::Node(message) => machine.handle(now, Input::Worker(message)),
                Letter::Settle(settler) => self.settle_in(*settler),
                Letter::Order(order) => self.obey(*order),
                Letter::Close(face, reason) => self.close_for(face, reason),
                Letter::Left(face) => self.vacate(face),
            }
        }
        self.letters = letters;
        count
    }

    /// When to look again whether others have room for what waits.
    pub(super) fn retry_at(&self, now: Instant) -> Option<Instant> {
        self.post.as_ref().filter(|post| post.is_stuck()).map(|_| now + RETRY)
    }

    /// Whether another worker has left so many letters lying that nothing is to be read that may lead to more.
    pub(super) fn is_held_up(&self) -> bool {
        self.post.as_ref().is_some_and(Post::is_overfull)
    }

    /// Gives another worker time to take its letters.
    pub(super) fn hold(&mut self) {
        self.held_up += 1;
        std::thread::sleep(RETRY);
    }

    /// How often this worker has read nothing for a millisecond because another one left its letters lying.
    pub fn held_up(&self) -> u64 {
        self.held_up
    }

    // --- faces that move ------------------------------------------------------------------------

    /// To whom a face that is opened goes, if not to this worker.
    pub(super) fn home_of(&mut self, face: &Face) -> Option<Worker> {
        let post = self.post.as_ref().filter(|_| !face.uri.is_medium())?;
        if let Conduit::Udp(peer) = &face.conduit
            && let Some(Some(Port { used: PortUse::Shared { .. }, .. })) = self.ports.get(peer.port)
        {
            return None;
        }
        let home = self.next_home % post.workers();
        self.next_home = home + 1;
        (home != post.worker()).then_some(home)
    }

    /// A face moves as soon as all is said that its opener has to say of it.
    pub(super) fn let_move(&mut self, id: FaceId, worker: Worker) {
        self.movers.push(Mover { id, worker, ticket: None });
    }

    /// Whether a face is about to move.
    pub(super) fn moves(&self, id: FaceId) -> bool {
        self.movers.iter().any(|mover| mover.id == id)
    }

    /// Who gets a face answers the command by which it was opened; `false` if it stays.
    pub(super) fn leave_answer(&mut self, id: FaceId, ticket: u64) -> bool {
        let mover = self.movers.iter_mut().find(|mover| mover.id == id);
        mover.map(|mover| mover.ticket = Some(ticket)).is_some()
    }

    /// Sends faces to where they belong.
    pub(super) fn send_off(&mut self) {
        for Mover { id, worker, ticket } in std::mem::take(&mut self.movers) {
            let Some(mut face) = self.faces.remove(&id) else {
                continue;
            };
            let port = match &face.conduit {
                Conduit::Udp(peer) => self.take_port(peer.port),
                Conduit::Link { .. } | Conduit::Down { .. } => None,
            };
            let heard = Heard::new(face.last_heard.as_nanos().into());
            face.heard_by_others = Some(Arc::clone(&heard));
            let (kind, neighbour) = (face.peer_kind(), face.neighbour);
            let remote = face.permanent.then(|| face.remote_text());
            self.elsewhere.insert(id, Tenant { worker, kind, neighbour, remote, heard });
            self.write(worker, Letter::Settle(Box::new(Settler { id, face, port, ticket })));
        }
    }

    /// A face comes that is this worker's from here on.
    fn settle_in(&mut self, settler: Settler) {
        let Settler { id, mut face, port, ticket } = settler;
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

    /// Takes a socket out that nobody watches any more.
    fn take_port(&mut self, index: usize) -> Option<crate::udp::UdpPort> {
        let port = self.ports.get_mut(index)?.take()?;
        self.watch.remove(port.socket.fd(), Token::Port(index));
        Some(port.socket)
    }

    // --- faces that others have -----------------------------------------------------------------

    /// The worker that has a face which this one has opened, or will have it.
    pub fn worker_of(&self, id: FaceId) -> Worker {
        let own = self.post.as_ref().map_or(0, Post::worker);
        let mover = self.movers.iter().find(|mover| mover.id == id).map(|mover| mover.worker);
        mover.or(self.holder(id)).unwrap_or(own)
    }

    /// The other worker that has a face which this one has opened.
    pub(super) fn holder(&self, id: FaceId) -> Option<Worker> {
        self.elsewhere.get(&id).map(|tenant| tenant.worker)
    }

    /// The face of another worker that was opened toward there.
    pub(super) fn elsewhere_toward(&self, remote: &str) -> Option<FaceId> {
        let leads = |tenant: &Tenant| tenant.remote.as_deref() == Some(remote);
        self.elsewhere.iter().find(|(_, tenant)| leads(tenant)).map(|(id, _)| *id)
    }

    /// A face of this worker is gone for good.
    pub(super) fn report_left(&mut self, id: FaceId) {
        if self.post.as_ref().is_some_and(|post| post.worker() != 0) {
            self.write(0, Letter::Left(id));
        }
    }

    /// A face of another worker is gone for good, or about to go.
    pub(super) fn vacate(&mut self, id: FaceId) {
        if let Some(Tenant { kind: Some(kind), neighbour, .. }) = self.elsewhere.remove(&id) {
            self.move_out(kind, neighbour);
        }
    }

    /// Ends a face of another worker.
    pub(super) fn close_elsewhere(&mut self, id: FaceId, reason: CloseReason) {
        if let Some(worker) = self.holder(id) {
            self.vacate(id);
            self.write(worker, Letter::Close(id, reason));
        }
    }

    /// Since when on-demand faces of other workers have heard nothing, of those who live there.
    pub(super) fn silent_elsewhere(
        &self,
        may_go: impl Fn(PeerKind, Option<Neighbour>) -> bool,
    ) -> impl Iterator<Item = (Instant, FaceId)> {
        let tenants = self.elsewhere.iter();
        let may_go = move |it: &Tenant| it.kind.is_some_and(|kind| may_go(kind, it.neighbour));
        tenants.filter(move |(_, it)| may_go(it)).map(|(id, it)| {
            (Instant::ZERO + Duration::from_nanos(it.heard.load(Ordering::Relaxed)), *id)
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

    /// Notes what it is told.
    #[derive(Default)]
    struct Ear(Vec<String>);

    impl Machine for Ear {
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

    /// What a machine is told in consequence of what has happened and come.
    fn told(driver: &mut Driver) -> Vec<String> {
        let mut ear = Ear::default();
        driver.send_off();
        driver.deliver(&mut ear, &mut |_, _, _| {});
        ear.0
    }

    #[test]
    fn faces_are_given_to_all_in_turn_and_have_one_number_everywhere() {
        let (mut first, mut second) = two(&DriverOptions::default());
        let pairs: Vec<_> = (0..4).map(|_| memory::pair(1 << 20).unwrap()).collect();
        let (ours, _theirs): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let ids: Vec<_> = ours.into_iter().map(|end| first.attach(end, false).unwrap()).collect();
        assert_eq!(ids.iter().map(|id| first.worker_of(*id)).collect::<Vec<_>>(), [1, 0, 1, 0]);
        assert_eq!(told(&mut first), ["up 2", "up 4"]);
        assert_eq!(told(&mut second), ["up 1", "up 3"]);
        assert_eq!(ids.iter().map(|id| first.worker_of(*id)).collect::<Vec<_>>(), [1, 0, 1, 0]);
        first.close(FaceId(3));
        assert_eq!(told(&mut second), ["down 3"]);
        assert!(second.is_up(FaceId(1)) && !second.is_up(FaceId(3)));
    }

    #[test]
    fn commands_are_answered_by_the_worker_that_gets_or_has_the_face() {
        let (mut first, mut second) =
            two(&DriverOptions { managed: true, ..DriverOptions::default() });
        let uri = "udp4://127.0.0.1:9".to_owned();
        let settings = FaceSettings { mtu: Some(1_000), ..FaceSettings::default() };
        let created = settings.clone();
        first.obey(FaceOrder::Create { ticket: 7, uri, local_uri: None, settings: created });
        assert_eq!(told(&mut first), [""; 0]);
        assert_eq!(told(&mut second), ["known 1", "up 1", "made 7 Ok(FaceId(1))"]);
        assert_eq!(second.describe(FaceId(1)).unwrap().mtu, 1_000);
        assert_eq!(first.elsewhere_toward("udp4://127.0.0.1:9"), Some(FaceId(1)));
        let settings = FaceSettings { mtu: Some(900), ..settings };
        first.obey(FaceOrder::Update { ticket: 8, face: FaceId(1), settings });
        assert_eq!(told(&mut first), [""; 0]);
        assert_eq!(told(&mut second), ["up 1", "known 1", "made 8 Ok(FaceId(1))"]);
        assert_eq!(second.describe(FaceId(1)).unwrap().mtu, 900);
        first.obey(FaceOrder::Destroy { face: FaceId(1) });
        assert_eq!(told(&mut second), ["down 1", "gone 1"]);
        assert_eq!(second.faces().count(), 0);
    }

    #[test]
    fn nothing_is_read_as_long_as_another_worker_leaves_its_letters_lying() {
        let (mut first, mut second) = two(&DriverOptions::default());
        first.set_longest_wait(Some(Duration::from_millis(5)));
        let door = first.listen(&"udp4://127.0.0.1:0".parse().unwrap()).unwrap();
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut letters = 0;
        while !first.is_held_up() {
            first.write(1, Letter::Left(FaceId(letters)));
            letters += 1;
        }
        peer.send_to(&[5, 2, 7, 0], door.address.unwrap()).unwrap();
        let mut ear = Ear::default();
        for _ in 0..20 {
            first.turn(&mut ear, &mut |_, _, _| {}).unwrap();
        }
        assert_eq!((first.faces().count(), first.held_up()), (0, 20));
        let (mut taken, end) = (0, first.now() + Duration::from_secs(20));
        while ear.0.len() < 2 && first.now() < end {
            taken += second.open_letters(&mut Ear::default());
            first.turn(&mut ear, &mut |_, _, _| {}).unwrap();
        }
        taken += second.open_letters(&mut Ear::default());
        assert_eq!((taken as u32, ear.0.len()), (letters, 2), "{:?}", ear.0);
        assert!(!first.is_held_up());
    }

    #[test]
    fn a_clock_that_is_set_is_reported_once_by_the_first() {
        let (mut first, mut second) = two(&DriverOptions::default());
        for driver in [&mut first, &mut second] {
            driver.set_longest_wait(Some(Duration::from_millis(1)));
            let (now, shown) = (driver.now(), driver.time_of_day());
            driver.calendar = TimeOfDay::at(now, shown.micros(now) - 3_600_000_000);
        }
        let mut ears = [Ear::default(), Ear::default()];
        for _ in 0..3 {
            first.turn(&mut ears[0], &mut |_, _, _| {}).unwrap();
            second.turn(&mut ears[1], &mut |_, _, _| {}).unwrap();
        }
        let [told, other] = ears.map(|ear| ear.0);
        assert_eq!((told.len(), other), (1, Vec::new()), "{told:?}");
        assert!(told[0].starts_with("TimeOfDay"), "{told:?}");
    }

    #[test]
    fn the_longest_silent_has_to_go_for_a_newcomer_whoever_has_it() {
        let options = DriverOptions { on_demand_faces: 2, ..DriverOptions::default() };
        let unused = |_| FaceUse::default();
        let (mut first, mut second) = two(&options);
        let [(one, _one), (other, _other)] = [(); 2].map(|()| memory::pair(1 << 20).unwrap());
        first.attach(one, false).unwrap();
        first.attach(other, false).unwrap();
        told(&mut first);
        told(&mut second);
        let now = first.now();
        let room = |first: &mut Driver, at| first.make_room(at, PeerKind::Local, None, &unused);
        assert!(!room(&mut first, now), "nobody has been silent for long");
        let later = now + Duration::from_secs(5);
        assert!(room(&mut first, later), "there is room for one");
        assert_eq!(told(&mut second), ["down 1"]);
        assert_eq!((first.peers(), first.elsewhere.len()), (1, 0));
        // That it has left is known by then.
        told(&mut first);
        assert_eq!((first.peers(), first.faces().count()), (1, 1));
    }
}
