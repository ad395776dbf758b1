//! Tasks that all workers carry out in turn, from the leader around the ring to the leader.
use super::Tally;
use recoup_packet::name::Name;

/// A task on its way around the workers, with the results so far.
#[derive(Clone, Debug)]
pub struct RingTask {
    /// The command that the task is for; 0 for a count.
    pub(crate) ticket: u64,
    pub(crate) task: Task,
}

/// The work of a [`RingTask`].
#[derive(Clone, Debug)]
pub(crate) enum Task {
    /// Add up the tallies of the workers.
    Count(Box<Tally>),
    /// Erase Data from the content store.
    Erase {
        /// Below this name.
        prefix: Name,
        /// So many at most.
        left: u64,
        /// So many were erased.
        erased: u64,
        /// There are more.
        more: bool,
    },
    /// Change the content store; what is `None` stays as it is.
    Configure {
        /// Packets that all stores may have together.
        capacity: Option<u64>,
        /// Whether Data are stored.
        admits: Option<bool>,
        /// Whether they are given out.
        serves: Option<bool>,
        /// Packets that all stores hold that have done it.
        holds: u64,
    },
}
