//! `nikzad2022(ndnsim=false)`: one segment wider in each round trip, back to one at each timeout.
//!
//! Source: Nikzad et al. 2022, section 3.2: "additively increases … to the minimum size". The window starts at 1,
//! grows by 1/window with each Data and falls to 1 with each timeout. There is no slow start, and each timeout is an
//! event of its own. `ndnsim=true` grows by 1 with each Data, as ndnSIM's window consumer does.
//!
//! Differences: congestion Nacks and marks count as timeouts; the paper's network has neither.
use super::{CongestionControl, Delivered, Loss, WIDEST, sane_limit};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::Instant;

/// Consumer window of the study.
#[derive(Clone, Debug, PartialEq)]
pub struct Nikzad2022 {
    ndnsim: bool,
    cwnd: f64,
    limit: f64,
}

impl Nikzad2022 {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { ndnsim: false, cwnd: 1.0, limit: WIDEST })
    }
}

impl CongestionControl for Nikzad2022 {
    fn window(&self) -> f64 {
        self.cwnd.min(self.limit)
    }

    /// Zero: there is no slow start.
    fn ssthresh(&self) -> f64 {
        1.0
    }

    fn on_delivered(&mut self, _: Instant, _: &Delivered) {
        if self.cwnd < self.limit {
            let step = if self.ndnsim { 1.0 } else { 1.0 / self.cwnd };
            self.cwnd = (self.cwnd + step).min(self.limit);
        }
    }

    fn on_loss(&mut self, _: Instant, _: &Loss) -> bool {
        self.cwnd = 1.0;
        true
    }

    fn set_limit(&mut self, max_window: f64) {
        self.limit = sane_limit(max_window);
    }
}

impl Described for Nikzad2022 {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.boolean("ndnsim", &mut self.ndnsim);
    }
}

recoup_core::print_as_spec!(Nikzad2022, "nikzad2022");

#[cfg(test)]
mod tests {
    use super::super::{LossKind, parse};
    use super::*;

    fn after_data(text: &str, count: u64) -> Box<dyn CongestionControl> {
        let mut window = parse(text).unwrap();
        for order in 0..count {
            let (highest_order, segment, in_flight, advance) = (order, order, 1, 1);
            let (rtt, srtt, min_rtt, path) = (None, None, None, None);
            let delivered = Delivered {
                segment,
                order,
                highest_order,
                rtt,
                path,
                srtt,
                min_rtt,
                in_flight,
                advance,
                remaining: None,
            };
            window.on_delivered(Instant::ZERO, &delivered);
        }
        window
    }

    #[test]
    fn window_grows_each_round_or_each_data() {
        // 1 → 2 → 2.5 → 2.9
        assert_eq!(after_data("nikzad2022", 3).window(), 2.9);
        assert_eq!(after_data("nikzad2022(ndnsim=true)", 3).window(), 4.0);
    }

    #[test]
    fn timeout_resets_the_window_to_one() {
        let mut window = after_data("nikzad2022", 50);
        let (srtt, min_rtt) = (None, None);
        let loss = Loss {
            kind: LossKind::Timeout,
            order: 1,
            highest_order: 9,
            high_data: 8,
            high_interest: 9,
            in_flight: 3,
            evidence: 0,
            srtt,
            min_rtt,
        };
        for _ in 0..2 {
            assert!(window.on_loss(Instant::ZERO, &loss));
            assert_eq!(window.window(), 1.0);
        }
    }
}
