//! `reconsidered(k=6,min=100ms)`, `reconsidered(min=adaptive)`: slow gains, and a floor near the mean round trip.
//!
//! Source: Nikzad et al. 2022, section 5: α = 1/80, β = 1/40, k = 6 (4 to 8 is the recommended band), RTO_min near the
//! mean round-trip time.
//!
//! Differences: the paper fixes the floor at 100 ms, the mean of its network; `adaptive` takes the mean of all samples
//! so far, once there are 20.
use super::smoothed::{Gains, Smoothed};
use super::timing::{Floor, Timing};
use super::{FACTOR, Question, RtoEstimator, RttSample};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// The paper's proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconsidered {
    gains: Gains,
    k: f64,
    timing: Timing,
    estimate: Option<Smoothed>,
}

impl Reconsidered {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let timing = Timing::with_floor(Floor::Fixed(Duration::from_millis(100)));
        spec.read(Self { gains: Gains::VERY_SLOW, k: 6.0, timing, estimate: None })
    }

    fn seconds(&self) -> Option<f64> {
        self.estimate.map(|estimate| estimate.timeout(self.k))
    }
}

impl RtoEstimator for Reconsidered {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let rtt = sample.rtt.as_secs_f64();
        Smoothed::feed(&mut self.estimate, rtt, self.gains.divided(sample.divisor()));
        self.timing.on_sample(rtt);
    }

    fn on_timeout(&mut self, _: Instant) {
        self.timing.on_timeout();
    }

    fn rto(&self) -> Duration {
        self.timing.timeout(self.seconds())
    }

    fn rto_for(&self, _: Instant, question: &Question) -> Duration {
        self.timing.timeout_for(self.seconds(), question)
    }

    fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.rounded().0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.rounded().1)
    }
}

impl Described for Reconsidered {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(Reconsidered, "reconsidered");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rto::parse;

    fn fed(text: &str, rtts: impl IntoIterator<Item = u64>) -> Box<dyn RtoEstimator> {
        let mut estimator = parse(text).unwrap();
        for (segment, millis) in (0..).zip(rtts) {
            let sample = RttSample::new(segment, Duration::from_millis(millis));
            estimator.on_sample(Instant::ZERO, &sample);
        }
        estimator
    }

    #[test]
    fn timeout_begins_at_three_seconds_above_the_floor() {
        assert_eq!(fed("reconsidered", []).rto(), Duration::from_secs(3));
        assert_eq!(fed("reconsidered", [2; 500]).rto(), Duration::from_millis(100));
    }

    #[test]
    fn one_sample_changes_little() {
        // RTTVAR = 39/40·50 + 1/40·80 = 50.75; SRTT = 79/80·100 + 1/80·180 = 101.
        let rto = fed("reconsidered", [100, 180]).rto();
        assert_eq!(rto, Duration::from_micros(101_000 + 6 * 50_750));
    }

    #[test]
    fn an_adaptive_floor_follows_the_mean() {
        let rto = fed("reconsidered(min=adaptive,k=0,alpha=1)", [30; 25].into_iter().chain([4]));
        assert_eq!(rto.rto(), Duration::from_secs_f64((25.0 * 0.03 + 0.004) / 26.0));
    }
}
