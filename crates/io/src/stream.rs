//! Frames over an byte stream (TCP, Unix): packets follow each other without further framing.
pub(crate) mod backlog;

use crate::face::{CloseReason, DropReason, LARGEST_FRAME_RECEIVED};
use crate::link::{Intake, Link, READ_BYTES};
use backlog::Backlog;
use bytes::Bytes;
use recoup_packet::tlv::{self, typ};
use recoup_transport::time::Duration;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};

/// About so many frames are read at a time at most: others wait meanwhile.
const FRAMES: usize = 1_024;
/// Bytes that are read at a time at least.
const LEAST_BYTES: usize = 16 * 1024;

/// A stream with one peer.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    connecting: bool,
    /// Beginning of a frame whose end has not arrived: shorter than the largest frame.
    tail: Vec<u8>,
    backlog: Backlog,
    broken: Option<CloseReason>,
    /// Bytes that are read at a time: fewer where frames are short.
    read_bytes: usize,
}

impl Stream {
    /// A stream over a non-blocking socket, connected or about to be. At most `waiting_limit` bytes
    /// wait for a slow peer.
    pub(crate) fn new(socket: Socket, connecting: bool, waiting_limit: usize) -> Self {
        let backlog = Backlog::new(waiting_limit);
        let (tail, broken) = (Vec::new(), None);
        Self { socket, connecting, tail, backlog, broken, read_bytes: READ_BYTES }
    }

    fn read(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        for _ in 0..intake.reads {
            if intake.buffer.is_empty() {
                intake.buffer = intake.pool.take();
            }
            let old = self.tail.len();
            let Some((start, room)) = intake.buffer.split_at_mut_checked(old) else {
                return Err(CloseReason::TooLong { length: old, limit: LARGEST_FRAME_RECEIVED });
            };
            start.copy_from_slice(&self.tail);
            let most = self.read_bytes.min(room.len());
            let room = room.get_mut(..most).unwrap_or_default();
            let read =
                match rustix::io::retry_on_intr(|| rustix::io::read(&self.socket, &mut *room)) {
                    Err(Errno::AGAIN) => return Ok(()),
                    Err(error) => return Err(io::Error::from(error).into()),
                    Ok(0) => return Err(CloseReason::Ended),
                    Ok(read) => read,
                };
            let full = read == room.len();
            self.split(intake, old + read)?;
            self.read_bytes = match intake.ends.len() {
                frames if frames > FRAMES => LEAST_BYTES.max(self.read_bytes / 2),
                frames if frames < FRAMES / 2 => READ_BYTES.min(self.read_bytes * 2),
                _ => self.read_bytes,
            };
            if !full {
                break;
            }
        }
        Ok(())
    }

    /// Hands out the whole frames in the first `filled` bytes of the intake's buffer, and keeps the
    /// beginning of the next.
    fn split(&mut self, intake: &mut Intake, filled: usize) -> Result<(), CloseReason> {
        let bytes = intake.buffer.get(..filled).unwrap_or_default();
        intake.ends.clear();
        let result = ends(bytes, &mut intake.ends);
        let complete = intake.ends.last().copied().unwrap_or(0);
        self.tail.clear();
        if result.is_ok() {
            self.tail.extend_from_slice(bytes.get(complete..).unwrap_or_default());
        }
        // A well filled buffer is handed over. From a sparse one the frames are copied, so that a
        // retained frame does not pin a large buffer.
        let chunk = match complete < READ_BYTES / 4 {
            true => Bytes::copy_from_slice(bytes.get(..complete).unwrap_or_default()),
            false => intake.pool.share(std::mem::take(&mut intake.buffer)),
        };
        let mut start = 0;
        for &end in &intake.ends {
            intake.frames.push(chunk.slice(start..end));
            start = end;
        }
        result
    }
}

impl Link for Stream {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn is_open(&self) -> bool {
        !self.connecting
    }

    fn may_be_half_closed(&self) -> bool {
        !self.connecting
    }

    fn wants_write(&self) -> bool {
        self.connecting || self.backlog.is_stalled()
    }

    fn receive(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        if self.connecting {
            self.connecting = !is_connected(&self.socket)?;
            return Ok(());
        }
        self.read(intake)
    }

    fn push(&mut self, frame: Bytes) -> Result<(), DropReason> {
        self.backlog.push(frame)?;
        if self.backlog.is_large() {
            self.broken = self.backlog.write_to(&self.socket).err().map(CloseReason::from);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CloseReason> {
        match self.broken.take() {
            Some(reason) => Err(reason),
            None => Ok(self.backlog.write_to(&self.socket)?),
        }
    }

    fn waiting_bytes(&self) -> usize {
        self.backlog.bytes()
    }
}

/// Finds where the frames in `bytes` end, as far as they are complete.
fn ends(bytes: &[u8], ends: &mut Vec<usize>) -> Result<(), CloseReason> {
    let mut rest = bytes;
    while let Some(length) = frame_length(rest)? {
        let Some(after) = rest.get(length..) else {
            return Ok(());
        };
        rest = after;
        ends.push(bytes.len() - rest.len());
    }
    Ok(())
}

/// Length of the frame at the start of `bytes`; `None` if too few bytes have arrived.
fn frame_length(bytes: &[u8]) -> Result<Option<usize>, CloseReason> {
    let Some(&first) = bytes.first() else {
        return Ok(None);
    };
    if ![typ::INTEREST, typ::DATA, typ::LP_PACKET].contains(&u64::from(first)) {
        return Err(CloseReason::Garbage(format!("it begins with 0x{first:02x}")));
    }
    match tlv::frame_len(bytes) {
        Err(error) => Err(CloseReason::Garbage(error.to_string())),
        Ok(Some(length)) if length > LARGEST_FRAME_RECEIVED => {
            Err(CloseReason::TooLong { length, limit: LARGEST_FRAME_RECEIVED })
        }
        Ok(length) => Ok(length),
    }
}

/// Starts connecting, without waiting. Once the socket is writable, [`is_connected`] returns the
/// result.
pub(crate) fn dial(socket: &Socket, address: &socket2::SockAddr) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    match socket.connect(address) {
        Err(error) if error.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) => Err(error),
        _ => Ok(()),
    }
}

/// Whether connecting succeeded; `false` if it still goes on.
pub(crate) fn is_connected(socket: &Socket) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until the descriptor is readable, or writable if `write`, or the time is over (`false`).
pub(crate) fn wait(fd: BorrowedFd<'_>, write: bool, timeout: Duration) -> io::Result<bool> {
    let flags = if write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let timeout = timeout.try_into().map_err(|_| ErrorKind::InvalidInput)?;
    match poll(&mut [PollFd::from_borrowed_fd(fd, flags)], Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};
    use std::io::Write;

    /// A Data-shaped frame with `length` bytes of value.
    fn frame(length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        tlv::put_tlv(&mut bytes, typ::DATA, &vec![0xAB; length]);
        bytes
    }

    fn pair(limit: usize) -> (Stream, Socket) {
        let (ours, theirs) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        ours.set_nonblocking(true).unwrap();
        (Stream::new(ours, false, limit), theirs)
    }

    fn lengths(intake: &Intake) -> Vec<usize> {
        intake.frames.iter().map(Bytes::len).collect()
    }

    #[test]
    fn frames_are_found_however_the_stream_is_cut() {
        let wire: Vec<u8> = [0, 1, 252, 253, 8_790].into_iter().flat_map(frame).collect();
        for cut in [1, 2, 3, 7, 256, 1_000, wire.len()] {
            let (mut stream, mut peer) = pair(1 << 20);
            let mut intake = Intake::default();
            for part in wire.chunks(cut) {
                peer.write_all(part).unwrap();
                stream.receive(&mut intake).unwrap();
            }
            assert_eq!(lengths(&intake), [2, 3, 254, 257, 8_794]);
            assert_eq!(intake.frames.concat(), wire);
            assert!(stream.tail.is_empty());
        }
    }

    #[test]
    fn full_buffer_keeps_its_partial_frame() {
        let (mut stream, mut peer) = pair(1 << 20);
        socket2::SockRef::from(&peer).set_send_buffer_size(4 << 20).unwrap();
        let wire = frame(8_000).repeat(100);
        let sender = std::thread::spawn(move || peer.write_all(&wire).map(|()| peer));
        let mut intake = Intake::default();
        while intake.frames.len() < 100 {
            wait(stream.fd(), false, Duration::from_secs(5)).unwrap();
            stream.receive(&mut intake).unwrap();
        }
        assert_eq!(intake.frames.concat(), frame(8_000).repeat(100));
        drop(sender.join().unwrap().unwrap());
        assert_eq!(stream.receive(&mut intake), Err(CloseReason::Ended));
    }

    #[test]
    fn short_frames_are_read_in_smaller_portions() {
        let (mut stream, peer) = pair(1 << 20);
        socket2::SockRef::from(&peer).set_send_buffer_size(4 << 20).unwrap();
        let mut portions = |length: usize, count: usize| {
            let (wire, mut peer) = (frame(length).repeat(count), peer.try_clone().unwrap());
            let sender = std::thread::spawn(move || peer.write_all(&wire));
            let (mut intake, mut portions) = (Intake::default(), Vec::new());
            while portions.iter().sum::<usize>() < count {
                wait(stream.fd(), false, Duration::from_secs(5)).unwrap();
                stream.receive(&mut intake).unwrap();
                portions.push(intake.frames.drain(..).count());
            }
            sender.join().unwrap().unwrap();
            (portions, stream.read_bytes)
        };
        let (short, bytes) = portions(20, 100_000);
        assert!(bytes < READ_BYTES && short.iter().skip(5).all(|frames| *frames <= FRAMES));
        assert_eq!(portions(8_000, 200).1, READ_BYTES);
    }

    #[test]
    fn garbage_ends_the_face_after_valid_frames() {
        let (mut stream, mut peer) = pair(1 << 20);
        peer.write_all(&[frame(5), b"GET / HTTP/1.1".to_vec()].concat()).unwrap();
        let mut intake = Intake::default();
        let error = stream.receive(&mut intake).unwrap_err();
        assert_eq!(lengths(&intake), [7]);
        assert_eq!(error, CloseReason::Garbage("it begins with 0x47".into()));
    }

    #[test]
    fn oversized_frame_ends_the_face_early() {
        for header in
            [&[6, 253, 0x27, 0x00][..], &[6, 254, 1, 0, 0, 0], &[6, 255, 255, 0, 0, 0, 0, 0, 0, 0]]
        {
            let (mut stream, mut peer) = pair(1 << 20);
            peer.write_all(header).unwrap();
            let error = stream.receive(&mut Intake::default()).unwrap_err();
            assert!(
                matches!(error, CloseReason::TooLong { .. } | CloseReason::Garbage(_)),
                "{error}"
            );
        }
    }

    #[test]
    fn unfinished_frame_holds_little_memory() {
        let (mut stream, mut peer) = pair(1 << 20);
        let mut intake = Intake::default();
        for byte in frame(8_000).iter().take(7_999) {
            peer.write_all(&[*byte]).unwrap();
            stream.receive(&mut intake).unwrap();
        }
        assert!(intake.frames.is_empty());
        assert!(stream.tail.capacity() < 2 * LARGEST_FRAME_RECEIVED);
    }

    #[test]
    fn peer_that_does_not_read_never_blocks() {
        let (mut stream, mut peer) = pair(1 << 20);
        let (mut sent, mut dropped) = (0, 0);
        for _ in 0..1_000 {
            match stream.push(frame(8_000).into()) {
                Ok(()) => sent += 1,
                Err(reason) => {
                    assert_eq!(reason, DropReason::Backlog);
                    dropped += 1;
                }
            }
            stream.flush().unwrap();
        }
        assert!(dropped > 100 && stream.waiting_bytes() <= 1 << 20);
        let mut intake = Intake::default();
        peer.set_nonblocking(true).unwrap();
        let mut reader = Stream::new(peer.try_clone().unwrap(), false, 0);
        while intake.frames.len() < sent {
            stream.flush().unwrap();
            reader.receive(&mut intake).unwrap();
        }
        assert!(intake.frames.iter().all(|f| **f == frame(8_000)));
        assert_eq!(stream.waiting_bytes(), 0);
        let _ = peer.flush();
    }

    #[test]
    fn frames_of_any_length_arrive_in_order() {
        let (mut stream, peer) = pair(1 << 20);
        let lengths = [10, 10, 3_000, 10, 1_020, 1_021, 2_000, 10, 10];
        let mut sent = Vec::new();
        for length in lengths.into_iter().cycle().take(5_000) {
            if stream.push(frame(length).into()).is_ok() {
                sent.push(length);
            }
            if sent.len() % 7 == 0 {
                stream.flush().unwrap();
            }
        }
        assert!(sent.len() < 5_000 && stream.waiting_bytes() > 0, "the peer is slow");
        let (mut intake, mut reader) = (Intake::default(), Stream::new(peer, false, 0));
        reader.socket.set_nonblocking(true).unwrap();
        while intake.frames.len() < sent.len() {
            stream.flush().unwrap();
            reader.receive(&mut intake).unwrap();
        }
        assert_eq!(intake.frames.concat(), sent.into_iter().flat_map(frame).collect::<Vec<_>>());
        assert_eq!(stream.waiting_bytes(), 0);
    }

    #[test]
    fn write_to_an_absent_peer_ends_the_face() {
        let (mut stream, peer) = pair(1 << 20);
        drop(peer);
        stream.push(frame(1).into()).unwrap();
        assert_eq!(stream.flush(), Err(CloseReason::Ended));
    }
}
