//! A map that never holds more than so many entries: strangers may invent providers and contents.

use std::collections::BTreeMap;

/// The entry that was changed longest ago gives way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounded<V> {
    most: usize,
    /// Value, and its place in `ages`.
    entries: BTreeMap<u64, (u64, V)>,
    /// Keys in the order of their last change.
    ages: BTreeMap<u64, u64>,
    changes: u64,
}

impl<V> Bounded<V> {
    /// Room for `most` entries; at least for one.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), entries: BTreeMap::new(), ages: BTreeMap::new(), changes: 0 }
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.entries.get(&key).map(|(_, value)| value)
    }

    /// The value of `key`, to be changed; a new one is made by `blank`. The entry is the youngest then.
    pub(super) fn change(&mut self, key: u64, blank: impl FnOnce() -> V) -> &mut V {
        self.changes += 1;
        if !self.entries.contains_key(&key)
            && self.entries.len() >= self.most
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            self.entries.remove(&oldest);
        }
        let age = self.changes;
        let (place, value) = self.entries.entry(key).or_insert_with(|| (age, blank()));
        self.ages.remove(place);
        *place = age;
        self.ages.insert(age, key);
        value
    }

    /// All values, by key.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|(_, value)| value)
    }

    /// The same, to be changed; that makes none of them younger.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut().map(|(_, value)| value)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_changed_longest_ago_gives_way() {
        let mut map = Bounded::new(3);
        for key in [1, 2, 3, 1, 4] {
            *map.change(key, || 0) += 1;
        }
        assert_eq!(
            (map.get(1), map.get(2), map.get(3), map.get(4)),
            (Some(&2), None, Some(&1), Some(&1))
        );
        (0..1_000).for_each(|key| *map.change(key, || 0) += 1);
        assert_eq!((map.len(), map.ages.len()), (3, 3));
        assert_eq!(map.values().sum::<i32>(), 3);
    }
}
