//! The `recoup` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    recoup_cli::run()
}
