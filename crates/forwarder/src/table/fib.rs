//! The forwarding table (FIB): next hops by prefix.
use super::prefix::PrefixTable;
use crate::face::FaceId;
use crate::hash::NameHasher;
use recoup_packet::name::Name;

/// The prefix of a name without route.
static ROOT: Name = Name::root();

/// A face that leads toward a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The face.
    pub face: FaceId,
    /// Cost, in the unit of the routing protocol; lower is better.
    pub cost: u64,
}

/// A route is added, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// The names that the route is for begin with this prefix.
    pub prefix: Name,
    /// The next hop.
    pub face: FaceId,
    /// Cost of the next hop; lower is better. `None` removes the route.
    pub cost: Option<u64>,
}

/// Result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FibMatch<'a> {
    /// The longest prefix that has a route; the root if there is none.
    pub prefix: &'a Name,
    /// Its next hops, cheapest first, those of equal cost by face; empty if there is no route.
    pub next_hops: &'a [NextHop],
}

/// Next hops by prefix. A prefix is stored as long as it has a next hop.
#[derive(Clone, Debug)]
pub struct Fib {
    routes: PrefixTable<Vec<NextHop>>,
    next_hops: usize,
}

impl Fib {
    /// A table without routes.
    #[must_use]
    pub fn new(hasher: NameHasher) -> Self {
        Self { routes: PrefixTable::new(hasher), next_hops: 0 }
    }

    /// The longest prefix of `name` that has next hops: cheapest first, those of equal cost by face; "/" without any if
    /// there is no route.
    #[must_use]
    #[inline]
    pub fn longest(&self, name: &Name) -> FibMatch<'_> {
        match self.routes.longest(name) {
            Some((prefix, next_hops)) => FibMatch { prefix, next_hops },
            None => FibMatch { prefix: &ROOT, next_hops: &[] },
        }
    }

    /// Next hops of exactly this prefix.
    #[must_use]
    pub fn get(&self, prefix: &Name) -> &[NextHop] {
        self.routes.get(prefix).map_or(&[], Vec::as_slice)
    }

    /// Adds a next hop, or changes its cost.
    pub fn insert(&mut self, prefix: &Name, face: FaceId, cost: u64) {
        let hop = NextHop { face, cost };
        match self.routes.get_mut(prefix) {
            Some(hops) => {
                self.next_hops -= hops.len();
                hops.retain(|other| other.face != face);
                let place = hops.partition_point(|other| (other.cost, other.face) < (cost, face));
                hops.insert(place, hop);
                self.next_hops += hops.len();
            }
            None => {
                self.next_hops += 1;
                self.routes.insert(prefix, vec![hop]);
            }
        }
    }

    /// Removes a next hop; returns whether it existed.
    pub fn remove(&mut self, prefix: &Name, face: FaceId) -> bool {
        let Some(hops) = self.routes.get_mut(prefix) else {
            return false;
        };
        let before = hops.len();
        hops.retain(|hop| hop.face != face);
        let (gone, empty) = (hops.len() < before, hops.is_empty());
        self.next_hops -= usize::from(gone);
        if empty {
            self.routes.remove(prefix);
        }
        gone
    }

    /// Removes a face from all prefixes.
    pub fn remove_face(&mut self, face: FaceId) {
        let of_face = |hops: &[NextHop]| hops.iter().any(|hop| hop.face == face);
        let affected: Vec<Name> =
            self.iter().filter(|(_, hops)| of_face(hops)).map(|(name, _)| name.clone()).collect();
        for prefix in &affected {
            self.remove(prefix, face);
        }
    }

    /// All prefixes in canonical order, with their next hops.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &[NextHop])> {
        self.routes.iter().map(|(prefix, hops)| (prefix, hops.as_slice()))
    }

    /// Number of prefixes with routes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Number of next hops of all prefixes together.
    #[must_use]
    pub const fn next_hops(&self) -> usize {
        self.next_hops
    }

    /// Whether there is no route.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn the_cheapest_next_hop_comes_first() {
        let mut fib = Fib::new(NameHasher::new(1));
        for (face, cost) in [(3, 10), (1, 20), (2, 10), (1, 5)] {
            fib.insert(&name("/a"), FaceId(face), cost);
        }
        let found = fib.longest(&name("/a/b"));
        let hops: Vec<_> = found.next_hops.iter().map(|hop| (hop.face.0, hop.cost)).collect();
        assert_eq!((found.prefix, &hops[..]), (&name("/a"), &[(1, 5), (2, 10), (3, 10)][..]));
        assert_eq!(fib.longest(&name("/b")), FibMatch { prefix: &name("/"), next_hops: &[] });
    }

    proptest! {
        #[test]
        fn look_up_finds_the_longest_prefix(
            operations in prop::collection::vec((0..6_usize, 0..4_u32, prop::option::of(0..3_u64)), 0..60)
        ) {
            let names = ["/", "/a", "/a/b", "/a/b/c", "/b", "/b/b/b"].map(name);
            let mut fib = Fib::new(NameHasher::new(2));
            let mut model: BTreeMap<(Name, FaceId), u64> = BTreeMap::new();
            for (place, face, cost) in operations {
                let (prefix, face) = (&names[place], FaceId(face));
                match cost {
                    Some(2) if place == 0 => {
                        fib.remove_face(face);
                        model.retain(|(_, other), _| *other != face);
                    }
                    Some(cost) => {
                        fib.insert(prefix, face, cost);
                        model.insert((prefix.clone(), face), cost);
                    }
                    None => {
                        let there = model.remove(&(prefix.clone(), face)).is_some();
                        prop_assert_eq!(fib.remove(prefix, face), there);
                    }
                }
                prop_assert_eq!(fib.next_hops(), model.len());
                for wanted in &names {
                    let known = model.keys().map(|(name, _)| name);
                    let longest = known.filter(|name| name.is_prefix_of(wanted)).max_by_key(|name| name.len());
                    let of_longest = model.iter().filter(|((name, _), _)| Some(name) == longest);
                    let mut expected: Vec<_> = of_longest.map(|((_, face), cost)| (*cost, *face)).collect();
                    expected.sort_unstable();
                    let found: Vec<_> = fib.longest(wanted).next_hops.iter().map(|hop| (hop.cost, hop.face)).collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
