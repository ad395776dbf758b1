//! A map with a limited number of entries: remote nodes may invent providers and contents.

use std::collections::BTreeMap;

/// If it is full, the entry changed longest ago is dropped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounded<V> {
    most: usize,
    /// Value, and its key in `ages`.
    entries: BTreeMap<u64, (u64, V)>,
    /// Keys in the order of their last change.
    ages: BTreeMap<u64, u64>,
    changes: u64,
}

impl<V> Bounded<V> {
    /// A map of at most `most` entries, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), entries: BTreeMap::new(), ages: BTreeMap::new(), changes: 0 }
    }

    pub(super) fn get(&self, key: u64) -> Option<&V> {
        self.entries.get(&key).map(|(_, value)| value)
    }

    /// The value of `key`, mutable; `blank` makes a new one. The entry becomes the youngest.
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

    /// All values, mutable; their ages do not change.
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
    fn entry_changed_longest_ago_is_dropped() {
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
