//! Entries under small numbers that are reused.

/// Entries by number; the number freed last is reused first, so that the numbers in use stay dense.
#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline]
    pub(super) fn insert(&mut self, entry: T) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(entry);
                slot
            }
            None => {
                self.slots.push(Some(entry));
                (self.slots.len() - 1) as u32
            }
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, slot: u32) -> Option<T> {
        let entry = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(entry)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        self.slots.get(slot as usize)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The entry of a slot in use.
    pub(super) fn get_or_insert_with(&mut self, slot: u32, make: impl FnOnce() -> T) -> &mut T {
        self.slots[slot as usize].get_or_insert_with(make)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// All entries, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let numbered = (0_u32..).zip(&self.slots);
        numbered.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten()
    }
}
