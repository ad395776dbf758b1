//! Waiting for sockets and for the time, and what is due then.
use super::face_entry::{Conduit, Face, mtu_of};
use super::{Driver, DriverError, Token, Uses, dial};
use crate::face::{CloseReason, FaceId, FaceUri};
use crate::medium;
use recoup_transport::time::{Duration, Instant};
use std::io::{self, ErrorKind};

/// A process that has not run for longer was stopped.
const LONGEST_LAG: Duration = Duration::from_secs(1);

impl Driver {
    /// Waits and records ready descriptors. Returns whether a waker or signal interrupted.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Result<bool, DriverError> {
        let timeout = match self.more.is_empty() {
            true => self.timeout(deadline),
            false => Some(Duration::ZERO),
        };
        self.ready.clear();
        let began = self.see_time();
        let waited = self.await_ready(timeout);
        if timeout.is_some_and(|timeout| self.clock.now() > began + timeout + LONGEST_LAG) {
            self.leave_out(self.clock.now().since(began));
        }
        self.seen = self.clock.now();
        match waited {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(DriverError::Wait(error)),
        }
        let is_there = |ready: &[(Token, bool)], id| {
            ready.iter().any(|(token, _)| matches!(token, Token::Face(face) if *face == id))
        };
        for id in std::mem::take(&mut self.more) {
            if !is_there(&self.ready, id) {
                self.ready.push((Token::Face(id), false));
            }
        }
        Ok(self.ready.iter().any(|(token, _)| matches!(token, Token::Alarm)))
    }

    /// The time now. If the process did not run since the time that was seen last, that span is left out: a deadline has not
    /// passed as long as nothing could arrive before it.
    pub(super) fn see_time(&mut self) -> Instant {
        self.leave_out(self.clock.now().since(self.seen));
        self.seen = self.clock.now();
        self.seen
    }

    fn leave_out(&mut self, span: Duration) {
        if self.options.leaves_stops_out && span > LONGEST_LAG {
            self.clock.leave_out(span);
        }
    }

    /// Waits, after looking again for a moment where that has paid.
    fn await_ready(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if self.busy_poll.is_off() || timeout == Some(Duration::ZERO) {
            return self.watch.wait(timeout, &mut self.ready);
        }
        let began = self.clock.now();
        let look = self.busy_poll.look(self.coalesce.is_fruitless()).unwrap_or_default();
        let until = began + timeout.map_or(look, |timeout| timeout.min(look));
        while self.ready.is_empty() && self.clock.now() < until {
            self.watch.wait(Some(Duration::ZERO), &mut self.ready)?;
            // The peer may need this processor.
            std::thread::yield_now();
        }
        if self.ready.is_empty() {
            let left = timeout.map(|timeout| (began + timeout).since(self.clock.now()));
            self.watch.wait(left, &mut self.ready)?;
        }
        self.busy_poll.note(self.clock.now().since(began), !self.ready.is_empty());
        Ok(())
    }

    /// Watches the connection of a face as it wants to be, and remembers it if it has received more than it handed out.
    /// Whether it has to wait for room is not known before what is to be sent by it was tried: then it is attended again.
    pub(super) fn attend(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        let Conduit::Link { link, .. } = &face.conduit else {
            return;
        };
        if link.is_send_only() || face.half_closed.is_some() {
            return;
        }
        if link.has_more() && !self.more.contains(&id) {
            self.more.push(id);
        }
        if face.dirty && face.watched.is_some() && link.is_open() {
            return;
        }
        let write = link.wants_write();
        let watched = match face.watched.replace(write) {
            Some(before) if before == write => return,
            Some(_) => self.watch.change(link.fd(), Token::Face(id), write),
            None => self.watch.add(link.fd(), Token::Face(id), write),
        };
        if let Err(error) = watched {
            self.end(id, error.into(), true);
        }
    }

    /// Watches the connection of a face no more.
    pub(super) fn neglect(&mut self, id: FaceId) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        if let Conduit::Link { link, .. } = &face.conduit
            && face.watched.take().is_some()
        {
            self.watch.remove(link.fd(), Token::Face(id));
        }
    }

    /// Puts off looking, if that collects packets, but not beyond the deadline.
    pub(super) fn coalesce(&self, deadline: Option<Instant>) {
        if let Some(pause) = self.coalesce.pause() {
            let left = deadline.map_or(pause, |deadline| deadline.since(self.clock.now()));
            std::thread::sleep(pause.min(left));
        }
    }

    /// How long nothing needs to be done.
    pub(super) fn timeout(&self, deadline: Option<Instant>) -> Option<Duration> {
        let now = self.clock.now();
        let limit = self.longest_wait.map(|longest| now + longest);
        let sweep = (self.peers() > 0).then_some(self.next_sweep);
        let faces = self.timed.iter().filter_map(|id| self.faces.get(id)?.deadline());
        let listeners = self.listeners.iter().filter_map(|listener| listener.paused_until);
        let look = self.next_look();
        let first =
            [deadline, limit, sweep, look].into_iter().flatten().chain(faces).chain(listeners);
        Some(first.min()?.since(now))
    }

    pub(super) fn serve(&mut self, token: Token, writable: bool, uses: Uses<'_>) {
        match token {
            Token::Alarm => self.alarm.clear(),
            Token::Port(index) => {
                if writable {
                    self.send_waiting(index);
                }
                self.receive_datagrams(index);
            }
            Token::Listener(id) => {
                if !self.receive_stations(id, uses) {
                    self.accept(id, uses);
                }
            }
            Token::Face(face) => self.receive_frames(face, writable),
            Token::Interfaces => self.follow_change(),
        }
    }

    /// Actions that are due without a ready socket.
    pub(super) fn expire(&mut self, uses: Uses<'_>) {
        let now = self.clock.now();
        self.resume_listeners(now);
        if self.next_look().is_some_and(|look_at| look_at <= now) {
            self.follow_change();
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
                self.expire_face(id, uses);
            }
        }
        if self.peers() > 0 && self.next_sweep <= now {
            self.sweep(now, uses);
        }
    }

    fn expire_face(&mut self, id: FaceId, uses: Uses<'_>) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        if face.half_closed.is_some() {
            return self.look_at_half_closed(id, uses);
        }
        if !matches!(face.conduit, Conduit::Down { .. }) {
            return self.end(id, CloseReason::TooSlow, true);
        }
        if matches!(face.uri, FaceUri::Udp(_)) && !face.uri.is_medium() {
            return self.dial_udp_again(id);
        }
        let begun = match face.uri.is_medium() {
            true => medium::open(&face.uri, &face.medium, &self.options),
            false => dial::begin(&face.uri, face.next_address(), &self.options),
        };
        match begun {
            Err(error) => self.end(id, error.into(), true),
            Ok(link) => {
                let open = link.is_open();
                face.mtu = face.mtu.min(mtu_of(link.as_ref()));
                let until = self.clock.now() + self.options.connect_timeout;
                face.conduit = Conduit::Link { link, open_until: (!open).then_some(until) };
                self.attend(id);
                self.report_description(id);
                match open {
                    true => self.up(id),
                    false => self.await_deadline(id),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::DriverOptions;
    use crate::stream::Stream;
    use recoup_forwarder::frame::Frame;
    use recoup_packet::tlv::{put_tlv, typ};
    use socket2::{Domain, Socket, Type};
    use std::io::{Read, Write};

    /// A frame with so many bytes of value.
    fn frame(bytes: usize) -> Vec<u8> {
        let mut frame = Vec::new();
        put_tlv(&mut frame, typ::DATA, &vec![7; bytes]);
        frame
    }

    /// A face over a stream, whose other end never waits.
    fn face(driver: &mut Driver) -> (FaceId, Socket) {
        let (ours, theirs) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        ours.set_nonblocking(true).unwrap();
        theirs.set_nonblocking(true).unwrap();
        let uri = "unix:///here".parse().unwrap();
        let stream = Stream::new(ours, false, 8 << 20);
        (driver.add(Face::over_link(uri, Box::new(stream))), theirs)
    }

    #[test]
    fn time_without_running_is_left_out() {
        for leaves_stops_out in [true, false] {
            let options = DriverOptions { leaves_stops_out, ..DriverOptions::default() };
            let mut driver = Driver::with_options(options).unwrap();
            let before = driver.see_time();
            driver.seen = before;
            // As if the process had been stopped for a minute.
            driver.clock = driver.clock.earlier(Duration::from_secs(60));
            let passed = driver.see_time().since(before);
            assert_eq!(passed < Duration::from_secs(50), leaves_stops_out, "{passed:?}");
            assert!(driver.see_time() >= before);
        }
    }

    #[test]
    fn writable_peer_is_not_watched_for_writability() {
        let mut driver = Driver::new().unwrap();
        let (id, mut peer) = face(&mut driver);
        let watched = |driver: &Driver| driver.faces.get(&id).and_then(|face| face.watched);
        assert_eq!(watched(&driver), Some(false));
        driver.send(id, Frame::from(bytes::Bytes::from(frame(10))));
        peer.write_all(&frame(20)).unwrap();
        driver.receive_frames(id, false);
        assert_eq!((driver.arrivals.len(), watched(&driver)), (2, Some(false)));
        driver.flush();
        assert_eq!(watched(&driver), Some(false));
        assert_eq!(peer.read(&mut [0; 100]).unwrap(), frame(10).len());
    }

    #[test]
    fn blocked_peer_is_watched_until_all_is_sent() {
        let mut driver = Driver::new().unwrap();
        let (id, mut peer) = face(&mut driver);
        let waits = |driver: &Driver| driver.faces.get(&id).unwrap().watched == Some(true);
        while !waits(&driver) {
            driver.send(id, Frame::from(bytes::Bytes::from(frame(8_000))));
            driver.flush();
        }
        peer.write_all(&frame(20)).unwrap();
        driver.send(id, Frame::from(bytes::Bytes::from(frame(8_000))));
        driver.receive_frames(id, false);
        assert!(waits(&driver), "nothing was sent since");
        let mut taken = vec![0; 16 << 20];
        while waits(&driver) {
            assert!(peer.read(&mut taken).unwrap() > 0);
            driver.receive_frames(id, true);
            driver.flush();
        }
        assert_eq!(driver.faces.get(&id).map(|face| face.waiting), Some(0));
    }
}
