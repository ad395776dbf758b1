//! A frame that leaves: few octets that were written for it, and the octets of a packet that it shares with others.
//!
//! Who sends a frame collects octets anyway (into a batch of datagrams, or a vectored write), so nothing is gained by copying
//! a packet behind its link header first.
use bytes::{Bytes, BytesMut};
use std::fmt;

/// Most octets that stand before the shared ones.
pub const MAX_HEAD_OCTETS: usize = 23;

/// A whole frame in two parts. Cloning shares the second.
#[derive(Clone)]
pub struct Frame {
    head: [u8; MAX_HEAD_OCTETS],
    head_octets: u8,
    body: Bytes,
}

impl Frame {
    /// Octets that stand before `body`; `None` if they are more than [`MAX_HEAD_OCTETS`].
    #[must_use]
    pub fn new(head: &[u8], body: Bytes) -> Option<Self> {
        let mut octets = [0; MAX_HEAD_OCTETS];
        octets.get_mut(..head.len())?.copy_from_slice(head);
        Some(Self { head: octets, head_octets: head.len() as u8, body })
    }

    /// The octets before the shared ones.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        self.head.get(..usize::from(self.head_octets)).unwrap_or_default()
    }

    /// The shared octets.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Octets of the whole frame.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.head_octets) + self.body.len()
    }

    /// Whether there are no octets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole frame in one piece; copied unless it is one already.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if self.head_octets == 0 {
            return self.body;
        }
        let mut whole = BytesMut::with_capacity(self.len());
        whole.extend_from_slice(self.head());
        whole.extend_from_slice(&self.body);
        whole.freeze()
    }
}

impl From<Bytes> for Frame {
    fn from(body: Bytes) -> Self {
        Self { head: [0; MAX_HEAD_OCTETS], head_octets: 0, body }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.clone().into_bytes(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_in_two_parts_is_their_octets_one_after_the_other() {
        let frame = Frame::new(b"head", Bytes::from_static(b"body")).unwrap();
        assert_eq!((frame.len(), frame.is_empty()), (8, false));
        assert_eq!(frame.into_bytes(), b"headbody"[..]);
        assert!(Frame::new(&[0; MAX_HEAD_OCTETS + 1], Bytes::new()).is_none());
        assert!(Frame::from(Bytes::new()).is_empty());
    }
}
