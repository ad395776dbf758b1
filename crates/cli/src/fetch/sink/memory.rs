//! Content that is needed at once.
use super::Sink;
use crate::error::{Exit, Failure};
use bytes::Bytes;

/// Content in memory, in order, up to a bound: for listings.
#[derive(Debug)]
pub(crate) struct MemorySink {
    /// What came so far.
    content: Vec<u8>,
    limit: usize,
    /// Octets since the last wake-up.
    taken: u64,
}

impl MemorySink {
    /// At most `limit` octets.
    pub(crate) fn new(limit: usize) -> Self {
        Self { content: Vec::new(), limit, taken: 0 }
    }
}

impl Sink for MemorySink {
    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        if self.content.len() + content.len() > self.limit {
            let what = "what arrives is no folder's listing, or one that is too long";
            return Err(Failure::new(Exit::Other, what).advise("fetch a file without -r"));
        }
        self.content.extend_from_slice(&content);
        self.taken += content.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        Ok(std::mem::take(&mut self.taken))
    }

    fn into_content(self: Box<Self>) -> Vec<u8> {
        self.content
    }
}
