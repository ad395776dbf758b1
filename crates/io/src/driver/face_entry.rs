//! A face and a UDP socket, as the driver keeps them.
use super::half_closed::HalfClosed;
use super::room::{Neighbour, PeerKind};
use super::{DriverOptions, ListenerId};
use crate::face::{Counters, FaceId, FaceUri, LARGEST_FRAME_SENT, MediumOptions};
use crate::link::Link;
use crate::medium::EtherAddress;
use crate::udp::{self, Batch, Route, UdpPort};
use hashbrown::HashMap;
use recoup_forwarder::face::{Marking, Recovery};
use recoup_forwarder::limits::FaceLimits;
use recoup_transport::management::{LinkType, Persistency};
use recoup_transport::time::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

/// One face.
#[derive(Debug)]
pub(super) struct Face {
    pub(super) uri: FaceUri,
    /// How the medium is that it leads to, if it does.
    pub(super) medium: MediumOptions,
    /// The face leads toward producers.
    pub(super) upstream: bool,
    /// This side opened it: it ends when this side wants, and is opened again when it breaks.
    pub(super) permanent: bool,
    /// How it is called if this side opened it; both kinds are opened again when they break.
    pub(super) persistency: Persistency,
    /// A peer opened it, and an operator wants it to stay although that is silent.
    pub(super) is_kept: bool,
    /// Whether and when packets that leave are marked for congestion.
    pub(super) marking: Option<Marking>,
    /// Retransmission on this link.
    pub(super) recovery: Recovery,
    /// The peer receives the incoming face of each packet (IncomingFaceId).
    pub(super) local_fields: bool,
    /// Limits of this face, if not the default.
    pub(super) limits: Option<FaceLimits>,
    pub(super) conduit: Conduit,
    pub(super) counters: Counters,
    pub(super) mtu: usize,
    /// The machine knows the face as up.
    pub(super) is_up: bool,
    /// The face is in the driver's list of faces to flush.
    pub(super) dirty: bool,
    pub(super) unreachable_reported: bool,
    /// Bytes that counted as waiting at the last flush.
    pub(super) waiting: usize,
    /// Since when the peer has taken none of them.
    pub(super) stalled_since: Option<Instant>,
    /// To be tried in turn when the face is opened again.
    pub(super) addresses: Vec<SocketAddr>,
    /// The address and port of ours that the peer knows, if it does.
    pub(super) known_as: Option<SocketAddr>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// The neighbour that a face of a peer is charged to; `None` for other faces.
    pub(super) neighbour: Option<Neighbour>,
    /// Whether the descriptor is watched for writability, if it is watched.
    pub(super) watched: Option<bool>,
    /// The peer sends no more.
    pub(super) half_closed: Option<HalfClosed>,
    /// When something last arrived; at first, when it was opened.
    pub(super) last_received: Instant,
}

/// How a face reaches its peer.
#[derive(Debug)]
pub(super) enum Conduit {
    /// A connection, perhaps still opening.
    Link {
        link: Box<dyn Link>,
        /// When opening has taken too long; `None` once it is open.
        open_until: Option<Instant>,
    },
    /// Datagrams.
    Udp(UdpPeer),
    /// Nothing, until the connection is opened again.
    Down { retry_at: Instant },
}

/// A peer of a UDP socket.
#[derive(Debug)]
pub(super) struct UdpPeer {
    pub(super) port: usize,
    pub(super) route: Route,
    pub(super) batch: Batch,
    /// Longest datagram that arrives unfragmented.
    pub(super) path: usize,
}

impl UdpPeer {
    pub(super) fn new(port: usize, remote: SocketAddr, local: Option<IpAddr>) -> Self {
        let route = Route { remote, local };
        Self { port, route, batch: Batch::default(), path: path_to(remote) }
    }
}

/// A UDP socket.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) socket: UdpPort,
    pub(super) used: PortUse,
    /// The socket is watched for writability.
    pub(super) writes: bool,
}

/// Whose socket it is.
#[derive(Debug)]
pub(super) enum PortUse {
    Connected(FaceId),
    Shared {
        listener: ListenerId,
        peers: HashMap<SocketAddr, FaceId>,
        /// The socket is bound to all addresses: answers must leave from the address that received
        /// the Interest.
        wildcard: bool,
    },
}

impl Face {
    fn new(uri: FaceUri, conduit: Conduit, mtu: usize) -> Self {
        Self {
            uri,
            medium: MediumOptions::default(),
            upstream: false,
            permanent: false,
            persistency: Persistency::Permanent,
            is_kept: false,
            marking: None,
            recovery: Recovery::Off,
            local_fields: false,
            limits: None,
            conduit,
            counters: Counters::default(),
            mtu,
            is_up: false,
            dirty: false,
            unreachable_reported: false,
            waiting: 0,
            stalled_since: None,
            addresses: Vec::new(),
            known_as: None,
            failures: 0,
            neighbour: None,
            watched: None,
            half_closed: None,
            last_received: Instant::ZERO,
        }
    }

    pub(super) fn over_link(uri: FaceUri, link: Box<dyn Link>) -> Self {
        let mtu = mtu_of(link.as_ref());
        Self::new(uri, Conduit::Link { link, open_until: None }, mtu)
    }

    /// A connection that is to be opened at `retry_at`.
    pub(super) fn waiting(uri: FaceUri, retry_at: Instant) -> Self {
        Self::new(uri, Conduit::Down { retry_at }, LARGEST_FRAME_SENT)
    }

    pub(super) fn over_udp(uri: FaceUri, peer: UdpPeer, options: &DriverOptions) -> Self {
        let mtu = frame_limit(peer.path, options);
        Self::new(uri, Conduit::Udp(peer), mtu)
    }

    /// Gives a link that is not open yet this long.
    pub(super) fn open_by(&mut self, until: Instant) {
        if let Conduit::Link { link, open_until } = &mut self.conduit
            && !link.is_open()
        {
            *open_until = Some(until);
        }
    }

    /// When something is due even if nothing arrives.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.conduit {
            Conduit::Link { open_until, .. } => {
                self.half_closed.map(|half_closed| half_closed.look_at).or(*open_until)
            }
            Conduit::Down { retry_at } => Some(*retry_at),
            Conduit::Udp(_) => None,
        }
    }

    pub(super) fn waits_to_write(&self) -> bool {
        matches!(&self.conduit, Conduit::Link { link, .. } if link.is_open() && link.wants_write())
    }

    /// The kind of face, if a peer opened it.
    pub(super) fn peer_kind(&self) -> Option<PeerKind> {
        (!self.permanent).then(|| PeerKind::of(&self.uri))
    }

    /// Time since which an on-demand face has received nothing.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        (!self.permanent && !self.is_kept).then_some(self.last_received)
    }

    /// After a flush: of `before` bytes, `waiting` were not taken.
    pub(super) fn mark_flushed(&mut self, before: usize, waiting: usize, now: Instant) {
        self.waiting = waiting;
        self.stalled_since = match self.stalled_since {
            _ if waiting == 0 => None,
            Some(since) if waiting >= before => Some(since),
            _ => Some(now),
        };
    }

    /// Whether the peer is a program on this machine that relays for no other machine. The source
    /// address of a datagram on a shared socket proves nothing.
    pub(super) fn is_local(&self) -> bool {
        let is_loopback = |ip: IpAddr| ip.to_canonical().is_loopback();
        match (&self.conduit, &self.uri) {
            (Conduit::Link { link, .. }, _) if link.speaks_for_others() => false,
            (Conduit::Udp(peer), _) => self.permanent && is_loopback(peer.route.remote.ip()),
            (_, FaceUri::Ether(_) | FaceUri::Dev(_)) => false,
            (_, FaceUri::Unix(_) | FaceUri::Memory(_)) => true,
            (_, FaceUri::Tcp(to) | FaceUri::WebSocket(to, _)) => match self.addresses.as_slice() {
                [] => to.host.parse().is_ok_and(is_loopback),
                all => all.iter().all(|to| is_loopback(to.ip())),
            },
            (_, FaceUri::Udp(_)) => {
                let loops = |to: &SocketAddr| is_loopback(to.ip());
                self.permanent && !self.addresses.is_empty() && self.addresses.iter().all(loops)
            }
        }
    }

    /// The station of Ethernet that it leads to, or the group of them, and the interface where that is.
    pub(super) fn station(&self) -> Option<(EtherAddress, &str)> {
        match (&self.uri, &self.medium.interface) {
            (FaceUri::Ether(station), Some(interface)) => Some((*station, interface)),
            _ => None,
        }
    }

    /// Link type, by the receivers of a frame.
    pub(super) fn link_type(&self) -> LinkType {
        match self.medium.ad_hoc {
            _ if !self.uri.is_shared() => LinkType::PointToPoint,
            true => LinkType::AdHoc,
            false => LinkType::MultiAccess,
        }
    }

    /// Whether the end of the peer goes unnoticed.
    pub(super) fn is_connectionless(&self) -> bool {
        matches!((&self.conduit, &self.uri), (Conduit::Udp(_), _) | (_, FaceUri::Ether(_)))
    }

    /// Whether the listener receives for this face.
    pub(super) fn is_send_only(&self) -> bool {
        matches!(&self.conduit, Conduit::Link { link, .. } if link.is_send_only())
    }

    /// Something arrived: the peer is there.
    pub(super) fn mark_received(&mut self, now: Instant) {
        self.last_received = now;
        self.failures = 0;
        self.unreachable_reported = false;
    }

    pub(super) fn can_be_dialed(&self) -> bool {
        !self.addresses.is_empty() || matches!(self.uri, FaceUri::Unix(_)) || self.uri.is_medium()
    }

    /// The address for the next attempt.
    pub(super) fn next_address(&self) -> Option<SocketAddr> {
        let attempt = self.failures.saturating_sub(1) as usize;
        self.addresses.get(attempt % self.addresses.len().max(1)).copied()
    }

    /// One more failure; how long to wait before the next attempt.
    pub(super) fn back_off(&mut self, options: &DriverOptions) -> Duration {
        let pause = options.back_off(self.failures);
        self.failures = self.failures.saturating_add(1);
        pause
    }

    /// Looks again how much the path carries; `false` if it is no less than before.
    pub(super) fn lower_path(&mut self) -> bool {
        let Conduit::Udp(peer) = &mut self.conduit else {
            return false;
        };
        let path = path_to(peer.route.remote);
        if path >= peer.path {
            return false;
        }
        peer.path = path;
        let before = self.mtu;
        self.mtu = self.mtu.min(path);
        self.mtu < before
    }
}

/// Longest frame that a link carries.
pub(super) fn mtu_of(link: &dyn Link) -> usize {
    link.mtu().map_or(LARGEST_FRAME_SENT, |mtu| mtu.min(LARGEST_FRAME_SENT))
}

/// Longest frame that a path of datagrams of up to `path` bytes carries.
fn frame_limit(path: usize, options: &DriverOptions) -> usize {
    options.udp_mtu.unwrap_or(path).min(LARGEST_FRAME_SENT)
}

/// Longest unfragmented datagram toward a peer; a conservative guess if the system does not know. To another machine it is
/// shorter than the largest frame: a link with a shorter MTU watches its path for a black hole.
fn path_to(remote: SocketAddr) -> usize {
    let path = udp::path_datagram(remote).unwrap_or(1_232);
    match remote.ip().to_canonical().is_loopback() {
        true => path,
        false => path.min(LARGEST_FRAME_SENT - 1),
    }
}
