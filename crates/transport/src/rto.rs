//! When to ask again: estimators of the retransmission timeout, and which round trips they see.
//!
//! An estimator gets facts (a round-trip sample, an accepted loss event) and keeps one answer
//! ready. Which segments are samples at all is decided by [`Sampler`].
use crate::spec::{self, Reader, SpecError};
use crate::time::{Duration, Instant};
use std::fmt;

mod constant;
mod jacobson;
mod sampling;

pub use constant::Constant;
pub use jacobson::{Jacobson, JacobsonSettings};
pub use sampling::{Sampler, Sampling};

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
}

/// Estimates the retransmission timeout (RTO).
///
/// Holds for every implementation, whatever the facts: `rto()` is at least [`SHORTEST`] and within
/// the bounds the estimator was made with; its text (`Display`) is read by [`parse`] as an equal
/// estimator in its initial state.
pub trait RtoEstimator: fmt::Debug + fmt::Display + Send {
    /// A round trip was measured. Never called for a segment that was transmitted twice (Karn).
    fn on_sample(&mut self, now: Instant, sample: &RttSample);

    /// A loss event, not merely one of its timeouts, was accepted: time to back off.
    fn on_timeout(&mut self, now: Instant);

    /// The timeout for an Interest sent now.
    fn rto(&self) -> Duration;

    /// The smoothed round-trip time, if the estimator keeps one and has seen a sample.
    fn srtt(&self) -> Option<Duration>;

    /// The mean deviation of the round-trip time, if the estimator keeps one and has seen a sample.
    fn rttvar(&self) -> Option<Duration>;
}

/// Every estimator by its name.
const FAMILY: &[(&str, Reader<Box<dyn RtoEstimator>>)] = &[
    ("constant", |spec| Ok(Box::new(Constant::from_spec(spec)?))),
    ("jacobson", |spec| Ok(Box::new(Jacobson::from_spec(spec)?))),
    ("rfc6298", |spec| Ok(Box::new(Jacobson::rfc6298_from_spec(spec)?))),
    ("yang2016", |spec| Ok(Box::new(Jacobson::yang2016_from_spec(spec)?))),
];

/// Makes the estimator that `text` describes, for example `jacobson(k=8,min=200ms)`.
///
/// # Errors
/// If the text cannot be read; the error names the offending part and what would be right.
pub fn parse(text: &str) -> Result<Box<dyn RtoEstimator>, SpecError> {
    spec::parse_with(text, "RTO estimator", FAMILY)
}

/// The names of all estimators.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILY.iter().map(|(name, _)| *name)
}
