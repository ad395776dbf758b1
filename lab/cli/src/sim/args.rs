//! The options of `recoup sim`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_lab::campaign::Share;
use recoup_lab::scenario::Seeds;
use recoup_lab::table::Format;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup sim line.toml
      run a scenario; its results go to ./line-results
  recoup sim line.toml --explain
      show what would run: nodes, links, routes, applications, points of the sweep; run nothing
  recoup sim line.toml --set link.delay=50ms --set applications.c1.congestion='aimd(beta=0.7)'
      change fields, also those that the file does not mention
  recoup sim line.toml --set fetch.rto.min=0ms --seeds 1..100 --out /tmp/no-floor
      change one parameter of an algorithm; a hundred seeds
  recoup sim line.toml --seeds 1..200
      go on: what is in ./line-results already is not run again
  recoup sim line.toml --shard 3/40
      make one fortieth of the runs, in a job array
  recoup sim line.toml --merge line-results-*-of-40
      put the results of the array together
  recoup sim line.toml --show 'c1.time_s,*.timeouts'
      choose the metrics of the table
  recoup sim line.toml --page line.html
      watch the first run in a browser: packets on links, queues, curves, timelines of segments
  recoup sim line.toml --json | jq '.points[].metrics[\"all.goodput_bps\"].mean'
";

/// Run a scenario: the nodes of a network, in simulated time
///
/// FILE describes nodes, links, applications, what happens when, and what is varied; docs/scenario.md explains every
/// key. Each point of its sweep is run with each seed, on all cores. The same file and seed always give the same
/// result. Prints the mean of each metric with its
/// 95 % confidence interval.
///
/// Results are kept in a folder: one row per run in runs.csv, a folder of tables for each record, the
/// scenario as it was run. The same command goes on where it stopped, whatever stopped it.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct SimArgs {
    /// The scenario, a TOML file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Give a field another value: a dotted path, such as link.delay=50ms
    ///
    /// A value is TOML, or else a string. One more step leads into an algorithm: fetch.rto.min=0ms sets
    /// the parameter `min` of the timer that `fetch.rto` names.
    #[arg(long = "set", value_name = "PATH=VALUE", help_heading = "Scenario")]
    pub settings: Vec<String>,

    /// Seeds instead of the file's: 7, 1..20 (1 to 20) or 1..5,9
    #[arg(long, value_name = "SEEDS", help_heading = "Scenario")]
    pub seeds: Option<Seeds>,

    /// Concurrent runs; by default one for each core
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    pub jobs: Option<NonZeroUsize>,

    /// Make only a share of the runs, such as 3/40, the third of forty: for job arrays
    ///
    /// Shards are independent. Each has a folder of its own, by default FILE-results-3-of-40; --merge joins them.
    #[arg(long, value_name = "N/COUNT", help_heading = "Running")]
    pub shard: Option<Share>,

    /// Take over the runs that are in these folders, and make those that are missing
    ///
    /// A run that is in two folders with different digests is an error.
    #[arg(long, value_name = "DIR", num_args = 1.., conflicts_with = "shard", help_heading = "Running")]
    pub merge: Vec<PathBuf>,

    /// Show what would run, and run nothing
    #[arg(long, help_heading = "Running")]
    pub explain: bool,

    /// Folder for the results; by default FILE-results in this folder
    #[arg(short, long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,

    /// Remove results that are in the folder, and begin anew
    #[arg(long, help_heading = "Results")]
    pub fresh: bool,

    /// Make the first run again and write a page in which one watches it: one HTML file, which needs no network
    ///
    /// `recoup explain RESULT --page FILE` does that for any run that is kept.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub page: Option<PathBuf>,

    /// Form of the tables
    #[arg(long, value_name = "FORM", default_value_t, value_enum, help_heading = "Results")]
    pub format: Format,

    /// Metrics of the printed table: names with commas, `*` for any characters
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Reports")]
    pub show: Vec<String>,

    /// Show window, RTT, goodput and losses of a run in progress below the bar
    ///
    /// On a terminal only. All consumers of the run are taken together; of several windows and round trips, one is shown.
    #[arg(long, conflicts_with = "quiet", help_heading = "Reports")]
    pub live: bool,

    /// Print neither progress nor table
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// End with a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}
