//! A channel with a queue of its own in front of its rate.
//!
//! For senders without a queue: a relay between real sockets, or a channel that packets share with other traffic. The
//! queue drops at its tail. It needs no wake-up of its own: each call settles the transmissions since the last one,
//! with
//! the times that they had. So a driver that wakes up late does not slow the channel down.
use super::{Channel, ChannelInput, ChannelModel, ChannelOutput, Load, LossReason};
use crate::link::Order;
use recoup_core::agenda::Key;
use recoup_transport::queue::Fifo;
use recoup_transport::time::Instant;

/// One direction of a link with a queue in front.
#[derive(Debug)]
pub struct QueuedChannel<L> {
    channel: Channel<L>,
    queue: Fifo<Waiting<L>>,
}

#[derive(Debug)]
struct Waiting<L> {
    since: Instant,
    sequence: u64,
    frame: L,
}

impl<L: Load> Load for Waiting<L> {
    fn bytes(&self) -> u32 {
        self.frame.bytes()
    }
}

impl<L: Load + Clone + std::fmt::Debug> QueuedChannel<L> {
    /// An empty channel; its queue's limit is the model's.
    pub fn new(model: ChannelModel) -> Self {
        Self { queue: Fifo::new(model.limit), channel: Channel::new(model) }
    }

    /// Takes an input.
    pub fn handle(&mut self, now: Instant, input: ChannelInput<L>) {
        self.advance(now);
        match input {
            ChannelInput::Frame { frame, sequence } => self.join(now, sequence, frame),
            ChannelInput::Down => {
                self.channel.handle(now, ChannelInput::Down);
                while let Some(waiting) = self.queue.pop() {
                    self.channel.lose(waiting.frame, LossReason::Down);
                }
            }
            ChannelInput::Change(model) => {
                self.queue.set_limit(model.limit);
                self.channel.handle(now, ChannelInput::Change(model));
            }
            other => self.channel.handle(now, other),
        }
    }

    /// Hands out one consequence; to be called until `None`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<ChannelOutput<L>> {
        self.advance(now);
        self.channel.poll(now)
    }

    /// Returns outputs that are decided already, in front of all due ones.
    pub fn poll_decided(&mut self) -> Option<ChannelOutput<L>> {
        self.channel.poll_decided()
    }

    /// When to come back if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.next().map(Key::at)
    }

    /// The deadline, with the number of what is due then.
    #[inline]
    pub fn next(&self) -> Option<Key> {
        let arrival = self.channel.next();
        if self.queue.is_empty() {
            return arrival;
        }
        self.next_behind(arrival)
    }

    /// As [`next`](Self::next), with frames in the queue.
    fn next_behind(&self, arrival: Option<Key>) -> Option<Key> {
        // Where packets keep their order, nothing that waits arrives before what travels already.
        if arrival.is_some() && !self.channel.model().reorder {
            return arrival;
        }
        // The frame in transmission may be lost; then no event marks the next start.
        let begun = self
            .front()
            .map(|(since, sequence)| Key::new(self.channel.free_at().max(since), sequence));
        super::earlier(arrival, begun)
    }

    /// Queued frames and bytes.
    pub fn waiting(&self) -> (u64, u64) {
        let (frames, bytes) = self.channel.waiting();
        (self.queue.packets() + frames, self.queue.bytes() + bytes)
    }

    /// The frames that are inside, in no particular order.
    pub fn inside(&self) -> impl Iterator<Item = &L> {
        self.queue.iter().map(|waiting| &waiting.frame).chain(self.channel.inside())
    }

    /// The channel behind the queue, for a sender that holds its own.
    pub fn channel(&self) -> &Channel<L> {
        &self.channel
    }

    /// The channel behind the queue, for a sender that holds its own and leaves this one empty.
    pub fn channel_mut(&mut self) -> &mut Channel<L> {
        &mut self.channel
    }

    /// Queueing start of the next frame, and its number.
    fn front(&self) -> Option<(Instant, u64)> {
        self.queue.iter().next().map(|waiting| (waiting.since, waiting.sequence))
    }

    fn join(&mut self, now: Instant, sequence: u64, frame: L) {
        let at_once = self.channel.is_down() || self.channel.is_free(now) && self.queue.is_empty();
        if at_once || self.channel.model().order == Order::DelayThenRate {
            return self.channel.offer(now, sequence, frame);
        }
        if let Err(rejected) = self.queue.push(Waiting { since: now, sequence, frame }) {
            self.channel.lose(rejected.frame, LossReason::QueueFull);
        }
    }

    /// Gives the channel everything that it begins with until `now`.
    #[inline]
    fn advance(&mut self, now: Instant) {
        while let Some((since, _)) = self.front() {
            let begun = self.channel.free_at().max(since);
            if begun > now {
                break;
            }
            if let Some(Waiting { sequence, frame, .. }) = self.queue.pop() {
                self.channel.offer(begun, sequence, frame);
            }
        }
    }
}
