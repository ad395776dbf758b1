//! Values by name, found by longest prefix match.
//!
//! The lengths of the stored names are known, so that a look-up hashes only prefixes of those lengths, longest first.
//! There is no tree of names.
use super::lengths::Lengths;
use super::slab::Slab;
use crate::hash::NameHasher;
use hashbrown::HashTable;
use recoup_packet::name::Name;
use std::cell::Cell;

/// Values by name; a look-up finds the value of the longest name that is a prefix.
///
/// The table has no limit of its own: a caller that inserts names of remote nodes must check [`len`](Self::len)
/// before.
#[derive(Clone, Debug)]
pub struct PrefixTable<T> {
    hasher: NameHasher,
    slots: Slab<Slot<T>>,
    /// All names but the root.
    index: HashTable<u32>,
    /// Lengths of all names but the root.
    lengths: Lengths,
    root: Option<u32>,
    /// The slot found last. Packets of one object often arrive in succession, and their names share the object's name.
    recent: Cell<u32>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    name: Name,
    hash: u64,
    value: T,
}

impl<T> PrefixTable<T> {
    /// A table without names.
    #[must_use]
    pub fn new(hasher: NameHasher) -> Self {
        let (slots, lengths) = (Slab::default(), Lengths::default());
        let recent = Cell::new(u32::MAX);
        Self { hasher, slots, index: HashTable::new(), lengths, root: None, recent }
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.len() == 0
    }

    /// The value of the longest name that is a prefix of `name`, and that prefix.
    #[must_use]
    #[inline]
    pub fn longest(&self, name: &Name) -> Option<(&Name, &T)> {
        let slot = self.slots.get(self.longest_slot(name)?)?;
        Some((&slot.name, &slot.value))
    }

    /// As [`longest`](Self::longest), mutable.
    #[must_use]
    #[inline]
    pub fn longest_mut(&mut self, name: &Name) -> Option<(&Name, &mut T)> {
        let slot = self.slots.get_mut(self.longest_slot(name)?)?;
        Some((&slot.name, &mut slot.value))
    }

    /// The value of exactly this name.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&T> {
        Some(&self.slots.get(self.slot(name)?)?.value)
    }

    /// As [`get`](Self::get), mutable.
    #[must_use]
    pub fn get_mut(&mut self, name: &Name) -> Option<&mut T> {
        Some(&mut self.slots.get_mut(self.slot(name)?)?.value)
    }

    /// Sets the value of a name and returns the earlier one. The bytes of `name` are copied, because its packet may
    /// be much longer.
    pub fn insert(&mut self, name: &Name, value: T) -> Option<T> {
        if let Some(before) = self.get_mut(name) {
            return Some(std::mem::replace(before, value));
        }
        let hash = self.hasher.hash(name.value());
        let slot = self.slots.insert(Slot { name: name.components().collect(), hash, value });
        if name.is_empty() {
            self.root = Some(slot);
            return None;
        }
        let slots = &self.slots;
        self.index.insert_unique(hash, slot, |slot| slots.get(*slot).map_or(0, |slot| slot.hash));
        self.lengths.add(name.len());
        None
    }

    /// Removes a name and its value.
    pub fn remove(&mut self, name: &Name) -> Option<T> {
        let number = self.slot(name)?;
        let slot = self.slots.remove(number)?;
        if slot.name.is_empty() {
            self.root = None;
        } else {
            self.lengths.remove(slot.name.len());
            if let Ok(entry) = self.index.find_entry(slot.hash, |other| *other == number) {
                entry.remove();
            }
        }
        Some(slot.value)
    }

    /// All names in canonical order, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &T)> {
        let mut all: Vec<_> =
            self.slots.iter().map(|(_, slot)| (&slot.name, &slot.value)).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all.into_iter()
    }

    #[inline]
    fn longest_slot(&self, name: &Name) -> Option<u32> {
        match self.lengths.present() {
            [] => self.root,
            [.., longest] if self.is_recent(*longest, name) => Some(self.recent.get()),
            lengths => self.longest_of(lengths, name).or(self.root),
        }
    }

    /// Whether the slot found last is the longest match: its name has the length `longest`, beyond which there is no
    /// other, and is a prefix.
    #[inline]
    fn is_recent(&self, longest: u32, name: &Name) -> bool {
        self.slots
            .get(self.recent.get())
            .is_some_and(|slot| slot.name.len() == longest as usize && slot.name.is_prefix_of(name))
    }

    #[inline(never)]
    fn longest_of(&self, lengths: &[u32], name: &Name) -> Option<u32> {
        let probe = |end: usize| self.probe(name.value().get(..end)?);
        let found = match lengths {
            [only] => name.prefix_ends().nth(*only as usize - 1).and_then(probe),
            _ => self.lengths.ends(name).iter().rev().find_map(|end| probe(*end as usize)),
        };
        found.inspect(|slot| self.recent.set(*slot))
    }

    fn slot(&self, name: &Name) -> Option<u32> {
        if name.is_empty() { self.root } else { self.probe(name.value()) }
    }

    #[inline]
    fn probe(&self, bytes: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash(bytes);
        let is = |slot: &Slot<T>| slot.hash == hash && slot.name.value() == bytes;
        self.index.find(hash, |slot| self.slots.get(*slot).is_some_and(is)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn any_name() -> impl Strategy<Value = Name> {
        let component = prop::sample::select(vec!["a", "b", "cc"]);
        prop::collection::vec(component, 0..5)
            .prop_map(|parts| format!("/{}", parts.join("/")).parse().unwrap())
    }

    proptest! {
        #[test]
        fn longest_prefix_is_found(
            operations in prop::collection::vec((any_name(), prop::option::of(0..9_u32), any_name()), 0..80)
        ) {
            let mut table = PrefixTable::new(NameHasher::new(1));
            let mut model = BTreeMap::new();
            for (name, value, wanted) in operations {
                match value {
                    Some(value) => prop_assert_eq!(table.insert(&name, value), model.insert(name, value)),
                    None => prop_assert_eq!(table.remove(&name), model.remove(&name)),
                }
                let longest = model.iter().filter(|(name, _)| name.is_prefix_of(&wanted));
                let longest = longest.max_by_key(|(name, _)| name.len());
                prop_assert_eq!(table.longest(&wanted), longest);
                prop_assert_eq!(table.get(&wanted), model.get(&wanted));
                prop_assert_eq!(table.len(), model.len());
                prop_assert!(table.iter().eq(model.iter()));
            }
        }
    }
}
