//! The flows of one neighbour, and those with queued packets.
use super::flow::{Meter, Pace};
use crate::queue::{Demand, Demands};
use crate::time::Instant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Most neighbours distinguished; further ones share one group.
const MOST_GROUPS: usize = 256;
/// The shared group.
const OTHERS: u32 = u32::MAX;

/// Time at which a flow is due; ties are resolved by the order of arming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wake {
    pub(super) due: Instant,
    pub(super) sequence: u64,
    pub(super) flow: u32,
}

/// The flows of one neighbour.
#[derive(Debug)]
pub(super) struct Group {
    id: u32,
    pub(super) flows: u32,
    /// Demands of its flows.
    pub(super) demands: Demands,
    /// Demand, as counted by all groups.
    pub(super) demand: Demand,
    pub(super) meter: Meter,
    /// Mean charge of its packets.
    pub(super) mean_bytes: f64,
    pub(super) pace: Pace,
    /// Queued packets of its flows.
    pub(super) packets: u64,
    /// Whether the group is paced as a whole and has queued packets.
    pub(super) held: bool,
    wakes: Wakes,
}

/// Flows by due time, each at most once. Where shares are equal, nearly every one is due no earlier than those
/// before. These are in a queue, with constant time; the others are in a heap, with O(log n).
#[derive(Debug, Default)]
struct Wakes {
    /// Ascending.
    queue: VecDeque<Wake>,
    heap: BinaryHeap<Reverse<Wake>>,
}

impl Wakes {
    fn push(&mut self, wake: Wake) {
        if self.queue.back().is_none_or(|last| *last <= wake) {
            self.queue.push_back(wake);
        } else {
            self.heap.push(Reverse(wake));
        }
    }

    /// The first one, and whether it is in the queue.
    fn first(&self) -> Option<(Wake, bool)> {
        let (queued, heaped) = (self.queue.front().copied(), self.heap.peek().map(|it| it.0));
        match (queued, heaped) {
            (Some(queued), Some(heaped)) if heaped < queued => Some((heaped, false)),
            (Some(queued), _) => Some((queued, true)),
            (None, heaped) => heaped.map(|heaped| (heaped, false)),
        }
    }

    fn pop(&mut self) -> Option<Wake> {
        match self.first()? {
            (_, true) => self.queue.pop_front(),
            (_, false) => self.heap.pop().map(|first| first.0),
        }
    }
}

impl Group {
    fn new(id: u32, now: Instant) -> Self {
        Self {
            id,
            flows: 0,
            demands: Demands::default(),
            demand: Demand::NOTHING,
            meter: Meter::new(now),
            mean_bytes: 0.0,
            pace: Pace::default(),
            packets: 0,
            held: false,
            wakes: Wakes::default(),
        }
    }

    /// Adds a flow that is not in the set.
    pub(super) fn wake(&mut self, wake: Wake) {
        self.wakes.push(wake);
    }

    /// Due time of the first flow.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.wakes.first().map(|(first, _)| first.due)
    }

    /// Removes the first flow.
    pub(super) fn pop(&mut self) -> Option<Wake> {
        self.wakes.pop()
    }
}

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    vacant: Vec<u32>,
    by_id: BTreeMap<u32, u32>,
}

impl Groups {
    pub(super) fn get(&self, place: u32) -> &Group {
        &self.groups[place as usize]
    }

    pub(super) fn get_mut(&mut self, place: u32) -> &mut Group {
        &mut self.groups[place as usize]
    }

    /// Number of flows of a neighbour.
    pub(super) fn flows_of(&self, id: u32) -> u32 {
        let place = self.by_id.get(&id).or_else(|| self.by_id.get(&OTHERS));
        place.map_or(0, |place| self.get(*place).flows)
    }

    /// The group of a neighbour, and whether it is new.
    pub(super) fn obtain(&mut self, now: Instant, id: u32) -> (u32, bool) {
        if let Some(place) = self.by_id.get(&id) {
            return (*place, false);
        }
        if self.by_id.len() >= MOST_GROUPS && id != OTHERS {
            return self.obtain(now, OTHERS);
        }
        let group = Group::new(id, now);
        let place = match self.vacant.pop() {
            Some(place) => {
                self.groups[place as usize] = group;
                place
            }
            None => {
                self.groups.push(group);
                self.groups.len() as u32 - 1
            }
        };
        self.by_id.insert(id, place);
        (place, true)
    }

    /// Removes a group without flows.
    pub(super) fn remove(&mut self, place: u32) {
        let id = self.get(place).id;
        self.by_id.remove(&id);
        self.vacant.push(place);
    }

    /// Number of groups.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_due_in_order_of_time() {
        let mut wakes = Wakes::default();
        let mut expected = Vec::new();
        for (sequence, millis) in (0..).zip([5, 7, 6, 6, 9, 1, 7, 9, 8]) {
            let wake = Wake { due: Instant::from_millis(millis), sequence, flow: 0 };
            wakes.push(wake);
            expected.push(wake);
        }
        assert!(!wakes.heap.is_empty() && wakes.queue.len() > 3);
        expected.sort_unstable();
        let popped: Vec<_> = std::iter::from_fn(|| wakes.pop()).collect();
        assert_eq!(popped, expected);
    }

    #[test]
    fn neighbours_beyond_the_bound_share_a_group() {
        let mut groups = Groups::default();
        for id in 0..MOST_GROUPS as u32 {
            assert!(groups.obtain(Instant::ZERO, id).1);
        }
        let (shared, is_made) = groups.obtain(Instant::ZERO, 7_000);
        assert!(is_made);
        assert_eq!(groups.obtain(Instant::ZERO, 8_000), (shared, false));
        assert_eq!(groups.len(), MOST_GROUPS + 1);
        groups.remove(shared);
        groups.remove(3);
        assert_eq!(groups.obtain(Instant::ZERO, 7_000), (3, true));
    }
}
