//! Guard of a user's command: the command ends with the process that started it, even if that is killed.
//!
//! Linux signals a process when its parent ends (PR_SET_PDEATHSIG), but not the children of that process. So the guard
//! stays beside the command, as the first of their group, and ends the whole group.
use crate::error::{Exit, Failure, reason};
use clap::Args;
use recoup_io::process::{code_of, end_own_group, end_with, is_child_of};
use signal_hook::consts::{SIGCHLD, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time for a process to end after its signal.
const END_GRACE: Duration = Duration::from_secs(2);

/// Run a command that ends with the process that started it
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Process number of the parent
    #[arg(long, value_name = "PID")]
    parent: u32,

    /// The command and its words
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// A program with arguments, under guard.
pub(super) fn command(program: &Path, words: &[OsString]) -> std::io::Result<Command> {
    let mut command = Command::new(crate::program()?);
    command.arg("guard").arg(format!("--parent={}", std::process::id())).arg("--");
    command.arg(program).args(words);
    Ok(command)
}

/// Runs the command; returns its exit code as a shell does.
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
            end_own_group(&mut child, END_GRACE);
        }
    }
    child.wait().map(code_of).map_err(failed)
}

/// Error of a missing command.
const NOTHING: std::io::ErrorKind = std::io::ErrorKind::InvalidInput;
