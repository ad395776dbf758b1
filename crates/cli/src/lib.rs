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
mod generate;
pub mod input;
mod key;
mod link;
mod output;
mod picture;
mod ping;
mod progress;
mod replay;
mod rto;
mod serve;
mod session;
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
use recoup_io::process;
use signal_hook::consts::SIGTERM;
use std::process::ExitCode;

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    if let Some(parent) = cli.end_with {
        if process::end_with(parent).is_err() {
            return Failure::signal(SIGTERM, "the parent process has ended").code();
        }
        // Part of a network that runs in real time: late is wrong. Where it may not be, it is said how late it was.
        process::be_prompt();
    }
    if cli.command.serves_others() {
        output::never_wait();
    }
    let result = match cli.command {
        Command::Fetch(args) => fetch::run(*args),
        Command::Serve(args) => serve::run(&args),
        Command::Key(args) => key::run(&args),
        Command::Trust(args) => trust::run(&args),
        Command::Ping(args) => ping::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Forward(args) => forward::run(&args),
        Command::Ctl(args) => ctl::run(&args),
        Command::Link(args) => link::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Rto(args) => rto::run(&args),
        Command::Emulate(args) => emulate::run(&args),
        Command::Arena(args) => arena::run(&args),
        Command::Study(args) => study::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Guard(args) => match emulate::guard::run(&args) {
            Ok(code) => return ExitCode::from(code),
            Err(failure) => Err(failure),
        },
    };
    let code = match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell();
            failure.code()
        }
    };
    output::finish();
    code
}
