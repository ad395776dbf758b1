//! End of a command: a fixed exit code, and one line with the problem and the remedy.
pub mod usage;

use crate::format;
use crate::terminal;
/// The kinds of failures, whose numbers are the exit codes.
pub use recoup::ErrorKind as Exit;
pub use recoup::reason;
use recoup_io::driver::DriverError;
use recoup_io::face::FaceError;
use serde::Serialize;
use std::fmt;
use std::io;

/// The table of exit codes, as `--help` and the manual pages show it.
pub const EXIT_CODES: &str = "\
Exit codes:
    0  success
    1  any other failure
    2  wrong usage
    3  name not found: an application Nack, or no route to the name
    4  local file or disk: missing, not permitted, full; key not found
    5  verification failed, or a producer that contradicts itself
    6  no forwarder or peer at the face
    7  timed out: no progress, or a segment's retries used up
    8  larger than --max-size, or no version newer than --newer-than
  130  interrupted by Ctrl-C; 129 hung up, 143 terminated. A partial download is kept
  141  standard output is read no longer";

/// Why a command failed: what is wrong and, where something can be done, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The class of the failure, which decides the exit code.
    #[serde(rename = "kind")]
    pub exit: Exit,
    /// The problem.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Whether a document on standard error has reported it already.
    #[serde(skip)]
    pub reported: bool,
    /// The exit code, where it is not that of the class: of a signal, or of a command that was run for the user.
    #[serde(skip)]
    pub code: Option<u8>,
    /// A line for each cause, printed before the message.
    #[serde(skip)]
    pub details: Vec<String>,
}

impl Failure {
    /// A failure without advice.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { exit, message, advice: None, reported: false, code: None, details: Vec::new() }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The end by a signal; its number and 128 are the exit code.
    pub fn signal(number: i32, message: impl Into<String>) -> Self {
        Self { code: u8::try_from(128 + number).ok(), ..Self::new(Exit::Cancelled, message) }
    }

    /// A wrong command line that the parser could not see.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A failed operation on a local file.
    pub fn file(verb: &str, path: impl fmt::Display, error: &io::Error) -> Self {
        recoup::Error::file(verb, path, error).into()
    }

    /// Prints the problem, unless a document on standard error has reported it already.
    pub fn eprint(&self) {
        if !self.reported {
            self.details.iter().for_each(|line| crate::output::eprint(line));
            crate::output::eprint(&format!("recoup: {self}"));
        }
    }

    /// The exit code as the process returns it.
    pub fn code(&self) -> u8 {
        self.code.unwrap_or(self.exit as u8)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.message))?;
        match &self.advice {
            Some(advice) => write!(f, "; {}", one_line(advice)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// The failure of an error, without what is kept of an unfinished download.
    pub(crate) fn of(error: &recoup::Error) -> Self {
        let (advice, details) = (error.own_remedy().map(str::to_owned), error.details().to_vec());
        Self { advice, details, ..Self::new(error.kind(), error.message()) }
    }

    /// Adds further advice.
    #[must_use]
    pub(crate) fn advised(self, further: Option<String>) -> Self {
        match (self.advice.clone(), further) {
            (_, None) => self,
            (None, Some(further)) => self.advise(further),
            (Some(advice), Some(further)) => self.advise(format!("{advice}; {further}")),
        }
    }
}

/// Advice about what an error has left of unfinished downloads.
pub(crate) fn kept(error: &recoup::Error) -> Option<String> {
    let (path, bytes) = match error.partials() {
        [] => return None,
        [recoup::Partial { path, bytes }] => (terminal::path_line(path), format::bytes(*bytes)),
        many => {
            return Some(format!(
                "what arrived of {} files is kept: the same command with --resume goes on",
                many.len()
            ));
        }
    };
    Some(match error.is_permanent() {
        false => format!("{bytes} are kept in {path}: the same command with --resume goes on"),
        true => format!("{path} holds {bytes} of it: the same command with --restart begins anew"),
    })
}

impl From<recoup::Error> for Failure {
    fn from(error: recoup::Error) -> Self {
        Self::of(&error).advised(kept(&error))
    }
}

/// The exit code and the line for a face that cannot be opened.
pub(crate) fn face_failure(error: &FaceError) -> Failure {
    recoup::Error::from(error).into()
}

/// The exit code and the line for a driver that cannot go on.
pub(crate) fn driver_failure(error: &DriverError) -> Failure {
    Failure::new(Exit::Other, error.to_string())
}

/// The text on one line, as a terminal may show it ([`terminal::safe`]), without the numbers of system errors.
pub fn one_line(text: &str) -> String {
    let mut line = terminal::safe(text).replace('\n', " ");
    while let Some(begin) = line.find(" (os error ") {
        let Some(length) = line[begin..].find(')') else {
            break;
        };
        line.replace_range(begin..=begin + length, "");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_with_its_advice() {
        let failure = Failure::new(Exit::Local, "no\nspace (os error 28)").advise("free some");
        assert_eq!(failure.to_string(), "no space; free some");
    }

    #[test]
    fn the_system_is_quoted_without_its_number() {
        let error = io::Error::from_raw_os_error(28);
        let failure = Failure::file("write", "x", &error);
        assert!(failure.to_string().starts_with("cannot write x: no space left on device; free"));
    }
}
