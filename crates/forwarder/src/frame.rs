//! An outgoing frame: a short head that was written for it, and a shared packet body.
//!
//! A driver collects bytes anyway (into a batch of datagrams, or a vectored write), so copying a packet behind its
//! link header saves nothing.
use bytes::{Bytes, BytesMut};
use recoup_transport::link::recovery::lean::Head;
use std::fmt;

/// A frame in two parts. Clones share the second.
#[derive(Clone)]
pub struct Frame {
    head: Head,
    body: Bytes,
}

impl Frame {
    /// A frame with these bytes before `body`.
    #[must_use]
    #[inline]
    pub fn new(head: Head, body: Bytes) -> Self {
        Self { head, body }
    }

    /// The bytes before the shared ones.
    #[must_use]
    #[inline]
    pub fn head(&self) -> &[u8] {
        self.head.bytes()
    }

    /// The shared bytes.
    #[must_use]
    #[inline]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Length of the whole frame, in bytes.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.head().len() + self.body.len()
    }

    /// Whether the frame is empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole frame in one buffer; copied unless one part is empty.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        if self.head().is_empty() {
            return self.body;
        }
        let mut whole = BytesMut::with_capacity(self.len());
        whole.extend_from_slice(self.head());
        whole.extend_from_slice(&self.body);
        whole.freeze()
    }
}

impl From<Bytes> for Frame {
    #[inline]
    fn from(body: Bytes) -> Self {
        Self { head: Head::default(), body }
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
    use recoup_transport::link::recovery::Label;

    #[test]
    fn frame_is_the_concatenation_of_its_parts() {
        let label = Label { epoch: 1, number: 2, origin: None };
        let body = Bytes::from_static(b"body");
        let head = Head::new(label, body.len()).unwrap();
        let frame = Frame::new(head, body.clone());
        assert_eq!((frame.len(), frame.is_empty()), (head.bytes().len() + 4, false));
        assert_eq!(frame.into_bytes(), [head.bytes(), b"body"].concat());
        assert_eq!(Frame::from(body.clone()).into_bytes(), body);
        assert!(Frame::from(Bytes::new()).is_empty());
    }
}
