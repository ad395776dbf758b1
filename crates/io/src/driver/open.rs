//! Opening and closing faces and listeners.
use super::face_entry::{Face, Port, PortUse, UdpPeer};
use super::listener::Listener;
use super::{Driver, DriverOptions, ListenerHandle, ListenerId, Token, dial};
use crate::face::{Authority, CloseReason, FaceError, FaceId, FaceUri, LEAST_MTU, MediumOptions};
use crate::medium;
use crate::memory::MemoryEnd;
use crate::udp::UdpPort;
use hashbrown::HashMap;
use recoup_forwarder::face::Recovery;
use recoup_forwarder::limits::FaceLimits;
use recoup_transport::time::Duration;
use std::io;
use std::net::SocketAddr;

impl Driver {
    /// Opens a face toward producers or a forwarder, resolving names. Blocks until the face is
    /// usable, except over UDP, which has no connection.
    ///
    /// # Errors
    /// If the peer does not answer; the error names the likely reason.
    pub fn connect(&mut self, uri: &FaceUri) -> Result<FaceId, FaceError> {
        let face = self.dial(uri)?;
        Ok(self.add(Face { upstream: true, ..face }))
    }

    /// Opens a face toward another forwarder, as [`connect`](Self::connect) does; only routes send
    /// on it.
    ///
    /// # Errors
    /// If the peer does not answer; the error names the likely reason.
    pub fn peer(&mut self, uri: &FaceUri) -> Result<FaceId, FaceError> {
        let face = self.dial(uri)?;
        Ok(self.add(face))
    }

    /// Opens a face toward another forwarder, as [`peer`](Self::peer) does, but does not wait: it is opened in the
    /// background, and again whenever it breaks.
    ///
    /// # Errors
    /// If its host cannot be found, or too many faces are open.
    pub fn keep(&mut self, uri: &FaceUri) -> Result<FaceId, FaceError> {
        if uri.is_medium() {
            return self.keep_medium(uri, MediumOptions::default());
        }
        self.check_room(uri)?;
        uri.check_far()?;
        let addresses = match uri {
            FaceUri::Udp(_) | FaceUri::Memory(_) | FaceUri::Dev(_) => return self.peer(uri),
            FaceUri::Unix(_) | FaceUri::Ether(_) => Vec::new(),
            FaceUri::Tcp(to) | FaceUri::WebSocket(to, _) => to.resolve()?,
        };
        let face = Face::waiting(uri.clone(), self.timing.clock.now());
        Ok(self.add(Face { addresses, permanent: true, ..face }))
    }

    /// Opens a face on a multi-access medium, as [`keep`](Self::keep) does.
    ///
    /// # Errors
    /// If we may not, there can be no such face, or too many faces are open. An interface that is missing or down may
    /// come.
    pub fn keep_medium(
        &mut self,
        uri: &FaceUri,
        medium: MediumOptions,
    ) -> Result<FaceId, FaceError> {
        self.check_room(uri)?;
        self.supplant(uri, &medium);
        let face = match medium::open(uri, &medium, &self.options) {
            Ok(link) => Face::over_link(uri.clone(), link),
            Err(source) if medium::may_pass(&source) => {
                Face::waiting(uri.clone(), self.timing.clock.now())
            }
            Err(source) => return Err(FaceError::Connect { uri: uri.clone(), source }),
        };
        let id = self.add(Face { medium, permanent: true, ..face });
        self.sockets.introduce(id);
        Ok(id)
    }

    /// Keeps a face over UDP open as [`keep`](Self::keep) does, from an address and port of ours that the peer knows: it
    /// can speak first, and has the same face toward us.
    ///
    /// # Errors
    /// As [`keep`](Self::keep), and if the address is not ours, or taken by anything but such faces.
    pub fn keep_from(&mut self, local: SocketAddr, to: &Authority) -> Result<FaceId, FaceError> {
        let uri = FaceUri::Udp(to.clone());
        self.check_room(&uri)?;
        uri.check_far()?;
        let face = self.dial_udp(&uri, to, Some(local))?;
        Ok(self.add(face))
    }

    fn dial(&mut self, uri: &FaceUri) -> Result<Face, FaceError> {
        self.check_room(uri)?;
        uri.check_far()?;
        if uri.is_medium() {
            let opened = medium::open(uri, &MediumOptions::default(), &self.options);
            let failed = |source| FaceError::Connect { uri: uri.clone(), source };
            let face = Face::over_link(uri.clone(), opened.map_err(failed)?);
            return Ok(Face { permanent: true, ..face });
        }
        if let FaceUri::Udp(to) = uri {
            return self.dial_udp(uri, to, None);
        }
        let dialed = dial::dial(uri, &self.options)?;
        let face = Face::over_link(uri.clone(), dialed.link);
        Ok(Face { addresses: dialed.addresses, permanent: true, ..face })
    }

    fn dial_udp(
        &mut self,
        uri: &FaceUri,
        to: &Authority,
        local: Option<SocketAddr>,
    ) -> Result<Face, FaceError> {
        let DriverOptions { socket_buffer_bytes, backlog_bytes, .. } = self.options;
        let mut found = Err(io::ErrorKind::AddrNotAvailable.into());
        let mut addresses = to.resolve()?;
        while let Some(remote) = addresses.first().copied() {
            // The system rejects an address of an unreachable family at once.
            found = UdpPort::connect(remote, local, socket_buffer_bytes, backlog_bytes)
                .map(|socket| (socket, remote));
            if found.is_ok() {
                break;
            }
            addresses.remove(0);
        }
        let (socket, remote) =
            found.map_err(|source| FaceError::Connect { uri: uri.clone(), source })?;
        let id = self.sockets.next_id();
        let port = Port { socket, used: PortUse::Connected(id), writes: false };
        let port = self
            .sockets
            .add_port(port)
            .map_err(|source| FaceError::Connect { uri: uri.clone(), source })?;
        let peer = UdpPeer::new(port, remote, None);
        let face = Face::over_udp(uri.clone(), peer, &self.options);
        Ok(Face { permanent: true, addresses, known_as: local, ..face })
    }

    /// Sets the recovery of a face: at once if the face is down, else from its next opening.
    pub fn set_recovery(&mut self, face: FaceId, recovery: Recovery) {
        if let Some(face) = self.sockets.faces.get_mut(&face) {
            face.recovery = recovery;
        }
    }

    /// A face may take that much of the machine, from when it comes up the next time; `None`: what all faces may.
    pub fn set_limits(&mut self, face: FaceId, limits: Option<FaceLimits>) {
        if let Some(face) = self.sockets.faces.get_mut(&face) {
            face.limits = limits;
        }
    }

    /// A face carries frames of at most so many bytes, less if the path carries less, from when it comes up the next
    /// time.
    pub fn set_mtu(&mut self, face: FaceId, bytes: usize) {
        if let Some(face) = self.sockets.faces.get_mut(&face) {
            face.mtu = face.mtu.min(bytes.max(LEAST_MTU));
        }
    }

    /// Faces that peers open at a listener from here on may take that much of the machine each; `None`: what all faces
    /// may.
    pub fn set_listener_limits(&mut self, listener: ListenerId, limits: Option<FaceLimits>) {
        match limits {
            Some(limits) => self.sockets.listener_limits.insert(listener, limits),
            None => self.sockets.listener_limits.remove(&listener),
        };
    }

    /// Sets the recovery of faces that peers open from now on.
    pub fn set_on_demand_recovery(&mut self, recovery: Recovery) {
        self.options.on_demand_recovery = recovery;
    }

    /// Sets how long connecting may take from now on, handshakes included.
    pub fn set_connect_timeout(&mut self, within: Duration) {
        self.options.connect_timeout = within;
    }

    /// Opens a face over one end of an in-process pair.
    ///
    /// # Errors
    /// If too many faces are open.
    pub fn attach(&mut self, end: MemoryEnd, upstream: bool) -> Result<FaceId, FaceError> {
        let uri = FaceUri::Memory("pair".to_owned());
        self.check_room(&uri)?;
        let face = Face::over_link(uri, Box::new(end));
        Ok(self.add(Face { upstream, permanent: upstream, ..face }))
    }

    /// The face that a station opened gives way to the one that we open toward it.
    fn supplant(&mut self, uri: &FaceUri, medium: &MediumOptions) {
        let (FaceUri::Ether(station), Some(interface)) = (uri, &medium.interface) else {
            return;
        };
        if let Some(face) = self.sockets.face_toward(interface, *station)
            && self.sockets.faces.get(&face).is_some_and(Face::is_send_only)
        {
            self.end(face, CloseReason::Closed, false);
        }
    }

    /// Lets peers open faces. Each becomes an on-demand face: it is not upstream, and ends with its
    /// peer or, over UDP and Ethernet, when the peer has been silent for long. An interface that is missing or down
    /// may come.
    ///
    /// # Errors
    /// If the address is taken or not ours, or the interface is no Ethernet.
    pub fn listen(&mut self, uri: &FaceUri) -> Result<ListenerHandle, FaceError> {
        let failed = |source| FaceError::Listen { uri: uri.clone(), source };
        if uri.is_medium() {
            let what = "cannot listen on a multicast face: open a face toward the group instead";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, what)));
        }
        let local = match uri {
            FaceUri::Udp(at) | FaceUri::Tcp(at) | FaceUri::WebSocket(at, _) => {
                at.resolve()?.first().copied()
            }
            FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => None,
        };
        let id = ListenerId(self.sockets.next_listener);
        self.sockets.next_listener += 1;
        if let (FaceUri::Udp(_), Some(local)) = (uri, local) {
            let DriverOptions { socket_buffer_bytes, backlog_bytes, .. } = self.options;
            let socket =
                UdpPort::bind(local, socket_buffer_bytes, backlog_bytes).map_err(failed)?;
            let bound = socket.local_address().map_err(failed)?;
            let wildcard = bound.ip().is_unspecified();
            let used = PortUse::Shared { listener: id, peers: HashMap::new(), wildcard };
            self.sockets.add_port(Port { socket, used, writes: false }).map_err(failed)?;
            let uri = FaceUri::Udp(Authority::from(bound));
            return Ok(ListenerHandle { id, uri, address: Some(bound), waits: None });
        }
        let (mut listener, handle) =
            Listener::bind(id, uri, local, &self.options).map_err(failed)?;
        match listener.fd() {
            Some(fd) => self.sockets.watch.add(fd, Token::Listener(id), false).map_err(failed)?,
            None => {
                listener.paused_until = Some(self.timing.clock.now() + self.options.reconnect_after)
            }
        }
        self.sockets.listeners.push(listener);
        if let FaceUri::Dev(_) = uri {
            let faces: Vec<_> = self.sockets.faces.keys().copied().collect();
            faces.into_iter().for_each(|face| self.sockets.introduce(face));
        }
        Ok(handle)
    }

    /// Stops listening. Faces that peers opened over UDP and Ethernet end with their socket; others live on.
    pub fn close_listener(&mut self, id: ListenerId) {
        self.sockets.listener_limits.remove(&id);
        self.end_stations(id, &CloseReason::Closed);
        self.sockets.ignore_listener(id);
        self.sockets.listeners.retain(|listener| listener.id != id);
        for index in 0..self.sockets.ports.len() {
            let Some(Some(Port { used, .. })) = self.sockets.ports.get(index) else {
                continue;
            };
            let PortUse::Shared { listener, peers, .. } = used else {
                continue;
            };
            if *listener == id {
                let faces: Vec<_> = peers.values().copied().collect();
                faces.into_iter().for_each(|face| self.end(face, CloseReason::Closed, false));
                self.sockets.remove_port(index);
            }
        }
    }

    /// Closes a face for good, after sending what it can without waiting.
    pub fn close(&mut self, face: FaceId) {
        self.flush_face(face);
        self.end(face, CloseReason::Closed, false);
    }
}
