//! The segments of a consumer that took longest: which timelines are worth following.
use crate::network::ApplicationId;
use crate::observe::{Observation, Observer};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the slowest segments of one consumer in a run.
#[derive(Debug)]
pub struct Slowest {
    application: ApplicationId,
    most: usize,
    /// Segments without an answer, with the time of their first Interest.
    open: BTreeMap<u64, Instant>,
    /// Of those that arrived, the slowest so far.
    arrived: BTreeSet<(Duration, u64)>,
}

impl Slowest {
    /// Looks for the `most` slowest segments that `application` requests.
    pub fn new(application: ApplicationId, most: usize) -> Self {
        Self { application, most, open: BTreeMap::new(), arrived: BTreeSet::new() }
    }

    /// Their numbers, the slowest first. Segments that never arrived come before all others, the oldest first.
    pub fn segments(&self) -> Vec<u64> {
        let mut open: Vec<_> = self.open.iter().map(|(segment, at)| (*at, *segment)).collect();
        open.sort_unstable();
        let open = open.into_iter().map(|(_, segment)| segment);
        open.chain(self.arrived.iter().rev().map(|(_, segment)| *segment)).take(self.most).collect()
    }

    fn on_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { segment, .. } => {
                self.open.entry(segment).or_insert(now);
            }
            Event::LeftOut { segment } => {
                self.open.remove(&segment);
            }
            Event::Received { segment, delay, .. } => {
                self.open.remove(&segment);
                self.arrived.insert((delay.into(), segment));
                if self.arrived.len() > self.most {
                    self.arrived.pop_first();
                }
            }
            _ => {}
        }
    }
}

impl Observer for Slowest {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        match *observation {
            Observation::Application { application, report: Report::Event(event) }
                if application == self.application =>
            {
                self.on_event(now, event);
            }
            _ => {}
        }
    }
}
