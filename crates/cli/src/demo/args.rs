//! The options of `recoup demo`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_transport::congestion::Congestion;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::loss::{Loss, Timeout};
use recoup_transport::rto::Rto;
use recoup_transport::spec::Spelled;
use recoup_transport::unit::{self, UnitError};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup demo
  recoup demo --loss 5% --delay 50ms
  recoup demo --rto 'constant(rto=4s)' --rto 'jacobson(k=8)' --out /tmp
  recoup demo --json
";

/// Show the main job in one command: timers and the default transport over a lossy link
///
/// A producer and a consumer in this process exchange a file over real sockets of this machine. The link between them
/// has a rate, a delay, a queue and losses. Concurrent runs use a constant timer of 4 s, each adaptive timer, and the
/// transport of `recoup fetch`. Each run has a link of its own with the same losses. Checks the received bytes, prints
/// a table, and draws round-trip times and timeouts as an SVG file.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct DemoArgs {
    /// Folder for the picture, recoup-demo.svg
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Reports")]
    pub out: PathBuf,

    /// Bytes of content
    #[arg(long, value_name = "SIZE", default_value = "5MB", value_parser = unit::bare_bytes, help_heading = "Content")]
    pub size: u64,

    /// Content per segment, in bytes
    #[arg(long, value_name = "SIZE", default_value = "8000", value_parser = unit::content_bytes, help_heading = "Content")]
    pub segment_size: u64,

    /// Rate of the link, each way, or unlimited
    #[arg(long, value_name = "RATE", default_value = "10Mbit/s", value_parser = unit::rate, help_heading = "Link")]
    pub rate: u64,

    /// Delay of the link, each way
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = unit::duration, help_heading = "Link")]
    pub delay: Duration,

    /// Queue in front of the link, each way
    #[arg(long, value_name = "SIZE", default_value = "160kB", value_parser = unit::bare_bytes, help_heading = "Link")]
    pub queue: u64,

    /// Share of packets that the link loses, each way
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = loss, help_heading = "Link")]
    pub loss: f64,

    /// Seed of the random losses
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Link")]
    pub seed: u64,

    /// Timers to compare, the first against the others
    ///
    /// Without it: constant(rto=4s), rfc6298 and jacobson, and beside them the transport of `recoup fetch`.
    #[arg(long, value_name = "SPEC", help_heading = "Algorithms")]
    pub rto: Vec<Spelled<Rto>>,

    /// Congestion control of the timers; only their timeouts signal losses
    #[arg(
        long,
        value_name = "SPEC",
        default_value = "fixed(window=16)",
        help_heading = "Algorithms"
    )]
    pub congestion: Spelled<Congestion>,

    /// Print neither progress nor table
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// End with a JSON document on standard output instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// A probability below 1: a link that loses every packet ends no transfer.
fn loss(text: &str) -> Result<f64, UnitError> {
    match unit::probability(text)? {
        loss if loss < 1.0 => Ok(loss),
        _ => Err(UnitError::OutOfRange("must be below 100%")),
    }
}

/// Timers that are compared unless others are named.
const TIMERS: [&str; 3] = ["constant(rto=4s)", "rfc6298", "jacobson"];

/// A transport that takes part.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    /// Its name in table and picture.
    pub label: String,
    /// Retransmission timer.
    pub rto: Spelled<Rto>,
    /// Congestion control.
    pub congestion: Spelled<Congestion>,
    /// Loss detector.
    pub loss: Spelled<Loss>,
}

impl DemoArgs {
    /// The transports to compare, the first against the others.
    pub(crate) fn transports(&self) -> Vec<Transport> {
        let timed = |rto: Spelled<Rto>| Transport {
            label: rto.to_string(),
            rto,
            congestion: self.congestion.clone(),
            loss: Loss::from(Timeout).into(),
        };
        if !self.rto.is_empty() {
            return self.rto.iter().cloned().map(timed).collect();
        }
        let FetchOptions { rto, congestion, loss, .. } = FetchOptions::default();
        let default = Transport { label: "recoup fetch".into(), rto, congestion, loss };
        TIMERS.into_iter().filter_map(|rto| rto.parse().ok()).map(timed).chain([default]).collect()
    }
}
