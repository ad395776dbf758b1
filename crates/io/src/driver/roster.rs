//! Faces and sockets coming and going.
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::{Arrival, Driver, Token};
use crate::face::{CloseReason, FaceChange, FaceError, FaceEvent, FaceId, FaceUri};
use crate::udp::UdpPort;
use std::io;

/// Events kept for whoever asks; the oldest go first.
const EVENTS: usize = 1_024;

impl Driver {
    pub(super) fn check_room(&self, uri: &FaceUri) -> Result<(), FaceError> {
        let limit = self.options.faces;
        match self.faces.len() + self.elsewhere.len() < limit {
            true => Ok(()),
            false => Err(FaceError::TooMany { uri: uri.clone(), limit }),
        }
    }

    pub(super) fn add(&mut self, mut face: Face) -> FaceId {
        face.last_heard = self.clock.now();
        face.marking = self.options.marking;
        let id = FaceId(self.next_face);
        self.next_face += 1;
        match self.home_of(&face) {
            Some(worker) => {
                self.on_demand += usize::from(!face.permanent);
                self.move_in(face.neighbour);
                self.faces.insert(id, face);
                self.let_move(id, worker);
            }
            None => self.move_into(id, face),
        }
        id
    }

    /// A face is this driver's from here on.
    pub(super) fn move_into(&mut self, id: FaceId, face: Face) {
        if !face.permanent {
            if self.on_demand == 0 {
                self.next_sweep = self.clock.now() + self.options.udp_idle / 4;
            }
            self.on_demand += 1;
        }
        let usable = face.deadline().is_none();
        self.move_in(face.neighbour);
        self.faces.insert(id, face);
        self.tell_known(id);
        match usable {
            true => self.up(id),
            false => self.await_deadline(id),
        }
        self.attend(id);
    }

    pub(super) fn up(&mut self, id: FaceId) {
        if let Some(face) = self.faces.get_mut(&id) {
            face.is_up = true;
            self.arrivals.push_back(Arrival::Up(id));
            self.tell(id, FaceChange::Up);
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
            return self.tell(id, FaceChange::Down { reason, retry: Some(retry) });
        }
        self.tell(id, FaceChange::Down { reason, retry: None });
        if let Some(face) = self.faces.remove(&id) {
            self.forget(&face);
            self.report_left(id);
            self.tell_gone(id);
        }
    }

    pub(super) fn forget(&mut self, face: &Face) {
        self.past.add(&face.counters);
        self.on_demand -= usize::from(!face.permanent);
        self.move_out(face.neighbour);
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

    /// Nobody is where a face leads. If its host has other addresses, the next one is tried before that is told.
    pub(super) fn unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        if let Some(face) = self.faces.get_mut(&id)
            && face.permanent
            && face.addresses.len() > 1
        {
            let all_refused = face.failures as usize >= face.addresses.len();
            // The first attempt after a failure is for the address that was good before.
            face.failures = face.failures.max(1);
            if all_refused {
                self.tell_unreachable(id, kind);
            }
            return self.end(id, io::Error::from(kind).into(), true);
        }
        self.tell_unreachable(id, kind);
    }

    fn tell_unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        if let Some(face) = self.faces.get_mut(&id)
            && !std::mem::replace(&mut face.unreachable_told, true)
        {
            self.tell(id, FaceChange::Unreachable(io::Error::from(kind).to_string()));
        }
    }

    pub(super) fn tell(&mut self, id: FaceId, change: FaceChange) {
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        if let Some(face) = self.faces.get(&id) {
            self.events.push_back(FaceEvent { face: id, uri: face.uri.clone(), change });
        }
    }
}
