//! State shared by observers that show a whole run: when packets came to a node, packets on links, and the names of
//! segments.
use crate::network::{ApplicationId, Network, NodeId};
use crate::observe::Observation;
use crate::record::place::{Channel, Places};
use crate::simulation::name_hash;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::application::Report;
use recoup_transport::event::{Event, Span};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Packets in nodes whose last time is known.
const MOST_SIGHTINGS: usize = 1 << 16;

/// When a packet was seen in a node last.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    times: HashMap<(NodeId, Kind, u64), Instant>,
    order: VecDeque<(NodeId, Kind, u64)>,
}

impl Sightings {
    /// When the packet that a channel is given now came into the sending node, or the Interest that a producer there
    /// answers; `None` if the packet came at this instant, or if the time is unknown.
    pub(crate) fn waited_since(
        &self,
        places: &Places,
        now: Instant,
        channel: Channel,
        packet: &Packet,
    ) -> Option<Instant> {
        let node = places.sender(channel)?;
        let (kind, hash) = (packet.kind(), name_hash(packet.name()));
        let asked = (kind == Kind::Data).then_some((node, Kind::Interest, hash));
        let seen = self.times.get(&(node, kind, hash));
        seen.or_else(|| self.times.get(&asked?)).copied().filter(|seen| *seen < now)
    }

    /// Takes in an observation.
    pub(crate) fn on(&mut self, places: &Places, now: Instant, observation: &Observation<'_>) {
        let key = match *observation {
            Observation::Arrived { link, direction, packet } => {
                let node = places.receiver(Channel::new(link, direction));
                node.map(|node| (node, packet.kind(), name_hash(packet.name())))
            }
            Observation::Node { node, event: NodeEvent::CsHit { hash } } => {
                Some((node, Kind::Data, hash))
            }
            Observation::Node { node, event: NodeEvent::TraceBorn { hash, .. } } => {
                Some((node, Kind::Interest, hash))
            }
            _ => None,
        };
        let Some(key) = key else { return };
        if self.times.insert(key, now).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST_SIGHTINGS
            && let Some(oldest) = self.order.pop_front()
        {
            self.times.remove(&oldest);
        }
    }
}

/// Packets on channels, each with a value, by kind and name. Of several alike the first sent leaves first.
#[derive(Debug)]
pub(crate) struct InFlight<T> {
    packets: HashMap<(usize, Kind, u64), VecDeque<T>>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { packets: HashMap::new() }
    }
}

impl<T: Copy> InFlight<T> {
    fn key(channel: Channel, packet: &Packet) -> (usize, Kind, u64) {
        (channel.index(), packet.kind(), name_hash(packet.name()))
    }

    /// A packet begins on a channel.
    pub(crate) fn send(&mut self, channel: Channel, packet: &Packet, value: T) {
        self.packets.entry(Self::key(channel, packet)).or_default().push_back(value);
    }

    /// The value of the packet that leaves next.
    pub(crate) fn first(&self, channel: Channel, packet: &Packet) -> Option<T> {
        self.packets.get(&Self::key(channel, packet))?.front().copied()
    }

    /// A packet leaves a channel; `None` for the second copy of a duplicated packet.
    pub(crate) fn leave(&mut self, channel: Channel, packet: &Packet) -> Option<T> {
        let key = Self::key(channel, packet);
        let values = self.packets.get_mut(&key)?;
        let value = values.pop_front();
        if values.is_empty() {
            self.packets.remove(&key);
        }
        value
    }
}

/// An Interest of a consumer for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) segment: u64,
    /// Transmissions of the segment, this one included.
    pub(crate) transmissions: u32,
    /// Timeout of this transmission.
    pub(crate) rto: Span,
    /// Hash of the name.
    pub(crate) hash: u64,
}

/// Joins segments with the hashes of their names; consumers and nodes report both in the order of the Interests. For
/// this the network must follow transmissions ([`Network::follow_transmissions`]).
#[derive(Debug)]
pub(crate) struct Requests {
    follows: bool,
    /// Applications by their number in their node.
    numbers: BTreeMap<(NodeId, AppId), ApplicationId>,
    pending: BTreeMap<ApplicationId, Unjoined>,
}

#[derive(Debug, Default)]
struct Unjoined {
    /// Segment, transmissions and timeout; `None` for an Interest of discovery.
    sent: VecDeque<Option<(u64, u32, Span)>>,
    born: VecDeque<u64>,
}

impl Requests {
    pub(crate) fn new(network: &Network) -> Self {
        let (numbers, pending) = Default::default();
        Self { follows: network.follow_transmissions, numbers, pending }
    }

    /// Takes in an observation; reports the requests that are known by it.
    pub(crate) fn on(
        &mut self,
        places: &Places,
        observation: &Observation<'_>,
        mut report: impl FnMut(ApplicationId, Request),
    ) {
        let (id, news) = match *observation {
            _ if !self.follows => return,
            Observation::Started { application, app } => {
                if let Some(key) = places.home(application).zip(app) {
                    self.numbers.insert(key, application);
                }
                self.pending.remove(&application);
                return;
            }
            Observation::Node { node, event: NodeEvent::TraceBorn { app, hash, .. } } => {
                let Some(id) = self.numbers.get(&(node, app)) else { return };
                (*id, Err(hash))
            }
            Observation::Application { application, report: Report::Event(event) } => {
                match *event {
                    Event::Probed => (application, Ok(None)),
                    Event::Sent { segment, transmissions, rto } => {
                        (application, Ok(Some((segment, transmissions, rto))))
                    }
                    _ => return,
                }
            }
            _ => return,
        };
        let Unjoined { sent, born } = self.pending.entry(id).or_default();
        match news {
            Ok(request) => sent.push_back(request),
            Err(hash) => born.push_back(hash),
        }
        while !sent.is_empty()
            && let Some(hash) = born.pop_front()
            && let Some(request) = sent.pop_front()
        {
            if let Some((segment, transmissions, rto)) = request {
                report(id, Request { segment, transmissions, rto, hash });
            }
        }
    }
}

/// A packet's kind in a word.
pub(crate) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Interest => "Interest",
        Kind::Data => "Data",
        Kind::Nack => "Nack",
        Kind::Idle => "link fields",
    }
}
