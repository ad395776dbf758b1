//! The command line of the laboratory.
use crate::{arena, calibrate, emulate, explain, process, rto, sim, study};
use clap::{ColorChoice, Parser, Subcommand};
use recoup_cli::error::EXIT_CODES;
use recoup_cli::generate::GenerateArgs;

/// Simulate networks, judge transports and reproduce studies.
///
///   recoup sim line.toml
///   recoup study check yang2016
///
/// `recoup` starts this program; the commands are those of `recoup-lab` as well.
#[derive(Debug, Parser)]
#[command(name = "recoup-lab", bin_name = "recoup", version, after_long_help = EXIT_CODES)]
#[command(color = ColorChoice::Auto, verbatim_doc_comment, propagate_version = true)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,

    /// End when the parent process, with this number, ends.
    #[arg(long, global = true, hide = true, value_name = "PID")]
    pub end_with: Option<u32>,
}

/// The subcommands with their descriptions. Each module defines its options, and only those of the command that runs
/// are built.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Run a scenario: the nodes of a network, in simulated time
    Sim(sim::SimArgs),
    /// Explain why a segment was late: its timeline, and a verdict
    Explain(explain::ExplainArgs),
    /// Run a network on real processes of this machine
    Emulate(emulate::EmulateArgs),
    /// Judge transports on the same cases: times, queues, fairness
    Arena(Box<arena::ArenaArgs>),
    /// Reproduce studies: experiments, claims, and a verdict on each
    Study(study::StudyArgs),
    /// Search for parameters that a paper leaves open
    Calibrate(calibrate::CalibrateArgs),
    /// Evaluate retransmission timers on recorded round trips
    Rto(rto::RtoArgs),
    /// Write completions, manual pages and JSON Schemas of both programs
    #[command(hide = true)]
    Generate(GenerateArgs),
    /// Run one application of a network of processes
    #[command(hide = true)]
    Process(process::ProcessArgs),
    /// Run a command that ends with the process that started it
    #[command(hide = true)]
    Guard(emulate::guard::GuardArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use recoup_cli::laboratory::COMMANDS;

    #[test]
    fn product_lists_these_commands() {
        let cli = Cli::command();
        let shown = cli.get_subcommands().filter(|one| !one.is_hide_set());
        let shown = shown.map(|one| {
            (
                one.get_name().to_owned(),
                one.get_about().map(ToString::to_string).unwrap_or_default(),
            )
        });
        let listed = COMMANDS.map(|(name, about)| (name.to_owned(), about.to_owned()));
        assert_eq!(shown.collect::<Vec<_>>(), listed);
    }
}
