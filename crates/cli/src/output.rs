//! Standard output and error: where a closed pipe is an end and not a panic.
use crate::error::{Exit, Failure, reason};
use serde::Serialize;
use std::io::{self, Write};

/// Writes octets to standard output.
pub(crate) fn print(octets: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(octets).and_then(|()| out.flush()).map_err(|error| closed(&error))
}

/// The failure of a write to standard output.
pub(crate) fn closed(error: &io::Error) -> Failure {
    Failure::new(Exit::Local, format!("cannot write to standard output: {}", reason(error)))
}

/// Writes a line to standard error, at once, so that it stays whole beside those of other processes; nothing is left to be
/// done if that fails.
pub(crate) fn tell(line: &str) {
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// Where a JSON document goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error, because content takes standard output.
    Err,
}

/// Writes one JSON document.
pub(crate) fn json(document: &impl Serialize, stream: Stream) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::new(Exit::Other, format!("cannot write JSON: {error}")))?;
    text.push('\n');
    match stream {
        Stream::Out => print(text.as_bytes()),
        Stream::Err => {
            tell(text.trim_end());
            Ok(())
        }
    }
}

/// Writes one JSON document on one line of standard output.
pub(crate) fn json_line(document: &impl Serialize) -> Result<(), Failure> {
    let mut line = serde_json::to_string(document)
        .map_err(|error| Failure::new(Exit::Other, format!("cannot write JSON: {error}")))?;
    line.push('\n');
    print(line.as_bytes())
}
