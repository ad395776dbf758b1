//! State of a flow, and its lifetime.
use crate::queue::shelf::Line;
use crate::queue::{Demand, FlowKey};
use crate::time::{Duration, Instant};
use hashbrown::HashTable;

const NONE: u32 = u32::MAX;

/// Rate of packets: the mean gap between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    last: Instant,
    /// NaN before the second packet.
    gap_nanos: f64,
}

impl Meter {
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, gap_nanos: f64::NAN }
    }

    /// Records one more packet; the meter begins with the first.
    pub(super) fn on_packet(&mut self, now: Instant, gain: f64) {
        let gap_nanos = now.since(self.last).as_nanos() as f64;
        self.last = now;
        if self.gap_nanos.is_nan() {
            self.gap_nanos = gap_nanos;
        } else {
            self.gap_nanos += gain * (gap_nanos - self.gap_nanos);
        }
    }

    /// Bits per second if each packet has this many `bytes`; 0 before the second packet.
    pub(super) fn bits(&self, bytes: f64) -> u64 {
        if self.gap_nanos.is_nan() {
            return 0;
        }
        (bytes * 8e9 / self.gap_nanos.max(1.0)) as u64
    }
}

/// The last release, which determines the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    at: Instant,
    bytes: u32,
}

impl Pace {
    pub(super) fn released(at: Instant, bytes: u32) -> Self {
        Self { at, bytes }
    }

    /// Charge of the last release.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Time of the next release, at this rate.
    pub(super) fn next(&self, bits: u64) -> Instant {
        self.at + crate::queue::time_of(self.bytes, bits)
    }
}

/// A flow.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    key: u64,
    group_id: u32,
    /// Index of its group.
    pub(super) group: u32,
    pub(super) meter: Meter,
    pub(super) pace: Pace,
    pub(super) line: Line,
    /// Bytes of its Data, as last seen.
    pub(super) answer_bytes: u32,
    /// Demand, as counted by its group.
    pub(super) demand: Demand,
    /// Whether the flow is paced and has queued packets.
    pub(super) held: bool,
    seen: Instant,
    older: u32,
    newer: u32,
}

/// All flows, least recently seen first.
#[derive(Debug)]
pub(super) struct FlowTable {
    flows: Vec<Flow>,
    vacant: Vec<u32>,
    places: HashTable<u32>,
    oldest: u32,
    newest: u32,
}

fn hash(key: FlowKey) -> u64 {
    key.flow ^ u64::from(key.group).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Flow {
    fn key(&self) -> FlowKey {
        FlowKey { group: self.group_id, flow: self.key }
    }
}

impl FlowTable {
    pub(super) fn new() -> Self {
        Self {
            flows: Vec::new(),
            vacant: Vec::new(),
            places: HashTable::new(),
            oldest: NONE,
            newest: NONE,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len() - self.vacant.len()
    }

    pub(super) fn find(&self, key: FlowKey) -> Option<u32> {
        let same = |place: &u32| self.flows[*place as usize].key() == key;
        self.places.find(hash(key), same).copied()
    }

    pub(super) fn get(&self, place: u32) -> &Flow {
        &self.flows[place as usize]
    }

    pub(super) fn get_mut(&mut self, place: u32) -> &mut Flow {
        &mut self.flows[place as usize]
    }

    /// Inserts a new flow, seen now.
    pub(super) fn insert(&mut self, now: Instant, key: FlowKey, group: u32, bytes: u32) -> u32 {
        let flow = Flow {
            key: key.flow,
            group_id: key.group,
            group,
            meter: Meter::new(now),
            pace: Pace::default(),
            line: Line::default(),
            answer_bytes: bytes,
            demand: Demand::NOTHING,
            held: false,
            seen: now,
            older: NONE,
            newer: NONE,
        };
        let place = match self.vacant.pop() {
            Some(place) => {
                self.flows[place as usize] = flow;
                place
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        let flows = &self.flows;
        let rehash = |place: &u32| hash(flows[*place as usize].key());
        self.places.insert_unique(hash(key), place, rehash);
        self.join(place);
        place
    }

    /// Marks a flow as seen now.
    pub(super) fn touch(&mut self, now: Instant, place: u32) {
        self.flows[place as usize].seen = now;
        if place != self.newest {
            self.leave(place);
            self.join(place);
        }
    }

    /// The least recently seen flow.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// The least recently seen flow, if it has been idle for at least `idle`.
    pub(super) fn idle(&self, now: Instant, idle: Duration) -> Option<u32> {
        self.oldest().filter(|place| self.get(*place).seen + idle <= now)
    }

    pub(super) fn remove(&mut self, place: u32) {
        let key = self.get(place).key();
        if let Ok(found) = self.places.find_entry(hash(key), |other| *other == place) {
            found.remove();
        }
        self.leave(place);
        self.vacant.push(place);
    }

    fn join(&mut self, place: u32) {
        let before = std::mem::replace(&mut self.newest, place);
        let flow = &mut self.flows[place as usize];
        (flow.older, flow.newer) = (before, NONE);
        match self.flows.get_mut(before as usize) {
            Some(older) => older.newer = place,
            None => self.oldest = place,
        }
    }

    fn leave(&mut self, place: u32) {
        let Flow { older, newer, .. } = self.flows[place as usize];
        match self.flows.get_mut(older as usize) {
            Some(flow) => flow.newer = newer,
            None => self.oldest = newer,
        }
        match self.flows.get_mut(newer as usize) {
            Some(flow) => flow.older = older,
            None => self.newest = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_takes_at_most_128_bytes() {
        // With its entry in the table, and in the heap of queued flows.
        let place = size_of::<u32>() + 1 + (size_of::<u32>() + 1) / 7;
        let waiting = size_of::<super::super::group::Wake>();
        let bytes = size_of::<Flow>() + place + waiting;
        assert!(bytes <= 128, "{bytes}");
    }

    #[test]
    fn flows_are_forgotten_least_recently_seen_first() {
        let mut table = FlowTable::new();
        let key = |flow| FlowKey { group: 1, flow };
        let at = Instant::from_millis;
        let places: Vec<_> = (0..4).map(|flow| table.insert(at(flow), key(flow), 0, 1)).collect();
        table.touch(at(10), places[0]);
        table.touch(at(11), places[2]);
        let mut order = Vec::new();
        while let Some(place) = table.idle(at(12), Duration::from_millis(2)) {
            order.push(table.get(place).key);
            table.remove(place);
        }
        assert_eq!(order, [1, 3, 0]);
        assert_eq!((table.len(), table.find(key(0)), table.find(key(2))), (1, None, Some(2)));
        assert_eq!(table.find(FlowKey { group: 2, flow: 2 }), None);
        table.insert(at(12), key(7), 0, 1);
        assert_eq!((table.flows.len(), table.oldest()), (4, Some(2)));
    }

    #[test]
    fn gaps_are_averaged_from_the_second_packet() {
        let mut meter = Meter::new(Instant::ZERO);
        assert_eq!(meter.bits(1000.0), 0);
        meter.on_packet(Instant::from_millis(8), 0.5);
        assert_eq!(meter.bits(1000.0), 1_000_000);
        meter.on_packet(Instant::from_millis(32), 0.5);
        assert_eq!(meter.bits(1000.0), 500_000);
        let mut literal = meter;
        literal.on_packet(Instant::from_millis(36), 1.0);
        assert_eq!(literal.bits(1000.0), 2_000_000);
        literal.on_packet(Instant::from_millis(36), 1.0);
        assert!(literal.bits(1000.0) > 1 << 40, "two at once are as fast as can be");
    }
}
