//! A listing that is being fetched, in order, into memory.
use super::Sink;
use crate::error::Failure;
use bytes::Bytes;
use recoup::folder::walk::ListingTask;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;

/// A listing.
#[derive(Debug)]
pub(crate) struct ListingSink {
    task: ListingTask,
    /// Bytes since the last wake-up.
    taken: u64,
}

impl ListingSink {
    /// The listing of a folder.
    pub(crate) fn new(task: ListingTask) -> Self {
        Self { task, taken: 0 }
    }
}

impl Sink for ListingSink {
    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        Ok(self.task.buffer.begin(object)?)
    }

    fn describe(&mut self, metadata: &Metadata) {
        self.task.describe(metadata);
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        self.task.buffer.end_known(last);
        Ok(())
    }

    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        self.taken += content.len() as u64;
        Ok(self.task.buffer.content(&content)?)
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        Ok(std::mem::take(&mut self.taken))
    }

    fn into_listing(self: Box<Self>) -> Option<ListingTask> {
        Some(self.task)
    }
}
