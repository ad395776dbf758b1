//! `recoup generate`: shell completions and manual pages, for packagers.
use crate::command::Cli;
use crate::error::Failure;
use clap::{Args, CommandFactory, Subcommand};
use clap_complete::Shell;
use std::fs;
use std::path::{Path, PathBuf};

/// Write shell completions and manual pages
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// What to write.
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
}

/// Runs the command.
pub(crate) fn run(args: &GenerateArgs) -> Result<(), Failure> {
    let mut cli = Cli::command();
    cli.build();
    match &args.what {
        What::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut cli, "recoup", &mut script);
            crate::output::print(&script)
        }
        What::Man { folder } => {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
            pages(&cli, "recoup", folder)
        }
    }
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
