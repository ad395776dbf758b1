//! Lines for a slow or stuck reader: a thread writes them, and callers never wait.
//!
//! The queue is bounded. A full queue drops lines until half of it is free; their number is written
//! in their place. Standard error shares its file description with other processes, so it cannot be
//! made non-blocking instead.
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Formats the number of dropped lines like the lines around it.
pub(crate) type Gap = fn(u64) -> String;

/// A queue, and the thread that empties it.
#[derive(Debug, Default)]
pub(super) struct LineQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    limit: usize,
    /// Lines dropped since the last queued line, and their format.
    gap: Option<(u64, Gap)>,
    /// Lines dropped in all.
    left_out: u64,
    /// The thread is writing a line.
    is_writing: bool,
    /// Lines that were written.
    written: u64,
}

impl LineQueue {
    /// A queue of `limit` bytes, written to `out`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn start(out: impl Write + Send + 'static, limit: usize) -> io::Result<Arc<Self>> {
        let state = Mutex::new(State { limit, ..State::default() });
        let queue = Arc::new(Self { state, changed: Condvar::new() });
        let writer = Arc::clone(&queue);
        Builder::new().name("recoup-log".into()).spawn(move || writer.write_to(out))?;
        Ok(queue)
    }

    /// Queues or drops a line.
    pub(super) fn push(&self, line: String, gap: Gap) {
        let mut state = self.lock();
        let limit = if state.gap.is_some() { state.limit / 2 } else { state.limit };
        // An empty queue accepts a line above its limit.
        if state.bytes > 0 && state.bytes + line.len() > limit {
            state.left_out += 1;
            let (lines, gap) = state.gap.map_or((1, gap), |(lines, _)| (lines + 1, gap));
            state.gap = Some((lines, gap));
            return;
        }
        let gap = state.gap.take().map(|(lines, gap)| gap(lines));
        gap.into_iter().chain([line]).for_each(|line| state.queue(line));
        drop(state);
        self.changed.notify_all();
    }

    /// Lines dropped so far.
    pub(super) fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Waits until all lines are written, at most `longest`, and at most `stuck` without progress.
    pub(super) fn finish(&self, stuck: Duration, longest: Duration) {
        let end = Instant::now() + longest;
        let mut state = self.lock();
        while !state.is_done() {
            let left = end.saturating_duration_since(Instant::now()).min(stuck);
            let before = state.written;
            let (next, waited) = self
                .changed
                .wait_timeout_while(state, left, |state| state.written == before)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut out: impl Write) {
        let mut state = self.lock();
        loop {
            match state.pop() {
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(mut line) => {
                    state.is_writing = true;
                    drop(state);
                    line.push('\n');
                    // One call, so that lines of processes do not mix. An error means that the
                    // reader is gone.
                    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
                    state = self.lock();
                    state.is_writing = false;
                    state.written += 1;
                    self.changed.notify_all();
                }
            }
        }
    }
}

impl State {
    fn queue(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// The next line, or the number of dropped lines if no line follows.
    fn pop(&mut self) -> Option<String> {
        let Some(line) = self.lines.pop_front() else {
            return self.gap.take().map(|(lines, gap)| gap(lines));
        };
        self.bytes -= line.len();
        Some(line)
    }

    fn is_done(&self) -> bool {
        self.lines.is_empty() && self.gap.is_none() && !self.is_writing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::net::UnixStream;

    fn gap(lines: u64) -> String {
        format!("-{lines}")
    }

    /// Numbers in lines, and the sum of reported drops.
    fn account(lines: impl Iterator<Item = String>) -> (Vec<u64>, u64) {
        let (mut there, mut left_out) = (Vec::new(), 0);
        for line in lines {
            let number: i64 = line.trim().parse().unwrap();
            match u64::try_from(number) {
                Ok(number) => {
                    assert_eq!(number, there.len() as u64 + left_out, "a gap is said in its place");
                    there.push(number);
                }
                Err(_) => left_out += number.unsigned_abs(),
            }
        }
        (there, left_out)
    }

    #[test]
    fn dropped_lines_are_counted_in_place() {
        const LINES: u64 = 200_000;
        let (reader, writer) = UnixStream::pair().unwrap();
        let queue = LineQueue::start(writer, 1_000).unwrap();
        let push = |number: u64| queue.push(format!("{number:09}"), gap);
        (0..LINES / 2).for_each(push);
        assert!(queue.left_out() > 0, "the socket took all");
        let lines = BufReader::new(reader).lines().map(Result::unwrap);
        let reading = std::thread::spawn(|| account(lines.take_while(|line| line != "end")));
        (LINES / 2..LINES).for_each(push);
        queue.finish(Duration::from_secs(20), Duration::from_secs(20));
        queue.push("end".into(), gap);
        let (there, left_out) = reading.join().unwrap();
        assert_eq!((left_out, there.len() as u64 + left_out), (queue.left_out(), LINES));
    }

    #[test]
    fn wait_for_a_stuck_reader_is_limited() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let queue = LineQueue::start(writer, 2 << 20).unwrap();
        let long = "x".repeat(1 << 20);
        queue.push(long.clone(), gap);
        queue.push("last".into(), gap);
        let start = Instant::now();
        queue.finish(Duration::from_millis(50), Duration::from_secs(20));
        assert!(start.elapsed() < Duration::from_secs(10));
        let mut read = vec![0; long.len() + 6];
        reader.read_exact(&mut read).unwrap();
        assert!(read.ends_with(b"\nlast\n"));
        queue.finish(Duration::from_secs(20), Duration::from_secs(20));
        assert!(queue.lock().is_done());
    }
}
