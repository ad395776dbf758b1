//! The command line: all subcommands under one name.
use crate::error::EXIT_CODES;
use crate::{
    ctl, demo, fetch, forward, gateway, generate, get, group, key, laboratory, link, ping, serve,
    share, trust,
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
/// `recoup demo` shows in one command what a lossy link costs CUBIC and the default.
#[derive(Debug, Parser)]
#[command(name = "recoup", version, after_long_help = EXIT_CODES, color = ColorChoice::Auto)]
#[command(verbatim_doc_comment, propagate_version = true, arg_required_else_help = true)]
#[command(help_template = template())]
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
    /// Fetch named content into a file, a folder or a pipe
    Fetch(Box<fetch::FetchArgs>),
    /// Serve a file, a folder or standard input under a name
    Serve(serve::ServeArgs),
    /// Share a file or folder in the local network, by a short code
    Share(share::ShareArgs),
    /// Get what another machine of the local network shares, by its code
    Get(get::GetArgs),
    /// Create, certify, import, export and list signing keys
    Key(key::KeyArgs),
    /// Choose the readers of encrypted content: groups, keys, members
    Group(group::GroupArgs),
    /// Compile trust schemas, and ask which key may sign which name
    Trust(trust::TrustArgs),
    /// Measure round-trip times to a name, or answer such measurements
    Ping(ping::PingArgs),
    /// Answer HTTP and WebDAV requests with named content
    Gateway(Box<gateway::GatewayArgs>),
    /// Forward Interests and Data between applications and neighbours
    Forward(forward::ForwardArgs),
    /// Show and change a forwarder: faces, routes, strategies, store
    Ctl(Box<ctl::CtlArgs>),
    /// Put an impaired link between two UDP faces: rate, delay, losses
    Link(Box<link::LinkArgs>),
    /// Compare the default transport with CUBIC over a lossy link
    Demo(Box<demo::DemoArgs>),
    /// Write shell completions, manual pages and JSON Schemas
    Generate(generate::GenerateArgs),
}

/// Groups of commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Transfer", &["fetch", "serve", "share", "get", "gateway"]),
    ("Keys", &["key", "group", "trust"]),
    ("Network", &["ping", "forward", "ctl", "link"]),
    ("Other", &["demo", "generate", "help"]),
];

/// The help of the whole program, with its commands in groups.
fn template() -> String {
    let commands = Command::augment_subcommands(clap::Command::new("recoup"));
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = commands.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or("Print the help of a command".to_owned(), ToString::to_string);
            text.push_str(&format!("  {name:<10} {about}\n"));
        }
    }
    text.push_str("\nResearch (program recoup-lab):\n");
    for (name, about) in laboratory::COMMANDS {
        text.push_str(&format!("  {name:<10} {about}\n"));
    }
    text + "\nOptions:\n{options}{after-help}\n"
}

impl Command {
    /// Whether others depend on a command while it runs, or a transfer does: it never waits for a reader of standard error.
    pub(crate) fn serves_others(&self) -> bool {
        use Command::{Fetch, Forward, Gateway, Get, Link, Ping, Serve, Share};
        let transfers = matches!(self, Fetch(_) | Get(_) | Serve(_) | Share(_));
        transfers || matches!(self, Forward(_) | Gateway(_) | Link(_) | Ping(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Splits a line as a shell does: at spaces outside of quotation marks, up to a pipe or a file.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                '|' | '>' if !quoted => break,
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
    fn examples_in_the_help_are_valid() {
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
    fn examples_are_not_wrapped() {
        fn look(command: &clap::Command) {
            let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(look);
        }
        let mut cli = Cli::command();
        cli.build();
        look(&cli);
    }

    #[test]
    fn list_of_commands_repeats_their_summaries() {
        let mut cli = Cli::command();
        let listed: Vec<_> = cli.get_subcommands().map(summary).collect();
        cli.build();
        let own = cli.get_subcommands().filter(|one| one.get_name() != "help");
        assert_eq!(listed, own.map(summary).collect::<Vec<_>>());
        assert!(listed.iter().all(|(_, about)| !about.is_empty()), "{listed:?}");
    }

    #[test]
    fn help_has_each_command_in_one_group() {
        let cli = Cli::command();
        let shown = cli.get_subcommands().filter(|one| !one.is_hide_set());
        let mut shown: Vec<_> = shown.map(clap::Command::get_name).chain(["help"]).collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.to_vec()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn only_the_command_that_runs_is_defined() {
        let mut cli = Cli::command();
        cli.try_get_matches_from_mut(["recoup", "fetch", "/a"]).unwrap();
        let defined = cli.get_subcommands().filter(|one| one.get_arguments().count() > 10);
        assert_eq!(defined.map(clap::Command::get_name).collect::<Vec<_>>(), ["fetch"]);
    }

    fn summary(command: &clap::Command) -> (String, String) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        (command.get_name().to_owned(), about)
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
            Exit::Condition,
            Exit::Cancelled,
        ];
        for exit in all {
            assert!(EXIT_CODES.contains(&format!("{} ", exit as u8)), "{exit:?}");
        }
    }
}
