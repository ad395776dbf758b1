//! `weighted-median(window=32,decay=0.1,k=5)`: a robust mean, insensitive to outliers.
//!
//! Source: the future work of Nikzad et al. 2022, section 6: recursive linear filters are poor on impulsive round-trip
//! times. Over a window of samples with weights (1−λ)^age, `M` is the weighted median and `D` the weighted median of
//! the distances from it; RTO = M + k·1.4826·D (the factor makes D a standard deviation where the samples are normal),
//! with a floor as [`reconsidered`](super::Reconsidered).
//!
//! Differences: none; window, decay and k are ours [D].
use super::smoothed::{Smoothed, seconds};
use super::timing::{Floor, Timing};
use super::{FACTOR, Question, RtoEstimator, RttSample};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Factor from the median distance of normal samples to their standard deviation.
const NORMAL: f64 = 1.4826;
const LONGEST_WINDOW: usize = 256;

/// Medians of the last samples.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedMedian {
    decay: f64,
    k: f64,
    timing: Timing,
    window: usize,
    /// Seconds, the latest first.
    samples: VecDeque<f64>,
    /// Weights, the latest first.
    weights: Vec<f64>,
    /// Median, and median distance.
    medians: Option<(f64, f64)>,
}

impl WeightedMedian {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let timing = Timing::with_floor(Floor::Fixed(Duration::from_millis(100)));
        let (samples, weights, medians) = (VecDeque::new(), Vec::new(), None);
        let default = Self { decay: 0.1, k: 5.0, timing, window: 32, samples, weights, medians };
        let read = spec.read(default)?;
        let weight = |weight: &f64| Some(weight * (1.0 - read.decay));
        let weights = std::iter::successors(Some(1.0), weight).take(read.window).collect();
        Ok(Self { weights, samples: VecDeque::with_capacity(read.window), ..read })
    }

    fn medians(&self) -> (f64, f64) {
        let pair = |(sample, weight): (&f64, &f64)| (*sample, *weight);
        let mut pairs: Vec<(f64, f64)> = self.samples.iter().zip(&self.weights).map(pair).collect();
        let median = weighted_median(&mut pairs);
        pairs.iter_mut().for_each(|(sample, _)| *sample = (*sample - median).abs());
        (median, weighted_median(&mut pairs))
    }

    fn seconds(&self) -> Option<f64> {
        let (srtt, rttvar) = self.medians?;
        Some(Smoothed { srtt, rttvar }.timeout(self.k * NORMAL))
    }
}

/// The least value at or below which half of the weight lies.
fn weighted_median(pairs: &mut [(f64, f64)]) -> f64 {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = pairs.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for (value, weight) in &*pairs {
        below += weight;
        if below >= half {
            return *value;
        }
    }
    pairs.last().map_or(0.0, |(value, _)| *value)
}

impl RtoEstimator for WeightedMedian {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let rtt = sample.rtt.as_secs_f64();
        self.samples.truncate(self.window - 1);
        self.samples.push_front(rtt);
        self.medians = Some(self.medians());
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
        self.medians.map(|(median, _)| seconds(median))
    }

    fn rttvar(&self) -> Option<Duration> {
        self.medians.map(|(_, distance)| seconds(distance))
    }
}

impl Described for WeightedMedian {
    fn describe(&mut self, each: &mut Description<'_>) {
        let samples = "a number of samples from 1 to 256";
        each.whole("window", &mut self.window, 1..=LONGEST_WINDOW, samples);
        each.number("decay", &mut self.decay, 0.0..=0.99, "a number from 0 to 0.99");
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(WeightedMedian, "weighted-median");

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(text: &str, millis: &[u64]) -> WeightedMedian {
        let mut median = WeightedMedian::from_spec(Spec::parse(text).unwrap()).unwrap();
        for rtt in millis {
            median.on_sample(Instant::ZERO, &RttSample::new(0, Duration::from_millis(*rtt)));
        }
        median
    }

    #[test]
    fn one_exception_changes_nothing() {
        let usual = [100, 102, 98, 100, 101, 99, 100];
        let text = "weighted-median(min=0ms)";
        let with_exception: Vec<u64> = usual.iter().copied().chain([5_000, 100]).collect();
        let (without, with) = (fed(text, &usual).rto(), fed(text, &with_exception).rto());
        assert!(with < Duration::from_millis(120) && without < with * 2, "{without:?} {with:?}");
    }

    #[test]
    fn latest_sample_weighs_most() {
        // Weights 1, 1/2, 1/4, 1/8, the latest first: the latest alone is more than half of them.
        let median = fed("weighted-median(decay=0.5,window=4,k=0,min=0ms)", &[9, 9, 9, 7]);
        assert_eq!(median.rto(), Duration::from_millis(7));
    }

    #[test]
    fn window_has_the_configured_length() {
        let median = fed("weighted-median(decay=0,window=3,k=0,min=0ms)", &[1, 1, 1, 1, 8, 8]);
        assert_eq!((median.rto(), median.samples.len()), (Duration::from_millis(8), 3));
    }

    #[test]
    fn the_median_distance_is_widened_to_a_deviation() {
        // Median 20, distances 10, 0, 10, so D = 10.
        let median = fed("weighted-median(decay=0,window=3,k=2,min=0ms)", &[10, 20, 30]);
        let expected = 0.02 + 2.0 * NORMAL * 0.01;
        assert!((median.rto().as_secs_f64() - expected).abs() < 1e-8);
    }
}
