//! A link between two UDP faces: what reaches one end leaves by the other, as two machines of frames want it.
//!
//! The relay waits and carries, the machines decide: what is delayed, held back, lost. It waits to the nanosecond as
//! far as the system can, and measures how late it was. An end that listens speaks with whoever spoke last.
use bytes::Bytes;
use recoup_transport::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// One direction of a link: a machine that takes frames and hands them out when they are at the far end.
pub trait FrameMachine: Send + 'static {
    /// A frame enters.
    fn handle(&mut self, now: Instant, frame: Bytes);
    /// Hands out a frame that has arrived; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<Bytes>;
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

/// What is left of a link that has ended.
#[derive(Debug)]
pub struct Relayed<M> {
    /// The machine toward the far end.
    pub forth: M,
    /// The machine toward the near end.
    pub back: M,
    /// How late the relay was.
    pub lateness: Lateness,
    /// Frames that no end took: nobody had spoken yet, or the system refused them.
    pub undelivered: u64,
}

/// Largest UDP payload.
const FRAME: usize = 65_536;
/// Socket buffer asked for, so that the relay itself loses nothing.
const SOCKET_BUFFER: usize = 4 << 20;
/// The relay looks at least this often whether it shall stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Frames read from a socket before others have their turn.
const BATCH: usize = 64;

/// Between which addresses a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it listens.
    pub near: SocketAddr,
    /// Who is at the near end, if that is known before it has spoken.
    pub peer: Option<SocketAddr>,
    /// Who is at the far end.
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
    /// Listens at `near` (port 0: any); what comes there passes `forth` on its way to `far`, and what that sends passes
    /// `back` on its way to whoever spoke last at the near end, to begin with `peer`.
    ///
    /// # Errors
    /// When a socket cannot be opened or the thread not be started.
    pub fn start(span: Span, forth: M, back: M) -> io::Result<Self> {
        let Span { near, peer, far } = span;
        let near = socket(UdpSocket::bind(near)?)?;
        let any: IpAddr =
            if far.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let end = socket(UdpSocket::bind((any, 0))?)?;
        end.connect(far)?;
        let (address, far_address) = (near.local_addr()?, end.local_addr()?);
        let stop = Arc::new(AtomicBool::new(false));
        let mut ends = Ends {
            near,
            far: end,
            client: peer,
            forth,
            back,
            began: std::time::Instant::now(),
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
            let Ends { forth, back, lateness, undelivered, .. } = ends;
            Relayed { forth, back, lateness, undelivered }
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

    /// Where the far end speaks to.
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

fn socket(socket: UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    // A system that grants less only makes the queue in front of the link shorter.
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, SOCKET_BUFFER);
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&socket, SOCKET_BUFFER);
    Ok(socket)
}

#[derive(Debug)]
struct Ends<M> {
    near: UdpSocket,
    far: UdpSocket,
    client: Option<SocketAddr>,
    forth: M,
    back: M,
    began: std::time::Instant,
    buffer: Vec<u8>,
    lateness: Lateness,
    undelivered: u64,
}

impl<M: FrameMachine> Ends<M> {
    fn now(&self) -> Instant {
        Instant::ZERO + self.began.elapsed()
    }

    /// Waits until something is to be done, and does it.
    fn turn(&mut self) {
        self.wait();
        for _ in 0..BATCH {
            let Ok((octets, from)) = self.near.recv_from(&mut self.buffer) else {
                break;
            };
            self.client = Some(from);
            let frame = Bytes::copy_from_slice(self.buffer.get(..octets).unwrap_or_default());
            self.forth.handle(self.now(), frame);
        }
        for _ in 0..BATCH {
            let Ok(octets) = self.far.recv(&mut self.buffer) else {
                break;
            };
            let frame = Bytes::copy_from_slice(self.buffer.get(..octets).unwrap_or_default());
            self.back.handle(self.now(), frame);
        }
        self.deliver();
    }

    fn deliver(&mut self) {
        let now = self.now();
        while let Some(frame) = self.forth.poll(now) {
            self.undelivered += u64::from(self.far.send(&frame).is_err());
        }
        while let Some(frame) = self.back.poll(now) {
            let sent = self.client.map(|client| self.near.send_to(&frame, client));
            self.undelivered += u64::from(!matches!(sent, Some(Ok(_))));
        }
    }

    fn wait(&mut self) {
        let now = self.now();
        let due = [self.forth.deadline(), self.back.deadline()].into_iter().flatten().min();
        let sleep = due.map_or(STOP_CHECK, |due| due.since(now).min(STOP_CHECK));
        let timeout =
            Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: i64::from(sleep.subsec_nanos()) };
        let mut ready =
            [PollFd::new(&self.near, PollFlags::IN), PollFd::new(&self.far, PollFlags::IN)];
        // A signal ends the wait early, which does no harm.
        let found = poll(&mut ready, Some(&timeout));
        if let Some(due) = due
            && matches!(found, Ok(0))
            && self.now() >= due
        {
            self.lateness.note(self.now().since(due.max(now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Frames arrive after a delay.
    #[derive(Debug, Default)]
    struct Delay {
        delay: Duration,
        flying: VecDeque<(Instant, Bytes)>,
        carried: u32,
    }

    impl FrameMachine for Delay {
        fn handle(&mut self, now: Instant, frame: Bytes) {
            self.carried += 1;
            self.flying.push_back((now + self.delay, frame));
        }

        fn poll(&mut self, now: Instant) -> Option<Bytes> {
            self.flying.front().filter(|(due, _)| *due <= now)?;
            self.flying.pop_front().map(|(_, frame)| frame)
        }

        fn deadline(&self) -> Option<Instant> {
            self.flying.front().map(|(due, _)| *due)
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
    fn the_far_end_may_speak_first_to_a_peer_that_is_known() {
        let (near, far) = (end(), end());
        let span = Span { peer: near.local_addr().ok(), ..span(&far) };
        let relay = Relay::start(span, delay(0), delay(0)).unwrap();
        far.send_to(b"hello", relay.far_address()).unwrap();
        let mut buffer = [0; 10];
        let (octets, from) = near.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..octets], from), (&b"hello"[..], relay.address()));
    }

    #[test]
    fn a_relay_carries_frames_both_ways_each_with_its_delay() {
        let (near, far) = (end(), end());
        let relay = Relay::start(span(&far), delay(20), delay(1)).unwrap();
        let began = std::time::Instant::now();
        near.send_to(b"question", relay.address()).unwrap();
        let mut buffer = [0; 100];
        let (octets, from) = far.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..octets], b"question");
        assert!(began.elapsed() >= Duration::from_millis(20), "{:?}", began.elapsed());
        far.send_to(b"answer", from).unwrap();
        let octets = near.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..octets], b"answer");
        assert!(!relay.is_broken());
        let relayed = relay.finish().unwrap();
        assert_eq!((relayed.forth.carried, relayed.back.carried, relayed.undelivered), (1, 1, 0));
        assert!(relayed.lateness.times > 0 && relayed.lateness.mean() <= relayed.lateness.worst);
    }

    #[test]
    fn an_end_that_is_gone_does_not_break_the_link() {
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
}
