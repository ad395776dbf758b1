//! Where content goes: a file with its part and journal, alone or in a folder, a pipe, or memory.
mod file;
mod listing;
mod memory;
mod pipe;

pub(crate) use file::FileSink;
pub(crate) use listing::ListingSink;
pub(crate) use memory::MemorySink;
pub(crate) use pipe::PipeSink;
pub(crate) use recoup::download::destination;

use crate::error::Failure;
use bytes::Bytes;
use recoup::folder::walk::ListingTask;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;

/// Destination of the content of one object.
pub(crate) trait Sink {
    /// All content is there from an earlier run: nothing is to be fetched.
    fn is_complete(&self) -> bool {
        false
    }
    /// The object is known; no content comes before this.
    fn begin(&mut self, _object: &Name) -> Result<(), Failure> {
        Ok(())
    }
    /// The metadata of the object, after its beginning.
    fn describe(&mut self, _metadata: &Metadata) {}
    /// The object is the latest version, and all of it is there from an earlier run.
    fn keep(&mut self) {}
    /// Whether all of the object was there, and stays as it is.
    fn is_kept(&self) -> bool {
        false
    }
    /// Whether content from an earlier run was accepted although nothing vouched for it.
    fn holds_unverified(&self) -> bool {
        false
    }
    /// The content has this identifier.
    fn identified(&mut self, _id: ObjectId) -> Result<(), Failure> {
        Ok(())
    }
    /// A segment is accepted although nothing vouches for it.
    fn unverified(&mut self) {}
    /// The last segment of the object is known, or has moved.
    fn end_known(&mut self, _last: u64) -> Result<(), Failure> {
        Ok(())
    }
    /// Content of one segment.
    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure>;
    /// A wake-up is over. Returns the bytes that the reader took since the last one.
    fn flush(&mut self) -> Result<u64, Failure>;
    /// Bytes of the object that were there before, once it has begun.
    fn held_bytes(&self) -> u64 {
        0
    }
    /// Everything is there.
    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// The listing, if it is one.
    fn into_listing(self: Box<Self>) -> Option<ListingTask> {
        None
    }
    /// The content, if it was kept in memory.
    fn into_content(self: Box<Self>) -> Vec<u8> {
        Vec::new()
    }
    /// The fetch ended early. Returns advice about the kept content.
    fn abandon(&mut self, _failure: &Failure) -> Option<String> {
        None
    }
}
