//! Commands of the laboratory, which are those of another program: simulations, studies and judgements of transports.
use crate::error::{Exit, Failure, reason};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// The program.
const PROGRAM: &str = "recoup-lab";

/// Its commands with their descriptions.
pub const COMMANDS: [(&str, &str); 7] = [
    ("sim", "Run a scenario: the nodes of a network, in simulated time"),
    ("explain", "Explain why a segment was late: its timeline, and a verdict"),
    ("emulate", "Run a network on real processes of this machine"),
    ("arena", "Judge transports on the same cases: times, queues, fairness"),
    ("study", "Reproduce studies: experiments, claims, and a verdict on each"),
    ("calibrate", "Search for parameters that a paper leaves open"),
    ("rto", "Evaluate retransmission timers on recorded round trips"),
];

/// Whether a command line, whose first word is the program, is for the laboratory.
pub(crate) fn wanted(words: &[OsString]) -> bool {
    let is = |place: usize, text: &str| words.get(place).is_some_and(|word| word == text);
    let names = |place: usize| COMMANDS.iter().any(|(name, _)| is(place, name));
    names(1) || (is(1, "help") && names(2))
}

/// Becomes the laboratory's program, which runs the command line. It comes back only if there is no such program.
pub(crate) fn hand_over(words: &[OsString]) -> Failure {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    let beside = beside.map(|it| it.with_extension(std::env::consts::EXE_EXTENSION));
    let program = beside.filter(|it| it.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    command.args(words.iter().skip(1));
    let error = become_it(&mut command);
    let name = words.get(1).map(OsString::as_os_str).unwrap_or(OsStr::new("")).to_string_lossy();
    if error.kind() == io::ErrorKind::NotFound {
        let message =
            format!("`{name}` is a command of the program `{PROGRAM}`, which is not there");
        return Failure::new(Exit::Local, message).advise(
            "install it beside `recoup` or on the path, such as with `cargo install --path lab/cli`",
        );
    }
    Failure::new(Exit::Local, format!("cannot run {}: {}", program.display(), reason(&error)))
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laboratory_is_chosen_by_the_command() {
        let is = |line: &str| wanted(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(is("recoup sim a.toml") && is("recoup help study") && is("recoup rto"));
        assert!(!is("recoup fetch /sim") && !is("recoup help") && !is("recoup"));
    }
}
