//! Standard output and error: where a closed pipe is an end and not a panic.
mod queue;

pub(crate) use queue::Gap;

use crate::error::{Exit, Failure, reason};
use crate::format;
use crate::terminal;
use console::Term;
use queue::LineQueue;
use serde::Serialize;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Bytes of lines that wait for the reader of standard error.
const QUEUE_BYTES: usize = 256 * 1024;
/// How long the end of a command waits for a reader of standard error that takes nothing, and for one that takes something.
const STUCK: Duration = Duration::from_millis(500);
const SLOW: Duration = Duration::from_secs(5);

/// Where lines for standard error wait, in commands that do not wait for their reader.
static QUEUE: OnceLock<Arc<LineQueue>> = OnceLock::new();

/// Writes octets to standard output.
pub(crate) fn print(octets: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(octets).and_then(|()| out.flush()).map_err(|error| closed(&error))
}

/// Exit code of a command whose reader has read enough (`| head`): that of a shell for a command that SIGPIPE ends.
const READER_GONE: u8 = 141;

/// The failure of a write to standard output. If its reader is gone, the command ends without a word, as other commands do.
pub(crate) fn closed(error: &io::Error) -> Failure {
    let message = format!("cannot write to standard output: {}", reason(error));
    let failure = Failure::new(Exit::Local, message);
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure { told: true, code: Some(READER_GONE), ..failure },
        _ => failure,
    }
}

/// Writes a line to standard error, at once, so that it stays whole beside those of other processes; nothing is left to be
/// done if that fails. The text may hold names from the network: it passes [`terminal::safe`].
pub(crate) fn tell(line: &str) {
    tell_with(line, |lines| format!("recoup: {}", left_out(lines)));
}

/// As [`tell`]; `gap` is how to write that lines before this one were left out.
pub(crate) fn tell_with(line: &str, gap: Gap) {
    let line = terminal::safe(line);
    match QUEUE.get() {
        Some(queue) => queue.push(line, gap),
        None => {
            let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// From here on nobody waits for the reader of standard error: lines for which there is no room are left out and counted.
pub(crate) fn never_wait() {
    let _ = QUEUE.set(LineQueue::new(io::stderr(), QUEUE_BYTES));
}

/// Gives the reader of standard error time to take the last lines, but not long: to be called when the command ends.
pub(crate) fn finish() {
    if let Some(queue) = QUEUE.get() {
        queue.finish(STUCK, SLOW);
    }
}

/// Lines for standard error that were left out so far.
pub(crate) fn lines_left_out() -> u64 {
    QUEUE.get().map_or(0, |queue| queue.left_out())
}

/// That lines were left out, as a sentence.
pub(crate) fn left_out(lines: u64) -> String {
    format!("{lines} lines were left out, since standard error was not read")
}

/// Columns of standard error, if it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    let terminal = Term::stderr();
    terminal.is_term().then(|| format::columns(&terminal))
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
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::new(Exit::Other, format!("cannot write JSON: {error}")))?;
    let mut text = terminal::escaped_json(&text);
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
    let line = serde_json::to_string(document)
        .map_err(|error| Failure::new(Exit::Other, format!("cannot write JSON: {error}")))?;
    let mut line = terminal::escaped_json(&line);
    line.push('\n');
    print(line.as_bytes())
}
