//! Where packets of one name are, and since when: what a node or a channel took of their time.
use super::verdict::Source;
use crate::network::{Fault, Network, NodeId};
use crate::record::place::{Channel, ChannelCharge, Places};
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Times that differ by less are equal but for rounding.
const ROUNDING: Duration = Duration::from_nanos(100);

/// State of the packets of one name.
#[derive(Debug)]
pub(super) struct Flights {
    ways: Vec<Way>,
    /// Delays of channels that change, by the number of the fault.
    changes: BTreeMap<usize, Duration>,
    in_flight: Vec<Flight>,
    nodes: BTreeMap<NodeId, Stay>,
}

/// Transmission times of a channel.
#[derive(Clone, Copy, Debug)]
struct Way {
    delay: Duration,
    charge: Option<ChannelCharge>,
}

impl Way {
    /// The part of a packet's time that the channel does not explain.
    fn excess(&self, travelled: Duration, packet: &Packet) -> Duration {
        let seconds = self.charge.map_or(0.0, |charge| charge.seconds(packet));
        let excess = travelled.saturating_sub(self.delay + Duration::from_secs_f64(seconds));
        if excess < ROUNDING { Duration::ZERO } else { excess }
    }
}

/// A packet on a channel.
#[derive(Debug)]
struct Flight {
    channel: Channel,
    kind: Kind,
    ids: Vec<u64>,
    since: Instant,
    source: Option<Source>,
}

/// The last arrival at a node.
#[derive(Debug)]
struct Stay {
    since: Instant,
    kind: Kind,
    /// Data: where it is from.
    source: Option<Source>,
    from_cache: bool,
    left_by: Vec<(Channel, Kind)>,
}

impl Stay {
    fn new(since: Instant, kind: Kind, source: Option<Source>) -> Self {
        Self { since, kind, source, from_cache: false, left_by: Vec::new() }
    }

    /// Where Data that leaves the node is from: what did not come as Data was made, or kept, here.
    fn origin(&self, node: NodeId) -> Option<Source> {
        match (self.kind, self.from_cache) {
            (Kind::Data, _) => self.source,
            (_, true) => Some(Source::Cache(node)),
            (_, false) => Some(Source::Producer(node)),
        }
    }
}

impl Flights {
    pub(super) fn new(network: &Network) -> Self {
        let places = Places::new(network);
        let delays = network.links.iter().flat_map(|link| [link.forth.delay, link.back.delay]);
        let ways = places.channels().zip(delays);
        let ways = ways.map(|(channel, delay)| Way { delay, charge: places.charge(channel) });
        let changes = network.faults.iter().enumerate().filter_map(|(number, (_, fault))| {
            let Fault::Change(_, _, plan) = fault else { return None };
            Some((number, plan.delay))
        });
        Self {
            ways: ways.collect(),
            changes: changes.collect(),
            in_flight: Vec::new(),
            nodes: BTreeMap::new(),
        }
    }

    /// The consumer at `node` asks.
    pub(super) fn begin(&mut self, node: NodeId, now: Instant) {
        self.nodes.insert(node, Stay::new(now, Kind::Interest, None));
    }

    /// The content store of `node` answers what came last.
    pub(super) fn answered_from_cache(&mut self, node: NodeId) {
        if let Some(stay) = self.nodes.get_mut(&node) {
            stay.from_cache = true;
        }
    }

    /// A packet leaves a node: how long it was there, and whether it left by this channel before.
    pub(super) fn depart(
        &mut self,
        now: Instant,
        node: Option<NodeId>,
        channel: Channel,
        packet: &Packet,
    ) -> (Duration, bool) {
        let kind = packet.kind();
        let (mut waited, mut again, mut source) = (Duration::ZERO, false, None);
        if let Some(node) = node
            && let Some(stay) = self.nodes.get_mut(&node)
        {
            again = stay.left_by.contains(&(channel, kind));
            waited = if again { Duration::ZERO } else { now.since(stay.since) };
            stay.left_by.push((channel, kind));
            source = stay.origin(node).filter(|_| kind == Kind::Data);
        }
        let ids = packet.trace().ids().to_vec();
        self.in_flight.push(Flight { channel, kind, ids, since: now, source });
        (waited, again)
    }

    /// A packet arrives at a node: its time in flight, and the part that the channel does not explain.
    pub(super) fn arrive(
        &mut self,
        now: Instant,
        node: Option<NodeId>,
        channel: Channel,
        packet: &Packet,
    ) -> (Option<Duration>, Option<Duration>) {
        let flight = self.take(channel, packet);
        let source = flight.as_ref().and_then(|flight| flight.source);
        let travelled = flight.map(|flight| now.since(flight.since));
        if let Some(node) = node {
            self.nodes.insert(node, Stay::new(now, packet.kind(), source));
        }
        let excess = travelled.zip(self.ways.get(channel.index()));
        (travelled, excess.map(|(travelled, way)| way.excess(travelled, packet)))
    }

    /// A packet goes no further.
    pub(super) fn end(&mut self, channel: Channel, packet: &Packet) {
        self.take(channel, packet);
    }

    /// A packet is duplicated.
    pub(super) fn double(&mut self, channel: Channel, packet: &Packet) {
        if let Some(place) = self.find(channel, packet) {
            let Flight { kind, since, source, .. } = self.in_flight[place];
            let ids = packet.trace().ids().to_vec();
            self.in_flight.push(Flight { channel, kind, ids, since, source });
        }
    }

    /// Where the Data is from that came to a node last, or that was made there.
    pub(super) fn source(&self, node: NodeId) -> Option<Source> {
        self.nodes.get(&node).and_then(|stay| stay.origin(node))
    }

    /// A channel may be another from now on.
    pub(super) fn on_fault(&mut self, places: &Places, number: usize) {
        if let (Some((channel, charge)), Some(delay)) =
            (places.change(number), self.changes.get(&number))
            && let Some(way) = self.ways.get_mut(channel.index())
        {
            *way = Way { delay: *delay, charge: Some(charge) };
        }
    }

    /// Forgets all packets in flight.
    pub(super) fn forget(&mut self) {
        self.in_flight.clear();
        self.nodes.clear();
    }

    fn take(&mut self, channel: Channel, packet: &Packet) -> Option<Flight> {
        self.find(channel, packet).map(|place| self.in_flight.remove(place))
    }

    /// The packet, or else the oldest of its kind: on its way ids may join it.
    fn find(&self, channel: Channel, packet: &Packet) -> Option<usize> {
        let alike = |flight: &Flight| flight.channel == channel && flight.kind == packet.kind();
        let ids = packet.trace().ids();
        let same = self.in_flight.iter().position(|it| alike(it) && it.ids == ids);
        same.or_else(|| self.in_flight.iter().position(alike))
    }
}
