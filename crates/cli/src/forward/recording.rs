//! The recording of a forwarder: a forwarder goes on without one that cannot be written.
use super::log::{Event, Log};
use crate::error::{Exit, Failure, reason};
use recoup_io::recording::Recorder;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Whether a run is recorded, and whether that succeeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordingState {
    /// The file, if a recording is wanted.
    path: Option<PathBuf>,
    /// Why nothing more is written to it.
    failure: Option<String>,
}

impl RecordingState {
    /// A recording that is written to `path`; none without a path.
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, failure: None }
    }

    /// Gives the recording up if it could not be written.
    pub(super) fn check<M, W: Write>(&mut self, recorder: &mut Recorder<M, W>, log: Log) {
        let (Some(error), Some(path)) = (recorder.give_up(), &self.path) else {
            return;
        };
        let why = match error.kind() {
            ErrorKind::Unsupported => "something happened that it cannot hold".to_owned(),
            _ => reason(&error),
        };
        let message = format!("the recording {} is given up: {why}", path.display());
        let failure = Failure::new(Exit::Local, message)
            .advise("the forwarder goes on; `recoup replay` reads the file up to there");
        log.say(&Event::RecordingEnded { text: failure.to_string() });
        self.failure = Some(why);
    }

    /// Recordings that were given up: one or none.
    pub(super) fn failures(&self) -> u64 {
        self.failure.is_some().into()
    }

    /// The file and why it ended; null without a recording.
    pub(super) fn json(&self) -> Value {
        match &self.path {
            Some(path) => json!({"file": path.display().to_string(), "failure": self.failure}),
            None => Value::Null,
        }
    }
}
