//! Content that is needed at once.
use super::Sink;
use crate::error::{Exit, Failure};
use bytes::Bytes;

/// Content in memory, in order, up to a limit.
#[derive(Debug)]
pub(crate) struct MemorySink {
    /// Content received so far.
    content: Vec<u8>,
    limit: usize,
    /// Bytes since the last wake-up.
    taken: u64,
}

impl MemorySink {
    /// Takes at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { content: Vec::new(), limit, taken: 0 }
    }
}

impl Sink for MemorySink {
    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        if self.content.len() + content.len() > self.limit {
            let message = format!("the content is longer than {} bytes", self.limit);
            return Err(Failure::new(Exit::Other, message));
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
