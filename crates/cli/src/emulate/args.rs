//! The options of `recoup emulate`.
use crate::error::EXIT_CODES;
use clap::Args;
use recoup_sim::scenario::Seeds;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup emulate line.toml
      run a scenario on processes and in simulation; its results go to ./line-emulated
  recoup emulate line.toml --seeds 1..3 --within 2
      three runs; exit code 1 if mean goodputs differ by more than 2 %
  recoup emulate line.toml --set link.delay=50ms --json
      change a field; end with a document
";

/// Run a scenario on real processes of this machine, beside its simulation
///
/// Each node becomes a `recoup forward`, each link a `recoup link`, each application a `recoup fetch` or
/// `recoup serve`, on free ports of the loopback interface, in real time. Then the same scenario is
/// simulated, and both are printed beside each other. Exit code 1 says that they disagree.
///
/// A scenario may have links with all properties but marking, nodes with caches, strategies and
/// suppression, and applications of the kinds fetch and serve, of which Interests cross each link in one
/// direction. Packets that are longer in the scenario than `recoup serve` makes them count as long there.
/// A machine that is busy with other things distorts what happens in milliseconds.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct EmulateArgs {
    /// The scenario, a TOML file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Give a field another value: a dotted path, such as link.delay=50ms
    #[arg(long = "set", value_name = "PATH=VALUE", help_heading = "Scenario")]
    pub settings: Vec<String>,

    /// Seeds instead of the file's, one run each: 7, 1..3 (1 to 3) or 1..5,9
    #[arg(long, value_name = "SEEDS", help_heading = "Scenario")]
    pub seeds: Option<Seeds>,

    /// Per cent by which mean goodputs may differ
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent, help_heading = "Scenario")]
    pub within: f64,

    /// Runs at a time; one on processes unless told otherwise
    #[arg(short, long, value_name = "N", help_heading = "Running")]
    pub jobs: Option<NonZeroUsize>,

    /// Folder for the results; FILE-emulated here unless told otherwise
    #[arg(short, long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,

    /// Remove results that are in the folder, and begin anew
    #[arg(long, help_heading = "Results")]
    pub fresh: bool,

    /// Print neither progress nor table
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// End with a JSON document instead of a table
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent),
        _ => Err("write per cent, such as 5".into()),
    }
}
