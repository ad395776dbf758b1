//! The options of `recoup arena`.
use crate::error::EXIT_CODES;
use clap::{Args, ValueEnum};
use recoup_lab::scenario::Seeds;
use recoup_studies::arena::random::{KINDS, Kind};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// More random networks than that are a mistake.
const MOST_NETWORKS: u64 = 10_000;

const EXAMPLES: &str = "\
Examples:
  recoup arena --list
      list the cases with their ideal times; mark those that can run on sockets
  recoup arena
      the default transport and CUBIC on every case; results go to ./arena-results
  recoup arena plain 'loss-*' sharing --transport newreno --transport 'cubic,loss=smart'
      two transports on one case, all cases of a name, and all of a situation
  recoup arena --transport 'congestion=fixed(window=64),rto=reconsidered(min=adaptive)' --seeds 1..3
      the parts of a transport as `recoup fetch` takes them; parts left out are its defaults
  recoup arena --random policers=1..60 --transport newreno --out random
      sixty random networks, the same on each machine: tune on these, check on 61..120
  recoup arena --cases ./mine my-case
      cases of your own: a scenario file each, with a table [arena]
  recoup arena loss-1 --backend sockets
      the case on processes of this machine, in real time
  recoup arena --json | jq '.transports[] | {transport, mean: .completion.geometric_mean}'
";

const SCORES: &str = "\
Scores: time over the ideal time (1 is the best possible), 95th percentile of the queueing delay,
retransmissions and spurious ones per segment; on a shared link: utilisation, the share beside
the rivals, Jain's index, time to converge. All are means over seeds with 95 % intervals; over cases
there is the geometric mean and the worst. docs/studies.md has the formulas.";

/// Judge transports on the same cases: times, queues, fairness
///
/// A case is a scenario with an ideal: the shortest possible completion time of its path, or a fair share
/// of its link. Each transport (congestion control, loss detector, timer) runs on each case with each
/// seed. Results are kept in a folder, from which a repeated command resumes.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{SCORES}\n\n{EXIT_CODES}"))]
pub(crate) struct ArenaArgs {
    /// Cases: names, patterns such as 'loss-*', or situations such as sharing; by default all
    #[arg(value_name = "CASE")]
    pub wanted: Vec<String>,

    /// A transport, such as newreno or 'congestion=cubic,loss=smart,rto=rfc6298'; may be repeated
    #[arg(long = "transport", value_name = "SPEC", help_heading = "Transports")]
    pub transports: Vec<String>,

    /// Add the cases of a folder: each .toml file in it
    #[arg(long, value_name = "DIR", help_heading = "Cases")]
    pub cases: Option<PathBuf>,

    /// Random networks of a kind, such as own or own=1..60 (by default 1..20); may be repeated
    ///
    /// Other cases run only if they are named. Prints the geometric mean, the 95th percentile and the worst with its file.
    #[arg(long, value_name = "KIND[=NUMBERS]", help_heading = "Cases")]
    pub random: Vec<RandomNetworks>,

    /// List the cases, and run nothing
    #[arg(long, help_heading = "Cases")]
    pub list: bool,

    /// Seeds instead of the cases' own: 7, 1..20 (1 to 20) or 1..5,9
    #[arg(long, value_name = "SEEDS", help_heading = "Running")]
    pub seeds: Option<Seeds>,

    /// Run the cases in simulation or on sockets
    ///
    /// On sockets, cases that cannot run in real time are left out unless they are named. Other load on the machine
    /// distorts results in milliseconds.
    #[arg(long, value_name = "BACKEND", default_value_t, value_enum, help_heading = "Running")]
    pub backend: Backend,

    /// Concurrent runs; by default one for each core, or one on sockets
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    pub jobs: Option<NonZeroUsize>,

    /// Folder for the results
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = "arena-results",
        help_heading = "Results"
    )]
    pub out: PathBuf,

    /// Remove earlier results of these cases in the folder
    #[arg(long, help_heading = "Results")]
    pub fresh: bool,

    /// Print neither progress nor table
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// Random networks that take part.
#[derive(Clone, Debug)]
pub(crate) struct RandomNetworks {
    /// Their kind.
    pub kind: Kind,
    /// Their numbers.
    pub numbers: Seeds,
}

impl FromStr for RandomNetworks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, numbers) = text.split_once('=').unwrap_or((text, "1..20"));
        let kind = Kind::named(word).ok_or_else(|| {
            let all = KINDS.map(|kind| format!("{} ({})", kind.word, kind.about));
            format!("there is no kind `{word}`; there are: {}", all.join("; "))
        })?;
        let numbers: Seeds = numbers.parse()?;
        match numbers.count() > MOST_NETWORKS {
            true => Err(format!("{MOST_NETWORKS} networks at most")),
            false => Ok(Self { kind, numbers }),
        }
    }
}

/// Execution of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// In simulated time
    #[default]
    Simulated,
    /// As processes of this machine, in real time
    Sockets,
}

impl Backend {
    /// Its word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Sockets => "sockets",
        }
    }
}
