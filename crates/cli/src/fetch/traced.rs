//! Traces of a fetch for the Perfetto viewer.
use crate::error::Failure;
use recoup_packet::name::Name;
use recoup_trace::consumer::Transfer;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A trace that is being written.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    transfer: Transfer<BufWriter<File>>,
}

impl TraceFile {
    /// Begins the trace of a fetch of `name`.
    pub(crate) fn create(path: &Path, name: &Name) -> Result<Self, Failure> {
        let file = File::create(path)
            .map_err(|error| Failure::file("write the trace", path.display(), &error))?;
        let transfer = Transfer::new(&name.to_string(), BufWriter::new(file));
        Ok(Self { path: path.into(), transfer })
    }

    /// Notes an event.
    pub(super) fn record(&mut self, now: Instant, event: &Event) {
        self.transfer.on(now, event);
    }

    /// Ends the trace.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let written = self.transfer.finish().map(drop);
        written.map_err(|error| Failure::file("write the trace", self.path.display(), &error))
    }
}
