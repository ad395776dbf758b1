//! Counters of workers, and their sum.
use crate::counters::{NodeCounters, QueueState};
use crate::face::FaceId;
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::management::FaceCounters;
use std::collections::BTreeMap;

/// Counters of one worker, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Counters of the node.
    pub counters: NodeCounters,
    /// Pending Interests.
    pub pit: u64,
    /// Limit of pending Interests.
    pub pit_limit: u64,
    /// Data in the content store.
    pub cs: u64,
    /// Capacity of the content store.
    pub cs_capacity: u64,
    /// Prefixes with measurements.
    pub measurements: u64,
    /// Counters by face.
    pub faces: BTreeMap<FaceId, FaceTally>,
    /// Counters of faces that are gone; the leader's management has its own.
    pub past: FaceCounters,
    /// Counters of the recoveries of all faces, past ones included.
    pub recovered: Option<Counters>,
}

/// Counters of a face at one worker, or at several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTally {
    /// Traffic counters.
    pub carried: FaceCounters,
    /// Slots of the PIT.
    pub slots: u64,
    /// Packets queued for it.
    pub queue: QueueState,
    /// Counters of its recovery.
    pub recovered: Option<Counters>,
    /// Whether both ends of its link recover losses.
    pub link_recovery: Agreement,
}

impl Tally {
    /// Adds the counters of another worker.
    pub fn add(&mut self, other: &Self) {
        self.counters.add(&other.counters);
        self.pit += other.pit;
        self.pit_limit += other.pit_limit;
        self.cs += other.cs;
        self.cs_capacity = self.cs_capacity.saturating_add(other.cs_capacity);
        self.measurements += other.measurements;
        for (face, more) in &other.faces {
            self.faces.entry(*face).or_default().add(more);
        }
        self.past.add(&other.past);
        add(&mut self.recovered, other.recovered);
    }
}

impl FaceTally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.carried.add(&other.carried);
        self.slots += other.slots;
        self.queue += other.queue;
        add(&mut self.recovered, other.recovered);
        // One worker has the link.
        self.link_recovery = self.link_recovery.max(other.link_recovery);
    }
}

fn add(sum: &mut Option<Counters>, more: Option<Counters>) {
    if let Some(more) = more {
        *sum.get_or_insert_default() += more;
    }
}
