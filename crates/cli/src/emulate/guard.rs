//! A command of the user under guard: it ends with who started it, even where that is killed.
//!
//! Linux tells a process that the one which has started it ends (PR_SET_PDEATHSIG), but not what that process has started in
//! turn. So the guard stays beside the command, as the first of their group, and ends the whole group.
use crate::error::{Exit, Failure, reason};
use clap::Args;
use recoup_io::process::{code_of, end_own_group, end_with, is_child_of};
use signal_hook::consts::{SIGCHLD, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How long what is told to end may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Run a command that ends with the process that started it
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Number of the process that asks for it
    #[arg(long, value_name = "PID")]
    parent: u32,

    /// The command and its words
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// What runs a program with words, under guard.
pub(super) fn command(program: &Path, words: &[OsString]) -> std::io::Result<Command> {
    let mut command = Command::new(crate::program()?);
    command.arg("guard").arg(format!("--parent={}", std::process::id())).arg("--");
    command.arg(program).args(words);
    Ok(command)
}

/// Runs the command; its exit code, as a shell tells it.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn run(args: &GuardArgs) -> Result<u8, Failure> {
    let failed = |error| Failure::new(Exit::Other, format!("cannot guard: {}", reason(&error)));
    // Before anybody could send one.
    let mut signals = Signals::new([SIGCHLD, SIGTERM]).map_err(failed)?;
    end_with(args.parent).map_err(failed)?;
    let (program, words) = args.words.split_first().ok_or_else(|| failed(NOTHING.into()))?;
    let mut child = Command::new(program).args(words).spawn().map_err(|error| {
        let message = format!("cannot run {}: {}", program.to_string_lossy(), reason(&error));
        Failure::new(Exit::Local, message)
    })?;
    for _ in signals.forever() {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(code_of(status));
        }
        if !is_child_of(args.parent) {
            end_own_group(&mut child, FAREWELL);
        }
    }
    child.wait().map(code_of).map_err(failed)
}

/// Who asks for no command.
const NOTHING: std::io::ErrorKind = std::io::ErrorKind::InvalidInput;
