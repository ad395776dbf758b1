//! One direction of a link as a state machine: rate, propagation delay, and losses.
//!
//! The machine is generic over its load: packets in a simulation, frames of bytes between real processes. It holds the
//! frames in flight itself and names one deadline; it needs no other wake-up. A user with a queue of its own, such as a
//! simulated node, offers a frame when the channel is free. A user without one takes a [`QueuedChannel`].
//!
//! Two orders ([`Order`]). *Rate, then delay*: a frame occupies the rate, then propagates; frames in flight do not wait
//! for each other, or keep their order. *Delay, then rate*: a frame propagates first, then queues for the rate. One
//! limit counts the frames in flight and in the queue, without the frame in transmission. That is netem below a rate
//! limiter, as Mininet builds links.
//!
//! A frame lost at random occupies the rate like any other if the rate comes first. It does not reach the rate if the
//! delay comes first. Every model draws for every frame, lost or not.
mod model;
mod queued;

pub use model::{ChannelError, ChannelModel};
pub use queued::QueuedChannel;
pub use recoup_transport::queue::Load;

use crate::link::Order;
use crate::model::rate::Rate;
use recoup_core::agenda::Key;
use recoup_transport::time::Instant;
use std::collections::VecDeque;

/// Why a channel discarded a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossReason {
    /// The queue was full.
    QueueFull,
    /// The model of loss took it, or the wireless medium did.
    Model,
    /// The channel carried nothing at that time.
    Outage,
    /// The link or the node at its end failed.
    Down,
    /// Suppressed: another node has just sent the same packet.
    Superfluous,
}

impl LossReason {
    /// Every reason.
    pub const ALL: [Self; 5] =
        [Self::QueueFull, Self::Model, Self::Outage, Self::Down, Self::Superfluous];

    /// The reason in a word, as records spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "channel-full",
            Self::Model => "model",
            Self::Outage => "outage",
            Self::Down => "link-down",
            Self::Superfluous => "superfluous",
        }
    }
}

/// Input of a channel.
#[derive(Debug)]
pub enum ChannelInput<L> {
    /// A frame is offered.
    Frame {
        /// The frame.
        frame: L,
        /// Orders what arrives at the same instant; never smaller than the one before.
        sequence: u64,
    },
    /// The sender has a frame queued: the channel reports when the rate is free.
    Wanted {
        /// Sequence number, as for a frame.
        sequence: u64,
    },
    /// Whether frames that are offered are lost from now on.
    Outage(bool),
    /// The link fails; what is on it is lost.
    Down,
    /// The link works again.
    Up,
    /// The channel becomes another; what is on it keeps its times, and a model that is written as
    /// before goes on.
    Change(Box<ChannelModel>),
}

/// Output of a channel.
#[derive(Debug, PartialEq, Eq)]
pub enum ChannelOutput<L> {
    /// A frame is at the far end.
    Arrived(L),
    /// A frame was discarded.
    Lost {
        /// The frame.
        frame: L,
        /// The reason.
        reason: LossReason,
    },
    /// A second copy of this frame is in flight.
    Doubled(L),
    /// The rate is free, as was wanted.
    Free,
}

/// One direction of a link, without a queue in front of its rate.
#[derive(Debug)]
pub struct Channel<L> {
    model: ChannelModel,
    rate: Rate,
    /// When the rate is done with what it was given.
    free_at: Instant,
    /// Where order is kept, nothing offered later overtakes what was due then.
    latest: Instant,
    /// Frames on their way to the rate, with the time of their arrival there.
    toward_rate: VecDeque<Timed<L>>,
    /// Their bytes.
    toward_bytes: u64,
    /// Frames past the queueing, with the time of their arrival.
    flying: VecDeque<Timed<L>>,
    wanted: Option<u64>,
    is_out: bool,
    is_down: bool,
    outputs: VecDeque<ChannelOutput<L>>,
}

#[derive(Debug)]
struct Timed<L> {
    key: Key,
    frame: L,
}

impl<L: Load + Clone> Channel<L> {
    /// An empty channel.
    pub fn new(model: ChannelModel) -> Self {
        Self {
            rate: model.rate(),
            model,
            free_at: Instant::ZERO,
            latest: Instant::ZERO,
            toward_rate: VecDeque::new(),
            toward_bytes: 0,
            flying: VecDeque::new(),
            wanted: None,
            is_out: false,
            is_down: false,
            outputs: VecDeque::new(),
        }
    }

    /// Takes an input.
    #[inline]
    pub fn handle(&mut self, now: Instant, input: ChannelInput<L>) {
        match input {
            ChannelInput::Frame { frame, sequence } => self.offer(now, sequence, frame),
            ChannelInput::Wanted { sequence } => self.wanted = Some(sequence),
            ChannelInput::Outage(is_out) => self.is_out = is_out,
            ChannelInput::Down => self.on_down(now),
            ChannelInput::Up => self.is_down = false,
            ChannelInput::Change(model) => self.on_change(now, *model),
        }
    }

    /// Hands out one consequence; to be called until `None`.
    pub fn poll(&mut self, now: Instant) -> Option<ChannelOutput<L>> {
        if !self.outputs.is_empty() {
            return self.outputs.pop_front();
        }
        if !self.toward_rate.is_empty() {
            self.settle(now);
        }
        let free = self.free_key();
        if let Some(front) = self.flying.front()
            && front.key.at() <= now
            && free.is_none_or(|free| front.key < free)
        {
            return self.flying.pop_front().map(|front| ChannelOutput::Arrived(front.frame));
        }
        free.filter(|free| free.at() <= now)?;
        self.wanted = None;
        Some(ChannelOutput::Free)
    }

    /// Whether anything was decided already, to be handed out by [`poll_decided`](Self::poll_decided).
    pub fn has_decided(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Returns outputs that are decided already (losses, duplicates), in front of all due ones.
    pub fn poll_decided(&mut self) -> Option<ChannelOutput<L>> {
        self.outputs.pop_front()
    }

    /// When to come back if nothing happens.
    pub fn deadline(&self) -> Option<Instant> {
        self.next().map(Key::at)
    }

    /// The deadline, with the number of what is due then.
    #[inline]
    pub fn next(&self) -> Option<Key> {
        let arrival = self.flying.front().map(|front| front.key);
        if self.wanted.is_none() && self.toward_rate.is_empty() {
            return arrival;
        }
        self.next_beside(arrival)
    }

    /// As [`next`](Self::next), where `arrival` is the next one of the frames past the queueing.
    fn next_beside(&self, arrival: Option<Key>) -> Option<Key> {
        let next = earlier(arrival, self.free_key());
        match self.toward_rate.front() {
            // Frames in flight before a change of order may arrive after frames that reach the rate.
            Some(front) => earlier(next, Some(self.end_of_service(front))),
            None => next,
        }
    }

    /// Whether a frame offered now is sent at once (or waits inside, where the delay comes first).
    pub fn is_free(&self, now: Instant) -> bool {
        self.free_at <= now || self.model.order == Order::DelayThenRate
    }

    /// When the rate is done with what it was given.
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// The model of the channel.
    pub fn model(&self) -> &ChannelModel {
        &self.model
    }

    /// Whether the link has failed.
    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// The frames that are inside, in no particular order.
    pub fn inside(&self) -> impl Iterator<Item = &L> {
        self.toward_rate.iter().chain(&self.flying).map(|timed| &timed.frame)
    }

    /// Queued frames and bytes under the channel's own limit: none if the rate comes first.
    pub fn waiting(&self) -> (u64, u64) {
        (self.toward_rate.len() as u64, self.toward_bytes)
    }

    // --- offered --------------------------------------------------------------------------------

    /// A frame is offered, as by [`ChannelInput::Frame`].
    pub fn offer(&mut self, now: Instant, sequence: u64, frame: L) {
        if self.is_down {
            return self.lose(frame, LossReason::Down);
        }
        match self.model.order {
            Order::RateThenDelay => self.send_then_travel(now, sequence, frame),
            Order::DelayThenRate => self.travel_then_wait(now, sequence, frame),
        }
    }

    fn send_then_travel(&mut self, now: Instant, sequence: u64, frame: L) {
        let begun = self.free_at.max(now);
        self.send(begun, frame.bytes());
        let fate = self.model.fate(begun);
        if let Some(reason) = fate.lost(self.is_out) {
            return self.lose(frame, reason);
        }
        let key = self.after(self.free_at, fate.way_nanos, sequence);
        if fate.doubled {
            self.outputs.push_back(ChannelOutput::Doubled(frame.clone()));
            insert(&mut self.flying, Timed { key, frame: frame.clone() });
        }
        insert(&mut self.flying, Timed { key, frame });
    }

    fn travel_then_wait(&mut self, now: Instant, sequence: u64, frame: L) {
        self.settle(now);
        let fate = self.model.fate(now);
        if let Some(reason) = fate.lost(self.is_out) {
            return self.lose(frame, reason);
        }
        let key = self.after(now, fate.way_nanos, sequence);
        if fate.doubled {
            self.outputs.push_back(ChannelOutput::Doubled(frame.clone()));
            self.enter(key, frame.clone());
        }
        self.enter(key, frame);
    }

    /// Into the delay in front of the rate, if there is room.
    fn enter(&mut self, key: Key, frame: L) {
        let packets = self.toward_rate.len() as u64 + 1;
        let bytes = self.toward_bytes + u64::from(frame.bytes());
        if self.model.limit.admits(packets, bytes) {
            self.toward_bytes = bytes;
            insert(&mut self.toward_rate, Timed { key, frame });
        } else {
            self.lose(frame, LossReason::QueueFull);
        }
    }

    /// `way_nanos` after `from`, but where order is kept not before what was offered earlier.
    fn after(&mut self, from: Instant, way_nanos: u64, sequence: u64) -> Key {
        let mut at = Instant::from_nanos(from.as_nanos().saturating_add(way_nanos));
        if !self.model.reorder {
            at = at.max(self.latest);
        }
        self.latest = self.latest.max(at);
        Key::new(at, sequence)
    }

    fn lose(&mut self, frame: L, reason: LossReason) {
        self.outputs.push_back(ChannelOutput::Lost { frame, reason });
    }

    // --- the rate -------------------------------------------------------------------------------

    /// Occupies the rate from `begun` on, which is not before it is free.
    fn send(&mut self, begun: Instant, bytes: u32) {
        if begun > self.free_at {
            self.rate.pause();
        }
        self.free_at = self.rate.end(begun, bytes);
    }

    /// Gives the rate everything that it begins with until `now`.
    fn settle(&mut self, now: Instant) {
        while let Some(front) = self.toward_rate.front() {
            let begun = self.free_at.max(front.key.at());
            if begun > now {
                break;
            }
            let bytes = front.frame.bytes();
            self.send(begun, bytes);
            if let Some(Timed { key, frame }) = self.toward_rate.pop_front() {
                self.toward_bytes -= u64::from(bytes);
                let key = Key::new(self.free_at, key.sequence());
                insert(&mut self.flying, Timed { key, frame });
            }
        }
    }

    /// Time at which a frame that reaches the rate next will have left it.
    fn end_of_service(&self, next: &Timed<L>) -> Key {
        let begun = self.free_at.max(next.key.at());
        let mut rate = self.rate.clone();
        if begun > self.free_at {
            rate.pause();
        }
        Key::new(rate.end(begun, next.frame.bytes()), next.key.sequence())
    }

    fn free_key(&self) -> Option<Key> {
        self.wanted.map(|sequence| Key::new(self.free_at, sequence))
    }

    // --- faults ---------------------------------------------------------------------------------

    fn on_down(&mut self, now: Instant) {
        self.settle(now);
        self.is_down = true;
        self.wanted = None;
        (self.free_at, self.latest) = (now, now);
        self.toward_bytes = 0;
        let inside = self.toward_rate.drain(..).chain(self.flying.drain(..));
        let reason = LossReason::Down;
        self.outputs.extend(inside.map(|timed| ChannelOutput::Lost { frame: timed.frame, reason }));
    }

    fn on_change(&mut self, now: Instant, model: ChannelModel) {
        self.settle(now);
        if !model.has_rate_of(&self.model) {
            self.rate = model.rate();
            self.leave_dead_rate(now);
        }
        self.model.replace(model);
    }

    /// Frees the rate if the former one stays at 0 for ever; the frame in transmission is lost.
    fn leave_dead_rate(&mut self, now: Instant) {
        if self.free_at != NEVER {
            return;
        }
        while self.flying.back().is_some_and(|last| last.key.at() == NEVER) {
            if let Some(timed) = self.flying.pop_back() {
                self.lose(timed.frame, LossReason::Outage);
            }
        }
        self.free_at = now;
        self.latest = self.flying.back().map_or(now, |last| last.key.at().max(now));
    }
}

/// End of a transmission at a rate that stays at 0.
const NEVER: Instant = Instant::from_nanos(u64::MAX);

fn earlier(one: Option<Key>, other: Option<Key>) -> Option<Key> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Puts a frame in its place; nearly always that is the end.
#[inline]
fn insert<L>(frames: &mut VecDeque<Timed<L>>, timed: Timed<L>) {
    if frames.back().is_none_or(|last| last.key <= timed.key) {
        return frames.push_back(timed);
    }
    let place = frames.partition_point(|other| other.key <= timed.key);
    frames.insert(place, timed);
}

#[cfg(test)]
mod tests;
