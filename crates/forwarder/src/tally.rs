//! What workers have, to be added up.
use crate::counters::{NodeCounters, QueueState};
use crate::face::FaceId;
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::management::FaceCounters;
use std::collections::BTreeMap;

/// What one worker has, or several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What became of Interests.
    pub counters: NodeCounters,
    /// Interests that are pending.
    pub pit: u64,
    /// Interests that may be.
    pub pit_limit: u64,
    /// Data in the content store.
    pub cs: u64,
    /// Data that may be.
    pub cs_capacity: u64,
    /// Prefixes with measurements.
    pub measurements: u64,
    /// By face.
    pub faces: BTreeMap<FaceId, FaceTally>,
    /// What faces carried that are gone; the leader's management knows its own.
    pub past: FaceCounters,
    /// What the recoveries of all faces did, past ones included.
    pub recovered: Option<Counters>,
}

/// What one worker has of a face, or several together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceTally {
    /// What it carried.
    pub carried: FaceCounters,
    /// Places of the table of pending Interests that it takes.
    pub slots: u64,
    /// Packets queued for it.
    pub queue: QueueState,
    /// What its recovery did.
    pub recovered: Option<Counters>,
    /// Whether both ends of its link recover losses.
    pub link_recovery: Agreement,
}

impl Tally {
    /// What another worker has comes on top.
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
        // Of all workers, one has the link.
        self.link_recovery = self.link_recovery.max(other.link_recovery);
    }
}

fn add(sum: &mut Option<Counters>, more: Option<Counters>) {
    if let Some(more) = more {
        *sum.get_or_insert_default() += more;
    }
}
