//! An impaired link between two UDP sockets of this machine: rate, delay, queue and loss.
//!
//! [`Pipe`] is the model, a machine without a clock: one direction of a link. [`Relay`] drives two
//! pipes with the real clock and real sockets: what reaches its address leaves for the far end, and
//! what the far end answers goes back to whoever spoke last.
use bytes::Bytes;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What one direction of a link does to frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipeProfile {
    /// Bits per second that leave the queue; 0 means without limit.
    pub bits_per_second: u64,
    /// Time on the way, after the last bit has left.
    pub delay: Duration,
    /// Octets that may wait, the frame being sent included; what does not fit is lost (drop-tail).
    pub queue_octets: u64,
    /// Probability that a frame that has left is lost on the way.
    pub loss: f64,
}

/// Why a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipeLoss {
    /// The queue was full.
    QueueFull,
    /// The way lost it.
    Way,
}

/// What a pipe did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeCount {
    /// Frames that entered.
    pub entered: u64,
    /// Frames that came out.
    pub delivered: u64,
    /// Frames that found the queue full.
    pub queue_full: u64,
    /// Frames lost on the way.
    pub lost: u64,
}

/// One direction of a link.
///
/// The queue is virtual: the instant at which a frame will have left is known when it enters, so no
/// wake-up is spent on it.
#[derive(Debug)]
pub struct Pipe {
    profile: PipeProfile,
    rng: Rng,
    /// When the last frame in the queue will have left.
    free_at: Instant,
    /// Part of a nanosecond that the last transmissions owe, in units of 1/bits_per_second.
    remainder: u64,
    /// (when it will have left, octets), for the length of the queue.
    queue: VecDeque<(Instant, u64)>,
    queued_octets: u64,
    /// (when it arrives, frame).
    flying: VecDeque<(Instant, Bytes)>,
    count: PipeCount,
}

impl Pipe {
    /// An empty pipe; losses come from `rng`.
    pub fn new(profile: PipeProfile, rng: Rng) -> Self {
        Self {
            profile,
            rng,
            free_at: Instant::ZERO,
            remainder: 0,
            queue: VecDeque::new(),
            queued_octets: 0,
            flying: VecDeque::new(),
            count: PipeCount::default(),
        }
    }

    /// A frame enters. Tells at once if it is lost.
    pub fn handle(&mut self, now: Instant, frame: Bytes) -> Result<(), PipeLoss> {
        self.count.entered += 1;
        self.leave(now);
        let octets = frame.len() as u64;
        if self.queued_octets + octets > self.profile.queue_octets {
            self.count.queue_full += 1;
            return Err(PipeLoss::QueueFull);
        }
        let left = self.free_at.max(now) + self.transmission(now, octets);
        self.free_at = left;
        self.queue.push_back((left, octets));
        self.queued_octets += octets;
        if self.rng.unit_f64() < self.profile.loss {
            self.count.lost += 1;
            return Err(PipeLoss::Way);
        }
        self.flying.push_back((left + self.profile.delay, frame));
        Ok(())
    }

    /// Hands out a frame that has arrived; to be called until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Bytes> {
        if self.deadline()? > now {
            return None;
        }
        self.count.delivered += 1;
        self.flying.pop_front().map(|(_, frame)| frame)
    }

    /// When the next frame arrives.
    pub fn deadline(&self) -> Option<Instant> {
        self.flying.front().map(|(arrives, _)| *arrives)
    }

    /// What happened so far; what entered is delivered, lost, or still inside.
    pub fn count(&self) -> PipeCount {
        self.count
    }

    /// Time to send `octets`, exact in the long run: what is cut off is carried over.
    fn transmission(&mut self, now: Instant, octets: u64) -> Duration {
        let rate = self.profile.bits_per_second;
        if rate == 0 {
            return Duration::ZERO;
        }
        if self.free_at <= now {
            self.remainder = 0;
        }
        let work = u128::from(octets) * 8_000_000_000 + u128::from(self.remainder);
        self.remainder = (work % u128::from(rate)) as u64;
        Duration::from_nanos((work / u128::from(rate)) as u64)
    }

    fn leave(&mut self, now: Instant) {
        while let Some((left, octets)) = self.queue.front().copied() {
            if left > now {
                break;
            }
            self.queue.pop_front();
            self.queued_octets -= octets;
        }
    }
}

/// Largest UDP payload.
const FRAME: usize = 65_536;
/// Socket buffer asked for, so that the relay itself loses nothing.
const SOCKET_BUFFER: usize = 4 << 20;
/// The relay looks at least this often whether it shall stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Frames read from a socket before others have their turn.
const BATCH: usize = 64;

/// An impaired link in front of a UDP address, run by its own thread until it is dropped.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(PipeCount, PipeCount)>>,
}

impl Relay {
    /// Opens a port on the loopback interface; frames that reach it pass `toward` on their way to
    /// `far_end`, and what that answers passes `back`.
    ///
    /// # Errors
    /// When a socket cannot be opened or the thread not be started.
    pub fn start(
        far_end: SocketAddr,
        toward: PipeProfile,
        back: PipeProfile,
        rng: &Rng,
    ) -> io::Result<Self> {
        let near = socket(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?)?;
        let far = socket(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?)?;
        far.connect(far_end)?;
        let address = near.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut ends = Ends {
            near,
            far,
            client: None,
            toward: Pipe::new(toward, rng.substream("toward")),
            back: Pipe::new(back, rng.substream("back")),
            began: std::time::Instant::now(),
            buffer: vec![0; FRAME],
        };
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("link".into()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                ends.turn();
            }
            (ends.toward.count(), ends.back.count())
        })?;
        Ok(Self { address, stop, thread: Some(thread) })
    }

    /// Where the near end speaks to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the link; says what happened toward the far end and back.
    pub fn finish(mut self) -> (PipeCount, PipeCount) {
        self.join()
    }

    fn join(&mut self) -> (PipeCount, PipeCount) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.join();
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
struct Ends {
    near: UdpSocket,
    far: UdpSocket,
    client: Option<SocketAddr>,
    toward: Pipe,
    back: Pipe,
    began: std::time::Instant,
    buffer: Vec<u8>,
}

impl Ends {
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
            let frame = Bytes::copy_from_slice(&self.buffer[..octets]);
            // Lost is lost; the pipe counts it.
            let _ = self.toward.handle(self.now(), frame);
        }
        for _ in 0..BATCH {
            let Ok(octets) = self.far.recv(&mut self.buffer) else {
                break;
            };
            let frame = Bytes::copy_from_slice(&self.buffer[..octets]);
            let _ = self.back.handle(self.now(), frame);
        }
        self.deliver();
    }

    fn deliver(&mut self) {
        let now = self.now();
        while let Some(frame) = self.toward.poll(now) {
            // An end that is not there yet, or no more, loses what is sent to it.
            let _ = self.far.send(&frame);
        }
        while let Some(frame) = self.back.poll(now) {
            if let Some(client) = self.client {
                let _ = self.near.send_to(&frame, client);
            }
        }
    }

    fn wait(&self) {
        let now = self.now();
        let due = [self.toward.deadline(), self.back.deadline()].into_iter().flatten().min();
        let sleep = due.map_or(STOP_CHECK, |due| due.since(now).min(STOP_CHECK));
        let timeout =
            Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: i64::from(sleep.subsec_nanos()) };
        let mut ready =
            [PollFd::new(&self.near, PollFlags::IN), PollFd::new(&self.far, PollFlags::IN)];
        // A signal ends the wait early, which does no harm.
        let _ = poll(&mut ready, Some(&timeout));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> PipeProfile {
        PipeProfile {
            bits_per_second: 10_000_000,
            delay: Duration::from_millis(20),
            queue_octets: 10_000,
            loss: 0.0,
        }
    }

    fn frame(octets: usize) -> Bytes {
        Bytes::from(vec![0; octets])
    }

    #[test]
    fn a_frame_takes_its_transmission_and_the_delay() {
        let mut pipe = Pipe::new(profile(), Rng::from_seed(1));
        pipe.handle(Instant::ZERO, frame(1000)).unwrap();
        pipe.handle(Instant::ZERO, frame(1000)).unwrap();
        assert_eq!(pipe.deadline(), Some(Instant::from_nanos(20_800_000)));
        assert!(pipe.poll(Instant::from_nanos(20_799_999)).is_none());
        assert!(pipe.poll(Instant::from_nanos(20_800_000)).is_some());
        assert_eq!(pipe.deadline(), Some(Instant::from_nanos(21_600_000)));
    }

    #[test]
    fn a_full_queue_drops_what_comes_last_and_empties_in_time() {
        let mut pipe = Pipe::new(profile(), Rng::from_seed(1));
        for _ in 0..10 {
            pipe.handle(Instant::ZERO, frame(1000)).unwrap();
        }
        assert_eq!(pipe.handle(Instant::ZERO, frame(1)), Err(PipeLoss::QueueFull));
        let later = Instant::from_nanos(800_000);
        assert_eq!(pipe.handle(later, frame(1000)), Ok(()));
    }

    #[test]
    fn the_rate_is_exact_in_the_long_run() {
        let slow = PipeProfile {
            bits_per_second: 7_000_000,
            delay: Duration::ZERO,
            queue_octets: u64::MAX,
            loss: 0.0,
        };
        let mut pipe = Pipe::new(slow, Rng::from_seed(1));
        for _ in 0..7_000 {
            pipe.handle(Instant::ZERO, frame(125)).unwrap();
        }
        assert_eq!(pipe.flying.back().unwrap().0, Instant::from_millis(1000));
    }

    #[test]
    fn losses_follow_the_seed_and_every_frame_is_accounted_for() {
        let lossy = PipeProfile { loss: 0.02, queue_octets: 1 << 30, ..profile() };
        let run = |seed| {
            let mut pipe = Pipe::new(lossy, Rng::from_seed(seed));
            (0..10_000).filter(|_| pipe.handle(Instant::ZERO, frame(100)).is_err()).count()
        };
        assert_eq!(run(7), run(7));
        assert!((150..250).contains(&run(7)), "{}", run(7));
        let mut pipe = Pipe::new(lossy, Rng::from_seed(3));
        for _ in 0..1000 {
            let _ = pipe.handle(Instant::ZERO, frame(100));
        }
        while pipe.poll(Instant::MAX).is_some() {}
        let count = pipe.count();
        assert_eq!(count.entered, count.delivered + count.lost + count.queue_full);
    }

    #[test]
    fn a_relay_carries_frames_both_ways() {
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let quick =
            PipeProfile { bits_per_second: 0, delay: Duration::from_millis(1), ..profile() };
        let relay =
            Relay::start(far.local_addr().unwrap(), quick, quick, &Rng::from_seed(1)).unwrap();
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        near.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        far.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        near.send_to(b"question", relay.address()).unwrap();
        let mut buffer = [0; 100];
        let (octets, from) = far.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..octets], b"question");
        far.send_to(b"answer", from).unwrap();
        let octets = near.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..octets], b"answer");
        assert_eq!(relay.finish().0.delivered, 1);
    }
}
