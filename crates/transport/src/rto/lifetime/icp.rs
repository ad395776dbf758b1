//! `icp(window=20,init=4s,min=100ms,max=4s,skip-timeouts=false)`: the middle between the extremes of the last answers.
//!
//! Source: von Rotz et al. (2015), after Carofiglio, Gallo and Muscariello's ICP: IL = RTTmin + (RTTmax − RTTmin)/2 of
//! the last 20 answers, those included that came after timeouts; a timeout itself changes nothing.
//! `skip-timeouts=true` is the paper's variant that leaves the latter out (claim A-53).
//!
//! Differences: with fewer than 20 answers, all available answers count.
use super::super::{Answer, RtoEstimator, RttSample};
use super::{LEAST, Lifetime, round_trip};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Timer of ICP.
#[derive(Clone, Debug, PartialEq)]
pub struct Icp {
    window: usize,
    skip_timeouts: bool,
    lifetime: Lifetime,
    /// The last round trips in seconds, oldest first.
    latest: VecDeque<f64>,
}

impl Icp {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (lifetime, latest) = (Lifetime::new(LEAST), VecDeque::new());
        spec.read(Self { window: 20, skip_timeouts: false, lifetime, latest })
    }

    fn take(&mut self, rtt: f64) {
        if self.latest.len() >= self.window {
            self.latest.pop_front();
        }
        self.latest.push_back(rtt);
        let least = self.latest.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.latest.iter().copied().fold(0.0, f64::max);
        self.lifetime.set(least + 0.5 * (most - least));
    }
}

impl RtoEstimator for Icp {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        self.take(round_trip(sample));
    }

    fn on_answer(&mut self, _: Instant, answer: &Answer) {
        if answer.timeouts == 0 || !self.skip_timeouts {
            self.take(round_trip(&answer.sample));
        }
    }

    fn on_timeout(&mut self, _: Instant) {}

    lifetime_timer!(lifetime);
}

impl Described for Icp {
    fn describe(&mut self, each: &mut Description<'_>) {
        let (expected, window) = ("a number from 1 to 10000", self.window as u64);
        self.window = each.truncated("window", window, 1.0..=10_000.0, expected) as usize;
        self.lifetime.describe(each);
        each.boolean("skip-timeouts", &mut self.skip_timeouts);
    }
}

recoup_core::print_as_spec!(Icp, "icp");

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, late_answer};
    use super::*;

    fn timer(text: &str) -> Icp {
        Icp::from_spec(Spec::parse(text).expect("a spec")).expect("a timer")
    }

    #[test]
    fn lifetime_is_the_middle_of_twenty_answers() {
        let mut icp = timer("icp");
        answer(&mut icp, 200);
        assert_eq!(icp.rto(), Duration::from_millis(200));
        late_answer(&mut icp, 1_000, 1);
        assert_eq!(icp.rto(), Duration::from_millis(600));
        icp.on_expiry(Instant::ZERO, 1);
        assert_eq!(icp.rto(), Duration::from_millis(600));
        (0..18).for_each(|_| answer(&mut icp, 400));
        assert_eq!(icp.rto(), Duration::from_millis(600));
        answer(&mut icp, 400);
        assert_eq!(icp.rto(), Duration::from_millis(700), "the 200 ms are forgotten");
        answer(&mut icp, 400);
        assert_eq!(icp.rto(), Duration::from_millis(400), "and so is the second");
    }

    #[test]
    fn answers_after_timeouts_can_be_skipped() {
        let mut icp = timer("icp(skip-timeouts=true)");
        answer(&mut icp, 200);
        late_answer(&mut icp, 1_000, 1);
        assert_eq!(icp.rto(), Duration::from_millis(200));
    }
}
