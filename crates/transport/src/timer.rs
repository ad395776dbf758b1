//! Timers with true deletion: an indexed 4-ary heap.
//!
//! Nearly every timer of a fetch or a forwarder is cancelled before it is due. Deleting lazily
//! would keep the dead ones in memory and wake the driver for nothing; here `cancel` removes the
//! entry and [`Timers::deadline`] is always exact. All operations are O(log n) (`deadline`: O(1)),
//! and nothing is allocated once the heap has reached its largest size.
use crate::time::Instant;

const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// A set of timers, one per slot. Slots are small numbers chosen by the owner (an index into its
/// own table): memory is proportional to the largest slot ever armed.
#[derive(Clone, Debug, Default)]
pub struct Timers {
    heap: Vec<Entry>,
    /// Slot → place in the heap, or [`ABSENT`].
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

impl Timers {
    /// No timers, and no memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Arms the timer of `slot` to be due at `at`, in place of what it was before.
    ///
    /// Among timers due at the same instant the one armed first fires first; arming again counts.
    pub fn arm(&mut self, slot: u32, at: Instant) {
        self.armed += 1;
        let entry = Entry { at, sequence: self.armed, slot };
        match self.place(slot) {
            Some(place) => {
                self.heap[place] = entry;
                self.settle(place);
            }
            None => {
                let index = slot as usize;
                if index >= self.places.len() {
                    self.places.resize(index + 1, ABSENT);
                }
                self.heap.push(entry);
                self.rise(self.heap.len() - 1);
            }
        }
    }

    /// Disarms the timer of `slot`; says whether it was armed.
    pub fn cancel(&mut self, slot: u32) -> bool {
        let Some(place) = self.place(slot) else {
            return false;
        };
        self.remove(place);
        true
    }

    /// When the timer of `slot` is due, if it is armed.
    pub fn due(&self, slot: u32) -> Option<Instant> {
        self.place(slot).map(|place| self.heap[place].at)
    }

    /// When the earliest timer is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.heap.first().map(|entry| entry.at)
    }

    /// Disarms and returns the earliest timer that is due at `now`.
    pub fn pop_due(&mut self, now: Instant) -> Option<u32> {
        let first = self.heap.first().filter(|entry| entry.at <= now)?.slot;
        self.remove(0);
        Some(first)
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Disarms all timers; keeps the memory.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.places.fill(ABSENT);
    }

    fn place(&self, slot: u32) -> Option<usize> {
        self.places
            .get(slot as usize)
            .filter(|place| **place != ABSENT)
            .map(|place| *place as usize)
    }

    fn remove(&mut self, place: usize) {
        let gone = self.heap.swap_remove(place);
        self.places[gone.slot as usize] = ABSENT;
        if place < self.heap.len() {
            self.settle(place);
        }
    }

    /// Restores the order around the entry at `place`, the only one that may be out of order.
    fn settle(&mut self, place: usize) {
        let place = self.rise(place);
        self.sink(place);
    }

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
    fn timers_fire_in_order_of_time_and_among_equals_in_order_of_arming() {
        let mut timers = Timers::new();
        for (slot, millis) in [(3, 20), (1, 10), (2, 10), (0, 10)] {
            timers.arm(slot, at(millis));
        }
        timers.arm(1, at(10));
        let order: Vec<_> = std::iter::from_fn(|| timers.pop_due(at(20))).collect();
        assert_eq!(order, [2, 0, 1, 3]);
        assert!(timers.is_empty());
    }

    #[test]
    fn a_cancelled_timer_no_longer_decides_the_deadline() {
        let mut timers = Timers::new();
        timers.arm(0, at(10));
        timers.arm(1, at(20));
        assert!(timers.cancel(0));
        assert!(!timers.cancel(0) && !timers.cancel(99));
        assert_eq!(
            (timers.deadline(), timers.due(0), timers.due(1)),
            (Some(at(20)), None, Some(at(20)))
        );
        assert_eq!(timers.pop_due(at(19)), None);
        assert_eq!(timers.pop_due(at(20)), Some(1));
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Arm(u32, u64),
        Cancel(u32),
        Pop(u64),
        Clear,
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            6 => (0..40_u32, 0..30_u64).prop_map(|(slot, millis)| Operation::Arm(slot, millis)),
            4 => (0..40_u32).prop_map(Operation::Cancel),
            4 => (0..30_u64).prop_map(Operation::Pop),
            1 => Just(Operation::Clear),
        ]
    }

    /// What the heap must behave like: a sorted map, searched from end to end.
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
        fn the_heap_behaves_like_a_sorted_map(operations in prop::collection::vec(operation(), 0..200)) {
            let (mut timers, mut model) = (Timers::new(), Model::default());
            for operation in operations {
                match operation {
                    Operation::Arm(slot, millis) => {
                        timers.arm(slot, at(millis));
                        model.arm(slot, at(millis));
                    }
                    Operation::Cancel(slot) => prop_assert_eq!(timers.cancel(slot), model.cancel(slot)),
                    Operation::Pop(millis) => {
                        prop_assert_eq!(timers.pop_due(at(millis)), model.pop_due(at(millis)));
                    }
                    Operation::Clear => {
                        timers.clear();
                        model.armed.clear();
                    }
                }
                prop_assert_eq!(timers.deadline(), model.armed.keys().next().map(|key| key.0));
                prop_assert_eq!(timers.len(), model.armed.len());
            }
        }
    }
}
