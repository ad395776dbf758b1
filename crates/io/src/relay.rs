//! A link between UDP faces: a frame that reaches one end leaves by the other, as two machines of frames decide.
//!
//! The relay waits and forwards; the machines decide delay, order and loss. Waits are as exact as the system's
//! timers; the relay measures its lateness. A frame enters at the time at which the
//! system received it. Several clients share the link: each has a socket of its own toward the far
//! end, so that answers return to their client. All frames of a direction pass one machine.
mod clients;
mod port;

pub use clients::{ClientCount, ClientId, IDLE_LIMIT, MAX_CLIENTS};

use bytes::Bytes;
use clients::Clients;
use port::{Port, Received};
use recoup_transport::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A frame, with the client that sent it or that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFrame {
    /// The client at the near end.
    pub client: ClientId,
    /// The frame as the socket delivered it.
    pub bytes: Bytes,
}

/// One direction of a link: a machine that takes frames and hands them out when they are at the far end.
pub trait FrameMachine: Send + 'static {
    /// A frame enters.
    fn handle(&mut self, now: Instant, frame: ClientFrame);
    /// Hands out a frame that has arrived; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<ClientFrame>;
    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Instant>;
}

/// How much later than wanted a relay woke up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// How often it woke up for a deadline.
    pub times: u64,
    /// All of it together.
    pub total: Duration,
    /// The worst.
    pub worst: Duration,
}

impl Lateness {
    fn note(&mut self, late: Duration) {
        self.times += 1;
        self.total += late;
        self.worst = self.worst.max(late);
    }

    /// The mean.
    pub fn mean(&self) -> Duration {
        self.total / u32::try_from(self.times.max(1)).unwrap_or(u32::MAX)
    }
}

/// Counters of a link that has ended.
#[derive(Debug)]
pub struct Relayed<M> {
    /// The machine toward the far end.
    pub forth: M,
    /// The machine toward the near end.
    pub back: M,
    /// How late the relay was.
    pub lateness: Lateness,
    /// Frames that arrived at an end without a receiver: their client had expired or was not known yet, or the system
    /// rejected them.
    pub undelivered: u64,
    /// The clients at the near end.
    pub clients: ClientCount,
}

/// Largest UDP payload.
const FRAME: usize = 65_536;
/// The relay looks at least this often whether it shall stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Reads from a socket before others have their turn.
const BATCH: usize = 64;

/// Between which addresses a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Near address that the link listens on.
    pub near: SocketAddr,
    /// The address of a client that is known before it has sent a frame. It never expires.
    pub peer: Option<SocketAddr>,
    /// The address of the far end.
    pub far: SocketAddr,
}

/// A link that listens at one end, run by its own thread until it is dropped.
#[derive(Debug)]
pub struct Relay<M> {
    address: SocketAddr,
    far_address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Relayed<M>>>,
}

impl<M: FrameMachine> Relay<M> {
    /// Listens at `near` (port 0: any). A frame of a client passes `forth` on its way to `far`; an answer passes `back` on
    /// its way to that client.
    ///
    /// # Errors
    /// When a socket cannot be opened or the thread not be started.
    pub fn start(span: Span, forth: M, back: M) -> io::Result<Self> {
        let near = Port::new(crate::port::at(span.near)?)?;
        let clients = Clients::new(span.far, span.peer)?;
        let (address, far_address) = (near.socket().local_addr()?, clients.first_address()?);
        let stop = Arc::new(AtomicBool::new(false));
        let mut ends = Ends {
            near,
            clients,
            forth,
            back,
            began: std::time::Instant::now(),
            latest: Latest::default(),
            buffer: vec![0; FRAME],
            lateness: Lateness::default(),
            undelivered: 0,
        };
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("link".into()).spawn(move || {
            be_punctual();
            while !stopped.load(Ordering::Relaxed) {
                ends.turn();
            }
            let Ends { forth, back, lateness, undelivered, clients, .. } = ends;
            Relayed { forth, back, lateness, undelivered, clients: clients.count() }
        })?;
        Ok(Self { address, far_address, stop, thread: Some(thread) })
    }

    /// Ends the link; `None` if its thread broke down.
    pub fn finish(mut self) -> Option<Relayed<M>> {
        self.join()
    }
}

impl<M> Relay<M> {
    /// Where the near end speaks to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address from which the far end receives the frames of the first client.
    pub fn far_address(&self) -> SocketAddr {
        self.far_address
    }

    /// Its thread has ended by itself, which it should not.
    pub fn is_broken(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn join(&mut self) -> Option<Relayed<M>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl<M> Drop for Relay<M> {
    fn drop(&mut self) {
        self.join();
    }
}

/// Timers are 50 µs late otherwise, so that the system can save power.
fn be_punctual() {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZero::new(1));
    }
}

#[derive(Debug)]
struct Ends<M> {
    near: Port,
    clients: Clients,
    forth: M,
    back: M,
    began: std::time::Instant,
    latest: Latest,
    buffer: Vec<u8>,
    lateness: Lateness,
    undelivered: u64,
}

/// The latest time passed to each machine.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    forth: Instant,
    back: Instant,
}

impl Latest {
    /// Entry time of a frame that waited this long until `now`; never before the machine's last
    /// time.
    fn entry(machine: &mut Instant, now: Instant, waited: Duration) -> Instant {
        *machine = (now - waited).max(*machine);
        *machine
    }
}

/// The sockets that have something to read.
#[derive(Debug, Default)]
struct Ready {
    near: bool,
    clients: Vec<ClientId>,
}

impl<M: FrameMachine> Ends<M> {
    fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    /// Waits until something is to be done, and does it.
    fn turn(&mut self) {
        let ready = self.wait();
        // Frames that come while others are read enter later than this.
        let now = self.now();
        if ready.near {
            self.receive_near();
        }
        for client in ready.clients {
            self.receive_far(client);
        }
        self.deliver(now.max(self.latest.forth).max(self.latest.back));
        self.clients.expire(self.now());
    }

    fn receive_near(&mut self) {
        for _ in 0..BATCH {
            let Some(received) = self.near.receive(&mut self.buffer) else {
                return;
            };
            let now = self.now();
            if let Some(client) = self.clients.admit(now, received.from) {
                self.clients.note_local(client, received.to);
                let at = Latest::entry(&mut self.latest.forth, now, received.waited);
                for bytes in frames(&self.buffer, &received) {
                    self.forth.handle(at, ClientFrame { client, bytes });
                }
            }
        }
    }

    fn receive_far(&mut self, client: ClientId) {
        for _ in 0..BATCH {
            let now = self.now();
            let Some(port) = self.clients.port(now, client) else {
                return;
            };
            let Some(received) = port.receive(&mut self.buffer) else {
                return;
            };
            let now = self.now();
            let at = Latest::entry(&mut self.latest.back, now, received.waited);
            for bytes in frames(&self.buffer, &received) {
                self.back.handle(at, ClientFrame { client, bytes });
            }
        }
    }

    /// Sends what is at its end by `now`.
    fn deliver(&mut self, now: Instant) {
        self.latest = Latest { forth: now, back: now };
        while let Some(ClientFrame { client, bytes }) = self.forth.poll(now) {
            let sent = self.clients.port(now, client).map(|port| port.socket().send(&bytes));
            self.undelivered += u64::from(!matches!(sent, Some(Ok(_))));
            if let Some(Err(error)) = sent {
                self.clients.note_rejected(&error);
            }
        }
        while let Some(ClientFrame { client, bytes }) = self.back.poll(now) {
            let address = self.clients.address(client);
            let sent = address.map(|(to, local)| self.near.send(&bytes, to, local));
            self.undelivered += u64::from(!matches!(sent, Some(Ok(()))));
        }
    }

    fn wait(&mut self) -> Ready {
        let now = self.now();
        let due = [self.forth.deadline(), self.back.deadline()].into_iter().flatten().min();
        let sleep = due.map_or(STOP_CHECK, |due| due.since(now).min(STOP_CHECK));
        let timeout =
            Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: i64::from(sleep.subsec_nanos()) };
        let mut polled: Vec<PollFd<'_>> = vec![PollFd::new(&self.near, PollFlags::IN)];
        polled.extend(self.clients.ports().map(|port| PollFd::new(port, PollFlags::IN)));
        // A signal ends the wait early, which does no harm.
        let found = poll(&mut polled, Some(&timeout));
        let mut is_ready = polled.iter().map(|fd| !fd.revents().is_empty());
        let near = is_ready.next().unwrap_or_default();
        let clients = self.clients.ids().zip(is_ready);
        let clients = clients.filter_map(|(client, is_ready)| is_ready.then_some(client)).collect();
        if let Some(due) = due
            && matches!(found, Ok(0))
            && self.now() >= due
        {
            self.lateness.note(self.now().since(due.max(now)));
        }
        Ready { near, clients }
    }
}

/// The frames that were received together.
fn frames<'a>(buffer: &'a [u8], received: &Received) -> impl Iterator<Item = Bytes> + use<'a> {
    let bytes = buffer.get(..received.bytes).unwrap_or_default();
    bytes.chunks(received.stride).map(Bytes::copy_from_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::net::{Ipv4Addr, UdpSocket};

    /// Frames arrive after a delay.
    #[derive(Debug, Default)]
    struct Delay {
        delay: Duration,
        in_flight: VecDeque<(Instant, ClientFrame)>,
        carried: u32,
    }

    impl FrameMachine for Delay {
        fn handle(&mut self, now: Instant, frame: ClientFrame) {
            self.carried += 1;
            self.in_flight.push_back((now + self.delay, frame));
        }

        fn poll(&mut self, now: Instant) -> Option<ClientFrame> {
            self.in_flight.front().filter(|(due, _)| *due <= now)?;
            self.in_flight.pop_front().map(|(_, frame)| frame)
        }

        fn deadline(&self) -> Option<Instant> {
            self.in_flight.front().map(|(due, _)| *due)
        }
    }

    fn end() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket
    }

    fn delay(millis: u64) -> Delay {
        Delay { delay: Duration::from_millis(millis), ..Delay::default() }
    }

    /// From any port of ours to this end.
    fn span(far: &UdpSocket) -> Span {
        let near = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Span { near, peer: None, far: far.local_addr().unwrap() }
    }

    #[test]
    fn far_end_may_send_first() {
        let (near, far) = (end(), end());
        let span = Span { peer: near.local_addr().ok(), ..span(&far) };
        let relay = Relay::start(span, delay(0), delay(0)).unwrap();
        far.send_to(b"hello", relay.far_address()).unwrap();
        let mut buffer = [0; 10];
        let (bytes, from) = near.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..bytes], from), (&b"hello"[..], relay.address()));
    }

    #[test]
    fn answer_leaves_from_the_address_asked() {
        let wildcards = [Some("0.0.0.0:0"), crate::port::has_both_families().then_some("[::]:0")];
        for near in wildcards.into_iter().flatten() {
            let (client, far) = (end(), end());
            let span = Span { near: near.parse().unwrap(), ..span(&far) };
            let relay = Relay::start(span, delay(0), delay(0)).unwrap();
            for last in [5, 6] {
                let asked = SocketAddr::from(([127, 0, 0, last], relay.address().port()));
                client.send_to(b"question", asked).unwrap();
                let mut buffer = [0; 10];
                let (_, from) = far.recv_from(&mut buffer).unwrap();
                far.send_to(b"answer", from).unwrap();
                assert_eq!(client.recv_from(&mut buffer).unwrap(), (6, asked), "{near}");
            }
        }
    }

    #[test]
    fn relay_delays_frames_in_both_directions() {
        let (near, far) = (end(), end());
        let relay = Relay::start(span(&far), delay(20), delay(1)).unwrap();
        let began = std::time::Instant::now();
        near.send_to(b"question", relay.address()).unwrap();
        let mut buffer = [0; 100];
        let (bytes, from) = far.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..bytes], b"question");
        assert!(began.elapsed() >= Duration::from_millis(20), "{:?}", began.elapsed());
        far.send_to(b"answer", from).unwrap();
        let bytes = near.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..bytes], b"answer");
        assert!(!relay.is_broken());
        let relayed = relay.finish().unwrap();
        assert_eq!((relayed.forth.carried, relayed.back.carried, relayed.undelivered), (1, 1, 0));
        assert!(relayed.lateness.times > 0 && relayed.lateness.mean() <= relayed.lateness.worst);
    }

    #[test]
    fn frame_enters_at_its_monotonic_receive_time() {
        let at = Instant::from_millis;
        let mut latest = at(10);
        let entry = |latest: &mut Instant, now, waited| {
            Latest::entry(latest, at(now), Duration::from_millis(waited))
        };
        assert_eq!(entry(&mut latest, 25, 5), at(20));
        assert_eq!(entry(&mut latest, 26, 8), at(20));
        assert_eq!(latest, at(20));
    }

    #[test]
    fn socket_reports_how_long_a_frame_waited() {
        let port = Port::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).unwrap();
        let near = end();
        near.send_to(b"frame", port.socket().local_addr().unwrap()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let mut buffer = vec![0; FRAME];
        let received = port.receive(&mut buffer).unwrap();
        assert_eq!(received.from, near.local_addr().unwrap());
        assert_eq!(frames(&buffer, &received).collect::<Vec<_>>(), [&b"frame"[..]]);
        // Other systems do not report it.
        assert_eq!(received.waited >= Duration::from_millis(10), cfg!(target_os = "linux"));
        assert!(port.receive(&mut buffer).is_none());
    }

    #[test]
    fn absent_end_does_not_break_the_link() {
        let far = end();
        let relay = Relay::start(span(&far), delay(0), delay(0)).unwrap();
        let near = end();
        near.send_to(b"1", relay.address()).unwrap();
        let (_, from) = far.recv_from(&mut [0; 10]).unwrap();
        drop(near);
        for _ in 0..3 {
            far.send_to(b"2", from).unwrap();
        }
        // Whether the system reports a port that is closed is its own business; nothing breaks.
        std::thread::sleep(Duration::from_millis(20));
        assert!(!relay.is_broken());
        let relayed = relay.finish().unwrap();
        assert_eq!((relayed.forth.carried, relayed.back.carried), (1, 3));
    }

    #[test]
    fn answers_return_to_their_own_client() {
        let (far, clients) = (end(), [end(), end(), end()]);
        let relay = Relay::start(span(&far), delay(0), delay(5)).unwrap();
        let mut buffer = [0; 10];
        let mut asked = Vec::new();
        for (number, client) in clients.iter().enumerate() {
            client.send_to(&[number as u8], relay.address()).unwrap();
            let (length, from) = far.recv_from(&mut buffer).unwrap();
            asked.push((buffer[..length].to_vec(), from));
        }
        // In the reverse order: the client that spoke last is the first to be answered.
        for (question, from) in asked.iter().rev() {
            far.send_to(question, from).unwrap();
        }
        for (number, client) in clients.iter().enumerate() {
            let length = client.recv(&mut buffer).unwrap();
            assert_eq!(&buffer[..length], [number as u8]);
        }
        let relayed = relay.finish().unwrap();
        assert_eq!((relayed.back.carried, relayed.undelivered), (3, 0));
        let count = ClientCount { admitted: 3, ..ClientCount::default() };
        assert_eq!(relayed.clients, count);
    }

    #[test]
    fn frames_beyond_the_client_limit_are_counted() {
        let far = end();
        let relay = Relay::start(span(&far), delay(0), delay(0)).unwrap();
        let clients: Vec<_> = (0..MAX_CLIENTS + 3).map(|_| end()).collect();
        let mut arrived = 0;
        for client in &clients[..MAX_CLIENTS] {
            client.send_to(b"x", relay.address()).unwrap();
            arrived += far.recv(&mut [0; 10]).unwrap();
        }
        for client in &clients[MAX_CLIENTS..] {
            client.send_to(b"x", relay.address()).unwrap();
        }
        clients[0].send_to(b"x", relay.address()).unwrap();
        arrived += far.recv(&mut [0; 10]).unwrap();
        assert_eq!(arrived, MAX_CLIENTS + 1);
        let count = relay.finish().unwrap().clients;
        assert_eq!((count.admitted, count.rejected_frames), (MAX_CLIENTS as u64, 3));
    }
}
