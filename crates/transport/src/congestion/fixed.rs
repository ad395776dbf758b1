//! `fixed(window=32,accounting=outstanding)`: a constant window.
//!
//! Source: the fixed pipelines of named-data consumers; design #0 of S. Yang's study (2016). With `accounting=span`
//! it is a pipeline of buffers that are read in order, as that of `ccncat` (CCNx 0.8, `ccn_fetch`): a missing segment
//! blocks segments beyond a window.
//!
//! Differences: losses of one flight are one loss event, at which the timeout backs off. Without that, a rise of
//! the round-trip time beyond the timeout would duplicate every Interest.
use super::{Accounting, CongestionControl, Delivered, Loss, RecoveryPoint, WIDEST, sane_limit};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::Instant;

/// A constant window, within the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    size: f64,
    limit: f64,
    accounting: Accounting,
    recovery: RecoveryPoint,
}

impl Fixed {
    /// A window of `size` segments, at least 1.
    pub fn new(size: f64) -> Self {
        let (limit, recovery) = (WIDEST, RecoveryPoint::default());
        Self { size: sane_limit(size), limit, accounting: Accounting::Outstanding, recovery }
    }

    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self::new(32.0))
    }
}

impl CongestionControl for Fixed {
    fn window(&self) -> f64 {
        self.size.min(self.limit)
    }

    fn ssthresh(&self) -> f64 {
        self.size
    }

    fn on_delivered(&mut self, _: Instant, _: &Delivered) {}

    fn on_loss(&mut self, _: Instant, loss: &Loss) -> bool {
        let new = !self.recovery.covers(loss.order);
        if new {
            self.recovery = RecoveryPoint::after(loss);
        }
        new
    }

    fn accounting(&self) -> Accounting {
        self.accounting
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window);
    }
}

impl Described for Fixed {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("window", &mut self.size, 1.0..=WIDEST, "a number from 1 to 1000000000");
        self.accounting.describe(each);
    }
}

recoup_core::print_as_spec!(Fixed, "fixed");
