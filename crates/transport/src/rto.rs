//! Retransmission timeouts: estimators, and the selection of their samples.
//!
//! An estimator receives events (a round-trip sample, an accepted loss event) and keeps its timeout ready; some have
//! a timeout for each Interest. [`Sampler`] selects the segments that are samples. Timers that set the Interest
//! *lifetime* ([`RtoEstimator::sets_lifetime`]) receive every answer and every expiry instead. Nodes use the same
//! estimators to rank faces and to time pending Interests.
use crate::spec::{Spec, SpecError};
use crate::time::{Duration, Instant};
use recoup_core::family;
use recoup_packet::lp::anticipation::Record;
use std::fmt;

mod bounded;
mod constant;
mod experts;
mod jacobson;
mod lifetime;
mod nearness;
mod per_provider;
mod predictive;
mod reconsidered;
mod sampling;
mod smoothed;
mod timing;
mod weighted_median;

pub use constant::Constant;
pub use experts::Experts;
pub use jacobson::{BackoffUntil, Jacobson, JacobsonSettings};
pub use lifetime::{CcnTimer, Chopcop, Icp, PerSource, PerSourceSettings, Tcp, Timeest, Wma};
pub use nearness::Nearness;
pub use per_provider::{PerProvider, Weight};
pub use predictive::Predictive;
pub use reconsidered::Reconsidered;
pub use sampling::{Sampler, Sampling};
pub use weighted_median::WeightedMedian;

/// The shortest timeout: a timer must lie in the future.
pub const SHORTEST: Duration = Duration::from_micros(1);

/// A round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttSample {
    /// From the (only) transmission of the Interest to the arrival of its Data.
    pub rtt: Duration,
    /// Number of the segment.
    pub segment: u64,
    /// Divisor of the gains (RFC 7323, appendix G); 1 where that does not apply. NaN and values below 1 count as 1.
    pub weight_divisor: f64,
    /// Content of the Interest.
    pub target: Target,
    /// Node that answered, if known.
    pub provider: Option<u64>,
}

impl RttSample {
    /// A sample without further properties.
    pub fn new(segment: u64, rtt: Duration) -> Self {
        let target = Target { content: segment, class: 0 };
        Self { rtt, segment, weight_divisor: 1.0, target, provider: None }
    }

    /// [`weight_divisor`](Self::weight_divisor), at least 1.
    fn divisor(&self) -> f64 {
        smoothed::within(self.weight_divisor, 1.0, f64::MAX)
    }
}

/// Content of an Interest, as far as estimators distinguish it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// A number or a hash that identifies the content.
    pub content: u64,
    /// Identifies a class of contents, for example the contents of one producer.
    pub class: u64,
}

/// An answer, whatever the number of transmissions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Round-trip time from the *first* transmission of the segment to the arrival of its Data.
    pub sample: RttSample,
    /// Lifetimes of the segment that had ended before.
    pub timeouts: u32,
}

/// An Interest that needs a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Content of the Interest.
    pub target: Target,
    /// Retransmissions of the Interest so far.
    pub retransmissions: u32,
}

/// Records of nodes on the path of an announcing Interest.
#[derive(Clone, Copy, Debug)]
pub struct Trail<'a> {
    /// The announced contents, in the order of the records' bits; `None` for an invalid name.
    pub announced: &'a [Option<u64>],
    /// The records, from the consumer's neighbour on; their times are durations.
    pub records: &'a [Record],
}

/// Expected values of a factor.
const FACTOR: &str = "a number from 0 to 1000000";

/// Estimates the retransmission timeout (RTO).
///
/// Each implementation keeps these invariants. `rto()` is at least [`SHORTEST`] and within the configured limits. Its
/// text (`Display`) parses to the [`Rto`] of an equal estimator in its initial state.
pub trait RtoEstimator: fmt::Debug + fmt::Display + Send {
    /// A round trip was measured. Never called for a segment that was transmitted twice (Karn).
    fn on_sample(&mut self, now: Instant, sample: &RttSample);

    /// A loss event, not merely one of its timeouts, was accepted. Estimators with a common back-off back off.
    fn on_timeout(&mut self, now: Instant);

    /// A retransmitted segment was answered, `elapsed` after the last of its transmissions that was declared lost.
    /// That is no sample (Karn), because the answered transmission is unknown. If it was that one or the one after
    /// it, the round trip took no longer.
    fn on_progress(&mut self, now: Instant, elapsed: Duration) {
        let _ = (now, elapsed);
    }

    /// Whether the timeout is the Interest lifetime as well: forwarders drop the Interest when the consumer
    /// retransmits. Consumers with answers and expiries report them to such a timer ([`on_answer`](Self::on_answer),
    /// [`on_expiry`](Self::on_expiry)). Other consumers call `on_sample` and `on_timeout` only.
    fn sets_lifetime(&self) -> bool {
        false
    }

    /// A segment was answered.
    fn on_answer(&mut self, now: Instant, answer: &Answer) {
        if answer.timeouts == 0 {
            self.on_sample(now, &answer.sample);
        }
    }

    /// A lifetime of a segment has ended, the `timeouts`-th of that segment.
    fn on_expiry(&mut self, now: Instant, timeouts: u32) {
        let _ = timeouts;
        self.on_timeout(now);
    }

    /// Timeout of an Interest without known properties.
    fn rto(&self) -> Duration;

    /// Timeout of an Interest sent now.
    fn rto_for(&self, now: Instant, question: &Question) -> Duration {
        let _ = (now, question);
        self.rto()
    }

    /// The estimator's interface for announcements; `None` without announcements.
    fn anticipating(&mut self) -> Option<&mut dyn Anticipating> {
        None
    }

    /// Whether the estimator uses round trips only, neither contents nor providers.
    fn needs_samples_only(&self) -> bool {
        true
    }

    /// The smoothed round-trip time, if the estimator keeps one and has seen a sample.
    fn srtt(&self) -> Option<Duration> {
        None
    }

    /// The mean deviation of the round-trip time, if the estimator keeps one and has seen a sample.
    fn rttvar(&self) -> Option<Duration> {
        None
    }
}

/// An estimator that announces the contents that the consumer wants next, and learns what nodes record of them.
pub trait Anticipating {
    /// How many contents an Interest should announce, at most
    /// [`MOST_NAMES`](recoup_packet::lp::anticipation::MOST_NAMES).
    fn announces(&self) -> usize;

    /// In place of [`RtoEstimator::on_sample`] where the Data brought records.
    fn on_trail(&mut self, now: Instant, sample: &RttSample, trail: &Trail<'_>);
}

/// Gives an estimator a sample, with what nodes on the way recorded, if they did and the estimator learns from it.
pub fn sample(
    estimator: &mut dyn RtoEstimator,
    now: Instant,
    sample: &RttSample,
    trail: Option<&Trail<'_>>,
) {
    match (trail, estimator.anticipating()) {
        (Some(trail), Some(anticipating)) => anticipating.on_trail(now, sample, trail),
        _ => estimator.on_sample(now, sample),
    }
}

family! {
    /// A retransmission timer with its parameters, such as `jacobson(k=8,min=200ms)`.
    ///
    /// ```
    /// use recoup_transport::rto::{Jacobson, JacobsonSettings, Rto};
    /// let rto: Rto = "jacobson(k=8)".parse().unwrap();
    /// assert_eq!(rto, Rto::from(Jacobson::new(JacobsonSettings { k: 8.0, ..Default::default() })));
    /// assert_eq!(rto.to_string(), "jacobson(k=8)");
    /// let estimator = rto.build();
    /// ```
    pub enum Rto: "RTO estimator", RtoEstimator {
        Constant(Constant): "constant" => |spec: Spec<'_>| spec.read(Constant::default());
        Jacobson(Jacobson):
            "jacobson" => Jacobson::from_spec,
            "rfc6298" => Jacobson::rfc6298_from_spec,
            "yang2016" => Jacobson::yang2016_from_spec,
            "nikzad2022" => Jacobson::nikzad2022_from_spec;
        Reconsidered(Reconsidered): "reconsidered" => Reconsidered::from_spec;
        PerProvider(PerProvider): "per-provider" => PerProvider::from_spec;
        Predictive(Predictive): "predictive" => Predictive::from_spec;
        WeightedMedian(WeightedMedian): "weighted-median" => WeightedMedian::from_spec;
        Experts(Experts): "experts" => Experts::from_spec;
        Nearness(Nearness): "nearness" => Nearness::from_spec;
        Tcp(Tcp): "tcp" => Tcp::from_spec;
        Timeest(Timeest): "timeest" => Timeest::from_spec;
        Icp(Icp): "icp" => Icp::from_spec;
        Chopcop(Chopcop): "chopcop" => Chopcop::from_spec;
        CcnTimer(CcnTimer): "ccntimer" => CcnTimer::from_spec;
        Wma(Wma): "wma" => Wma::from_spec;
        PerSource(PerSourceSettings): "per-source" => PerSourceSettings::from_spec;
    }
}

/// Parses the specification of an estimator, for example `jacobson(k=8,min=200ms)`.
///
/// # Errors
/// The text is not a spec of an estimator.
pub fn parse(text: &str) -> Result<Box<dyn RtoEstimator>, SpecError> {
    Ok(text.parse::<Rto>()?.build())
}

/// The names of all estimators.
pub fn names() -> impl Iterator<Item = &'static str> {
    Rto::names()
}
