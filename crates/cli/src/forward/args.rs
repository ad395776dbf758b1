//! The options of `recoup forward`.
use super::config::read_address;
use super::log::{Form, Level, Log, LogKeys};
use crate::error::EXIT_CODES;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup forward
  recoup forward --metrics
  recoup forward --config node.toml
  recoup forward --config node.toml --json

A configuration:
  [node]
  cache = \"65536 packets\"        # or bytes, such as \"48 MiB\", or by default both; 0 for none
  strategy = \"best-route\"
  suppression = \"same-face-retx\"
  metrics = \"127.0.0.1:9695\"    # a status page, JSON and Prometheus metrics
  localhop = false                # whether others may register prefixes, too
  recovery = \"auto\"             # UDP links repair losses if both ends do; or \"off\"
  log = \"json\"                    # events as JSON lines; log-level = \"debug\" for all of them
  capture = \"all.pcapng\"          # frames of all faces, for Wireshark; or capture of one [[face]]

  [[listen]]
  uri = \"unix:///run/user/1000/recoup.sock\"

  [[listen]]
  uri = \"udp://[::]:6363\"       # all addresses of IPv6 and IPv4; udp://0.0.0.0 for IPv4 alone
  interests = 50000               # a second from each peer
  pending = 1000                  # how many of them may wait for Data

  [[listen]]
  uri = \"dev://eth0\"            # stations of Ethernet, without IP

  [[face]]
  name = \"north\"
  uri = \"tcp://192.0.2.7\"

  [[face]]
  name = \"lan\"                  # all forwarders on a link
  uri = \"udp4://224.0.23.170:56363\"   # without IP: ether://[01:00:5e:00:17:aa]
  interface = \"eth0\"

  [[route]]
  prefix = \"/\"
  face = \"north\"
  cost = 10

  [management]
  keys = [\"operator.cert\"]      # whose commands count; without it those of all local programs
  open = [\"rib\"]                # what local programs may do without such a key
  v02-commands = false          # whether old clients may register: python-ndn's ndn.app

  [[strategy]]
  prefix = \"/live\"
  strategy = \"multicast\"
";

/// Forward Interests and Data between applications and neighbours
///
/// Listens at the configured addresses and keeps configured faces open. Applications of this machine register prefixes
/// by NFD's management protocol; operators use `recoup ctl` or nfdc. Runs until Ctrl-C or SIGTERM and then prints its
/// counters; SIGHUP reloads the configuration.
///
/// Without a configuration it listens on UDP and TCP port 6363 and WebSocket port 9696 of IPv4 and IPv6, and at
/// /run/nfd/nfd.sock. For users without write access to /run, the socket is $XDG_RUNTIME_DIR/nfd/nfd.sock, or without that
/// variable ~/.ndn/nfd.sock. `recoup fetch`, `serve` and `ctl` find these sockets.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ForwardArgs {
    /// Configuration, a TOML file; by default the forwarder listens at the standard addresses
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Serve a status page, JSON and Prometheus metrics over HTTP
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "127.0.0.1:9695", value_parser = read_address, help_heading = "Reports")]
    pub metrics: Option<SocketAddr>,

    /// Write a trace for the Perfetto viewer, https://ui.perfetto.dev: Interests of each face until their answers, drops, queues
    ///
    /// The trace grows by some 100 bytes for each packet that passes a face.
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub trace: Option<PathBuf>,

    /// Format of events on standard error: text, or JSON with an object on each line
    #[arg(long, value_name = "FORM", help_heading = "Reports")]
    pub log: Option<Form>,

    /// Least severe events to log: error, warn, info or debug
    #[arg(long, value_name = "LEVEL", help_heading = "Reports")]
    pub log_level: Option<Level>,

    /// Log every face and route that comes or goes, as --log-level debug
    #[arg(short, long, conflicts_with_all = ["quiet", "log_level"], help_heading = "Reports")]
    pub verbose: bool,

    /// Print neither the start line nor the summary, and log only errors
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print JSON documents on standard output: a line at the start and a line at the end
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

impl ForwardArgs {
    /// The log settings; options take precedence over the configuration.
    pub(super) fn log(&self, keys: LogKeys) -> Log {
        let level = match (self.quiet, self.verbose) {
            (true, _) => Some(Level::Error),
            (_, true) => Some(Level::Debug),
            _ => None,
        };
        keys.log(self.log, self.log_level.or(level))
    }
}
