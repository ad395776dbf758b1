//! Read access to a node, for its management and its owner.
use super::{Node, Surroundings};
use crate::counters::NodeCounters;
use crate::face::FaceId;
use crate::forwarding::Forwarder;
use crate::management::{self, View, strategy_choice};
use crate::observer::Observer;
use crate::shard::Shard;
use crate::tally::{FaceTally, Tally};
use recoup_packet::name::Name;
use recoup_transport::management::{
    CS_ADMIT, CS_SERVE, CsInfo, FaceCounters, FaceStatus, FibEntry, GeneralStatus, RibEntry,
    StrategyChoice,
};
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// The machines of a node except its management, read-only.
pub(super) struct NodeView<'a, O: Observer> {
    pub(super) forwarder: &'a Forwarder<Surroundings<O>>,
    pub(super) shard: Option<&'a Shard>,
}

impl<O: Observer> View for NodeView<'_, O> {
    fn is_up(&self, face: FaceId) -> bool {
        self.forwarder.faces.get(face).is_some()
    }

    fn is_next_hop(&self, prefix: &Name, face: FaceId) -> bool {
        self.forwarder.fib.get(prefix).iter().any(|hop| hop.face == face)
    }

    fn prefixes(&self) -> usize {
        self.forwarder.fib.len()
    }

    fn next_hops(&self) -> usize {
        self.forwarder.fib.next_hops()
    }

    fn has_strategy(&self, prefix: &Name) -> bool {
        self.forwarder.strategies.get(prefix).is_some()
    }

    fn strategies(&self) -> usize {
        self.forwarder.strategies.len()
    }

    fn carried(&self, face: FaceId) -> FaceCounters {
        let mut carried = self.carried_here(face);
        if let Some(others) = self.shard.and_then(|it| it.tallied.faces.get(&face)) {
            carried.add(&others.carried);
        }
        carried
    }

    fn fib_entries(&self) -> Vec<FibEntry> {
        let entry = |(name, hops): (&Name, &[super::NextHop])| {
            let next_hops = hops.iter().map(|hop| (u64::from(hop.face.0), hop.cost)).collect();
            FibEntry { name: name.clone(), next_hops }
        };
        self.forwarder.fib.iter().map(entry).collect()
    }

    fn strategy_choices(&self) -> Vec<StrategyChoice> {
        let choices = self.forwarder.strategies.iter();
        choices.map(|(name, strategy)| strategy_choice(name, strategy.as_ref())).collect()
    }

    fn cs_info(&self) -> CsInfo {
        let Tally { counters, cs, cs_capacity, .. } = self.total();
        let flag = |set, flag| if set { flag } else { 0 };
        let store = &self.forwarder.cs;
        CsInfo {
            capacity: cs_capacity,
            flags: flag(store.admits(), CS_ADMIT) + flag(store.serves(), CS_SERVE),
            entries: cs,
            hits: counters.cs_hits,
            misses: counters.cs_misses,
        }
    }

    fn total(&self) -> Tally {
        let mut total = self.tally();
        if let Some(shard) = self.shard {
            total.add(&shard.tallied);
        }
        total
    }
}

impl<O: Observer> NodeView<'_, O> {
    fn carried_here(&self, face: FaceId) -> FaceCounters {
        let received = self.forwarder.faces.get(face).map(|face| face.received);
        let mut carried = received.unwrap_or_default();
        carried.add(&self.forwarder.edge.links.counters(face));
        carried
    }

    fn tally(&self) -> Tally {
        let Forwarder { faces, pit, cs, measurements, counters, edge, .. } = self.forwarder;
        let links = &edge.links;
        let mut tallies: BTreeMap<FaceId, FaceTally> = BTreeMap::new();
        for (face, carried) in self.shard.into_iter().flat_map(|shard| &shard.carried) {
            tallies.entry(*face).or_default().carried.add(carried);
        }
        for (id, face) in faces.iter() {
            tallies.entry(id).or_default().add(&FaceTally {
                carried: self.carried_here(id),
                slots: face.share.slots as u64,
                queue: links.queue(id).unwrap_or_default(),
                recovered: links.recovery(id),
                link_recovery: links.agreement(id),
            });
        }
        Tally {
            counters: NodeCounters { marked: links.marked(), ..counters.clone() },
            pit: pit.len() as u64,
            pit_limit: pit.limit() as u64,
            cs: cs.len() as u64,
            cs_capacity: cs.capacity().packets(),
            measurements: measurements.len() as u64,
            faces: tallies,
            past: self.shard.map_or_else(FaceCounters::default, |shard| shard.past),
            recovered: links.recovered(),
        }
    }
}

impl<O: Observer> Node<O> {
    pub(super) fn view(&self) -> NodeView<'_, O> {
        NodeView { forwarder: &self.forwarder, shard: self.shard.as_deref() }
    }

    /// Counters of this node, as a worker or alone.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.view().tally()
    }

    /// Sets the counters of all other workers; those of this node are added to them from now on.
    pub fn set_others(&mut self, tally: Tally) {
        if let Some(shard) = &mut self.shard {
            shard.tallied = tally;
        }
    }

    /// Counters of this node and all other workers, as last collected.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.view().total()
    }

    /// All routes, by prefix in canonical order; empty without management.
    pub fn rib_entries(&self, now: Instant) -> impl Iterator<Item = RibEntry> {
        self.management.iter().flat_map(move |management| management.rib_entries(now))
    }

    /// All prefixes with next hops, in canonical order.
    pub fn fib_entries(&self) -> impl Iterator<Item = FibEntry> {
        self.view().fib_entries().into_iter()
    }

    /// URI of a face, if the owner described it.
    #[must_use]
    pub fn face_uri(&self, face: FaceId) -> Option<&str> {
        self.management.as_ref()?.face_uri(face)
    }

    /// All faces that the owner described, by number, and that of the management; empty without management.
    pub fn face_statuses(&self) -> impl Iterator<Item = FaceStatus> {
        let view = self.view();
        let statuses = self.management.iter().flat_map(|it| it.face_statuses(&view));
        statuses.collect::<Vec<_>>().into_iter()
    }

    /// The status of the node as a whole.
    #[must_use]
    pub fn general_status(&self, now: Instant) -> GeneralStatus {
        let view = self.view();
        match &self.management {
            Some(management) => management.general_status(now, &view),
            None => management::node_status(&view, std::iter::empty(), FaceCounters::default()),
        }
    }

    /// Status of the content store.
    #[must_use]
    pub fn cs_info(&self) -> CsInfo {
        self.view().cs_info()
    }

    /// All choices of strategies, by prefix in canonical order.
    pub fn strategy_choices(&self) -> impl Iterator<Item = StrategyChoice> {
        self.view().strategy_choices().into_iter()
    }
}
