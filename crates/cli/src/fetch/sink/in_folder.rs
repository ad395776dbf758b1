//! A download into a file of a folder that is fetched: its place is looked at before it is used.
use super::{FileSink, Sink};
use crate::error::{Exit, Failure};
use bytes::Bytes;
use recoup_io::target::{TargetError, TargetFolder};
use recoup_packet::name::Name;
use std::rc::Rc;

/// A file in a folder. The file is opened and named by its path, so that the path must lead to the folder that was entered.
#[derive(Debug)]
pub(crate) struct InFolder {
    sink: FileSink,
    folder: Rc<TargetFolder>,
}

impl InFolder {
    /// `sink` writes into `folder`.
    pub(crate) fn new(sink: FileSink, folder: Rc<TargetFolder>) -> Self {
        Self { sink, folder }
    }

    fn check(&self) -> Result<(), Failure> {
        self.folder.check_place().map_err(|error| target_failure(&error))
    }
}

impl Sink for InFolder {
    fn is_complete(&self) -> bool {
        self.sink.is_complete()
    }

    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        self.check()?;
        self.sink.begin(object)
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        self.sink.end_known(last)
    }

    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure> {
        self.sink.content(segment, content)
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        self.sink.flush()
    }

    fn held_bytes(&self) -> u64 {
        self.sink.held_bytes()
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.check()?;
        self.sink.finish()
    }

    fn abandon(&mut self, failure: &Failure) -> Option<String> {
        self.sink.abandon(failure)
    }
}

/// The exit code and the line for a place in a folder that is not written to.
pub(crate) fn target_failure(error: &TargetError) -> Failure {
    let failure = match error {
        TargetError::Io { action, path, source } => Failure::file(action, path.display(), source),
        TargetError::Replaced(_) => Failure::new(Exit::Local, error.to_string()),
        TargetError::Link(_) | TargetError::InTheWay(..) => {
            Failure::new(Exit::Local, error.to_string())
                .advise("remove it, or choose another folder after -o")
        }
    };
    failure.of_entry()
}
