//! Send queue of a stream: limited in bytes, never blocking, never losing half a frame.
use crate::face::DropReason;
use bytes::{Buf, Bytes};
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};

/// Frames per system call.
const SLICES: usize = 128;
/// Frames, and pieces of short frames, kept as they are while the socket is full.
const KEPT: usize = 128;
/// Frames of no more bytes are copied behind each other: a system call spends more on each of them than that.
const SHORT_BYTES: usize = 1_024;
/// More memory than this is given back after a stall.
const SPARE_BYTES: usize = 1 << 20;
/// More memory than this is given back after short frames.
const SPARE_SHORT_BYTES: usize = 128 << 10;
/// So many fresh bytes are worth a system call of their own.
const LARGE_BYTES: usize = 256 * 1024;

/// Bytes on their way to a stream socket.
///
/// Short frames are copied together; the last few long ones are kept as they are. The unsent rest
/// of earlier ones is copied together, too. A slow peer therefore pins no receive buffers and costs
/// no memory per frame.
#[derive(Debug)]
pub(crate) struct Backlog {
    stalled: VecDeque<u8>,
    fresh: VecDeque<Bytes>,
    /// Short frames behind those that are fresh.
    short: Vec<u8>,
    /// How much of them was written.
    short_written: usize,
    /// Bytes of both that were not.
    fresh_bytes: usize,
    limit: usize,
}

impl Backlog {
    /// Holds up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            stalled: VecDeque::new(),
            fresh: VecDeque::new(),
            short: Vec::new(),
            short_written: 0,
            fresh_bytes: 0,
            limit,
        }
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.stalled.len() + self.fresh_bytes
    }

    /// After a write: the socket was full.
    pub(crate) fn is_stalled(&self) -> bool {
        self.bytes() > 0
    }

    /// Writing now is worth it.
    pub(crate) fn is_large(&self) -> bool {
        self.fresh_bytes >= LARGE_BYTES
    }

    /// Takes a whole frame or, over the limit, nothing of it.
    pub(crate) fn push(&mut self, frame: Bytes) -> Result<(), DropReason> {
        if self.bytes() + frame.len() > self.limit {
            return Err(DropReason::Backlog);
        }
        self.fresh_bytes += frame.len();
        if frame.len() <= SHORT_BYTES {
            self.short.extend_from_slice(&frame);
            return Ok(());
        }
        self.close_short();
        self.fresh.push_back(frame);
        Ok(())
    }

    /// Writes what the socket takes.
    pub(crate) fn write_to(&mut self, socket: &Socket) -> io::Result<()> {
        while self.bytes() > 0 {
            match self.write_once(socket) {
                Ok(written) => self.advance(written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.stall();
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        if self.stalled.capacity() > SPARE_BYTES {
            self.stalled = VecDeque::new();
        }
        self.clear_short();
        self.short.shrink_to(SPARE_SHORT_BYTES);
        Ok(())
    }

    fn write_once(&self, socket: &Socket) -> io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let (first, second) = self.stalled.as_slices();
        let fresh = self.fresh.iter().map(|frame| &frame[..]);
        let bytes = [first, second].into_iter().chain(fresh).chain([self.short_left()]);
        let mut used = 0;
        for (slice, bytes) in slices.iter_mut().zip(bytes.filter(|bytes| !bytes.is_empty())) {
            *slice = IoSlice::new(bytes);
            used += 1;
        }
        socket.send_vectored(slices.get(..used).unwrap_or_default())
    }

    fn advance(&mut self, written: usize) {
        let stalled = written.min(self.stalled.len());
        self.stalled.drain(..stalled);
        let mut rest = written - stalled;
        self.fresh_bytes -= rest;
        while let Some(frame) = self.fresh.front_mut() {
            if rest < frame.len() {
                frame.advance(rest);
                return;
            }
            rest -= frame.len();
            self.fresh.pop_front();
        }
        self.short_written += rest;
    }

    fn short_left(&self) -> &[u8] {
        self.short.get(self.short_written..).unwrap_or_default()
    }

    /// The rest of the short frames becomes a piece of its own, since another piece follows.
    fn close_short(&mut self) {
        let left = self.short_left();
        if !left.is_empty() {
            let piece = Bytes::copy_from_slice(left);
            self.fresh.push_back(piece);
        }
        self.clear_short();
    }

    fn clear_short(&mut self) {
        self.short.clear();
        self.short_written = 0;
    }

    fn stall(&mut self) {
        self.close_short();
        let old = self.fresh.len().saturating_sub(KEPT);
        for frame in self.fresh.drain(..old) {
            self.stalled.extend(&frame[..]);
            self.fresh_bytes -= frame.len();
        }
    }
}
