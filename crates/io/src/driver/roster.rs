//! Faces and sockets coming and going.
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::{Arrival, Driver, Token};
use crate::face::{CloseReason, FaceChange, FaceError, FaceEvent, FaceId, FaceUri};
use crate::udp::UdpPort;
use std::io;

/// Most events kept for the program; the oldest are dropped first.
const EVENTS: usize = 1_024;

impl Driver {
    pub(super) fn check_room(&self, uri: &FaceUri) -> Result<(), FaceError> {
        let limit = self.options.faces;
        match self.faces.len() < limit {
            true => Ok(()),
            false => Err(FaceError::TooMany { uri: uri.clone(), limit }),
        }
    }

    /// The next free face number. A number is reused only after all others.
    pub(super) fn next_id(&self) -> FaceId {
        let first = self.next_face;
        let mut numbers = (first..=FaceId::LAST_OF_NETWORK.0).chain(1..first).map(FaceId);
        let is_free = |id: &FaceId| !self.faces.contains_key(id) && *id != FaceId::CONTENT_STORE;
        numbers.find(is_free).unwrap_or(FaceId(first))
    }

    pub(super) fn add(&mut self, mut face: Face) -> FaceId {
        face.last_received = self.clock.now();
        face.marking = self.options.marking;
        let id = self.next_id();
        self.next_face = id.0 + 1;
        if self.peers() == usize::from(self.newcomers.contains(id)) {
            self.next_sweep = self.clock.now() + self.sweep_interval();
        }
        let usable = face.deadline().is_none();
        if let Some(kind) = face.peer_kind().filter(|_| !self.newcomers.contains(id)) {
            self.move_in(kind, face.neighbour);
        }
        self.faces.insert(id, face);
        self.report_description(id);
        match usable {
            true => self.up(id),
            false => self.await_deadline(id),
        }
        self.attend(id);
        id
    }

    pub(super) fn up(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id) {
            face.is_up = true;
            self.arrivals.push_back(Arrival::Up(id));
            self.report(id, FaceChange::Up);
        }
    }

    /// A face goes down: for good, or until it is opened again.
    pub(super) fn end(&mut self, id: FaceId, reason: CloseReason, again: bool) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        self.waiting -= std::mem::take(&mut face.waiting);
        if std::mem::take(&mut face.is_up) {
            self.arrivals.push_back(Arrival::Down(id));
        }
        self.neglect(id);
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        if again && face.permanent && self.options.reconnect && face.can_be_dialed() {
            let retry = face.back_off(&self.options);
            let down = Conduit::Down { retry_at: self.clock.now() + retry };
            if let Conduit::Udp(peer) = std::mem::replace(&mut face.conduit, down) {
                self.remove_port(peer.port);
            }
            self.await_deadline(id);
            return self.report(id, FaceChange::Down { reason, retry: Some(retry) });
        }
        self.report(id, FaceChange::Down { reason, retry: None });
        self.report_gone(id);
        if let Some(face) = self.faces.remove(&id) {
            self.forget(id, &face);
        }
    }

    pub(super) fn forget(&mut self, id: FaceId, face: &Face) {
        self.past.add(&face.counters);
        let was_newcomer = self.newcomers.remove(id).is_some();
        if let Some(kind) = face.peer_kind().filter(|_| !was_newcomer) {
            self.move_out(kind, face.neighbour);
        }
        self.forget_station(face);
        let Conduit::Udp(peer) = &face.conduit else {
            return;
        };
        match self.ports.get_mut(peer.port) {
            Some(Some(Port { used: PortUse::Shared { peers, .. }, .. })) => {
                peers.remove(&peer.route.remote);
            }
            _ => self.remove_port(peer.port),
        }
    }

    /// Remembers that something is due for a face at its deadline.
    pub(super) fn await_deadline(&mut self, id: FaceId) {
        if !self.timed.contains(&id) {
            self.timed.push(id);
        }
    }

    /// Takes a socket in and watches it.
    pub(super) fn add_port(&mut self, port: Port) -> io::Result<usize> {
        let free = self.ports.iter().position(Option::is_none).unwrap_or(self.ports.len());
        self.watch.add(port.socket.fd(), Token::Port(free), false)?;
        self.ports.resize_with(self.ports.len().max(free + 1), || None);
        if let Some(slot) = self.ports.get_mut(free) {
            *slot = Some(port);
        }
        Ok(free)
    }

    pub(super) fn remove_port(&mut self, index: usize) {
        if let Some(port) = self.ports.get_mut(index).and_then(Option::take) {
            self.watch.remove(port.socket.fd(), Token::Port(index));
        }
    }

    /// Watches a socket as it wants to be.
    pub(super) fn attend_port(&mut self, index: usize) {
        let Some(Some(Port { socket, writes, .. })) = self.ports.get_mut(index) else {
            return;
        };
        let write = socket.is_waiting();
        if std::mem::replace(writes, write) != write {
            // It is watched; what else can go wrong shows when the socket is used.
            let _ = self.watch.change(socket.fd(), Token::Port(index), write);
        }
    }

    pub(super) fn port(&self, index: usize) -> Option<&UdpPort> {
        Some(&self.ports.get(index)?.as_ref()?.socket)
    }

    /// No peer is at the address of a face. If the host has other addresses, the next is tried
    /// before the failure is reported.
    pub(super) fn unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        let is_reported = self.faces.get(&id).is_some_and(|face| face.unreachable_reported);
        if !is_reported && self.has_lost_ground(id, kind) {
            return;
        }
        if let Some(face) = self.faces.get_mut(&id)
            && face.permanent
            && face.addresses.len() > 1
        {
            let all_failed = face.failures as usize >= face.addresses.len();
            // The first attempt after a failure is for the address that was good before.
            face.failures = face.failures.max(1);
            if all_failed {
                self.report_unreachable(id, kind);
            }
            return self.end(id, io::Error::from(kind).into(), true);
        }
        self.report_unreachable(id, kind);
    }

    fn report_unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        if let Some(face) = self.faces.get_mut(&id)
            && !std::mem::replace(&mut face.unreachable_reported, true)
        {
            self.report(id, FaceChange::Unreachable(io::Error::from(kind).to_string()));
        }
    }

    /// Records an event for the program. Newcomers are not reported: there may be thousands a
    /// second.
    pub(super) fn report(&mut self, id: FaceId, change: FaceChange) {
        if self.newcomers.contains(id) {
            return;
        }
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        if let Some(face) = self.faces.get(&id) {
            self.events.push_back(FaceEvent { face: id, uri: face.uri.clone(), change });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    #[test]
    fn face_numbers_wrap_and_skip_used_ones() {
        let mut driver = Driver::new().unwrap();
        let mut ends = Vec::new();
        let mut open = |driver: &mut Driver| {
            let (ours, theirs) = memory::pair(1 << 10).unwrap();
            ends.push(theirs);
            driver.attach(ours, false).unwrap().0
        };
        assert_eq!(open(&mut driver), 1);
        driver.next_face = FaceId::CONTENT_STORE.0;
        assert_eq!(open(&mut driver), 255, "applications know 254 as the content store");
        driver.next_face = FaceId::LAST_OF_NETWORK.0;
        assert_eq!(open(&mut driver), FaceId::LAST_OF_NETWORK.0);
        assert_eq!(open(&mut driver), 2, "1 is open");
    }
}
