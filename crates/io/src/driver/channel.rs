//! The channels between the drivers of a forwarder's workers.
//!
//! A single-producer ring (`rtrb`) leads from each worker to each other: lock-free, never blocking.
//! Messages of a turn are published in batches. If a ring is full, a packet is dropped and counted;
//! other messages are queued, and later packets stay behind them. If too many messages are queued
//! for a worker that does not run, the sender stops reading its sockets (back-pressure).
//!
//! An idle worker sleeps in the system. Before sleeping, it sets a flag and checks its rings once
//! more. A sender publishes first and then checks the flag. A fence separates the two steps on both
//! sides. Hence at least one side sees the other's step, and no worker sleeps while a message
//! waits.
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

/// Messages that fit a ring.
const RING: usize = 4_096;
/// So many are published together, unless the turn is over before.
const BATCH: usize = 64;

/// A message from one driver to another.
#[derive(Debug)]
pub(super) enum Message {
    /// A message between the machines.
    Node(WorkerMessage),
    /// The first worker has opened a face, which is to be the other's.
    Handover(Box<FaceHandover>),
    /// The other is to carry this out.
    Order(Box<FaceOrder>),
    /// The other is to close a face.
    Close(FaceId, CloseReason),
    /// The first worker learns that a face is gone for good.
    Closed(FaceId),
}

/// A face that moves.
#[derive(Debug)]
pub(super) struct FaceHandover {
    pub(super) id: FaceId,
    pub(super) face: Face,
    /// Its socket, if it is one of its own for datagrams.
    pub(super) port: Option<UdpPort>,
    /// The command that it was opened by.
    pub(super) ticket: Option<u64>,
}

/// When something last arrived at a face, in nanoseconds, for others to see.
pub(super) type LastReceived = Arc<AtomicU64>;

/// The ends of all channels from and to one worker.
#[derive(Debug)]
pub(super) struct Channels {
    worker: Worker,
    /// By worker; none to itself.
    channels: Vec<Option<Channel>>,
    sleeper: Arc<Sleeper>,
}

/// The channels between two workers, at one of them.
#[derive(Debug)]
struct Channel {
    outgoing: VecDeque<Message>,
    to: Producer<Message>,
    from: Consumer<Message>,
    /// Messages that had arrived at the last look.
    arrived: usize,
    sleeper: Arc<Sleeper>,
}

/// Wakes a worker that sleeps.
#[derive(Debug)]
struct Sleeper {
    sleeps: AtomicBool,
    waker: Waker,
}

impl Message {
    fn is_packet(&self) -> bool {
        matches!(self, Self::Node(message) if message.is_packet())
    }
}

impl Sleeper {
    /// Something was published.
    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            self.waker.wake();
        }
    }
}

impl Channels {
    /// The channels of workers that are woken like this, in their order.
    pub(super) fn among(wakers: Vec<Waker>) -> Vec<Self> {
        let sleeper = |waker| Arc::new(Sleeper { sleeps: AtomicBool::new(false), waker });
        let sleepers: Vec<Arc<Sleeper>> = wakers.into_iter().map(sleeper).collect();
        let mut all: Vec<Self> = Vec::new();
        for (worker, sleeper) in (0..).zip(&sleepers) {
            all.push(Self { worker, channels: Vec::new(), sleeper: Arc::clone(sleeper) });
        }
        for one in 0..all.len() {
            for other in 0..=one {
                if one == other {
                    all[one].channels.push(None);
                    continue;
                }
                let (there, (to, from)) = (RingBuffer::new(RING), RingBuffer::new(RING));
                let channel = |to, from, other: usize| {
                    let (outgoing, sleeper) = (VecDeque::new(), Arc::clone(&sleepers[other]));
                    Some(Channel { outgoing, to, from, arrived: 0, sleeper })
                };
                all[one].channels.push(channel(there.0, from, other));
                all[other].channels.push(channel(to, there.1, one));
            }
        }
        all
    }

    pub(super) fn worker(&self) -> Worker {
        self.worker
    }

    pub(super) fn workers(&self) -> Worker {
        self.channels.len() as Worker
    }

    /// Sends a message; how many packets were dropped because of that.
    pub(super) fn send(&mut self, to: Worker, message: Message) -> u64 {
        let Some(Some(channel)) = self.channels.get_mut(usize::from(to)) else {
            debug_assert!(false, "a worker has no channel to itself");
            return 0;
        };
        // A message that other messages depend on is published at once.
        let is_urgent = !message.is_packet();
        channel.outgoing.push_back(message);
        if is_urgent || channel.outgoing.len() >= BATCH { channel.publish() } else { 0 }
    }

    /// Publishes what was sent; how many packets were dropped because of that.
    pub(super) fn publish(&mut self) -> u64 {
        let channels =
            self.channels.iter_mut().flatten().filter(|channel| !channel.outgoing.is_empty());
        channels.map(Channel::publish).sum()
    }

    /// Whether something waits for room.
    pub(super) fn is_stuck(&self) -> bool {
        self.channels.iter().flatten().any(|channel| !channel.outgoing.is_empty())
    }

    /// Whether as much waits for room as a ring holds.
    pub(super) fn is_overfull(&self) -> bool {
        self.channels.iter().flatten().any(|channel| channel.outgoing.len() >= RING)
    }

    /// Takes everything out that has arrived.
    pub(super) fn take(&mut self, messages: &mut Vec<Message>) {
        // All rings are read at one point in time, so that no message overtakes the one that caused
        // it.
        for channel in self.channels.iter_mut().flatten() {
            channel.arrived = channel.from.slots();
        }
        for channel in self.channels.iter_mut().flatten().filter(|channel| channel.arrived > 0) {
            if let Ok(chunk) = channel.from.read_chunk(channel.arrived) {
                messages.extend(chunk);
            }
        }
    }

    /// Sets the sleep flag; `false` if a message has arrived and the worker must not sleep.
    pub(super) fn may_sleep(&self) -> bool {
        self.sleeper.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let has_arrived = self.channels.iter().flatten().any(|channel| channel.from.slots() > 0);
        if has_arrived {
            self.is_awake();
        }
        !has_arrived
    }

    /// This worker does not sleep any more.
    pub(super) fn is_awake(&self) {
        self.sleeper.sleeps.store(false, Ordering::Relaxed);
    }
}

impl Channel {
    fn publish(&mut self) -> u64 {
        let fit = self.to.slots().min(self.outgoing.len());
        if let Ok(chunk) = self.to.write_chunk_uninit(fit)
            && chunk.fill_from_iter(self.outgoing.drain(..fit)) > 0
        {
            self.sleeper.wake();
        }
        let left = self.outgoing.len();
        self.outgoing.retain(|message| !message.is_packet());
        (left - self.outgoing.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waker::Alarm;
    use bytes::Bytes;
    use recoup_forwarder::shard::DataSearch;

    fn packet(number: u32) -> Message {
        let (face, packet) = (FaceId(number), Bytes::new());
        let search = DataSearch::default();
        Message::Node(WorkerMessage::Came { face, header: None, packet, search })
    }

    fn numbers(messages: &[Message]) -> Vec<u32> {
        let number = |message: &Message| match message {
            Message::Node(WorkerMessage::Came { face, .. }) | Message::Closed(face) => face.0,
            other => panic!("{other:?}"),
        };
        messages.iter().map(number).collect()
    }

    fn two() -> (Channels, Channels, [Alarm; 2]) {
        let alarms = [Alarm::new().unwrap(), Alarm::new().unwrap()];
        let mut all = Channels::among(alarms.iter().map(Alarm::waker).collect());
        let second = all.pop().unwrap();
        (all.pop().unwrap(), second, alarms)
    }

    #[test]
    fn packets_are_batched_and_control_messages_are_not() {
        let (mut one, mut other, _alarms) = two();
        let mut messages = Vec::new();
        assert_eq!(one.send(1, packet(1)), 0);
        other.take(&mut messages);
        assert!(messages.is_empty() && one.is_stuck());
        one.send(1, Message::Closed(FaceId(2)));
        one.send(1, packet(3));
        one.publish();
        assert!(!one.is_stuck());
        other.take(&mut messages);
        assert_eq!(numbers(&messages), [1, 2, 3]);
    }

    #[test]
    fn full_ring_drops_packets_only() {
        let (mut one, mut other, _alarms) = two();
        let dropped: u64 = (0..RING as u32 + 100).map(|number| one.send(1, packet(number))).sum();
        let dropped = dropped + one.publish();
        assert_eq!(dropped, 100);
        one.send(1, Message::Closed(FaceId(7)));
        let dropped = one.send(1, packet(8)) + one.publish();
        assert!(dropped == 1 && one.is_stuck(), "it would overtake");
        let mut messages = Vec::new();
        other.take(&mut messages);
        assert_eq!(messages.len(), RING);
        messages.clear();
        assert_eq!(one.publish(), 0);
        other.take(&mut messages);
        assert_eq!(numbers(&messages), [7]);
    }

    #[test]
    fn message_prevents_sleep_and_wakes_a_sleeper() {
        let (mut one, other, alarms) = two();
        let woken = || {
            let mut bytes = [0; 8];
            std::io::Read::read(&mut &alarms[1].stream, &mut bytes).is_ok()
        };
        one.send(1, Message::Closed(FaceId(1)));
        assert!(!woken(), "it is awake");
        assert!(!other.may_sleep(), "something has arrived");
        let (mut one, mut other, alarms) = two();
        let woken = || {
            let mut bytes = [0; 8];
            std::io::Read::read(&mut &alarms[1].stream, &mut bytes).unwrap_or(0)
        };
        assert!(other.may_sleep());
        one.send(1, Message::Closed(FaceId(1)));
        one.send(1, Message::Closed(FaceId(2)));
        assert_eq!(woken(), 1, "once is enough");
        other.is_awake();
        let mut messages = Vec::new();
        other.take(&mut messages);
        assert_eq!(numbers(&messages), [1, 2]);
    }

    #[test]
    fn messages_between_threads_arrive_in_order() {
        let (mut one, mut other, alarms) = two();
        let [_, alarm] = alarms;
        const COUNT: u32 = 100_000;
        let reader = std::thread::spawn(move || {
            let (mut messages, mut seen) = (Vec::new(), 0);
            while seen < COUNT {
                if other.may_sleep() {
                    use std::os::fd::AsFd;
                    let patience = std::time::Duration::from_secs(20);
                    let woken = crate::stream::wait(alarm.stream.as_fd(), false, patience);
                    assert!(woken.unwrap(), "it slept on a message after {seen}");
                    alarm.clear();
                }
                other.is_awake();
                other.take(&mut messages);
                for number in numbers(&messages) {
                    assert_eq!(number, seen);
                    seen += 1;
                }
                messages.clear();
            }
        });
        for number in 0..COUNT {
            // Orders are never dropped.
            one.send(1, Message::Closed(FaceId(number)));
        }
        while one.is_stuck() {
            one.publish();
            std::thread::yield_now();
        }
        reader.join().unwrap();
    }
}
