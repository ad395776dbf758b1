//! Waiting for sockets and for the time, and what is due then.
use super::face_entry::{Conduit, Face, Port};
use super::{Driver, DriverError, Token, dial};
use crate::face::{CloseReason, FaceId};
use recoup_transport::time::Instant;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;

impl Driver {
    /// Waits, and notes what is ready. Tells whether somebody interrupted.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Result<bool, DriverError> {
        let timeout = self.timeout(deadline);
        let Self { tokens, ready, .. } = self;
        tokens.clear();
        ready.clear();
        let mut fds = Vec::with_capacity(4 + self.ports.len() + self.faces.len());
        let mut watch = |token, fd, write| {
            let flags = if write { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
            tokens.push(token);
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        };
        watch(Token::Alarm, self.alarm.stream.as_fd(), false);
        for (index, port) in self.ports.iter().enumerate() {
            if let Some(Port { socket, .. }) = port {
                watch(Token::Port(index), socket.fd(), socket.is_waiting());
            }
        }
        for (index, listener) in self.listeners.iter().enumerate() {
            if listener.paused_until.is_none() {
                watch(Token::Listener(index), listener.fd(), false);
            }
        }
        let (mut more, mut busy) = (Vec::new(), false);
        for (id, face) in &self.faces {
            if let Conduit::Link { link, .. } = &face.conduit {
                watch(Token::Face(*id), link.fd(), link.wants_write());
                if link.has_more() {
                    busy = true;
                    more.push(*id);
                }
            }
        }
        let timeout = if busy { Some(Timespec { tv_sec: 0, tv_nsec: 0 }) } else { timeout };
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(DriverError::Wait(error.into())),
        }
        for (token, fd) in tokens.iter().zip(&fds) {
            let found = fd.revents();
            let also = matches!(token, Token::Face(face) if busy && more.contains(face));
            if !found.is_empty() || also {
                ready.push((*token, found.contains(PollFlags::OUT)));
            }
        }
        drop(fds);
        let woken = matches!(ready.first(), Some((Token::Alarm, _)));
        Ok(woken)
    }

    /// Puts off looking, if that collects packets, but not beyond the deadline.
    pub(super) fn linger(&self, deadline: Option<Instant>) {
        if let Some(pause) = self.linger.pause() {
            let left = deadline.map_or(pause, |deadline| deadline.since(self.clock.now()));
            std::thread::sleep(pause.min(left));
        }
    }

    /// How long nothing needs to be done.
    pub(super) fn timeout(&self, deadline: Option<Instant>) -> Option<Timespec> {
        let now = self.clock.now();
        let limit = self.longest_wait.map(|longest| now + longest);
        let sweep = (self.on_demand > 0).then_some(self.next_sweep);
        let faces = self.timed.iter().filter_map(|id| self.faces.get(id)?.deadline());
        let listeners = self.listeners.iter().filter_map(|listener| listener.paused_until);
        let first = [deadline, limit, sweep].into_iter().flatten().chain(faces).chain(listeners);
        let wait = first.min()?.since(now);
        Some(wait.try_into().unwrap_or(Timespec { tv_sec: 3_600, tv_nsec: 0 }))
    }

    pub(super) fn serve(&mut self, token: Token, writable: bool) {
        match token {
            Token::Alarm => self.alarm.clear(),
            Token::Port(index) => {
                if writable {
                    self.send_waiting(index);
                }
                self.receive_datagrams(index);
            }
            Token::Listener(index) => self.accept(index),
            Token::Face(face) => self.receive_frames(face, writable),
        }
    }

    /// What is due without a socket being ready.
    pub(super) fn expire(&mut self) {
        let now = self.clock.now();
        for listener in &mut self.listeners {
            listener.paused_until = listener.paused_until.filter(|until| *until > now);
        }
        for index in (0..self.timed.len()).rev() {
            let Some(&id) = self.timed.get(index) else {
                continue;
            };
            let Some(deadline) = self.faces.get(&id).and_then(Face::deadline) else {
                self.timed.swap_remove(index);
                continue;
            };
            if deadline <= now {
                self.timed.swap_remove(index);
                self.expire_face(id);
            }
        }
        if self.on_demand > 0 && self.next_sweep <= now {
            self.sweep(now);
        }
    }

    pub(super) fn expire_face(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        if !matches!(face.conduit, Conduit::Down { .. }) {
            return self.end(id, CloseReason::TooSlow, true);
        }
        match dial::begin(&face.uri, face.next_address(), &self.options) {
            Err(error) => self.end(id, error.into(), true),
            Ok(link) => {
                let open = link.is_open();
                let until = self.clock.now() + self.options.connect_timeout;
                face.conduit = Conduit::Link { link, open_until: (!open).then_some(until) };
                match open {
                    true => self.up(id),
                    false => self.watch(id),
                }
            }
        }
    }

    /// Ends UDP faces that have been silent for too long.
    pub(super) fn sweep(&mut self, now: Instant) {
        let idle = self.options.udp_idle;
        self.next_sweep = now + idle / 4;
        let silent = |face: &Face| {
            face.is_udp() && face.silent_since().is_some_and(|since| now.since(since) > idle)
        };
        let faces: Vec<_> =
            self.faces.iter().filter(|(_, face)| silent(face)).map(|(id, _)| *id).collect();
        faces.into_iter().for_each(|face| self.end(face, CloseReason::Idle(idle), false));
    }
}
