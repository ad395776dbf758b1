//! Interface of connections and multi-access media to the driver.
use crate::buffer::Buffers;
use crate::face::{CloseReason, Counters, DropReason};
use bytes::{Bytes, BytesMut};
use socket2::SockRef;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Bytes that a stream reads at a time.
pub(crate) const READ_BYTES: usize = 256 * 1024;

/// Frames that a link passes to the driver, and the read buffer that all links share.
#[derive(Debug)]
pub(crate) struct Intake {
    /// Frames received, in order.
    pub(crate) frames: Vec<Bytes>,
    /// Sender of each frame, on multi-access media.
    pub(crate) senders: Vec<u64>,
    /// Discarded on the way.
    pub(crate) counters: Counters,
    /// Read buffer of streams.
    pub(crate) buffer: BytesMut,
    /// Where the next buffer comes from when this one is given away.
    pub(crate) pool: Buffers,
    /// How often a stream may be read.
    pub(crate) reads: usize,
    /// Scratch: where frames end in the buffer.
    pub(crate) ends: Vec<usize>,
}

impl Default for Intake {
    fn default() -> Self {
        Self {
            frames: Vec::new(),
            senders: Vec::new(),
            counters: Counters::default(),
            buffer: BytesMut::new(),
            pool: Buffers::new(READ_BYTES),
            reads: 1,
            ends: Vec::new(),
        }
    }
}

impl Intake {
    pub(crate) fn discard(&mut self, reason: DropReason) {
        self.counters.drop_frames(reason, 1);
    }
}

/// A connection with one peer (stream, WebSocket or in-process pair), or a medium with several. Nothing here ever waits.
///
/// A link begins opening or open, and ends with the first error; it is used no more after that.
pub(crate) trait Link: Debug + Send {
    /// To be waited on.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Another socket receives for this link; its descriptor is not watched.
    fn is_send_only(&self) -> bool {
        false
    }

    /// The connection is established: frames can be sent.
    fn is_open(&self) -> bool;

    /// The program at the other end relays data of programs on any machine. Known once the link is
    /// open.
    fn speaks_for_others(&self) -> bool {
        false
    }

    /// The peer may have ended only its own direction: frames may still reach it.
    fn may_be_half_closed(&self) -> bool {
        false
    }

    /// The link must be called when the descriptor becomes writable.
    fn wants_write(&self) -> bool;

    /// There is more to receive that waiting on the descriptor would not announce.
    fn has_more(&self) -> bool {
        false
    }

    /// The descriptor is ready: goes on opening, or receives what has arrived, up to a bound. What
    /// arrived before an error is in the intake.
    fn receive(&mut self, intake: &mut Intake) -> Result<(), CloseReason>;

    /// Takes a frame to be sent at the next flush, or at once if many bytes wait for it.
    fn push(&mut self, frame: Bytes) -> Result<(), DropReason>;

    /// Sends as much as the peer takes; the rest is kept.
    fn flush(&mut self) -> Result<(), CloseReason>;

    /// Bytes taken and not sent.
    fn waiting_bytes(&self) -> usize;

    /// Longest frame that it carries, in bytes, if that is less than any frame may have.
    fn mtu(&self) -> Option<usize> {
        None
    }

    /// The local address of the socket, if it has one.
    fn local_address(&self) -> Option<SocketAddr> {
        SockRef::from(&self.fd()).local_addr().ok()?.as_socket()
    }
}
