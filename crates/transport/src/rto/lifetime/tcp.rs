//! `tcp(alpha=0.2,beta=0.25,k=4,init=4s,min=1s,max=4s,backoff=2,rfc-order=false)`: TCP's timeout as lifetime.
//!
//! Source: von Rotz et al. (2015), "TCP RTO": sRTT gains 0.2, VAR gains 0.25 of its distance from the *new* sRTT, as
//! it is printed; IL = sRTT + 4·VAR, at least 1 s; a timeout doubles it until the next sample.
//!
//! Differences: none. `rfc-order=true` takes the distance from the old sRTT, as RFC 2988 does, and `alpha=1/8` is its
//! gain; `init=3s` is its first timeout.
use super::super::smoothed::{Gains, Smoothed};
use super::super::{FACTOR, RtoEstimator, RttSample};
use super::{Lifetime, describe_backoff, round_trip};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Timer of TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    gains: Gains,
    k: f64,
    lifetime: Lifetime,
    backoff: f64,
    rfc_order: bool,
    estimate: Option<Smoothed>,
}

/// The gains of [`Tcp`], and of `ccntimer` and `wma`.
pub(super) const PRINTED: Gains = Gains { alpha: 0.2, beta: 0.25 };

impl Tcp {
    pub(in crate::rto) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let lifetime = Lifetime::new(Duration::from_secs(1));
        let (backoff, rfc_order, estimate) = (2.0, false, None);
        spec.read(Self { gains: PRINTED, k: 4.0, lifetime, backoff, rfc_order, estimate })
    }
}

impl RtoEstimator for Tcp {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let rtt = round_trip(sample);
        let after = match self.estimate {
            None => Smoothed::first(rtt),
            Some(before) if self.rfc_order => before.next(rtt, self.gains),
            Some(before) => before.next_by_new_mean(rtt, self.gains),
        };
        self.estimate = Some(after);
        self.lifetime.set(after.timeout(self.k));
    }

    fn on_timeout(&mut self, _: Instant) {
        self.lifetime.stretch(self.backoff);
    }

    lifetime_timer!(lifetime, estimate);
}

impl Described for Tcp {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.lifetime.describe(each);
        describe_backoff(each, &mut self.backoff);
        each.boolean("rfc-order", &mut self.rfc_order);
    }
}

recoup_core::print_as_spec!(Tcp, "tcp");

#[cfg(test)]
mod tests {
    use super::super::tests::answer;
    use super::*;

    fn timer(text: &str) -> Tcp {
        Tcp::from_spec(Spec::parse(text).expect("a spec")).expect("a timer")
    }

    #[test]
    fn the_deviation_is_taken_from_the_new_mean() {
        // sRTT 1000, VAR 500; then sRTT = 0.8·1000 + 0.2·1500 = 1100, VAR = 0.75·500 + 0.25·|1100 − 1500| = 475.
        let mut tcp = timer("tcp");
        answer(&mut tcp, 1_000);
        assert_eq!(tcp.rto(), Duration::from_secs(3));
        answer(&mut tcp, 1_500);
        assert_eq!(tcp.rto(), Duration::from_millis(1_100 + 4 * 475));
        // From the old mean it is 0.75·500 + 0.25·500 = 500.
        let mut rfc = timer("tcp(rfc-order=true)");
        [1_000, 1_500].into_iter().for_each(|millis| answer(&mut rfc, millis));
        assert_eq!(rfc.rto(), Duration::from_millis(1_100 + 4 * 500));
    }

    #[test]
    fn timeout_doubles_the_lifetime_until_a_sample() {
        let mut tcp = timer("tcp");
        answer(&mut tcp, 200);
        assert_eq!(tcp.rto(), Duration::from_secs(1));
        tcp.on_expiry(Instant::ZERO, 1);
        assert_eq!(tcp.rto(), Duration::from_secs(2));
        super::super::tests::late_answer(&mut tcp, 1_200, 1);
        assert_eq!(tcp.rto(), Duration::from_secs(2), "a retransmitted segment is no sample");
        answer(&mut tcp, 200);
        assert_eq!(tcp.rto(), Duration::from_secs(1));
    }
}
