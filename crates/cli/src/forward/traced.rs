//! The trace of a forwarder; a write error ends the trace, not the forwarder.
use super::log::{Event, Log};
use crate::error::Failure;
use recoup_forwarder::face::{FaceId, FaceUse};
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_io::capture::Capturer;
use recoup_trace::forwarder::Forwarder;
use recoup_transport::time::{Duration, Instant};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Longest time until an event is in the file.
const FLUSH: Duration = Duration::from_secs(1);

/// A node with its captures, whose inputs and outputs are traced, or not.
pub(super) struct Traced {
    capturer: Capturer,
    trace: Option<Box<Trace>>,
}

struct Trace {
    path: PathBuf,
    forwarder: Forwarder<BufWriter<File>>,
    flushed: Instant,
}

impl Traced {
    /// Begins a trace in the file `path`, if there is one.
    pub(super) fn new(capturer: Capturer, path: Option<&Path>, seed: u64) -> Result<Self, Failure> {
        let begin = |path: &Path| -> Result<_, Failure> {
            let file = File::create(path).map_err(|error| failure(path, &error))?;
            let forwarder = Forwarder::new("forwarder", seed, BufWriter::new(file));
            Ok(Box::new(Trace { path: path.into(), forwarder, flushed: Instant::ZERO }))
        };
        Ok(Self { capturer, trace: path.map(begin).transpose()? })
    }

    /// The node with its captures.
    pub(super) fn capturer(&self) -> &Capturer {
        &self.capturer
    }

    /// The node with its captures.
    pub(super) fn capturer_mut(&mut self) -> &mut Capturer {
        &mut self.capturer
    }

    /// Writes what waits to be written, from time to time, and gives a trace up that cannot be written; to be called often.
    pub(super) fn flush(&mut self, now: Instant, log: Log) {
        let Some(trace) = self.trace.as_mut().filter(|trace| now.since(trace.flushed) >= FLUSH)
        else {
            return;
        };
        trace.flushed = now;
        trace.forwarder.flush();
        if let Some(error) = trace.forwarder.give_up() {
            let text = failure(&trace.path, &error).advise("the forwarder goes on").to_string();
            log.write(&Event::TraceEnded { text });
            self.trace = None;
        }
    }

    /// Ends the trace, if it was not given up.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let Some(trace) = self.trace.take() else { return Ok(()) };
        let Trace { path, forwarder, .. } = *trace;
        forwarder.finish().map(drop).map_err(|error| failure(&path, &error))
    }
}

impl Machine for Traced {
    fn handle(&mut self, now: Instant, input: Input) {
        if let Some(trace) = &mut self.trace {
            trace.forwarder.input(now, &input);
        }
        self.capturer.handle(now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        let output = self.capturer.poll(now);
        if let (Some(trace), Some(output)) = (&mut self.trace, &output) {
            trace.forwarder.output(now, output);
        }
        output
    }

    fn deadline(&self) -> Option<Instant> {
        self.capturer.deadline()
    }

    fn face_use(&self, face: FaceId) -> FaceUse {
        self.capturer.face_use(face)
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::file("write the trace", path.display(), error)
}
