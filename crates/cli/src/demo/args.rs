//! The options of `recoup demo`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_forwarder::face::Recovery;
use recoup_transport::congestion::Congestion;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::loss::Loss;
use recoup_transport::rto::Rto;
use recoup_transport::spec::{SpecError, Spelled};
use recoup_transport::transport;
use recoup_transport::unit::{self, UnitError};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup demo
  recoup demo --loss 5% --delay 50ms
  recoup demo --transport newreno --transport newreno,recovery=wldr --out /tmp
  recoup demo --transport 'congestion=fixed(window=16),loss=timeout,rto=constant(rto=4s)'
  recoup demo --json
";

/// Compare the default transport with CUBIC over a lossy link
///
/// A producer and a consumer in this process exchange a file over real sockets of this machine. The link between them
/// has a rate, a delay, a queue and losses. Concurrent runs use CUBIC with the timer of TCP, CUBIC with link recovery
/// (WLDR), and the transport of `recoup fetch`. Each run has a link of its own with the same losses. Checks the received
/// bytes, prints a table, and draws the content over time as an SVG file.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct DemoArgs {
    /// Folder for the picture, recoup-demo.svg
    #[arg(long, value_name = "DIR", default_value = ".", help_heading = "Reports")]
    pub out: PathBuf,

    /// Bytes of content
    #[arg(long, value_name = "SIZE", default_value = "6MB", value_parser = unit::bare_bytes, help_heading = "Content")]
    pub size: u64,

    /// Content per segment, in bytes
    #[arg(long, value_name = "SIZE", default_value = "1200", value_parser = unit::content_bytes, help_heading = "Content")]
    pub segment_size: u64,

    /// Rate of the link, each way, or unlimited
    #[arg(long, value_name = "RATE", default_value = "50Mbit/s", value_parser = unit::rate, help_heading = "Link")]
    pub rate: u64,

    /// Delay of the link, each way
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = unit::duration, help_heading = "Link")]
    pub delay: Duration,

    /// Queue in front of the link, each way
    #[arg(long, value_name = "SIZE", default_value = "125kB", value_parser = unit::bare_bytes, help_heading = "Link")]
    pub queue: u64,

    /// Share of packets that the link loses, each way
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = loss, help_heading = "Link")]
    pub loss: f64,

    /// Seed of the random losses
    #[arg(long, value_name = "NUMBER", default_value_t = 1, help_heading = "Link")]
    pub seed: u64,

    /// A transport, such as 'cubic,rto=rfc6298,recovery=wldr'; the first is compared with the others
    ///
    /// Congestion control, loss detector (loss=), timer (rto=) and, at the end, link recovery (recovery=). Parts left out
    /// are the defaults of `recoup fetch`; without recovery= there is none.
    #[arg(long = "transport", value_name = "SPEC", help_heading = "Algorithms", value_parser = Transport::read)]
    pub transports: Vec<Transport>,

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

/// CUBIC and its timer as most TCP and NDN consumers have them, and with link recovery.
const OTHERS: [&str; 2] = ["cubic,rto=rfc6298", "cubic,rto=rfc6298,recovery=wldr"];

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
    /// How the link recovers its losses.
    pub recovery: Recovery,
}

impl Transport {
    /// The transport of `recoup fetch` without options.
    fn of_fetch() -> Self {
        let FetchOptions { rto, congestion, loss, .. } = FetchOptions::default();
        let label = "recoup fetch".to_owned();
        Self { label, rto, congestion, loss, recovery: Recovery::auto() }
    }

    fn read(text: &str) -> Result<Self, String> {
        let (parts, recovery) = match text.rsplit_once("recovery=") {
            Some((parts, recovery)) => (parts.trim_end_matches([',', ' ']), recovery),
            None => (text, "off"),
        };
        let wrong = |error: &dyn Display| error.to_string();
        let recovery: Recovery = recovery.parse().map_err(|error: SpecError| wrong(&error))?;
        let default = transport::Transport::default();
        let spelled = match parts {
            "" => default,
            parts => transport::Transport::parse(parts, &default)?,
        };
        Ok(Self {
            label: text.to_owned(),
            rto: spelled.rto.parse().map_err(|error| wrong(&error))?,
            congestion: spelled.congestion.parse().map_err(|error| wrong(&error))?,
            loss: spelled.loss.parse().map_err(|error| wrong(&error))?,
            recovery,
        })
    }
}

impl DemoArgs {
    /// The transports to compare, the first against the others.
    pub(crate) fn transports(&self) -> Vec<Transport> {
        if !self.transports.is_empty() {
            return self.transports.clone();
        }
        let others = OTHERS.into_iter().filter_map(|text| Transport::read(text).ok());
        let short = |it: Transport| Transport { label: it.label.replace(",rto=rfc6298", ""), ..it };
        others.map(short).chain([Transport::of_fetch()]).collect()
    }
}
