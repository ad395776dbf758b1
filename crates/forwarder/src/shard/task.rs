//! Tasks that all workers execute in turn, from the leader around the ring to the leader.
use super::Tally;
use recoup_packet::name::Name;

/// A task with the results so far.
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
        /// Name prefix of the Data.
        prefix: Name,
        /// Most Data to erase.
        left: u64,
        /// Number of Data erased so far.
        erased: u64,
        /// More Data are left.
        more: bool,
    },
    /// Configure the content store; `None` means no change.
    Configure {
        /// Capacity of all stores together, in packets.
        capacity: Option<u64>,
        /// Whether Data are stored.
        admits: Option<bool>,
        /// Whether stored Data answers Interests.
        serves: Option<bool>,
        /// Packets in the stores that have been configured.
        holds: u64,
    },
}
