//! The options of `recoup gateway`.
use crate::error::EXIT_CODES;
use crate::fetch::TrustArgs;
use clap::Args;
use recoup::FetchOptions;
use recoup_forwarder::face::Recovery;
use recoup_io::face::FaceUri;
use std::net::SocketAddr;

const EXAMPLES: &str = "\
Examples:
  recoup gateway
      then open http://127.0.0.1:8080/ndn/site/photos/ in a browser
  curl -r 0-999 http://127.0.0.1:8080/ndn/site/movie.mp4
      the first 1000 bytes, while the gateway runs
  gio mount dav://127.0.0.1:8080/ndn/site/photos/
      a folder in the file manager, while the gateway runs
  recoup gateway --trust root.cert --schema policy.tlv
      only content that the trust schema allows
  recoup gateway --listen 0.0.0.0:80 --host data.example
      for all machines that can reach this one, as data.example
";

/// Answer HTTP and WebDAV requests with named content
///
/// GET /ndn/NAME fetches the newest version of NAME, verified, with ranges and entity tags. A path that ends in a slash lists
/// a folder of `recoup serve`, as a page or as JSON. File managers mount it by WebDAV, read-only. Components of the path are
/// names of files; a name with typed components, such as a version, is /uri/NAME/v=7.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct GatewayArgs {
    /// Address and TCP port
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8080",
        help_heading = "Network"
    )]
    pub listen: SocketAddr,

    /// Answer requests for this host name too, beside localhost and addresses; may be given several times
    #[arg(long, value_name = "NAME", help_heading = "Network")]
    pub host: Vec<String>,

    #[command(flatten)]
    pub options: FetchOptions,

    #[command(flatten)]
    pub trust: TrustArgs,

    /// Reach the network by this face instead of the configured forwarder
    #[arg(long, value_name = "URI", help_heading = "Network")]
    pub face: Option<FaceUri>,

    /// Link recovery to the next node: auto (if it supports it; UDP only), off, wldr or acked, with parameters
    #[arg(long, value_name = "SPEC", default_value = "auto", help_heading = "Network")]
    pub recovery: Recovery,

    /// Print nothing but errors
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print a JSON document with the address, one line
    #[arg(long, conflicts_with = "quiet", help_heading = "Reports")]
    pub json: bool,
}
