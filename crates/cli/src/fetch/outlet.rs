//! Standard output, a pipe or a device, as a fetch writes to it.
use super::observer::Line;
use crate::error::Failure;
use crate::output;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A writer that is opened when it is first flushed: a named pipe waits for its reader.
pub(super) struct Outlet {
    /// The pipe or the device; standard output without one.
    path: Option<PathBuf>,
    file: Option<File>,
    line: Line,
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Outlet {
    /// The pipe or device at `path`, or standard output without one. The progress line makes way for the first content.
    pub(super) fn new(path: Option<&Path>, line: Line) -> Self {
        Self { path: path.map(Path::to_owned), file: None, line, failure: Arc::default() }
    }

    /// Where the failure of a write will be.
    pub(super) fn failure(&self) -> Arc<Mutex<Option<Failure>>> {
        Arc::clone(&self.failure)
    }

    fn open(&self) -> io::Result<File> {
        match &self.path {
            Some(path) => File::options().write(true).open(path),
            None => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        }
    }

    fn record(&self, error: &io::Error) {
        if error.kind() == ErrorKind::Interrupted {
            return;
        }
        let failure = match &self.path {
            Some(path) => Failure::file("write", path.display(), error),
            None => output::closed(error),
        };
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.line.make_way();
        let written = match &mut self.file {
            Some(file) => file.write_vectored(slices),
            None => Err(ErrorKind::NotConnected.into()),
        };
        written.inspect_err(|error| self.record(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.open().inspect_err(|error| self.record(error))?);
        }
        Ok(())
    }
}
