//! `timeest(alpha=1/8,beta=1/8,k=4,factor=2,init=4s,min=100ms,max=4s,backoff=2)`: twice Jacobson's timeout.
//!
//! Source: von Rotz et al. (2015), "Timeest", an estimator of the CCNx tools: both gains are 1/8, the error is that of the
//! old mean; IL = 2·(sRTT + 4·VAR). That a timeout doubles it is an assumption of the paper.
//!
//! Differences: none.
use super::super::smoothed::{Gains, Smoothed};
use super::super::{FACTOR, RtoEstimator, RttSample};
use super::{LEAST, Lifetime, describe_backoff, round_trip};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Timeest.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeest {
    gains: Gains,
    k: f64,
    factor: f64,
    lifetime: Lifetime,
    backoff: f64,
    estimate: Option<Smoothed>,
}

impl Timeest {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let gains = Gains { alpha: 1.0 / 8.0, beta: 1.0 / 8.0 };
        let (lifetime, backoff) = (Lifetime::new(LEAST), 2.0);
        spec.read(Self { gains, k: 4.0, factor: 2.0, lifetime, backoff, estimate: None })
    }
}

impl RtoEstimator for Timeest {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let after = Smoothed::feed(&mut self.estimate, round_trip(sample), self.gains);
        self.lifetime.set(self.factor * after.timeout(self.k));
    }

    fn on_timeout(&mut self, _: Instant) {
        self.lifetime.stretch(self.backoff);
    }

    lifetime_timer!(lifetime, estimate);
}

impl Described for Timeest {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        each.number("factor", &mut self.factor, 0.0..=1e6, FACTOR);
        self.lifetime.describe(each);
        describe_backoff(each, &mut self.backoff);
    }
}

recoup_core::print_as_spec!(Timeest, "timeest");

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    #[test]
    fn it_is_twice_the_mean_and_four_deviations() {
        let mut timer =
            Timeest::from_spec(Spec::parse("timeest").expect("a spec")).expect("a timer");
        answer(&mut timer, 80);
        assert_eq!(timer.rto(), Duration::from_millis(2 * (80 + 4 * 40)));
        // err = 80: sRTT = 80 + 10 = 90, VAR = 40 + (80 − 40)/8 = 45.
        answer(&mut timer, 160);
        assert_eq!(timer.rto(), Duration::from_millis(2 * (90 + 4 * 45)));
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(4 * (90 + 4 * 45)));
    }
}
