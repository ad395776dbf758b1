//! `constant(rto=4s)`: a constant timeout.
//!
//! Source: the CCNx and NDN default of 4 s, at once Interest lifetime and retransmission timer; the
//! baseline of von Rotz, Anastasiades and Braun (2015), section 2.
//!
//! Differences: none.
use super::{RtoEstimator, RttSample, SHORTEST};
use crate::spec::{Described, Description};
use crate::time::{Duration, Instant};

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

impl Described for Constant {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.duration("rto", &mut self.rto, SHORTEST);
    }
}

recoup_core::print_as_spec!(Constant, "constant");
