//! Smoothed round-trip time and mean deviation, the state of most estimators.
//!
//! Source: V. Jacobson (1988); RFC 6298 section 2, in the order of its 2.3: the deviation first, from the old
//! mean.
//!
//! Differences: none.
use crate::spec::Description;
use crate::time::Duration;

/// Both, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Smoothed {
    pub(super) srtt: f64,
    pub(super) rttvar: f64,
}

/// Gains of both, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gains {
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

impl Gains {
    pub(super) const STEADY: Self = Self { alpha: 1.0 / 8.0, beta: 1.0 / 4.0 };
    pub(super) const VERY_SLOW: Self = Self { alpha: 1.0 / 80.0, beta: 1.0 / 40.0 };

    /// Describes `alpha` and `beta`.
    pub(super) fn describe(&mut self, each: &mut Description<'_>) {
        let expected = "a number from 0 to 1, such as 1/8";
        each.number("alpha", &mut self.alpha, 0.0..=1.0, expected);
        each.number("beta", &mut self.beta, 0.0..=1.0, expected);
    }

    /// The gains divided (RFC 7323, appendix G).
    pub(super) fn divided(self, divisor: f64) -> Self {
        Self { alpha: self.alpha / divisor, beta: self.beta / divisor }
    }

    /// The gains of the `n`-th sample (from 1): all samples count alike until the gains themselves are larger.
    pub(super) fn at_least(self, n: u64) -> Self {
        let even = 1.0 / n.max(1) as f64;
        Self { alpha: self.alpha.max(even), beta: self.beta.max(even) }
    }
}

impl Smoothed {
    /// After the first sample.
    pub(super) fn first(rtt: f64) -> Self {
        Self { srtt: rtt, rttvar: rtt / 2.0 }
    }

    /// After one more sample.
    pub(super) fn next(self, rtt: f64, gains: Gains) -> Self {
        let Gains { alpha, beta } = gains;
        let rttvar = (1.0 - beta) * self.rttvar + beta * (self.srtt - rtt).abs();
        Self { srtt: (1.0 - alpha) * self.srtt + alpha * rtt, rttvar }
    }

    /// After one more sample, the deviation from the new mean: (1 − α)·|old mean − RTT| counts.
    pub(super) fn next_by_new_mean(self, rtt: f64, gains: Gains) -> Self {
        let Gains { alpha, beta } = gains;
        let srtt = (1.0 - alpha) * self.srtt + alpha * rtt;
        Self { srtt, rttvar: (1.0 - beta) * self.rttvar + beta * (srtt - rtt).abs() }
    }

    /// Takes one more sample in.
    pub(super) fn feed(place: &mut Option<Self>, rtt: f64, gains: Gains) -> Self {
        let after = place.map_or_else(|| Self::first(rtt), |before| before.next(rtt, gains));
        *place = Some(after);
        after
    }

    /// The smoothed time plus `k` deviations.
    pub(super) fn timeout(self, k: f64) -> f64 {
        self.srtt + k * self.rttvar
    }

    /// The smoothed time and the deviation, as durations.
    pub(super) fn rounded(self) -> (Duration, Duration) {
        (seconds(self.srtt), seconds(self.rttvar))
    }
}

/// `value` clamped to the range; NaN becomes the lower limit.
pub(super) fn within(value: f64, least: f64, most: f64) -> f64 {
    value.max(least).min(most)
}

/// Rounded to nanoseconds; the maximum is 584 years.
pub(super) fn seconds(value: f64) -> Duration {
    Duration::from_nanos((value * 1e9 + 0.5) as u64)
}
