//! `max-min(share=face,gain=1/8)`: each flow is paced at its max-min fair share of the face's capacity.
//!
//! Source: A. Udugama, J. Cai, C. Görg, "Adaptation and Evaluation of Widely Used TCP Flavours in CCN" (2013),
//! hop-by-hop fairness. The demand of a flow is X = 8 · bytes / gap, from the gaps between its packets at this face.
//! An Interest counts with the Data that it requests. The capacity, less other traffic, is filled progressively among
//! the flows of the last second. A packet of a flow below its share leaves at once. Others are released one by one at
//! the rate of their share: delayed, not dropped.
//!
//! Shares follow from a histogram of demands ([`Demands`](super::Demands)). A packet takes a constant number of steps
//! there, and O(log n) in the heap of queued flows.
//!
//! Differences:
//! - shares are for neighbours first, then for the flows of each, and each neighbour is paced as a whole. Otherwise a
//!   neighbour with a new flow for each packet is never slowed down (`share=flow`: all flows are equal, as in the
//!   paper);
//! - gaps are averaged (`gain=1`: the last gap counts alone);
//! - a flow is identified without the segment number, which would make every packet a flow;
//! - a flow with queued packets has unlimited demand until its queue is empty: behind its own queue it is measured at
//!   no more than its share, and would pass;
//! - packets that pass at once reduce the rate of queued ones, down to half of their share. Measured demand is never
//!   exactly the rate, and the rest would be queued in front of the link;
//! - the share at the time of release counts, not that at arrival;
//! - the two directions of a link are shared separately (`duplex=half`: Interests and Data share one capacity);
//! - queued packets and remembered flows are limited;
//! - without a known capacity there is no pacing, and queued packets leave in turns, one of each neighbour and of
//!   each of its flows.
mod flow;
mod group;
mod pool;

use super::bound::{PART, PART_IN_WORDS, SchedulerBounds, describe_fair};
use super::{Capacity, Charge, FairScheduler, FlowKey, Load, Rejected, Share, part_of};
use crate::spec::{Described, Description};
use crate::time::{Duration, Instant};
use pool::Pool;
use std::fmt;

/// Parameters of [`MaxMin`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxMinSettings {
    /// Level of fairness.
    pub share: Share,
    /// Whether the two directions of the link are shared separately.
    pub duplex: Duplex,
    /// Weight of the last gap between packets in their mean.
    pub gain: f64,
    /// Time after its last packet until which a flow counts.
    pub active: Duration,
    /// Bytes of the Data that an Interest requests, before the first of its flow arrives.
    pub answer_bytes: u32,
    /// Part of the incoming rate that Interests may request; all of it in the paper.
    pub load: f64,
    /// Most flows remembered in each direction.
    pub flows: u32,
    /// Limits of the queue.
    pub bounds: SchedulerBounds,
}

impl Default for MaxMinSettings {
    fn default() -> Self {
        Self {
            share: Share::Face,
            duplex: Duplex::Full,
            gain: 0.125,
            active: Duration::from_secs(1),
            answer_bytes: 1024,
            load: 1.0,
            flows: 65_536,
            bounds: SchedulerBounds::default(),
        }
    }
}

/// Capacity of the directions of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Duplex {
    /// Each direction has its own.
    #[default]
    Full,
    /// Both directions share the sending capacity.
    Half,
}

const DUPLEX: [(&str, Duplex); 2] = [("full", Duplex::Full), ("half", Duplex::Half)];

impl Described for MaxMinSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        let Self { answer_bytes, load, flows, bounds, .. } = self;
        each.word("share", &mut self.share, &Share::WORDS, "face or flow");
        each.word("duplex", &mut self.duplex, &DUPLEX, "full or half");
        each.number("gain", &mut self.gain, PART, PART_IN_WORDS);
        each.duration("active", &mut self.active, Duration::from_nanos(1));
        describe_fair(each, answer_bytes, load, flows, bounds);
    }
}

recoup_core::print_as_spec!(MaxMinSettings, "max-min");

/// Max-min fair shares, by pacing.
#[derive(Debug)]
pub struct MaxMin<T> {
    settings: MaxMinSettings,
    /// Data, and all packets where the directions share one capacity.
    sending: Pool<T>,
    /// Interests, for the Data that they request.
    receiving: Pool<T>,
}

impl<T: Load> MaxMin<T> {
    /// An empty scheduler without known flows.
    #[must_use]
    pub fn new(settings: MaxMinSettings, capacity: Capacity) -> Self {
        let (sending, receiving) = (Pool::new(settings), Pool::new(settings));
        let mut made = Self { settings, sending, receiving };
        made.adapt(capacity);
        made
    }

    fn adapt(&mut self, capacity: Capacity) {
        let bits = |charge| capacity.available_bits(charge);
        self.sending.set_available(bits(Charge::Itself), capacity.overhead_bytes);
        let answers = part_of(bits(Charge::Answer), self.settings.load);
        self.receiving.set_available(answers, capacity.overhead_bytes);
    }

    fn pool(&mut self, charge: Charge) -> &mut Pool<T> {
        match (charge, self.settings.duplex) {
            (Charge::Itself, _) | (_, Duplex::Half) => &mut self.sending,
            (Charge::Answer, Duplex::Full) => &mut self.receiving,
        }
    }
}

impl<T: Load + fmt::Debug> FairScheduler<T> for MaxMin<T> {
    fn enqueue(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<(), Rejected<T>> {
        let bytes = (charge == Charge::Itself).then(|| item.bytes());
        let key = self.settings.share.apply(key);
        let pool = self.pool(charge);
        if let Some(passing) = pool.admit(now, key, bytes, item)? {
            pool.put_aside(passing);
        }
        Ok(())
    }

    fn offer(
        &mut self,
        now: Instant,
        key: FlowKey,
        charge: Charge,
        item: T,
    ) -> Result<Option<T>, Rejected<T>> {
        let bytes = (charge == Charge::Itself).then(|| item.bytes());
        let key = self.settings.share.apply(key);
        let pool = self.pool(charge);
        let Some(passing) = pool.admit(now, key, bytes, item)? else {
            return Ok(None);
        };
        if pool.has_none_aside() {
            return Ok(Some(passing.item));
        }
        pool.put_aside(passing);
        Ok(None)
    }

    fn dequeue(&mut self, now: Instant) -> Option<T> {
        // Interests first: they are short, and each is charged with the Data that it requests.
        self.receiving.dequeue(now).or_else(|| self.sending.dequeue(now))
    }

    fn deadline(&self) -> Option<Instant> {
        [self.receiving.deadline(), self.sending.deadline()].into_iter().flatten().min()
    }

    fn evict(&mut self) -> Option<T> {
        self.receiving.evict().or_else(|| self.sending.evict())
    }

    fn answered(&mut self, key: FlowKey, bytes: u32) {
        let key = self.settings.share.apply(key);
        self.pool(Charge::Answer).answered(key, bytes);
    }

    fn set_capacity(&mut self, capacity: Capacity) {
        self.adapt(capacity);
    }

    fn bytes(&self) -> u64 {
        self.receiving.bytes() + self.sending.bytes()
    }

    fn packets(&self) -> u64 {
        self.receiving.packets() + self.sending.packets()
    }
}

#[cfg(test)]
mod tests;
