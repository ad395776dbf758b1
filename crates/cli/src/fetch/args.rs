//! The options of `recoup fetch`.
use crate::error::EXIT_CODES;
use crate::value::{self, SegmentRange};
use clap::{ArgAction, Args, ValueEnum};
use recoup::Verify;
use recoup_forwarder::face::Recovery;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_transport::fetch::defaults;
use recoup_transport::rto::Sampling;
use recoup_transport::unit;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Files of a folder that are fetched at a time; about as many connections as browsers open to a server.
const DEFAULT_JOBS: usize = 8;

const EXAMPLES: &str = "\
Examples:
  recoup fetch /home/movie.mp4
      on a terminal into the file movie.mp4
  recoup fetch /movie -o movie.mp4
      from the forwarder of this machine, or from `recoup serve` when there is none
  recoup fetch /movie -o movie.mp4 --resume
      go on where an interrupted download stopped
  recoup fetch /movie --face udp://192.0.2.7 -o movie.mp4
      straight from a server, without a forwarder
  recoup fetch /log --range 0..100 | less
      the first 100 segments, in order, to a pipe
  recoup fetch /movie -o movie.mp4 --verify key=publisher.cert
      accept nothing that this key did not sign
  recoup fetch /log -o log --congestion 'aimd(beta=0.7)' --rto 'jacobson(k=8)' -s figures
      choose the algorithms and keep window, RTT and segment tables in ./figures
  recoup fetch /photos -r -o photos
      a whole folder
";

/// Fetch named content into a file, a folder or a pipe
///
/// Discovers the newest version and the length of the content, fetches its segments with a congestion
/// window and an adaptive retransmission timer, checks every segment and writes it at its place in the
/// file. After an interruption the partial file is kept in .recoup-UID beside FILE; --resume goes on with it.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct FetchArgs {
    /// Name of the content, such as /movie, /movie/v=1690000000000 or ndn:/movie
    #[arg(value_name = "NAME")]
    pub name: Name,

    /// Write to FILE (or into folder FILE with -r); `-` for standard output
    ///
    /// Without it: to standard output in order; if that is a terminal, to a file (or folder) named by the last component
    /// of NAME, with .1, .2 and so on where there is one already.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Go on where an interrupted download of FILE stopped
    #[arg(long)]
    pub resume: bool,

    /// Fetch a folder that `recoup serve` serves, with everything in it
    #[arg(short, long, conflicts_with_all = ["range"])]
    pub recursive: bool,

    /// Files of a folder that are fetched at a time: 8, or 1 with -s or -vv, unless given
    #[arg(
        short,
        long,
        value_name = "N",
        requires = "recursive",
        conflicts_with = "statistics",
        value_parser = clap::value_parser!(u8).range(1..)
    )]
    pub jobs: Option<u8>,

    /// Only these segments: 10..20 (10 to 19), 10..=19, 10.. or ..20
    #[arg(long, value_name = "RANGE")]
    pub range: Option<SegmentRange>,

    /// How to verify content
    ///
    /// auto: check a digest where there is one; report a signature by an unknown key as not verified.
    ///
    /// digest: accept nothing but content with a correct digest.
    ///
    /// key=FILE: accept nothing that this key did not sign (PEM, certificate, SafeBag, or the name of a
    /// key in the key store).
    ///
    /// none: accept everything.
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = "Verification")]
    pub verify: Verify,

    /// Reach the network by this face instead of the configured forwarder
    ///
    /// udp://host[:port], tcp://host[:port], unix:///path or ws://host:port. Without it: the
    /// environment variable NDN_CLIENT_TRANSPORT, client.conf, the forwarder's socket on this machine;
    /// where there is no forwarder, the `recoup serve` on this machine that has NAME (UDP ports 6363 to
    /// 6378 of 127.0.0.1).
    #[arg(long, value_name = "URI", help_heading = "Network")]
    pub face: Option<FaceUri>,

    /// Send again what the link to the next node loses: auto (if that node does so, too; over UDP only), off, wldr or
    /// acked, with parameters, such as wldr(hold=5ms)
    #[arg(long, value_name = "SPEC", default_value = "auto", help_heading = "Network")]
    pub recovery: Recovery,

    /// Congestion control: recoup, cubic, newreno, compound, aimd, raaqm, fixed, or a study's (yang2016, udugama2013,
    /// nikzad2022), with parameters, such as fixed(window=16)
    ///
    /// With recoup, a standing queue, a congestion mark or a loss beside a queue reduces the window, and a random loss
    /// does not: it fills lossy and long paths and keeps queues short. It paces Interests.
    #[arg(long, value_name = "SPEC", default_value = defaults::CONGESTION, help_heading = "Algorithms")]
    pub congestion: String,

    /// Retransmission timer: jacobson, reconsidered, experts, constant, …, with parameters, such as constant(rto=4s)
    #[arg(long, value_name = "SPEC", default_value = defaults::RTO, help_heading = "Algorithms")]
    pub rto: String,

    /// Rule that declares a segment lost before its timer expires: rack, time-threshold, out-of-order, pre-recovery, timeout (none),
    /// or simple1, simple2, simple3, smart, with parameters, such as out-of-order(frt=3)
    ///
    /// rack declares a segment lost once later ones have arrived and 9/8 of the longest recent round trip is over,
    /// because caches and several producers change the order; a tail-loss probe ends a silence before the timer does.
    #[arg(long, value_name = "SPEC", default_value = defaults::LOSS, help_heading = "Algorithms")]
    pub loss: String,

    /// Which segments give round-trip time samples: per-rtt, every or rfc7323
    #[arg(long, value_name = "WHICH", default_value = defaults::SAMPLING, help_heading = "Algorithms")]
    pub sampling: Sampling,

    /// Window at the start, in segments
    #[arg(long, value_name = "SEGMENTS", help_heading = "Algorithms", value_parser = window)]
    pub init_cwnd: Option<f64>,

    /// Window, in segments, at which slow start ends the first time; not with recoup
    #[arg(long, value_name = "SEGMENTS", help_heading = "Algorithms", value_parser = window)]
    pub init_ssthresh: Option<f64>,

    /// After a loss go back to the window of the start; not with recoup
    #[arg(long, help_heading = "Algorithms")]
    pub reset_cwnd_to_init: bool,

    /// Reduce the window for every loss instead of once per flight; not with recoup
    #[arg(long, help_heading = "Algorithms")]
    pub no_cwa: bool,

    /// Do not reduce the window for congestion marks
    #[arg(long, help_heading = "Algorithms")]
    pub ignore_marks: bool,

    /// Send a number with each Interest by which routers that share links fairly tell this fetch from others
    #[arg(long, help_heading = "Algorithms")]
    pub flow_nonce: bool,

    /// Shortest retransmission timeout
    #[arg(long, value_name = "TIME", help_heading = "Algorithms", value_parser = unit::interval)]
    pub min_rto: Option<Duration>,

    /// Longest retransmission timeout
    #[arg(long, value_name = "TIME", help_heading = "Algorithms", value_parser = unit::interval)]
    pub max_rto: Option<Duration>,

    /// How often expired timers are looked for; 0 means exactly when they expire
    #[arg(long, value_name = "TIME", default_value = "10ms", help_heading = "Algorithms", value_parser = unit::duration)]
    pub rto_check: Duration,

    /// Do not use Data that comes after its timeout, before the segment was asked for again
    #[arg(long, help_heading = "Algorithms")]
    pub cancel_on_timeout: bool,

    /// How often one segment may be asked for again: a number, or unlimited
    #[arg(
        long,
        value_name = "N",
        default_value = "15",
        help_heading = "Limits",
        allow_negative_numbers = true
    )]
    pub retries: Retries,

    /// InterestLifetime: how long forwarders remember an Interest
    #[arg(long, value_name = "TIME", default_value = "4s", help_heading = "Limits", value_parser = unit::milliseconds)]
    pub lifetime: Duration,

    /// Give up when nothing arrived for this long; time in which a pipe's reader rests does not count
    #[arg(long, value_name = "TIME", default_value = "60s", help_heading = "Limits", value_parser = unit::interval)]
    pub no_progress_timeout: Duration,

    /// Accept no more content than this, such as 500MB or 2GiB, of a folder in all; exit code 8 if there is more
    ///
    /// Content from before (--resume) counts, and so do listings.
    #[arg(long, value_name = "BYTES", help_heading = "Limits", value_parser = unit::bare_bytes)]
    pub max_size: Option<u64>,

    /// Wait for a producer that is not there yet or that restarts, as long as it takes, or with =TIME for that time at most
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100000h",
        conflicts_with_all = ["retries", "no_progress_timeout"],
        help_heading = "Limits",
        value_parser = unit::interval
    )]
    pub wait: Option<Duration>,

    /// How version and segment are written, where neither NAME nor its discovery shows it
    #[arg(long, value_name = "WHICH", default_value = "typed", help_heading = "Naming")]
    pub convention: ConventionArg,

    /// NAME is complete: append segment numbers and discover no version
    #[arg(long, help_heading = "Naming")]
    pub no_discovery: bool,

    /// Fetch only a version newer than VERSION, such as 1795181568575000 or v=7; exit code 8 if there is none
    ///
    /// An old version, however well signed, can be replayed by any cache. One that is not newer is asked for again, within
    /// --retries.
    #[arg(
        long,
        value_name = "VERSION",
        conflicts_with_all = ["recursive", "no_discovery"],
        help_heading = "Naming",
        value_parser = value::version
    )]
    pub newer_than: Option<u64>,

    /// Ask for fresh Data only (MustBeFresh on every Interest)
    #[arg(short, long, help_heading = "Naming")]
    pub fresh: bool,

    /// Keep window, RTT and segment tables (cwnd.tsv, rtt.tsv, segments.tsv) in folder DIR
    #[arg(short = 's', long = "statistics", value_name = "DIR", help_heading = "Reports")]
    pub statistics: Option<PathBuf>,

    /// Print details before the line of result; twice (-vv): a line for every event, too
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

    /// End with a JSON document instead of the line of result (on standard error when content takes standard output)
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

impl FetchArgs {
    /// A line for every event is wanted.
    pub(crate) fn traces(&self) -> bool {
        self.verbose > 1
    }

    /// Files of a folder that are fetched at a time. Events and tables do not say of which file they are: where they are asked
    /// for, files come one after the other.
    pub(crate) fn jobs(&self) -> usize {
        let watched = self.traces() || self.statistics.is_some();
        self.jobs.map_or(if watched { 1 } else { DEFAULT_JOBS }, usize::from)
    }
}

/// How often one segment may be asked for again; `None` means without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retries(pub Option<u32>);

impl FromStr for Retries {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unlimited" => Ok(Self(None)),
            _ => match text.parse() {
                Ok(times) => Ok(Self(Some(times))),
                Err(_) => Err("write a number such as 15, or unlimited".into()),
            },
        }
    }
}

/// How version and segment are written in names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConventionArg {
    /// Typed components: /54=1/50=0 (all current software)
    Typed,
    /// Marker octets in generic components: /%FD%01/%00%00 (older software)
    Marker,
}

fn window(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(segments) if segments >= 1.0 => Ok(segments),
        _ => Err("write a number of segments, at least 1".into()),
    }
}

impl From<ConventionArg> for Convention {
    fn from(arg: ConventionArg) -> Self {
        match arg {
            ConventionArg::Typed => Self::Typed,
            ConventionArg::Marker => Self::Marker,
        }
    }
}
