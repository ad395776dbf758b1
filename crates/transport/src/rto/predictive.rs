//! `predictive(names=10,ttl=1s)`: the timeout for the node that is expected to answer.
//!
//! Source: Nikzad et al. 2022, section 5, after CCTCP. Interests announce the names of the next requests. Nodes on
//! the path record which of them they store, and when they forwarded the Interest. Data carries the records back. One
//! answer yields the round trip to each node `r` on the path (equation 4),
//!
//! ```text
//! RTT(r) = (T_D − T_I) − (T_D(r) − T_I(r))
//! ```
//!
//! and an announced content is expected of the nearest node that stores it. Its timeout is that of the node, as long as
//! the prediction is younger than `ttl` [D]; else that of the origin of its class; else the initial one.
//!
//! Differences: the record of a node marks the origin. Data without records is a sample for the node that answered.
//! That node then counts as the origin (behind plain forwarders all Data belongs to one node). Records whose time is
//! not shorter than the round trip are wrong and left out. The numbers of nodes (256), predictions (4096) and
//! classes (256) are limited: the one unchanged for longest is forgotten.
use super::bounded::Bounded;
use super::smoothed::{Gains, Smoothed};
use super::timing::Timing;
use super::{Anticipating, FACTOR, Question, RtoEstimator, RttSample, SHORTEST, Trail};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use recoup_packet::lp::anticipation::{MOST_NAMES, Record};

const MOST_NODES: usize = 256;
const MOST_PREDICTIONS: usize = 4096;
const MOST_CLASSES: usize = 256;
/// Node of answers without an identifier.
const UNKNOWN: u64 = 0;

/// Estimates by node, and predictions of the answering node.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    names: usize,
    ttl: Duration,
    gains: Gains,
    k: f64,
    timing: Timing,
    nodes: Bounded<Option<Smoothed>>,
    /// Content → the predicted node, and the time of the prediction.
    predictions: Bounded<(u64, Instant)>,
    /// Class of contents → its origin.
    origins: Bounded<u64>,
    latest: Option<Smoothed>,
}

impl Predictive {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self {
            names: 10,
            ttl: Duration::from_secs(1),
            gains: Gains::STEADY,
            k: 4.0,
            timing: Timing::free(),
            nodes: Bounded::new(MOST_NODES),
            predictions: Bounded::new(MOST_PREDICTIONS),
            origins: Bounded::new(MOST_CLASSES),
            latest: None,
        })
    }

    fn feed(&mut self, node: u64, rtt: Duration, divisor: f64) {
        let place = self.nodes.change(node, || None);
        let after = Smoothed::feed(place, rtt.as_secs_f64(), self.gains.divided(divisor));
        self.latest = Some(after);
    }

    fn predict(&mut self, now: Instant, trail: &Trail<'_>) {
        let announced = trail.announced.iter().enumerate().take(MOST_NAMES);
        for (bit, content) in announced.filter_map(|(bit, content)| Some((bit, (*content)?))) {
            let holds = |record: &&Record| record.holds & 1 << bit != 0;
            if let Some(nearest) = trail.records.iter().find(holds) {
                *self.predictions.change(content, || (UNKNOWN, now)) = (nearest.node, now);
            }
        }
    }

    fn estimate(&self, now: Instant, question: &Question) -> Option<f64> {
        let predicted = self.predictions.get(question.target.content);
        let fresh = predicted.filter(|(_, since)| now.since(*since) < self.ttl);
        let of = |node: u64| self.nodes.get(node).copied().flatten();
        let estimate = fresh
            .and_then(|(node, _)| of(*node))
            .or_else(|| self.origins.get(question.target.class).and_then(|node| of(*node)));
        estimate.map(|estimate| estimate.timeout(self.k))
    }
}

impl RtoEstimator for Predictive {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let node = sample.provider.unwrap_or(UNKNOWN);
        self.feed(node, sample.rtt, sample.divisor());
        *self.origins.change(sample.target.class, || node) = node;
        self.timing.on_sample(sample.rtt.as_secs_f64());
    }

    fn on_timeout(&mut self, _: Instant) {
        self.timing.on_timeout();
    }

    fn rto(&self) -> Duration {
        self.timing.timeout(self.latest.map(|latest| latest.timeout(self.k)))
    }

    fn rto_for(&self, now: Instant, question: &Question) -> Duration {
        self.timing.timeout_for(self.estimate(now, question), question)
    }

    fn anticipating(&mut self) -> Option<&mut dyn Anticipating> {
        Some(self)
    }

    fn needs_samples_only(&self) -> bool {
        false
    }

    fn srtt(&self) -> Option<Duration> {
        self.latest.map(|latest| latest.rounded().0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.latest.map(|latest| latest.rounded().1)
    }
}

impl Anticipating for Predictive {
    fn announces(&self) -> usize {
        self.names
    }

    fn on_trail(&mut self, now: Instant, sample: &RttSample, trail: &Trail<'_>) {
        for record in trail.records {
            let residence = Duration::from_nanos(record.time_nanos);
            if let Some(rtt) = sample.rtt.checked_sub(residence).filter(|rtt| !rtt.is_zero()) {
                self.feed(record.node, rtt, sample.divisor());
            }
            if record.is_origin {
                *self.origins.change(sample.target.class, || record.node) = record.node;
            }
        }
        self.predict(now, trail);
        self.timing.on_sample(sample.rtt.as_secs_f64());
    }
}

impl Described for Predictive {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.whole("names", &mut self.names, 0..=MOST_NAMES, "a number of names from 0 to 15");
        each.duration("ttl", &mut self.ttl, SHORTEST);
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(Predictive, "predictive");

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn estimator(text: &str) -> Predictive {
        Predictive::from_spec(Spec::parse(text).unwrap()).unwrap()
    }

    fn record(node: u64, holds: u16, millis: u64) -> Record {
        Record { node, holds, is_origin: false, time_nanos: millis * 1_000_000 }
    }

    /// Routers 1 and 2 are 10 and 40 ms away, the origin 3 is 100 ms; 1 has content 7, 2 has 7 and 8.
    fn taught(estimator: &mut Predictive) {
        let origin = Record { is_origin: true, ..record(3, 0, 0) };
        let records = [record(1, 0b01, 90), record(2, 0b11, 60), origin];
        let announced = [Some(7), Some(8), Some(9)];
        let trail = Trail { announced: &announced, records: &records };
        let sample = RttSample::new(0, MS(100));
        estimator.on_trail(Instant::ZERO, &sample, &trail);
    }

    fn rto_of(estimator: &Predictive, at: u64, content: u64) -> Duration {
        let target = Target { content, class: 0 };
        estimator.rto_for(Instant::from_millis(at), &Question { target, retransmissions: 0 })
    }

    #[test]
    fn prediction_is_the_nearest_node_with_content() {
        let mut predictive = estimator("predictive");
        assert_eq!(rto_of(&predictive, 0, 7), Duration::from_secs(3));
        taught(&mut predictive);
        assert_eq!(rto_of(&predictive, 0, 7), MS(10 * 3));
        assert_eq!(rto_of(&predictive, 0, 8), MS(40 * 3));
        assert_eq!(rto_of(&predictive, 0, 9), MS(100 * 3));
    }

    #[test]
    fn old_prediction_is_replaced_by_the_origin() {
        let mut predictive = estimator("predictive(ttl=500ms)");
        taught(&mut predictive);
        assert_eq!(rto_of(&predictive, 499, 7), MS(30));
        assert_eq!(rto_of(&predictive, 500, 7), MS(300));
    }

    #[test]
    fn data_without_records_belongs_to_one_node() {
        let mut predictive = estimator("predictive");
        predictive.on_sample(Instant::ZERO, &RttSample::new(0, MS(50)));
        assert_eq!(rto_of(&predictive, 0, 7), MS(150));
    }

    #[test]
    fn impossible_records_are_ignored() {
        let mut predictive = estimator("predictive");
        taught(&mut predictive);
        let records = [record(1, 0, 100), record(2, 0, 5_000_000)];
        let trail = Trail { announced: &[], records: &records };
        predictive.on_trail(Instant::ZERO, &RttSample::new(1, MS(100)), &trail);
        assert_eq!(rto_of(&predictive, 0, 7), MS(30));
    }

    #[test]
    fn number_of_nodes_and_contents_is_limited() {
        let mut predictive = estimator("predictive");
        for n in 0..20_000 {
            let records = [record(n, u16::MAX, 1)];
            let announced = [Some(3 * n), Some(3 * n + 1), Some(3 * n + 2)];
            let trail = Trail { announced: &announced, records: &records };
            predictive.on_trail(Instant::ZERO, &RttSample::new(n, MS(100)), &trail);
        }
        assert_eq!((predictive.nodes.len(), predictive.predictions.len()), (256, 4096));
    }
}
