//! The command line: all subcommands under one name.
use crate::error::EXIT_CODES;
use crate::{
    ctl, demo, emulate, explain, fetch, forward, generate, key, link, ping, replay, rto, serve,
    sim, study,
};
use clap::{ColorChoice, Parser, Subcommand};

/// Fetch and serve named content over NDN networks: fast, checked, resumable.
///
/// Without any set-up, in two terminals:
///
///   recoup serve movie.mp4 --name /movie
///   recoup fetch /movie -o copy.mp4
///
/// Beside a forwarder (NFD, ndnd) the same commands use the forwarder.
/// `recoup demo` shows in one command what adaptive timers are worth.
#[derive(Debug, Parser)]
#[command(name = "recoup", version, after_help = EXIT_CODES, color = ColorChoice::Auto)]
#[command(verbatim_doc_comment, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// End when the process with this number, which started this one, ends.
    #[arg(long, global = true, hide = true, value_name = "PID")]
    pub end_with: Option<u32>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    // Described where their options are.
    Fetch(Box<fetch::FetchArgs>),
    Serve(serve::ServeArgs),
    Key(key::KeyArgs),
    Ping(ping::PingArgs),
    Forward(forward::ForwardArgs),
    Ctl(Box<ctl::CtlArgs>),
    Link(Box<link::LinkArgs>),
    Replay(replay::ReplayArgs),
    Demo(demo::DemoArgs),
    Sim(sim::SimArgs),
    Explain(explain::ExplainArgs),
    Emulate(emulate::EmulateArgs),
    Study(study::StudyArgs),
    Rto(rto::RtoArgs),
    #[command(hide = true)]
    Generate(generate::GenerateArgs),
    #[command(hide = true)]
    Guard(emulate::guard::GuardArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Splits a line as a shell does: at spaces outside of quotation marks, up to a pipe.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                '|' if !quoted => break,
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_example_in_the_help_is_a_right_command_line() {
        let mut cli = Cli::command();
        let mut helps = vec![cli.render_long_help().to_string()];
        for one in cli.get_subcommands_mut() {
            helps.push(one.render_long_help().to_string());
        }
        let helps: Vec<_> = helps.iter().map(|help| help.replace(" \\\n", " ")).collect();
        let lines = helps.iter().flat_map(|help| help.lines());
        let starts = ["recoup ", "tar c src | recoup "];
        let examples: Vec<_> = lines
            .map(str::trim)
            .filter(|line| starts.iter().any(|start| line.starts_with(start)))
            .filter_map(|line| line.find("recoup ").map(|at| words(&line[at..])))
            .collect();
        assert!(examples.len() > 20, "{examples:?}");
        for example in examples {
            if let Err(error) = Cli::try_parse_from(&example) {
                panic!("{example:?}: {error}");
            }
        }
    }

    #[test]
    fn no_example_is_wrapped_where_a_line_of_help_ends() {
        fn look(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(look);
        }
        look(&Cli::command());
    }

    #[test]
    fn every_exit_code_stands_in_the_help() {
        use crate::error::Exit;
        let all = [
            Exit::Other,
            Exit::Usage,
            Exit::NotFound,
            Exit::Local,
            Exit::Verification,
            Exit::Unreachable,
            Exit::TimedOut,
            Exit::Interrupted,
            Exit::Terminated,
        ];
        for exit in all {
            assert!(EXIT_CODES.contains(&format!("{} ", exit as u8)), "{exit:?}");
        }
    }
}
