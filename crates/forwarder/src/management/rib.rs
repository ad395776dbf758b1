//! The routing table (RIB): who asked for which route, from which the cheapest makes it into the forwarding table.
//!
//! Source: NFD's developer guide, "RIB Management".
//!
//! Differences: a route's flags are kept and answered but not followed: longer prefixes inherit nothing.
use crate::face::FaceId;
use recoup_packet::name::Name;
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// Who a route comes from that the configuration named (`ROUTE_ORIGIN_STATIC`).
pub(crate) const STATIC: u64 = 255;

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) cost: u64,
    /// When it ends by itself.
    pub(crate) expires: Option<Instant>,
}

/// As many routes are there as there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RibFull;

/// Routes by face, prefix and origin.
#[derive(Debug)]
pub(crate) struct Rib {
    faces: BTreeMap<FaceId, BTreeMap<Name, BTreeMap<u64, Route>>>,
    expiring: BTreeSet<(Instant, FaceId, Name, u64)>,
    len: usize,
    limit: usize,
}

impl Rib {
    pub(crate) fn new(limit: usize) -> Self {
        Self { faces: BTreeMap::new(), expiring: BTreeSet::new(), len: 0, limit }
    }

    /// Adds a route or changes it.
    pub(crate) fn set(
        &mut self,
        prefix: &Name,
        face: FaceId,
        origin: u64,
        route: Route,
    ) -> Result<(), RibFull> {
        self.unset(prefix, face, origin);
        if self.len >= self.limit {
            return Err(RibFull);
        }
        self.len += 1;
        if let Some(at) = route.expires {
            self.expiring.insert((at, face, prefix.clone(), origin));
        }
        let prefixes = self.faces.entry(face).or_default();
        prefixes.entry(prefix.clone()).or_default().insert(origin, route);
        Ok(())
    }

    /// Takes a route away, if it is there.
    pub(crate) fn unset(&mut self, prefix: &Name, face: FaceId, origin: u64) {
        let Some(prefixes) = self.faces.get_mut(&face) else {
            return;
        };
        let Some(route) = prefixes.get_mut(prefix).and_then(|routes| routes.remove(&origin)) else {
            return;
        };
        self.len -= 1;
        if let Some(at) = route.expires {
            self.expiring.remove(&(at, face, prefix.clone(), origin));
        }
        prefixes.retain(|_, routes| !routes.is_empty());
        self.faces.retain(|_, prefixes| !prefixes.is_empty());
    }

    /// Takes all routes by a face away.
    pub(crate) fn forget_face(&mut self, face: FaceId) {
        let Some(prefixes) = self.faces.remove(&face) else {
            return;
        };
        self.len -= prefixes.values().map(BTreeMap::len).sum::<usize>();
        self.expiring.retain(|(_, of, ..)| *of != face);
    }

    /// The cost of a prefix by a face: that of its cheapest route.
    pub(crate) fn cost(&self, prefix: &Name, face: FaceId) -> Option<u64> {
        self.faces.get(&face)?.get(prefix)?.values().map(|route| route.cost).min()
    }

    /// When the first route ends by itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.expiring.first().map(|(at, ..)| *at)
    }

    /// Takes away a route that has ended, and says which it was.
    pub(crate) fn pop_expired(&mut self, now: Instant) -> Option<(Name, FaceId)> {
        let (at, ..) = self.expiring.first()?;
        if *at > now {
            return None;
        }
        let (_, face, prefix, origin) = self.expiring.pop_first()?;
        self.unset(&prefix, face, origin);
        Some((prefix, face))
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
        Route { cost, expires }
    }

    #[test]
    fn the_cheapest_of_all_origins_counts() {
        let (mut rib, prefix) = (Rib::new(10), "/a".parse::<Name>().unwrap());
        rib.set(&prefix, FACE, 0, route(9, None)).unwrap();
        rib.set(&prefix, FACE, STATIC, route(4, None)).unwrap();
        assert_eq!(rib.cost(&prefix, FACE), Some(4));
        rib.unset(&prefix, FACE, STATIC);
        assert_eq!(rib.cost(&prefix, FACE), Some(9));
        rib.unset(&prefix, FACE, 0);
        assert_eq!((rib.cost(&prefix, FACE), rib.len, rib.faces.len()), (None, 0, 0));
    }

    #[test]
    fn a_route_ends_when_it_said_unless_it_was_renewed() {
        let (mut rib, prefix) = (Rib::new(10), "/a".parse::<Name>().unwrap());
        rib.set(&prefix, FACE, 0, route(0, at(5))).unwrap();
        rib.set(&prefix, FACE, 0, route(0, at(9))).unwrap();
        assert_eq!(rib.deadline(), at(9));
        assert_eq!(rib.pop_expired(Instant::from_millis(8_999)), None);
        assert_eq!(rib.pop_expired(Instant::from_millis(9_000)), Some((prefix, FACE)));
        assert_eq!((rib.deadline(), rib.len), (None, 0));
    }

    #[test]
    fn the_table_is_bounded_and_a_face_that_is_forgotten_makes_room() {
        let mut rib = Rib::new(2);
        let names = ["/a", "/b", "/c"].map(|text| text.parse::<Name>().unwrap());
        rib.set(&names[0], FACE, 0, route(0, at(5))).unwrap();
        rib.set(&names[1], FACE, 0, route(0, None)).unwrap();
        assert_eq!(rib.set(&names[2], FaceId(4), 0, route(0, None)), Err(RibFull));
        rib.set(&names[1], FACE, 0, route(1, None)).unwrap();
        rib.forget_face(FACE);
        assert_eq!((rib.deadline(), rib.len), (None, 0));
        rib.set(&names[2], FaceId(4), 0, route(0, None)).unwrap();
    }
}
