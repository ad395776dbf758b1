//! Lists of pending Interests without removal, and therefore cheap.
use super::pit::{Pit, PitId};

/// Least number of tickets at which those of removed entries are dropped.
const FEW: usize = 64;

/// Tickets of entries, some of which may be removed; never more than twice as many as exist, and a few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tickets {
    tickets: Vec<u64>,
    full_at: usize,
}

impl Tickets {
    /// Adds a ticket; `is_there` returns whether a ticket is still needed.
    #[inline]
    pub(crate) fn push(&mut self, ticket: u64, is_there: impl Fn(u64) -> bool) {
        if self.tickets.len() >= self.full_at.max(FEW) {
            self.tickets.retain(|ticket| is_there(*ticket));
            self.full_at = 2 * self.tickets.len();
        }
        self.tickets.push(ticket);
    }

    /// The entries that still exist, each once, by number.
    pub(crate) fn into_entries(self, pit: &Pit) -> Vec<PitId> {
        let mut ids: Vec<_> = self.tickets.into_iter().filter_map(|it| pit.by_ticket(it)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
