//! Waiting for sockets and for the time, and what is due then.
use super::face_entry::{Conduit, Face, mtu_of};
use super::{Driver, DriverError, Token, Uses, dial};
use crate::face::{CloseReason, FaceId, FaceUri};
use crate::medium;
use recoup_transport::time::{Duration, Instant};
use std::io::ErrorKind;

impl Driver {
    /// Waits and records ready descriptors. Returns whether a waker or signal interrupted.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Result<bool, DriverError> {
        let timeout = match self.sockets.more.is_empty() {
            true => self.timeout(deadline),
            false => Some(Duration::ZERO),
        };
        self.sockets.ready.clear();
        match self.timing.wait(timeout, &mut self.sockets) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(DriverError::Wait(error)),
        }
        Ok(self.sockets.take_ready())
    }

    /// Watches the connection of a face as it wants to be.
    pub(super) fn attend(&mut self, id: FaceId) {
        if let Err(error) = self.sockets.attend(id) {
            self.end(id, error.into(), true);
        }
    }

    /// How long nothing needs to be done.
    pub(super) fn timeout(&self, deadline: Option<Instant>) -> Option<Duration> {
        let now = self.timing.clock.now();
        let limit = self.timing.longest_wait.map(|longest| now + longest);
        let sweep = (self.quotas.peers() > 0).then_some(self.next_sweep);
        let faces =
            self.sockets.timed.iter().filter_map(|id| self.sockets.faces.get(id)?.deadline());
        let listeners = self.sockets.listeners.iter().filter_map(|listener| listener.paused_until);
        let look = self.next_look();
        let first =
            [deadline, limit, sweep, look].into_iter().flatten().chain(faces).chain(listeners);
        Some(first.min()?.since(now))
    }

    pub(super) fn serve(&mut self, token: Token, writable: bool, uses: Uses<'_>) {
        match token {
            Token::Alarm => self.sockets.alarm.clear(),
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
        let now = self.timing.clock.now();
        self.sockets.resume_listeners(now, &self.options);
        if self.next_look().is_some_and(|look_at| look_at <= now) {
            self.follow_change();
        }
        for index in (0..self.sockets.timed.len()).rev() {
            let Some(&id) = self.sockets.timed.get(index) else {
                continue;
            };
            let Some(deadline) = self.sockets.faces.get(&id).and_then(Face::deadline) else {
                self.sockets.timed.swap_remove(index);
                continue;
            };
            if deadline <= now {
                self.sockets.timed.swap_remove(index);
                self.expire_face(id, uses);
            }
        }
        if self.quotas.peers() > 0 && self.next_sweep <= now {
            self.sweep(now, uses);
        }
    }

    fn expire_face(&mut self, id: FaceId, uses: Uses<'_>) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
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
                let until = self.timing.clock.now() + self.options.connect_timeout;
                face.conduit = Conduit::Link { link, open_until: (!open).then_some(until) };
                self.attend(id);
                self.report_description(id);
                match open {
                    true => self.up(id),
                    false => self.sockets.await_deadline(id),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn writable_peer_is_not_watched_for_writability() {
        let mut driver = Driver::new().unwrap();
        let (id, mut peer) = face(&mut driver);
        let watched = |driver: &Driver| driver.sockets.faces.get(&id).and_then(|face| face.watched);
        assert_eq!(watched(&driver), Some(false));
        driver.send(id, Frame::from(bytes::Bytes::from(frame(10))));
        peer.write_all(&frame(20)).unwrap();
        driver.receive_frames(id, false);
        assert_eq!((driver.inbox.arrivals.len(), watched(&driver)), (2, Some(false)));
        driver.flush();
        assert_eq!(watched(&driver), Some(false));
        assert_eq!(peer.read(&mut [0; 100]).unwrap(), frame(10).len());
    }

    #[test]
    fn blocked_peer_is_watched_until_all_is_sent() {
        let mut driver = Driver::new().unwrap();
        let (id, mut peer) = face(&mut driver);
        let waits = |driver: &Driver| driver.sockets.faces.get(&id).unwrap().watched == Some(true);
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
        assert_eq!(driver.sockets.faces.get(&id).map(|face| face.waiting), Some(0));
    }
}
