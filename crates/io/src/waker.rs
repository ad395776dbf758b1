//! Interrupting a driver that waits, from another thread or from a signal handler.
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Interrupts a waiting driver; cheap to clone.
#[derive(Clone, Debug)]
pub struct Waker {
    stream: Arc<UnixStream>,
}

impl Waker {
    /// Makes the driver return from its turn, now or, if it is not waiting, at its next one.
    pub fn wake(&self) {
        // A full pipe is as good as one more byte in it: the driver wakes either way.
        let _ = (&*self.stream).write(&[0]);
    }

    /// A stream on which any byte written wakes the driver: for a signal handler, which may do no
    /// more than write to a file descriptor.
    ///
    /// # Errors
    /// If the process has no file descriptor left.
    pub fn stream(&self) -> io::Result<UnixStream> {
        self.stream.try_clone()
    }
}

/// The driver's side of its wakers.
#[derive(Debug)]
pub(crate) struct Alarm {
    pub(crate) stream: UnixStream,
    waker: Waker,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        let (stream, writer) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { stream, waker: Waker { stream: Arc::new(writer) } })
    }

    pub(crate) fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Forgets the wake-ups so far.
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 256];
        while matches!((&self.stream).read(&mut bytes), Ok(n) if n == bytes.len()) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waking_often_neither_blocks_nor_leaves_anything_behind() {
        let alarm = Alarm::new().unwrap();
        let waker = alarm.waker();
        for _ in 0..1_000_000 {
            waker.wake();
        }
        alarm.clear();
        let error = (&alarm.stream).read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
