//! The options of `recoup forward`.
use crate::error::EXIT_CODES;
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup forward --config node.toml
  recoup forward --config node.toml --json --record /tmp/node.recording

A configuration:
  [node]
  cache = \"65536 packets\"        # or octets, such as \"64 MiB\"; 0 for none
  strategy = \"best-route\"
  suppression = \"same-face-retx\"
  localhop = false                # whether others may register prefixes, too

  [[listen]]
  uri = \"unix:///run/user/1000/recoup.sock\"

  [[listen]]
  uri = \"udp://0.0.0.0:6363\"

  [[face]]
  name = \"north\"
  uri = \"tcp://192.0.2.7\"

  [[route]]
  prefix = \"/\"
  face = \"north\"
  cost = 10

  [[strategy]]
  prefix = \"/live\"
  strategy = \"multicast\"
";

/// Forward Interests and Data between applications and neighbours
///
/// Listens where the configuration says, keeps its static faces open, and answers applications of this
/// machine that register prefixes by NFD's management protocol. Runs until Ctrl-C or SIGTERM and then
/// prints what it carried.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ForwardArgs {
    /// The configuration, a TOML file
    #[arg(short, long, value_name = "FILE")]
    pub config: PathBuf,

    /// Write everything that the forwarder is told to this file, for `recoup replay`
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub record: Option<PathBuf>,

    /// Print a line for every face that comes or goes
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Reports")]
    pub verbose: bool,

    /// Print neither the start line nor the summary
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print JSON documents on standard output: a line at the start and a line at the end
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}
