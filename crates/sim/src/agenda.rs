//! The order of events: one entry for each thing that waits, not for each packet.
//!
//! A channel is armed with its next arrival, a node with its deadline; what stands behind the next
//! arrival is in the channel's own order. The agenda therefore never holds more entries than there are
//! slots. A tournament: slots are the leaves of a binary tree, and each match above them holds the
//! earlier of two. Moving an entry plays its matches again, as far up as anything changes.
use recoup_transport::time::Instant;

/// An instant, and a number that orders what happens at the same instant: what was decided first comes
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// Later than everything that happens.
    const NEVER: Self = Self(u128::MAX);

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

/// What is to happen when. Slots are small numbers chosen by the owner.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// The first half are matches, number 1 the last; that of places 2n and 2n + 1 is n. The second half are slots.
    tree: Vec<Entry>,
    armed: usize,
    sequence: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: Key,
    slot: u32,
}

impl Agenda {
    /// An empty agenda for the slots below `slots`.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two();
        let empty = |place| Entry { key: Key::NEVER, slot: (place % leaves) as u32 };
        Self { tree: (0..2 * leaves).map(empty).collect(), armed: 0, sequence: 0 }
    }

    /// The next number of an event; none is given twice.
    pub fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Arms `slot` with `key`, in place of what it had.
    pub fn arm(&mut self, slot: u32, key: Key) {
        self.armed += usize::from(self.key(slot).is_none());
        self.put(slot, key);
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
        if self.key(slot).is_some() {
            self.armed -= 1;
            self.put(slot, Key::NEVER);
        }
    }

    /// What `slot` is armed with.
    pub fn key(&self, slot: u32) -> Option<Key> {
        let key = self.tree[self.leaf(slot)].key;
        (key != Key::NEVER).then_some(key)
    }

    /// What comes first, which stays armed.
    pub fn first(&self) -> Option<(Key, u32)> {
        // Without a slot there is one leaf, and no match.
        let Entry { key, slot } = self.tree[1];
        (key != Key::NEVER).then_some((key, slot))
    }

    /// How many slots are armed.
    pub fn len(&self) -> usize {
        self.armed
    }

    /// Whether no slot is armed.
    pub fn is_empty(&self) -> bool {
        self.armed == 0
    }

    fn leaf(&self, slot: u32) -> usize {
        self.tree.len() / 2 + slot as usize
    }

    fn put(&mut self, slot: u32, key: Key) {
        let mut place = self.leaf(slot);
        let mut winner = Entry { key, slot };
        self.tree[place] = winner;
        while place > 1 {
            let other = self.tree[place ^ 1];
            winner = if other.key < winner.key { other } else { winner };
            place /= 2;
            if self.tree[place] == winner {
                break;
            }
            self.tree[place] = winner;
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
