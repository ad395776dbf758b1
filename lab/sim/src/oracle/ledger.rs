//! Number of copies that descend from each Interest.
use crate::number::ByNumber;

/// Fate of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its Data came back, or found that another's had.
    Answered,
    /// No copy is left.
    Dead,
}

/// Copies and fates by trace id. Ids that it does not know (retransmissions, what was forgotten) do
/// not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    entries: ByNumber<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    copies: u64,
    answered: bool,
}

impl Ledger {
    /// An Interest was expressed: one copy.
    pub(crate) fn born(&mut self, id: u64) {
        self.entries.insert(id, Entry { copies: 1, answered: false });
    }

    /// Adds copies.
    pub(crate) fn copied(&mut self, id: u64, copies: u32) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.copies += u64::from(copies);
        }
    }

    /// Removes a copy.
    pub(crate) fn died(&mut self, id: u64) {
        if let Some(entry) = self.entries.get_mut(&id) {
            debug_assert!(entry.copies > 0, "more copies of {id:#x} died than there were");
            entry.copies = entry.copies.saturating_sub(1);
        }
    }

    /// A copy was answered; the fate of the others does not matter.
    pub(crate) fn answered(&mut self, id: u64) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.answered = true;
            entry.copies = entry.copies.saturating_sub(1);
        }
    }

    /// Fate of a transmission, once it is certain.
    pub(crate) fn fate(&self, id: u64) -> Option<Fate> {
        let entry = self.entries.get(&id)?;
        if entry.answered {
            return Some(Fate::Answered);
        }
        (entry.copies == 0).then_some(Fate::Dead)
    }

    /// Forgets a transmission after its last use.
    pub(crate) fn forget(&mut self, id: u64) {
        self.entries.remove(&id);
    }

    /// Number of ids in memory.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
