//! The options of `recoup ping`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::unit::{self, UnitError};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup ping /site/a
      until Ctrl-C, once a second
  recoup ping /site/a -c 10 -i 100ms
      ten times, ten a second
  recoup ping --serve /site/a
      answer such measurements
";

/// Measure round-trip times to a name, or answer such measurements
///
/// Sends Interests for NAME/ping/NUMBER, as ndnping does; ndnpingserver answers them. `recoup ping
/// --serve` answers ndnping.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct PingArgs {
    /// Name to measure
    #[arg(value_name = "NAME")]
    pub name: Name,

    /// Answer measurements of NAME instead of making them
    #[arg(long, conflicts_with_all = ["interval", "timeout", "count", "start"])]
    pub serve: bool,

    /// Interval between Interests
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    pub interval: Duration,

    /// Timeout of an Interest
    #[arg(short, long, value_name = "TIME", default_value = "4s", value_parser = unit::milliseconds)]
    pub timeout: Duration,

    /// Stop after this many Interests
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Number of the first Interest; random by default
    #[arg(short = 'n', long, value_name = "N")]
    pub start: Option<u64>,

    /// With --serve: listen here, without a forwarder; may be given several times
    #[arg(
        long,
        value_name = "URI",
        requires = "serve",
        conflicts_with_all = ["face", "interval", "timeout", "count", "start"],
        help_heading = "Network"
    )]
    pub listen: Vec<FaceUri>,

    /// Use this face instead of the configured forwarder
    #[arg(long, value_name = "URI", help_heading = "Network")]
    pub face: Option<FaceUri>,

    /// Print the summary only
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// End with a JSON document on standard output instead of a summary
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

fn interval(text: &str) -> Result<Duration, UnitError> {
    match unit::duration(text)? {
        short if short < Duration::from_millis(1) => {
            Err(UnitError::OutOfRange("must be at least 1ms"))
        }
        interval => Ok(interval),
    }
}
