//! `chopcop(factor=6,alpha=0.2,init=4s,min=100ms,max=4s,backoff=2)`: six times the mean round trip.
//!
//! Source: F. Zhang et al., CHoPCoP (2014), as von Rotz et al. (2015) describe its timer without evaluating it: IL =
//! 6·sRTT.
//!
//! Differences: the gain of 0.2 and the doubling at a timeout are those of the paper's other timers. CHoPCoP's
//! routers signal congestion explicitly; marks are congestion control's business here.
use super::super::{FACTOR, RtoEstimator, RttSample};
use super::{LEAST, Lifetime, describe_backoff, round_trip, seconds};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Timer of CHoPCoP.
#[derive(Clone, Debug, PartialEq)]
pub struct Chopcop {
    factor: f64,
    alpha: f64,
    lifetime: Lifetime,
    backoff: f64,
    srtt: Option<f64>,
}

impl Chopcop {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (lifetime, backoff) = (Lifetime::new(LEAST), 2.0);
        spec.read(Self { factor: 6.0, alpha: 0.2, lifetime, backoff, srtt: None })
    }
}

impl RtoEstimator for Chopcop {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let rtt = round_trip(sample);
        let before = self.srtt.unwrap_or(rtt);
        let srtt = (1.0 - self.alpha) * before + self.alpha * rtt;
        self.srtt = Some(srtt);
        self.lifetime.set(self.factor * srtt);
    }

    fn on_timeout(&mut self, _: Instant) {
        self.lifetime.stretch(self.backoff);
    }

    lifetime_timer!(lifetime);

    fn srtt(&self) -> Option<Duration> {
        self.srtt.map(seconds)
    }
}

impl Described for Chopcop {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("factor", &mut self.factor, 0.0..=1e6, FACTOR);
        each.number("alpha", &mut self.alpha, 0.0..=1.0, "a number from 0 to 1");
        self.lifetime.describe(each);
        describe_backoff(each, &mut self.backoff);
    }
}

recoup_core::print_as_spec!(Chopcop, "chopcop");

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    #[test]
    fn lifetime_is_six_mean_round_trips() {
        let mut timer =
            Chopcop::from_spec(Spec::parse("chopcop").expect("a spec")).expect("a timer");
        answer(&mut timer, 100);
        assert_eq!(timer.rto(), Duration::from_millis(600));
        answer(&mut timer, 200);
        assert_eq!(timer.rto(), Duration::from_millis(6 * 120));
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(12 * 120));
    }
}
