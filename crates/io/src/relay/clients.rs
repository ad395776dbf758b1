//! The clients at the near end of a link, each with a socket of its own toward the far end.
//!
//! Source: RFC 4787, endpoint-independent mapping. The mapping of a near address lives while frames
//! pass in either direction and five minutes after the last one (requirement 5).
//!
//! Differences: the number of clients is limited. If all places are taken, a newcomer takes that of the client with the longest
//! idle time, if that is at least ten seconds; otherwise its frames are dropped and counted.
use super::port::Port;
use crate::interface::Interfaces;
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Clients of one link at a time.
pub const MAX_CLIENTS: usize = 256;
/// Idle time after which a client is forgotten.
pub const IDLE_LIMIT: Duration = Duration::from_secs(300);
/// Idle time from which a client gives way to a newcomer.
const IDLE_WHEN_FULL: Duration = Duration::from_secs(10);
/// Time between two searches for idle clients.
const EXPIRY_CHECK: Duration = Duration::from_secs(1);

/// Number of a client. It is never given to another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u64);

/// Counters of the clients of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCount {
    /// Clients that got a socket of their own.
    pub admitted: u64,
    /// Clients that were forgotten since they were idle.
    pub expired: u64,
    /// Frames of addresses for which there was no place.
    pub rejected_frames: u64,
}

#[derive(Debug)]
struct Client {
    /// Where its answers go; `None` until the first client is known.
    address: Option<SocketAddr>,
    /// The address of ours that the client knows; answers leave from there.
    local: Option<IpAddr>,
    port: Port,
    /// When a frame passed last, in either direction.
    active: Instant,
}

/// All clients of a link.
#[derive(Debug)]
pub(super) struct Clients {
    far: SocketAddr,
    clients: BTreeMap<ClientId, Client>,
    ids: BTreeMap<SocketAddr, ClientId>,
    /// The client that was known from the start.
    permanent: Option<ClientId>,
    next: u64,
    check: Instant,
    count: ClientCount,
}

impl Clients {
    /// Opens the socket of the first client, which is the one at `peer` if that is known.
    pub(super) fn new(far: SocketAddr, peer: Option<SocketAddr>) -> io::Result<Self> {
        let first = ClientId::default();
        let client =
            Client { address: peer, local: None, port: upstream(far)?, active: Instant::ZERO };
        Ok(Self {
            far,
            clients: BTreeMap::from([(first, client)]),
            ids: peer.map(|peer| (peer, first)).into_iter().collect(),
            permanent: peer.map(|_| first),
            next: 1,
            check: Instant::ZERO + EXPIRY_CHECK,
            count: ClientCount { admitted: u64::from(peer.is_some()), ..ClientCount::default() },
        })
    }

    /// The address of the first client's socket.
    pub(super) fn first_address(&self) -> io::Result<SocketAddr> {
        let first = self.clients.get(&ClientId::default());
        first
            .map_or_else(|| Err(io::ErrorKind::NotFound.into()), |it| it.port.socket().local_addr())
    }

    pub(super) fn count(&self) -> ClientCount {
        self.count
    }

    /// In the order of [`ports`](Self::ports).
    pub(super) fn ids(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.clients.keys().copied()
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = &Port> {
        self.clients.values().map(|client| &client.port)
    }

    /// The socket toward the far end, for a frame that passes now.
    pub(super) fn port(&mut self, now: Instant, id: ClientId) -> Option<&Port> {
        let client = self.clients.get_mut(&id)?;
        client.active = now;
        Some(&client.port)
    }

    /// The address at the near end, and the address of ours that the client knows.
    pub(super) fn address(&self, id: ClientId) -> Option<(SocketAddr, Option<IpAddr>)> {
        let client = self.clients.get(&id)?;
        Some((client.address?, client.local))
    }

    /// The client has sent a frame to this address of ours.
    pub(super) fn note_local(&mut self, id: ClientId, local: Option<IpAddr>) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.local = local.or(client.local);
        }
    }

    /// The system has rejected a frame toward the far end: if the address of the socket may be gone, that is found out at once.
    pub(super) fn note_rejected(&mut self, error: &io::Error) {
        if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::AddrNotAvailable) {
            self.check = Instant::ZERO;
        }
    }

    /// The client at `address`, which sends a frame; `None` if there is no place for it.
    pub(super) fn admit(&mut self, now: Instant, address: SocketAddr) -> Option<ClientId> {
        if let Some(id) = self.ids.get(&address) {
            self.clients.get_mut(id)?.active = now;
            return Some(*id);
        }
        let id = self.unused().or_else(|| self.open(now));
        let Some(client) = id.and_then(|id| self.clients.get_mut(&id)) else {
            self.count.rejected_frames += 1;
            return None;
        };
        (client.address, client.active) = (Some(address), now);
        self.ids.extend(id.map(|id| (address, id)));
        self.count.admitted += 1;
        id
    }

    /// The first client's place, as long as its address is not known.
    fn unused(&self) -> Option<ClientId> {
        let (id, client) = self.clients.first_key_value()?;
        client.address.is_none().then_some(*id)
    }

    /// A place with a socket of its own.
    fn open(&mut self, now: Instant) -> Option<ClientId> {
        if self.clients.len() >= MAX_CLIENTS {
            let idle = self.clients.iter().filter(|(id, _)| Some(**id) != self.permanent);
            let (id, client) = idle.min_by_key(|(_, client)| client.active)?;
            let (id, idle) = (*id, now.since(client.active));
            if idle < IDLE_WHEN_FULL {
                return None;
            }
            self.forget(id);
        }
        let port = upstream(self.far).ok()?;
        let id = ClientId(self.next);
        self.next += 1;
        self.clients.insert(id, Client { address: None, local: None, port, active: now });
        Some(id)
    }

    /// Forgets clients that have been idle for too long.
    pub(super) fn expire(&mut self, now: Instant) {
        if now < self.check {
            return;
        }
        self.check = now + EXPIRY_CHECK;
        self.reopen();
        let is_idle =
            |client: &Client| client.address.is_some() && now.since(client.active) >= IDLE_LIMIT;
        let idle = self.clients.iter().filter(|(id, _)| Some(**id) != self.permanent);
        let idle: Vec<_> = idle.filter_map(|(id, client)| is_idle(client).then_some(*id)).collect();
        for id in idle {
            self.forget(id);
        }
    }

    /// Opens the sockets again whose local address this machine has no longer.
    fn reopen(&mut self) {
        let Ok(present) = Interfaces::of_system() else {
            return;
        };
        for client in self.clients.values_mut() {
            let local = client.port.socket().local_addr();
            let is_there = local.is_ok_and(|at| at.ip().is_unspecified() || present.has(at.ip()));
            // Without a way to the far end the next look tries again.
            if !is_there && let Ok(port) = upstream(self.far) {
                client.port = port;
            }
        }
    }

    fn forget(&mut self, id: ClientId) {
        let address = self.clients.remove(&id).and_then(|client| client.address);
        address.and_then(|address| self.ids.remove(&address));
        self.count.expired += 1;
    }
}

/// A socket that exchanges frames with `far` only.
fn upstream(far: SocketAddr) -> io::Result<Port> {
    let any: IpAddr = match far {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(far)?;
    Port::new(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far() -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, 9))
    }

    fn near(port: u16) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    fn at(secs: u64) -> Instant {
        Instant::from_millis(1_000 * secs)
    }

    #[test]
    fn an_idle_client_expires_and_returns_as_another() {
        let mut clients = Clients::new(far(), Some(near(1))).unwrap();
        let [first, second] = [2, 3].map(|port| clients.admit(at(1), near(port)).unwrap());
        assert!(clients.port(at(200), second).is_some(), "answers keep a client, too");
        clients.expire(at(302));
        assert_eq!(clients.address(first), None);
        assert_eq!(clients.admit(at(302), near(3)), Some(second));
        assert!(clients.admit(at(303), near(2)) > Some(second));
        assert_eq!(clients.admit(at(304), near(1)), Some(ClientId::default()), "it never expires");
        let count = ClientCount { admitted: 4, expired: 1, rejected_frames: 0 };
        assert_eq!(clients.count(), count);
    }

    #[test]
    fn a_newcomer_replaces_the_longest_idle_client() {
        let mut clients = Clients::new(far(), None).unwrap();
        let ids: Vec<_> = (1..=MAX_CLIENTS as u16)
            .map(|port| clients.admit(Instant::from_millis(u64::from(port)), near(port)).unwrap())
            .collect();
        assert_eq!(clients.admit(at(10), near(1_000)), None);
        assert!(clients.admit(at(11), near(1_000)).is_some());
        assert_eq!(
            (clients.address(ids[0]), clients.address(ids[1])),
            (None, Some((near(2), None)))
        );
        let count = clients.count();
        assert_eq!((count.expired, count.rejected_frames), (1, 1));
        assert_eq!(clients.clients.len(), MAX_CLIENTS);
        assert_eq!(clients.ids.len(), MAX_CLIENTS);
    }
}
