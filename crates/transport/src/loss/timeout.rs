//! `timeout`: no segment is lost before its timer expires (`simple1`).
//!
//! Source: consumers of named data that retransmit by timers only; Simple1 of A. Udugama et al. (2013), section 3.
//!
//! Differences: none; the timers are the fetch loop's.
use super::{Arrival, Judgement, LossDetector, Phase, Repair, print};
use crate::spec::{Spec, SpecError};
use crate::time::Instant;
use std::fmt;

/// Leaves losses to the timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout;

impl Timeout {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.finish()?;
        Ok(Self)
    }
}

impl LossDetector for Timeout {
    fn repair(&self) -> Option<Repair> {
        None
    }

    fn on_arrival(&mut self, _: Instant, _: &Arrival) -> Option<Judgement> {
        None
    }

    fn on_timeout(&mut self, _: Instant) {}

    fn on_recovered(&mut self, _: Instant) {}

    fn phase(&self) -> Phase {
        Phase::Normal
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, "timeout")
    }
}
