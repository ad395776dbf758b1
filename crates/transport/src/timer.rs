//! Timers with true deletion: a queue of what was armed in order of time, and an indexed 4-ary heap for the rest.
//!
//! Nearly every timer of a fetch or a forwarder is cancelled before it is due. Nearly every one is due no earlier
//! than those armed before it, because lifetimes are similar. Such timers are in a queue: arming and cancelling take
//! constant time and access memory in order. The others are in a heap, with O(log n). A cancelled timer leaves a gap
//! in the queue, but never in front, and gaps are removed once they are the larger part. Memory is thus proportional
//! to the armed timers, no cancelled timer causes a wake-up, and [`Timers::deadline`] is always exact. There is no
//! allocation once both have reached their largest size.
use crate::time::Instant;
use std::collections::VecDeque;

const ARITY: usize = 4;

/// Flag of the location of a timer in the queue.
const QUEUED: u32 = 1 << 31;

/// Location of a timer that is not armed: no heap is that large.
const ABSENT: u32 = QUEUED - 1;

/// The slot of a gap in the queue.
const GAP: u32 = u32::MAX;

/// A set of timers, one per slot. Slots are small numbers chosen by the owner (an index into its
/// own table): memory is proportional to the largest slot ever armed.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    /// Ascending; neither the first nor the last is a gap.
    queue: VecDeque<Entry>,
    /// Number of timers that have left the front of the queue: the number of the first one.
    passed: u32,
    /// Gaps in the queue.
    gaps: usize,
    heap: Vec<Entry>,
    /// Slot → index in the heap, or number in the queue with [`QUEUED`], or [`ABSENT`].
    places: Vec<u32>,
    armed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    sequence: u64,
    slot: u32,
}

impl Entry {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.sequence)
    }
}

/// Location of a timer.
#[derive(Clone, Copy)]
enum Place {
    Queue(usize),
    Heap(usize),
}

impl Timers {
    /// An empty set, without allocated memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Arms the timer of `slot` for the time `at`, in place of an earlier one.
    ///
    /// Among timers due at the same instant the one armed first fires first; arming again counts.
    #[inline]
    pub fn arm(&mut self, slot: u32, at: Instant) {
        self.cancel(slot);
        self.armed += 1;
        let entry = Entry { at, sequence: self.armed, slot };
        let index = slot as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ABSENT);
        }
        if self.queue.back().is_none_or(|last| last.at <= at) {
            self.enqueue(entry);
        } else {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1);
        }
    }

    /// Disarms the timer of `slot`; returns whether it was armed.
    #[inline]
    pub fn cancel(&mut self, slot: u32) -> bool {
        match self.place(slot) {
            Some(Place::Queue(place)) => self.leave(place),
            Some(Place::Heap(place)) => self.remove(place),
            None => return false,
        }
        true
    }

    /// When the timer of `slot` is due, if it is armed.
    pub fn due(&self, slot: u32) -> Option<Instant> {
        self.place(slot).map(|place| match place {
            Place::Queue(place) => self.queue[place].at,
            Place::Heap(place) => self.heap[place].at,
        })
    }

    /// When the earliest timer is due.
    #[inline]
    pub fn deadline(&self) -> Option<Instant> {
        match (self.queue.front(), self.heap.first()) {
            (Some(queued), Some(first)) => Some(queued.at.min(first.at)),
            (Some(only), None) | (None, Some(only)) => Some(only.at),
            (None, None) => None,
        }
    }

    /// Disarms and returns the earliest timer that is due at `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let queued = self.queue.front().filter(|entry| entry.at <= now);
        let first = self.heap.first().filter(|entry| entry.at <= now);
        let (place, slot) = match (queued, first) {
            (Some(queued), Some(first)) if first.key() < queued.key() => {
                (Place::Heap(0), first.slot)
            }
            (Some(queued), _) => (Place::Queue(0), queued.slot),
            (None, Some(first)) => (Place::Heap(0), first.slot),
            (None, None) => return None,
        };
        match place {
            Place::Queue(place) => self.leave(place),
            Place::Heap(place) => self.remove(place),
        }
        Some(slot)
    }

    /// Number of armed timers.
    pub fn len(&self) -> usize {
        self.queue.len() - self.gaps + self.heap.len()
    }

    /// Whether no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn place(&self, slot: u32) -> Option<Place> {
        match self.places.get(slot as usize).copied()? {
            ABSENT => None,
            place if place & QUEUED == 0 => Some(Place::Heap(place as usize)),
            number => Some(Place::Queue((number.wrapping_sub(self.passed) & !QUEUED) as usize)),
        }
    }

    // --- the queue ------------------------------------------------------------------------------

    #[inline]
    fn enqueue(&mut self, entry: Entry) {
        self.places[entry.slot as usize] = self.number(self.queue.len());
        self.queue.push_back(entry);
    }

    /// Number of an index in the queue, constant while timers leave the front.
    #[inline]
    fn number(&self, place: usize) -> u32 {
        self.passed.wrapping_add(place as u32) | QUEUED
    }

    #[inline]
    fn leave(&mut self, place: usize) {
        let slot = std::mem::replace(&mut self.queue[place].slot, GAP);
        self.places[slot as usize] = ABSENT;
        self.gaps += 1;
        if place == 0 {
            while self.queue.pop_front_if(|entry| entry.slot == GAP).is_some() {
                self.passed = self.passed.wrapping_add(1);
                self.gaps -= 1;
            }
        } else if place + 1 == self.queue.len() {
            while self.queue.pop_back_if(|entry| entry.slot == GAP).is_some() {
                self.gaps -= 1;
            }
        } else if self.gaps > self.queue.len() / 2 {
            self.close_gaps();
        }
    }

    /// Takes time in proportion to the timers cancelled since the last call.
    fn close_gaps(&mut self) {
        self.queue.retain(|entry| entry.slot != GAP);
        self.gaps = 0;
        for place in 0..self.queue.len() {
            self.places[self.queue[place].slot as usize] = self.number(place);
        }
    }

    // --- the heap -------------------------------------------------------------------------------

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.places[gone.slot as usize] = ABSENT;
        if place < self.heap.len() {
            let place = self.rise(place);
            self.sink(place);
        }
    }

    /// Restores the order above the entry at `place`, the only one that may be out of order.
    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].key() < entry.key() {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while let Some(child) = self.earliest_child(place) {
            if entry.key() < self.heap[child].key() {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn earliest_child(&self, place: usize) -> Option<usize> {
        let first = place * ARITY + 1;
        let end = (first + ARITY).min(self.heap.len());
        (first..end).min_by_key(|child| self.heap[*child].key())
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.slot as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn cancelled_timers_release_their_memory() {
        let mut timers = Timers::new();
        timers.arm(0, at(0));
        for number in 1..100_000 {
            timers.arm(1 + number % 10, at(u64::from(number)));
        }
        assert_eq!((timers.len(), timers.deadline()), (11, Some(at(0))));
        assert!(timers.queue.len() < 40, "{} places for 11 timers", timers.queue.len());
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Arm(u32, u64),
        /// Arms a timer by a constant delay, so that it joins the queue.
        Later(u32),
        Cancel(u32),
        Pop(u64),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            4 => (0..40_u32, 0..30_u64).prop_map(|(slot, millis)| Operation::Arm(slot, millis)),
            6 => (0..40_u32).prop_map(Operation::Later),
            4 => (0..40_u32).prop_map(Operation::Cancel),
            4 => (0..30_u64).prop_map(Operation::Pop),
        ]
    }

    /// The reference: a sorted map, searched from end to end.
    #[derive(Default)]
    struct Model {
        armed: BTreeMap<(Instant, u64), u32>,
        sequence: u64,
    }

    impl Model {
        fn cancel(&mut self, slot: u32) -> bool {
            let before = self.armed.len();
            self.armed.retain(|_, armed| *armed != slot);
            self.armed.len() < before
        }

        fn arm(&mut self, slot: u32, at: Instant) {
            self.cancel(slot);
            self.sequence += 1;
            self.armed.insert((at, self.sequence), slot);
        }

        fn pop_due(&mut self, now: Instant) -> Option<u32> {
            let entry = self.armed.first_entry().filter(|entry| entry.key().0 <= now)?;
            Some(entry.remove())
        }
    }

    proptest! {
        #[test]
        fn the_timers_behave_like_a_sorted_map(operations in prop::collection::vec(operation(), 0..300)) {
            let (mut timers, mut model) = (Timers::new(), Model::default());
            for (number, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::Later(slot) => {
                        timers.arm(slot, at(number as u64 / 4));
                        model.arm(slot, at(number as u64 / 4));
                    }
                    Operation::Arm(slot, millis) => {
                        timers.arm(slot, at(millis));
                        model.arm(slot, at(millis));
                    }
                    Operation::Cancel(slot) => prop_assert_eq!(timers.cancel(slot), model.cancel(slot)),
                    Operation::Pop(millis) => {
                        prop_assert_eq!(timers.pop_due(at(millis)), model.pop_due(at(millis)));
                    }
                }
                prop_assert_eq!(timers.deadline(), model.armed.keys().next().map(|key| key.0));
                prop_assert_eq!(timers.len(), model.armed.len());
            }
        }
    }
}
