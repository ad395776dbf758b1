//! Requests that wait for an answer.
use crate::number::ByNumber;
use recoup_transport::time::Instant;

/// Requests without an answer: a slab, with those for one content in a chain.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) slots: Vec<Asked>,
    free: Vec<u32>,
    /// Content → the first that waits for it.
    heads: ByNumber<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) content: u64,
    pub(super) number: u64,
    /// Times of the first and the last transmission.
    pub(super) first: Instant,
    pub(super) last: Instant,
    pub(super) transmissions: u32,
    pub(super) order: u64,
    pub(super) next: Option<u32>,
}

impl Pending {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, mut asked: Asked) -> u32 {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        asked.next = self.heads.insert(asked.content, slot);
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = asked,
            None => self.slots.push(asked),
        }
        slot
    }

    pub(super) fn head(&self, content: u64) -> Option<u32> {
        self.heads.get(&content).copied()
    }

    /// Takes the whole chain of a content out; each of its slots is to be freed.
    pub(super) fn take(&mut self, content: u64) -> Option<u32> {
        self.heads.remove(&content)
    }

    pub(super) fn free(&mut self, slot: u32) -> Asked {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    /// Takes an entry out of its chain and frees it.
    pub(super) fn remove(&mut self, slot: u32) {
        let Asked { content, next, .. } = self.free(slot);
        let mut at = self.head(content);
        if at == Some(slot) {
            match next {
                Some(next) => self.heads.insert(content, next),
                None => self.heads.remove(&content),
            };
            return;
        }
        while let Some(other) = at {
            let other = &mut self.slots[other as usize];
            if other.next == Some(slot) {
                other.next = next;
                return;
            }
            at = other.next;
        }
    }
}
