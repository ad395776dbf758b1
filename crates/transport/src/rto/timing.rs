//! Common parts of the estimators of Nikzad et al.: the timeout before the first sample, limits, back-off.
//!
//! Source: Nikzad et al. 2022, section 3: 3 s at first, 64 s at most; a timeout doubles with each retransmission *of
//! that Interest*, never in the shared estimate, so that a first timeout is always the estimate itself.
//! `global-backoff=true` has what ndnSIM does: one factor for all, up to 64, which a sample resets.
//!
//! Differences: none.
use super::smoothed::{seconds, within};
use super::{Question, SHORTEST};
use crate::spec::{Description, Value};
use crate::time::Duration;
use crate::unit;

/// Longest maximum of a timeout.
pub(super) const LONGEST: Duration = Duration::from_secs(86_400);
/// Largest shared factor (ndnSIM).
const LARGEST_SHARED: f64 = 64.0;

/// Settings and the shared factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timing {
    pub(super) init: Duration,
    pub(super) floor: Floor,
    pub(super) max: Duration,
    pub(super) backoff: f64,
    pub(super) global_backoff: bool,
    /// 1 after each sample.
    shared: f64,
}

/// The shortest timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Floor {
    /// A constant.
    Fixed(Duration),
    /// The mean of all samples so far, once there are enough.
    Adaptive(Mean),
}

impl Floor {
    fn text(&self) -> String {
        match self {
            Self::Fixed(min) => unit::print_compact_duration(*min),
            Self::Adaptive(_) => "adaptive".to_owned(),
        }
    }
}

/// The mean of all samples so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mean {
    count: u64,
    seconds: f64,
}

impl Mean {
    /// Number of samples from which on the mean is a floor [D].
    const ENOUGH: u64 = 20;

    fn add(&mut self, rtt: f64) {
        self.count += 1;
        self.seconds += (rtt - self.seconds) / self.count as f64;
    }

    fn floor(self) -> f64 {
        if self.count < Self::ENOUGH { 0.0 } else { self.seconds }
    }
}

impl Timing {
    /// The timing of the paper, with this floor.
    pub(super) fn with_floor(floor: Floor) -> Self {
        let (init, max) = (Duration::from_secs(3), Duration::from_secs(64));
        Self { init, floor, max, backoff: 2.0, global_backoff: false, shared: 1.0 }
    }

    /// Without a floor.
    pub(super) fn free() -> Self {
        Self::with_floor(Floor::Fixed(Duration::ZERO))
    }

    /// Describes `init`, `min`, `max`, `backoff` and `global-backoff`.
    pub(super) fn describe(&mut self, each: &mut Description<'_>) {
        each.duration("init", &mut self.init, SHORTEST);
        each.text("min", &mut self.floor, FLOOR, floor, Floor::text);
        each.duration("max", &mut self.max, SHORTEST);
        each.number("backoff", &mut self.backoff, 1.0..=1e6, "a number of 1 or more");
        each.boolean("global-backoff", &mut self.global_backoff);
        let (init, max) = (self.init, self.max);
        let expected = "init and max of a day or less";
        each.check(max.max(init) <= LONGEST, "max", format_args!("{max:?}"), expected);
        if let Floor::Fixed(min) = self.floor {
            each.check(min <= max, "min", format_args!("{min:?}"), "no more than max");
        }
    }

    /// Records a sample.
    pub(super) fn on_sample(&mut self, rtt: f64) {
        self.shared = 1.0;
        if let Floor::Adaptive(mean) = &mut self.floor {
            mean.add(rtt);
        }
    }

    /// Records an accepted loss event.
    pub(super) fn on_timeout(&mut self) {
        if self.global_backoff {
            self.shared = (self.shared * self.backoff).min(LARGEST_SHARED);
        }
    }

    /// The timeout for an estimate in seconds; `None` before any sample.
    pub(super) fn timeout(&self, estimate: Option<f64>) -> Duration {
        self.bounded(self.raw(estimate) * self.shared)
    }

    /// Timeout of one Interest for an estimate in seconds.
    pub(super) fn timeout_for(&self, estimate: Option<f64>, question: &Question) -> Duration {
        let raw = self.raw(estimate) * self.shared;
        if self.global_backoff {
            return self.bounded(raw);
        }
        self.bounded(backed_off(raw, self.backoff, question.retransmissions, self.max))
    }

    /// The estimate in seconds, within its limits.
    fn raw(&self, estimate: Option<f64>) -> f64 {
        let least = match self.floor {
            Floor::Fixed(min) => min.as_secs_f64(),
            Floor::Adaptive(mean) => mean.floor(),
        };
        let estimate = estimate.unwrap_or(self.init.as_secs_f64());
        within(estimate, least, self.max.as_secs_f64())
    }

    /// Rounding must not exceed the limits.
    fn bounded(&self, value: f64) -> Duration {
        let least = match self.floor {
            Floor::Fixed(min) => min.max(SHORTEST),
            Floor::Adaptive(_) => SHORTEST,
        };
        seconds(within(value, 0.0, self.max.as_secs_f64())).clamp(least.min(self.max), self.max)
    }
}

/// `seconds` multiplied by `factor` `times` times, at most `max`. A zero estimate grows, too: from the shortest
/// timeout on.
pub(super) fn backed_off(seconds: f64, factor: f64, times: u32, max: Duration) -> f64 {
    if times == 0 {
        return seconds;
    }
    let seconds = seconds.max(SHORTEST.as_secs_f64());
    // An overflow is infinite, and so at most `max`.
    (seconds * libm::pow(factor, f64::from(times))).min(max.as_secs_f64())
}

const FLOOR: &str = "a duration such as 100ms, or adaptive";

fn floor(value: Value<'_>) -> Option<Floor> {
    match value {
        Value::Text("adaptive") => Some(Floor::Adaptive(Mean::default())),
        value => value.duration().map(Floor::Fixed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(retransmissions: u32) -> Question {
        Question { retransmissions, ..Question::default() }
    }

    #[test]
    fn each_interest_backs_off_for_itself() {
        let mut timing = Timing::free();
        timing.on_timeout();
        let of = |times| timing.timeout_for(Some(0.25), &after(times));
        assert_eq!(of(0), Duration::from_millis(250));
        assert_eq!(of(3), Duration::from_secs(2));
        assert_eq!((of(8), of(u32::MAX)), (Duration::from_secs(64), Duration::from_secs(64)));
    }

    #[test]
    fn zero_estimate_backs_off() {
        let of = |times| Timing::free().timeout_for(Some(0.0), &after(times));
        assert_eq!((of(0), of(1), of(10)), (SHORTEST, 2 * SHORTEST, 1024 * SHORTEST));
    }

    #[test]
    fn shared_back_off_is_reset_by_a_sample() {
        let mut timing = Timing { global_backoff: true, ..Timing::free() };
        (0..10).for_each(|_| timing.on_timeout());
        assert_eq!(timing.timeout_for(Some(0.5), &after(4)), Duration::from_secs(32));
        timing.on_sample(0.5);
        assert_eq!(timing.timeout_for(Some(0.5), &after(4)), Duration::from_millis(500));
    }

    #[test]
    fn adaptive_floor_is_the_mean_of_samples() {
        let mut timing = Timing::with_floor(Floor::Adaptive(Mean::default()));
        for n in 1..20 {
            timing.on_sample(if n % 2 == 0 { 0.08 } else { 0.12 });
        }
        assert_eq!(timing.timeout(Some(0.001)), Duration::from_millis(1));
        timing.on_sample(0.08);
        assert_eq!(timing.timeout(Some(0.001)), Duration::from_millis(100));
        assert_eq!(timing.timeout(None), Duration::from_secs(3));
    }
}
