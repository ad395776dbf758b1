//! The order of events: one entry for each waiting machine, not for each packet.
//!
//! A channel is armed with its next arrival, a node with its deadline; what stands behind the next
//! arrival is in the channel's own order. The agenda therefore never holds more entries than there are
//! slots. A tournament: slots are the leaves of a binary tree, and each match above them holds the
//! earlier of two. Moving an entry plays its matches again, as far up as anything changes.
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

/// Pending events by time. Slots are small numbers chosen by the owner.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Key of each slot; their number is a power of two, at least 2.
    keys: Vec<Key>,
    /// Winner of each match, as in a tournament tree. Number 1 is the last match. The winners of matches 2n and 2n + 1
    /// meet in match n. Slots 2n and 2n + 1 meet in the match in the middle of the list plus n. Number 0 is not played.
    winners: Vec<u32>,
    armed: usize,
    sequence: u64,
}

impl Agenda {
    /// An empty agenda for the slots below `slots`.
    pub fn new(slots: usize) -> Self {
        let slots = slots.next_power_of_two().max(2);
        // No slot is armed: the first of the slots below each match wins it.
        let winner = |place: usize| {
            let round = place.max(1).ilog2();
            ((place - (1 << round).min(place)) * (slots >> round)) as u32
        };
        let winners = (0..slots).map(winner).collect();
        Self { keys: vec![Key::NEVER; slots], winners, armed: 0, sequence: 0 }
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
        let before = self.keys[slot as usize];
        if key != before {
            self.keys[slot as usize] = key;
            self.armed += usize::from(before.is_never());
            self.armed -= usize::from(key.is_never());
            self.play(slot, key);
        }
    }

    /// Takes what `slot` had away.
    pub fn disarm(&mut self, slot: u32) {
        self.set(slot, None);
    }

    /// The key with which `slot` is armed.
    pub fn key(&self, slot: u32) -> Option<Key> {
        let key = self.keys[slot as usize];
        (!key.is_never()).then_some(key)
    }

    /// The earliest key, which stays armed.
    pub fn first(&self) -> Option<(Key, u32)> {
        let slot = self.winners[1];
        Some((self.key(slot)?, slot))
    }

    /// Number of armed slots.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Whether no slot is armed.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    /// Plays the matches of a slot whose key has changed.
    fn play(&mut self, slot: u32, key: Key) {
        let mut place = (self.winners.len() + slot as usize) / 2;
        let (mut winner, mut best, mut other) = (slot, key, slot ^ 1);
        loop {
            let rival = self.keys[other as usize];
            (winner, best) = if rival < best { (other, rival) } else { (winner, best) };
            let before = std::mem::replace(&mut self.winners[place], winner);
            // Another slot has won as before: nothing changes above.
            if place == 1 || (before == winner && winner != slot) {
                return;
            }
            other = self.winners[place ^ 1];
            place /= 2;
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
