//! Background traffic: frames that are not NDN's, offered to one direction of a link.
//!
//! Background traffic shares the queue with the node's packets, so such a link has a queue of its own.
use super::lane::{self, Frame};
use super::{Observers, Simulation};
use crate::network::BackgroundPlan;
use crate::workload::arrival::Arrivals;
use recoup_core::agenda::Key;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;

/// A source of frames.
#[derive(Debug)]
pub(super) struct Source {
    lane: usize,
    plan: BackgroundPlan,
    /// While it runs.
    arrivals: Option<Arrivals>,
}

impl Source {
    pub(super) fn new(plan: &BackgroundPlan) -> Self {
        let lane = lane::place(plan.link, plan.direction);
        Self { lane, plan: plan.clone(), arrivals: None }
    }

    pub(super) fn lane(&self) -> usize {
        self.lane
    }

    pub(super) fn start(&mut self, now: Instant, rng: Rng) {
        self.arrivals = Some(Arrivals::new(&self.plan.arrival, now, rng));
    }

    pub(super) fn stop(&mut self) {
        self.arrivals = None;
    }

    fn deadline(&self) -> Option<Instant> {
        self.arrivals.as_ref()?.deadline()
    }
}

impl Simulation {
    pub(super) fn on_source(&mut self, number: usize, observers: &mut Observers<'_, '_>) {
        let source = &mut self.sources[number];
        let (lane, bytes) = (source.lane, source.plan.frame_bytes);
        let count = source.arrivals.as_mut().and_then(|arrivals| arrivals.pop_due(self.now));
        let count = count.unwrap_or(0);
        for _ in 0..count {
            self.balance.count_sent(None);
            self.offer(lane, Frame { packet: None, bytes }, observers);
        }
        self.count_others(lane, count * u64::from(bytes), observers);
        self.arm_source(number);
    }

    pub(super) fn arm_source(&mut self, number: usize) {
        let slot = (self.lanes.len() + self.stations.len() + number) as u32;
        let deadline = self.sources[number].deadline();
        let key = deadline.map(|at| Key::new(at, self.agenda.sequence()));
        self.agenda.set(slot, key);
    }
}
