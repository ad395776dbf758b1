//! Lists of pending Interests that are cheap to keep because nothing is ever taken out.
use super::pit::{Pit, PitId};

/// So many tickets are kept before it is looked which of them still lead anywhere.
const FEW: usize = 64;

/// Tickets of entries, some of which may be gone; never more than twice as many as are there, and a few.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tickets {
    tickets: Vec<u64>,
    full_at: usize,
}

impl Tickets {
    /// Adds one; `is_there` returns whether a ticket is still needed.
    pub(crate) fn push(&mut self, ticket: u64, is_there: impl Fn(u64) -> bool) {
        if self.tickets.len() >= self.full_at.max(FEW) {
            self.tickets.retain(|ticket| is_there(*ticket));
            self.full_at = 2 * self.tickets.len();
        }
        self.tickets.push(ticket);
    }

    /// The entries that are there, each once, by number.
    pub(crate) fn into_entries(self, pit: &Pit) -> Vec<PitId> {
        let mut ids: Vec<_> = self.tickets.into_iter().filter_map(|it| pit.by_ticket(it)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
