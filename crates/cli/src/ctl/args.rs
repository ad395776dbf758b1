//! The options of `recoup ctl`.
use super::face::FaceRef;
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand, ValueEnum};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::management::Persistency;

const EXAMPLES: &str = "\
Examples:
  recoup ctl status report
  recoup ctl face create udp4://192.0.2.7 --persistency permanent
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
    /// Open a face
    Create {
        /// Where it is to lead: udp4, udp6, tcp4, tcp6 or ws
        #[arg(value_name = "URI")]
        uri: FaceUri,
        /// Whether it is opened again when it breaks
        #[arg(long, value_name = "KIND")]
        persistency: Option<PersistencyArg>,
        /// Longest frame, in octets
        #[arg(long, value_name = "OCTETS")]
        mtu: Option<u64>,
        /// Send again what the link loses
        #[arg(long, value_name = "on|off")]
        reliability: Option<Switch>,
        /// Mark packets when the queue is long
        #[arg(long, value_name = "on|off")]
        congestion_marking: Option<Switch>,
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

/// What to do with routes.
#[derive(Debug, Subcommand)]
pub(crate) enum RouteVerb {
    /// Print all routes
    List {
        /// Only those to this face
        #[arg(long, value_name = "FACE")]
        nexthop: Option<FaceRef>,
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
        /// Number of who says so
        #[arg(long, value_name = "NUMBER", default_value_t = 255)]
        origin: u64,
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
        /// Number of who said so
        #[arg(long, value_name = "NUMBER", default_value_t = 255)]
        origin: u64,
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
}

impl From<PersistencyArg> for Persistency {
    fn from(arg: PersistencyArg) -> Self {
        match arg {
            PersistencyArg::Persistent => Self::Persistent,
            PersistencyArg::Permanent => Self::Permanent,
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
