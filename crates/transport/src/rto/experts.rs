//! `experts(experts=64,eta=0.5,share=0.01,penalty=8,quantile=0.95)`: fixed predictions that earn or lose trust.
//!
//! Source: the future work of Nikzad et al. 2022, section 6, with the fixed-share rule of Herbster and Warmuth (1998).
//! Each of the experts predicts one round-trip time, on a logarithmic grid from half of the least to four times the
//! greatest sample. After each sample weights are multiplied by exp(−η·loss) and a share of all weight is spread
//! evenly. The loss is asymmetric, in units of the mean round trip: its square where the prediction was too high,
//! `penalty` times the round trip where it was too low. The timeout is a quantile of the experts.
//!
//! Differences: all figures are ours [D]. Where a sample moves the ends of the grid, the weights move to the nearest
//! new experts.
use super::smoothed::{Gains, Smoothed, within};
use super::timing::Timing;
use super::{FACTOR, Question, RtoEstimator, RttSample};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

/// Smallest prediction, seconds.
const LEAST: f64 = 1e-6;
/// Loss above which an expert's weight would underflow.
const WORST: f64 = 500.0;

/// Weights of experts.
#[derive(Clone, Debug, PartialEq)]
pub struct Experts {
    experts: usize,
    eta: f64,
    share: f64,
    penalty: f64,
    quantile: f64,
    timing: Timing,
    /// Least and greatest sample, seconds.
    range: Option<(f64, f64)>,
    /// Ascending predictions, seconds.
    grid: Vec<f64>,
    /// Their sum is 1.
    weights: Vec<f64>,
    mean: Option<Smoothed>,
    timeout: Option<f64>,
}

impl Experts {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self {
            experts: 64,
            eta: 0.5,
            share: 0.01,
            penalty: 8.0,
            quantile: 0.95,
            timing: Timing::free(),
            range: None,
            grid: Vec::new(),
            weights: Vec::new(),
            mean: None,
            timeout: None,
        })
    }

    /// Extends the range for a sample beyond all before.
    fn stretch(&mut self, rtt: f64) {
        let (least, most) = self.range.unwrap_or((rtt, rtt));
        let range = (least.min(rtt), most.max(rtt));
        if self.range == Some(range) {
            return;
        }
        let (from, to) = ((range.0 / 2.0).max(LEAST), (range.1 * 4.0).max(2.0 * LEAST));
        let step = libm::log(to / from) / (self.experts - 1) as f64;
        let grid: Vec<f64> =
            (0..self.experts).map(|place| from * libm::exp(step * place as f64)).collect();
        let even = 1.0 / self.experts as f64;
        let mut weights = vec![if self.range.is_none() { even } else { 0.0 }; self.experts];
        for (prediction, weight) in self.grid.iter().zip(&self.weights) {
            let place = libm::round(libm::log(prediction / from) / step);
            weights[within(place, 0.0, (self.experts - 1) as f64) as usize] += weight;
        }
        (self.range, self.grid, self.weights) = (Some(range), grid, weights);
    }

    fn judge(&mut self, rtt: f64, unit: f64) {
        let Self { grid, weights, eta, penalty, .. } = self;
        let too_low = libm::exp(-(*eta * *penalty * rtt / unit).min(WORST));
        let mut total = 0.0;
        for (prediction, weight) in grid.iter().zip(&mut *weights) {
            let miss = (prediction - rtt) / unit;
            *weight *=
                if miss < 0.0 { too_low } else { libm::exp(-(*eta * miss * miss).min(WORST)) };
            total += *weight;
        }
        let (even, share) = (1.0 / weights.len() as f64, self.share);
        for weight in weights {
            let kept = if total > 0.0 { *weight / total } else { even };
            *weight = (1.0 - share) * kept + share * even;
        }
    }

    /// The least prediction at or below which that share of the weight lies.
    fn predict(&self) -> Option<f64> {
        let mut below = 0.0;
        let place = self.weights.iter().position(|weight| {
            below += weight;
            below >= self.quantile
        });
        self.grid.get(place.unwrap_or(self.grid.len().wrapping_sub(1))).copied()
    }
}

impl RtoEstimator for Experts {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let rtt = within(sample.rtt.as_secs_f64(), LEAST, self.timing.max.as_secs_f64());
        let gains = Gains::STEADY.divided(sample.divisor());
        let mean = Smoothed::feed(&mut self.mean, sample.rtt.as_secs_f64(), gains);
        self.stretch(rtt);
        self.judge(rtt, mean.srtt.max(LEAST));
        self.timeout = self.predict();
        self.timing.on_sample(rtt);
    }

    fn on_timeout(&mut self, _: Instant) {
        self.timing.on_timeout();
    }

    fn rto(&self) -> Duration {
        self.timing.timeout(self.timeout)
    }

    fn rto_for(&self, _: Instant, question: &Question) -> Duration {
        self.timing.timeout_for(self.timeout, question)
    }

    fn srtt(&self) -> Option<Duration> {
        self.mean.map(|mean| mean.rounded().0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.mean.map(|mean| mean.rounded().1)
    }
}

impl Described for Experts {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.whole("experts", &mut self.experts, 2..=1000, "a number of experts from 2 to 1000");
        each.number("eta", &mut self.eta, 0.0..=100.0, "a number from 0 to 100");
        each.number("share", &mut self.share, 1e-9..=1.0, "a number from 0.000000001 to 1");
        each.number("penalty", &mut self.penalty, 0.0..=1e6, FACTOR);
        each.number("quantile", &mut self.quantile, 0.0..=1.0, "a number from 0 to 1");
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(Experts, "experts");

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(text: &str, seconds: impl IntoIterator<Item = f64>) -> Experts {
        let mut experts = Experts::from_spec(Spec::parse(text).unwrap()).unwrap();
        for rtt in seconds {
            experts.on_sample(Instant::ZERO, &RttSample::new(0, Duration::from_secs_f64(rtt)));
        }
        experts
    }

    #[test]
    fn weight_moves_just_above_the_samples() {
        let rto = fed("experts", (0..300).map(|n| 0.1 + 0.01 * f64::from(n % 7))).rto();
        assert!(rto > Duration::from_millis(160) && rto < Duration::from_millis(400), "{rto:?}");
    }

    #[test]
    fn longer_round_trips_are_adopted_soon() {
        let steps = (0..200).map(|_| 0.02).chain((0..40).map(|_| 0.5));
        let rto = fed("experts", steps).rto();
        assert!(rto > Duration::from_millis(500), "{rto:?}");
    }

    #[test]
    fn a_higher_quantile_waits_longer() {
        let rto = |quantile: f64| {
            let text = format!("experts(quantile={quantile})");
            fed(&text, (0..100).map(|n| 0.05 * f64::from(1 + n % 3))).rto()
        };
        assert!(rto(0.5) <= rto(0.9) && rto(0.9) <= rto(0.999));
    }

    #[test]
    fn weights_stay_a_distribution() {
        let wild = (0..500).map(|n| libm::exp(f64::from(n * 37 % 40) - 25.0));
        let experts = fed("experts(eta=100,penalty=1000000)", wild);
        let total: f64 = experts.weights.iter().sum();
        assert!((total - 1.0).abs() < 1e-9 && experts.weights.iter().all(|it| *it > 0.0));
        assert!(experts.grid.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
