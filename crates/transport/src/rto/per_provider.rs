//! `per-provider(weight=count,tau=1s)`: one estimate per node that answers, and their weighted mean.
//!
//! Source: Nikzad et al. 2022, section 5, after Carofiglio et al.: each node that answered has a Jacobson estimator;
//! the timeout is the mean of theirs, weighted by how many answers came from each (`count`) or by how recent the last
//! one is (`freshness`: exp(−age/τ)).
//!
//! Differences: Data without a provider identifier belongs to one provider of its own. Above 64 providers the one
//! idle for longest is forgotten.
use super::bounded::Bounded;
use super::smoothed::{Gains, Smoothed};
use super::timing::Timing;
use super::{FACTOR, Question, RtoEstimator, RttSample, SHORTEST};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Most providers remembered.
const MOST: usize = 64;
/// Provider of answers without an identifier.
const UNKNOWN: u64 = 0;

/// Weight of a provider's estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// The number of its answers.
    #[default]
    Count,
    /// Decays with its idle time.
    Freshness,
}

const WEIGHTS: [(&str, Weight); 2] = [("count", Weight::Count), ("freshness", Weight::Freshness)];

/// Estimates by provider.
#[derive(Clone, Debug, PartialEq)]
pub struct PerProvider {
    weight: Weight,
    tau: Duration,
    gains: Gains,
    k: f64,
    timing: Timing,
    providers: Bounded<Provider>,
    /// The weighted mean.
    mean: Option<Smoothed>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Provider {
    estimate: Option<Smoothed>,
    samples: u64,
    last: Instant,
}

impl PerProvider {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self {
            weight: Weight::Count,
            tau: Duration::from_secs(1),
            gains: Gains::STEADY,
            k: 4.0,
            timing: Timing::free(),
            providers: Bounded::new(MOST),
            mean: None,
        })
    }

    /// The mean over providers. The ratios of the weights do not depend on the time of the call, so it is computed
    /// once for each sample.
    fn weigh(&self, now: Instant) -> Option<Smoothed> {
        let (mut srtt, mut rttvar, mut total) = (0.0, 0.0, 0.0);
        for provider in self.providers.values() {
            let Some(estimate) = provider.estimate else { continue };
            let weight = match self.weight {
                Weight::Count => provider.samples as f64,
                Weight::Freshness => {
                    let age = now.since(provider.last).as_secs_f64();
                    libm::exp(-age / self.tau.as_secs_f64())
                }
            };
            srtt += weight * estimate.srtt;
            rttvar += weight * estimate.rttvar;
            total += weight;
        }
        (total > 0.0).then(|| Smoothed { srtt: srtt / total, rttvar: rttvar / total })
    }

    fn seconds(&self) -> Option<f64> {
        self.mean.map(|mean| mean.timeout(self.k))
    }
}

impl RtoEstimator for PerProvider {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        let (rtt, gains) = (sample.rtt.as_secs_f64(), self.gains.divided(sample.divisor()));
        let key = sample.provider.unwrap_or(UNKNOWN);
        let provider = self.providers.change(key, Provider::default);
        Smoothed::feed(&mut provider.estimate, rtt, gains);
        provider.samples += 1;
        provider.last = now;
        self.timing.on_sample(rtt);
        self.mean = self.weigh(now);
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

    fn needs_samples_only(&self) -> bool {
        false
    }

    fn srtt(&self) -> Option<Duration> {
        self.mean.map(|mean| mean.rounded().0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.mean.map(|mean| mean.rounded().1)
    }
}

impl Described for PerProvider {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.word("weight", &mut self.weight, &WEIGHTS, "count or freshness");
        each.duration("tau", &mut self.tau, SHORTEST);
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(PerProvider, "per-provider");

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(text: &str) -> PerProvider {
        PerProvider::from_spec(Spec::parse(text).unwrap()).unwrap()
    }

    fn feed(estimator: &mut PerProvider, at: u64, provider: u64, rtt: u64) {
        let sample = RttSample::new(0, Duration::from_millis(rtt));
        let sample = RttSample { provider: Some(provider), ..sample };
        estimator.on_sample(Instant::from_millis(at), &sample);
    }

    #[test]
    fn providers_count_by_number_of_answers() {
        let mut per = estimator("per-provider(k=0)");
        for _ in 0..3 {
            feed(&mut per, 0, 1, 100);
        }
        feed(&mut per, 0, 2, 20);
        assert_eq!(per.rto(), Duration::from_millis(80));
    }

    #[test]
    fn providers_count_by_recency() {
        let mut per = estimator("per-provider(weight=freshness,tau=100ms,k=0)");
        feed(&mut per, 0, 1, 100);
        feed(&mut per, 100, 2, 20);
        let e = libm::exp(-1.0);
        let expected = (e * 0.1 + 0.02) / (e + 1.0);
        assert!((per.rto().as_secs_f64() - expected).abs() < 1e-9);
        // Much later, only the last one counts; if all weights vanish, the mean is not a number.
        feed(&mut per, 100_000_000, 2, 20);
        assert_eq!(per.rto(), Duration::from_millis(20));
    }

    #[test]
    fn number_of_providers_is_limited() {
        let mut per = estimator("per-provider");
        (0..100_000).for_each(|provider| feed(&mut per, provider, provider, 50));
        assert_eq!(per.providers.len(), MOST);
    }
}
