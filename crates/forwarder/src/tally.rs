//! What workers have, to be added up.
use crate::counters::NodeCounters;
use crate::face::FaceId;
use crate::link::QueueState;
use crate::node::Node;
use crate::table::CsCapacity;
use recoup_packet::tlv::MAX_PACKET_SIZE;
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
    pub places: u64,
    /// What waits for it.
    pub waiting: QueueState,
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
    fn add(&mut self, other: &Self) {
        self.carried.add(&other.carried);
        self.places += other.places;
        self.waiting.packets += other.waiting.packets;
        self.waiting.octets += other.waiting.octets;
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

impl Node {
    /// What this node has by itself, as a worker or alone.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut faces: BTreeMap<FaceId, FaceTally> = BTreeMap::new();
        let shard = self.shard.as_deref();
        for (face, carried) in shard.into_iter().flat_map(|shard| &shard.carried) {
            faces.entry(*face).or_default().carried.add(carried);
        }
        for (id, face) in self.faces.iter() {
            faces.entry(id).or_default().add(&FaceTally {
                carried: face.counters,
                places: face.share.places as u64,
                waiting: self.queue(id).unwrap_or_default(),
                recovered: self.recovery(id),
                link_recovery: self.link_recovery(id),
            });
        }
        Tally {
            counters: self.counters.clone(),
            pit: self.pit.len() as u64,
            pit_limit: self.pit.limit() as u64,
            cs: self.cs.len() as u64,
            cs_capacity: packets(self.cs.capacity()),
            measurements: self.measurements.len() as u64,
            faces,
            past: shard.map_or_else(FaceCounters::default, |shard| shard.past),
            recovered: self.recovered(),
        }
    }

    /// What all other workers have together; what this node says of itself from here on is the sum.
    pub fn note_others(&mut self, tally: Tally) {
        if let Some(shard) = &mut self.shard {
            shard.tallied = tally;
        }
    }

    /// This node and all other workers, as far as they were counted.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = self.tally();
        if let Some(shard) = &self.shard {
            total.add(&shard.tallied);
        }
        total
    }
}

/// How many packets a content store holds at least.
pub(crate) fn packets(capacity: CsCapacity) -> u64 {
    match capacity {
        CsCapacity::Packets(packets) | CsCapacity::Both { packets, .. } => packets,
        CsCapacity::Octets(octets) => octets / MAX_PACKET_SIZE as u64,
        CsCapacity::Unlimited => u64::MAX,
    }
}
