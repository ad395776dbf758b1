//! Receive buffers that come back: fresh memory costs more than what is read into it.
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// Lent buffers that are remembered.
const LENT: usize = 16;
/// Lent buffers that are asked whether they are free, each time one is needed.
const ASKED: usize = 3;

/// Buffers of one size. One is lent with everything that was received in it, and used again once all
/// that shared its memory is gone; those kept for long are forgotten and freed by their last owner.
#[derive(Debug)]
pub(crate) struct Buffers {
    size: usize,
    lent: VecDeque<Bytes>,
}

impl Buffers {
    /// Buffers of `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { size, lent: VecDeque::new() }
    }

    /// A buffer of full length; what it contains is left over from earlier use.
    pub(crate) fn take(&mut self) -> BytesMut {
        for _ in 0..ASKED.min(self.lent.len()) {
            match self.lent.pop_front().map(Bytes::try_into_mut) {
                Some(Ok(free)) if free.len() == self.size => return free,
                Some(Err(busy)) => self.lent.push_back(busy),
                _ => {}
            }
        }
        BytesMut::zeroed(self.size)
    }

    /// Makes a full buffer shareable, and remembers it.
    pub(crate) fn share(&mut self, buffer: BytesMut) -> Bytes {
        let lent = buffer.freeze();
        if self.lent.len() >= LENT {
            self.lent.pop_front();
        }
        self.lent.push_back(lent.clone());
        lent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_buffer_is_not_reused() {
        let mut buffers = Buffers::new(100);
        let mut buffer = buffers.take();
        buffer[7] = 7;
        let address = buffer.as_ptr();
        let shared = buffers.share(buffer).slice(7..8);
        assert_ne!(buffers.take().as_ptr(), address);
        assert_eq!(shared, [7][..]);
        drop(shared);
        let again = buffers.take();
        assert_eq!((again.as_ptr(), again.len(), again[7]), (address, 100, 7));
    }

    #[test]
    fn long_kept_buffer_is_dropped() {
        let mut buffers = Buffers::new(100);
        let kept: Vec<_> = (0..3 * LENT)
            .map(|_| {
                let buffer = buffers.take();
                buffers.share(buffer)
            })
            .collect();
        assert_eq!(buffers.lent.len(), LENT);
        drop(kept);
        assert_eq!(buffers.take().len(), 100);
    }
}
