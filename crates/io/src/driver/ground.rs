//! Faces go down with the interface that they leave by, or the address that they leave from, and are opened again with it.
//! Those that peers opened end, unless they were made permanent: NFD's persistent faces end with what they stand on, its
//! permanent ones do not.
//!
//! The machine decides what happens to Interests of a lost face (`docs/wire.md`). This module
//! reports the loss at once instead of after a timeout.
use super::face_entry::{Conduit, Face, Port, PortUse, UdpPeer};
use super::{Driver, DriverOptions, Token};
use crate::face::{CloseReason, FaceId};
use crate::interface::{InterfaceWatch, Interfaces};
use crate::udp::UdpPort;
use recoup_transport::management::Persistency;
use recoup_transport::time::{Duration, Instant};
use std::io::{self, ErrorKind};
use std::net::IpAddr;

/// Interface and address that a face depends on.
#[derive(Debug)]
enum Ground<'a> {
    Interface(&'a str),
    Address(IpAddr),
}

/// Interval between two looks where the system reports no changes.
const LOOK: Duration = Duration::from_secs(2);

/// The interfaces that faces follow.
#[derive(Debug)]
pub(super) struct Followed {
    /// Reports changes; `None` where the system denies it.
    watch: Option<InterfaceWatch>,
    /// As they were at the last look.
    known: Interfaces,
    /// Time of the next look without a report.
    look_at: Option<Instant>,
}

impl Driver {
    /// Faces follow the interfaces of this machine from here on. Where the system reports no changes, the driver looks for
    /// them from time to time.
    ///
    /// # Errors
    /// If the system does not list its interfaces.
    pub fn follow_interfaces(&mut self) -> io::Result<()> {
        if self.sockets.followed.is_some() {
            return Ok(());
        }
        let watch = InterfaceWatch::new().and_then(|watch| {
            self.sockets.watch.add(watch.fd(), Token::Interfaces, false)?;
            Ok(watch)
        });
        let look_at = watch.is_err().then(|| self.timing.clock.now() + LOOK);
        let known = Interfaces::of_system()?;
        self.sockets.followed = Some(Followed { watch: watch.ok(), known, look_at });
        Ok(())
    }

    /// Time of the next look at the interfaces, if there are faces that depend on them.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.sockets.followed.as_ref().filter(|_| !self.sockets.faces.is_empty())?.look_at
    }

    /// The system rejects what a face sends: whether that is since the address of its socket is gone. The face is opened
    /// again then.
    pub(super) fn has_lost_ground(&mut self, id: FaceId, kind: ErrorKind) -> bool {
        let may_be = matches!(
            kind,
            ErrorKind::InvalidInput
                | ErrorKind::AddrNotAvailable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkDown
        );
        let is_there =
            |ground: Ground<'_>| Interfaces::of_system().is_ok_and(|it| ground.is_there(&it));
        let is_lost = may_be && self.ground(id).is_some_and(|ground| !is_there(ground));
        if is_lost {
            self.lose_ground(id);
        }
        is_lost
    }

    /// Something about the interfaces has changed.
    pub(super) fn follow_change(&mut self) {
        let Some(Followed { watch, known, look_at }) = &mut self.sockets.followed else {
            return;
        };
        watch.iter().for_each(InterfaceWatch::clear);
        *look_at = look_at.map(|_| self.timing.clock.now() + LOOK);
        let Ok(present) = Interfaces::of_system() else {
            return;
        };
        let before = std::mem::replace(known, present.clone());
        if before == present {
            return;
        }
        let is_lost = |ground: Ground<'_>| ground.is_there(&before) && !ground.is_there(&present);
        let lost = |id: &FaceId| self.ground(*id).is_some_and(is_lost);
        let lost: Vec<_> = self.sockets.faces.keys().copied().filter(lost).collect();
        lost.into_iter().for_each(|id| self.lose_ground(id));
        self.follow_segments(&present);
        // A face that waits for its next attempt may succeed now.
        let now = self.timing.clock.now();
        for face in self.sockets.faces.values_mut() {
            if let Conduit::Down { retry_at } = &mut face.conduit {
                *retry_at = now.min(*retry_at);
            }
        }
    }

    /// The interface or address of a face is gone. A permanent face stays up, as at NFD, and then
    /// sends from any address that reaches its peer.
    fn lose_ground(&mut self, id: FaceId) {
        match self.sockets.faces.get_mut(&id) {
            Some(Face { conduit: Conduit::Udp(peer), is_kept: true, persistency, .. })
                if *persistency == Persistency::Permanent =>
            {
                peer.route.local = None;
            }
            _ => self.end(id, CloseReason::NoInterface, true),
        }
    }

    /// Interface and address of a face that is up; none if they cannot vanish.
    fn ground(&self, id: FaceId) -> Option<Ground<'_>> {
        let Face { conduit, medium, .. } = self.sockets.faces.get(&id)?;
        let address = match conduit {
            Conduit::Down { .. } => return None,
            Conduit::Link { link, .. } => match &medium.interface {
                Some(name) => return Some(Ground::Interface(name)),
                None => link.local_address()?.ip(),
            },
            Conduit::Udp(peer) => match peer.route.local {
                Some(local) => local,
                None => self.sockets.port(peer.port)?.local_address().ok()?.ip(),
            },
        };
        (!address.is_unspecified()).then_some(Ground::Address(address))
    }

    /// Opens the socket of a UDP face again that stood on nothing.
    pub(super) fn dial_udp_again(&mut self, id: FaceId) {
        match self.reconnect_udp(id) {
            Ok(()) => {
                self.report_description(id);
                self.up(id);
            }
            Err(error) => self.end(id, error.into(), true),
        }
    }

    fn reconnect_udp(&mut self, id: FaceId) -> io::Result<()> {
        let DriverOptions { socket_buffer_bytes, backlog_bytes, .. } = self.options;
        let face = self.sockets.faces.get(&id).ok_or(ErrorKind::NotFound)?;
        let (remote, local) = (face.next_address(), face.known_as);
        let remote = remote.ok_or(ErrorKind::AddrNotAvailable)?;
        let socket = UdpPort::connect(remote, local, socket_buffer_bytes, backlog_bytes)?;
        let ground = Ground::Address(socket.local_address()?.ip());
        if !ground.is_there(&Interfaces::of_system()?) {
            return Err(ErrorKind::NetworkDown.into());
        }
        let port = Port { socket, used: PortUse::Connected(id), writes: false };
        let port = self.sockets.add_port(port)?;
        if let Some(face) = self.sockets.faces.get_mut(&id) {
            face.conduit = Conduit::Udp(UdpPeer::new(port, remote, None));
            face.failures = 0;
        }
        Ok(())
    }
}

impl Ground<'_> {
    fn is_there(&self, interfaces: &Interfaces) -> bool {
        match self {
            Self::Interface(name) => interfaces.is_up(name),
            Self::Address(address) => interfaces.has(*address),
        }
    }
}
