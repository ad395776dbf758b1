//! The options of `recoup ctl`.
use super::face::FaceRef;
use super::show::ORIGINS;
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand, ValueEnum};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::management::{
    CONGESTION_MARKING, ControlParameters, LP_RELIABILITY, Persistency,
};
use recoup_transport::time::Duration;
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
  recoup ctl face events
  recoup ctl --face unix:///run/nfd/nfd.sock --sign /operator face destroy 262
";

/// Ask a forwarder about itself, and change it: faces, routes, strategies, content store
///
/// Speaks NFD's management protocol, with the verbs of nfdc: to `recoup forward`, NFD, and forwarders made like them.
/// Faces are given by number, or by where they lead.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct CtlArgs {
    /// What it is about.
    #[command(subcommand)]
    pub noun: Noun,

    /// Where the forwarder is; by default the one of this machine
    #[arg(long, global = true, value_name = "URI")]
    pub face: Option<FaceUri>,

    /// Sign commands with this key, by its name or as a file, where the forwarder asks for that
    #[arg(long, global = true, value_name = "KEY", default_value = "digest")]
    pub sign: String,

    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

/// What it is about.
#[derive(Debug, Subcommand)]
pub(crate) enum Noun {
    /// The forwarder as a whole
    #[command(subcommand)]
    Status(StatusVerb),
    /// Faces: links to neighbours and applications
    #[command(subcommand)]
    Face(FaceVerb),
    /// Places where others can open faces
    #[command(subcommand)]
    Channel(ListVerb),
    /// Routes: which faces lead toward which names
    #[command(subcommand)]
    Route(RouteVerb),
    /// The forwarding table that follows from the routes
    #[command(subcommand)]
    Fib(ListVerb),
    /// The content store
    #[command(subcommand)]
    Cs(CsVerb),
    /// Strategies: which of several faces is asked
    #[command(subcommand)]
    Strategy(StrategyVerb),
}

/// What to do about the whole.
#[derive(Debug, Subcommand)]
pub(crate) enum StatusVerb {
    /// Print everything: counters, channels, faces, next hops, routes, strategies, content store
    Report,
    /// Print the counters of the whole
    Show,
}

/// What to do with what can only be listed.
#[derive(Debug, Subcommand)]
pub(crate) enum ListVerb {
    /// Print all of them
    List,
}

/// What to do with faces.
#[derive(Debug, Subcommand)]
pub(crate) enum FaceVerb {
    /// Print all faces
    List {
        /// Only those that lead there
        #[arg(long, value_name = "URI")]
        remote: Option<String>,
        /// Only those whose end here is this
        #[arg(long, value_name = "URI")]
        local: Option<String>,
        /// Only those of this scheme, such as udp4
        #[arg(long, value_name = "SCHEME")]
        scheme: Option<String>,
    },
    /// Print one face
    Show {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
    },
    /// Open a face; one that is there is changed to be like that
    Create {
        /// Where it is to lead: udp4, udp6, tcp4, tcp6, ws or ether; a multicast group, too
        #[arg(value_name = "URI")]
        uri: FaceUri,
        /// The interface that it is to be on, such as dev://eth0: for ether and multicast groups
        #[arg(long, value_name = "URI")]
        local: Option<FaceUri>,
        /// How it is to be.
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Change a face
    Update {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
        /// How it is to be.
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Close a face
    Destroy {
        /// The face
        #[arg(id = "which", value_name = "FACE")]
        face: FaceRef,
    },
    /// Print what happens to faces as it happens, until Ctrl-C
    Events,
}

/// How a face is to be; what is not given stays as it is, or is as usual.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Whether it is opened again when it breaks; for one that a peer opened over UDP or Ethernet, whether it stays although
    /// that is silent
    #[arg(long, value_name = "KIND")]
    pub persistency: Option<PersistencyArg>,
    /// Longest frame, in octets
    #[arg(long, value_name = "OCTETS")]
    pub mtu: Option<u64>,
    /// Send again what the link loses
    #[arg(long, value_name = "on|off")]
    pub reliability: Option<Switch>,
    /// Mark packets when the queue is long
    #[arg(long, value_name = "on|off")]
    pub congestion_marking: Option<Switch>,
    /// How long the queue is too long before packets are marked, in milliseconds
    #[arg(long, value_name = "MS")]
    pub congestion_marking_interval: Option<u64>,
    /// From which length on the queue is too long, in octets
    #[arg(long, value_name = "OCTETS")]
    pub default_congestion_threshold: Option<u64>,
}

impl SettingsArgs {
    /// As they stand in a command.
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

/// Flags and mask of what is switched.
pub(crate) fn switched(bits: &[(u64, Option<Switch>)]) -> (Option<u64>, Option<u64>) {
    let sum = |of: fn(Switch) -> bool| {
        let bits = bits.iter().filter(|(_, switch)| switch.is_some_and(of));
        bits.map(|(bit, _)| bit).sum::<u64>()
    };
    let mask = sum(|_| true);
    (mask > 0).then(|| (sum(|switch| switch == Switch::On), mask)).unzip()
}

/// Who says that a route is there: by its name at NFD, or its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OriginArg(pub u64);

impl FromStr for OriginArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = ORIGINS.iter().find(|(_, name)| *name == text).map(|(number, _)| *number);
        let names = || ORIGINS.map(|(_, name)| name).join(", ");
        known
            .or_else(|| text.parse().ok())
            .map(Self)
            .ok_or_else(|| format!("it is no number, and none of {}", names()))
    }
}

/// What to do with routes.
#[derive(Debug, Subcommand)]
pub(crate) enum RouteVerb {
    /// Print all routes
    List {
        /// Only those to this face
        #[arg(long, value_name = "FACE")]
        nexthop: Option<FaceRef>,
        /// Only those of this origin, a name such as static, or a number
        #[arg(long, value_name = "ORIGIN")]
        origin: Option<OriginArg>,
    },
    /// Print the routes of one prefix
    Show {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
    /// Add a route, and the face if it is given by where it leads and is not there
    Add {
        /// Names below this one
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// The face that leads to them
        #[arg(value_name = "FACE")]
        nexthop: FaceRef,
        /// What it costs; less is better
        #[arg(long, default_value_t = 0)]
        cost: u64,
        /// Who says so, a name such as client, or a number
        #[arg(long, value_name = "ORIGIN", default_value = "static")]
        origin: OriginArg,
        /// Longer prefixes do not use it
        #[arg(long)]
        no_inherit: bool,
        /// Routes of shorter prefixes are not used beside it
        #[arg(long)]
        capture: bool,
        /// It ends by itself after this time, in milliseconds
        #[arg(long, value_name = "MS")]
        expires: Option<u64>,
    },
    /// Take a route away
    Remove {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// The face
        #[arg(value_name = "FACE")]
        nexthop: FaceRef,
        /// Who said so, a name such as client, or a number
        #[arg(long, value_name = "ORIGIN", default_value = "static")]
        origin: OriginArg,
    },
}

/// What to do with the content store.
#[derive(Debug, Subcommand)]
pub(crate) enum CsVerb {
    /// Print how it is
    Info,
    /// Change it
    Config {
        /// Packets that it may hold
        #[arg(long, value_name = "PACKETS")]
        capacity: Option<u64>,
        /// Whether it takes Data in
        #[arg(long, value_name = "on|off")]
        admit: Option<Switch>,
        /// Whether it answers Interests
        #[arg(long, value_name = "on|off")]
        serve: Option<Switch>,
    },
    /// Erase Data
    Erase {
        /// Below this name
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// At most this many packets
        #[arg(long, value_name = "PACKETS")]
        count: Option<u64>,
    },
}

/// What to do with strategies.
#[derive(Debug, Subcommand)]
pub(crate) enum StrategyVerb {
    /// Print all choices
    List,
    /// Print the choice that counts for a name
    Show {
        /// The name
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
    /// Choose a strategy
    Set {
        /// For names below this one
        #[arg(value_name = "PREFIX")]
        prefix: Name,
        /// Its whole name, or its last part such as best-route
        #[arg(value_name = "STRATEGY")]
        strategy: String,
    },
    /// Take a choice back
    Unset {
        /// The prefix
        #[arg(value_name = "PREFIX")]
        prefix: Name,
    },
}

/// Whether a face is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PersistencyArg {
    /// Until it is destroyed, or fails for good
    Persistent,
    /// Until it is destroyed
    Permanent,
    /// Until the peer that opened it is silent for long
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

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes
    On,
    /// No
    Off,
}
