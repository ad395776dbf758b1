//! One direction of a face: its flows and their queued packets.
use super::MaxMinSettings;
use super::flow::{FlowTable, Pace};
use super::group::{Groups, Wake};
use crate::queue::bound::Waiting;
use crate::queue::shelf::{Line, Shelf};
use crate::queue::{CATCH_UP, Demand, Demands, FlowKey, Load, Rejected, Rejection, Share, time_of};
use crate::time::{Duration, Instant};
use crate::timer::Timers;

/// Most flows forgotten with each packet.
const FORGOTTEN_AT_ONCE: usize = 4;
/// Longest time between two reviews of queued flows, whose shares may have grown.
const REVIEW: Duration = Duration::from_secs(1);

/// A packet that may leave at once.
#[derive(Debug)]
pub(super) struct Passing<T> {
    pub(super) item: T,
    /// Its charge in bytes.
    charge: u32,
}

/// Flows that share one direction of a face.
#[derive(Debug)]
pub(super) struct Pool<T> {
    settings: MaxMinSettings,
    /// Available rate, if known.
    available_bits: Option<u64>,
    overhead_bytes: u32,
    /// Time at which the link has sent all released packets.
    free_at: Instant,
    flows: FlowTable,
    groups: Groups,
    /// Demands of the groups.
    demands: Demands,
    shelf: Shelf<T>,
    /// Packets that may leave.
    passing: Line,
    /// Groups with queued packets, by their index.
    wakes: Timers,
    sequence: u64,
}

impl<T: Load> Pool<T> {
    pub(super) fn new(settings: MaxMinSettings) -> Self {
        Self {
            settings,
            available_bits: None,
            overhead_bytes: 0,
            free_at: Instant::ZERO,
            flows: FlowTable::new(),
            groups: Groups::default(),
            demands: Demands::default(),
            shelf: Shelf::new(),
            passing: Line::default(),
            wakes: Timers::new(),
            sequence: 0,
        }
    }

    pub(super) fn set_available(&mut self, bits: Option<u64>, overhead_bytes: u32) {
        (self.available_bits, self.overhead_bytes) = (bits, overhead_bytes);
    }

    pub(super) fn packets(&self) -> u64 {
        self.shelf.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shelf.bytes()
    }

    #[cfg(test)]
    pub(super) fn flows(&self) -> usize {
        self.flows.len()
    }

    pub(super) fn answered(&mut self, key: FlowKey, bytes: u32) {
        if let Some(flow) = self.flows.find(key) {
            self.flows.get_mut(flow).answer_bytes = bytes;
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.passing.is_empty() { self.wakes.deadline() } else { Some(Instant::ZERO) }
    }

    /// Admits a packet; `bytes` is the charged size; `None` charges the answer size of the flow. It is returned if
    /// its flow may send at once, and
    /// queued otherwise.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        key: FlowKey,
        bytes: Option<u32>,
        item: T,
    ) -> Result<Option<Passing<T>>, Rejected<T>> {
        self.forget_idle(now);
        let Some(flow) = self.seen(now, key) else {
            return Err(Rejected { item, why: Rejection::TooManyFlows });
        };
        let bytes = bytes.unwrap_or(self.flows.get(flow).answer_bytes);
        let charge = bytes.saturating_add(self.overhead_bytes);
        self.measure(now, flow, charge);
        let passes = self.passes(now, flow);
        let (bounds, share) = (self.settings.bounds, self.settings.share);
        if let Err(why) = bounds.admit(share, self.waiting(flow, passes), item.bytes()) {
            return Err(Rejected { item, why });
        }
        if passes {
            let pace = Pace::released(now, charge);
            let group = self.flows.get(flow).group;
            (self.flows.get_mut(flow).pace, self.groups.get_mut(group).pace) = (pace, pace);
            self.carry(now, charge);
            return Ok(Some(Passing { item, charge }));
        }
        self.wait(now, flow, item, charge);
        Ok(None)
    }

    /// Stores a packet that may leave.
    pub(super) fn put_aside(&mut self, passing: Passing<T>) {
        self.shelf.push(&mut self.passing, passing.item, passing.charge);
    }

    /// Whether no packet that may leave is stored.
    pub(super) fn has_none_aside(&self) -> bool {
        self.passing.is_empty()
    }

    fn waiting(&self, flow: u32, passes: bool) -> Waiting {
        let (packets, bytes) = (self.shelf.len(), self.shelf.bytes());
        let flow = self.flows.get(flow);
        if passes {
            return Waiting { packets, bytes, group_packets: 0, flow_packets: 0 };
        }
        let group_packets = self.groups.get(flow.group).packets;
        Waiting { packets, bytes, group_packets, flow_packets: flow.line.len() }
    }

    /// Removes a packet that may leave.
    pub(super) fn dequeue(&mut self, now: Instant) -> Option<T> {
        if self.shelf.len() == 0 {
            return None;
        }
        if let Some((item, _)) = self.shelf.pop(&mut self.passing) {
            return Some(item);
        }
        while let Some(group) = self.wakes.pop_due(now) {
            if let Some(item) = self.serve(now, group) {
                return Some(item);
            }
        }
        None
    }

    /// Removes any packet.
    pub(super) fn evict(&mut self) -> Option<T> {
        if let Some((item, _)) = self.shelf.pop(&mut self.passing) {
            return Some(item);
        }
        let group = self.wakes.pop_due(Instant::MAX)?;
        let Wake { flow, .. } = self.groups.get_mut(group).pop()?;
        let (item, _) = self.take(flow)?;
        if !self.flows.get(flow).line.is_empty() {
            self.stand(flow, Instant::ZERO);
        }
        self.arm(Instant::ZERO, group);
        Some(item)
    }

    // --- demands --------------------------------------------------------------------------------

    /// Index of a flow, seen now; `None` if there are too many.
    fn seen(&mut self, now: Instant, key: FlowKey) -> Option<u32> {
        if let Some(flow) = self.flows.find(key) {
            self.flows.touch(now, flow);
            let gain = self.settings.gain;
            self.flows.get_mut(flow).meter.on_packet(now, gain);
            return Some(flow);
        }
        let free = (self.settings.flows as usize).saturating_sub(self.flows.len());
        if self.has_too_many(key.group, free) && !self.forget_oldest(now) {
            return None;
        }
        let (group, is_made) = self.groups.obtain(now, key.group);
        if is_made {
            self.demands.add(Demand::NOTHING);
        }
        let flow = self.flows.insert(now, key, group, self.settings.answer_bytes);
        let group = self.groups.get_mut(group);
        group.flows += 1;
        group.demands.add(Demand::NOTHING);
        Some(flow)
    }

    /// Updates the demand of the flow and its group.
    fn measure(&mut self, now: Instant, place: u32, charge: u32) {
        let gain = self.settings.gain;
        let flow = self.flows.get_mut(place);
        let group = self.groups.get_mut(flow.group);
        if !flow.held {
            let demand = Demand::of(flow.meter.bits(f64::from(charge)));
            group.demands.replace(flow.demand, demand);
            flow.demand = demand;
        }
        if group.mean_bytes == 0.0 {
            group.mean_bytes = f64::from(charge);
        } else {
            group.mean_bytes += gain * (f64::from(charge) - group.mean_bytes);
            group.meter.on_packet(now, gain);
        }
        let group = flow.group;
        self.measure_group(group);
    }

    fn measure_group(&mut self, place: u32) {
        let group = self.groups.get_mut(place);
        let demand = if group.held || group.demands.unbounded() > 0 {
            Demand::UNBOUNDED
        } else {
            Demand::of(group.meter.bits(group.mean_bytes))
        };
        self.demands.replace(group.demand, demand);
        group.demand = demand;
    }

    /// Forgets a few flows that have been idle for long.
    fn forget_idle(&mut self, now: Instant) {
        for _ in 0..FORGOTTEN_AT_ONCE {
            match self.flows.idle(now, self.settings.active) {
                None => return,
                Some(flow) if self.flows.get(flow).line.is_empty() => self.forget(flow),
                Some(flow) => self.flows.touch(now, flow),
            }
        }
    }

    /// Whether a neighbour may have no more flows: as many as are still free, or with equal flows all of them.
    fn has_too_many(&self, group: u32, free: usize) -> bool {
        match self.settings.share {
            Share::Face => self.groups.flows_of(group) as usize >= free,
            Share::Flow => free == 0,
        }
    }

    /// Forgets the least recently seen flow without queued packets; examines only a few.
    fn forget_oldest(&mut self, now: Instant) -> bool {
        for _ in 0..FORGOTTEN_AT_ONCE {
            match self.flows.oldest() {
                None => return false,
                Some(flow) if self.flows.get(flow).line.is_empty() => {
                    self.forget(flow);
                    return true;
                }
                Some(flow) => self.flows.touch(now, flow),
            }
        }
        false
    }

    /// Forgets a flow without queued packets.
    fn forget(&mut self, place: u32) {
        let flow = self.flows.get(place);
        let (at, group) = (flow.group, self.groups.get_mut(flow.group));
        group.demands.remove(flow.demand);
        group.flows -= 1;
        if group.flows == 0 {
            self.demands.remove(group.demand);
            self.groups.remove(at);
        }
        self.flows.remove(place);
    }

    // --- shares ---------------------------------------------------------------------------------

    /// Share of a group with more demand; `None` if the capacity suffices for all.
    fn group_level(&self) -> Option<u64> {
        match self.settings.share {
            Share::Face => self.demands.level(self.available_bits?),
            Share::Flow => None,
        }
    }

    /// Share of a flow with more demand; `None` if the capacity suffices for all.
    fn flow_level(&self, group: u32) -> Option<u64> {
        let of_group = self.group_level().or(self.available_bits)?;
        self.groups.get(group).demands.level(of_group)
    }

    /// Whether the next packet of a flow may leave at once.
    fn passes(&self, now: Instant, place: u32) -> bool {
        let flow = self.flows.get(place);
        if self.available_bits.is_none() {
            return self.shelf.len() == 0;
        }
        let group = self.groups.get(flow.group);
        if !flow.line.is_empty() || group.held {
            return false;
        }
        let may = |demand: Demand, pace: &Pace, level: Option<u64>| {
            level.is_none_or(|level| demand.bits() < level || pace.next(level) <= now)
        };
        may(flow.demand, &flow.pace, self.flow_level(flow.group))
            && may(group.demand, &group.pace, self.group_level())
    }

    /// Time at which the first packet of a queued flow may leave, by its own share.
    fn release(&self, place: u32) -> Instant {
        let flow = self.flows.get(place);
        match self.flow_level(flow.group) {
            Some(level) if flow.held => flow.pace.next(level),
            _ => Instant::ZERO,
        }
    }

    /// Time at which the link can send a packet of a paced flow. Packets that pass at once precede it, but take no
    /// more than half of the flow's share.
    fn turn(&self, place: u32) -> Instant {
        let flow = self.flows.get(place);
        match self.flow_level(flow.group) {
            Some(level) if flow.held => self.free_at.min(flow.pace.next(level.div_ceil(2))),
            _ => Instant::ZERO,
        }
    }

    /// Charges a packet to the link, from `at` on at the earliest.
    fn carry(&mut self, at: Instant, charge: u32) {
        if let Some(bits) = self.available_bits {
            self.free_at = self.free_at.max(at) + time_of(charge, bits);
        }
    }

    /// Time at which a group may send, by its own share.
    fn gate(&self, place: u32) -> Instant {
        let group = self.groups.get(place);
        match self.group_level() {
            Some(level) if group.demand.bits() >= level => group.pace.next(level),
            _ => Instant::ZERO,
        }
    }

    // --- queueing -------------------------------------------------------------------------------

    fn wait(&mut self, now: Instant, place: u32, item: T, charge: u32) {
        let flow = self.flows.get_mut(place);
        let is_first = flow.line.is_empty();
        self.shelf.push(&mut flow.line, item, charge);
        let group = flow.group;
        self.groups.get_mut(group).packets += 1;
        if !is_first {
            return;
        }
        let level = self.flow_level(group);
        let demand = self.flows.get(place).demand;
        if level.is_some_and(|level| demand.bits() >= level) {
            self.hold(place);
        }
        let due = self.release(place).max(now);
        self.stand(place, due);
        self.arm(now, group);
    }

    /// Sets the demand of a flow to unlimited until its queue is empty: behind its own queue it would be measured at
    /// no more than its share.
    fn hold(&mut self, place: u32) {
        let flow = self.flows.get_mut(place);
        flow.held = true;
        let before = std::mem::replace(&mut flow.demand, Demand::UNBOUNDED);
        let group = flow.group;
        self.groups.get_mut(group).demands.replace(before, Demand::UNBOUNDED);
        self.measure_group(group);
    }

    fn let_go(&mut self, place: u32) {
        let flow = self.flows.get_mut(place);
        if !std::mem::take(&mut flow.held) {
            return;
        }
        let demand = Demand::of(flow.meter.bits(f64::from(flow.pace.bytes())));
        let before = std::mem::replace(&mut flow.demand, demand);
        self.groups.get_mut(flow.group).demands.replace(before, demand);
    }

    /// Queues a flow for its turn.
    fn stand(&mut self, place: u32, due: Instant) {
        self.sequence += 1;
        let wake = Wake { due, sequence: self.sequence, flow: place };
        let group = self.flows.get(place).group;
        self.groups.get_mut(group).wake(wake);
    }

    /// Arms the timer of a group.
    fn arm(&mut self, now: Instant, place: u32) {
        let Some(due) = self.groups.get(place).first_due() else {
            self.wakes.cancel(place);
            return;
        };
        let due = due.max(self.gate(place)).min(now + REVIEW);
        self.wakes.arm(place, due);
    }

    /// Serves a group that is due; returns its packet, if the packet may really leave.
    fn serve(&mut self, now: Instant, place: u32) -> Option<T> {
        let wake = self.groups.get_mut(place).pop()?;
        let flow = wake.flow;
        let release = self.release(flow);
        let due = release.max(self.turn(flow));
        if due > now {
            self.stand(flow, due);
            self.arm(now, place);
            return None;
        }
        let gate = self.gate(place);
        if gate > now {
            let group = self.groups.get_mut(place);
            group.held = true;
            group.wake(wake);
            self.measure_group(place);
            self.arm(now, place);
            return None;
        }
        let (item, charge) = self.take(flow)?;
        let late = now - CATCH_UP;
        self.carry(late, charge);
        self.groups.get_mut(place).pace = Pace::released(gate.max(late), charge);
        self.flows.get_mut(flow).pace = Pace::released(release.max(late), charge);
        if !self.flows.get(flow).line.is_empty() {
            let due = self.release(flow).max(now);
            self.stand(flow, due);
        }
        self.measure_group(place);
        self.arm(now, place);
        Some(item)
    }

    /// Removes the first packet of a queued flow.
    fn take(&mut self, place: u32) -> Option<(T, u32)> {
        let flow = self.flows.get_mut(place);
        let taken = self.shelf.pop(&mut flow.line)?;
        let is_last = flow.line.is_empty();
        let group = self.groups.get_mut(flow.group);
        group.packets -= 1;
        group.held &= group.packets > 0;
        if is_last {
            self.let_go(place);
        }
        Some(taken)
    }
}
