//! Packets as queues, links and media see them: a length.
use bytes::Bytes;

/// Load of a queue and of a link.
pub trait Load {
    /// Bytes that it is charged with; the same as long as it is queued.
    fn octets(&self) -> u32;
}

impl Load for Bytes {
    fn octets(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
}
