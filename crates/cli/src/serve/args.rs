//! The options of `recoup serve`.
use crate::error::EXIT_CODES;
use crate::fetch::args::ConventionArg;
use clap::{Args, ValueEnum};
use recoup_forwarder::face::Recovery;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::unit;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup serve movie.mp4 --name /movie
      through the forwarder of this machine, or without one on the first free UDP port from 6363
  recoup serve photos --name /photos --listen udp://0.0.0.0:6363
      a folder, to everybody who reaches this machine, without a forwarder
  recoup serve movie.mp4 --name /movie --face tcp://192.0.2.7 --sign my-key
      through another forwarder, signed with a key of the key store
  recoup serve logs --name /logs --snapshot
      a folder whose files change: each version is served from a clone or a copy
  tar c src | recoup serve - --name /snapshot --freshness 1s
      what arrives on standard input
";

/// Serve a file, a folder or standard input under a name
///
/// Segments are cut and signed when they are first asked for; a file of any size needs little memory.
/// Runs until Ctrl-C or SIGTERM and then prints what was served. A file that changes while it is served
/// ends the version being served, unless the content is still the same; --snapshot serves files that change.
#[derive(Debug, Args)]
#[command(disable_version_flag = true, after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct ServeArgs {
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

    /// Content per segment, in octets; less where a long name leaves less room in a packet
    #[arg(long, value_name = "SIZE", default_value = "8000", value_parser = unit::content_bytes, help_heading = "Content")]
    pub segment_size: u64,

    /// digest, or a key: its name in the key store or its file
    ///
    /// The certificates of a key in the store, and of its issuers, are served beside the content.
    #[arg(long, value_name = "KEY", default_value = "digest", help_heading = "Content")]
    pub sign: String,

    /// Sign lists of digests instead of segments: one signature for 250 of them; needs --sign
    ///
    /// Consumers verify with manifests if they have this version of Recoup or a later one; other software sees digests.
    #[arg(long, requires = "sign", help_heading = "Content")]
    pub manifest: bool,

    /// How long a cache may call the content fresh
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = unit::milliseconds, help_heading = "Content")]
    pub freshness: Duration,

    /// Version in the names: mtime (the file's time), now, a number, or none
    ///
    /// One version means one content. With mtime, content that changes without its time gets the next free
    /// number. With the others, changed content is served after a restart only.
    #[arg(long, value_name = "VERSION", default_value = "mtime", help_heading = "Content")]
    pub version: VersionArg,

    /// Serve each version of a file from a snapshot, which no change of the file reaches
    ///
    /// A snapshot is a clone where the file system has them (Btrfs, XFS), elsewhere a copy in TMPDIR or
    /// /var/tmp. All copies together take at most SIZE (1GiB unless given); a file without room for its copy
    /// is not served.
    #[arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1GiB",
        value_parser = unit::bare_bytes,
        help_heading = "Content"
    )]
    pub snapshot: Option<u64>,

    /// What answers an Interest for something that is not served
    #[arg(long, value_name = "HOW", default_value = "nack", help_heading = "Content")]
    pub unknown: UnknownArg,

    /// How version and segment are written in names
    #[arg(long, value_name = "WHICH", default_value = "typed", help_heading = "Content")]
    pub convention: ConventionArg,

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

/// The version component of what is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionArg {
    /// The file's modification time in microseconds; the clock for standard input.
    Mtime,
    /// The clock in microseconds.
    Now,
    /// This number.
    Number(u64),
    /// No version component.
    None,
}

impl FromStr for VersionArg {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mtime" => Ok(Self::Mtime),
            "now" => Ok(Self::Now),
            "none" => Ok(Self::None),
            _ => text
                .parse()
                .map(Self::Number)
                .map_err(|_| "write mtime, now, none or a number".to_owned()),
        }
    }
}

/// What answers an Interest for something that is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownArg {
    /// An application Nack: the consumer knows at once
    Nack,
    /// Nothing: the consumer times out
    Silent,
}
