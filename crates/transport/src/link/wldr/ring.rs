//! Ring of frames held for retransmission.
//!
//! Frames are ordered by number. A frame leaves the ring when it is requested, confirmed or too old. If the ring is
//! full, the oldest frame is dropped, because it is the least useful.
use super::WldrSettings;
use crate::link::pool::{Held, Pool};
use crate::link::recovery::Counters;
use crate::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::Arc;

/// Retransmissions through a tunnel beyond an eighth of the first transmissions.
const TUNNEL_CREDIT: u64 = 64;
/// Most retransmissions in a row through a tunnel: what a fade of a fast radio behind the tunnel takes.
const TUNNEL_BURST: u64 = 512;
/// Slots that a ring keeps although they are free.
const SPARE_SLOTS: usize = 16;
/// The unit of credit is an eighth of a retransmission.
const EIGHTHS: u64 = 8;

/// A held frame.
#[derive(Debug)]
pub(super) struct Slot<T> {
    pub(super) frame: T,
    pub(super) bytes: u32,
    /// Number of retransmissions.
    pub(super) resends: u32,
    /// Number of the first transmission; `None` if this is the first one.
    pub(super) origin: Option<u64>,
    /// Time of the first transmission.
    pub(super) first: Instant,
    /// Time from which it is not retransmitted.
    pub(super) dead_at: Instant,
}

/// Held frames of one end.
#[derive(Debug)]
pub(super) struct Ring<T> {
    most_slots: usize,
    max_bytes: u64,
    most_resends: u32,
    /// The slots of number `base` and the following ones; empty ones were taken out.
    slots: VecDeque<Option<Slot<T>>>,
    base: u64,
    /// Frames to be retransmitted, or returned to the caller.
    again: VecDeque<Slot<T>>,
    /// Bytes of all frames in `slots` and `again`.
    bytes: Held,
    /// Frames in `slots`.
    full: usize,
    /// Time at which the last of them is too old.
    dead_at: Instant,
    /// Retransmissions allowed, in eighths.
    credit: u64,
    /// Eighths that a first transmission adds, and most of them in all.
    earned: (u64, u64),
}

impl<T> Ring<T> {
    pub(super) fn new(settings: &WldrSettings) -> Self {
        Self {
            most_slots: settings.ring as usize,
            max_bytes: settings.bytes,
            most_resends: settings.resends.unwrap_or(u32::MAX),
            slots: VecDeque::new(),
            base: 0,
            again: VecDeque::new(),
            bytes: Held::default(),
            full: 0,
            dead_at: Instant::ZERO,
            credit: u64::from(settings.ring) * EIGHTHS,
            earned: (EIGHTHS, u64::from(settings.ring) * EIGHTHS),
        }
    }

    /// Allows one retransmission for eight first transmissions, and [`TUNNEL_BURST`] in a row.
    pub(super) fn limit_retransmissions(&mut self) {
        self.earned = (1, self.earned.1.min(TUNNEL_BURST * EIGHTHS));
        self.credit = self.credit.min(TUNNEL_CREDIT * EIGHTHS);
    }

    /// Charges held frames to this pool, which other links share.
    pub(super) fn share(&mut self, pool: Arc<Pool>) {
        self.bytes.share(pool);
    }

    /// Number of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.base + self.slots.len() as u64
    }

    /// Number of the first held frame; of the next one if none is held.
    pub(super) fn first(&self) -> u64 {
        self.base
    }

    /// Sets the number of the next frame, for tests of numbers that wrap.
    #[cfg(test)]
    pub(super) fn set_next(&mut self, next: u64) {
        assert!(self.slots.is_empty());
        self.base = next;
    }

    /// Whether a frame is to be retransmitted or returned.
    pub(super) fn waits(&self) -> bool {
        !self.again.is_empty()
    }

    /// Number of held frames.
    pub(super) fn held(&self) -> u64 {
        (self.full + self.again.len()) as u64
    }

    /// Bytes of the held frames.
    pub(super) fn held_bytes(&self) -> u64 {
        self.bytes.bytes()
    }

    /// Time at which all held frames are too old; `None` if none is held.
    pub(super) fn dead_at(&self) -> Option<Instant> {
        (self.held() > 0).then_some(self.dead_at)
    }

    /// Holds an outgoing frame; returns its number.
    pub(super) fn hold(&mut self, now: Instant, slot: Slot<T>, counters: &mut Counters) -> u64 {
        let number = self.next();
        if slot.origin.is_none() {
            let (earned, most) = self.earned;
            self.credit = (self.credit + earned).min(most);
        }
        self.bytes.add(slot.bytes);
        self.dead_at = self.dead_at.max(slot.dead_at);
        self.slots.push_back(Some(slot));
        self.full += 1;
        counters.labelled += 1;
        if self.is_too_full() || self.is_first_dead(now) {
            self.make_room(now, counters);
        }
        number
    }

    /// Queues the missing frames with these numbers for retransmission, if permitted.
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
                self.credit -= EIGHTHS;
                self.again.push_back(slot);
            } else {
                self.bytes.sub(slot.bytes);
                counters.given_up += 1;
            }
        }
        self.trim();
    }

    /// Removes the frame of this number: it is not retransmitted.
    pub(super) fn withdraw(&mut self, number: u64, counters: &mut Counters) {
        let index = number.checked_sub(self.base).and_then(|it| usize::try_from(it).ok());
        let slot = index.and_then(|index| self.slots.get_mut(index)).and_then(Option::take);
        if let Some(slot) = slot {
            self.bytes.sub(slot.bytes);
            self.full -= 1;
            counters.given_up += 1;
            self.trim();
        }
    }

    /// The next frame to retransmit that is not too old.
    pub(super) fn pop_again(&mut self, now: Instant, counters: &mut Counters) -> Option<Slot<T>> {
        loop {
            let slot = self.again.pop_front()?;
            self.bytes.sub(slot.bytes);
            if now < slot.dead_at {
                return Some(slot);
            }
            counters.given_up += 1;
        }
    }

    /// Removes frames below this number, which the neighbour has received.
    pub(super) fn settle(&mut self, number: u64, counters: &mut Counters) {
        let most = (number.min(self.next()).saturating_sub(self.base)) as usize;
        for slot in self.slots.drain(..most).flatten() {
            self.bytes.sub(slot.bytes);
            self.full -= 1;
            counters.settled += 1;
        }
        self.base += most as u64;
        self.trim();
    }

    /// Removes frames that are too old.
    pub(super) fn sweep(&mut self, now: Instant, counters: &mut Counters) {
        for slot in &mut self.slots {
            if let Some(old) = slot.take_if(|slot| slot.dead_at <= now) {
                self.bytes.sub(old.bytes);
                self.full -= 1;
                counters.expired += 1;
            }
        }
        let bytes = &mut self.bytes;
        self.again.retain(|slot| {
            let keep = now < slot.dead_at;
            if !keep {
                bytes.sub(slot.bytes);
                counters.given_up += 1;
            }
            keep
        });
        self.trim();
    }

    /// Removes all frames: the neighbour is gone.
    pub(super) fn forget(&mut self, counters: &mut Counters) {
        counters.given_up += self.held();
        self.base = self.next();
        self.slots.clear();
        self.again.clear();
        self.bytes.clear();
        self.full = 0;
        self.trim();
    }

    fn may_leave_again(&self, now: Instant, origin: u64, slot: &Slot<T>) -> bool {
        // A receiver remembers as many numbers. For older ones it cannot detect duplicates.
        let near = self.next() - origin < u64::from(super::MAX_RING) / 2;
        now < slot.dead_at && slot.resends < self.most_resends && self.credit >= EIGHTHS && near
    }

    fn is_too_full(&self) -> bool {
        self.slots.len() + self.again.len() > self.most_slots || self.bytes.bytes() > self.max_bytes
    }

    /// Whether the first slot is empty, or its frame too old.
    fn is_first_dead(&self, now: Instant) -> bool {
        let dead = |slot: &Option<Slot<T>>| slot.as_ref().is_none_or(|it| it.dead_at <= now);
        self.slots.front().is_some_and(dead)
    }

    fn make_room(&mut self, now: Instant, counters: &mut Counters) {
        while (self.is_too_full() || self.is_first_dead(now)) && self.drop_oldest(counters) {}
    }

    /// Drops the frame of the lowest number, or a free slot; returns whether there was any.
    fn drop_oldest(&mut self, counters: &mut Counters) -> bool {
        if let Some(slot) = self.slots.pop_front() {
            self.base += 1;
            if let Some(slot) = slot {
                self.full -= 1;
                self.bytes.sub(slot.bytes);
                counters.expired += 1;
            }
            return true;
        }
        let Some(slot) = self.again.pop_front() else {
            return false;
        };
        self.bytes.sub(slot.bytes);
        counters.given_up += 1;
        true
    }

    /// Drops the older half of the frames.
    pub(super) fn shed(&mut self, counters: &mut Counters) {
        let most = self.held() / 2;
        while self.held() > most && self.drop_oldest(counters) {}
        self.trim();
    }

    /// Removes free slots before the first frame, and returns memory that the others do not need.
    fn trim(&mut self) {
        while self.slots.front().is_some_and(Option::is_none) {
            self.slots.pop_front();
            self.base += 1;
        }
        shrink(&mut self.slots);
        shrink(&mut self.again);
    }
}

/// Returns memory of a queue of which less than a quarter is used.
fn shrink<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() > SPARE_SLOTS && queue.len() < queue.capacity() / 4 {
        queue.shrink_to((2 * queue.len()).max(SPARE_SLOTS));
    }
}

impl<T> Slot<T> {
    pub(super) fn new(frame: T, bytes: u32, now: Instant, patience: Duration) -> Self {
        Self { frame, bytes, resends: 0, origin: None, first: now, dead_at: now + patience }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Duration = Duration::from_secs(1);

    /// A ring that holds so many frames of 100 bytes.
    fn ring(frames: u64) -> (Ring<u64>, Counters) {
        let (mut ring, mut counters) = (Ring::new(&WldrSettings::default()), Counters::default());
        for frame in 0..frames {
            let slot = Slot::new(frame, 100, Instant::ZERO, LATER);
            ring.hold(Instant::ZERO, slot, &mut counters);
        }
        (ring, counters)
    }

    #[test]
    fn settled_frames_return_their_memory() {
        let (mut ring, mut counters) = ring(8_000);
        assert!(ring.slots.capacity() >= 8_000);
        for settled in (0..=8_000).step_by(100) {
            ring.settle(settled, &mut counters);
        }
        assert_eq!((ring.held(), counters.settled), (0, 8_000));
        assert!(ring.slots.capacity() <= 4 * SPARE_SLOTS, "{}", ring.slots.capacity());
    }

    #[test]
    fn shed_drops_the_older_half() {
        let (mut ring, mut counters) = ring(10);
        ring.ask(Instant::ZERO, 6, 8, &mut counters);
        ring.shed(&mut counters);
        assert_eq!((ring.held(), counters.expired, counters.given_up), (5, 5, 0));
        assert_eq!((ring.first(), ring.next()), (5, 10));
        for left in [2, 1, 0, 0] {
            ring.shed(&mut counters);
            assert_eq!((ring.held(), ring.held_bytes()), (left, 100 * left));
        }
        assert_eq!((ring.next(), counters.expired + counters.given_up), (10, 10));
    }
}
