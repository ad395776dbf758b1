//! Content in order into a writer, such as standard output or a pipe.
//!
//! A thread of its own writes, so that a slow reader slows the window and not the network. Content goes to the thread once a
//! wake-up, and the thread writes all queued segments in one system call.
use crate::error::{Error, ErrorKind, Result, reason};
use bytes::{Buf, Bytes};
use recoup_io::waker::Waker;
use std::collections::VecDeque;
use std::io::{self, IoSlice, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes after which a write takes no further segment. The driver is woken after as many written bytes that it has not
/// collected: a fetch that waits for its reader has more of them queued.
const BATCH_BYTES: usize = 256 << 10;

/// Most segments in one write (`IOV_MAX`).
const BATCH_PIECES: usize = 1_024;

/// A writer that is fed by a thread of its own.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Content since the last flush.
    pieces: VecDeque<Bytes>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Signals content, or the end, to the thread.
    news: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Bytes>,
    is_closed: bool,
    /// The thread has ended.
    is_done: bool,
    taken_bytes: u64,
    error: Option<io::Error>,
}

impl Outlet {
    /// Writes to `out`, which is flushed before the first write and after the last one. The driver is woken when something was
    /// taken.
    pub(crate) fn new(out: impl Write + Send + 'static, driver: Waker) -> Result<Self> {
        Self::waking(out, move || driver.wake())
    }

    fn waking(
        mut out: impl Write + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("output".into());
        let thread = thread.spawn(move || {
            let written = out.flush().and_then(|()| own.write_all(&mut out, &wake));
            let written = written.and_then(|()| out.flush());
            let mut state = own.lock();
            (state.error, state.is_done) = (written.err(), true);
            drop(state);
            wake();
        });
        thread.map_err(|error| {
            Error::new(ErrorKind::Other, format!("cannot start a thread: {error}"))
        })?;
        Ok(Self { pieces: VecDeque::new(), shared })
    }

    /// Content of the next segment.
    pub(crate) fn content(&mut self, content: Bytes) {
        self.pieces.push_back(content);
    }

    /// A wake-up is over. Returns the bytes that were written since the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: a write has failed.
    pub(crate) fn flush(&mut self) -> Result<u64> {
        let mut state = self.shared.lock();
        // A thread with queued content does not wait.
        let is_idle = state.queue.is_empty();
        state.queue.append(&mut self.pieces);
        if is_idle && !state.queue.is_empty() {
            self.shared.news.notify_one();
        }
        match state.error.take() {
            Some(error) => {
                let message = format!("cannot write the content: {}", reason(&error));
                Err(Error::new(ErrorKind::Local, message))
            }
            None => Ok(std::mem::take(&mut state.taken_bytes)),
        }
    }

    /// No content follows.
    pub(crate) fn close(&mut self) {
        let mut state = self.shared.lock();
        state.queue.append(&mut self.pieces);
        state.is_closed = true;
        self.shared.news.notify_one();
    }

    /// Whether all content is written, or [`flush`](Self::flush) has returned why it is not.
    pub(crate) fn is_done(&self) -> bool {
        let state = self.shared.lock();
        state.is_done && state.error.is_none()
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        // The thread is not joined: the reader may never read on.
        self.close();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, out: &mut impl Write, wake: &impl Fn()) -> io::Result<()> {
        while let Some(mut batch) = self.next_batch() {
            let bytes = batch.iter().map(Bytes::len).sum::<usize>() as u64;
            write(out, &mut batch)?;
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

    /// The queued segments of one write; waits for the first segment; `None` at the end.
    fn next_batch(&self) -> Option<VecDeque<Bytes>> {
        let state = self.lock();
        let is_idle = |state: &mut State| state.queue.is_empty() && !state.is_closed;
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

/// Writes all of a batch, in one system call if the writer takes as much.
fn write(out: &mut impl Write, batch: &mut VecDeque<Bytes>) -> io::Result<()> {
    batch.retain(|piece| !piece.is_empty());
    while !batch.is_empty() {
        let slices: Vec<_> = batch.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut written = match out.write_vectored(&slices) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
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
            let most = self.permits.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            let mut bytes = slices.iter().flat_map(|it| it.iter().copied()).collect::<Vec<_>>();
            bytes.truncate(most);
            let length = bytes.len();
            self.writes.send(bytes).map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Ends {
        sink: Outlet,
        permits: Sender<usize>,
        writes: Receiver<Vec<u8>>,
        wakes: Receiver<()>,
    }

    fn ends() -> Ends {
        let (permits, permitted) = mpsc::channel();
        let (written, writes) = mpsc::channel();
        let (waking, wakes) = mpsc::channel();
        let reader = Reader { permits: permitted, writes: written };
        let sink = Outlet::waking(reader, move || {
            let _ = waking.send(());
        });
        Ends { sink: sink.unwrap(), permits, writes, wakes }
    }

    fn finish(sink: &mut Outlet) {
        sink.close();
        while !sink.is_done() {
            std::thread::yield_now();
        }
        sink.flush().unwrap();
    }

    fn feed(sink: &mut Outlet, segments: u64, bytes: usize) {
        for segment in 0..segments {
            sink.content(vec![segment as u8; bytes].into());
        }
    }

    #[test]
    fn segments_of_a_turn_are_written_together() {
        let Ends { mut sink, permits, writes, wakes } = ends();
        feed(&mut sink, 256, 8_192);
        // Content reaches the thread at the end of a turn.
        assert!(writes.try_recv().is_err());
        (0..8).for_each(|_| permits.send(usize::MAX).unwrap());
        finish(&mut sink);
        let lengths: Vec<_> = writes.try_iter().map(|bytes| bytes.len()).collect();
        assert_eq!(lengths, [BATCH_BYTES; 8]);
        // The first batch is news to the driver, which has collected none of it, and so is the end.
        assert_eq!(wakes.try_iter().count(), 2);
    }

    #[test]
    fn many_short_segments_fit_one_system_call() {
        let Ends { mut sink, permits, writes, .. } = ends();
        feed(&mut sink, 2_048, 1);
        (0..2).for_each(|_| permits.send(usize::MAX).unwrap());
        finish(&mut sink);
        assert_eq!(writes.try_iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [1_024; 2]);
    }

    #[test]
    fn partial_writes_lose_no_byte() {
        let Ends { mut sink, permits, writes, .. } = ends();
        feed(&mut sink, 5, 3);
        [1, 4, 1, 9].into_iter().for_each(|most| permits.send(most).unwrap());
        finish(&mut sink);
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
        // A failure without a reader is no end.
        assert!(!sink.is_done());
        assert!(sink.flush().unwrap_err().is_local());
        assert!(sink.is_done());
    }
}
