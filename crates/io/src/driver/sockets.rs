//! The sockets of a driver: faces and ports, listeners, and the list of descriptors that are watched.
use super::face_entry::{Conduit, Face, Port};
use super::ground::Followed;
use super::listener::Listener;
use super::watch::Watch;
use super::{ListenerId, Token};
use crate::face::FaceId;
use crate::udp::UdpPort;
use crate::waker::Alarm;
use hashbrown::HashMap;
use recoup_forwarder::limits::FaceLimits;
use recoup_transport::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;

/// Faces, ports and listeners, and the readiness of their descriptors.
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) alarm: Alarm,
    pub(super) watch: Watch,
    pub(super) ready: Vec<(Token, bool)>,
    pub(super) faces: HashMap<FaceId, Face>,
    pub(super) next_face: u32,
    /// Faces that wait to be opened.
    pub(super) timed: Vec<FaceId>,
    /// Faces that have received more than they handed out.
    pub(super) more: Vec<FaceId>,
    pub(super) ports: Vec<Option<Port>>,
    pub(super) listeners: Vec<Listener>,
    pub(super) next_listener: u32,
    /// Limits of the faces that peers open on a listener, if not the default.
    pub(super) listener_limits: BTreeMap<ListenerId, FaceLimits>,
    pub(super) followed: Option<Followed>,
}

impl Sockets {
    pub(super) fn new() -> io::Result<Self> {
        let alarm = Alarm::new()?;
        let mut watch = Watch::new()?;
        watch.add(alarm.stream.as_fd(), Token::Alarm, false)?;
        Ok(Self {
            alarm,
            watch,
            ready: Vec::new(),
            faces: HashMap::new(),
            next_face: 1,
            timed: Vec::new(),
            more: Vec::new(),
            ports: Vec::new(),
            listeners: Vec::new(),
            next_listener: 1,
            listener_limits: BTreeMap::new(),
            followed: None,
        })
    }

    /// Waits, and adds what is ready.
    pub(super) fn poll(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.watch.wait(timeout, &mut self.ready)
    }

    /// Adds faces that have more to hand out to those that are ready. Returns whether a waker interrupted.
    pub(super) fn take_ready(&mut self) -> bool {
        let is_there = |ready: &[(Token, bool)], id| {
            ready.iter().any(|(token, _)| matches!(token, Token::Face(face) if *face == id))
        };
        for id in std::mem::take(&mut self.more) {
            if !is_there(&self.ready, id) {
                self.ready.push((Token::Face(id), false));
            }
        }
        self.ready.iter().any(|(token, _)| matches!(token, Token::Alarm))
    }

    /// The next free face number. A number is reused only after all others.
    pub(super) fn next_id(&self) -> FaceId {
        let first = self.next_face;
        let mut numbers = (first..=FaceId::LAST_OF_NETWORK.0).chain(1..first).map(FaceId);
        let is_free = |id: &FaceId| !self.faces.contains_key(id) && *id != FaceId::CONTENT_STORE;
        numbers.find(is_free).unwrap_or(FaceId(first))
    }

    /// Watches the connection of a face as it wants to be, and remembers it if it has received more than it handed out.
    /// Whether it has to wait for room is not known before what is to be sent by it was tried: then it is attended again.
    pub(super) fn attend(&mut self, id: FaceId) -> io::Result<()> {
        let Some(face) = self.faces.get_mut(&id) else {
            return Ok(());
        };
        let Conduit::Link { link, .. } = &face.conduit else {
            return Ok(());
        };
        if link.is_send_only() || face.half_closed.is_some() {
            return Ok(());
        }
        if link.has_more() && !self.more.contains(&id) {
            self.more.push(id);
        }
        if face.dirty && face.watched.is_some() && link.is_open() {
            return Ok(());
        }
        let write = link.wants_write();
        match face.watched.replace(write) {
            Some(before) if before == write => Ok(()),
            Some(_) => self.watch.change(link.fd(), Token::Face(id), write),
            None => self.watch.add(link.fd(), Token::Face(id), write),
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
}
