//! The order of events: one entry for each waiting machine, not for each packet.
//!
//! A channel is armed with its next arrival, a node with its deadline; what stands behind the next
//! arrival is in the channel's own order. The agenda therefore never holds more entries than there are
//! slots. A tournament: slots are the leaves of a binary tree, and each match above them holds a copy of the
//! earlier of two. Moving an entry plays its matches again, as far up as anything changes. The two of a match
//! stand beside each other in memory, so each match of a large tree waits for memory once.
use crate::time::Instant;
use std::cmp::Ordering;

/// An instant, and a number that orders what happens at the same instant: what was decided first comes
/// first.
// Two words, and not one of 128 bits, which would be read in one piece right after it was written in two: that stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    at: Instant,
    sequence: u64,
}

impl Key {
    /// Later than everything that happens.
    const NEVER: Self = Self { at: Instant::from_nanos(u64::MAX), sequence: u64::MAX };

    /// The event number `sequence`, at `at`.
    pub fn new(at: Instant, sequence: u64) -> Self {
        Self { at, sequence }
    }

    /// Its time.
    pub fn at(self) -> Instant {
        self.at
    }

    /// The number.
    pub fn sequence(self) -> u64 {
        self.sequence
    }

    /// No event has the last number.
    fn is_never(self) -> bool {
        self.sequence == u64::MAX
    }

    /// Compared as one number, for which no branch has to be foreseen.
    fn rank(self) -> u128 {
        (u128::from(self.at.as_nanos()) << 64) | u128::from(self.sequence)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// A slot and its key.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: Key,
    slot: u32,
}

/// Pending events by time. Slots are small numbers chosen by the owner.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// The tree, of twice as many places as slots: number 1 is the root, below place n are 2n and 2n + 1, and the slots
    /// fill the second half. Each place above them holds the earlier of the two below. Number 0 is not used.
    places: Vec<Place>,
    armed: usize,
    sequence: u64,
}

impl Agenda {
    /// An empty agenda for the slots below `slots`.
    pub fn new(slots: usize) -> Self {
        let slots = slots.next_power_of_two().max(2);
        // No slot is armed: the first of the slots below each place wins it.
        let place = |number: usize| {
            let round = number.max(1).ilog2();
            let slot = (number - (1 << round).min(number)) * (slots >> round);
            Place { key: Key::NEVER, slot: slot as u32 }
        };
        Self { places: (0..2 * slots).map(place).collect(), armed: 0, sequence: 0 }
    }

    /// The next number of an event; none is given twice.
    pub fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Arms `slot` with `key`, in place of what it had.
    pub fn arm(&mut self, slot: u32, key: Key) {
        self.set(slot, Some(key));
    }

    /// Arms `slot` with `key`, or disarms it.
    pub fn set(&mut self, slot: u32, key: Option<Key>) {
        let key = key.unwrap_or(Key::NEVER);
        let leaf = self.leaf(slot);
        let before = self.places[leaf].key;
        if key != before {
            self.armed += usize::from(before.is_never());
            self.armed -= usize::from(key.is_never());
            self.play(leaf, Place { key, slot });
        }
    }

    /// Takes what `slot` had away.
    pub fn disarm(&mut self, slot: u32) {
        self.set(slot, None);
    }

    /// The key with which `slot` is armed.
    pub fn key(&self, slot: u32) -> Option<Key> {
        let key = self.places[self.leaf(slot)].key;
        (!key.is_never()).then_some(key)
    }

    /// The earliest key, which stays armed.
    pub fn first(&self) -> Option<(Key, u32)> {
        let Place { key, slot } = self.places[1];
        (!key.is_never()).then_some((key, slot))
    }

    /// Number of armed slots.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Whether no slot is armed.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// The place of a slot.
    #[inline]
    fn leaf(&self, slot: u32) -> usize {
        self.places.len() / 2 + slot as usize
    }

    /// Sets the leaf of a slot whose key has changed, and plays its matches.
    fn play(&mut self, leaf: usize, changed: Place) {
        let (mut number, mut winner) = (leaf, changed);
        loop {
            let before = std::mem::replace(&mut self.places[number], winner).slot;
            // Another slot has won as before: nothing changes above.
            if number == 1 || (before == winner.slot && winner.slot != changed.slot) {
                return;
            }
            let rival = self.places[number ^ 1];
            winner = if rival.key < winner.key { rival } else { winner };
            number /= 2;
        }
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
    fn earlier_decision_wins_at_equal_instants() {
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
