//! Standard output and error; a closed pipe ends the command without a panic.
mod queue;

pub(crate) use queue::Gap;

use crate::error::{Exit, Failure, reason};
use crate::format;
use crate::terminal;
use console::Term;
use queue::LineQueue;
use serde::Serialize;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Limit of queued lines for standard error, in bytes.
const QUEUE_BYTES: usize = 256 * 1024;
/// Longest wait at the end for a reader of standard error: without progress, and in all.
const STUCK: Duration = Duration::from_millis(500);
const SLOW: Duration = Duration::from_secs(5);

/// Queue for standard error in commands that never wait for its reader.
static QUEUE: OnceLock<Arc<LineQueue>> = OnceLock::new();

/// Writes bytes to standard output.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| closed(&error))
}

/// Exit code after a closed pipe (`| head`): that of a shell for SIGPIPE.
const READER_GONE: u8 = 141;

/// The failure of a write to standard output; without a message if the reader closed the pipe.
pub fn closed(error: &io::Error) -> Failure {
    let message = format!("cannot write to standard output: {}", reason(error));
    let failure = Failure::new(Exit::Local, message);
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure { reported: true, code: Some(READER_GONE), ..failure },
        _ => failure,
    }
}

/// Writes a line to standard error in one call, so that lines of processes do not mix. Errors are
/// ignored. The text may hold names from the network: it passes [`terminal::safe`].
pub fn eprint(line: &str) {
    eprint_with(line, |lines| format!("recoup: {}", left_out(lines)));
}

/// As [`eprint`]; `gap` formats the number of dropped lines before this one.
pub fn eprint_with(line: &str, gap: Gap) {
    let line = terminal::safe(line);
    match QUEUE.get() {
        Some(queue) => queue.push(line, gap),
        None => {
            let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// Queues lines for standard error from here on; lines beyond the limit are dropped and counted.
pub fn never_wait() {
    let _ = QUEUE.set(LineQueue::new(io::stderr(), QUEUE_BYTES));
}

/// Flushes standard error with a time limit; called when the command ends.
pub fn finish() {
    if let Some(queue) = QUEUE.get() {
        queue.finish(STUCK, SLOW);
    }
}

/// Dropped lines for standard error so far.
pub fn lines_left_out() -> u64 {
    QUEUE.get().map_or(0, |queue| queue.left_out())
}

/// The sentence about dropped lines.
pub fn left_out(lines: u64) -> String {
    format!("{lines} lines were left out, since standard error was not read")
}

/// Columns of standard error, if it is a terminal.
pub fn columns() -> Option<usize> {
    let terminal = Term::stderr();
    terminal.is_term().then(|| format::columns(&terminal))
}

/// Destination of a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error, because content takes standard output.
    Err,
}

/// Writes one JSON document. For standard output it is never in memory as a whole.
pub fn json(document: &impl Serialize, stream: Stream) -> Result<(), Failure> {
    let failed = |error: serde_json::Error| match error.is_io() {
        true => closed(&error.into()),
        false => Failure::new(Exit::Other, format!("cannot write JSON: {error}")),
    };
    match stream {
        Stream::Out => {
            let mut out = Escaped(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
            serde_json::to_writer_pretty(&mut out, document).map_err(failed)?;
            out.write_all(b"\n").and_then(|()| out.flush()).map_err(|error| closed(&error))
        }
        Stream::Err => {
            let text = serde_json::to_string_pretty(document).map_err(failed)?;
            eprint(&terminal::escaped_json(&text));
            Ok(())
        }
    }
}

/// Writes parts of a JSON document as [`terminal::escaped_json`] has them.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if part.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
            self.0.write_all(part)?;
        } else {
            // Parts end at characters: an escape stands between them, or a quotation mark.
            let text = str::from_utf8(part).map_err(io::Error::other)?;
            self.0.write_all(terminal::escaped_json(text).as_bytes())?;
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes one JSON document on one line of standard output.
pub fn json_line(document: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(document)
        .map_err(|error| Failure::new(Exit::Other, format!("cannot write JSON: {error}")))?;
    let mut line = terminal::escaped_json(&line);
    line.push('\n');
    print(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_document_is_escaped_as_a_whole() {
        let names =
            ["plain", "tab\tline\n\"quoted\"\u{7f}", "\u{202e}für\u{ad}", "\u{1f600}\u{e0001}"];
        let document = serde_json::json!({ "names": names, "empty": "", "number": 0.5 });
        let mut out = Escaped(Vec::new());
        serde_json::to_writer_pretty(&mut out, &document).unwrap();
        let whole = terminal::escaped_json(&serde_json::to_string_pretty(&document).unwrap());
        assert_eq!(String::from_utf8(out.0).unwrap(), whole);
    }
}
