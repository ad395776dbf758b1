//! Least-recently-used order: a doubly linked list through the slots of a table.

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Links {
    older: u32,
    newer: u32,
}

/// Slots from the least to the most recently used one. Memory is proportional to the largest slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recency {
    links: Vec<Links>,
    oldest: u32,
    newest: u32,
}

impl Default for Recency {
    fn default() -> Self {
        Self { links: Vec::new(), oldest: NONE, newest: NONE }
    }
}

impl Recency {
    /// Adds a slot that is not in the list, as the most recently used one.
    #[inline]
    pub(super) fn add(&mut self, slot: u32) {
        let links = Links { older: self.newest, newer: NONE };
        match self.links.get_mut(slot as usize) {
            Some(place) => *place = links,
            None => {
                self.links.resize(slot as usize + 1, Links { older: NONE, newer: NONE });
                self.links[slot as usize] = links;
            }
        }
        match self.links.get_mut(self.newest as usize) {
            Some(before) => before.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }

    /// Removes a slot that is in the list.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        let Links { older, newer } = self.links[slot as usize];
        match self.links.get_mut(older as usize) {
            Some(links) => links.newer = newer,
            None => self.oldest = newer,
        }
        match self.links.get_mut(newer as usize) {
            Some(links) => links.older = older,
            None => self.newest = older,
        }
    }

    /// Marks a slot in the list as used.
    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        if slot != self.newest {
            self.remove(slot);
            self.add(slot);
        }
    }

    /// The least recently used slot.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_list_behaves_like_a_sequence(operations in prop::collection::vec((0..3, 0..8_u32), 0..200)) {
            let (mut list, mut model) = (Recency::default(), Vec::new());
            for (operation, slot) in operations {
                let there = model.contains(&slot);
                model.retain(|other| *other != slot || (operation == 0 && there));
                match operation {
                    0 if !there => {
                        list.add(slot);
                        model.push(slot);
                    }
                    1 if there => list.remove(slot),
                    2 if there => {
                        list.touch(slot);
                        model.push(slot);
                    }
                    _ => {}
                }
                prop_assert_eq!(list.oldest(), model.first().copied());
            }
            while let Some(slot) = list.oldest() {
                prop_assert_eq!(slot, model.remove(0));
                list.remove(slot);
            }
            prop_assert!(model.is_empty());
        }
    }
}
