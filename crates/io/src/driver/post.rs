//! The post between the drivers of a forwarder's workers.
//!
//! From each worker to each other leads a ring of its own, which one side fills and the other empties (`rtrb`): nobody waits and
//! nobody locks. What is sent in a turn is published in batches. A packet for which there is no room is dropped and counted;
//! everything else waits for room, and packets that come behind it do not overtake it. Who has so much waiting that another
//! worker seems not to run reads nothing from its sockets, whence all letters come, until that has taken some.
//!
//! Who has nothing to do sleeps in the system. Before it does it says so, and looks once more whether something has come; who
//! sends publishes first and looks then whether the other sleeps. Between the two steps of both stands a fence, so that at
//! least one of them sees what the other has done, and nobody sleeps on a letter.
use super::face_entry::Face;
use crate::face::{CloseReason, FaceId};
use crate::udp::UdpPort;
use crate::waker::Waker;
use recoup_forwarder::management::FaceOrder;
use recoup_forwarder::shard::{Worker, WorkerMessage};
use rtrb::{Consumer, Producer, RingBuffer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// Letters that fit a ring.
const RING: usize = 4_096;
/// So many are published together, unless the turn is over before.
const BATCH: usize = 64;

/// What one driver sends to another.
#[derive(Debug)]
pub(super) enum Letter {
    /// Something that machines say to each other.
    Node(WorkerMessage),
    /// The first worker has opened a face, which is to be the other's.
    Settle(Box<Settler>),
    /// The other is to carry this out.
    Order(Box<FaceOrder>),
    /// The other is to close a face.
    Close(FaceId, CloseReason),
    /// The first worker learns that a face is gone for good.
    Left(FaceId),
}

/// A face that moves.
#[derive(Debug)]
pub(super) struct Settler {
    pub(super) id: FaceId,
    pub(super) face: Face,
    /// Its socket, if it is one of its own for datagrams.
    pub(super) port: Option<UdpPort>,
    /// The command that it was opened by.
    pub(super) ticket: Option<u64>,
}

/// When something last arrived at a face, in nanoseconds, for others to see.
pub(super) type Heard = Arc<AtomicU64>;

/// The ends of all ways from and to one worker.
#[derive(Debug)]
pub(super) struct Post {
    worker: Worker,
    /// By worker; none to itself.
    ways: Vec<Option<Way>>,
    bell: Arc<Bell>,
}

/// The ways between two workers, at one of them.
#[derive(Debug)]
struct Way {
    outgoing: VecDeque<Letter>,
    to: Producer<Letter>,
    from: Consumer<Letter>,
    /// Letters that had come at the last look.
    come: usize,
    bell: Arc<Bell>,
}

/// Wakes a worker that sleeps.
#[derive(Debug)]
struct Bell {
    sleeps: AtomicBool,
    waker: Waker,
}

impl Letter {
    fn is_packet(&self) -> bool {
        matches!(self, Self::Node(message) if message.is_packet())
    }
}

impl Bell {
    /// Something was published.
    fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            self.waker.wake();
        }
    }
}

impl Post {
    /// The post of workers that are woken like this, in their order.
    pub(super) fn among(wakers: Vec<Waker>) -> Vec<Self> {
        let bell = |waker| Arc::new(Bell { sleeps: AtomicBool::new(false), waker });
        let bells: Vec<Arc<Bell>> = wakers.into_iter().map(bell).collect();
        let mut posts: Vec<Self> = Vec::new();
        for (worker, bell) in (0..).zip(&bells) {
            posts.push(Self { worker, ways: Vec::new(), bell: Arc::clone(bell) });
        }
        for one in 0..posts.len() {
            for other in 0..=one {
                if one == other {
                    posts[one].ways.push(None);
                    continue;
                }
                let (there, (to, from)) = (RingBuffer::new(RING), RingBuffer::new(RING));
                let way = |to, from, other: usize| {
                    let (outgoing, bell) = (VecDeque::new(), Arc::clone(&bells[other]));
                    Some(Way { outgoing, to, from, come: 0, bell })
                };
                posts[one].ways.push(way(there.0, from, other));
                posts[other].ways.push(way(to, there.1, one));
            }
        }
        posts
    }

    pub(super) fn worker(&self) -> Worker {
        self.worker
    }

    pub(super) fn workers(&self) -> Worker {
        self.ways.len() as Worker
    }

    /// Sends a letter; how many packets were dropped because of that.
    pub(super) fn send(&mut self, to: Worker, letter: Letter) -> u64 {
        let Some(Some(way)) = self.ways.get_mut(usize::from(to)) else {
            debug_assert!(false, "nobody writes to himself");
            return 0;
        };
        // What others must know before they hear of it from elsewhere leaves at once.
        let is_urgent = !letter.is_packet();
        way.outgoing.push_back(letter);
        if is_urgent || way.outgoing.len() >= BATCH { way.publish() } else { 0 }
    }

    /// Publishes what was sent; how many packets were dropped because of that.
    pub(super) fn publish(&mut self) -> u64 {
        let ways = self.ways.iter_mut().flatten().filter(|way| !way.outgoing.is_empty());
        ways.map(Way::publish).sum()
    }

    /// Whether something waits for room.
    pub(super) fn is_stuck(&self) -> bool {
        self.ways.iter().flatten().any(|way| !way.outgoing.is_empty())
    }

    /// Whether as much waits for room as a ring holds.
    pub(super) fn is_overfull(&self) -> bool {
        self.ways.iter().flatten().any(|way| way.outgoing.len() >= RING)
    }

    /// Takes everything out that has come.
    pub(super) fn take(&mut self, letters: &mut Vec<Letter>) {
        // All are looked at together: who is read last must not have heard of what another has sent meanwhile.
        for way in self.ways.iter_mut().flatten() {
            way.come = way.from.slots();
        }
        for way in self.ways.iter_mut().flatten().filter(|way| way.come > 0) {
            if let Ok(chunk) = way.from.read_chunk(way.come) {
                letters.extend(chunk);
            }
        }
    }

    /// Says that this worker is about to sleep; `false` if something has come, and it must not.
    pub(super) fn may_sleep(&self) -> bool {
        self.bell.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let has_come = self.ways.iter().flatten().any(|way| way.from.slots() > 0);
        if has_come {
            self.is_awake();
        }
        !has_come
    }

    /// This worker does not sleep any more.
    pub(super) fn is_awake(&self) {
        self.bell.sleeps.store(false, Ordering::Relaxed);
    }
}

impl Way {
    fn publish(&mut self) -> u64 {
        let fit = self.to.slots().min(self.outgoing.len());
        if let Ok(chunk) = self.to.write_chunk_uninit(fit)
            && chunk.fill_from_iter(self.outgoing.drain(..fit)) > 0
        {
            self.bell.ring();
        }
        let left = self.outgoing.len();
        self.outgoing.retain(|letter| !letter.is_packet());
        (left - self.outgoing.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waker::Alarm;
    use bytes::Bytes;
    use recoup_forwarder::shard::DataSearch;

    fn packet(number: u32) -> Letter {
        let (face, packet) = (FaceId(number), Bytes::new());
        let search = DataSearch::default();
        Letter::Node(WorkerMessage::Came { face, header: None, packet, search })
    }

    fn numbers(letters: &[Letter]) -> Vec<u32> {
        let number = |letter: &Letter| match letter {
            Letter::Node(WorkerMessage::Came { face, .. }) | Letter::Left(face) => face.0,
            other => panic!("{other:?}"),
        };
        letters.iter().map(number).collect()
    }

    fn two() -> (Post, Post, [Alarm; 2]) {
        let alarms = [Alarm::new().unwrap(), Alarm::new().unwrap()];
        let mut posts = Post::among(alarms.iter().map(Alarm::waker).collect());
        let second = posts.pop().unwrap();
        (posts.pop().unwrap(), second, alarms)
    }

    #[test]
    fn packets_leave_in_batches_and_all_else_at_once_in_the_order_of_sending() {
        let (mut one, mut other, _alarms) = two();
        let mut letters = Vec::new();
        assert_eq!(one.send(1, packet(1)), 0);
        other.take(&mut letters);
        assert!(letters.is_empty() && one.is_stuck());
        one.send(1, Letter::Left(FaceId(2)));
        one.send(1, packet(3));
        one.publish();
        assert!(!one.is_stuck());
        other.take(&mut letters);
        assert_eq!(numbers(&letters), [1, 2, 3]);
    }

    #[test]
    fn a_full_ring_costs_packets_and_nothing_else_and_keeps_the_order() {
        let (mut one, mut other, _alarms) = two();
        let dropped: u64 = (0..RING as u32 + 100).map(|number| one.send(1, packet(number))).sum();
        let dropped = dropped + one.publish();
        assert_eq!(dropped, 100);
        one.send(1, Letter::Left(FaceId(7)));
        let dropped = one.send(1, packet(8)) + one.publish();
        assert!(dropped == 1 && one.is_stuck(), "it would overtake");
        let mut letters = Vec::new();
        other.take(&mut letters);
        assert_eq!(letters.len(), RING);
        letters.clear();
        assert_eq!(one.publish(), 0);
        other.take(&mut letters);
        assert_eq!(numbers(&letters), [7]);
    }

    #[test]
    fn nobody_sleeps_on_a_letter_and_only_sleepers_are_woken() {
        let (mut one, other, alarms) = two();
        let woken = || {
            let mut octets = [0; 8];
            std::io::Read::read(&mut &alarms[1].stream, &mut octets).is_ok()
        };
        one.send(1, Letter::Left(FaceId(1)));
        assert!(!woken(), "it is awake");
        assert!(!other.may_sleep(), "something has come");
        let (mut one, mut other, alarms) = two();
        let woken = || {
            let mut octets = [0; 8];
            std::io::Read::read(&mut &alarms[1].stream, &mut octets).unwrap_or(0)
        };
        assert!(other.may_sleep());
        one.send(1, Letter::Left(FaceId(1)));
        one.send(1, Letter::Left(FaceId(2)));
        assert_eq!(woken(), 1, "once is enough");
        other.is_awake();
        let mut letters = Vec::new();
        other.take(&mut letters);
        assert_eq!(numbers(&letters), [1, 2]);
    }

    #[test]
    fn letters_between_threads_arrive_all_and_in_order_however_often_both_sleep() {
        let (mut one, mut other, alarms) = two();
        let [_, alarm] = alarms;
        const COUNT: u32 = 100_000;
        let reader = std::thread::spawn(move || {
            let (mut letters, mut seen) = (Vec::new(), 0);
            while seen < COUNT {
                if other.may_sleep() {
                    use std::os::fd::AsFd;
                    let patience = std::time::Duration::from_secs(20);
                    let woken = crate::stream::wait(alarm.stream.as_fd(), false, patience);
                    assert!(woken.unwrap(), "it slept on a letter after {seen}");
                    alarm.clear();
                }
                other.is_awake();
                other.take(&mut letters);
                for number in numbers(&letters) {
                    assert_eq!(number, seen);
                    seen += 1;
                }
                letters.clear();
            }
        });
        for number in 0..COUNT {
            // Orders are never dropped.
            one.send(1, Letter::Left(FaceId(number)));
        }
        while one.is_stuck() {
            one.publish();
            std::thread::yield_now();
        }
        reader.join().unwrap();
    }
}
