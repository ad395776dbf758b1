//! The `recoup` command. `main.rs` runs it; the laboratory's command adds its own commands to it, and programs that try any
//! input reach its readers ([`input`]).
#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::bare_urls,
    rustdoc::invalid_html_tags,
    reason = "the documentation of options is their help text, where brackets mean: optional"
)]
mod command;
mod config;
mod ctl;
mod demo;
pub mod error;
pub mod fetch;
pub mod format;
mod forward;
mod gateway;
pub mod generate;
mod get;
mod group;
pub mod input;
mod key;
pub mod laboratory;
mod link;
pub mod output;
pub mod picture;
mod ping;
pub mod progress;
pub mod serve;
mod share;
mod statistic;
pub mod stop;
pub mod terminal;
mod trust;
pub mod value;

use clap::{CommandFactory, Parser};
use command::{Cli, Command};
use error::Failure;
use recoup_io::process;
use signal_hook::consts::SIGTERM;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    run_words(std::env::args_os().collect()).into()
}

/// Runs the command of a command line, whose first word is the program, and returns its exit code. A request for help ends
/// the process.
#[must_use]
pub fn run_words(words: Vec<OsString>) -> u8 {
    match laboratory::wanted(&words) {
        true => finish(Err(laboratory::hand_over(&words))),
        false => run_cli(Cli::try_parse_from(words)),
    }
}

/// The command line of this program, without the options of its commands.
#[must_use]
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// Prints the failure of a command, if there is one, and returns the exit code.
#[must_use]
pub fn finish(result: Result<(), Failure>) -> u8 {
    let code = match result {
        Ok(()) => 0,
        Err(failure) => {
            failure.eprint();
            failure.code()
        }
    };
    output::finish();
    code
}

/// The end of a command line that the parser of `cli` has rejected, or answers with help.
#[must_use]
pub fn rejected(error: &clap::Error, cli: &clap::Command) -> u8 {
    match error::usage::failure(error, cli) {
        Some(failure) => finish(Err(failure)),
        None => error.exit(),
    }
}

/// Begins a command: this process ends when the process with the number `end_with` does.
///
/// # Errors
/// If that process has ended already.
pub fn begin(end_with: Option<u32>) -> Result<(), Failure> {
    let Some(parent) = end_with else { return Ok(()) };
    process::end_with(parent)
        .map_err(|_| Failure::signal(SIGTERM, "the parent process has ended"))?;
    // Part of a network that runs in real time must be on time; if it cannot, it reports its lateness.
    process::be_prompt();
    Ok(())
}

fn run_cli(parsed: Result<Cli, clap::Error>) -> u8 {
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return rejected(&error, &Cli::command()),
    };
    if let Err(failure) = begin(cli.end_with) {
        return failure.code();
    }
    if cli.command.serves_others() {
        output::never_wait();
    }
    finish(match cli.command {
        Command::Fetch(args) => fetch::run(*args),
        Command::Serve(args) => serve::run(&args),
        Command::Group(args) => group::run(&args),
        Command::Key(args) => key::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Ping(args) => ping::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Share(args) => share::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Forward(args) => forward::run(&args),
        Command::Ctl(args) => ctl::run(&args),
        Command::Link(args) => link::run(&args),
        Command::Generate(args) => generate::run(&args),
    })
}
