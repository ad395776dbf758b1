//! Failures and outages that overlap: one that ends leaves the others in force.
use super::site::Thing;
use recoup_sim::network::{Direction, Fault, LinkId};
use recoup_transport::time::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// Trouble that may be in force several times at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trouble {
    /// A link or a node has failed.
    Failure(Thing),
    /// A channel carries nothing.
    Outage(LinkId, Direction),
}

/// Time of each begin or end, and the number of its event.
type Turns = Vec<(Instant, Turn, usize)>;

/// Failures, outages and repairs of a scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Troubles {
    /// Each with its times, and the place of each time among all.
    turns: Vec<(Trouble, Turns)>,
    places: BTreeMap<Trouble, usize>,
    /// Number of turns.
    pub(super) count: usize,
}

/// Begin or end of one of them; at one instant in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// The one of that number ends.
    Ends(usize),
    /// All end.
    Repair,
    /// The one of that number begins.
    Begins(usize),
}

impl Troubles {
    /// Adds periods; one without an end lasts until a repair.
    pub(super) fn add(
        &mut self,
        trouble: Trouble,
        periods: impl Iterator<Item = (Instant, Option<Instant>)>,
    ) {
        for (begin, end) in periods {
            let number = self.count;
            self.push(trouble, begin, Turn::Begins(number));
            if let Some(end) = end {
                self.push(trouble, end, Turn::Ends(number));
            }
        }
    }

    /// Adds repairs.
    pub(super) fn repair(
        &mut self,
        trouble: Trouble,
        times: impl Iterator<Item = (Instant, Option<Instant>)>,
    ) {
        times.for_each(|(at, _)| self.push(trouble, at, Turn::Repair));
    }

    fn push(&mut self, trouble: Trouble, at: Instant, turn: Turn) {
        let place = *self.places.entry(trouble).or_insert_with(|| {
            self.turns.push((trouble, Vec::new()));
            self.turns.len() - 1
        });
        self.turns[place].1.push((at, turn, self.count));
        self.count += 1;
    }

    /// The faults at which something begins or ends to be in force, in the order in which their turns were added.
    pub(super) fn faults(self) -> Vec<(Instant, Fault)> {
        let mut faults = Vec::new();
        for (trouble, mut turns) in self.turns {
            turns.sort();
            let mut in_force = BTreeSet::new();
            for turns in turns.chunk_by(|(one, ..), (other, ..)| one == other) {
                let before = in_force.is_empty();
                for (_, turn, _) in turns {
                    match turn {
                        Turn::Ends(number) => drop(in_force.remove(number)),
                        Turn::Repair => in_force.clear(),
                        Turn::Begins(number) => drop(in_force.insert(*number)),
                    }
                }
                if before != in_force.is_empty() {
                    let (at, _, place) = turns[0];
                    faults.push((place, (at, trouble.fault(before))));
                }
            }
        }
        faults.sort_by_key(|(place, _)| *place);
        faults.into_iter().map(|(_, fault)| fault).collect()
    }
}

impl Trouble {
    fn fault(self, begins: bool) -> Fault {
        match (self, begins) {
            (Self::Failure(Thing::Link(link)), true) => Fault::LinkDown(link),
            (Self::Failure(Thing::Link(link)), false) => Fault::LinkUp(link),
            (Self::Failure(Thing::Node(node)), true) => Fault::NodeDown(node),
            (Self::Failure(Thing::Node(node)), false) => Fault::NodeUp(node),
            (Self::Outage(link, way), true) => Fault::OutageBegins(link, way),
            (Self::Outage(link, way), false) => Fault::OutageEnds(link, way),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(list: &[(u64, Option<u64>)]) -> impl Iterator<Item = (Instant, Option<Instant>)> {
        let at = |second: u64| Instant::from_millis(1000 * second);
        let list: Vec<_> = list.iter().map(|(begin, end)| (at(*begin), end.map(at))).collect();
        list.into_iter()
    }

    fn times(troubles: Troubles) -> Vec<(u64, bool)> {
        let each = |(at, fault): &(Instant, Fault)| {
            (at.as_nanos() / 1_000_000_000, matches!(fault, Fault::LinkDown(_)))
        };
        let mut faults = troubles.faults();
        faults.sort_by_key(|(at, _)| *at);
        faults.iter().map(each).collect()
    }

    #[test]
    fn overlapping_failures_end_with_the_last() {
        let link = Trouble::Failure(Thing::Link(LinkId(0)));
        let mut troubles = Troubles::default();
        troubles.add(link, seconds(&[(1, Some(4)), (2, Some(3)), (4, Some(6))]));
        troubles.add(link, seconds(&[(8, Some(9))]));
        assert_eq!(times(troubles), [(1, true), (6, false), (8, true), (9, false)]);
    }

    #[test]
    fn a_repair_ends_all_failures() {
        let link = Trouble::Failure(Thing::Link(LinkId(0)));
        let mut troubles = Troubles::default();
        troubles.add(link, seconds(&[(1, None), (2, Some(9))]));
        troubles.repair(link, seconds(&[(5, None), (7, None)]));
        troubles.add(link, seconds(&[(8, None), (8, Some(10))]));
        assert_eq!(times(troubles), [(1, true), (5, false), (8, true)]);
    }
}
