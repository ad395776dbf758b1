//! The routing table (RIB): registered routes, and the resulting next hops of the forwarding table.
//!
//! The next hops of a prefix are the faces of its own routes, each at the lowest cost, and those that it inherits:
//! from the nearest shorter prefixes with the inherit flag, up to the first with the capture flag. A route near the
//! root may be inherited by all others, so inherited next hops are limited like routes: further ones are left out.
//!
//! Among routes of peers at one cost, the one that was registered last comes first: the other next hops cost one more. A
//! producer whose address has changed registers again, and its former face stays until it has been idle for long.
//!
//! Source: NFD's developer guide, "RIB Management"; NFD, `daemon/rib/rib.cpp`.
use crate::face::FaceId;
use crate::limits::FEW;
use crate::table::RouteChange;
use recoup_packet::name::Name;
use recoup_transport::management::{CAPTURE, CHILD_INHERIT};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Origin of configured routes (`ROUTE_ORIGIN_STATIC`).
pub(crate) const STATIC: u64 = 255;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) cost: u64,
    /// [`CHILD_INHERIT`], [`CAPTURE`] or their sum.
    pub(crate) flags: u64,
    /// Time at which the route expires.
    pub(crate) expires: Option<Instant>,
    pub(crate) registrant: Registrant,
}

/// Registrant of a route, which determines its share of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registrant {
    /// The configuration, or an operator for another face: limited by the table only.
    Operator,
    /// An application of this machine, for its own face.
    Application,
    /// A peer on another machine (`/localhop`), for its own face.
    Peer,
}

/// Limit that a further route would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RibFull {
    /// The limit of the table.
    Table,
    /// The limit of this face.
    Share,
}

/// Routes by prefix, face and origin.
#[derive(Debug)]
pub(crate) struct Rib {
    entries: BTreeMap<Name, Entry>,
    faces: BTreeMap<FaceId, Registered>,
    expiring: BTreeSet<(Instant, FaceId, Name, u64)>,
    len: usize,
    /// Routes of peers on other machines.
    peer_routes: usize,
    /// Inherited next hops of all prefixes together.
    inherited: usize,
    limit: usize,
}

/// The routes of one face.
#[derive(Debug, Default)]
struct Registered {
    /// Prefixes with own routes to the face.
    prefixes: BTreeSet<Name>,
    /// Routes; a prefix may have several of different origin.
    routes: usize,
}

/// Routes and next hops of a prefix.
#[derive(Debug, Default)]
struct Entry {
    routes: BTreeMap<(FaceId, u64), Route>,
    /// Next hops in the forwarding table.
    next_hops: BTreeMap<FaceId, u64>,
    /// Number of inherited ones among them.
    inherited: usize,
    /// Face and origin of the peer that registered last.
    latest: Option<(FaceId, u64)>,
}

/// Faces and their costs.
type Hops = BTreeMap<FaceId, u64>;

impl Entry {
    fn hops(&self, counts: impl Fn(&Route) -> bool) -> Hops {
        let mut hops = Hops::new();
        let latest =
            self.latest.and_then(|(face, origin)| Some((face, self.routes.get(&(face, origin))?)));
        for ((face, _), route) in self.routes.iter().filter(|(_, route)| counts(route)) {
            let is_older = route.registrant == Registrant::Peer
                && latest.is_some_and(|(other, it)| other != *face && it.cost == route.cost);
            let of_route = route.cost.saturating_add(u64::from(is_older));
            let cost = hops.entry(*face).or_insert(of_route);
            *cost = of_route.min(*cost);
        }
        hops
    }

    fn captures(&self) -> bool {
        self.routes.values().any(|route| route.flags & CAPTURE != 0)
    }

    /// Next hops that longer prefixes inherit, and whether they inherit from shorter prefixes, too.
    fn legacy(&self) -> (Hops, bool) {
        (self.hops(|route| route.flags & CHILD_INHERIT != 0), self.captures())
    }
}

impl Rib {
    pub(crate) fn new(limit: usize) -> Self {
        let (entries, faces, expiring) = Default::default();
        Self { entries, faces, expiring, len: 0, peer_routes: 0, inherited: 0, limit }
    }

    /// Adds or changes a route; returns the changes of the forwarding table.
    pub(crate) fn set(
        &mut self,
        prefix: &Name,
        face: FaceId,
        origin: u64,
        route: Route,
    ) -> Result<Vec<RouteChange>, RibFull> {
        let before = self.legacy(prefix);
        if self.take(prefix, face, origin).is_none() {
            self.check_share(face, route.registrant)?;
        }
        self.len += 1;
        self.peer_routes += usize::from(route.registrant == Registrant::Peer);
        // A name may be a slice of a much longer packet.
        let own: Name = prefix.components().collect();
        if let Some(at) = route.expires {
            self.expiring.insert((at, face, own.clone(), origin));
        }
        let registered = self.faces.entry(face).or_default();
        registered.prefixes.insert(own.clone());
        registered.routes += 1;
        let entry = self.entries.entry(own).or_default();
        entry.routes.insert((face, origin), route);
        if route.registrant == Registrant::Peer {
            entry.latest = Some((face, origin));
        }
        Ok(self.follow(prefix, before))
    }

    /// Removes a route, if it exists; returns the changes of the forwarding table.
    pub(crate) fn unset(&mut self, prefix: &Name, face: FaceId, origin: u64) -> Vec<RouteChange> {
        let before = self.legacy(prefix);
        match self.take(prefix, face, origin) {
            Some(_) => self.follow(prefix, before),
            None => Vec::new(),
        }
    }

    /// Removes all routes of a face; returns the changes of the forwarding table.
    pub(crate) fn forget_face(&mut self, face: FaceId) -> Vec<RouteChange> {
        let mut changes = Vec::new();
        let prefixes = self.faces.get(&face).map(|registered| registered.prefixes.clone());
        for prefix in prefixes.unwrap_or_default() {
            let before = self.legacy(&prefix);
            for origin in self.origins(&prefix, face) {
                self.take(&prefix, face, origin);
            }
            changes.extend(self.follow(&prefix, before));
        }
        changes
    }

    /// Time at which the next route expires.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.expiring.first().map(|(at, ..)| *at)
    }

    /// Removes an expired route; returns the changes of the forwarding table.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<Vec<RouteChange>> {
        let (at, face, prefix, origin) = self.expiring.first()?.clone();
        (at <= now).then(|| self.unset(&prefix, face, origin))
    }

    /// All routes: prefix, then face, origin and route.
    pub(crate) fn iter(
        &self,
    ) -> impl Iterator<Item = (&Name, impl Iterator<Item = (FaceId, u64, Route)>)> {
        self.entries.iter().filter(|(_, entry)| !entry.routes.is_empty()).map(|(name, entry)| {
            (name, entry.routes.iter().map(|((face, origin), route)| (*face, *origin, *route)))
        })
    }

    fn origins(&self, prefix: &Name, face: FaceId) -> Vec<u64> {
        let routes = self.entries.get(prefix).map(|entry| &entry.routes);
        let range = (face, 0)..=(face, u64::MAX);
        routes.into_iter().flat_map(|it| it.range(range.clone())).map(|((_, of), _)| *of).collect()
    }

    fn take(&mut self, prefix: &Name, face: FaceId, origin: u64) -> Option<Route> {
        let entry = self.entries.get_mut(prefix)?;
        let route = entry.routes.remove(&(face, origin))?;
        let is_last = entry.routes.range((face, 0)..=(face, u64::MAX)).next().is_none();
        self.len -= 1;
        self.peer_routes -= usize::from(route.registrant == Registrant::Peer);
        if let Some(at) = route.expires {
            self.expiring.remove(&(at, face, prefix.clone(), origin));
        }
        if let Some(registered) = self.faces.get_mut(&face) {
            registered.routes -= 1;
            if is_last {
                registered.prefixes.remove(prefix);
            }
            if registered.prefixes.is_empty() {
                self.faces.remove(&face);
            }
        }
        Some(route)
    }

    /// Whether one more route of a face is within the limits of the table and of the face.
    fn check_share(&self, face: FaceId, registrant: Registrant) -> Result<(), RibFull> {
        if self.len >= self.limit {
            return Err(RibFull::Table);
        }
        let free = match registrant {
            Registrant::Operator => return Ok(()),
            Registrant::Application => self.limit - self.len,
            Registrant::Peer => (self.limit / 2).saturating_sub(self.peer_routes),
        };
        let routes = self.faces.get(&face).map_or(0, |registered| registered.routes);
        match free > 0 && routes < free.max(FEW) {
            true => Ok(()),
            false => Err(RibFull::Share),
        }
    }

    fn legacy(&self, prefix: &Name) -> (Hops, bool) {
        self.entries.get(prefix).map(Entry::legacy).unwrap_or_default()
    }

    /// Changes of the forwarding table after a change of `prefix`, from which longer ones inherited `before`.
    fn follow(&mut self, prefix: &Name, before: (Hops, bool)) -> Vec<RouteChange> {
        let mut changes = Vec::new();
        let heirs: Vec<Name> = match self.legacy(prefix) == before {
            true => Vec::new(),
            false => self.below(prefix),
        };
        for name in std::iter::once(prefix).chain(&heirs) {
            self.update(name, &mut changes);
        }
        if self.entries.get(prefix).is_some_and(|entry| entry.routes.is_empty()) {
            self.entries.remove(prefix);
        }
        changes
    }

    /// Longer prefixes with routes.
    fn below(&self, prefix: &Name) -> Vec<Name> {
        let from = (Bound::Excluded(prefix), Bound::Unbounded);
        let names = self.entries.range::<Name, _>(from).map(|(name, _)| name);
        names.take_while(|name| prefix.is_prefix_of(name)).cloned().collect()
    }

    /// Computes the next hops of a prefix, and their changes.
    fn update(&mut self, prefix: &Name, changes: &mut Vec<RouteChange>) {
        let (mut hops, all) = self.hops(prefix);
        let Some(entry) = self.entries.get_mut(prefix) else {
            return;
        };
        self.inherited -= std::mem::take(&mut entry.inherited);
        let more = all.len() - hops.len();
        if self.inherited + more <= self.limit {
            (entry.inherited, hops) = (more, all);
            self.inherited += more;
        }
        let next_hops = std::mem::replace(&mut entry.next_hops, hops);
        let change = |face, cost| RouteChange { prefix: prefix.clone(), face, cost };
        let gone = next_hops.keys().filter(|face| !entry.next_hops.contains_key(face));
        changes.extend(gone.map(|face| change(*face, None)));
        let other = entry.next_hops.iter().filter(|(face, cost)| next_hops.get(face) != Some(cost));
        changes.extend(other.map(|(face, cost)| change(*face, Some(*cost))));
    }

    /// Own next hops of a prefix, and inherited ones.
    fn hops(&self, prefix: &Name) -> (Hops, Hops) {
        let Some(entry) = self.entries.get(prefix).filter(|entry| !entry.routes.is_empty()) else {
            return Default::default();
        };
        let (own, mut captured) = (entry.hops(|_| true), entry.captures());
        let mut hops = own.clone();
        for count in (0..prefix.len()).rev() {
            if captured {
                break;
            }
            let (inherited, captures) = self.legacy(&prefix.prefix(count));
            captured = captures;
            for (face, cost) in inherited {
                hops.entry(face).or_insert(cost);
            }
        }
        (own, hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACE: FaceId = FaceId(3);

    fn at(seconds: u64) -> Option<Instant> {
        Some(Instant::from_millis(seconds * 1000))
    }

    fn route(cost: u64, expires: Option<Instant>) -> Route {
        Route { cost, flags: CHILD_INHERIT, expires, registrant: Registrant::Operator }
    }

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    /// Changes as text, such as `/a 3 9` and `/a 3 -`.
    fn text(changes: &[RouteChange]) -> Vec<String> {
        let cost = |cost: Option<u64>| cost.map_or("-".into(), |cost| cost.to_string());
        changes.iter().map(|it| format!("{} {} {}", it.prefix, it.face.0, cost(it.cost))).collect()
    }

    #[test]
    fn the_cheapest_of_all_origins_counts() {
        let (mut rib, prefix) = (Rib::new(10), name("/a"));
        assert_eq!(text(&rib.set(&prefix, FACE, 0, route(9, None)).unwrap()), ["/a 3 9"]);
        assert_eq!(text(&rib.set(&prefix, FACE, STATIC, route(4, None)).unwrap()), ["/a 3 4"]);
        assert_eq!(text(&rib.unset(&prefix, FACE, STATIC)), ["/a 3 9"]);
        assert_eq!(text(&rib.unset(&prefix, FACE, 0)), ["/a 3 -"]);
        assert_eq!((rib.len, rib.faces.len(), rib.entries.len()), (0, 0, 0));
    }

    #[test]
    fn route_expires_unless_renewed() {
        let (mut rib, prefix) = (Rib::new(10), name("/a"));
        rib.set(&prefix, FACE, 0, route(0, at(5))).unwrap();
        rib.set(&prefix, FACE, 0, route(0, at(9))).unwrap();
        assert_eq!(rib.deadline(), at(9));
        assert_eq!(rib.pop_expired(Instant::from_millis(8_999)), None);
        let ended = rib.pop_expired(Instant::from_millis(9_000));
        assert_eq!(text(&ended.unwrap()), ["/a 3 -"]);
        assert_eq!((rib.deadline(), rib.len), (None, 0));
    }

    #[test]
    fn removed_face_frees_its_routes() {
        let mut rib = Rib::new(2);
        rib.set(&name("/a"), FACE, 0, route(0, at(5))).unwrap();
        rib.set(&name("/b"), FACE, 0, route(0, None)).unwrap();
        assert_eq!(rib.set(&name("/c"), FaceId(4), 0, route(0, None)), Err(RibFull::Table));
        rib.set(&name("/b"), FACE, 0, route(1, None)).unwrap();
        assert_eq!(text(&rib.forget_face(FACE)), ["/a 3 -", "/b 3 -"]);
        assert_eq!((rib.deadline(), rib.len, rib.entries.len()), (None, 0, 0));
        rib.set(&name("/c"), FaceId(4), 0, route(0, None)).unwrap();
    }

    #[test]
    fn latest_registration_of_peers_comes_first() {
        let mut rib = Rib::new(100);
        let of_peer = |cost| Route { registrant: Registrant::Peer, ..route(cost, None) };
        let mut set = |face, route| text(&rib.set(&name("/a"), FaceId(face), 65, route).unwrap());
        assert_eq!(set(1, route(0, None)), ["/a 1 0"]);
        assert_eq!(set(2, of_peer(0)), ["/a 2 0"]);
        assert_eq!(set(3, of_peer(0)), ["/a 2 1", "/a 3 0"]);
        assert_eq!(set(4, of_peer(7)), ["/a 2 0", "/a 4 7"]);
        assert_eq!(set(2, of_peer(0)), ["/a 3 1"]);
        assert_eq!(text(&rib.forget_face(FaceId(2))), ["/a 2 -", "/a 3 0"]);
    }

    #[test]
    fn each_origin_counts_as_a_route() {
        let mut rib = Rib::new(100);
        let of_peer = Route { registrant: Registrant::Peer, ..route(0, None) };
        let granted = (0..).take_while(|origin| {
            let set = rib.set(&name("/a"), FACE, *origin, of_peer);
            assert!(set.is_ok() || set == Err(RibFull::Share));
            set.is_ok()
        });
        let granted = granted.count();
        assert!(granted <= 25, "{granted} of 50 that peers share");
        assert_eq!(rib.peer_routes, granted);
        rib.forget_face(FACE);
        assert_eq!((rib.peer_routes, rib.len, rib.faces.len()), (0, 0, 0));
    }

    #[test]
    fn longer_prefixes_inherit_from_the_nearest() {
        let mut rib = Rib::new(20);
        let set = |rib: &mut Rib, prefix: &str, face, cost, flags| {
            let route = Route { flags, ..route(cost, None) };
            text(&rib.set(&name(prefix), FaceId(face), 0, route).unwrap())
        };
        assert_eq!(set(&mut rib, "/", 1, 7, CHILD_INHERIT), ["/ 1 7"]);
        assert_eq!(set(&mut rib, "/a/b", 2, 5, 0), ["/a/b 1 7", "/a/b 2 5"]);
        // Nearer, and with a higher cost.
        assert_eq!(set(&mut rib, "/a", 1, 9, CHILD_INHERIT), ["/a 1 9", "/a/b 1 9"]);
        // Without the flag no next hop is inherited.
        assert_eq!(set(&mut rib, "/a", 3, 1, 0), ["/a 3 1"]);
        assert_eq!(set(&mut rib, "/a/b/c", 4, 0, 0), ["/a/b/c 1 9", "/a/b/c 4 0"]);
        // A prefix with the capture flag inherits nothing, nor do longer ones through it.
        assert_eq!(set(&mut rib, "/a/b", 2, 5, CAPTURE), ["/a/b 1 -", "/a/b/c 1 -"]);
        assert_eq!(set(&mut rib, "/a/b", 2, 5, CAPTURE | CHILD_INHERIT), ["/a/b/c 2 5"]);
        assert_eq!(
            text(&rib.unset(&name("/a/b"), FaceId(2), 0)),
            ["/a/b 2 -", "/a/b/c 2 -", "/a/b/c 1 9"]
        );
        assert_eq!(text(&rib.unset(&name("/a"), FaceId(1), 0)), ["/a 1 7", "/a/b/c 1 7"]);
        assert_eq!(text(&rib.forget_face(FaceId(1))), ["/ 1 -", "/a 1 -", "/a/b/c 1 -"]);
    }

    #[test]
    fn inherited_next_hops_are_limited() {
        let mut rib = Rib::new(6);
        for face in 1..=2 {
            rib.set(&Name::root(), FaceId(face), 0, route(7, None)).unwrap();
        }
        let leads =
            |changes: Vec<RouteChange>| changes.iter().filter(|it| it.cost.is_some()).count();
        let mut set =
            |prefix: &str| leads(rib.set(&name(prefix), FACE, 0, route(0, None)).unwrap());
        assert_eq!(["/a", "/b", "/c", "/d"].map(&mut set), [3, 3, 3, 1]);
        rib.unset(&name("/a"), FACE, 0);
        assert_eq!(rib.inherited, 4);
        assert_eq!(leads(rib.set(&name("/e"), FACE, 0, route(0, None)).unwrap()), 3);
        rib.forget_face(FACE);
        assert_eq!(rib.inherited, 0);
    }

    #[test]
    fn inherited_next_hop_ends_with_its_last_route() {
        let mut rib = Rib::new(20);
        rib.set(&Name::root(), FaceId(1), 0, route(7, None)).unwrap();
        rib.set(&name("/a"), FaceId(2), 0, route(5, None)).unwrap();
        let listed: Vec<_> =
            rib.iter().map(|(name, routes)| (name.to_string(), routes.count())).collect();
        assert_eq!(listed, [("/".to_owned(), 1), ("/a".to_owned(), 1)]);
        assert_eq!(text(&rib.unset(&name("/a"), FaceId(2), 0)), ["/a 1 -", "/a 2 -"]);
    }
}
