//! `constant(rto=4s)`: a constant timeout.
//!
//! Source: the CCNx and NDN default of 4 s, at once Interest lifetime and retransmission timer; the
//! baseline of von Rotz, Anastasiades and Braun (2015), section 2.
//!
//! Differences: none.
use super::{RtoEstimator, RttSample, SHORTEST};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use std::fmt;

/// A constant timeout.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    rto: Duration,
}

impl Constant {
    /// The timeout `rto`, at least [`SHORTEST`].
    pub fn new(rto: Duration) -> Self {
        Self { rto: rto.max(SHORTEST) }
    }

    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let rto = spec.duration("rto", Self::default().rto, SHORTEST)?;
        spec.finish()?;
        Ok(Self::new(rto))
    }
}

impl Default for Constant {
    fn default() -> Self {
        Self::new(Duration::from_secs(4))
    }
}

impl RtoEstimator for Constant {
    fn on_sample(&mut self, _: Instant, _: &RttSample) {}

    fn on_timeout(&mut self, _: Instant) {}

    fn rto(&self) -> Duration {
        self.rto
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "constant").duration("rto", self.rto).finish()
    }
}
