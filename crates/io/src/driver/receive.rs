//! From sockets to frames, and from strangers to faces.
use super::face_entry::{Conduit, Face, Port, PortUse, UdpPeer};
use super::{Arrival, Driver};
use crate::face::{Authority, CloseReason, DropReason, FaceId, FaceUri};
use crate::udp::Chunk;
use recoup_transport::time::{Duration, Instant};
use std::io;

/// Connections accepted per wake-up and listener.
const ACCEPTS: usize = 64;
/// A listener that met a full system is asked again after this time.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// An on-demand face that was heard more recently is not evicted for a newcomer.
const EVICTION_AGE: Duration = Duration::from_secs(1);

impl Driver {
    pub(super) fn receive_frames(&mut self, id: FaceId, writable: bool) {
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        let Conduit::Link { link, open_until } = &mut face.conduit else {
            return;
        };
        let was_open = link.is_open();
        let result = link.receive(&mut self.intake);
        let opened = link.is_open() && !was_open;
        if opened {
            *open_until = None;
            self.up(id);
        }
        self.take_frames(id);
        match result {
            Err(reason) => self.end(id, reason, true),
            Ok(()) if writable => self.soil(id),
            Ok(()) => {}
        }
    }

    pub(super) fn take_frames(&mut self, id: FaceId) {
        let now = self.clock.now();
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.counters.add(&std::mem::take(&mut self.intake.counters));
        for frame in self.intake.frames.drain(..) {
            if frame.is_empty() {
                face.counters.drop_frames(DropReason::Empty, 1);
                continue;
            }
            face.heard(now);
            face.counters.received(frame.len());
            self.arrivals.push_back(Arrival::Frame(id, frame));
        }
    }

    pub(super) fn receive_datagrams(&mut self, index: usize) {
        let Some(Some(port)) = self.ports.get(index) else {
            return;
        };
        let mut chunks = std::mem::take(&mut self.chunks);
        let result = port.socket.receive(&mut self.buffers, |chunk| chunks.push(chunk));
        if let (Err(error), PortUse::Connected(face)) = (result, &port.used) {
            self.unreachable(*face, error.kind());
        }
        let now = self.clock.now();
        for chunk in chunks.drain(..) {
            self.take_chunk(index, &chunk, now);
        }
        self.chunks = chunks;
    }

    pub(super) fn take_chunk(&mut self, port: usize, chunk: &Chunk, now: Instant) {
        if chunk.is_empty() {
            return self.past.drop_frames(DropReason::Empty, 1);
        }
        let Some(id) = self.sender(port, chunk, now) else {
            let datagrams = chunk.datagrams().count() as u64;
            return self.past.drop_frames(DropReason::Unsolicited, datagrams);
        };
        let Some(face) = self.faces.get_mut(&id) else {
            return;
        };
        face.heard(now);
        for frame in chunk.datagrams() {
            face.counters.received(frame.len());
            self.arrivals.push_back(Arrival::Frame(id, frame));
        }
    }

    /// The face of whoever sent a chunk; a new one if the sender is unknown and sent a packet.
    pub(super) fn sender(&mut self, port: usize, chunk: &Chunk, now: Instant) -> Option<FaceId> {
        let (known, local) = match &self.ports.get(port)?.as_ref()?.used {
            PortUse::Connected(face) => return Some(*face),
            PortUse::Shared { peers, wildcard, .. } => {
                (peers.get(&chunk.remote).copied(), chunk.local.filter(|_| *wildcard))
            }
        };
        if known.is_some() {
            return known;
        }
        // Only Interests and link packets start a conversation.
        let speaks = matches!(chunk.first_octet(), Some(0x05 | 0x64));
        if !speaks || !self.make_room(now) {
            return None;
        }
        let id = FaceId(self.next_face);
        if let Some(Some(Port { used: PortUse::Shared { peers, .. }, .. })) =
            self.ports.get_mut(port)
        {
            peers.insert(chunk.remote, id);
        }
        let uri = FaceUri::Udp(Authority::from(chunk.remote));
        let peer = UdpPeer::new(port, chunk.remote, local);
        Some(self.add(Face::over_udp(uri, peer, &self.options)))
    }

    /// Whether one more on-demand face may be opened; the longest silent one may have to go.
    pub(super) fn make_room(&mut self, now: Instant) -> bool {
        if self.on_demand < self.options.on_demand_faces && self.faces.len() < self.options.faces {
            return true;
        }
        let silent = |(id, face): (&FaceId, &Face)| Some((face.silent_since()?, *id));
        match self.faces.iter().filter_map(silent).min() {
            Some((since, id)) if now.since(since) > EVICTION_AGE => {
                self.end(id, CloseReason::Evicted, false);
                true
            }
            _ => false,
        }
    }

    pub(super) fn accept(&mut self, index: usize) {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.listeners.get_mut(index) else {
                return;
            };
            let (link, uri) = match listener.accept(&self.options) {
                Ok(Some(peer)) => peer,
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    listener.paused_until = Some(self.clock.now() + ACCEPT_PAUSE);
                    return;
                }
            };
            let now = self.clock.now();
            let room = self.make_room(now);
            // Without room the connection is closed at once, so that the peer knows.
            if room {
                let mut face = Face::over_link(uri, link);
                face.open_by(now + self.options.connect_timeout);
                self.add(face);
            }
        }
    }
}
