//! The description of a simulation: plain data, made by a scenario or by a program.
//!
//! Nodes and links are named and numbered in the order of their lists. Every random choice draws from a stream named
//! after its owner, so that an added node or recorder moves no other draws.
mod by_node;

pub use by_node::{AtNode, ByNode};
pub use recoup_channel::link::{LinkOptions, Order, OverTime};

use crate::model::law::Law;
use crate::route::{Metric, NextHops, Producer};
use crate::workload::log::RequestLog;
use crate::workload::size::ContentSizes;
pub use recoup_forwarder::options::{Anticipation, NodeOptions, Unsolicited};
use recoup_forwarder::strategy::Strategy;
pub use recoup_forwarder::table::CsCapacity;
use recoup_packet::name::Name;
use recoup_transport::congestion::Congestion;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::queue::Scheduler;
use recoup_transport::rto::Rto;
use recoup_transport::serve::{ServeOptions, Version};
use recoup_transport::spec::Spelled;
use recoup_transport::time::{Duration, Instant};
use recoup_wifi::motion::Motion;
use recoup_wifi::plan::{Category, MediumPlan, Role};

/// Number of a node: its place in [`Network::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Number of a link: its place in [`Network::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// One of the two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the first end to the second.
    Forth,
    /// From the second end to the first.
    Back,
}

/// Number of an application: its place in [`Network::applications`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId(pub u32);

/// The parts of a simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// The nodes.
    pub nodes: Vec<NodePlan>,
    /// The links between them.
    pub links: Vec<LinkPlan>,
    /// Media that carry some of the links.
    pub wifi: Vec<WifiPlan>,
    /// Where nodes send Interests.
    pub routes: Vec<RoutePlan>,
    /// Routes that are recomputed everywhere at once, whenever a client has joined an access point.
    pub rerouting: Option<Rerouting>,
    /// Strategies of prefixes other than `/`.
    pub strategies: Vec<StrategyPlan>,
    /// Consumers, producers and other traffic.
    pub applications: Vec<ApplicationPlan>,
    /// Faults of nodes and links, in any order.
    pub faults: Vec<(Instant, Fault)>,
    /// When the run ends.
    pub stop: Stop,
    /// Whether every first transmission of a consumer is followed until its fate is known, which
    /// separates spurious from genuine timeouts.
    pub follow_transmissions: bool,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePlan {
    /// Its name, unique.
    pub name: String,
    /// Options of its forwarder.
    pub options: NodeOptions,
    /// Processing time of each arriving packet, first in, first out, as a distribution: `none`,
    /// `constant(time=0.3ms)`, `exponential(mean=0.3ms)` (see [`crate::model::law`]).
    pub processing: Spelled<Law>,
    /// Scheduler of the node's faces whose channels name none: as for [`LinkOptions::scheduler`].
    pub scheduler: Spelled<Scheduler>,
    /// Place on a plane, in metres, where the topology has places.
    pub position: Option<(f64, f64)>,
    /// Motion of the node, if a medium has a station for it, as its specification
    /// ([`recoup_wifi::motion::plan`]); `None` means not at all. The station has what follows from it.
    pub motion: Option<String>,
}

impl Default for NodePlan {
    fn default() -> Self {
        Self {
            name: String::new(),
            options: NodeOptions::default(),
            processing: Law::None.into(),
            scheduler: Scheduler::default().into(),
            position: None,
            motion: None,
        }
    }
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPlan {
    /// Its name, unique; `a-b` unless it was given another.
    pub name: String,
    /// The two ends.
    pub ends: (NodeId, NodeId),
    /// From the first end to the second.
    pub forth: LinkOptions,
    /// From the second end to the first.
    pub back: LinkOptions,
    /// Cost from the first end to the second, where routes are computed by cost.
    pub cost: u64,
    /// Cost from the second end to the first.
    pub back_cost: u64,
}

impl Default for LinkPlan {
    fn default() -> Self {
        Self {
            name: String::new(),
            ends: (NodeId(0), NodeId(0)),
            forth: LinkOptions::default(),
            back: LinkOptions::default(),
            cost: 1,
            back_cost: 1,
        }
    }
}

/// An 802.11 medium, and the links that lead over it.
///
/// Of a channel's plan such a link keeps the charge of packets and marking; the medium replaces the rest. A link may
/// lead from a node to itself: that is the node's broadcast face, which reaches the broadcast faces of all nodes in
/// range.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiPlan {
    /// Its name, unique.
    pub name: String,
    /// The medium that its stations share.
    pub medium: MediumPlan,
    /// The nodes with a station, and their motion.
    pub stations: Vec<WifiStation>,
    /// The links that it carries. One between a client and an access point is up while the client is associated there.
    pub links: Vec<LinkId>,
    /// Access category of Interests.
    pub interests: Category,
    /// Access category of all other packets.
    pub data: Category,
    /// When an access point learns that a client has left it.
    pub notice: Notice,
    /// Longest random deferral of broadcast packets before they contend; a packet received meanwhile may make them
    /// superfluous. Zero: they do not wait, and are always sent.
    pub defer: Duration,
}

impl WifiPlan {
    /// A medium with these stations that carries these links; everything is best effort.
    pub fn new(
        name: &str,
        medium: MediumPlan,
        stations: Vec<WifiStation>,
        links: Vec<LinkId>,
    ) -> Self {
        let (name, defer) = (name.to_owned(), Duration::ZERO);
        let (interests, data, notice) = Default::default();
        Self { name, medium, stations, links, interests, data, notice, defer }
    }
}

/// When an access point learns that a client has left it: until then the client's face is up there, and what
/// is for the client is sent in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notice {
    /// When the client joins another one, after routes were recomputed.
    #[default]
    Association,
    /// When the client leaves.
    Departure,
}

/// Recomputation of routes as clients roam.
#[derive(Clone, Debug, PartialEq)]
pub struct Rerouting {
    /// Producers, grouped by prefix.
    pub producers: Vec<Vec<Producer>>,
    /// The metric of path length.
    pub metric: Metric,
    /// The rule for next hops.
    pub next_hops: NextHops,
}

/// A station of a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiStation {
    /// The node.
    pub node: NodeId,
    /// Its motion.
    pub motion: Motion,
    /// Its role.
    pub role: Role,
}

/// Next hops of a node for a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutePlan {
    /// The node.
    pub node: NodeId,
    /// The prefix.
    pub prefix: Name,
    /// Over which link (away from this node), at which cost.
    pub hops: Vec<(LinkId, u64)>,
}

/// A strategy for a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyPlan {
    /// The node.
    pub node: NodeId,
    /// The prefix.
    pub prefix: Name,
    /// The strategy.
    pub strategy: Spelled<Strategy>,
}

/// An application of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationPlan {
    /// Its name, unique: records are labelled with it.
    pub name: String,
    /// Its node.
    pub node: NodeId,
    /// Time of its start.
    pub start: Instant,
    /// When it is taken away, if it has not ended itself.
    pub stop: Option<Instant>,
    /// Its kind.
    pub kind: ApplicationKind,
}

/// Kinds of applications.
#[derive(Clone, Debug, PartialEq)]
pub enum ApplicationKind {
    /// Fetches one object: the fetch loop of `recoup fetch`.
    Fetch(Box<FetchPlan>),
    /// Serves one object: the producer loop of `recoup serve`.
    Serve(ServePlan),
    /// Answers every name below a prefix with one Data packet.
    Produce(ProducePlan),
    /// Requests single Data packets of a catalogue, by a schedule.
    Request(Box<RequestPlan>),
    /// Fills one direction of a link with frames that are not NDN's.
    Background(BackgroundPlan),
}

impl ApplicationKind {
    /// The prefix below which the application answers; `None` for consumers.
    pub fn served(&self) -> Option<&Name> {
        match self {
            Self::Serve(plan) => Some(&plan.prefix),
            Self::Produce(plan) => Some(&plan.prefix),
            Self::Fetch(_) | Self::Request(_) | Self::Background(_) => None,
        }
    }
}

/// A fetch. Algorithms are named as on the command line.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchPlan {
    /// Name of the object.
    pub object: Name,
    /// First segment.
    pub first: u64,
    /// Last segment; `None` means the object's last.
    pub last: Option<u64>,
    /// Options of the fetch. A simulation has no forged packets: `verify` has no effect.
    pub options: FetchOptions,
}

impl FetchPlan {
    /// A whole object without discovery, with the defaults of `recoup fetch`.
    #[must_use]
    pub fn new(object: Name) -> Self {
        let options = FetchOptions { discover: false, ..FetchOptions::default() };
        Self { object, first: 0, last: None, options }
    }
}

/// A served object.
#[derive(Clone, Debug, PartialEq)]
pub struct ServePlan {
    /// Its name, without a version.
    pub prefix: Name,
    /// Its length in bytes.
    pub size_bytes: u64,
    /// Options. Content of a simulation has no file: of the versions only numbers are versions.
    pub options: ServeOptions,
    /// Length of the packets.
    pub packet: PacketShape,
}

impl ServePlan {
    /// An object without a version, with the defaults of `recoup serve`.
    #[must_use]
    pub fn new(prefix: Name, size_bytes: u64) -> Self {
        let options = ServeOptions { version: Version::None, ..ServeOptions::default() };
        Self { prefix, size_bytes, options, packet: PacketShape::Digest }
    }

    /// The version, if it has one.
    #[must_use]
    pub fn version(&self) -> Option<u64> {
        match self.options.version {
            Version::Fixed(number) => Some(number),
            Version::Modified | Version::Now | Version::None => None,
        }
    }
}

/// Overhead of a Data packet beside name and content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketShape {
    /// Signed with a digest, as `recoup serve` does.
    #[default]
    Digest,
    /// A signature of that many bytes.
    Signature(u32),
    /// A signature that fills the packet to this length, in bytes.
    Total(u32),
}

/// A producer of single Data packets.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducePlan {
    /// Names that it answers.
    pub prefix: Name,
    /// Lengths of contents.
    pub content: ContentSizes,
    /// Freshness of the Data.
    pub freshness: Duration,
    /// Length of the packets.
    pub packet: PacketShape,
}

/// A consumer of a catalogue: contents `prefix/<number>` (numbers from 1, as generic components in decimal).
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPlan {
    /// Prefixes of the catalogue; content `k` is at prefix number `k mod prefixes.len()`.
    pub prefixes: Vec<Name>,
    /// Number of contents.
    pub contents: u64,
    /// The choice of the next content.
    pub popularity: Popularity,
    /// The times of requests.
    pub arrival: Arrival,
    /// Number of requests; `None` means without limit.
    pub requests: Option<u64>,
    /// Estimator of the retransmission timeout; `None` disables retransmission.
    pub rto: Option<Spelled<Rto>>,
    /// Retransmissions of one request; `None` means without limit.
    pub retries: Option<u32>,
    /// Interest lifetime.
    pub lifetime: Duration,
    /// Interval at which timers are compared with the present timeout; `None`: each ends exactly, by the timeout at its
    /// transmission.
    pub rto_scan: Option<Duration>,
    /// Treatment of a request whose content is pending; `None` is [`Pending::Ask`].
    pub pending: Option<Pending>,
}

impl RequestPlan {
    /// Whether timers are scanned: an interval of zero is none.
    pub fn scans(&self) -> bool {
        self.rto_scan.is_some_and(|interval| !interval.is_zero())
    }
}

/// A request for a content that the same consumer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// An Interest of its own, with a timer of its own.
    Ask,
    /// Waiting for the Data of the other: no Interest, no timer, no sample.
    Join,
}

/// The choice of content.
#[derive(Clone, Debug, PartialEq)]
pub enum Popularity {
    /// In sequence.
    Sequential,
    /// Each equally likely.
    Uniform,
    /// Content `k` with probability proportional to `(k + q)^-s`.
    ZipfMandelbrot {
        /// Shift.
        q: f64,
        /// Exponent.
        s: f64,
    },
    /// As a log has them; after the last request it begins again.
    Log(OverTime<RequestLog>),
}

/// When requests are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// At equal intervals: so many per second.
    Constant(f64),
    /// Exponential gaps, with this mean rate per second.
    Poisson(f64),
    /// Constant while on; on and off times are exponential with these means.
    OnOff {
        /// Requests per second while on.
        rate: f64,
        /// Mean time on.
        on: Duration,
        /// Mean time off.
        off: Duration,
    },
    /// Batches: times after the start, and numbers of requests.
    Batches(Vec<(Duration, u64)>),
    /// As the window of a congestion control permits.
    Window(Box<Spelled<Congestion>>),
}

/// Frames that are not NDN's.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundPlan {
    /// The link.
    pub link: LinkId,
    /// The direction.
    pub direction: Direction,
    /// Bytes of a frame.
    pub frame_bytes: u32,
    /// When frames are offered (a window makes no sense here).
    pub arrival: Arrival,
}

/// A change of the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A link fails in both directions: what is on it is lost, its faces go down.
    LinkDown(LinkId),
    /// A link works again.
    LinkUp(LinkId),
    /// Frames offered to a channel are lost from now on, though its faces stay up.
    OutageBegins(LinkId, Direction),
    /// The channel carries frames again.
    OutageEnds(LinkId, Direction),
    /// A node loses all its links, and its tables.
    NodeDown(NodeId),
    /// A node is back, with empty tables; its applications start again.
    NodeUp(NodeId),
    /// A channel changes its properties; packets in flight keep their times.
    Change(LinkId, Direction, Box<LinkOptions>),
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Not later than this.
    pub at: Instant,
    /// Whether to stop when every finite application has ended.
    pub when_done: bool,
}

impl Default for Stop {
    fn default() -> Self {
        Self { at: Instant::from_millis(3_600_000), when_done: true }
    }
}
