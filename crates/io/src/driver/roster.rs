//! Faces and sockets coming and going.
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::{Arrival, Driver};
use crate::face::{CloseReason, FaceChange, FaceError, FaceEvent, FaceId, FaceUri};
use std::io;

/// Most events kept for the program; the oldest are dropped first.
const EVENTS: usize = 1_024;

impl Driver {
    pub(super) fn check_room(&self, uri: &FaceUri) -> Result<(), FaceError> {
        let limit = self.options.faces;
        match self.sockets.faces.len() < limit {
            true => Ok(()),
            false => Err(FaceError::TooMany { uri: uri.clone(), limit }),
        }
    }

    pub(super) fn add(&mut self, mut face: Face) -> FaceId {
        face.last_received = self.timing.clock.now();
        face.marking = self.options.marking;
        let id = self.sockets.next_id();
        self.sockets.next_face = id.0 + 1;
        if self.quotas.peers() == usize::from(self.quotas.newcomers.contains(id)) {
            self.next_sweep = self.timing.clock.now() + self.sweep_interval();
        }
        let usable = face.deadline().is_none();
        if let Some(kind) = face.peer_kind().filter(|_| !self.quotas.newcomers.contains(id)) {
            self.quotas.add(kind, face.neighbour);
        }
        self.sockets.faces.insert(id, face);
        self.report_description(id);
        match usable {
            true => self.up(id),
            false => self.sockets.await_deadline(id),
        }
        self.attend(id);
        id
    }

    pub(super) fn up(&mut self, id: FaceId) {
        if let Some(face) = self.sockets.faces.get_mut(&id) {
            face.is_up = true;
            self.inbox.arrivals.push_back(Arrival::Up(id));
            self.report(id, FaceChange::Up);
        }
    }

    /// A face goes down: for good, or until it is opened again.
    pub(super) fn end(&mut self, id: FaceId, reason: CloseReason, again: bool) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        self.outbox.waiting -= std::mem::take(&mut face.waiting);
        if std::mem::take(&mut face.is_up) {
            self.inbox.arrivals.push_back(Arrival::Down(id));
        }
        self.sockets.neglect(id);
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        if again && face.permanent && self.options.reconnect && face.can_be_dialed() {
            let retry = face.back_off(&self.options);
            let down = Conduit::Down { retry_at: self.timing.clock.now() + retry };
            if let Conduit::Udp(peer) = std::mem::replace(&mut face.conduit, down) {
                self.sockets.remove_port(peer.port);
            }
            self.sockets.await_deadline(id);
            return self.report(id, FaceChange::Down { reason, retry: Some(retry) });
        }
        self.report(id, FaceChange::Down { reason, retry: None });
        self.report_gone(id);
        if let Some(face) = self.sockets.faces.remove(&id) {
            self.forget(id, &face);
        }
    }

    pub(super) fn forget(&mut self, id: FaceId, face: &Face) {
        self.past.add(&face.counters);
        let was_newcomer = self.quotas.newcomers.remove(id).is_some();
        if let Some(kind) = face.peer_kind().filter(|_| !was_newcomer) {
            self.quotas.remove(kind, face.neighbour);
        }
        self.sockets.forget_station(face);
        let Conduit::Udp(peer) = &face.conduit else {
            return;
        };
        match self.sockets.ports.get_mut(peer.port) {
            Some(Some(Port { used: PortUse::Shared { peers, .. }, .. })) => {
                peers.remove(&peer.route.remote);
            }
            _ => self.sockets.remove_port(peer.port),
        }
    }

    /// No peer is at the address of a face. If the host has other addresses, the next is tried
    /// before the failure is reported.
    pub(super) fn unreachable(&mut self, id: FaceId, kind: io::ErrorKind) {
        let is_reported = self.sockets.faces.get(&id).is_some_and(|face| face.unreachable_reported);
        if !is_reported && self.has_lost_ground(id, kind) {
            return;
        }
        if let Some(face) = self.sockets.faces.get_mut(&id)
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
        if let Some(face) = self.sockets.faces.get_mut(&id)
            && !std::mem::replace(&mut face.unreachable_reported, true)
        {
            self.report(id, FaceChange::Unreachable(io::Error::from(kind).to_string()));
        }
    }

    /// Records an event for the program. Newcomers are not reported: there may be thousands a
    /// second.
    pub(super) fn report(&mut self, id: FaceId, change: FaceChange) {
        if self.quotas.newcomers.contains(id) {
            return;
        }
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        if let Some(face) = self.sockets.faces.get(&id) {
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
        driver.sockets.next_face = FaceId::CONTENT_STORE.0;
        assert_eq!(open(&mut driver), 255, "applications know 254 as the content store");
        driver.sockets.next_face = FaceId::LAST_OF_NETWORK.0;
        assert_eq!(open(&mut driver), FaceId::LAST_OF_NETWORK.0);
        assert_eq!(open(&mut driver), 2, "1 is open");
    }
}
