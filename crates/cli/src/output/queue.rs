//! Lines for a reader that may be slow or stuck: a thread writes them, and no other thread waits for it.
//!
//! A line is written at once if the queue is empty and the reader's buffer has space. The thread runs only while lines
//! are queued. System calls of a process with one thread are cheaper: descriptors need no reference counts, allocations
//! no lock.
//!
//! Lines wait in a bounded queue. If the queue is full, lines are left out and counted until half of the queue is free again;
//! the count is written where the lines would have been. The file description of standard error is shared with other
//! processes, so that it cannot be made non-blocking instead.
use recoup_io::nonblocking::NonBlocking;
use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The thread ends after this time without a line.
const IDLE: Duration = Duration::from_millis(100);

/// Writes how many lines were left out, in the form of the lines around.
pub(crate) type Gap = fn(u64) -> String;

/// A queue, and where its thread writes.
pub(super) struct LineQueue {
    state: Mutex<State>,
    changed: Condvar,
    /// Locked as long as the thread runs.
    out: Mutex<Box<dyn Write + Send>>,
    /// Non-blocking handle of the same file, if it can be had.
    direct: Option<NonBlocking>,
}

#[derive(Debug, Default)]
struct State {
    /// Without their ends; of the first one the rest.
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    limit: usize,
    /// Lines dropped since the last line was queued, with the format of the notice.
    gap: Option<(u64, Gap)>,
    /// Lines that were left out in all.
    left_out: u64,
    /// There is a thread.
    is_running: bool,
    /// The thread is writing a line.
    is_writing: bool,
    /// Lines that were written.
    written: u64,
}

impl LineQueue {
    /// A queue for lines of `limit` bytes in all, which are written to `out`.
    pub(super) fn new(out: impl Write + AsFd + Send + 'static, limit: usize) -> Arc<Self> {
        let state = Mutex::new(State { limit, ..State::default() });
        let direct = NonBlocking::of(&out);
        Arc::new(Self { state, changed: Condvar::new(), out: Mutex::new(Box::new(out)), direct })
    }

    /// Writes a line, queues it, or leaves it out.
    pub(super) fn push(self: &Arc<Self>, line: String, gap: Gap) {
        let mut state = self.lock();
        let mut line = line.into_bytes();
        if state.is_done() {
            line.push(b'\n');
            // If it fails, the reader is gone.
            let direct = self.direct.as_ref();
            let written = direct.map_or(0, |direct| direct.write(&line).unwrap_or(line.len()));
            line.pop();
            if written > line.len() {
                state.written += 1;
                return;
            }
            line.drain(..written);
        }
        let limit = if state.gap.is_some() { state.limit / 2 } else { state.limit };
        // A line that alone is longer than the queue is taken by an empty one.
        if state.bytes > 0 && state.bytes + line.len() > limit {
            state.left_out += 1;
            let (lines, gap) = state.gap.map_or((1, gap), |(lines, _)| (lines + 1, gap));
            state.gap = Some((lines, gap));
            return;
        }
        let gap = state.gap.take().map(|(lines, gap)| gap(lines).into_bytes());
        gap.into_iter().chain([line]).for_each(|line| state.queue(line));
        if !state.is_running {
            let writer = Arc::clone(self);
            let started = Builder::new().name("recoup-log".into()).spawn(move || writer.write());
            // If the system has no thread left, the line waits for the next one.
            state.is_running = started.is_ok();
        }
        drop(state);
        self.changed.notify_all();
    }

    /// How many lines were left out so far.
    pub(super) fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Waits until all lines are written: not after `stuck` without a line, and no longer than `longest`.
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

    fn write(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        loop {
            if let Some(mut line) = state.pop() {
                state.is_writing = true;
                drop(state);
                line.push(b'\n');
                // A single write keeps the line whole beside lines of other processes. If it fails, the reader is gone.
                let _ = out.write_all(&line).and_then(|()| out.flush());
                state = self.lock();
                state.is_writing = false;
                state.written += 1;
                self.changed.notify_all();
                continue;
            }
            let waited = self.changed.wait_timeout_while(state, IDLE, |state| state.is_done());
            let (next, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() {
                state.is_running = false;
                return;
            }
        }
    }
}

impl State {
    fn queue(&mut self, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// The next line. A notice of dropped lines comes out if there is no later line.
    fn pop(&mut self) -> Option<Vec<u8>> {
        let Some(line) = self.lines.pop_front() else {
            return self.gap.take().map(|(lines, gap)| gap(lines).into_bytes());
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

    /// Numbers in lines: the lines present, and the reported number of dropped ones.
    fn account(lines: impl Iterator<Item = String>) -> (Vec<u64>, u64) {
        let (mut there, mut left_out) = (Vec::new(), 0);
        for line in lines {
            let number: i64 = line.trim().parse().unwrap();
            match u64::try_from(number) {
                Ok(number) => {
                    assert_eq!(
                        number,
                        there.len() as u64 + left_out,
                        "a gap is reported in its place"
                    );
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
        let queue = LineQueue::new(writer, 1_000);
        let push = |number: u64| queue.push(format!("{number:09}"), gap);
        (0..LINES / 2).for_each(push);
        assert!(queue.left_out() > 0, "the socket took all");
        let lines = BufReader::new(reader).lines().map(Result::unwrap);
        let reading = std::thread::spawn(|| account(lines.take_while(|line| line != "end")));
        (LINES / 2..LINES).for_each(push);
        queue.finish(Duration::from_secs(600), Duration::from_secs(600));
        queue.push("end".into(), gap);
        let (there, left_out) = reading.join().unwrap();
        assert_eq!((left_out, there.len() as u64 + left_out), (queue.left_out(), LINES));
    }

    #[test]
    fn wait_for_a_stuck_reader_is_limited() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let queue = LineQueue::new(writer, 2 << 20);
        let long = "x".repeat(1 << 20);
        queue.push(long.clone(), gap);
        queue.push("last".into(), gap);
        let start = Instant::now();
        queue.finish(Duration::from_millis(50), Duration::from_secs(600));
        assert!(start.elapsed() < Duration::from_secs(300));
        let mut read = vec![0; long.len() + 6];
        reader.read_exact(&mut read).unwrap();
        assert!(read.ends_with(b"\nlast\n"));
        queue.finish(Duration::from_secs(600), Duration::from_secs(600));
        assert!(queue.lock().is_done());
    }

    #[test]
    fn thread_runs_only_while_lines_wait() {
        let (mut reader, writer) = UnixStream::pair().unwrap();
        let queue = LineQueue::new(writer, 2 << 20);
        queue.push("1".into(), gap);
        assert!(!queue.lock().is_running);
        let long = "x".repeat(1 << 20);
        queue.push(long.clone(), gap);
        assert!(queue.lock().is_running);
        queue.push("2".into(), gap);
        let mut read = vec![0; long.len() + 5];
        reader.read_exact(&mut read).unwrap();
        assert!(read == format!("1\n{long}\n2\n").into_bytes());
        while queue.lock().is_running {
            std::thread::sleep(IDLE / 10);
        }
    }
}
