//! Running statistics of values that are not kept.
//!
//! Mean and variance by Welford's recurrence (1962), which does not cancel. Differences: none.
use super::histogram::Histogram;
use recoup_transport::time::{Duration, Instant};

/// Number, mean, deviation and range of values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    range: Option<(f64, f64)>,
}

impl Moments {
    /// Takes in one more value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
        let (least, greatest) = self.range.unwrap_or((value, value));
        self.range = Some((least.min(value), greatest.max(value)));
    }

    /// Takes in all values of `other` (Chan, Golub and LeVeque, 1979).
    pub fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        if other.count == 0 {
            return;
        }
        let (ours, theirs, all) = (self.count as f64, other.count as f64, count as f64);
        let apart = other.mean - self.mean;
        self.squares += other.squares + apart * apart * ours * theirs / all;
        self.mean += apart * theirs / all;
        self.count = count;
        for value in other.range.into_iter().flat_map(|(least, greatest)| [least, greatest]) {
            let (least, greatest) = self.range.unwrap_or((value, value));
            self.range = Some((least.min(value), greatest.max(value)));
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The standard deviation of a sample.
    pub fn sd(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }

    /// The least value.
    pub fn min(&self) -> Option<f64> {
        self.range.map(|(least, _)| least)
    }

    /// The greatest value.
    pub fn max(&self) -> Option<f64> {
        self.range.map(|(_, greatest)| greatest)
    }
}

/// Durations that are not kept: their moments exactly, their quantiles within 0.1 %.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    moments: Moments,
    histogram: Histogram,
}

impl Durations {
    /// Takes in one more duration.
    pub fn add(&mut self, duration: Duration) {
        self.moments.add(duration.as_secs_f64());
        self.histogram.add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Takes in all durations of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.moments.merge(&other.moments);
        self.histogram.merge(&other.histogram);
    }

    /// Mean, deviation and range, in seconds.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The duration in seconds that the share `p` of all does not exceed.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        let seconds = self.histogram.quantile(p)? / 1e9;
        Some(seconds.clamp(self.moments.min()?, self.moments.max()?))
    }
}

/// Mean over time of a value that changes in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeMean {
    since: Option<(Instant, f64)>,
    /// Value times seconds, up to the last change.
    area: f64,
    seconds: f64,
    max: f64,
}

impl TimeMean {
    /// The value is `value` from `now` on.
    pub fn set(&mut self, now: Instant, value: f64) {
        self.max = if self.since.is_none() { value } else { self.max.max(value) };
        self.advance(now);
        self.since = Some((now, value));
    }

    /// Lets the value last until `now`.
    pub fn advance(&mut self, now: Instant) {
        if let Some((since, value)) = self.since {
            let lasted = now.since(since).as_secs_f64();
            self.area += value * lasted;
            self.seconds += lasted;
            self.since = Some((since.max(now), value));
        }
    }

    /// The value in force.
    pub fn current(&self) -> Option<f64> {
        self.since.map(|(_, value)| value)
    }

    /// Its mean up to the last change or [`TimeMean::advance`]; the value itself before any time has passed.
    pub fn mean(&self) -> Option<f64> {
        let (_, value) = self.since?;
        Some(if self.seconds > 0.0 { self.area / self.seconds } else { value })
    }

    /// The greatest value; `None` before the first.
    pub fn max(&self) -> Option<f64> {
        self.since.map(|_| self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_do_not_cancel_far_from_zero() {
        let mut moments = Moments::default();
        for value in [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0] {
            moments.add(value);
        }
        assert_eq!(moments.mean(), Some(1e9 + 10.0));
        assert!((moments.sd().unwrap() - 30.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!((moments.min(), moments.max()), (Some(1e9 + 4.0), Some(1e9 + 16.0)));
    }

    #[test]
    fn merged_moments_equal_moments_of_all() {
        let values = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0];
        let of = |values: &[f64]| {
            let mut moments = Moments::default();
            values.iter().for_each(|value| moments.add(*value));
            moments
        };
        let (mut merged, whole) = (of(&values[..2]), of(&values));
        merged.merge(&of(&values[2..]));
        merged.merge(&Moments::default());
        assert_eq!((merged.count(), merged.min(), merged.max()), (6, whole.min(), whole.max()));
        assert!((merged.mean().unwrap() - whole.mean().unwrap()).abs() < 1e-12);
        assert!((merged.sd().unwrap() - whole.sd().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn a_value_counts_as_long_as_it_lasts() {
        let mut window = TimeMean::default();
        assert_eq!(window.mean(), None);
        window.set(Instant::from_millis(1000), 2.0);
        assert_eq!(window.mean(), Some(2.0));
        window.set(Instant::from_millis(2000), 8.0);
        window.advance(Instant::from_millis(2500));
        assert_eq!(window.mean(), Some(4.0));
        assert_eq!((window.current(), window.max()), (Some(8.0), Some(8.0)));
    }

    #[test]
    fn quantiles_of_durations_lie_within_what_was_seen() {
        let mut durations = Durations::default();
        for _ in 0..10 {
            durations.add(Duration::from_nanos(60_123_457));
        }
        assert_eq!(durations.quantile(0.5), Some(0.060_123_457));
        assert_eq!(Durations::default().quantile(0.5), None);
    }
}
