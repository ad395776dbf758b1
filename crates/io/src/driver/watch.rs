//! Readiness of descriptors (epoll): idle faces cost nothing per wake-up.
//!
//! Timeouts of epoll are whole milliseconds on systems that are not quite new; shorter ones are waited for with ppoll,
//! on the descriptor of the list itself.
use super::Token;
use crate::driver::ListenerId;
use crate::face::FaceId;
use recoup_transport::time::Duration;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Descriptors that one wake-up serves; the others come next, in turn.
const SERVED: usize = 256;
/// From this time on whole milliseconds are precise enough: what is left is waited for once more.
const COARSE: Duration = Duration::from_millis(2);

/// The descriptors that a driver waits for.
#[derive(Debug)]
pub(super) struct Watch {
    list: OwnedFd,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { list: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Watches a descriptor from here on; whether it is writable, too, if `write`.
    pub(super) fn add(&mut self, fd: BorrowedFd<'_>, token: Token, write: bool) -> io::Result<()> {
        Ok(epoll::add(&self.list, fd, data(token), flags(write))?)
    }

    /// Watches one otherwise than before.
    pub(super) fn change(
        &mut self,
        fd: BorrowedFd<'_>,
        token: Token,
        write: bool,
    ) -> io::Result<()> {
        Ok(epoll::modify(&self.list, fd, data(token), flags(write))?)
    }

    /// Watches one no more. Closing a descriptor is not enough: duplicates may share its socket.
    pub(super) fn remove(&mut self, fd: BorrowedFd<'_>, _: Token) {
        // It fails if the descriptor is not watched, which is what is wanted.
        let _ = epoll::delete(&self.list, fd);
    }

    /// Waits, and adds what is ready: whose descriptor, and whether it is writable. May return a little early.
    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        ready: &mut Vec<(Token, bool)>,
    ) -> io::Result<()> {
        let timeout = match timeout {
            Some(fine) if fine < COARSE => {
                if !fine.is_zero() {
                    let fd = PollFd::new(&self.list, PollFlags::IN);
                    poll(&mut [fd], Some(&timespec(fine)))?;
                }
                Some(Duration::ZERO)
            }
            coarse => coarse.map(|it| Duration::from_millis(it.as_millis() as u64)),
        };
        let timeout = timeout.map(timespec);
        let mut events = [const { MaybeUninit::uninit() }; SERVED];
        let (events, _) = epoll::wait(&self.list, &mut events, timeout.as_ref())?;
        let found = events
            .iter()
            .map(|&Event { flags, data, .. }| (token(data), flags.contains(EventFlags::OUT)));
        ready.extend(found);
        Ok(())
    }
}

fn timespec(duration: Duration) -> Timespec {
    duration.try_into().unwrap_or(Timespec { tv_sec: 3_600, tv_nsec: 0 })
}

fn flags(write: bool) -> EventFlags {
    if write { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN }
}

fn data(token: Token) -> EventData {
    let (kind, number) = match token {
        Token::Alarm => (0, 0),
        Token::Port(index) => (1, index as u32),
        Token::Listener(id) => (2, id.0),
        Token::Face(id) => (3, id.0),
        Token::Interfaces => (4, 0),
    };
    EventData::new_u64(kind << 32 | u64::from(number))
}

fn token(data: EventData) -> Token {
    let (kind, number) = (data.u64() >> 32, data.u64() as u32);
    match kind {
        0 => Token::Alarm,
        1 => Token::Port(number as usize),
        2 => Token::Listener(ListenerId(number)),
        4 => Token::Interfaces,
        _ => Token::Face(FaceId(number)),
    }
}
