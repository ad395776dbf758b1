//! Where things happen: the names of applications, nodes and links, and what a record must know of
//! them.
use crate::network::{
    ApplicationId, ApplicationKind, ByNode, Direction, Fault, LinkId, LinkOptions, Network, NodeId,
    Order,
};
use recoup_forwarder::face::FaceId;
use recoup_forwarder::packet::{Kind, Packet};
use std::collections::{BTreeMap, BTreeSet};

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The link.
    pub link: LinkId,
    /// The direction.
    pub direction: Direction,
}

impl Channel {
    /// The direction of a link.
    pub const fn new(link: LinkId, direction: Direction) -> Self {
        Self { link, direction }
    }

    /// Index of the channel; a link has two successive ones.
    pub const fn index(self) -> usize {
        self.link.0 as usize * 2 + matches!(self.direction, Direction::Back) as usize
    }

    /// The other direction of the same link.
    pub const fn reverse(self) -> Self {
        let direction = match self.direction {
            Direction::Forth => Direction::Back,
            Direction::Back => Direction::Forth,
        };
        Self { link: self.link, direction }
    }

    /// The direction as records spell it.
    pub const fn direction_name(self) -> &'static str {
        match self.direction {
            Direction::Forth => "forth",
            Direction::Back => "back",
        }
    }
}

/// Names and properties of what there is in a network.
#[derive(Clone, Debug, Default)]
pub struct Places {
    applications: Vec<Application>,
    nodes: Vec<String>,
    links: Vec<(String, (NodeId, NodeId))>,
    channels: Vec<ChannelCharge>,
    faces: BTreeMap<(NodeId, FaceId), Channel>,
    /// Changes of channels by the number of the fault.
    changes: BTreeMap<usize, (Channel, ChannelCharge)>,
    /// Nodes that lose their tables, by the number of the fault.
    crashes: BTreeMap<usize, NodeId>,
    /// Channels that fail, by the number of the fault.
    failures: BTreeMap<usize, Vec<Channel>>,
    /// Links over a medium.
    aerial: BTreeSet<LinkId>,
}

#[derive(Clone, Debug)]
struct Application {
    name: String,
    node: NodeId,
    consumer: bool,
}

/// Charge of a packet on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelCharge {
    /// Bits per second; 0 means without limit.
    pub rate_bits: u64,
    /// Bytes added to each packet.
    pub overhead_bytes: u32,
    /// Charge of Interests in bytes, instead of their own size.
    pub interest_bytes: Option<u32>,
    /// Whether lost packets never take up the rate, because the delay comes first.
    pub rate_comes_last: bool,
}

impl ChannelCharge {
    fn of(plan: &LinkOptions) -> Self {
        Self {
            rate_bits: plan.rate_bits,
            overhead_bytes: plan.overhead_bytes,
            interest_bytes: plan.interest_bytes,
            rate_comes_last: plan.order == Order::DelayThenRate,
        }
    }

    /// Seconds that the rate is taken up by `packet`.
    pub fn seconds(&self, packet: &Packet) -> f64 {
        if self.rate_bits == 0 {
            return 0.0;
        }
        let bytes = match self.interest_bytes.filter(|_| packet.kind() == Kind::Interest) {
            Some(bytes) => u64::from(bytes),
            None => packet.bytes() as u64 + u64::from(self.overhead_bytes),
        };
        bytes as f64 * 8.0 / self.rate_bits as f64
    }
}

impl Places {
    /// The places of `network`.
    pub fn new(network: &Network) -> Self {
        let applications = network.applications.iter().map(|plan| Application {
            name: plan.name.clone(),
            node: plan.node,
            consumer: matches!(plan.kind, ApplicationKind::Fetch(_) | ApplicationKind::Request(_)),
        });
        let faults = network.faults.iter().enumerate();
        let by_node = network.by_node();
        Self {
            applications: applications.collect(),
            nodes: network.nodes.iter().map(|node| node.name.clone()).collect(),
            links: network.links.iter().map(|link| (link.name.clone(), link.ends)).collect(),
            channels: network
                .links
                .iter()
                .flat_map(|link| [ChannelCharge::of(&link.forth), ChannelCharge::of(&link.back)])
                .collect(),
            faces: faces(network, &by_node),
            changes: faults.clone().filter_map(|(number, (_, it))| change(number, it)).collect(),
            crashes: faults.clone().filter_map(|(number, (_, it))| crash(number, it)).collect(),
            failures: faults
                .map(|(number, (_, it))| (number, failing(&by_node, it)))
                .filter(|(_, channels)| !channels.is_empty())
                .collect(),
            aerial: network.wifi.iter().flat_map(|plan| &plan.links).copied().collect(),
        }
    }

    /// Number of applications.
    pub fn applications(&self) -> usize {
        self.applications.len()
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Every channel, in the order of [`Channel::index`].
    pub fn channels(&self) -> impl Iterator<Item = Channel> + use<> {
        (0..self.links.len() as u32).flat_map(|link| {
            [Direction::Forth, Direction::Back]
                .map(|direction| Channel::new(LinkId(link), direction))
        })
    }

    /// Name of an application.
    pub fn application(&self, id: ApplicationId) -> &str {
        self.applications.get(id.0 as usize).map_or("?", |it| &it.name)
    }

    /// The node on which an application runs.
    pub fn home(&self, id: ApplicationId) -> Option<NodeId> {
        self.applications.get(id.0 as usize).map(|it| it.node)
    }

    /// Whether an application requests content.
    pub fn is_consumer(&self, id: ApplicationId) -> bool {
        self.applications.get(id.0 as usize).is_some_and(|it| it.consumer)
    }

    /// Name of a node.
    pub fn node(&self, id: NodeId) -> &str {
        self.nodes.get(id.0 as usize).map_or("?", String::as_str)
    }

    /// Name of a link.
    pub fn link(&self, id: LinkId) -> &str {
        self.links.get(id.0 as usize).map_or("?", |(name, _)| name)
    }

    /// Whether a link leads over a medium.
    pub fn is_aerial(&self, id: LinkId) -> bool {
        self.aerial.contains(&id)
    }

    /// Whether any link does.
    pub fn has_aerial(&self) -> bool {
        !self.aerial.is_empty()
    }

    /// The node that sends on a channel.
    pub fn sender(&self, channel: Channel) -> Option<NodeId> {
        let (_, (first, second)) = self.links.get(channel.link.0 as usize)?;
        Some(if channel.direction == Direction::Forth { *first } else { *second })
    }

    /// The node that receives from a channel.
    pub fn receiver(&self, channel: Channel) -> Option<NodeId> {
        let (_, (first, second)) = self.links.get(channel.link.0 as usize)?;
        Some(if channel.direction == Direction::Forth { *second } else { *first })
    }

    /// The channel that a node's face sends on.
    pub fn channel(&self, node: NodeId, face: FaceId) -> Option<Channel> {
        self.faces.get(&(node, face)).copied()
    }

    /// Charge of a channel at the beginning of the run.
    pub fn charge(&self, channel: Channel) -> Option<ChannelCharge> {
        self.channels.get(channel.index()).copied()
    }

    /// The channel that a fault changes, and its new charge.
    pub fn change(&self, fault: usize) -> Option<(Channel, ChannelCharge)> {
        self.changes.get(&fault).copied()
    }

    /// The node that loses its tables by a fault.
    pub fn crash(&self, fault: usize) -> Option<NodeId> {
        self.crashes.get(&fault).copied()
    }

    /// The channels that fail by a fault, with the loss of their queues.
    pub fn failures(&self, fault: usize) -> &[Channel] {
        self.failures.get(&fault).map_or(&[], Vec::as_slice)
    }
}

fn failing(by_node: &ByNode, fault: &Fault) -> Vec<Channel> {
    let both = |link| [Direction::Forth, Direction::Back].map(|it| Channel::new(link, it));
    match fault {
        Fault::LinkDown(link) => both(*link).into(),
        Fault::NodeDown(node) => {
            by_node.at(*node).faces.iter().flat_map(|(link, _)| both(*link)).collect()
        }
        _ => Vec::new(),
    }
}

fn crash(number: usize, fault: &Fault) -> Option<(usize, NodeId)> {
    match fault {
        Fault::NodeDown(node) => Some((number, *node)),
        _ => None,
    }
}

fn change(number: usize, fault: &Fault) -> Option<(usize, (Channel, ChannelCharge))> {
    match fault {
        Fault::Change(link, direction, plan) => {
            Some((number, (Channel::new(*link, *direction), ChannelCharge::of(plan))))
        }
        _ => None,
    }
}

/// Channels by the faces that send on them.
fn faces(network: &Network, by_node: &ByNode) -> BTreeMap<(NodeId, FaceId), Channel> {
    let nodes = (0..network.nodes.len() as u32).map(NodeId);
    nodes
        .flat_map(|node| {
            let faces = (0..).map(FaceId).zip(&by_node.at(node).faces);
            faces.map(move |(face, (link, way))| ((node, face), Channel::new(*link, *way)))
        })
        .collect()
}
