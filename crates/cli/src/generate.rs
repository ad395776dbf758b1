//! `recoup generate`: shell completions, manual pages and the reference of options, for packagers.
mod markdown;
pub mod schema;
mod values;

use crate::command::Cli;
use crate::error::{EXIT_CODES, Failure};
use crate::{ctl, group, key, laboratory, trust};
use clap::{Args, CommandFactory, Subcommand};
use clap_complete::Shell;
use schema::Document;
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  recoup generate completions bash > ~/.local/share/bash-completion/completions/recoup
  recoup generate completions zsh > ~/.zfunc/_recoup
  recoup generate completions fish > ~/.config/fish/completions/recoup.fish
  recoup generate man ~/.local/share/man/man1
";

/// Write shell completions, manual pages and JSON Schemas
#[derive(Debug, Args)]
#[command(after_long_help = format!("{EXAMPLES}\n{EXIT_CODES}"))]
pub struct GenerateArgs {
    /// The page to write.
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// A completion script, to standard output
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// One manual page per subcommand, into a folder
    Man {
        /// The folder; it is made if it is not there
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// The options of all commands as Markdown, to standard output
    Markdown,
    /// The JSON Schema of a document, to standard output
    Schema {
        /// The document
        document: Document,
    },
}

impl GenerateArgs {
    /// The document whose schema is wanted.
    #[must_use]
    pub fn document(&self) -> Option<Document> {
        match self.what {
            What::Schema { document } => Some(document),
            _ => None,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    write(args, definitions(), |document| {
        let words: Vec<_> = std::env::args_os().collect();
        schema::schema(document).ok_or_else(|| laboratory::hand_over(&words))
    })
}

/// Writes what is wanted of a command line and of the schemas of its documents.
///
/// # Errors
/// If the place cannot be written to.
pub fn write(
    args: &GenerateArgs,
    cli: clap::Command,
    schema: impl FnOnce(Document) -> Result<serde_json::Value, Failure>,
) -> Result<(), Failure> {
    match &args.what {
        What::Completions { shell } => {
            let (mut cli, mut script) = (values::completed(cli), Vec::new());
            clap_complete::generate(*shell, &mut cli, "recoup", &mut script);
            crate::output::print(&script)
        }
        What::Man { folder } => {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
            pages(&cli, "recoup", folder)
        }
        What::Schema { document } => {
            let mut text = format!("{:#}", schema(*document)?);
            text.push('\n');
            crate::output::print(text.as_bytes())
        }
        What::Markdown => crate::output::print(markdown::page(&cli).as_bytes()),
    }
}

/// The command line of this program.
fn definitions() -> clap::Command {
    defined(Cli::command())
}

/// A command line that has all commands of this program, and maybe others. clap copies the names of subcommands below `help` before it
/// defines deferred ones, so commands with subcommands are defined first.
#[must_use]
pub fn defined(cli: clap::Command) -> clap::Command {
    let mut cli = cli.mut_subcommands(|one| {
        let define = match one.get_name() {
            "ctl" => ctl::CtlArgs::augment_args,
            "generate" => GenerateArgs::augment_args,
            "group" => group::GroupArgs::augment_args,
            "key" => key::KeyArgs::augment_args,
            "trust" => trust::TrustArgs::augment_args,
            _ => return one,
        };
        define(clap::Command::new(one.get_name().to_owned()))
    });
    cli.build();
    cli
}

/// The page of a command, and those of its subcommands.
fn pages(command: &clap::Command, name: &str, folder: &Path) -> Result<(), Failure> {
    page(command, name, folder)?;
    let visible = |one: &&clap::Command| !one.is_hide_set() && one.get_name() != "help";
    command
        .get_subcommands()
        .filter(visible)
        .try_for_each(|one| pages(one, &format!("{name}-{}", one.get_name()), folder))
}

fn page(command: &clap::Command, name: &str, folder: &Path) -> Result<(), Failure> {
    let path = folder.join(format!("{name}.1"));
    let failed = |error: std::io::Error| Failure::file("write", path.display(), &error);
    let command = command.clone().name(name.to_owned()).bin_name(name.replace('-', " "));
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(failed)?;
    fs::write(&path, page).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all visible commands below a command.
    fn names(command: &clap::Command) -> Vec<String> {
        let visible = |one: &&clap::Command| !one.is_hide_set() && one.get_name() != "help";
        let below = |one: &clap::Command| {
            let own = one.get_name().to_owned();
            let nested = names(one).into_iter().map(move |it| format!("{own} {it}"));
            std::iter::once(one.get_name().to_owned()).chain(nested).collect::<Vec<_>>()
        };
        command.get_subcommands().filter(visible).flat_map(below).collect()
    }

    #[test]
    fn help_lists_nested_commands() {
        let cli = definitions();
        let helped = names(cli.find_subcommand("help").unwrap());
        assert_eq!(helped, names(&cli));
        assert!(helped.contains(&"ctl route add".to_owned()), "{helped:?}");
    }
}
