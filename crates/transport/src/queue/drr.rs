//! `drr(quantum=1500)`: deficit round robin; each turn is worth the same number of bytes.
//!
//! Source: M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin" (1996), in two levels.
//! The hash-limited flows are those of P. McKenney, "Stochastic Fairness Queueing" (1990).
//!
//! The scheduler measures nothing and remembers a flow only while it has queued packets, so no measured rate can
//! mislead it. Queued packets leave at the rate of the link, or as the link accepts them if the capacity is not
//! known. A flow without packets leaves its turn to the others.
//!
//! Differences:
//! - turns are for neighbours first, then for the flows of each (`share=flow`: for all flows alike);
//! - a flow that becomes empty loses its deficit, as in the source, and so does a neighbour;
//! - Interests are charged with the Data that they request, and have turns of their own, at 98 % of the incoming
//!   rate. Their Data is known only afterwards, and a queue at the far end must drain. The figure is the desired
//!   utilization of S. Kunniyur and R. Srikant, "An Adaptive Virtual Queue (AVQ) Algorithm" (2004);
//! - flows with the same hash modulo `flows` share a turn.
use super::bound::{SchedulerBounds, Waiting, describe_fair};
use super::shelf::{Line, Shelf};
use super::{
    CATCH_UP, Capacity, Charge, FairScheduler, FlowKey, Load, Rejected, Rejection, Share, part_of,
    time_of,
};
use crate::spec::{Described, Description};
use crate::time::Instant;
use hashbrown::HashTable;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// Parameters of [`Drr`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrrSettings {
    /// Level of fairness.
    pub share: Share,
    /// Bytes of a turn.
    pub quantum_bytes: u32,
    /// Bytes of the Data that an Interest requests, before the first arrives.
    pub answer_bytes: u32,
    /// Part of the incoming rate that Interests may request: less than all, so that a queue at the far end drains.
    pub load: f64,
    /// Flows distinguished for each neighbour.
    pub flows: u32,
    /// Limits of the queue.
    pub bounds: SchedulerBounds,
}

impl Default for DrrSettings {
    fn default() -> Self {
        Self {
            share: Share::Face,
            quantum_bytes: 1500,
            answer_bytes: 1024,
            load: 0.98,
            flows: 1024,
            bounds: SchedulerBounds::default(),
        }
    }
}

impl Described for DrrSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        let Self { answer_bytes, load, flows, bounds, .. } = self;
        each.word("share", &mut self.share, &Share::WORDS, "face or flow");
        let expected = "a whole number from 64 to 1000000";
        each.whole("quantum", &mut self.quantum_bytes, 64..=1_000_000, expected);
        describe_fair(each, answer_bytes, load, flows, bounds);
    }
}

recoup_core::print_as_spec!(DrrSettings, "drr");

/// Deficit round robin.
#[derive(Debug)]
pub struct Drr<T> {
    settings: DrrSettings,
    overhead_bytes: u32,
    /// The latest size, by neighbour.
    answer_bytes: BTreeMap<u32, u32>,
    /// Data.
    sending: Round<T>,
    /// Interests, for the Data that they request.
    receiving: Round<T>,
}

/// Most neighbours whose Data size is remembered.
const MOST_ANSWERS: usize = 256;

impl<T: Load> Drr<T> {
    /// An empty scheduler.
    #[must_use]
    pub fn new(settings: DrrSettings, capacity: Capacity) -> Self {
        let (sending, receiving) = (Round::new(settings), Round::new(settings));
        let answer_bytes = BTreeMap::new();
        let mut made = Self { settings, overhead_bytes: 0, answer_bytes, sending, receiving };
        made.adapt(capacity);
        made
    }

    /// Direction of a packet, its flow there, and its charge.
    fn placed(&mut self, key: FlowKey, charge: Charge, item: &T) -> (&mut Round<T>, FlowKey, u32) {
        let (round, bytes) = match charge {
            Charge::Itself => (&mut self.sending, item.bytes()),
            Charge::Answer => {
                let known = self.answer_bytes.get(&key.group).copied();
                (&mut self.receiving, known.unwrap_or(self.settings.answer_bytes))
            }
        };
        let key = self.settings.share.apply(key);
        let flow = key.flow % u64::from(self.settings.flows);
        (round, FlowKey { flow, ..key }, bytes.saturating_add(self.overhead_bytes))
    }

    fn adapt(&mut self, capacity: Capacity) {
        self.overhead_bytes = capacity.overhead_bytes;
        self.sending.bits = capacity.available_bits(Charge::Itself);
        self.receiving.bits = part_of(capacity.available_bits(Charge::Answer), self.settings.load);
    }
}

impl<T: Load + fmt::Debug> FairScheduler<T> for Drr<T> {
    fn enqueue(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<(), Rejected<T>> {
        let (round, key, charge) = self.placed(key, charge, &item);
        round.enqueue(now, key, item, charge)
    }

    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Rejected<T>> {
        let (round, key, charge) = self.placed(key, charge, &item);
        if round.passes(now, key, &item, charge) {
            return Ok(Some(item));
        }
        round.enqueue(now, key, item, charge).map(|()| None)
    }

    fn dequeue(&mut self, now: Instant) -> Option<T> {
        // Interests first: they are short, and each is charged with the Data that it requests.
        self.receiving.dequeue(now).or_else(|| self.sending.dequeue(now))
    }

    fn deadline(&self) -> Option<Instant> {
        [self.receiving.deadline(), self.sending.deadline()].into_iter().flatten().min()
    }

    fn evict(&mut self) -> Option<T> {
        let taken = self.receiving.take().or_else(|| self.sending.take());
        taken.map(|(item, _)| item)
    }

    fn answered(&mut self, key: FlowKey, bytes: u32) {
        self.answer_bytes.insert(key.group, bytes);
        if self.answer_bytes.len() > MOST_ANSWERS {
            // Numbers of neighbours rise: the lowest one is the likeliest to be gone.
            self.answer_bytes.pop_first();
        }
    }

    fn set_capacity(&mut self, capacity: Capacity) {
        self.adapt(capacity);
    }

    fn bytes(&self) -> u64 {
        self.receiving.shelf.bytes() + self.sending.shelf.bytes()
    }

    fn packets(&self) -> u64 {
        self.receiving.shelf.len() + self.sending.shelf.len()
    }
}

/// Neighbours and flows that take turns in one direction.
#[derive(Debug)]
struct Round<T> {
    settings: DrrSettings,
    /// Rate of the link.
    bits: Option<u64>,
    /// Time at which the link is idle again.
    free_at: Instant,
    shelf: Shelf<T>,
    flows: Vec<Flow>,
    vacant: Vec<u32>,
    places: HashTable<u32>,
    groups: BTreeMap<u32, Group>,
    /// Neighbours in the order of their turns.
    turns: VecDeque<u32>,
}

/// A flow with queued packets.
#[derive(Debug)]
struct Flow {
    key: FlowKey,
    line: Line,
    credit: Credit,
}

/// A neighbour with queued packets.
#[derive(Debug, Default)]
struct Group {
    packets: u64,
    credit: Credit,
    /// Flows in the order of their turns.
    turns: VecDeque<u32>,
}

/// Deficit of a turn.
#[derive(Clone, Copy, Debug, Default)]
struct Credit {
    bytes: u64,
    /// The turn has begun.
    begun: bool,
}

impl Credit {
    /// Begins the turn if it has not begun; whether it is worth `charge` bytes.
    fn covers(&mut self, quantum: u32, charge: u32) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            self.bytes += u64::from(quantum);
        }
        self.bytes >= u64::from(charge)
    }
}

fn hash(key: FlowKey) -> u64 {
    let mixed = key.flow.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(key.group);
    mixed.wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(32)
}

impl<T: Load> Round<T> {
    fn new(settings: DrrSettings) -> Self {
        Self {
            settings,
            bits: None,
            free_at: Instant::ZERO,
            shelf: Shelf::new(),
            flows: Vec::new(),
            vacant: Vec::new(),
            places: HashTable::new(),
            groups: BTreeMap::new(),
            turns: VecDeque::new(),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        (self.shelf.len() > 0).then_some(self.free_at)
    }

    fn enqueue(
        &mut self,
        now: Instant,
        key: FlowKey,
        item: T,
        charge: u32,
    ) -> Result<(), Rejected<T>> {
        if self.shelf.len() == 0 {
            // The idle time is not made up for.
            self.free_at = self.free_at.max(now);
        }
        let found = self.find(key);
        if let Err(why) = self.admit(key, found, item.bytes()) {
            return Err(Rejected { item, why });
        }
        let flow = match found {
            Some(flow) => flow,
            None => self.join(key),
        };
        if let Some(group) = self.groups.get_mut(&key.group) {
            group.packets += 1;
        }
        self.shelf.push(&mut self.flows[flow as usize].line, item, charge);
        Ok(())
    }

    /// Whether a packet may leave without a turn: the queue is empty and the link is idle.
    fn passes(&mut self, now: Instant, key: FlowKey, item: &T, charge: u32) -> bool {
        let is_free = self.shelf.len() == 0 && self.free_at <= now;
        if !is_free || self.admit(key, None, item.bytes()).is_err() {
            return false;
        }
        self.free_at = now;
        self.carry(now, charge);
        true
    }

    /// Charges a packet to the link, from the end of the one before.
    fn carry(&mut self, now: Instant, charge: u32) {
        let time = self.bits.map(|bits| time_of(charge, bits)).unwrap_or_default();
        self.free_at = self.free_at.max(now - CATCH_UP) + time;
    }

    fn find(&self, key: FlowKey) -> Option<u32> {
        self.places.find(hash(key), |place| self.flows[*place as usize].key == key).copied()
    }

    fn admit(&self, key: FlowKey, flow: Option<u32>, bytes: u32) -> Result<(), Rejection> {
        let waiting = Waiting {
            packets: self.shelf.len(),
            bytes: self.shelf.bytes(),
            group_packets: self.groups.get(&key.group).map_or(0, |group| group.packets),
            flow_packets: flow.map_or(0, |flow| self.flows[flow as usize].line.len()),
        };
        self.settings.bounds.admit(self.settings.share, waiting, bytes)
    }

    /// Adds a flow with its first queued packet.
    fn join(&mut self, key: FlowKey) -> u32 {
        let flow = Flow { key, line: Line::default(), credit: Credit::default() };
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
        self.places.insert_unique(hash(key), place, |place| hash(flows[*place as usize].key));
        let turns = &mut self.turns;
        let group = self.groups.entry(key.group).or_insert_with(|| {
            turns.push_back(key.group);
            Group::default()
        });
        group.turns.push_back(place);
        place
    }

    fn dequeue(&mut self, now: Instant) -> Option<T> {
        if self.free_at > now {
            return None;
        }
        let (item, charge) = self.take()?;
        self.carry(now, charge);
        Some(item)
    }

    /// Removes the next packet in the order of turns.
    ///
    /// The deficit of a turn that does not suffice is saved for the next one, so a packet of `n` bytes takes about
    /// `n`/quantum steps.
    fn take(&mut self) -> Option<(T, u32)> {
        let quantum = self.settings.quantum_bytes;
        loop {
            let id = *self.turns.front()?;
            let group = self.groups.get_mut(&id)?;
            let place = *group.turns.front()?;
            let flow = self.flows.get_mut(place as usize)?;
            let charge = self.shelf.first_charge(&flow.line)?;
            if !group.credit.covers(quantum, charge) {
                group.credit.begun = false;
                self.turns.rotate_left(1);
                continue;
            }
            if !flow.credit.covers(quantum, charge) {
                flow.credit.begun = false;
                group.turns.rotate_left(1);
                continue;
            }
            group.credit.bytes -= u64::from(charge);
            flow.credit.bytes -= u64::from(charge);
            group.packets -= 1;
            let taken = self.shelf.pop(&mut flow.line);
            if flow.line.is_empty() {
                self.leave(place);
            }
            return taken;
        }
    }

    /// Removes an empty flow, the first one of the first group.
    fn leave(&mut self, place: u32) {
        let key = self.flows[place as usize].key;
        if let Ok(found) = self.places.find_entry(hash(key), |other| *other == place) {
            found.remove();
        }
        self.vacant.push(place);
        let Some(group) = self.groups.get_mut(&key.group) else {
            return;
        };
        group.turns.pop_front();
        if group.turns.is_empty() {
            self.groups.remove(&key.group);
            self.turns.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn packet(mark: u8, bytes: usize) -> Bytes {
        Bytes::from(vec![mark; bytes])
    }

    fn left(drr: &mut Drr<Bytes>) -> Vec<u8> {
        std::iter::from_fn(|| drr.dequeue(Instant::MAX)).map(|it| it[0]).collect()
    }

    fn give(drr: &mut Drr<Bytes>, group: u32, flow: u64, item: Bytes) {
        let key = FlowKey { group, flow };
        assert!(drr.enqueue(Instant::ZERO, key, Charge::Itself, item).is_ok());
    }

    #[test]
    fn turn_is_worth_bytes_not_packets() {
        let settings =
            DrrSettings { share: Share::Flow, quantum_bytes: 500, ..DrrSettings::default() };
        let mut drr = Drr::new(settings, Capacity::default());
        for _ in 0..4 {
            give(&mut drr, 1, 1, packet(1, 1000));
            give(&mut drr, 1, 2, packet(2, 500));
            give(&mut drr, 1, 2, packet(2, 500));
        }
        let order = left(&mut drr);
        for share in order.chunks(6) {
            let large = share.iter().filter(|mark| **mark == 1).count();
            assert_eq!((large, share.len() - large), (2, 4), "{order:?}");
        }
    }

    #[test]
    fn neighbours_are_equal_however_many_flows_they_have() {
        let mut drr = Drr::new(DrrSettings::default(), Capacity::default());
        for flow in 0..30 {
            give(&mut drr, 2, flow, packet(2, 1000));
            give(&mut drr, 1, 1, packet(1, 1000));
        }
        let ones = left(&mut drr).iter().take(30).filter(|mark| **mark == 1).count();
        assert!((14..=16).contains(&ones), "{ones}");
    }

    #[test]
    fn known_rate_keeps_the_link_busy() {
        let mut drr = Drr::new(DrrSettings::default(), Capacity::symmetric(1_000_000));
        for mark in 0..3 {
            give(&mut drr, 1, 1, packet(mark, 1000));
        }
        let mut at = Vec::new();
        while let Some(due) = drr.deadline() {
            assert!(drr.dequeue(due).is_some());
            at.push(due.as_nanos() / 1_000_000);
        }
        assert_eq!(at, [0, 8, 16]);
    }

    #[test]
    fn answer_size_of_late_neighbours_is_remembered() {
        let mut drr = Drr::new(DrrSettings::default(), Capacity::symmetric(1_000_000));
        for group in 0..1_000 {
            drr.answered(FlowKey { group, flow: 1 }, 5_000);
        }
        assert_eq!(drr.answer_bytes.len(), MOST_ANSWERS);
        let key = FlowKey { group: 999, flow: 1 };
        for mark in 0..2 {
            assert!(drr.enqueue(Instant::ZERO, key, Charge::Answer, packet(mark, 50)).is_ok());
        }
        assert!(drr.dequeue(Instant::ZERO).is_some());
        // 40,000 bits at 98 % of a million in a second.
        assert_eq!(drr.deadline().unwrap().as_nanos() / 1_000_000, 40);
    }

    #[test]
    fn empty_flow_is_forgotten() {
        let mut drr = Drr::new(DrrSettings::default(), Capacity::default());
        for flow in 0..10_000 {
            give(&mut drr, flow as u32 % 7, flow, packet(1, 100));
            assert_eq!(left(&mut drr), [1]);
        }
        let round = &drr.sending;
        assert_eq!((round.flows.len(), round.groups.len(), round.places.len()), (1, 0, 0));
    }
}
