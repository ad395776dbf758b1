//! Content in order to standard output, a pipe or a device.
//!
//! A thread of its own writes, so that a slow reader slows the window and not the network. Content goes to the thread once a
//! wake-up, and the thread writes all queued segments in one system call.
use super::Sink;
use crate::error::{Exit, Failure};
use crate::output;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Bytes after which a write takes no further segment. The driver is woken after as many written bytes that it has not
/// collected: a fetch that waits for its reader has more of them queued.
const BATCH_BYTES: usize = 256 << 10;

/// Most segments in one write (`IOV_MAX`).
const BATCH_PIECES: usize = 1_024;

/// The writer, and the failure of a write to it.
type Outlet<W> = (W, Box<dyn Fn(&io::Error) -> Failure>);

/// An outlet that is fed by a thread of its own.
#[derive(Debug)]
pub(crate) struct PipeSink {
    /// Content since the last flush.
    pieces: VecDeque<Bytes>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<PipeState>,
    /// Signals content, or the end, to the thread.
    news: Condvar,
}

#[derive(Debug, Default)]
struct PipeState {
    queue: VecDeque<Bytes>,
    is_closed: bool,
    taken_bytes: u64,
    error: Option<Failure>,
}

impl PipeSink {
    /// The pipe or device at `path`, or standard output without one; `wake` wakes the driver when something was taken.
    /// A named pipe waits for its reader.
    pub(crate) fn new(
        path: Option<&Path>,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, Failure> {
        let path = path.map(Path::to_owned);
        Self::writing(move || open(path), wake)
    }

    fn writing<W: Write>(
        open: impl FnOnce() -> Result<Outlet<W>, Failure> + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self, Failure> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("output".into());
        let thread = thread.spawn(move || {
            if let Err(failure) = open().and_then(|outlet| own.write_all(outlet, &wake)) {
                own.lock().error = Some(failure);
                wake();
            }
        });
        let thread = thread.map_err(|error| {
            Failure::new(Exit::Other, format!("cannot start a thread: {error}"))
        })?;
        Ok(Self { pieces: VecDeque::new(), shared, thread: Some(thread) })
    }

    /// No content follows.
    fn close(&mut self) {
        let mut state = self.shared.lock();
        state.queue.append(&mut self.pieces);
        state.is_closed = true;
        self.shared.news.notify_one();
    }
}

impl Drop for PipeSink {
    fn drop(&mut self) {
        // The thread is not joined: the reader may never read on.
        self.close();
    }
}

fn open(path: Option<PathBuf>) -> Result<Outlet<File>, Failure> {
    let Some(path) = path else {
        let descriptor = io::stdout().as_fd().try_clone_to_owned();
        let file = descriptor.map_err(|error| output::closed(&error))?;
        return Ok((file.into(), Box::new(output::closed)));
    };
    let file = File::options().write(true).open(&path);
    let failure = move |error: &io::Error| Failure::file("write", path.display(), error);
    let file = file.map_err(|error| failure(&error))?;
    Ok((file, Box::new(failure)))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all<W: Write>(&self, outlet: Outlet<W>, wake: &impl Fn()) -> Result<(), Failure> {
        let (mut out, failure) = outlet;
        while let Some(mut batch) = self.next_batch() {
            let bytes = batch.iter().map(Bytes::len).sum::<usize>() as u64;
            write(&mut out, &mut batch).map_err(|error| failure(&error))?;
            let mut state = self.lock();
            let before = state.taken_bytes;
            state.taken_bytes += bytes;
            let is_enough = |bytes: u64| bytes >= BATCH_BYTES as u64;
            if is_enough(state.taken_bytes) && !is_enough(before) {
                drop(state);
                wake();
            }
        }
        Ok(())
    }

    /// The queued segments that one write takes, once there are any; `None` at the end.
    fn next_batch(&self) -> Option<VecDeque<Bytes>> {
        let state = self.lock();
        let is_idle = |state: &mut PipeState| state.queue.is_empty() && !state.is_closed;
        let state = self.news.wait_while(state, is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let mut room = BATCH_BYTES;
        let fits = |piece: &&Bytes| {
            let is_free = room > 0;
            room = room.saturating_sub(piece.len());
            is_free
        };
        let many = state.queue.iter().take(BATCH_PIECES).take_while(fits).count();
        (many > 0).then(|| state.queue.drain(..many).collect())
    }
}

/// Writes all of a batch, in one system call if the outlet takes as much.
fn write(out: &mut impl Write, batch: &mut VecDeque<Bytes>) -> io::Result<()> {
    batch.retain(|piece| !piece.is_empty());
    while !batch.is_empty() {
        let slices: Vec<_> = batch.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut written = match out.write_vectored(&slices) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            written => written?,
        };
        while let Some(piece) = batch.front_mut().filter(|_| written > 0) {
            let part = written.min(piece.len());
            piece.advance(part);
            written -= part;
            batch.pop_front_if(|piece| piece.is_empty());
        }
    }
    Ok(())
}

impl Sink for PipeSink {
    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        self.pieces.push_back(content);
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        let mut state = self.shared.lock();
        // A thread with queued content does not wait.
        let is_idle = state.queue.is_empty();
        state.queue.append(&mut self.pieces);
        if is_idle && !state.queue.is_empty() {
            self.shared.news.notify_one();
        }
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut state.taken_bytes)),
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.flush().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// An outlet whose reader permits each write, and sees its bytes.
    struct Reader {
        permits: Receiver<usize>,
        writes: Sender<Vec<u8>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let most = self.permits.recv().map_err(|_| ErrorKind::BrokenPipe)?;
            let mut bytes = slices.iter().flat_map(|it| it.iter().copied()).collect::<Vec<_>>();
            bytes.truncate(most);
            let length = bytes.len();
            self.writes.send(bytes).map_err(|_| ErrorKind::BrokenPipe)?;
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Ends {
        sink: PipeSink,
        permits: Sender<usize>,
        writes: Receiver<Vec<u8>>,
        wakes: Receiver<()>,
    }

    fn ends() -> Ends {
        let (permits, permitted) = mpsc::channel();
        let (written, writes) = mpsc::channel();
        let (waking, wakes) = mpsc::channel();
        let reader = Reader { permits: permitted, writes: written };
        let open = move || {
            let outlet: Outlet<Reader> = (reader, Box::new(output::closed));
            Ok(outlet)
        };
        let sink = PipeSink::writing(open, move || {
            let _ = waking.send(());
        });
        Ends { sink: sink.unwrap(), permits, writes, wakes }
    }

    fn feed(sink: &mut PipeSink, segments: u64, bytes: usize) {
        for segment in 0..segments {
            sink.content(segment, vec![segment as u8; bytes].into()).unwrap();
        }
    }

    #[test]
    fn segments_of_a_turn_are_written_together() {
        let Ends { mut sink, permits, writes, wakes } = ends();
        feed(&mut sink, 256, 8_192);
        // Content reaches the thread at the end of a turn.
        assert!(writes.try_recv().is_err());
        (0..8).for_each(|_| permits.send(usize::MAX).unwrap());
        sink.finish().unwrap();
        let lengths: Vec<_> = writes.try_iter().map(|bytes| bytes.len()).collect();
        assert_eq!(lengths, [BATCH_BYTES; 8]);
        // The first batch is news to the driver, which has collected none of it.
        assert_eq!(wakes.try_iter().count(), 1);
    }

    #[test]
    fn many_short_segments_fit_one_system_call() {
        let Ends { mut sink, permits, writes, .. } = ends();
        feed(&mut sink, 2_048, 1);
        (0..2).for_each(|_| permits.send(usize::MAX).unwrap());
        sink.finish().unwrap();
        assert_eq!(writes.try_iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [1_024; 2]);
    }

    #[test]
    fn partial_writes_lose_no_byte() {
        let Ends { mut sink, permits, writes, .. } = ends();
        feed(&mut sink, 5, 3);
        [1, 4, 1, 9].into_iter().for_each(|most| permits.send(most).unwrap());
        sink.finish().unwrap();
        let whole: Vec<u8> = writes.try_iter().flatten().collect();
        assert_eq!(whole, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
    }

    #[test]
    fn slow_reader_wakes_the_driver_per_batch() {
        let Ends { mut sink, permits, writes, wakes } = ends();
        feed(&mut sink, 96, 8_192);
        for _ in 0..3 {
            assert_eq!(sink.flush().unwrap(), 0);
            permits.send(usize::MAX).unwrap();
            wakes.recv().unwrap();
            assert_eq!(writes.recv().unwrap().len(), BATCH_BYTES);
            assert_eq!(sink.flush().unwrap(), BATCH_BYTES as u64);
        }
    }

    #[test]
    fn closed_outlet_wakes_and_fails_at_once() {
        let Ends { mut sink, permits, wakes, .. } = ends();
        feed(&mut sink, 1, 10);
        assert_eq!(sink.flush().unwrap(), 0);
        drop(permits);
        wakes.recv().unwrap();
        assert_eq!(sink.flush().unwrap_err().code, output::closed(&broken()).code);
    }

    fn broken() -> io::Error {
        ErrorKind::BrokenPipe.into()
    }
}
