//! Read access to a node, for its management and its owner.
use super::{NextHop, Node, Surroundings};
use crate::counters::NodeCounters;
use crate::face::FaceId;
use crate::forwarding::Forwarder;
use crate::management::{self, View, cs_flags, strategy_choice};
use crate::observer::Observer;
use recoup_packet::name::Name;
use recoup_transport::management::{
    CsInfo, FaceCounters, FaceStatus, FibEntry, GeneralStatus, RibEntry, StrategyChoice,
};
use recoup_transport::time::Instant;

impl<O: Observer> View for Forwarder<Surroundings<O>> {
    fn is_up(&self, face: FaceId) -> bool {
        self.faces.get(face).is_some()
    }

    fn is_next_hop(&self, prefix: &Name, face: FaceId) -> bool {
        self.fib.get(prefix).iter().any(|hop| hop.face == face)
    }

    fn prefixes(&self) -> usize {
        self.fib.len()
    }

    fn next_hops(&self) -> usize {
        self.fib.next_hops()
    }

    fn has_strategy(&self, prefix: &Name) -> bool {
        self.strategies.get(prefix).is_some()
    }

    fn strategies(&self) -> usize {
        self.strategies.len()
    }

    fn pending(&self) -> usize {
        self.pit.len()
    }

    fn measurements(&self) -> usize {
        self.measurements.len()
    }

    fn carried(&self, face: FaceId) -> FaceCounters {
        let received = self.faces.get(face).map(|face| face.received);
        let mut carried = received.unwrap_or_default();
        carried.add(&self.edge.links.counters(face));
        carried
    }

    fn fib_entries(&self) -> Vec<FibEntry> {
        let entry = |(name, hops): (&Name, &[NextHop])| {
            let next_hops = hops.iter().map(|hop| (u64::from(hop.face.0), hop.cost)).collect();
            FibEntry { name: name.clone(), next_hops }
        };
        self.fib.iter().map(entry).collect()
    }

    fn strategy_choices(&self) -> Vec<StrategyChoice> {
        let choices = self.strategies.iter();
        choices.map(|(name, strategy)| strategy_choice(name, strategy.as_ref())).collect()
    }

    fn cs_info(&self) -> CsInfo {
        CsInfo {
            capacity: self.cs.capacity().packets(),
            flags: cs_flags(&self.cs),
            entries: self.cs.len() as u64,
            hits: self.counters.cs_hits,
            misses: self.counters.cs_misses,
        }
    }

    fn counters(&self) -> NodeCounters {
        NodeCounters { marked: self.edge.links.marked(), ..self.counters.clone() }
    }
}

impl<O: Observer> Node<O> {
    /// Counters of the node.
    #[must_use]
    pub fn counters(&self) -> NodeCounters {
        self.forwarder.counters()
    }

    /// Limit of pending Interests.
    #[must_use]
    pub fn pit_limit(&self) -> usize {
        self.forwarder.pit.limit()
    }

    /// All routes, by prefix in canonical order; empty without management.
    pub fn rib_entries(&self, now: Instant) -> impl Iterator<Item = RibEntry> {
        self.management.iter().flat_map(move |management| management.rib_entries(now))
    }

    /// All prefixes with next hops, in canonical order.
    pub fn fib_entries(&self) -> impl Iterator<Item = FibEntry> {
        self.forwarder.fib_entries().into_iter()
    }

    /// URI of a face, if the owner described it.
    #[must_use]
    pub fn face_uri(&self, face: FaceId) -> Option<&str> {
        self.management.as_ref()?.face_uri(face)
    }

    /// All faces that the owner described, by number, and that of the management; empty without management.
    pub fn face_statuses(&self) -> impl Iterator<Item = FaceStatus> {
        let statuses = self.management.iter().flat_map(|it| it.face_statuses(&self.forwarder));
        statuses.collect::<Vec<_>>().into_iter()
    }

    /// The status of the node as a whole.
    #[must_use]
    pub fn general_status(&self, now: Instant) -> GeneralStatus {
        let view = &self.forwarder;
        match &self.management {
            Some(management) => management.general_status(now, view),
            None => management::node_status(view, std::iter::empty(), FaceCounters::default()),
        }
    }

    /// Status of the content store.
    #[must_use]
    pub fn cs_info(&self) -> CsInfo {
        self.forwarder.cs_info()
    }

    /// All choices of strategies, by prefix in canonical order.
    pub fn strategy_choices(&self) -> impl Iterator<Item = StrategyChoice> {
        self.forwarder.strategy_choices().into_iter()
    }
}
