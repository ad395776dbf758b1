//! `ccntimer(gamma=1.2,alpha=0.2,beta=0.25,k=4,from=4,epsilon=0.2,phi=3,…)`: little more than TCP's timeout, and a little
//! more at each timeout.
//!
//! Source: von Rotz et al. (2015), Algorithm 1, "CCNTimer": IL = γ·(sRTT + 4·VAR) with TCP's gains in the printed order;
//! Γ, ε and Φ as in `patience.rs`, which also has the other parameters.
//!
//! Differences: those of `patience.rs`.
use super::super::smoothed::{Gains, Smoothed};
use super::super::{Answer, FACTOR, RtoEstimator, RttSample};
use super::patience::Patience;
use super::tcp::PRINTED;
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// CCNTimer.
#[derive(Clone, Debug, PartialEq)]
pub struct CcnTimer {
    gamma: f64,
    gains: Gains,
    k: f64,
    patience: Patience,
}

impl CcnTimer {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { gamma: 1.2, gains: PRINTED, k: 4.0, patience: Patience::new() })
    }
}

impl RtoEstimator for CcnTimer {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        self.on_answer(now, &Answer { sample: *sample, timeouts: 0 });
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_expiry(now, 1);
    }

    fn on_answer(&mut self, _: Instant, answer: &Answer) {
        let Self { gamma, gains, k, .. } = *self;
        let next = |before: Smoothed, rtt| before.next_by_new_mean(rtt, gains);
        self.patience.on_answer(answer, next, |after| gamma * after.timeout(k));
    }

    fn on_expiry(&mut self, _: Instant, timeouts: u32) {
        self.patience.on_expiry(timeouts);
    }

    lifetime_timer!(patience.lifetime, patience.estimate);
}

impl Described for CcnTimer {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("gamma", &mut self.gamma, 0.0..=1e6, FACTOR);
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.patience.describe(each);
    }
}

recoup_core::print_as_spec!(CcnTimer, "ccntimer");

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, late_answer};
    use super::*;

    fn timer(text: &str) -> CcnTimer {
        CcnTimer::from_spec(Spec::parse(text).expect("a spec")).expect("a timer")
    }

    /// A timer with three answers that do not count, and these.
    fn fed(text: &str, answers: &[u64]) -> CcnTimer {
        let mut timer = timer(text);
        (0..3).for_each(|_| late_answer(&mut timer, 9_000, 1));
        answers.iter().for_each(|millis| answer(&mut timer, *millis));
        timer
    }

    #[test]
    fn fourth_answer_begins_the_estimate() {
        assert_eq!(fed("ccntimer", &[500]).rto(), Duration::from_secs(4));
        // sRTT stays 500, VAR = 0.75·250: 1.2·(500 + 750).
        assert_eq!(fed("ccntimer", &[500, 500]).rto(), Duration::from_millis(1_500));
        let early = fed("ccntimer(update-on-init=true)", &[500]);
        assert_eq!(early.rto(), Duration::from_millis(1_800));
        let mut later = timer("ccntimer(from=6)");
        (0..6).for_each(|_| answer(&mut later, 500));
        assert_eq!(later.rto(), Duration::from_secs(4));
        answer(&mut later, 500);
        assert_eq!(later.rto(), Duration::from_millis(1_500));
    }

    #[test]
    fn third_timeout_of_a_segment_resets_the_lifetime() {
        let mut timer = fed("ccntimer", &[500, 500]);
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(1_800));
        timer.on_expiry(Instant::ZERO, 2);
        assert_eq!(timer.rto(), Duration::from_millis(2_160));
        timer.on_expiry(Instant::ZERO, 3);
        assert_eq!((timer.rto(), timer.srtt()), (Duration::from_secs(4), None));
        // Answers count at once: the first of them begins the estimate.
        answer(&mut timer, 100);
        assert_eq!(timer.rto(), Duration::from_secs(4));
        answer(&mut timer, 100);
        assert_eq!(timer.rto(), Duration::from_millis(300));
    }

    #[test]
    fn fourth_timeout_resets_as_listed() {
        let mut timer = fed("ccntimer(phi-strict=true)", &[500, 500]);
        (1..4).for_each(|timeouts| timer.on_expiry(Instant::ZERO, timeouts));
        assert!(timer.srtt().is_some() && timer.rto() < Duration::from_secs(4));
        timer.on_expiry(Instant::ZERO, 4);
        assert_eq!((timer.rto(), timer.srtt()), (Duration::from_secs(4), None));
    }

    #[test]
    fn timeouts_of_different_segments_add_up() {
        let mut timer = fed("ccntimer", &[500, 500]);
        (0..4).for_each(|_| timer.on_expiry(Instant::ZERO, 1));
        let expected = 1.5 * libm::pow(1.2, 4.0);
        assert!((timer.rto().as_secs_f64() - expected).abs() < 1e-6);
    }
}
