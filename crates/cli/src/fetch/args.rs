//! The options of `recoup fetch`.
use crate::error::{EXIT_CODES, Failure};
use crate::value::SegmentRange;
use clap::{ArgAction, Args};
use recoup::{Earlier, FetchOptions, Verify};
use recoup_forwarder::face::Recovery;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::spec::Value;
use recoup_transport::unit;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  recoup fetch /home/movie.mp4
      on a terminal into the file movie.mp4
  recoup fetch /movie -o movie.mp4
      from the forwarder of this machine, or from `recoup serve` without one
  recoup fetch /movie -o movie.mp4 --resume
      resume an interrupted download
  recoup fetch /movie --face udp://192.0.2.7 -o movie.mp4
      straight from a server, without a forwarder
  recoup fetch /log --range 0..100 | less
      the first 100 segments, in order, to a pipe
  recoup fetch /movie -o movie.mp4 --verify key=publisher.cert
      accept nothing that this key did not sign
  recoup fetch /site/movie -o movie.mp4 --trust root.cert --schema policy.tlv
      accept what the trust schema allows, and fetch the certificates for it
  recoup fetch /log -o log --congestion 'aimd(beta=0.7)' --rto 'jacobson(k=8)' -s figures
      choose the algorithms and keep window, RTT and segment tables in ./figures
  recoup fetch /movie -o movie.mp4 --trace movie.pftrace
      see segments, window and RTT over time, in https://ui.perfetto.dev
  recoup fetch /photos -r -o photos
      a whole folder; the same command again fetches what has changed
  recoup fetch /movie /log -o downloads --limit-rate 2M
      two names into a folder, at 2 MiB a second
";

/// Fetch named content into a file, a folder or a pipe
///
/// Discovers the newest version and the length of the content. Fetches its segments with a congestion window and an
/// adaptive retransmission timer, verifies every segment and writes it at its offset in the file. After an
/// interruption the partial file stays in .recoup-UID beside FILE; --resume continues it.
#[derive(Clone, Debug, Default, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub struct FetchArgs {
    /// Names of the content, such as /movie or ndn:/movie
    ///
    /// Several are fetched in turn. A name with a version, such as /movie/v=1690000000000, means that version.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<Name>,

    /// The name that is fetched; one of `names`.
    #[arg(skip)]
    pub name: Name,

    /// Write to FILE, or to a folder; `-`: standard output
    ///
    /// A folder with -r or several names. By default: to standard output in order; on a terminal, to a file (or folder) named
    /// by the last component of NAME, with .1, .2 and so on if it exists.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Resume an interrupted download; keep what is complete
    ///
    /// Complete is an unchanged file of the latest version.
    #[arg(long)]
    pub resume: bool,

    /// Begin anew, and replace finished files
    ///
    /// An interrupted download is discarded.
    #[arg(long, conflicts_with = "resume")]
    pub restart: bool,

    /// Fetch what has changed in a folder, recursively
    ///
    /// A file stays if it is unchanged since it was fetched, and its version is the producer's latest.
    #[arg(short, long, conflicts_with_all = ["range", "newer_than"])]
    pub recursive: bool,

    /// Concurrent files of a folder; by default 8, or 1 with -s, --trace or -vv
    #[arg(
        short,
        long,
        hide_short_help = true,
        value_name = "N",
        requires = "recursive",
        conflicts_with_all = ["statistics", "trace"],
        value_parser = clap::value_parser!(u8).range(1..)
    )]
    pub jobs: Option<u8>,

    /// Only these segments: 10..20, 10..=19, 10.. or ..20
    #[arg(long, value_name = "RANGE")]
    pub range: Option<SegmentRange>,

    /// Options of the fetch loop.
    #[command(flatten)]
    pub options: FetchOptions,

    /// How content is verified.
    #[command(flatten)]
    pub trust: TrustArgs,

    /// Reach the network by this face
    ///
    /// udp://host[:port], tcp://host[:port], unix:///path or ws://host:port. Without it: the
    /// environment variable NDN_CLIENT_TRANSPORT, client.conf, the forwarder's socket on this machine;
    /// where there is no forwarder, the `recoup serve` on this machine that has NAME (UDP ports 6363 to
    /// 6378 of 127.0.0.1).
    #[arg(long, value_name = "URI", help_heading = "Network")]
    pub face: Option<FaceUri>,

    /// Link recovery to the next node: auto (if it supports it; UDP only), off, wldr or acked, with parameters, such as wldr(hold=5ms)
    #[arg(
        long,
        value_name = "SPEC",
        default_value = "auto",
        hide_short_help = true,
        help_heading = "Network"
    )]
    pub recovery: Recovery,

    /// Initial window, in segments
    #[arg(long, value_name = "SEGMENTS", hide_short_help = true, help_heading = "Algorithms", value_parser = window)]
    pub init_cwnd: Option<f64>,

    /// Initial slow-start threshold, in segments; not with recoup
    #[arg(long, value_name = "SEGMENTS", hide_short_help = true, help_heading = "Algorithms", value_parser = window)]
    pub init_ssthresh: Option<f64>,

    /// Reset the window to its initial value after a loss; not with recoup
    #[arg(long, hide_short_help = true, help_heading = "Algorithms")]
    pub reset_cwnd_to_init: bool,

    /// Reduce the window for every loss instead of once per round trip; not with recoup
    #[arg(long, hide_short_help = true, help_heading = "Algorithms")]
    pub no_cwa: bool,

    /// Shortest retransmission timeout
    #[arg(long, value_name = "TIME", hide_short_help = true, help_heading = "Algorithms", value_parser = unit::interval)]
    pub min_rto: Option<Duration>,

    /// Longest retransmission timeout
    #[arg(long, value_name = "TIME", hide_short_help = true, help_heading = "Algorithms", value_parser = unit::interval)]
    pub max_rto: Option<Duration>,

    /// Accept no more content than this, such as 500MB or 2GiB, of a folder in all
    ///
    /// Exit code 8 if there is more. Content from before (--resume) counts, and so do listings.
    #[arg(long, value_name = "BYTES", hide_short_help = true, help_heading = "Limits", value_parser = unit::bare_bytes)]
    pub max_size: Option<u64>,

    /// Most bytes per second, such as 500k or 2MB/s
    ///
    /// k, M and G are powers of 1024, as for curl; 2MB/s and 20Mbit/s are read, too. Fewer Interests are sent. Files of a folder share the limit.
    #[arg(long, value_name = "RATE", help_heading = "Limits", value_parser = unit::byte_limit)]
    pub limit_rate: Option<u64>,

    /// Give up if no answer at all comes within this time; by default 8s, or twice a longer --lifetime
    #[arg(
        long,
        value_name = "TIME",
        conflicts_with = "wait",
        hide_short_help = true,
        help_heading = "Limits",
        value_parser = unit::interval
    )]
    pub connect_timeout: Option<Duration>,

    /// Wait for an absent producer, at most TIME
    ///
    /// Without TIME as long as it takes; a restarting producer is waited for, too.
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100000h",
        conflicts_with_all = ["retries", "no_progress"],
        help_heading = "Limits",
        value_parser = unit::interval
    )]
    pub wait: Option<Duration>,

    /// Write window, RTT and segment tables (cwnd.tsv, rtt.tsv, segments.tsv) to folder DIR
    #[arg(
        short = 's',
        long = "statistics",
        value_name = "DIR",
        hide_short_help = true,
        help_heading = "Reports"
    )]
    pub statistics: Option<PathBuf>,

    /// Write a trace of the transfer for the Perfetto viewer, https://ui.perfetto.dev
    ///
    /// Segments, window, RTO and RTT over time, losses and their signs. For what the network does, see
    /// `recoup forward --trace` and `recoup sim --page`.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Reports")]
    pub trace: Vec<PathBuf>,

    /// Show window, RTT, goodput and losses since the start below the progress line
    ///
    /// On a terminal only. A full block is the largest value so far, a blank is zero.
    #[arg(long, conflicts_with = "quiet", hide_short_help = true, help_heading = "Reports")]
    pub live: bool,

    /// Print details; twice (-vv): every event
    #[arg(
        short,
        long,
        action = ArgAction::Count,
        conflicts_with = "quiet",
        help_heading = "Reports"
    )]
    pub verbose: u8,

    /// Print neither progress nor result
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// End with a JSON document
    ///
    /// On standard error if standard output has the content.
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// Trust anchors and a trust schema, in place of `--verify`.
#[derive(Clone, Debug, Default, Args)]
pub struct TrustArgs {
    /// Accept only content signed under this anchor
    ///
    /// May be given several times. A certificate file, or the name of a key in the key store. Missing certificates are fetched. Without --schema, a
    /// key may sign what lies below the name of its owner.
    #[arg(long, value_name = "CERT", conflicts_with = "verify", help_heading = "Verification")]
    trust: Vec<String>,

    /// Trust schema (Light VerSec) of keys and the names that they may sign; compiled, or as text
    #[arg(
        long,
        value_name = "FILE",
        requires = "trust",
        hide_short_help = true,
        help_heading = "Verification"
    )]
    schema: Option<String>,
}

impl TrustArgs {
    /// Takes the anchors over into the options of a fetch.
    pub fn settle(&self, options: &mut FetchOptions) {
        if !self.trust.is_empty() {
            let (anchors, schema) = (self.trust.clone(), self.schema.clone());
            options.verify = Verify::Trust { anchors, schema };
        }
    }
}

impl FetchArgs {
    /// Fetches `name` with the defaults of the command.
    pub fn new(name: Name) -> Self {
        Self { names: vec![name.clone()], name, recovery: Recovery::auto(), ..Self::default() }
    }

    /// Takes the options over that have shortcuts: trust anchors, parameters of algorithms, patience.
    ///
    /// # Errors
    /// An algorithm does not have a parameter, or its text gives it as well.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        self.trust.settle(&mut self.options);
        let window = [
            ("init-cwnd", self.init_cwnd.map(Value::Number)),
            ("init-ssthresh", self.init_ssthresh.map(Value::Number)),
            ("reset-to-init", self.reset_cwnd_to_init.then_some(Value::Boolean(true))),
            ("conservative", self.no_cwa.then_some(Value::Text("off"))),
        ];
        let timer = [
            ("min", self.min_rto.map(Value::Duration)),
            ("max", self.max_rto.map(Value::Duration)),
        ];
        let options = &mut self.options;
        let congestion = options.congestion.with(&given(window)).map_err(|error| {
            Failure::usage(format!("--congestion: {error}")).advise(
                "leave out --init-cwnd, --init-ssthresh, --reset-cwnd-to-init or --no-cwa, or take a window that has it, \
                 such as --congestion cubic",
            )
        })?;
        let rto = options.rto.with(&given(timer));
        let rto = rto.map_err(|error| Failure::usage(format!("--rto: {error}")))?;
        (options.congestion, options.rto) = (congestion, rto);
        if let Some(within) = self.wait {
            *options = std::mem::take(options).waiting(within);
        }
        Ok(())
    }

    /// Treatment of what an earlier download has left.
    pub fn earlier(&self) -> Earlier {
        match (self.resume, self.restart, self.recursive) {
            (true, ..) => Earlier::Resume,
            (_, true, _) => Earlier::Restart,
            (_, _, true) => Earlier::Mirror,
            _ => Earlier::Reject,
        }
    }

    /// A line for every event is wanted.
    pub fn traces(&self) -> bool {
        self.verbose > 1
    }

    /// Concurrent transfers of a folder. Events, tables and traces do not name their file: with any of them, files are
    /// fetched one after the other.
    pub fn jobs(&self) -> usize {
        let watched = self.traces() || self.statistics.is_some() || !self.trace.is_empty();
        self.jobs.map_or(if watched { 1 } else { recoup::folder::DEFAULT_JOBS }, usize::from)
    }
}

/// The parameters that are given.
fn given<const N: usize>(
    parameters: [(&'static str, Option<Value<'static>>); N],
) -> Vec<(&'static str, Value<'static>)> {
    parameters.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn window(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(segments) if segments >= 1.0 => Ok(segments),
        _ => Err("write a number of segments, at least 1".into()),
    }
}
