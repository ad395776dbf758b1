//! Where content goes: a file with its part and journal, a pipe, or memory.
mod file;
mod memory;
mod pipe;

pub(crate) use file::{FileSink, destination, unfinished};
pub(crate) use memory::MemorySink;
pub(crate) use pipe::PipeSink;

use crate::error::Failure;
use bytes::Bytes;
use recoup_packet::name::Name;

/// What is done with the content of one object.
pub(crate) trait Sink {
    /// The object is known; no content comes before this.
    fn begin(&mut self, _object: &Name) -> Result<(), Failure> {
        Ok(())
    }
    /// The last segment of the object is known, or has moved.
    fn end_known(&mut self, _last: u64) -> Result<(), Failure> {
        Ok(())
    }
    /// Content of one segment.
    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure>;
    /// A wake-up is over. Returns the octets that the reader took since the last one.
    fn flush(&mut self) -> Result<u64, Failure>;
    /// Everything is there.
    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// The content, if it was kept in memory.
    fn into_content(self: Box<Self>) -> Vec<u8> {
        Vec::new()
    }
    /// It ended before everything was there. Returns what can be done about it.
    fn abandon(&mut self) -> Option<String> {
        None
    }
}
