//! Counts of pending Interests with CanBePrefix whose names are too short to be assigned to one worker.
//!
//! All workers of a forwarder share the counts. An Interest is counted before it is sent, and so before its Data
//! arrives.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most components of a name that decide on its worker.
pub const MAX_COMPONENTS: usize = 8;

/// Pending Interests with CanBePrefix at all workers, by the length of their names.
#[derive(Debug, Default)]
pub(crate) struct ShortNames {
    pending: [AtomicUsize; MAX_COMPONENTS],
}

impl ShortNames {
    /// Whether any worker has a pending Interest with CanBePrefix for a name of `length` components.
    pub(crate) fn has(&self, length: usize) -> bool {
        self.pending.get(length).is_some_and(|pending| pending.load(Ordering::SeqCst) > 0)
    }
}

/// The counts as one worker updates them.
#[derive(Clone, Debug)]
pub(crate) struct ShortCounter {
    /// Least number of components of names that are not counted.
    pub(crate) components: usize,
    pub(crate) short: Arc<ShortNames>,
}

impl ShortCounter {
    fn of_length(&self, length: usize) -> Option<&AtomicUsize> {
        self.short.pending.get(length).filter(|_| length < self.components)
    }

    /// Counts an Interest with CanBePrefix that becomes pending.
    pub(crate) fn add(&self, length: usize) {
        self.of_length(length).map(|pending| pending.fetch_add(1, Ordering::SeqCst));
    }

    /// Undoes one [`add`](Self::add).
    pub(crate) fn remove(&self, length: usize) {
        self.of_length(length).map(|pending| pending.fetch_sub(1, Ordering::SeqCst));
    }
}
