//! Readiness of descriptors where there is no epoll: each wake-up polls all (poll).
use super::Token;
use recoup_transport::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The descriptors that a driver waits for.
#[derive(Debug)]
pub(super) struct Watch {
    /// Descriptors of our own for the same sockets.
    watched: Vec<(Token, OwnedFd, bool)>,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { watched: Vec::new() })
    }

    /// Watches a descriptor from here on; whether it is writable, too, if `write`.
    pub(super) fn add(&mut self, fd: BorrowedFd<'_>, token: Token, write: bool) -> io::Result<()> {
        self.watched.push((token, fd.try_clone_to_owned()?, write));
        Ok(())
    }

    /// Watches one otherwise than before.
    pub(super) fn change(
        &mut self,
        _: BorrowedFd<'_>,
        token: Token,
        write: bool,
    ) -> io::Result<()> {
        let known = self.watched.iter_mut().find(|(other, ..)| *other == token);
        known.map(|known| known.2 = write).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Watches one no more.
    pub(super) fn remove(&mut self, _: BorrowedFd<'_>, token: Token) {
        self.watched.retain(|(other, ..)| *other != token);
    }

    /// Waits, and adds what is ready: whose descriptor, and whether it is writable.
    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        ready: &mut Vec<(Token, bool)>,
    ) -> io::Result<()> {
        let flags = |write| if write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let fds = self.watched.iter();
        let mut fds: Vec<_> =
            fds.map(|(_, fd, write)| PollFd::from_borrowed_fd(fd.as_fd(), flags(*write))).collect();
        let longest = Timespec { tv_sec: 3_600, tv_nsec: 0 };
        let timeout = timeout.map(|timeout| timeout.try_into().unwrap_or(longest));
        poll(&mut fds, timeout.as_ref())?;
        let found = self.watched.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
        ready
            .extend(found.map(|((token, ..), fd)| (*token, fd.revents().contains(PollFlags::OUT))));
        Ok(())
    }
}
