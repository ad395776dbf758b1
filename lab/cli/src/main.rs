//! The `recoup-lab` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    recoup_lab_cli::run()
}
