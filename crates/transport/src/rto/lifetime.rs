//! Timers that set the Interest lifetime: forwarders drop the Interest when the consumer retransmits.
//!
//! Source: von Rotz, Anastasiades and Braun (2015), section 2. The lifetime `IL` is both in the packet, so that
//! forwarders keep the Interest for that time, and the consumer's retransmission timer. All segments share one `IL`;
//! a change affects later Interests. It is 4 s at first and at most, and at least 100 ms (`tcp`: 1 s). Round trips
//! count from the first transmission of a segment. The constant baseline is [`constant`](super::Constant).
//!
//! Differences: none that all of them share.
use super::smoothed::{seconds, within};
use super::timing::LONGEST;
use super::{RttSample, SHORTEST};
use crate::spec::Description;
use crate::time::Duration;

/// Methods of a timer whose timeout is the lifetime in one field. Another field may have the estimate of the round trip.
macro_rules! lifetime_timer {
    ($($lifetime:ident).+) => {
        fn sets_lifetime(&self) -> bool {
            true
        }

        fn rto(&self) -> Duration {
            self.$($lifetime).+.now
        }
    };
    ($($lifetime:ident).+, $($estimate:ident).+) => {
        lifetime_timer!($($lifetime).+);

        fn srtt(&self) -> Option<Duration> {
            self.$($estimate).+.map(|it| it.rounded().0)
        }

        fn rttvar(&self) -> Option<Duration> {
            self.$($estimate).+.map(|it| it.rounded().1)
        }
    };
}

mod ccntimer;
mod chopcop;
mod icp;
mod patience;
mod per_source;
mod tcp;
mod timeest;
mod wma;

pub use ccntimer::CcnTimer;
pub use chopcop::Chopcop;
pub use icp::Icp;
pub use per_source::{PerSource, PerSourceSettings};
pub use tcp::Tcp;
pub use timeest::Timeest;
pub use wma::Wma;

/// The default of CCNx, and the longest lifetime of the paper.
const DEFAULT: Duration = Duration::from_secs(4);
/// The shortest lifetime of all but `tcp`.
const LEAST: Duration = Duration::from_millis(100);

/// A lifetime within its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lifetime {
    init: Duration,
    min: Duration,
    max: Duration,
    now: Duration,
}

impl Lifetime {
    /// A lifetime of 4 s, the maximum, and of `min` or more.
    fn new(min: Duration) -> Self {
        Self { init: DEFAULT, min, max: DEFAULT, now: DEFAULT }
    }

    /// Describes `init`, `min` and `max`, and begins with `init`.
    fn describe(&mut self, each: &mut Description<'_>) {
        each.duration("init", &mut self.init, SHORTEST);
        each.duration("min", &mut self.min, SHORTEST);
        each.duration("max", &mut self.max, SHORTEST);
        let Self { init, min, max, .. } = *self;
        let expected = "init no longer than max, and max of a day or less";
        each.check(max <= LONGEST && init <= max, "max", format_args!("{max:?}"), expected);
        each.check(min <= init, "min", format_args!("{min:?}"), "no more than init and max");
        self.now = init;
    }

    /// Sets the lifetime in seconds, within its limits.
    fn set(&mut self, value: f64) {
        let (min, max) = (self.min.as_secs_f64(), self.max.as_secs_f64());
        self.now = seconds(within(value, min, max)).clamp(self.min, self.max);
    }

    /// Multiplies the lifetime by a factor of 1 or more, up to its limit.
    fn stretch(&mut self, factor: f64) {
        let longer = seconds(self.now.as_secs_f64() * factor);
        self.now = longer.clamp(self.now, self.max);
    }

    /// Resets the lifetime to the initial one, unless it is longer.
    fn restart(&mut self) {
        self.now = self.now.max(self.init);
    }
}

/// Describes the factor of a lifetime at a timeout.
fn describe_backoff(each: &mut Description<'_>, backoff: &mut f64) {
    each.number("backoff", backoff, 1.0..=1e6, "a number of 1 or more");
}

/// Round-trip time of a sample, in seconds.
fn round_trip(sample: &RttSample) -> f64 {
    sample.rtt.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rto::{Answer, RtoEstimator};
    use crate::time::Instant;

    /// An answer after this many milliseconds, without timeouts.
    pub(super) fn answer(timer: &mut dyn RtoEstimator, millis: u64) {
        late_answer(timer, millis, 0);
    }

    /// An answer after this many milliseconds and timeouts.
    pub(super) fn late_answer(timer: &mut dyn RtoEstimator, millis: u64, timeouts: u32) {
        let sample = RttSample::new(0, Duration::from_millis(millis));
        timer.on_answer(Instant::ZERO, &Answer { sample, timeouts });
    }

    /// The timers of the paper; `per-source` wraps one of them.
    fn all() -> impl Iterator<Item = &'static str> {
        let sets = |name: &str| crate::rto::parse(name).expect("a timer").sets_lifetime();
        crate::rto::names().filter(move |name| *name != "per-source" && sets(name))
    }

    #[test]
    fn lifetimes_begin_at_four_seconds_the_maximum() {
        for text in all() {
            let mut timer = crate::rto::parse(text).expect("a timer");
            assert!(timer.sets_lifetime(), "{text}");
            assert_eq!(timer.rto(), DEFAULT, "{text}");
            (0..30).for_each(|_| answer(&mut *timer, 60_000));
            assert_eq!(timer.rto(), DEFAULT, "{text}");
            (1..9).for_each(|timeouts| timer.on_expiry(Instant::ZERO, timeouts));
            assert_eq!(timer.rto(), DEFAULT, "{text}");
        }
    }

    #[test]
    fn only_tcp_has_a_minimum_of_one_second() {
        for text in all() {
            let mut timer = crate::rto::parse(text).expect("a timer");
            (0..100).for_each(|_| answer(&mut *timer, 2));
            let least = if text == "tcp" { Duration::from_secs(1) } else { LEAST };
            assert_eq!(timer.rto(), least, "{text}");
        }
    }

    #[test]
    fn only_icp_samples_retransmitted_segments() {
        for text in all() {
            let mut timer = crate::rto::parse(text).expect("a timer");
            (0..100).for_each(|_| answer(&mut *timer, 500));
            let before = timer.rto();
            (0..20).for_each(|_| late_answer(&mut *timer, 3_000, 1));
            assert_eq!(timer.rto() != before, text == "icp", "{text}");
        }
    }

    #[test]
    fn contradictory_limits_are_an_error() {
        for text in ["tcp(max=500ms)", "wma(init=5s)", "icp(min=5s)", "timeest(max=86401s)"] {
            assert!(crate::rto::parse(text).is_err(), "{text}");
        }
        assert!(crate::rto::parse("ccntimer(init=3s,max=8s)").is_ok());
    }
}
