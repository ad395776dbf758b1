//! The `recoup` command: `main.rs` runs it, and programs that try any input reach its readers ([`input`]).
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "the documentation of options is their help text, where brackets mean: optional"
)]
mod arena;
mod command;
mod config;
mod ctl;
mod demo;
mod emulate;
mod error;
mod explain;
mod fetch;
mod format;
mod forward;
mod gateway;
mod generate;
mod get;
mod group;
pub mod input;
mod key;
mod link;
mod output;
mod picture;
mod ping;
mod process;
mod progress;
mod serve;
mod session;
mod share;
mod sim;
mod statistic;
mod stop;
mod study;
mod terminal;
mod trust;
mod value;

use clap::Parser;
use command::{Cli, Command};
use error::Failure;
use recoup_io::process::{be_prompt, end_with};
use signal_hook::consts::SIGTERM;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    run_cli(Cli::try_parse()).into()
}

/// Runs the command inside another program, such as an interpreter, and returns its exit code. `program` is a file that runs
/// the command; its path is not among the arguments. A request for help ends the process.
#[must_use]
pub fn run_inside(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let program = PROGRAM.get_or_init(|| program);
    let name = program.clone().into_os_string();
    run_cli(Cli::try_parse_from(std::iter::once(name).chain(arguments)))
}

/// The file that runs this command, where it is not the executable of the process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The file that runs this command.
fn program() -> io::Result<PathBuf> {
    PROGRAM.get().cloned().map_or_else(std::env::current_exe, Ok)
}

fn run_cli(parsed: Result<Cli, clap::Error>) -> u8 {
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            let Some(failure) = error::usage::failure(&error) else { error.exit() };
            failure.eprint();
            output::finish();
            return failure.code();
        }
    };
    if let Some(parent) = cli.end_with {
        if end_with(parent).is_err() {
            return Failure::signal(SIGTERM, "the parent process has ended").code();
        }
        // Part of a network that runs in real time must be on time; if it cannot, it reports its lateness.
        be_prompt();
    }
    if cli.command.serves_others() {
        output::never_wait();
    }
    let result = match cli.command {
        Command::Fetch(args) => fetch::run(*args),
        Command::Serve(args) => serve::run(&args),
        Command::Group(args) => group::run(&args),
        Command::Key(args) => key::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Ping(args) => ping::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Share(args) => share::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Forward(args) => forward::run(&args),
        Command::Ctl(args) => ctl::run(&args),
        Command::Link(args) => link::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Arena(args) => arena::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Process(args) => process::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Guard(args) => match emulate::guard::run(&args) {
            Ok(code) => return code,
            Err(failure) => Err(failure),
        },
    };
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
