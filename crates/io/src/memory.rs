//! Two drivers in one process, joined without a socket in between.
use crate::face::{CloseReason, DropReason};
use crate::link::{Intake, Link};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Frames handed over per wake-up.
const FRAMES: usize = 512;

/// Frames on their way from one end to the other.
#[derive(Debug, Default)]
struct Pipe {
    frames: VecDeque<Bytes>,
    bytes: usize,
    closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One end of an in-process pair; give each end to a driver.
#[derive(Debug)]
pub struct MemoryEnd {
    inward: Arc<Mutex<Pipe>>,
    outward: Arc<Mutex<Pipe>>,
    /// Rings when the inward pipe is no longer empty, and rings the other end's.
    signal: UnixStream,
    fresh: VecDeque<Bytes>,
    fresh_bytes: usize,
    more: bool,
    limit: usize,
}

/// Two connected ends. At most `limit` bytes are queued in each direction.
///
/// # Errors
/// If the process has no file descriptor left.
pub fn pair(limit: usize) -> io::Result<(MemoryEnd, MemoryEnd)> {
    let (left, right) = UnixStream::pair()?;
    left.set_nonblocking(true)?;
    right.set_nonblocking(true)?;
    let (there, back) = (Arc::<Mutex<Pipe>>::default(), Arc::<Mutex<Pipe>>::default());
    let end = |inward: &Arc<_>, outward: &Arc<_>, signal| MemoryEnd {
        inward: Arc::clone(inward),
        outward: Arc::clone(outward),
        signal,
        fresh: VecDeque::new(),
        fresh_bytes: 0,
        more: false,
        limit,
    };
    Ok((end(&there, &back, left), end(&back, &there, right)))
}

impl Drop for MemoryEnd {
    fn drop(&mut self) {
        lock(&self.inward).closed = true;
        lock(&self.outward).closed = true;
    }
}

impl Link for MemoryEnd {
    fn fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }

    fn is_open(&self) -> bool {
        true
    }

    fn wants_write(&self) -> bool {
        false
    }

    fn has_more(&self) -> bool {
        self.more
    }

    fn receive(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        silence(&self.signal);
        let mut pipe = lock(&self.inward);
        let count = pipe.frames.len().min(FRAMES);
        let start = intake.frames.len();
        intake.frames.extend(pipe.frames.drain(..count));
        pipe.bytes -= intake.frames.iter().skip(start).map(Bytes::len).sum::<usize>();
        self.more = !pipe.frames.is_empty();
        match pipe.closed && pipe.frames.is_empty() {
            true => Err(CloseReason::Ended),
            false => Ok(()),
        }
    }

    fn push(&mut self, frame: Bytes) -> Result<(), DropReason> {
        if self.waiting_bytes() + frame.len() > self.limit {
            return Err(DropReason::Backlog);
        }
        self.fresh_bytes += frame.len();
        self.fresh.push_back(frame);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CloseReason> {
        let mut pipe = lock(&self.outward);
        if pipe.closed {
            return Err(CloseReason::Ended);
        }
        let silent = pipe.frames.is_empty();
        pipe.bytes += std::mem::take(&mut self.fresh_bytes);
        pipe.frames.append(&mut self.fresh);
        let ring = silent && !pipe.frames.is_empty();
        drop(pipe);
        if ring {
            let _ = (&self.signal).write(&[0]);
        }
        Ok(())
    }

    fn waiting_bytes(&self) -> usize {
        self.fresh_bytes + lock(&self.outward).bytes
    }
}

fn silence(mut signal: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!(signal.read(&mut bytes), Ok(read) if read == bytes.len()) {}
}

/// Ends to be accepted, and the waker of the acceptor.
#[derive(Debug)]
struct Door {
    callers: VecDeque<MemoryEnd>,
    signal: UnixStream,
}

static DOORS: Mutex<Option<HashMap<String, Door>>> = Mutex::new(None);

/// Callers that may wait at one door.
const CALLERS: usize = 128;

/// A name in this process to which streams connect.
#[derive(Debug)]
pub(crate) struct MemoryListener {
    name: String,
    signal: UnixStream,
}

impl MemoryListener {
    /// Opens a door.
    pub(crate) fn bind(name: &str) -> io::Result<Self> {
        let (signal, waker) = UnixStream::pair()?;
        signal.set_nonblocking(true)?;
        waker.set_nonblocking(true)?;
        let mut doors = lock(&DOORS);
        let doors = doors.get_or_insert_default();
        if doors.contains_key(name) {
            return Err(ErrorKind::AddrInUse.into());
        }
        doors.insert(name.to_owned(), Door { callers: VecDeque::new(), signal: waker });
        Ok(Self { name: name.to_owned(), signal })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.signal.as_fd()
    }

    /// The next caller.
    pub(crate) fn accept(&self) -> Option<MemoryEnd> {
        silence(&self.signal);
        lock(&DOORS).as_mut()?.get_mut(&self.name)?.callers.pop_front()
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        let door = lock(&DOORS).as_mut().and_then(|doors| doors.remove(&self.name));
        drop(door);
    }
}

/// Connects to the listener `name`.
pub(crate) fn connect(name: &str, limit: usize) -> io::Result<MemoryEnd> {
    let mut doors = lock(&DOORS);
    let door = doors.as_mut().and_then(|doors| doors.get_mut(name));
    let door = door.ok_or(ErrorKind::ConnectionRefused)?;
    if door.callers.len() >= CALLERS {
        return Err(ErrorKind::WouldBlock.into());
    }
    let (ours, theirs) = pair(limit)?;
    door.callers.push_back(theirs);
    let _ = (&door.signal).write(&[0]);
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_cross_in_both_directions_until_closed() {
        let (mut left, mut right) = pair(100).unwrap();
        left.push(Bytes::from_static(b"to the right")).unwrap();
        right.push(Bytes::from_static(b"to the left")).unwrap();
        left.flush().unwrap();
        right.flush().unwrap();
        let mut intake = Intake::default();
        left.receive(&mut intake).unwrap();
        right.receive(&mut intake).unwrap();
        assert_eq!(intake.frames, [&b"to the left"[..], b"to the right"]);
        left.push(Bytes::from_static(b"last")).unwrap();
        left.flush().unwrap();
        drop(left);
        assert_eq!(right.receive(&mut intake), Err(CloseReason::Ended));
        assert_eq!(intake.frames.len(), 3);
        assert_eq!(right.flush(), Err(CloseReason::Ended));
    }

    #[test]
    fn memory_queue_is_limited() {
        let (mut left, mut right) = pair(100).unwrap();
        for _ in 0..2 {
            left.push(Bytes::from_static(&[0; 50])).unwrap();
            left.flush().unwrap();
        }
        assert_eq!(left.push(Bytes::from_static(&[0])), Err(DropReason::Backlog));
        right.receive(&mut Intake::default()).unwrap();
        assert_eq!(left.push(Bytes::from_static(&[0])), Ok(()));
    }

    #[test]
    fn listener_name_is_exclusive() {
        let listener = MemoryListener::bind("a name of this test").unwrap();
        assert!(MemoryListener::bind("a name of this test").is_err());
        let _end = connect("a name of this test", 10).unwrap();
        assert!(listener.accept().is_some() && listener.accept().is_none());
        drop(listener);
        assert!(connect("a name of this test", 10).is_err());
    }
}
