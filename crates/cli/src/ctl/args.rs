//! The options of `recoup ctl`.
use super::face::{FaceRef, Peer};
use super::show::ORIGINS;
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand, ValueEnum};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::management::{
    CONGESTION_MARKING, ControlParameters, LP_RELIABILITY, Persistency,
};
use recoup_transport::time::Duration;
use recoup_transport::unit;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  recoup ctl status report
  recoup ctl face create udp4://192.0.2.7 --persistency permanent
  recoup ctl face create 'ether://[02:00:00:00:00:07]' --local dev://eth0
  recoup ctl route add /example udp4://192.0.2.7 --cost 10
  recoup ctl route list --json
  recoup ctl strategy set /live multicast
  recoup ctl cs erase /old
  recoup ctl face down 192.0.2.7
  recoup ctl face up '[02:00:00:00:00:07]'
  recoup ctl face events
  recoup ctl --face unix:///run/nfd/nfd.sock --sign /operator face destroy 262
";

/// Show and change a forwarder: faces, routes, strategies, store
///
/// Speaks NFD's management protocol, with the verbs of nfdc, to `recoup forward`, NFD and
/// compatible forwarders. A face is given by its number or its URI.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct CtlArgs {
    /// Subject of the command.
    #[command(subcommand)]
    pub noun: Noun,

    /// URI of the forwarder; by default the one of this machine
    #[arg(long, global = true, value_name = "URI")]
    pub face: Option<FaceUri>,

    /// Sign commands with this key (name or file), if the forwarder requires it
    #[arg(long, global = true, value_name = "KEY", default_value = "digest")]
    pub sign: String,

    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

/// Subject of the command.
#[derive(Debug, Subcommand)]
pub(crate) enum Noun {
    /// The forwarder as a whole
    #[command(subcommand)]
    Status(StatusVerb),
    /// Faces: links to neighbours and applications
    #[command(subcommand)]
    Face(FaceVerb),
    /// Listeners where peers can connect
    #[command(subcommand)]
    Channel(ListVerb),
    /// Routes: next hops of prefixes
    #[command(subcommand)]
    Route(RouteVerb),
    /// The FIB, computed from the routes
    #[command(subcommand)]
    Fib(ListVerb),
    /// The content store
    #[command(subcommand)]
    Cs(CsVerb),
    /// Strategies: choice among next hops
    #[command(subcommand)]
    Strategy(StrategyVerb),
}

/// Verbs of `status`.
#[derive(Debug, Subcommand)]
pub(crate) enum StatusVerb {
    /// Print everything: counters, channels, faces, next hops, routes, strategies, content store
    Report,
    /// Print the forwarder's counters
    Show,
}

/// Verbs of subjects that can only be listed.
#[derive(Debug, Subcommand)]
pub(crate) enum ListVerb {
    /// Print all entries
    List,
}

/// Verbs of `face`.
#[derive(Debug, Subcommand)]
pub(crate) enum FaceVerb {
    /// Print all faces
    List {
        /// Only faces with this remote URI
        #[arg(long, value_name = "URI")]
        remote: Option<String>,
        /// Only faces with this local URI
        #[arg(long, value_name = "URI")]
        local: Option<String>,
        /// Only faces with this scheme, such as udp4
        #[arg(long, value_name = "SCHEME")]
        scheme: Option<String>,
    },
    /// Print one face
    Show {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
    },
    /// Open a face, or change the existing one
    Create {
        /// Remote URI: udp4, udp6, tcp4, tcp6, ws or ether, or a multicast group
        #[arg(value_name = "URI")]
        uri: FaceUri,
        /// Interface of an ether or multicast face, such as dev://eth0
        #[arg(long, value_name = "URI")]
        local: Option<FaceUri>,
        /// Settings of the face.
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Change a face
    Update {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
        /// Settings of the face.
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Close a face
    Destroy {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
    },
    /// Declare a face down: it keeps its routes, and its Interests leave by other faces or wait
    Down {
        /// The face, or an IP address or Ethernet station: all faces that lead there
        #[arg(id = "which", value_name = "FACE")]
        face: Peer,
    },
    /// End that
    Up {
        /// The face, or an IP address or Ethernet station: all faces that lead there
        #[arg(id = "which", value_name = "FACE")]
        face: Peer,
    },
    /// Report a packet that a driver gave up: its consumer sends the Interest again at once
    Lost {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
        /// Name of the Interest or Data
        #[arg(value_name = "NAME")]
        name: Name,
    },
    /// Print face events as they happen, until Ctrl-C
    Events,
}

/// Settings of a face. An absent one keeps its value, or the default for a new face.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Lifetime of the face: whether it reopens after a failure, and whether an on-demand face
    /// outlasts an idle peer
    #[arg(long, value_name = "KIND")]
    pub persistency: Option<PersistencyArg>,
    /// Longest frame, in bytes
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<u64>,
    /// Recover losses of the link
    #[arg(long, value_name = "on|off")]
    pub reliability: Option<Switch>,
    /// Mark packets when the queue is long
    #[arg(long, value_name = "on|off")]
    pub congestion_marking: Option<Switch>,
    /// Time above the threshold before packets are marked, in milliseconds
    #[arg(long, value_name = "MS")]
    pub congestion_marking_interval: Option<u64>,
    /// Queue length above which packets are marked, in bytes
    #[arg(long, value_name = "BYTES")]
    pub default_congestion_threshold: Option<u64>,
}

impl SettingsArgs {
    /// The settings as ControlParameters.
    pub(super) fn parameters(&self) -> ControlParameters {
        let bits =
            [(LP_RELIABILITY, self.reliability), (CONGESTION_MARKING, self.congestion_marking)];
        let (flags, mask) = switched(&bits);
        ControlParameters {
            face_persistency: self.persistency.map(|it| Persistency::from(it) as u64),
            mtu: self.mtu,
            flags,
            mask,
            marking_interval: self.congestion_marking_interval.map(Duration::from_millis),
            marking_threshold: self.default_congestion_threshold,
            ..ControlParameters::default()
        }
    }
}

/// Flags and mask of the given switches.
pub(crate) fn switched(bits: &[(u64, Option<Switch>)]) -> (Option<u64>, Option<u64>) {
    let sum = |of: fn(Switch) -> bool| {
        let bits = bits.iter().filter(|(_, switch)| switch.is_some_and(of));
        bits.map(|(bit, _)| bit).sum::<u64>()
    };
    let mask = sum(|_| true);
    (mask > 0).then(|| (sum(|switch| switch == Switch::On), mask)).unzip()
}

/// Origin of a route: its name in NFD, or its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OriginArg(pub u64);

impl FromStr for OriginArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = ORIGINS.iter().find(|(_, name)| *name == text).map(|(number, _)| *number);
        let names = || ORIGINS.map(|(_, name)| name).join(", ");
        known
            .or_else(|| unit::whole(text))
            .map(Self)
            .ok_or_else(|| format!("it is no number, and none of {}", names()))
    }
}

/// Verbs of `route`.
#[derive(Debug, Subcommand)]
pub(crate) enum RouteVerb {
    /// Print all routes
    List {
        /// Only routes to this face
        #[arg(long, value_name = "FACE")]
        nexthop: Option<FaceRef>,
        /// Only routes of this origin: a name such as static, or a number
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<OriginArg>,
    },
    /// Print the routes of one prefix
    Show {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
    /// Add a route; a face given by URI is opened if it does not exist
    Add {
        /// Prefix of the route
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// Next hop
        #[arg(value_name = "FACE")]
        nexthop: FaceRef,
        /// Cost; the lowest is preferred
        #[arg(long, default_value_t = 0)]
        cost: u64,
        /// Origin: a name such as client, or a number
        #[arg(long, value_name = "ORIGIN", default_value = "static")]
        origin: OriginArg,
        /// Do not apply the route to longer prefixes
        #[arg(long)]
        no_inherit: bool,
        /// Ignore routes of shorter prefixes
        #[arg(long)]
        capture: bool,
        /// Lifetime of the route, in milliseconds
        #[arg(long, value_name = "MS")]
        expires: Option<u64>,
    },
    /// Remove a route
    Remove {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// The face
        #[arg(value_name = "FACE")]
        nexthop: FaceRef,
        /// Origin: a name such as client, or a number
        #[arg(long, value_name = "ORIGIN", default_value = "static")]
        origin: OriginArg,
    },
}

/// Verbs of `cs`.
#[derive(Debug, Subcommand)]
pub(crate) enum CsVerb {
    /// Print its state
    Info,
    /// Change its settings
    Config {
        /// Capacity, in packets
        #[arg(long, value_name = "PACKETS")]
        capacity: Option<u64>,
        /// Whether it stores Data
        #[arg(long, value_name = "on|off")]
        admit: Option<Switch>,
        /// Whether it answers Interests
        #[arg(long, value_name = "on|off")]
        serve: Option<Switch>,
    },
    /// Erase Data
    Erase {
        /// Prefix of the Data
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// Most packets to erase
        #[arg(long, value_name = "PACKETS")]
        count: Option<u64>,
    },
}

/// Verbs of `strategy`.
#[derive(Debug, Subcommand)]
pub(crate) enum StrategyVerb {
    /// Print all choices
    List,
    /// Print the choice that applies to a name
    Show {
        /// The name
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
    /// Choose a strategy
    Set {
        /// Prefix of the choice
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// Its name, or the last component such as best-route
        #[arg(value_name = "STRATEGY")]
        strategy: String,
    },
    /// Remove a choice
    Unset {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
}

/// Lifetime of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PersistencyArg {
    /// Until it is destroyed or fails permanently
    Persistent,
    /// Until it is destroyed
    Permanent,
    /// Until its peer is idle for long
    OnDemand,
}

impl From<PersistencyArg> for Persistency {
    fn from(arg: PersistencyArg) -> Self {
        match arg {
            PersistencyArg::Persistent => Self::Persistent,
            PersistencyArg::Permanent => Self::Permanent,
            PersistencyArg::OnDemand => Self::OnDemand,
        }
    }
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes
    On,
    /// No
    Off,
}
