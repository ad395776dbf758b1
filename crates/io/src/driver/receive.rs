//! From sockets to frames, and from strangers to faces.
use super::face_entry::{Conduit, Face, Port, PortUse, UdpPeer};
use super::room::{Neighbour, PeerKind};
use super::{Arrival, Driver, ListenerId, Uses};
use crate::descriptor;
use crate::face::{Authority, CloseReason, DropReason, FaceId, FaceUri};
use crate::link::Intake;
use crate::udp::{Chunk, ReceiveBuffers};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

/// Connections accepted per wake-up and listener.
const ACCEPTS: usize = 64;
/// Time until a listener is retried after the system ran out of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Frames and events that wait for the machine, and the buffers for the next ones.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) arrivals: VecDeque<Arrival>,
    pub(super) intake: Intake,
    buffers: ReceiveBuffers,
    chunks: Vec<Chunk>,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self {
            arrivals: VecDeque::new(),
            intake: Intake::default(),
            buffers: ReceiveBuffers::new(),
            chunks: Vec::new(),
        }
    }
}

impl Driver {
    pub(super) fn receive_frames(&mut self, id: FaceId, writable: bool) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        let Conduit::Link { link, open_until } = &mut face.conduit else {
            return;
        };
        let was_open = link.is_open();
        let result = link.receive(&mut self.inbox.intake);
        let opened = link.is_open() && !was_open;
        if opened {
            *open_until = None;
            // For whom its peer speaks is known from here on.
            self.report_description(id);
            self.up(id);
        }
        self.take_frames(id);
        match result {
            Err(CloseReason::Ended) => return self.end_receiving(id),
            Err(reason) => return self.end(id, reason, true),
            Ok(()) if writable => self.soil(id),
            Ok(()) => {}
        }
        self.attend(id);
    }

    fn take_frames(&mut self, id: FaceId) {
        let now = self.timing.clock.now();
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        face.counters.add(&std::mem::take(&mut self.inbox.intake.counters));
        let mut senders = self.inbox.intake.senders.drain(..);
        for frame in self.inbox.intake.frames.drain(..) {
            let sender = senders.next();
            if frame.is_empty() {
                face.counters.drop_frames(DropReason::Empty, 1);
                continue;
            }
            face.mark_received(now);
            face.counters.received(frame.len());
            self.inbox.arrivals.push_back(match sender {
                Some(sender) => Arrival::FrameFrom(id, sender, frame),
                None => Arrival::Frame(id, frame),
            });
        }
    }

    pub(super) fn receive_datagrams(&mut self, index: usize) {
        let Some(Some(port)) = self.sockets.ports.get(index) else {
            return;
        };
        let mut chunks = std::mem::take(&mut self.inbox.chunks);
        let result = port.socket.receive(&mut self.inbox.buffers, |chunk| chunks.push(chunk));
        if let (Err(error), PortUse::Connected(face)) = (result, &port.used) {
            self.unreachable(*face, error.kind());
        }
        let now = self.timing.clock.now();
        for chunk in chunks.drain(..) {
            self.take_chunk(index, &chunk, now);
        }
        self.inbox.chunks = chunks;
    }

    fn take_chunk(&mut self, port: usize, chunk: &Chunk, now: Instant) {
        if chunk.is_empty() {
            return self.past.drop_frames(DropReason::Empty, 1);
        }
        let (id, local) = match self.sender(port, chunk, now) {
            Ok(sender) => sender,
            Err(reason) => {
                let datagrams = chunk.datagrams().count() as u64;
                return self.past.drop_frames(reason, datagrams);
            }
        };
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        face.mark_received(now);
        // A peer may change the address of ours that it uses; answers leave from the one that it knows.
        if let (Conduit::Udp(peer), Some(local)) = (&mut face.conduit, local) {
            peer.route.local = Some(local);
        }
        // A process that waited for its processor does not take that for a part of the round trip.
        self.inbox.arrivals.push_back(Arrival::ReceivedAt(now - chunk.waited));
        for frame in chunk.datagrams() {
            face.counters.received(frame.len());
            self.inbox.arrivals.push_back(Arrival::Frame(id, frame));
        }
    }

    /// The face of a chunk's sender, and the address of ours that the sender used where there are several; a new face for a
    /// packet of an unknown sender.
    fn sender(
        &mut self,
        port: usize,
        chunk: &Chunk,
        now: Instant,
    ) -> Result<(FaceId, Option<IpAddr>), DropReason> {
        let Some(Some(Port { used, .. })) = self.sockets.ports.get(port) else {
            return Err(DropReason::NoFace);
        };
        let (known, local, listener) = match used {
            PortUse::Connected(face) => return Ok((*face, None)),
            PortUse::Shared { peers, wildcard, listener } => {
                let local = chunk.local.filter(|_| *wildcard);
                (peers.get(&chunk.remote).copied(), local, *listener)
            }
        };
        if let Some(known) = known {
            return Ok((known, local));
        }
        if !starts_conversation(chunk.first_byte()) {
            return Err(DropReason::Unsolicited);
        }
        let neighbour = Neighbour::of(chunk.remote.ip());
        let id = self.admit_newcomer(now, neighbour)?;
        if let Some(Some(Port { used: PortUse::Shared { peers, .. }, .. })) =
            self.sockets.ports.get_mut(port)
        {
            peers.insert(chunk.remote, id);
        }
        let uri = FaceUri::Udp(Authority::from(chunk.remote));
        let peer = UdpPeer::new(port, chunk.remote, local);
        let limits = self.sockets.listener_limits.get(&listener).copied();
        let neighbour = Some(neighbour);
        let face = Face { neighbour, limits, ..Face::over_udp(uri, peer, &self.options) };
        Ok((self.add(face), local))
    }

    pub(super) fn accept(&mut self, id: ListenerId, uses: Uses<'_>) {
        for _ in 0..ACCEPTS {
            let Some(listener) = self.sockets.listeners.iter().find(|it| it.id == id) else {
                return;
            };
            let now = self.timing.clock.now();
            let (link, uri) = match listener.accept(&self.options) {
                Ok(Some(peer)) => peer,
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    let is_short = descriptor::are_exhausted(&error);
                    if is_short && self.free_descriptor(now, uses) {
                        continue;
                    }
                    return self.pause(id, now);
                }
            };
            let (kind, neighbour) = (PeerKind::of(&uri), uri.address().map(Neighbour::of));
            let is_short =
                descriptor::are_short(self.quotas.descriptors, self.sockets.alarm.stream.as_fd());
            let has_descriptor = !is_short || self.free_descriptor(now, uses);
            // Without room the connection is closed at once, so that the peer knows. Spare descriptors are for local ones.
            if !(has_descriptor || kind == PeerKind::Local)
                || !self.make_room(now, kind, neighbour, uses)
            {
                self.past.drop_frames(DropReason::NoRoom, 1);
                continue;
            }
            let mut face = Face::over_link(uri, link);
            face.neighbour = neighbour;
            face.limits = self.sockets.listener_limits.get(&id).copied();
            face.open_by(now + self.options.connect_timeout);
            self.add(face);
        }
    }
}

impl Driver {
    /// Asks a listener again after a while.
    fn pause(&mut self, id: ListenerId, now: Instant) {
        if let Some(listener) = self.sockets.listeners.iter_mut().find(|it| it.id == id) {
            listener.paused_until = Some(now + ACCEPT_PAUSE);
        }
        self.sockets.ignore_listener(id);
    }
}

/// Whether a stranger may begin so: only Interests and link packets start a conversation.
pub(super) fn starts_conversation(first_byte: Option<u8>) -> bool {
    matches!(first_byte, Some(0x05 | 0x64))
}
