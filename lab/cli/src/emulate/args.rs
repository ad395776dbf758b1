//! The options of `recoup emulate`.
use crate::error::{EXIT_CODES, Failure};
use clap::{ArgAction, Args};
use recoup_lab::scenario::Seeds;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  recoup emulate net.conf
      run a network until Ctrl-C; print the sockets of its nodes
  recoup emulate net.conf --beside c 'recoup serve film.mp4 --name /c/film' \\
    --on a 'recoup fetch /c/film -o copy.mp4'
      fetch a file from node c to node a
  recoup emulate net.conf --recovery wldr --set links.a-b.loss='bernoulli(p=0.05)' \\
    --beside b 'recoup ping --serve /b' --on a 'recoup ping /b -c 10'
      losses are repaired hop by hop, and one link loses more than in the file
  recoup emulate net.conf -- ./experiment.sh
      a script finds the sockets of all nodes in $RECOUP_NODES, as NODE.sock
  recoup emulate line.toml
      run a scenario on processes and in simulation; its results go to ./line-emulated
  recoup emulate line.toml --seeds 1..3 --within 2
      three runs; exit code 1 if mean goodputs differ by more than 2 %
";

/// Run a network on real processes of this machine
///
/// Each node becomes a `recoup forward`, each link a `recoup link`, on free ports of the loopback interface, in real
/// time; no privileges are needed. The file is a topology or a scenario.
///
/// A topology (Mini-NDN's .conf; also ndnSIM's annotated files) runs until the commands given with --on and after --
/// have ended, or else until Ctrl-C. Each node has routes to each other node y for names below /y. Commands find the
/// forwarder of their node (NDN_CLIENT_TRANSPORT) and this program (PATH). The exit code is that of the first command
/// that fails.
///
/// A scenario runs with its applications, each a `recoup fetch` or `recoup serve`. Then it is simulated, and both are
/// printed side by side. Exit code 1 means that they disagree. Links have all properties but marking; nodes have
/// caches, strategies and suppression; applications are of the kinds fetch and serve. If packets of the scenario are
/// longer than those of `recoup serve`, links charge the difference.
///
/// Other load on the machine distorts results in milliseconds.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub(crate) struct EmulateArgs {
    /// The topology or scenario; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Set a field: a dotted path, such as link.delay=50ms
    ///
    /// A topology has the sections [link], [links.NAME], [node], [nodes.NAME] and [routing] of a scenario.
    #[arg(long = "set", value_name = "PATH=VALUE", help_heading = "Network")]
    pub settings: Vec<String>,

    /// Link recovery of all links: wldr or acked; as --set link.recovery=…
    #[arg(long, value_name = "RECOVERY", help_heading = "Network")]
    pub recovery: Option<String>,

    /// Seeds instead of the file's, one run each: 7, 1..3 (1 to 3) or 1..5,9; a topology takes the first
    #[arg(long, value_name = "SEEDS", help_heading = "Network")]
    pub seeds: Option<Seeds>,

    /// Run a command on a node of a topology; several run in sequence, until one fails
    #[arg(long, value_names = ["NODE", "COMMAND"], num_args = 2, action = ArgAction::Append, help_heading = "Topology")]
    pub on: Vec<String>,

    /// Run a command on a node in the background, until the other commands have ended
    ///
    /// The others start when it has registered a prefix, or after five seconds.
    #[arg(long, value_names = ["NODE", "COMMAND"], num_args = 2, action = ArgAction::Append, help_heading = "Topology")]
    pub beside: Vec<String>,

    /// Give each node of a topology a status page
    #[arg(long, help_heading = "Topology")]
    pub pages: bool,

    /// Command that finds all nodes in $RECOUP_NODES; it runs after those of --on
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    /// Tolerated difference of mean goodputs, in per cent; 5 by default
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Scenario")]
    pub within: Option<f64>,

    /// Concurrent runs; by default one on processes
    #[arg(short, long, value_name = "N", help_heading = "Scenario")]
    pub jobs: Option<NonZeroUsize>,

    /// Folder for the results; by default FILE-emulated in this folder
    #[arg(short, long, value_name = "DIR", help_heading = "Scenario")]
    pub out: Option<PathBuf>,

    /// Remove earlier results in the folder
    #[arg(long, help_heading = "Scenario")]
    pub fresh: bool,

    /// Print neither progress nor tables
    #[arg(short, long, help_heading = "Reports")]
    pub quiet: bool,

    /// Print JSON documents: one at the end, and for a topology one line at the start, too
    #[arg(long, help_heading = "Reports")]
    pub json: bool,
}

impl EmulateArgs {
    /// Settings of the file, shorthands first.
    pub(super) fn all_settings(&self) -> Vec<String> {
        let recovery = self.recovery.iter().map(|recovery| format!("link.recovery={recovery}"));
        recovery.chain(self.settings.iter().cloned()).collect()
    }

    /// Rejects options without a meaning for the kind of file.
    pub(super) fn check(&self, is_topology: bool) -> Result<(), Failure> {
        let of_topologies = [
            ("--on", !self.on.is_empty()),
            ("--beside", !self.beside.is_empty()),
            ("--pages", self.pages),
            ("-- COMMAND", !self.command.is_empty()),
        ];
        let of_scenarios = [
            ("--within", self.within.is_some()),
            ("--jobs", self.jobs.is_some()),
            ("--out", self.out.is_some()),
            ("--fresh", self.fresh),
        ];
        let (wrong, kind, other) = match is_topology {
            true => (of_scenarios, "a topology", "a scenario"),
            false => (of_topologies, "a scenario", "a topology"),
        };
        match wrong.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                let message = format!("{option} is for {other}; this is {kind}");
                Err(Failure::usage(message))
            }
            None => Ok(()),
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent),
        _ => Err("write per cent, such as 5".into()),
    }
}
