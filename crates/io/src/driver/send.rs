//! From frames to batches, and from batches to sockets.
use super::face_entry::{Conduit, Face, Port, PortUse};
use super::{Arrival, Driver};
use crate::face::{DropReason, FaceChange, FaceId};
use crate::udp::{Batch, Sent, UdpPort};
use bytes::Bytes;
use recoup_forwarder::frame::Frame;

/// Batch buffers kept for the next batch.
const SPARE_BUFFERS: usize = 16;

/// Frames on their way to sockets.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Faces with frames to be flushed.
    pub(super) dirty: Vec<FaceId>,
    spare: Vec<Vec<u8>>,
    /// Bytes that wait for slow peers.
    pub(super) waiting: usize,
}

impl Outbox {
    /// A buffer for the next batch.
    fn batch(&mut self) -> Batch {
        Batch::reusing(self.spare.pop().unwrap_or_default())
    }

    fn recycle(&mut self, batch: Batch) {
        if self.spare.len() < SPARE_BUFFERS {
            self.spare.push(batch.into_bytes());
        }
    }

    /// Marks a face to be flushed.
    fn mark(&mut self, id: FaceId, dirty: &mut bool) {
        if !std::mem::replace(dirty, true) {
            self.dirty.push(id);
        }
    }
}

impl Driver {
    pub(super) fn send(&mut self, id: FaceId, frame: Frame) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return self.past.drop_frames(DropReason::NoFace, 1);
        };
        let length = frame.len();
        if length == 0 || length > face.mtu {
            let reason = if length == 0 { DropReason::Empty } else { DropReason::TooLong };
            return face.counters.drop_frames(reason, 1);
        }
        let free = self.options.backlog_total_bytes.saturating_sub(self.outbox.waiting);
        let tight = free < self.options.backlog_bytes;
        let taken = match &mut face.conduit {
            Conduit::Link { link, .. } if !link.is_open() => Err(DropReason::Down),
            // One that is slow holds no more than is free for the next that is.
            Conduit::Link { link, .. } if tight && link.waiting_bytes() > free => {
                Err(DropReason::Backlog)
            }
            Conduit::Link { link, .. } => link.push(frame.into_bytes()),
            Conduit::Down { .. } => Err(DropReason::Down),
            Conduit::Udp(peer) => {
                let Some(Some(port)) = self.sockets.ports.get_mut(peer.port) else {
                    return;
                };
                let bounds = port.socket.bounds(peer.path);
                if !peer.batch.accepts(length, bounds) {
                    self.send_batch(id);
                }
                return self.collect(id, frame.head(), frame.body());
            }
        };
        match taken {
            Err(reason) => face.counters.drop_frames(reason, 1),
            Ok(()) => {
                face.counters.sent(length);
                self.outbox.mark(id, &mut face.dirty);
            }
        }
    }

    /// Adds a datagram in two parts to the batch of its face, and sends the batch if that completes it.
    pub(super) fn collect(&mut self, id: FaceId, head: &[u8], body: &[u8]) {
        let Some(Face { conduit: Conduit::Udp(peer), counters, dirty, .. }) =
            self.sockets.faces.get_mut(&id)
        else {
            return;
        };
        let Some(Some(port)) = self.sockets.ports.get(peer.port) else {
            return;
        };
        if peer.batch.is_empty() {
            peer.batch = self.outbox.batch();
        }
        peer.batch.push(head, body, port.socket.bounds(peer.path));
        counters.sent(head.len() + body.len());
        if peer.batch.is_complete() {
            self.send_batch(id);
        } else {
            self.outbox.mark(id, dirty);
        }
    }

    fn send_batch(&mut self, id: FaceId) {
        let Some(Face { conduit: Conduit::Udp(peer), .. }) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        let Some(Some(port)) = self.sockets.ports.get_mut(peer.port) else {
            return;
        };
        if peer.batch.is_empty() {
            return;
        }
        let (index, (sent, batch)) = (peer.port, port.socket.send(peer.route, peer.batch.take()));
        let stalls = port.socket.is_waiting() != port.writes;
        if sent != Sent::default() {
            self.account(id, sent);
        }
        if let Some(batch) = batch {
            if sent.backlog == batch.count() {
                self.report_overflow(id, &batch);
            }
            self.outbox.recycle(batch);
        }
        if stalls {
            self.sockets.attend_port(index);
        }
    }

    /// Reports frames that the socket did not take to the recovery of their face.
    fn report_overflow(&mut self, id: FaceId, batch: &Batch) {
        if self.sockets.faces.get(&id).is_some_and(|face| !self.recovery_of(id, face).is_off()) {
            let frames = batch.datagrams().map(Bytes::copy_from_slice);
            self.inbox.arrivals.extend(frames.map(|frame| Arrival::Overflowed(id, frame)));
        }
    }

    /// Sends what a UDP socket did not take before.
    pub(super) fn send_waiting(&mut self, index: usize) {
        let Some(Some(port)) = self.sockets.ports.get_mut(index) else {
            return;
        };
        let mut results = Vec::new();
        port.socket.send_waiting(|route, sent| results.push((route, sent)));
        for (route, sent) in results.into_iter().filter(|(_, sent)| *sent != Sent::default()) {
            let face = match self.sockets.ports.get(index) {
                Some(Some(Port { used: PortUse::Connected(face), .. })) => Some(*face),
                Some(Some(Port { used: PortUse::Shared { peers, .. }, .. })) => {
                    peers.get(&route.remote).copied()
                }
                _ => None,
            };
            if let Some(face) = face {
                self.account(face, sent);
            }
        }
        self.sockets.attend_port(index);
    }

    /// Notes what went wrong with a batch.
    fn account(&mut self, id: FaceId, sent: Sent) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        face.counters.drop_frames(DropReason::TooLong, sent.too_long as u64);
        face.counters.drop_frames(DropReason::Unreachable, sent.unreachable as u64);
        face.counters.drop_frames(DropReason::Backlog, sent.backlog as u64);
        if sent.path_shrank && face.lower_path() {
            let mtu = face.mtu;
            self.inbox.arrivals.push_back(Arrival::Up(id));
            self.report(id, FaceChange::MtuLowered(mtu));
        }
        if let Some(kind) = sent.error {
            self.unreachable(id, kind);
        }
    }

    pub(super) fn soil(&mut self, id: FaceId) {
        if let Some(face) = self.sockets.faces.get_mut(&id) {
            self.outbox.mark(id, &mut face.dirty);
        }
    }

    pub(super) fn flush(&mut self) {
        let mut dirty = std::mem::take(&mut self.outbox.dirty);
        dirty.drain(..).for_each(|id| self.flush_face(id));
        dirty.append(&mut self.outbox.dirty);
        self.outbox.dirty = dirty;
    }

    pub(super) fn flush_face(&mut self, id: FaceId) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        face.dirty = false;
        match &mut face.conduit {
            Conduit::Udp(_) => {
                self.send_batch(id);
                self.report_backlog(id);
            }
            Conduit::Down { .. } => {}
            Conduit::Link { link, .. } if !link.is_open() => {}
            Conduit::Link { link, .. } => {
                let before = link.waiting_bytes();
                let result = link.flush();
                let waiting = if link.wants_write() { link.waiting_bytes() } else { 0 };
                self.outbox.waiting = self.outbox.waiting - face.waiting + waiting;
                face.mark_flushed(before, waiting, self.timing.clock.now());
                let settled = face.watched == Some(waiting > 0);
                self.report_backlog(id);
                match result {
                    Err(reason) => self.end(id, reason, true),
                    Ok(()) if settled => {}
                    Ok(()) => self.attend(id),
                }
            }
        }
    }

    /// Reports the queue of a face to the machine, if the face marks congestion.
    fn report_backlog(&mut self, id: FaceId) {
        if self.options.marking.is_none() {
            return;
        }
        let waiting = self.sockets.faces.get(&id).and_then(|face| match &face.conduit {
            Conduit::Udp(peer) => self.sockets.port(peer.port).map(UdpPort::waiting_bytes),
            Conduit::Link { .. } => Some(face.waiting),
            Conduit::Down { .. } => None,
        });
        if let Some(bytes) = waiting {
            self.inbox.arrivals.push_back(Arrival::Backlog(id, bytes as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::DriverOptions;
    use crate::udp::Route;
    use recoup_forwarder::face::Recovery;

    #[test]
    fn full_socket_reports_frames_to_recovery() {
        let mut driver = Driver::with_options(DriverOptions::default()).unwrap();
        let to = "udp4://127.0.0.1:9".parse().unwrap();
        let [guarded, plain] = [(); 2].map(|()| driver.connect(&to).unwrap());
        driver.set_recovery(guarded, "wldr".parse().unwrap());
        let route = Route { remote: "127.0.0.1:9".parse().unwrap(), local: None };
        driver.sockets.ports.iter_mut().flatten().for_each(|port| port.socket.fill(route));
        driver.inbox.arrivals.clear();
        let frames = [&b"one"[..], b"two", b"three"].map(Bytes::from_static);
        for face in [guarded, plain] {
            for frame in &frames {
                driver.send(face, Frame::from(frame.clone()));
            }
            driver.flush();
            assert_eq!(driver.counters(face).unwrap().dropped(DropReason::Backlog), 3);
        }
        let overflowed = |arrival: &Arrival| match arrival {
            Arrival::Overflowed(face, frame) => Some((*face, frame.clone())),
            _ => None,
        };
        let reported: Vec<_> = driver.inbox.arrivals.iter().filter_map(overflowed).collect();
        assert_eq!(reported, frames.map(|frame| (guarded, frame)));
    }

    #[test]
    fn point_to_point_udp_negotiates_recovery() {
        let mut driver = Driver::with_options(DriverOptions::default()).unwrap();
        driver.set_on_demand_recovery(Recovery::auto());
        let waiting = ["tcp://127.0.0.1:9", "ws://127.0.0.1:9", "unix:///nowhere/socket"];
        let udp = driver.connect(&"udp4://127.0.0.1:9".parse().unwrap()).unwrap();
        let streams = waiting.map(|uri| driver.keep(&uri.parse().unwrap()).unwrap());
        for face in streams.into_iter().chain([udp]) {
            driver.set_recovery(face, Recovery::auto());
        }
        let recovery = |face| driver.attributes(face).unwrap().recovery;
        assert_eq!(recovery(udp), Recovery::auto());
        assert_eq!(streams.map(recovery), [Recovery::Off; 3]);
    }
}
