//! `wma(gamma=1.5,alpha=0.2,from=4,epsilon=0.2,phi=3,…)`: one and a half mean round trips, and a little more at each
//! timeout.
//!
//! Source: von Rotz et al. (2015), Algorithm 2, "WMA", the weighted moving average: IL = γ·sRTT; Γ, ε and Φ as in
//! `patience.rs`, which also has the other parameters.
//!
//! Differences: those of `patience.rs`; the listing also begins a variance, which nothing uses.
use super::super::smoothed::Smoothed;
use super::super::{Answer, FACTOR, RtoEstimator, RttSample};
use super::patience::Patience;
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// WMA.
#[derive(Clone, Debug, PartialEq)]
pub struct Wma {
    gamma: f64,
    alpha: f64,
    patience: Patience,
}

impl Wma {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { gamma: 1.5, alpha: 0.2, patience: Patience::new() })
    }
}

impl RtoEstimator for Wma {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        self.on_answer(now, &Answer { sample: *sample, timeouts: 0 });
    }

    fn on_timeout(&mut self, now: Instant) {
        self.on_expiry(now, 1);
    }

    fn on_answer(&mut self, _: Instant, answer: &Answer) {
        let Self { gamma, alpha, .. } = *self;
        let next = |before: Smoothed, rtt| {
            let srtt = (1.0 - alpha) * before.srtt + alpha * rtt;
            Smoothed { srtt, ..before }
        };
        self.patience.on_answer(answer, next, |after| gamma * after.srtt);
    }

    fn on_expiry(&mut self, _: Instant, timeouts: u32) {
        self.patience.on_expiry(timeouts);
    }

    lifetime_timer!(patience.lifetime);

    fn srtt(&self) -> Option<Duration> {
        self.patience.estimate.map(|it| it.rounded().0)
    }
}

impl Described for Wma {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("gamma", &mut self.gamma, 0.0..=1e6, FACTOR);
        each.number("alpha", &mut self.alpha, 0.0..=1.0, "a number from 0 to 1");
        self.patience.describe(each);
    }
}

recoup_core::print_as_spec!(Wma, "wma");

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    #[test]
    fn lifetime_is_one_and_a_half_round_trips() {
        let mut timer = Wma::from_spec(Spec::parse("wma").expect("a spec")).expect("a timer");
        (0..4).for_each(|_| answer(&mut timer, 1_000));
        assert_eq!(timer.rto(), Duration::from_secs(4));
        answer(&mut timer, 2_000);
        assert_eq!(timer.rto(), Duration::from_millis(1_800));
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(2_160));
        timer.on_expiry(Instant::ZERO, 3);
        assert_eq!((timer.rto(), timer.srtt()), (Duration::from_secs(4), None));
    }
}
