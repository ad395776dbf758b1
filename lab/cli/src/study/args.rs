//! The options of `recoup study`.
use crate::error::EXIT_CODES;
use clap::{Args, Subcommand, ValueEnum};
use recoup_studies::study::{self, Study};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup study list
  recoup study run yang2016
      run the paper's experiments, vary its open parameters; print a verdict on each claim
  recoup study run yang2016 --scale smoke
      a small version of all experiments, in seconds; too few seeds for verdicts
  recoup study run yang2016 --figure window
      only the runs for one figure
  recoup study run yang2016 --backend sockets --seeds 1
      the paper's experiments on real processes, one run each, beside the simulated ones
  recoup study check yang2016 --json
      for programs: a document, and the exit code
  recoup study report yang2016 --run --out docs/studies/yang2016
      a page of text with each comparison, and the paper's figures drawn from our runs
  recoup study verify yang2016 --kept docs/studies/yang2016
      20 runs of that result, drawn at random, once more
";

const CODES: &str = "\
`study check` exits with 0 if each gating claim holds, with 1 if one fails, with 2 if one is
undecided. Claims of class R are gating, unless they were used to infer a parameter of the paper.";

const VERIFY_CODES: &str = "\
`study verify` exits with 0 if each run is as kept, with 1 if a run differs or is not part of the
study any more, with 4 if the result was kept without digests.";

/// Reproduce studies: experiments, claims, and a verdict on each
///
/// A study runs the networks of its paper in simulated time, with the same nodes that run on sockets. Some studies also
/// run networks in real time as processes of this machine. Results are kept, by default below
/// $XDG_CACHE_HOME/recoup/studies. Kept runs are not repeated, unless the scenario or its execution has changed.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{CODES}\n\n{EXIT_CODES}"), arg_required_else_help = true)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(super) action: Action,
}

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// List the studies
    List,
    /// Run experiments, print a verdict on each claim
    Run(RunArgs),
    /// Run missing experiments, judge each claim, and exit with 0 if the study holds
    #[command(after_long_help = CODES)]
    Check(CheckArgs),
    /// Run missing experiments and write a page of text with claims, figures and assumptions
    Report(ReportArgs),
    /// Make randomly drawn runs of a kept result again, and compare their digests
    #[command(after_long_help = VERIFY_CODES)]
    Verify(VerifyArgs),
}

/// Scale of the runs, and the folder of their results.
#[derive(Debug, Args)]
pub(super) struct Wanted {
    /// Name of the study; `recoup study list` prints them
    #[arg(value_name = "KEY", value_parser = known)]
    pub key: String,

    /// Scale of the runs
    #[arg(long, value_name = "SCALE", default_value_t, value_enum, help_heading = "Running")]
    pub scale: Scale,

    /// Seeds of each experiment, from 1 to this (20, or 1..20); verdicts need 20
    #[arg(long, value_name = "N", value_parser = last_seed, help_heading = "Running")]
    pub seeds: Option<NonZeroU64>,

    /// Concurrent runs; by default one for each core, or two on sockets
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    pub jobs: Option<NonZeroUsize>,

    /// Remove results of earlier runs and begin anew
    #[arg(long, help_heading = "Running")]
    pub fresh: bool,

    /// Print no progress
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub wanted: Wanted,

    /// Run only the experiments for this figure
    #[arg(long, value_name = "ID", help_heading = "Running")]
    pub figure: Option<String>,

    /// Run in simulation or on sockets
    ///
    /// On sockets, --seeds is the number of runs of each point; simulated runs are shown beside them. Exit code 1 means
    /// that simulation and processes disagree at a decisive point.
    #[arg(long, value_name = "BACKEND", default_value_t, value_enum, help_heading = "Running")]
    pub backend: Backend,

    /// End with a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,

    /// Folder for the results, and for the figures as pictures
    #[arg(short, long, alias = "results", value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub wanted: Wanted,

    /// Folder of the results
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub results: Option<PathBuf>,

    /// End with a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    pub wanted: Wanted,

    /// Folder of the results
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub results: Option<PathBuf>,

    /// Make the runs that are missing; without it the command prints how many these are, and about how long they take
    #[arg(long, help_heading = "Running")]
    pub run: bool,

    /// Folder for the page, claims.md, and its pictures; by default KEY-report in this folder
    #[arg(short, long, value_name = "DIR", help_heading = "Reports")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Name of the study; `recoup study list` prints them
    #[arg(value_name = "KEY", value_parser = known)]
    pub key: String,

    /// Folder of the result, as `study report` writes it
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub kept: PathBuf,

    /// Runs to draw
    #[arg(long, value_name = "N", default_value = "20", help_heading = "Running")]
    pub runs: NonZeroUsize,

    /// Seed of the draw; by default a new one, which is printed
    #[arg(long, value_name = "SEED", help_heading = "Running")]
    pub draw: Option<u64>,

    /// Stop after so many seconds; at least one run is made
    #[arg(long, value_name = "N", help_heading = "Running")]
    pub seconds: Option<NonZeroU64>,

    /// Concurrent runs; by default one for each core
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    pub jobs: Option<NonZeroUsize>,

    /// End with a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

/// Where experiments are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    /// In simulated time
    #[default]
    Simulated,
    /// As processes of this machine, in real time
    Sockets,
}

/// Scale of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Scale {
    /// A small version of everything: seconds
    Smoke,
    /// The paper's experiments and what it leaves open, 20 seeds
    #[default]
    Check,
    /// A check in which the paper's experiments have the length and seeds that verdicts want: one to three hours more
    Verdict,
    /// The paper's experiments alone, at the paper's size
    Paper,
}

impl Scale {
    pub(super) fn word(self) -> &'static str {
        study::Scale::from(self).word()
    }
}

impl From<Scale> for study::Scale {
    fn from(scale: Scale) -> Self {
        match scale {
            Scale::Smoke => Self::Smoke,
            Scale::Check => Self::Check,
            Scale::Verdict => Self::Verdict,
            Scale::Paper => Self::Paper,
        }
    }
}

/// The study of that name.
pub(super) fn study(key: &str) -> Option<&'static Study> {
    recoup_studies::all().into_iter().find(|study| study.key() == key)
}

/// The last one of the seeds, which begin with 1.
fn last_seed(text: &str) -> Result<NonZeroU64, String> {
    let last = text.strip_prefix("1..").unwrap_or(text);
    last.parse().map_err(|_| "seeds of a study begin with 1: 20 or 1..20".to_owned())
}

fn known(key: &str) -> Result<String, String> {
    let keys: Vec<_> = recoup_studies::all().iter().map(|study| study.key()).collect();
    match keys.contains(&key) {
        true => Ok(key.to_owned()),
        false => Err(format!("there is no such study; there is {}", keys.join(", "))),
    }
}
