//! The recording of a forwarder; a write error ends the recording, not the forwarder.
use super::log::{Event, Log};
use crate::error::{Exit, Failure, reason};
use recoup_io::recording::Recorder;
use serde_json::{Value, json};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// State of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordingState {
    /// The file, if a recording is wanted.
    path: Option<PathBuf>,
    /// Error that ended it.
    failure: Option<String>,
}

impl RecordingState {
    /// A recording to `path`, if there is one.
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, failure: None }
    }

    /// Ends the recording after a write error.
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
        log.write(&Event::RecordingEnded { text: failure.to_string() });
        self.failure = Some(why);
    }

    /// Recordings ended by an error: 0 or 1.
    pub(super) fn failures(&self) -> u64 {
        self.failure.is_some().into()
    }

    /// File and error; null without a recording.
    pub(super) fn json(&self) -> Value {
        match &self.path {
            Some(path) => json!({"file": path.display().to_string(), "failure": self.failure}),
            None => Value::Null,
        }
    }
}
