//! What was sent and may have to be sent again.
//!
//! Frames stand in the order of their numbers. One leaves the ring when it is asked for, when the neighbour needs it no
//! more, when its time is over, or when the ring is full: then the oldest goes, for it is the least use.
use super::WldrSettings;
use super::pool::{Held, Pool};
use crate::link::recovery::Counters;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// A frame that is held.
#[derive(Debug)]
pub(super) struct Slot<T> {
    pub(super) frame: T,
    pub(super) octets: u32,
    /// How often it was sent again.
    pub(super) resends: u32,
    /// The number that it had when it left first; `None` if that is this one.
    pub(super) origin: Option<u64>,
    /// When it left first.
    pub(super) first: Instant,
    /// From here on it is not sent again.
    pub(super) dead_at: Instant,
}

/// The frames of one end.
#[derive(Debug)]
pub(super) struct Ring<T> {
    most_slots: usize,
    most_octets: u64,
    most_resends: u32,
    /// The slot of number `base` and those that follow; empty ones were taken out.
    slots: VecDeque<Option<Slot<T>>>,
    base: u64,
    /// What is to be sent again, or handed back.
    again: VecDeque<Slot<T>>,
    /// Octets of all frames in `slots` and `again`.
    octets: Held,
    /// Frames in `slots`.
    full: usize,
    /// When the last of them is too old.
    dead_at: Instant,
    /// How many frames may still be sent again: each that is sent the first time adds one, up to the size of the ring.
    credit: u64,
}

impl<T> Ring<T> {
    pub(super) fn new(settings: &WldrSettings) -> Self {
        Self {
            most_slots: settings.ring as usize,
            most_octets: settings.octets,
            most_resends: settings.resends.unwrap_or(u32::MAX),
            slots: VecDeque::new(),
            base: 0,
            again: VecDeque::new(),
            octets: Held::default(),
            full: 0,
            dead_at: Instant::ZERO,
            credit: u64::from(settings.ring),
        }
    }

    /// What is held counts in this pool, which other links share.
    pub(super) fn share(&mut self, pool: Arc<Pool>) {
        self.octets.share(pool);
    }

    /// Number of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Number of the first frame that is held; of the next one if none is.
    pub(super) fn first(&self) -> u64 {
        self.base
    }

    /// The next frame gets this number; for tests of numbers that wrap.
    #[cfg(test)]
    pub(super) fn set_next(&mut self, next: u64) {
        assert!(self.slots.is_empty());
        self.base = next;
    }

    /// Something is to be sent again or handed back.
    pub(super) fn waits(&self) -> bool {
        !self.again.is_empty()
    }

    /// Frames that are held.
    pub(super) fn held(&self) -> u64 {
        (self.full + self.again.len()) as u64
    }

    /// Octets of these frames.
    pub(super) fn held_octets(&self) -> u64 {
        self.octets.bytes()
    }

    /// When everything that is held will be too old; `None` if nothing is held.
    pub(super) fn dead_at(&self) -> Option<Instant> {
        (self.held() > 0).then_some(self.dead_at)
    }

    /// A frame leaves and is held from here on; its number.
    pub(super) fn hold(&mut self, now: Instant, slot: Slot<T>, counters: &mut Counters) -> u64 {
        let number = self.next();
        if slot.origin.is_none() {
            self.credit = (self.credit + 1).min(self.most_slots as u64);
        }
        self.octets.add(u64::from(slot.octets));
        self.dead_at = self.dead_at.max(slot.dead_at);
        self.slots.push_back(Some(slot));
        self.full += 1;
        counters.labelled += 1;
        if self.is_too_full() || self.is_first_dead(now) {
            self.make_room(now, counters);
        }
        number
    }

    /// The neighbour lacks the frames with these numbers. Those that may be sent again wait for that.
    pub(super) fn ask(&mut self, now: Instant, from: u64, until: u64, counters: &mut Counters) {
        let (from, until) = (from.max(self.base), until.min(self.next()));
        for number in from..until {
            let index = (number - self.base) as usize;
            let Some(mut slot) = self.slots.get_mut(index).and_then(Option::take) else {
                continue;
            };
            self.full -= 1;
            let origin = *slot.origin.get_or_insert(number);
            if self.may_leave_again(now, origin, &slot) {
                self.credit -= 1;
                self.again.push_back(slot);
            } else {
                self.octets.sub(u64::from(slot.octets));
                counters.given_up += 1;
            }
        }
        self.trim();
    }

    /// The frame of this number is not to be sent again, whoever asks for it.
    pub(super) fn withdraw(&mut self, number: u64, counters: &mut Counters) {
        let index = number.checked_sub(self.base).and_then(|it| usize::try_from(it).ok());
        let slot = index.and_then(|index| self.slots.get_mut(index)).and_then(Option::take);
        if let Some(slot) = slot {
            self.octets.sub(u64::from(slot.octets));
            self.full -= 1;
            counters.given_up += 1;
            self.trim();
        }
    }

    /// The first of those that wait, if it is still worth it.
    pub(super) fn pop_again(&mut self, now: Instant, counters: &mut Counters) -> Option<Slot<T>> {
        loop {
            let slot = self.again.pop_front()?;
            self.octets.sub(u64::from(slot.octets));
            if now < slot.dead_at {
                return Some(slot);
            }
            counters.given_up += 1;
        }
    }

    /// The neighbour asks for nothing below this number any more.
    pub(super) fn settle(&mut self, number: u64, counters: &mut Counters) {
        let most = (number.min(self.next()).saturating_sub(self.base)) as usize;
        for slot in self.slots.drain(..most).flatten() {
            self.octets.sub(u64::from(slot.octets));
            self.full -= 1;
            counters.settled += 1;
        }
        self.base += most as u64;
        self.trim();
    }

    /// Lets go of everything that is too old.
    pub(super) fn sweep(&mut self, now: Instant, counters: &mut Counters) {
        for slot in &mut self.slots {
            if let Some(old) = slot.take_if(|slot| slot.dead_at <= now) {
                self.octets.sub(u64::from(old.octets));
                self.full -= 1;
                counters.expired += 1;
            }
        }
        let octets = &mut self.octets;
        self.again.retain(|slot| {
            let keep = now < slot.dead_at;
            if !keep {
                octets.sub(u64::from(slot.octets));
                counters.given_up += 1;
            }
            keep
        });
        self.trim();
    }

    /// The neighbour for whom all this was is gone.
    pub(super) fn forget(&mut self, counters: &mut Counters) {
        counters.given_up += self.held();
        self.base = self.next();
        self.slots.clear();
        self.again.clear();
        self.octets.clear();
        self.full = 0;
    }

    fn may_leave_again(&self, now: Instant, origin: u64, slot: &Slot<T>) -> bool {
        // A receiver remembers so many numbers; whether an older one came, it cannot tell.
        let near = self.next() - origin < u64::from(super::MAX_RING) / 2;
        now < slot.dead_at && slot.resends < self.most_resends && self.credit > 0 && near
    }

    fn is_too_full(&self) -> bool {
        self.slots.len() + self.again.len() > self.most_slots
            || self.octets.bytes() > self.most_octets
            || self.octets.is_over()
    }

    /// Whether the first slot is empty, or what is in it too old.
    fn is_first_dead(&self, now: Instant) -> bool {
        let dead = |slot: &Option<Slot<T>>| slot.as_ref().is_none_or(|it| it.dead_at <= now);
        self.slots.front().is_some_and(dead)
    }

    fn make_room(&mut self, now: Instant, counters: &mut Counters) {
        while self.is_too_full() || self.is_first_dead(now) {
            if let Some(slot) = self.slots.pop_front() {
                self.base += 1;
                let Some(slot) = slot else { continue };
                self.full -= 1;
                self.octets.sub(u64::from(slot.octets));
                counters.expired += 1;
            } else if let Some(slot) = self.again.pop_front() {
                self.octets.sub(u64::from(slot.octets));
                counters.given_up += 1;
            } else {
                return;
            }
        }
    }

    fn trim(&mut self) {
        while self.slots.front().is_some_and(Option::is_none) {
            self.slots.pop_front();
            self.base += 1;
        }
    }
}

impl<T> Slot<T> {
    pub(super) fn new(frame: T, octets: u32, now: Instant, patience: Duration) -> Self {
        Self { frame, octets, resends: 0, origin: None, first: now, dead_at: now + patience }
    }
}
