//! Metrics of nodes: caches, pending Interests, discarded packets, packets in and out.
use super::summary::Summary;
use crate::network::NodeId;
use crate::observe::Observation;
use crate::record::place::{Channel, Places};
use crate::record::track::Pits;
use crate::statistic::moments::TimeMean;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// All nodes.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    nodes: Vec<Counts>,
    /// Only if each node has metrics of its own.
    pits: Option<Pits>,
}

/// Counts of one node, or of all.
#[derive(Clone, Debug, Default)]
struct Counts {
    hits: u64,
    misses: u64,
    evicted: u64,
    /// Interests that were sent on by another face, because theirs was gone.
    reforwarded: u64,
    /// Interests that were sent back, because their face was gone or a link had lost them.
    flagged: u64,
    pit: TimeMean,
    drops: BTreeMap<DropReason, u64>,
    /// Packets in and out, by kind.
    arrived: [u64; 3],
    sent: [u64; 3],
    bytes: u64,
}

impl Nodes {
    /// With `each`, every node has metrics of its own.
    pub(super) fn new(places: &Places, each: bool) -> Self {
        let nodes = vec![Counts::default(); places.nodes()];
        Self { nodes, pits: each.then(|| Pits::new(places)) }
    }

    /// Takes in an event of a node; `false` if that takes more than counting.
    #[inline]
    pub(super) fn count(&mut self, node: NodeId, event: NodeEvent) -> bool {
        match self.nodes.get_mut(node.0 as usize) {
            Some(counts) if self.pits.is_none() => counts.on_event(event),
            _ => return false,
        }
        true
    }

    /// Takes in an observation.
    pub(super) fn on(&mut self, now: Instant, places: &Places, observation: &Observation<'_>) {
        let changed = self.pits.as_mut().and_then(|pits| pits.on(places, observation));
        if let Some((node, entries)) = changed
            && let Some(counts) = self.at(Some(node))
        {
            counts.pit.set(now, entries as f64);
        }
        match *observation {
            Observation::Started { .. } => self.begin(now),
            Observation::Node { node, event } => {
                if let Some(counts) = self.at(Some(node)) {
                    counts.on_event(event);
                }
            }
            Observation::Dropped { node, reason, .. } => {
                if let Some(counts) = self.at(Some(node)) {
                    *counts.drops.entry(reason).or_default() += 1;
                }
            }
            Observation::Sent { link, direction, packet } => {
                let sender = places.sender(Channel::new(link, direction));
                if let Some(counts) = self.at(sender)
                    && let Some(kind) = kind_index(packet)
                {
                    counts.sent[kind] += 1;
                }
            }
            Observation::Arrived { link, direction, packet } => {
                if let Some(counts) = self.at(places.receiver(Channel::new(link, direction))) {
                    if let Some(kind) = kind_index(packet) {
                        counts.arrived[kind] += 1;
                    }
                    counts.bytes += packet.bytes() as u64;
                }
            }
            _ => {}
        }
    }

    /// Resets pending Interests when the first application starts.
    fn begin(&mut self, now: Instant) {
        for counts in self.nodes.iter_mut().filter(|counts| counts.pit.current().is_none()) {
            counts.pit.set(now, 0.0);
        }
    }

    fn at(&mut self, node: Option<NodeId>) -> Option<&mut Counts> {
        self.nodes.get_mut(node?.0 as usize)
    }

    /// Appends the metrics of all together and, on request, of each.
    pub(super) fn report(&self, now: Instant, places: &Places, summary: &mut Summary) {
        let mut all = Counts::default();
        self.nodes.iter().for_each(|counts| all.merge(counts));
        all.report_cache("all", summary);
        let [interests, data, nacks] = all.arrived;
        summary.push("all", "packet_hops", "", (interests + data + nacks) as f64);
        summary.push("all", "interest_hops", "", interests as f64);
        summary.push("all", "data_hops", "", data as f64);
        summary.push("all", "nack_hops", "", nacks as f64);
        summary.push("all", "hop_bytes", "bytes", all.bytes as f64);
        summary.push("all", "reforwarded", "", all.reforwarded as f64);
        summary.push("all", "flagged", "", all.flagged as f64);
        all.report_drops("all", true, summary);
        for (number, counts) in self.nodes.iter().enumerate().filter(|_| self.pits.is_some()) {
            let place = format!("node.{}", places.node(NodeId(number as u32)));
            counts.report(now, &place, summary);
        }
    }
}

impl Counts {
    #[inline]
    fn on_event(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::CsHit { .. } => self.hits += 1,
            NodeEvent::CsMiss { .. } => self.misses += 1,
            NodeEvent::CsEvicted { packets } => self.evicted += u64::from(packets),
            NodeEvent::Reforwarded { .. } => self.reforwarded += 1,
            NodeEvent::Flagged { .. } => self.flagged += 1,
            _ => {}
        }
    }

    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.evicted += other.evicted;
        self.reforwarded += other.reforwarded;
        self.flagged += other.flagged;
        self.bytes += other.bytes;
        for kind in 0..3 {
            self.arrived[kind] += other.arrived[kind];
            self.sent[kind] += other.sent[kind];
        }
        for (reason, count) in &other.drops {
            *self.drops.entry(*reason).or_default() += count;
        }
    }

    fn report(&self, now: Instant, place: &str, summary: &mut Summary) {
        let sides = [("in", self.arrived), ("out", self.sent)];
        for (side, [interests, data, nacks]) in sides {
            summary.push(place, &format!("interests_{side}"), "", interests as f64);
            summary.push(place, &format!("data_{side}"), "", data as f64);
            summary.push(place, &format!("nacks_{side}"), "", nacks as f64);
        }
        self.report_cache(place, summary);
        let mut pit = self.pit;
        pit.advance(now);
        summary.push(place, "pit_mean", "", pit.mean().unwrap_or(0.0));
        summary.push(place, "pit_max", "", pit.max().unwrap_or(0.0));
        self.report_drops(place, false, summary);
    }

    fn report_cache(&self, place: &str, summary: &mut Summary) {
        summary.push(place, "cs_hits", "", self.hits as f64);
        summary.push(place, "cs_misses", "", self.misses as f64);
        summary.push(place, "cs_evicted", "", self.evicted as f64);
        let asked = self.hits + self.misses;
        if asked > 0 {
            summary.push(place, "cs_hit_ratio", "", self.hits as f64 / asked as f64);
        }
    }

    /// The number of drops in all and by reason; reasons that did not occur only if `every` one counts.
    fn report_drops(&self, place: &str, every: bool, summary: &mut Summary) {
        summary.push(place, "drops", "", self.drops.values().sum::<u64>() as f64);
        for reason in DropReason::ALL {
            let count = self.drops.get(&reason).copied().unwrap_or(0);
            if every || count > 0 {
                let what = format!("drops_{}", reason.name().replace('-', "_"));
                summary.push(place, &what, "", count as f64);
            }
        }
    }
}

/// Where packets of a kind are counted; frames without packet are not.
fn kind_index(packet: &Packet) -> Option<usize> {
    match packet.kind() {
        Kind::Interest => Some(0),
        Kind::Data => Some(1),
        Kind::Nack => Some(2),
        Kind::Idle => None,
    }
}
