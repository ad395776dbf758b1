//! Frames that were sent and not acknowledged.
use super::AckedSettings;
use crate::link::recovery::{Counters, Sending};
use crate::time::Instant;
use std::collections::{BTreeSet, VecDeque};

/// So many transmissions that were lost say that the neighbour does not acknowledge, if it never did.
const IN_VAIN: u32 = 64;

/// A frame under way.
#[derive(Debug)]
pub(super) struct Flying<T> {
    pub(super) frame: T,
    pub(super) sequence: u64,
    /// Which packet it belongs to, and whether it is all of it.
    pub(super) packet: u64,
    pub(super) alone: bool,
    pub(super) octets: u32,
    pub(super) room_octets: usize,
    /// How often it was sent again.
    pub(super) resends: u32,
    /// When it left first.
    pub(super) first: Instant,
    /// When it left last.
    pub(super) sent: Instant,
    pub(super) due: Instant,
    /// Greater numbers that were acknowledged since.
    pub(super) overtaken: u32,
}

impl<T> Flying<T> {
    pub(super) fn new(frame: T, now: Instant, sequence: u64, sending: &Sending) -> Self {
        Self {
            frame,
            sequence,
            packet: sending.packet,
            alone: sending.alone,
            octets: sending.octets,
            room_octets: sending.room_octets,
            resends: 0,
            first: now,
            sent: now,
            due: now,
            overtaken: 0,
        }
    }
}

/// The frames under way, in the order of their TxSequences.
#[derive(Debug)]
pub(super) struct Flight<T> {
    settings: AckedSettings,
    frames: VecDeque<Option<Flying<T>>>,
    /// TxSequence of the first of them.
    base: u64,
    timers: BTreeSet<(Instant, u64)>,
    /// To be sent again.
    again: VecDeque<Flying<T>>,
    /// One frame of each packet that was given up, as many as are under way at most.
    lost: VecDeque<T>,
    /// Octets of all frames in `frames` and `again`.
    octets: u64,
    neighbour: Neighbour,
}

/// What acknowledgements, or their absence, say of the neighbour.
#[derive(Clone, Copy, Debug)]
enum Neighbour {
    /// It acknowledged nothing yet, and so many transmissions were lost.
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
            octets: 0,
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

    pub(super) fn held(&self) -> u64 {
        (self.timers.len() + self.again.len()) as u64
    }

    pub(super) fn held_octets(&self) -> u64 {
        self.octets
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// A frame leaves; its TxSequence.
    pub(super) fn add(
        &mut self,
        now: Instant,
        due: Instant,
        flying: Flying<T>,
        counters: &mut Counters,
    ) -> u64 {
        let number = self.base + self.frames.len() as u64;
        self.octets += u64::from(flying.octets);
        self.frames.push_back(Some(Flying { sent: now, due, overtaken: 0, ..flying }));
        self.timers.insert((due, number));
        counters.labelled += 1;
        self.make_room(counters);
        number
    }

    /// A frame was acknowledged.
    pub(super) fn land(&mut self, number: u64, counters: &mut Counters) -> Option<Flying<T>> {
        if number < self.base + self.frames.len() as u64 {
            self.neighbour = Neighbour::Acknowledges;
        }
        let Some(flying) = self.take(number) else {
            counters.ignored += 1;
            return None;
        };
        self.octets -= u64::from(flying.octets);
        counters.settled += 1;
        Some(flying)
    }

    /// A frame was acknowledged that left after all those with smaller numbers.
    pub(super) fn overtake(&mut self, number: u64, counters: &mut Counters) {
        let behind = number.saturating_sub(self.base).min(self.frames.len() as u64) as usize;
        let mut lost = Vec::new();
        for (index, flying) in self.frames.iter_mut().take(behind).enumerate() {
            let Some(flying) = flying else { continue };
            flying.overtaken += 1;
            if flying.overtaken >= self.settings.threshold {
                lost.push(self.base + index as u64);
            }
        }
        for number in lost {
            self.lose(number, counters);
        }
    }

    /// Frames whose timer has run out are lost.
    pub(super) fn expire(&mut self, now: Instant, counters: &mut Counters) {
        while let Some(&(due, number)) = self.timers.first()
            && due <= now
        {
            self.lose(number, counters);
        }
    }

    pub(super) fn pop_again(&mut self) -> Option<Flying<T>> {
        let flying = self.again.pop_front()?;
        self.octets -= u64::from(flying.octets);
        Some(flying)
    }

    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    pub(super) fn pop_lost(&mut self) -> Option<T> {
        self.lost.pop_front()
    }

    fn lose(&mut self, number: u64, counters: &mut Counters) {
        let Some(flying) = self.take(number) else {
            return;
        };
        if let Neighbour::Unknown(in_vain) = &mut self.neighbour {
            *in_vain = in_vain.saturating_add(1);
        }
        if self.neighbour.is_silent() {
            self.octets -= u64::from(flying.octets);
            counters.expired += 1;
        } else if flying.resends < self.settings.retries {
            self.again.push_back(flying);
        } else {
            self.give_up(flying, counters);
        }
    }

    /// Gives a frame up, and with it all frames of its packet.
    fn give_up(&mut self, flying: Flying<T>, counters: &mut Counters) {
        counters.given_up += 1;
        self.octets -= u64::from(flying.octets);
        if !flying.alone {
            self.give_up_packet(flying.packet, counters);
        }
        if self.lost.len() == self.settings.frames as usize {
            self.lost.pop_front();
        }
        self.lost.push_back(flying.frame);
    }

    fn give_up_packet(&mut self, packet: u64, counters: &mut Counters) {
        for number in self.base..self.base + self.frames.len() as u64 {
            if self.get(number).is_some_and(|it| it.packet == packet)
                && let Some(other) = self.take(number)
            {
                counters.given_up += 1;
                self.octets -= u64::from(other.octets);
            }
        }
        let octets = &mut self.octets;
        self.again.retain(|other| {
            let keep = other.packet != packet;
            if !keep {
                counters.given_up += 1;
                *octets -= u64::from(other.octets);
            }
            keep
        });
    }

    fn get(&self, number: u64) -> Option<&Flying<T>> {
        self.frames.get(number.checked_sub(self.base)? as usize)?.as_ref()
    }

    fn take(&mut self, number: u64) -> Option<Flying<T>> {
        let index = usize::try_from(number.checked_sub(self.base)?).ok()?;
        let flying = self.frames.get_mut(index)?.take()?;
        self.timers.remove(&(flying.due, number));
        self.trim();
        Some(flying)
    }

    fn trim(&mut self) {
        while self.frames.front().is_some_and(Option::is_none) {
            self.frames.pop_front();
            self.base += 1;
        }
    }

    /// Gives the oldest up as long as there are too many.
    fn make_room(&mut self, counters: &mut Counters) {
        let most = self.settings.frames as usize;
        while self.frames.len() + self.again.len() > most || self.octets > self.settings.octets {
            if let Some(Some(flying)) = self.frames.pop_front() {
                self.timers.remove(&(flying.due, self.base));
                self.octets -= u64::from(flying.octets);
                counters.expired += 1;
                self.base += 1;
                self.trim();
            } else if let Some(flying) = self.again.pop_front() {
                self.octets -= u64::from(flying.octets);
                counters.given_up += 1;
            } else {
                return;
            }
        }
    }
}
