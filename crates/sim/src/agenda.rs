//! The order of events: one entry for each thing that waits, not for each packet.
//!
//! A channel is armed with its next arrival, a node with its deadline; what stands behind the next
//! arrival is in the channel's own order. The agenda therefore never holds more entries than there are
//! slots, and an entry that moves is moved in place. An indexed 4-ary heap.
use recoup_transport::time::Instant;

/// An instant, and a number that orders what happens at the same instant: what was decided first comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// The event number `sequence`, at `at`.
    pub fn new(at: Instant, sequence: u64) -> Self {
        Self((u128::from(at.as_nanos()) << 64) | u128::from(sequence))
    }

    /// When.
    pub fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// The number.
    pub fn sequence(self) -> u64 {
        self.0 as u64
    }
}

const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

/// What is to happen when. Slots are small numbers chosen by the owner.
#[derive(Clone, Debug)]
pub struct Agenda {
    heap: Vec<Entry>,
    /// Slot → place in the heap, or [`ABSENT`].
    places: Vec<u32>,
    sequence: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: Key,
    slot: u32,
}

impl Agenda {
    /// An empty agenda for the slots below `slots`.
    pub fn new(slots: usize) -> Self {
        Self { heap: Vec::with_capacity(slots), places: vec![ABSENT; slots], sequence: 0 }
    }

    /// The next number of an event; none is given twice.
    pub fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Arms `slot` with `key`, in place of what it had.
    pub fn arm(&mut self, slot: u32, key: Key) {
        let entry = Entry { key, slot };
        match self.place(slot) {
            Some(place) => {
                let earlier = key < self.heap[place].key;
                self.heap[place] = entry;
                if earlier { self.rise(place) } else { self.sink(place) }
            }
            None => {
                self.heap.push(entry);
                self.rise(self.heap.len() - 1);
            }
        }
        debug_assert!(self.heap.len() <= self.places.len(), "one entry for each slot");
    }

    /// Arms `slot` with `key`, or disarms it.
    pub fn set(&mut self, slot: u32, key: Option<Key>) {
        match key {
            Some(key) => self.arm(slot, key),
            None => self.disarm(slot),
        }
    }

    /// Takes what `slot` had away.
    pub fn disarm(&mut self, slot: u32) {
        let Some(place) = self.place(slot) else {
            return;
        };
        let gone = self.heap.swap_remove(place);
        self.places[gone.slot as usize] = ABSENT;
        if place < self.heap.len() {
            self.places[self.heap[place].slot as usize] = place as u32;
            self.rise(place);
            self.sink(self.places[self.heap[place].slot as usize] as usize);
        }
    }

    /// What `slot` is armed with.
    pub fn key(&self, slot: u32) -> Option<Key> {
        self.place(slot).map(|place| self.heap[place].key)
    }

    /// What comes first, which stays armed.
    pub fn first(&self) -> Option<(Key, u32)> {
        self.heap.first().map(|entry| (entry.key, entry.slot))
    }

    /// How many slots are armed.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no slot is armed.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn place(&self, slot: u32) -> Option<usize> {
        let place = self.places[slot as usize];
        (place != ABSENT).then_some(place as usize)
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent].key < entry.key {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while let Some(child) = self.first_child(place) {
            if entry.key < self.heap[child].key {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, entry);
    }

    fn first_child(&self, place: usize) -> Option<usize> {
        let begin = place * ARITY + 1;
        let end = (begin + ARITY).min(self.heap.len());
        (begin..end).min_by_key(|child| self.heap[*child].key)
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

    fn key(millis: u64, sequence: u64) -> Key {
        Key::new(Instant::from_millis(millis), sequence)
    }

    #[test]
    fn what_was_decided_first_comes_first_at_the_same_instant() {
        let mut agenda = Agenda::new(3);
        agenda.arm(0, key(10, 2));
        agenda.arm(1, key(10, 1));
        agenda.arm(2, key(9, 3));
        let mut order = Vec::new();
        while let Some((key, slot)) = agenda.first() {
            order.push((slot, key.at()));
            agenda.disarm(slot);
        }
        let at = Instant::from_millis;
        assert_eq!(order, [(2, at(9)), (1, at(10)), (0, at(10))]);
    }

    proptest! {
        #[test]
        fn it_behaves_like_a_list_that_is_searched(
            steps in prop::collection::vec((0..20_u32, prop::option::of(0..50_u64)), 0..300),
        ) {
            let mut agenda = Agenda::new(20);
            let mut model: Vec<Option<Key>> = vec![None; 20];
            for (number, (slot, millis)) in steps.into_iter().enumerate() {
                let new = millis.map(|millis| key(millis, number as u64));
                agenda.set(slot, new);
                model[slot as usize] = new;
                let first = model.iter().enumerate().filter_map(|(s, k)| Some(((*k)?, s as u32))).min();
                prop_assert_eq!(agenda.first(), first);
                prop_assert_eq!(agenda.len(), model.iter().flatten().count());
                prop_assert_eq!(agenda.key(slot), new);
            }
        }
    }
}
