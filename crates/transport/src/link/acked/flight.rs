//! Frames in flight: sent and not acknowledged.
use super::AckedSettings;
use crate::link::pool::{Held, Pool};
use crate::link::recovery::{Counters, Sending};
use crate::time::Instant;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// Lost transmissions after which a neighbour that acknowledged nothing is taken for one without reliability.
const IN_VAIN: u32 = 64;

/// A frame in flight.
#[derive(Debug)]
pub(super) struct InFlight<T> {
    pub(super) frame: T,
    pub(super) sequence: u64,
    /// Identifier of its packet.
    pub(super) packet: u64,
    pub(super) alone: bool,
    pub(super) bytes: u32,
    pub(super) free_bytes: usize,
    /// Number of retransmissions.
    pub(super) resends: u32,
    /// Time of the first transmission.
    pub(super) first: Instant,
    /// Time of the last transmission.
    pub(super) sent: Instant,
    pub(super) due: Instant,
    /// Greater numbers acknowledged since.
    pub(super) overtaken: u32,
}

impl<T> InFlight<T> {
    pub(super) fn new(frame: T, now: Instant, sequence: u64, sending: &Sending) -> Self {
        Self {
            frame,
            sequence,
            packet: sending.packet,
            alone: sending.alone,
            bytes: sending.bytes,
            free_bytes: sending.free_bytes,
            resends: 0,
            first: now,
            sent: now,
            due: now,
            overtaken: 0,
        }
    }
}

/// The frames in flight, in the order of their TxSequences.
#[derive(Debug)]
pub(super) struct Flight<T> {
    settings: AckedSettings,
    frames: VecDeque<Option<InFlight<T>>>,
    /// TxSequence of the first of them.
    base: u64,
    timers: BTreeSet<(Instant, u64)>,
    /// Frames to be retransmitted.
    again: VecDeque<InFlight<T>>,
    /// One frame of each packet that was given up, at most one for each frame in flight.
    lost: VecDeque<T>,
    /// Bytes of all frames in `frames` and `again`.
    bytes: Held,
    neighbour: Neighbour,
}

/// State of the neighbour, by its acknowledgements.
#[derive(Clone, Copy, Debug)]
enum Neighbour {
    /// No acknowledgement yet, and this many lost transmissions.
    Unknown(u32),
    Acknowledges,
}

impl Neighbour {
    fn is_silent(self) -> bool {
        matches!(self, Self::Unknown(in_vain) if in_vain >= IN_VAIN)
    }
}

impl<T> Flight<T> {
    pub(super) fn new(settings: AckedSettings) -> Self {
        Self {
            settings,
            frames: VecDeque::new(),
            base: 0,
            timers: BTreeSet::new(),
            again: VecDeque::new(),
            lost: VecDeque::new(),
            bytes: Held::default(),
            neighbour: Neighbour::Unknown(0),
        }
    }

    pub(super) fn waits(&self) -> bool {
        !self.again.is_empty()
    }

    /// Whether the neighbour has acknowledged a frame.
    pub(super) fn is_acknowledged(&self) -> bool {
        matches!(self.neighbour, Neighbour::Acknowledges)
    }

    /// The neighbour may be another one, with reliability or without.
    pub(super) fn expect_neighbour(&mut self) {
        self.neighbour = Neighbour::Unknown(0);
    }

    pub(super) fn held(&self) -> u64 {
        (self.timers.len() + self.again.len()) as u64
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.bytes.bytes()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Adds a frame and returns its TxSequence.
    pub(super) fn add(
        &mut self,
        now: Instant,
        due: Instant,
        frame: InFlight<T>,
        counters: &mut Counters,
    ) -> u64 {
        let number = self.base + self.frames.len() as u64;
        self.bytes.add(frame.bytes);
        self.frames.push_back(Some(InFlight { sent: now, due, overtaken: 0, ..frame }));
        self.timers.insert((due, number));
        counters.labelled += 1;
        self.enforce_limits(counters);
        number
    }

    /// Removes an acknowledged frame.
    pub(super) fn land(&mut self, number: u64, counters: &mut Counters) -> Option<InFlight<T>> {
        if number < self.base + self.frames.len() as u64 {
            self.neighbour = Neighbour::Acknowledges;
        }
        let Some(frame) = self.take(number) else {
            counters.ignored += 1;
            return None;
        };
        self.bytes.sub(frame.bytes);
        counters.settled += 1;
        Some(frame)
    }

    /// Counts an acknowledged frame for those with smaller numbers.
    pub(super) fn overtake(&mut self, number: u64, counters: &mut Counters) {
        let behind = number.saturating_sub(self.base).min(self.frames.len() as u64) as usize;
        let mut lost = Vec::new();
        for (index, frame) in self.frames.iter_mut().take(behind).enumerate() {
            let Some(frame) = frame else { continue };
            frame.overtaken += 1;
            if frame.overtaken >= self.settings.threshold {
                lost.push(self.base + index as u64);
            }
        }
        for number in lost {
            self.lose(number, counters);
        }
    }

    /// Declares frames lost whose timer has expired.
    pub(super) fn expire(&mut self, now: Instant, counters: &mut Counters) {
        while let Some(&(due, number)) = self.timers.first()
            && due <= now
        {
            self.lose(number, counters);
        }
    }

    pub(super) fn pop_again(&mut self) -> Option<InFlight<T>> {
        let frame = self.again.pop_front()?;
        self.bytes.sub(frame.bytes);
        Some(frame)
    }

    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    pub(super) fn pop_lost(&mut self) -> Option<T> {
        self.lost.pop_front()
    }

    fn lose(&mut self, number: u64, counters: &mut Counters) {
        let Some(frame) = self.take(number) else {
            return;
        };
        if let Neighbour::Unknown(in_vain) = &mut self.neighbour {
            *in_vain = in_vain.saturating_add(1);
        }
        if self.neighbour.is_silent() {
            self.bytes.sub(frame.bytes);
            counters.expired += 1;
        } else if frame.resends < self.settings.retries {
            self.again.push_back(frame);
        } else {
            self.give_up(frame, counters);
        }
    }

    /// Gives up a frame, and all frames of its packet.
    fn give_up(&mut self, frame: InFlight<T>, counters: &mut Counters) {
        counters.given_up += 1;
        self.bytes.sub(frame.bytes);
        if !frame.alone {
            self.give_up_packet(frame.packet, counters);
        }
        if self.lost.len() == self.settings.frames as usize {
            self.lost.pop_front();
        }
        self.lost.push_back(frame.frame);
    }

    fn give_up_packet(&mut self, packet: u64, counters: &mut Counters) {
        for number in self.base..self.base + self.frames.len() as u64 {
            if self.get(number).is_some_and(|it| it.packet == packet)
                && let Some(other) = self.take(number)
            {
                counters.given_up += 1;
                self.bytes.sub(other.bytes);
            }
        }
        let bytes = &mut self.bytes;
        self.again.retain(|other| {
            let keep = other.packet != packet;
            if !keep {
                counters.given_up += 1;
                bytes.sub(other.bytes);
            }
            keep
        });
    }

    fn get(&self, number: u64) -> Option<&InFlight<T>> {
        self.frames.get(number.checked_sub(self.base)? as usize)?.as_ref()
    }

    fn take(&mut self, number: u64) -> Option<InFlight<T>> {
        let index = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let frame = self.frames.get_mut(index)?.take()?;
        self.timers.remove(&(frame.due, number));
        self.trim();
        Some(frame)
    }

    fn trim(&mut self) {
        while self.frames.front().is_some_and(Option::is_none) {
            self.frames.pop_front();
            self.base += 1;
        }
    }

    /// Gives up the oldest frames while the limits are exceeded.
    fn enforce_limits(&mut self, counters: &mut Counters) {
        let most = self.settings.frames as usize;
        while (self.frames.len() + self.again.len() > most
            || self.bytes.bytes() > self.settings.bytes)
            && self.drop_oldest(counters)
        {}
    }

    /// Drops the older half of the frames.
    pub(super) fn shed(&mut self, counters: &mut Counters) {
        let most = self.held() / 2;
        while self.held() > most && self.drop_oldest(counters) {}
    }

    /// Drops the frame of the lowest number; returns whether there was any.
    fn drop_oldest(&mut self, counters: &mut Counters) -> bool {
        if let Some(Some(frame)) = self.frames.pop_front() {
            self.timers.remove(&(frame.due, self.base));
            self.bytes.sub(frame.bytes);
            counters.expired += 1;
            self.base += 1;
            self.trim();
            return true;
        }
        let Some(frame) = self.again.pop_front() else {
            return false;
        };
        self.bytes.sub(frame.bytes);
        counters.given_up += 1;
        true
    }

    /// Charges held frames to this pool, which other links share.
    pub(super) fn share(&mut self, pool: Arc<Pool>) {
        self.bytes.share(pool);
    }
}
