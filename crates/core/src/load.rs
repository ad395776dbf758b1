//! Packets as queues, links and media see them: a length.
use bytes::Bytes;

/// Load of a queue and of a link.
pub trait Load {
    /// Size in bytes, constant while it is queued.
    fn bytes(&self) -> u32;
}

impl Load for Bytes {
    fn bytes(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }
}
