//! The `recoup-lab` command: simulations, studies and judgements of transports. `recoup sim …` and the like start it.
//!
//! `recoup-lab` also runs all commands of `recoup`, so networks of processes need one program.
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::bare_urls,
    rustdoc::invalid_html_tags,
    reason = "the documentation of options is their help text, where brackets mean: optional"
)]
mod arena;
mod calibrate;
mod command;
mod emulate;
mod explain;
mod generate;
pub mod input;
mod process;
mod rto;
mod running;
mod sim;
mod study;

use clap::{CommandFactory, Parser};
use command::{Cli, Command};
use recoup_cli::{error, format, output, picture, progress, stop, terminal};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    run_words(std::env::args_os().collect()).into()
}

/// Runs the command inside another program, such as an interpreter, and returns its exit code. `program` is a file that runs
/// the command; its path is not among the arguments. A request for help ends the process.
#[must_use]
pub fn run_inside(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let name = PROGRAM.get_or_init(|| program).clone().into_os_string();
    run_words(std::iter::once(name).chain(arguments).collect())
}

/// The file that runs this command, where it is not the executable of the process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The file that runs this command.
fn program() -> io::Result<PathBuf> {
    PROGRAM.get().cloned().map_or_else(std::env::current_exe, Ok)
}

/// Whether a command line is for the other program, which has the rest of the commands and the errors of unknown ones. Without
/// a command, the name of the program decides.
fn is_of_product(words: &[OsString]) -> bool {
    let own = Cli::command();
    let is_own = |word: &OsString| own.get_subcommands().any(|one| word == one.get_name());
    let is_name = |word: &&OsString| {
        let bytes = word.as_encoded_bytes();
        !bytes.starts_with(b"-") && !bytes.iter().all(u8::is_ascii_digit)
    };
    let mut names = words.iter().skip(1).filter(is_name).skip_while(|word| *word == "help");
    let program = words.first().and_then(|word| Path::new(word).file_stem());
    names.next().map_or(program.is_none_or(|name| name != "recoup-lab"), |word| !is_own(word))
}

fn run_words(words: Vec<OsString>) -> u8 {
    if is_of_product(&words) {
        return recoup_cli::run_words(words);
    }
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return recoup_cli::rejected(&error, &Cli::command()),
    };
    if let Err(failure) = recoup_cli::begin(cli.end_with) {
        return failure.code();
    }
    recoup_cli::finish(match cli.command {
        Command::Sim(args) => sim::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Rto(args) => rto::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Arena(args) => arena::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Process(args) => {
            output::never_wait();
            process::run(&args)
        }
        Command::Guard(args) => match emulate::guard::run(&args) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_command_decides_the_program() {
        let is =
            |line: &str| is_of_product(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in ["recoup", "recoup --help", "recoup serve study --name /a", "recoup fecth"] {
            assert!(is(line), "{line}");
        }
        for line in
            ["recoup-lab", "recoup sim a", "recoup help sim", "recoup --end-with 7 process a"]
        {
            assert!(!is(line), "{line}");
        }
    }
}
