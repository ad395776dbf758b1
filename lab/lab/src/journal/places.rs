//! Places of the lines of runs, 16 bytes each: a hash table takes twice as much, and more while it grows.
use std::collections::BTreeMap;

/// Most places that wait to be sorted in.
const WAITING: usize = 4096;

/// Places by seed and point.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeMap<u64, OfSeed>);

/// Points with their places, sorted by point.
#[derive(Debug, Default)]
struct OfSeed {
    most: Vec<(u64, u64)>,
    waiting: Vec<(u64, u64)>,
}

impl OfSeed {
    fn get(&self, point: u64) -> Option<u64> {
        let find = |list: &[(u64, u64)]| {
            let found = list.binary_search_by_key(&point, |(point, _)| *point).ok()?;
            list.get(found).map(|(_, place)| *place)
        };
        find(&self.most).or_else(|| find(&self.waiting))
    }

    /// A later place replaces an earlier one.
    fn insert(&mut self, point: u64, place: u64) {
        let find = |list: &[(u64, u64)]| list.binary_search_by_key(&point, |(point, _)| *point);
        match (find(&self.most), find(&self.waiting)) {
            (Ok(at), _) => self.most[at].1 = place,
            (_, Ok(at)) => self.waiting[at].1 = place,
            (_, Err(at)) => self.waiting.insert(at, (point, place)),
        }
        if self.waiting.len() >= WAITING {
            self.most.reserve_exact(WAITING);
            self.most.append(&mut self.waiting);
            self.most.sort_unstable();
        }
    }
}

impl Places {
    /// The place of the run of a point and a seed.
    pub(super) fn get(&self, point: u64, seed: u64) -> Option<u64> {
        self.0.get(&seed)?.get(point)
    }

    pub(super) fn insert(&mut self, point: u64, seed: u64, place: u64) {
        self.0.entry(seed).or_default().insert(point, place);
    }

    /// Seed and place of each run of a point, by seed.
    pub(super) fn of_point(&self, point: u64) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().filter_map(move |(seed, all)| Some((*seed, all.get(point)?)))
    }

    /// Point, seed and place of each run, by seed.
    pub(super) fn iter<'a>(&'a self) -> impl Iterator<Item = (u64, u64, u64)> {
        let of_seed = |(seed, all): (&u64, &'a OfSeed)| {
            let seed = *seed;
            let places = all.most.iter().chain(&all.waiting);
            places.map(move |(point, place)| (*point, seed, *place))
        };
        self.0.iter().flat_map(of_seed)
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(|all| all.most.len() + all.waiting.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_map() {
        let (mut places, mut map) = (Places::default(), BTreeMap::new());
        let mut rng = recoup_core::random::Rng::from_seed(1);
        for place in 0..3 * WAITING as u64 {
            let (point, seed) = (rng.below(WAITING as u64), rng.below(3));
            places.insert(point, seed, place);
            map.insert((seed, point), place);
        }
        let mut all: Vec<_> = places.iter().map(|(point, seed, it)| ((seed, point), it)).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(map.clone()) && places.len() == map.len());
        assert!(map.iter().all(|((seed, point), it)| places.get(*point, *seed) == Some(*it)));
        let of = |point| places.of_point(point).map(|(seed, _)| seed).collect::<Vec<_>>();
        let seeds = |point| (0..3).filter(|it| map.contains_key(&(*it, point))).collect::<Vec<_>>();
        assert!((0..WAITING as u64 + 1).all(|point| of(point) == seeds(point)));
    }
}
