//! Instructions of a program by `valgrind --tool=callgrind`.

use super::timed::capture;
use crate::chore::{Outcome, command};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const MISSING: &str =
    "valgrind is missing: install it (apt install valgrind, dnf install valgrind)";

/// Fails in one line if valgrind is not installed.
pub(super) fn available() -> Outcome {
    let asked = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    match asked {
        Ok(status) if status.success() => Ok(()),
        _ => Err(MISSING.into()),
    }
}

/// Runs a program and counts the instructions in functions whose name matches `toggle`, and in all that they call. Returns
/// the program's output and the number. The profile stays at `path`, for `callgrind_annotate`.
pub(super) fn count(
    program: &Path,
    arguments: &[&str],
    toggle: &str,
    path: &Path,
    within: Duration,
) -> Outcome<(String, u64)> {
    let mut valgrind = command("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--toggle-collect={toggle}"));
    valgrind.arg(format!("--callgrind-out-file={}", path.display()));
    let printed = capture(valgrind.arg(program).args(arguments), within)?;
    let profile =
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match total(&profile) {
        Some(0) => Err(format!("no function of {} matches {toggle}", program.display())),
        Some(instructions) => Ok((printed, instructions)),
        None => Err(format!("{} has no summary", path.display())),
    }
}

/// The instructions of a whole profile.
fn total(profile: &str) -> Option<u64> {
    profile.lines().find_map(|line| line.strip_prefix("summary: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_is_the_total() {
        let profile =
            "events: Ir\n\nfn=(1) node::exchange\n3 100\n+1 57\n\ntotals: 157\nsummary: 157\n";
        assert_eq!(total(profile), Some(157));
        assert_eq!(total("events: Ir\n"), None);
    }
}
