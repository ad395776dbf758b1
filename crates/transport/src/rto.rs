//! When to ask again: estimators of the retransmission timeout, and which round trips they see.
//!
//! An estimator gets facts (a round-trip sample, an accepted loss event) and keeps one answer
//! ready; some have another answer for each Interest. Which segments are samples at all is decided by
//! [`Sampler`]. Timers that set the Interest *lifetime* ([`RtoEstimator::sets_lifetime`]) hear of every answer
//! and every expiry instead. Consumers are not its only customers: nodes rank faces and time pending Interests with
//! the same estimators.
use crate::spec::SpecError;
use crate::time::{Duration, Instant};
use recoup_core::family;
use recoup_packet::lp::anticipation::Record;
use std::fmt;

mod bounded;
mod constant;
mod experts;
mod jacobson;
mod lifetime;
mod per_provider;
mod popularity;
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
pub use per_provider::{PerProvider, Weight};
pub use popularity::Popularity;
pub use predictive::Predictive;
pub use reconsidered::Reconsidered;
pub use sampling::{Sampler, Sampling};
pub use weighted_median::WeightedMedian;

/// The shortest timeout that any estimator gives: a timer must lie in the future.
pub const SHORTEST: Duration = Duration::from_micros(1);

/// A round trip that an estimator may learn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttSample {
    /// From the (only) transmission of the Interest to the arrival of its Data.
    pub rtt: Duration,
    /// Number of the segment.
    pub segment: u64,
    /// Gains are to be divided by this (RFC 7323, appendix G); 1 where that does not apply. What is
    /// not a number of at least 1 counts as 1.
    pub weight_divisor: f64,
    /// What was asked for.
    pub target: Target,
    /// Which node answered, if it said so.
    pub provider: Option<u64>,
}

impl RttSample {
    /// A sample of which nothing else is known.
    pub fn new(segment: u64, rtt: Duration) -> Self {
        let target = Target { content: segment, class: 0 };
        Self { rtt, segment, weight_divisor: 1.0, target, provider: None }
    }

    /// [`weight_divisor`](Self::weight_divisor) as a number of at least 1.
    fn divisor(&self) -> f64 {
        smoothed::within(self.weight_divisor, 1.0, f64::MAX)
    }
}

/// What an Interest asks for, as estimators tell contents apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// A number or a hash: the same for the same content.
    pub content: u64,
    /// The same for contents of one kind, such as those of one producer.
    pub class: u64,
}

/// An answer, however often its segment was asked for before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Its round trip, from the *first* transmission of the segment to the arrival of its Data.
    pub sample: RttSample,
    /// How many lifetimes of the segment had ended before.
    pub timeouts: u32,
}

/// An Interest whose timeout is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// What it asks for.
    pub target: Target,
    /// How often the same was asked for before.
    pub retransmissions: u32,
}

/// What nodes on the way of an announcing Interest recorded.
#[derive(Clone, Copy, Debug)]
pub struct Trail<'a> {
    /// The contents that were announced, in the order of the records' bits; `None` for a name that is none.
    pub announced: &'a [Option<u64>],
    /// The records, from the consumer's neighbour on; their times are durations.
    pub records: &'a [Record],
}

/// Estimates the retransmission timeout (RTO).
///
/// Holds for every implementation, whatever the facts: `rto()` is at least [`SHORTEST`] and within
/// the bounds the estimator was made with; its text (`Display`) parses to the [`Rto`] of an
/// equal estimator in its initial state.
pub trait RtoEstimator: fmt::Debug + fmt::Display + Send {
    /// A round trip was measured. Never called for a segment that was transmitted twice (Karn).
    fn on_sample(&mut self, now: Instant, sample: &RttSample);

    /// In place of [`on_sample`](Self::on_sample) where the Data brought records.
    fn on_trail(&mut self, now: Instant, sample: &RttSample, trail: &Trail<'_>) {
        let _ = trail;
        self.on_sample(now, sample);
    }

    /// A loss event, not merely one of its timeouts, was accepted: time to back off, for estimators that
    /// back off for all Interests together.
    fn on_timeout(&mut self, now: Instant);

    /// A segment that had been asked for again was answered, `elapsed` after the last of its transmissions that was judged
    /// lost. That is no sample (Karn), for nobody knows which transmission was answered; if it was that one or the one
    /// after it, the round trip took no longer.
    fn on_progress(&mut self, now: Instant, elapsed: Duration) {
        let _ = (now, elapsed);
    }

    /// Whether its answer is the Interest lifetime as well: forwarders forget the Interest when the consumer asks
    /// again. Such a timer hears of each answer and of each expiry ([`on_answer`](Self::on_answer),
    /// [`on_expiry`](Self::on_expiry)) from consumers that have them; from others it hears as all timers do.
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

    /// The timeout for an Interest of which nothing is known.
    fn rto(&self) -> Duration;

    /// The timeout for an Interest sent now.
    fn rto_for(&self, now: Instant, question: &Question) -> Duration {
        let _ = (now, question);
        self.rto()
    }

    /// How many contents Interests should announce, at most
    /// [`MOST_NAMES`](recoup_packet::lp::anticipation::MOST_NAMES).
    fn announces(&self) -> usize {
        0
    }

    /// Whether round trips are all that it learns from; if not, what was asked for and who answered count, too.
    fn needs_samples_only(&self) -> bool {
        true
    }

    /// The smoothed round-trip time, if the estimator keeps one and has seen a sample.
    fn srtt(&self) -> Option<Duration>;

    /// The mean deviation of the round-trip time, if the estimator keeps one and has seen a sample.
    fn rttvar(&self) -> Option<Duration>;
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
        Constant(Constant): "constant" => Constant::from_spec;
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
        Popularity(Popularity): "popularity" => Popularity::from_spec;
        Tcp(Tcp): "tcp" => Tcp::from_spec;
        Timeest(Timeest): "timeest" => Timeest::from_spec;
        Icp(Icp): "icp" => Icp::from_spec;
        Chopcop(Chopcop): "chopcop" => Chopcop::from_spec;
        CcnTimer(CcnTimer): "ccntimer" => CcnTimer::from_spec;
        Wma(Wma): "wma" => Wma::from_spec;
        PerSource(PerSourceSettings): "per-source" => PerSourceSettings::from_spec;
    }
}

/// Builds the estimator that `text` describes, for example `jacobson(k=8,min=200ms)`.
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
