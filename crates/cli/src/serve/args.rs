//! The options of `recoup serve`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_forwarder::face::Recovery;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::serve::ServeOptions;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup serve movie.mp4 --name /movie
      through the forwarder of this machine, or without one on the first free UDP port from 6363
  recoup serve photos --name /photos --listen udp://0.0.0.0:6363
      a folder, to all clients of this machine, without a forwarder
  recoup serve movie.mp4 --name /movie --face tcp://192.0.2.7 --sign my-key
      through another forwarder, signed with a key of the key store
  recoup serve logs --name /logs --snapshot
      a folder whose files change: each version is served from a clone or a copy
  tar c src | recoup serve - --name /snapshot --freshness 1s
      what arrives on standard input
";

/// Serve a file, a folder or standard input under a name
///
/// Segments are cut and signed at their first Interest; a file of any size needs little memory. Runs until Ctrl-C or
/// SIGTERM and then prints its counters. A change of a file ends the version that is served, unless the content is
/// still the same; --snapshot serves files that change.
#[derive(Debug, Default, Args)]
#[command(disable_version_flag = true, after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub struct ServeArgs {
    /// File or folder to serve; `-` for standard input
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// Name under which it is served
    #[arg(short, long, value_name = "NAME")]
    pub name: Name,

    /// Be reachable here without a forwarder; may be given several times
    ///
    /// udp://host[:port], tcp://host[:port], unix:///path or ws://host:port.
    #[arg(long, value_name = "URI", conflicts_with = "face", help_heading = "Network")]
    pub listen: Vec<FaceUri>,

    /// Register the name with the forwarder at this face
    ///
    /// Without --listen and --face: the environment variable NDN_CLIENT_TRANSPORT, client.conf, the
    /// forwarder's socket on this machine; where there is no forwarder, --listen udp://127.0.0.1:6363, or
    /// the next port up to 6378 that is free.
    #[arg(long, value_name = "URI", help_heading = "Network")]
    pub face: Option<FaceUri>,

    /// Send again what the link to the next node loses: auto (if that node does so, too; over UDP only), off, wldr or
    /// acked, with parameters, such as wldr(hold=5ms)
    #[arg(long, value_name = "SPEC", default_value = "auto", help_heading = "Network")]
    pub recovery: Recovery,

    /// Options of the producer loop.
    #[command(flatten)]
    pub options: ServeOptions,

    /// Sign lists of digests instead of segments: one signature for 250 of them; needs --sign
    ///
    /// Consumers verify with manifests if they have this version of Recoup or a later one; other software sees digests.
    #[arg(long, requires = "sign", help_heading = "Content")]
    pub manifest: bool,

    /// Serve hidden files and folders of a folder, too: those whose names begin with a period
    #[arg(long, help_heading = "Content")]
    pub hidden: bool,

    /// Print a line for every event
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Reports")]
    pub verbose: bool,

    /// Print neither the start line nor the summary
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print JSON documents on standard output: a line at the start and a line at the end
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

impl ServeArgs {
    /// Serves `path` as `name`, with the defaults of the command.
    pub fn new(path: PathBuf, name: Name) -> Self {
        Self { path, name, recovery: Recovery::auto(), ..Self::default() }
    }
}
