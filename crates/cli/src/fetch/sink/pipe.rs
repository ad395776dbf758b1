//! Content in order to standard output, a pipe or a device.
use super::Sink;
use crate::error::{Exit, Failure};
use crate::output;
use bytes::Bytes;
use recoup_io::waker::Waker;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// An outlet that is fed by a thread of its own, so that a slow reader slows the window and not the network.
#[derive(Debug)]
pub(crate) struct PipeSink {
    feed: Option<mpsc::Sender<Bytes>>,
    state: Arc<Mutex<PipeState>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct PipeState {
    taken: u64,
    error: Option<Failure>,
}

impl PipeSink {
    /// The pipe or device at `path`, or standard output without one; `waker` wakes the driver when something was taken.
    /// A named pipe waits for its reader.
    pub(crate) fn new(path: Option<&Path>, waker: Waker) -> Result<Self, Failure> {
        let path = path.map(Path::to_owned);
        let (feed, content) = mpsc::channel::<Bytes>();
        let state = Arc::new(Mutex::new(PipeState::default()));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("output".into());
        let thread =
            thread.spawn(move || write_all(path, &content, &shared, &waker)).map_err(|error| {
                Failure::new(Exit::Other, format!("cannot start a thread: {error}"))
            })?;
        Ok(Self { feed: Some(feed), state, thread: Some(thread) })
    }

    fn take(&self) -> Result<u64, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut state.taken)),
        }
    }
}

/// The writer, and the failure of a write to it.
type Outlet = (Box<dyn Write>, Box<dyn Fn(&io::Error) -> Failure>);

fn open(path: Option<PathBuf>) -> Result<Outlet, Failure> {
    let Some(path) = path else {
        return Ok((Box::new(io::stdout().lock()), Box::new(output::closed)));
    };
    let file = File::options().write(true).open(&path);
    let failure = move |error: &io::Error| Failure::file("write", path.display(), error);
    let file = file.map_err(|error| failure(&error))?;
    Ok((Box::new(file), Box::new(failure)))
}

fn write_all(
    path: Option<PathBuf>,
    content: &mpsc::Receiver<Bytes>,
    state: &Mutex<PipeState>,
    waker: &Waker,
) {
    let (mut out, failure) = match open(path) {
        Ok(outlet) => outlet,
        Err(failure) => {
            state.lock().unwrap_or_else(PoisonError::into_inner).error = Some(failure);
            return waker.wake();
        }
    };
    while let Ok(piece) = content.recv() {
        let written = out.write_all(&piece).and_then(|()| out.flush());
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        match written {
            Ok(()) => state.taken += piece.len() as u64,
            Err(error) => state.error = Some(failure(&error)),
        }
        waker.wake();
        if state.error.is_some() {
            return;
        }
    }
}

impl Sink for PipeSink {
    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        // A writer that has ended has left its reason, which the next flush finds.
        let _ = self.feed.as_ref().map(|feed| feed.send(content));
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        self.take()
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.feed = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.take().map(|_| ())
    }

    fn abandon(&mut self, _failure: &Failure) -> Option<String> {
        // Not joined: the reader may never read on.
        self.feed = None;
        None
    }
}
