//! Traces of a fetch: for the Perfetto viewer, or as qlog.
use crate::error::Failure;
use recoup_packet::name::Name;
use recoup_trace::consumer::Transfer;
use recoup_trace::qlog::Qlog;
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Endings of files that are written as qlog; others are for Perfetto.
const QLOG: [&str; 2] = ["sqlog", "qlog"];

/// A trace that is being written.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Perfetto(Transfer<BufWriter<File>>),
    Qlog(Qlog<BufWriter<File>>),
}

impl TraceFile {
    /// Begins the trace of a fetch of `name`.
    pub(crate) fn create(path: &Path, name: &Name) -> Result<Self, Failure> {
        let file = File::create(path)
            .map_err(|error| Failure::file("write the trace", path.display(), &error))?;
        let (out, title) = (BufWriter::new(file), name.to_string());
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let form = match QLOG.contains(&ending) {
            true => Form::Qlog(Qlog::new(&title, out)),
            false => Form::Perfetto(Transfer::new(&title, out)),
        };
        Ok(Self { path: path.into(), form })
    }

    /// Notes an event.
    pub(super) fn record(&mut self, now: Instant, event: &Event) {
        match &mut self.form {
            Form::Perfetto(transfer) => transfer.on(now, event),
            Form::Qlog(log) => log.on(now, event),
        }
    }

    /// Ends the trace.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let written = match self.form {
            Form::Perfetto(transfer) => transfer.finish(),
            Form::Qlog(log) => log.finish(),
        };
        let written = written.map(drop);
        written.map_err(|error| Failure::file("write the trace", self.path.display(), &error))
    }
}
