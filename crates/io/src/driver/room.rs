//! Space for faces that peers open: quotas by kind and by neighbour, and which face is closed for another one.
//!
//! No kind evicts another, least of all datagrams from forged addresses
//! ([`newcomer`](super::newcomer)). A new connection evicts the longest idle face of its kind or of
//! its neighbour, unless routes or pending Interests use that face.
use super::face_entry::Face;
use super::newcomer::Newcomers;
use super::{Admission, Driver, DriverOptions, ListenerId, Uses};
use crate::descriptor;
use crate::face::{CloseReason, FaceId, FaceUri};
use hashbrown::HashMap;
use recoup_transport::time::{Duration, Instant};
use std::net::{IpAddr, Ipv6Addr};

/// Least idle time of an on-demand face that may be evicted.
const EVICTION_AGE: Duration = Duration::from_secs(1);
/// Faces of one kind may be this part of all faces; the rest is for other kinds.
const KIND_PART: usize = 8;
/// The part of all descriptors that connections of local applications may be.
const LOCAL_PART: usize = 4;
/// The part of all descriptors that other connections may be; the rest is for sockets and files of this side.
const STREAM_PART: usize = 2;

/// Kinds of faces that peers open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerKind {
    /// An application of this machine, over a Unix socket or in this process.
    Local,
    /// A connection over TCP or WebSocket.
    Stream,
    /// A peer over UDP of whose Interests one was answered.
    Datagram,
    /// A station of Ethernet.
    Station,
}

impl PeerKind {
    /// The kind of a face that leads there.
    pub(super) fn of(uri: &FaceUri) -> Self {
        match uri {
            FaceUri::Unix(_) | FaceUri::Memory(_) => Self::Local,
            FaceUri::Tcp(_) | FaceUri::WebSocket(..) => Self::Stream,
            FaceUri::Udp(_) => Self::Datagram,
            FaceUri::Ether(_) | FaceUri::Dev(_) => Self::Station,
        }
    }
}

/// Faces that peers opened, and how many there may be.
#[derive(Debug)]
pub(super) struct Quotas {
    pub(super) newcomers: Newcomers,
    /// Faces by neighbour that has any, newcomers not included.
    neighbours: HashMap<Neighbour, Tenancy>,
    /// Faces by kind, newcomers not included.
    kinds: [Tenancy; 4],
    pub(super) counts: Admission,
    /// Descriptors that the process may have.
    pub(super) descriptors: usize,
}

/// The faces of one neighbour, or of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Tenancy {
    faces: usize,
    /// Before that none of them can be evicted.
    full_until: Instant,
}

impl Quotas {
    pub(super) fn new(options: &DriverOptions) -> Self {
        Self {
            newcomers: Newcomers::of(options),
            neighbours: HashMap::new(),
            kinds: Default::default(),
            counts: Admission::default(),
            descriptors: descriptor::limit(),
        }
    }

    /// Faces that peers opened.
    pub(super) fn peers(&self) -> usize {
        self.kinds.iter().map(|kind| kind.faces).sum::<usize>() + self.newcomers.len()
    }

    fn kind(&mut self, kind: PeerKind) -> &mut Tenancy {
        &mut self.kinds[kind as usize]
    }

    /// How many faces of a kind there may be: together with newcomers they leave a quarter of all faces to this side.
    fn quota(&self, kind: PeerKind, options: &DriverOptions) -> usize {
        let descriptors = match kind {
            PeerKind::Local => self.descriptors / LOCAL_PART,
            PeerKind::Stream => self.descriptors / STREAM_PART,
            // All of them share the socket of their listener.
            PeerKind::Datagram | PeerKind::Station => usize::MAX,
        };
        options.on_demand_faces.min(options.faces / KIND_PART).min(descriptors).max(1)
    }

    /// Counts a face.
    pub(super) fn add(&mut self, kind: PeerKind, neighbour: Option<Neighbour>) {
        self.kind(kind).faces += 1;
        if let Some(neighbour) = neighbour {
            self.neighbours.entry(neighbour).or_default().faces += 1;
        }
    }

    /// Counts a face no more.
    pub(super) fn remove(&mut self, kind: PeerKind, neighbour: Option<Neighbour>) {
        self.kind(kind).faces -= 1;
        let Some(neighbour) = neighbour else {
            return;
        };
        if let Some(tenancy) = self.neighbours.get_mut(&neighbour) {
            tenancy.faces -= 1;
            if tenancy.faces == 0 {
                self.neighbours.remove(&neighbour);
            }
        }
    }
}

/// Whose faces count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Neighbour {
    /// An IPv4 address, or all of a network of IPv6, of which everybody has plenty.
    Address(IpAddr),
    /// All stations on an interface: their addresses can be forged.
    Stations(ListenerId),
}

impl Neighbour {
    pub(super) fn of(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(ip) => Ipv6Addr::from(u128::from(ip) >> 64 << 64).into(),
            ip => ip,
        })
    }
}

impl Driver {
    /// Ends an idle connection, so that its descriptor becomes free; `false` if no connection is idle.
    pub(super) fn free_descriptor(&mut self, now: Instant, uses: Uses<'_>) -> bool {
        self.quotas.counts.shortages += 1;
        let full_until = self.quotas.kind(PeerKind::Stream).full_until;
        let found = self.evict(now, full_until, |of, _| of == PeerKind::Stream, uses);
        found.map_err(|until| self.quotas.kind(PeerKind::Stream).full_until = until).is_ok()
    }

    /// Whether one more on-demand face may be opened, by this neighbour if it is counted; another one may be closed for it.
    pub(super) fn make_room(
        &mut self,
        now: Instant,
        kind: PeerKind,
        neighbour: Option<Neighbour>,
        uses: Uses<'_>,
    ) -> bool {
        let tenancy = neighbour.and_then(|it| self.quotas.neighbours.get(&it).copied());
        if let Some(Tenancy { faces, full_until }) = tenancy
            && faces >= self.options.faces_per_address
        {
            let found = self.evict(now, full_until, |_, whose| whose == neighbour, uses);
            let found = found.map_err(|until| {
                let tenancy = neighbour.and_then(|it| self.quotas.neighbours.get_mut(&it));
                tenancy.map(|it| it.full_until = until)
            });
            return found.is_ok();
        }
        let Tenancy { faces, full_until } = *self.quotas.kind(kind);
        if faces < self.quotas.quota(kind, &self.options) {
            return true;
        }
        let found = self.evict(now, full_until, |of, _| of == kind, uses);
        found.map_err(|until| self.quotas.kind(kind).full_until = until).is_ok()
    }

    /// Closes the longest idle of some on-demand faces. If none has been idle long enough, reports the earliest time at
    /// which one will have been.
    fn evict(
        &mut self,
        now: Instant,
        full_until: Instant,
        may_go: impl Fn(PeerKind, Option<Neighbour>) -> bool,
        uses: Uses<'_>,
    ) -> Result<(), Instant> {
        if now <= full_until {
            return Err(full_until);
        }
        let silent = |(id, face): (&FaceId, &Face)| {
            let kind = face.peer_kind().filter(|_| !self.quotas.newcomers.contains(*id))?;
            Some((face.idle_since()?, *id)).filter(|_| may_go(kind, face.neighbour))
        };
        let mut oldest = None;
        for face in self.sockets.faces.iter().filter_map(silent) {
            // How a face is used is asked of few, for most are not the oldest so far.
            if oldest.is_none_or(|oldest| face < oldest) && !uses(face.1).is_engaged() {
                oldest = Some(face);
            }
        }
        match oldest {
            Some((since, id)) if now.since(since) > EVICTION_AGE => {
                self.quotas.counts.evicted += 1;
                self.end(id, CloseReason::Evicted, false);
                Ok(())
            }
            oldest => Err(oldest.map_or(now, |(since, _)| since) + EVICTION_AGE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbour_is_an_ipv4_address_or_ipv6_network() {
        let of = |text: &str| Neighbour::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::7"), of("2001:db8::1:2:3:4"));
        assert_ne!(of("2001:db8::7"), of("2001:db8:0:1::7"));
        let plain = Neighbour::Address("192.0.2.7".parse().unwrap());
        assert_eq!((of("192.0.2.7"), of("::ffff:192.0.2.7")), (plain, plain));
    }
}
