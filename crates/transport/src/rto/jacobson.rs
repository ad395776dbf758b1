//! `jacobson(alpha=1/8,beta=1/4,k=4,init=1s,min=200ms,max=60s,backoff=2)`: smoothed round-trip time
//! plus `k` times its mean deviation. `rfc6298` is the same with `min=1s`, `yang2016` with
//! `min=0s,max=20s`, `nikzad2022` with `init=3s,min=0s,max=64s,global-backoff=false`.
//!
//! `gains` names both gains as Nikzad et al. do: `very-slow` (1/80, 1/40), `slow` (1/16, 1/8), `steady` (1/8, 1/4),
//! `fast` (1/2, 1), `very-fast` (1, 1: the last sample).
//!
//! Sources: V. Jacobson, "Congestion Avoidance and Control" (1988); RFC 6298 sections 2 and 5; for the division of the
//! gains RFC 7323 appendix G; for `yang2016` the consumer of S. Yang (2016), whose results only a timeout without a floor
//! explains; for `nikzad2022` and `gains` Nikzad et al. (2022), sections 3 and 4.
//!
//! Differences from RFC 6298:
//! - no clock granularity G (2.2, 2.3): the clock counts nanoseconds;
//! - a floor of 200 ms instead of 1 s (2.4), as consumers of named data use it; `rfc6298` has 1 s;
//! - back-off (5.5) happens once per accepted loss event, not once per expired timer, since every
//!   segment has a timer of its own; `backoff=1` switches it off. `global-backoff=false` has another: the
//!   shared estimate stays, and the timeout of an Interest grows with each of its own retransmissions;
//! - the estimate is kept after back-off (5.7 permits it): the next sample recomputes;
//! - `backoff-until=progress` does not wait for a sample, which may take long: if all segments in flight are
//!   retransmissions, there is none (Karn). As in QUIC, any answer ends the back-off (RFC 9002, 6.2.1). QUIC knows
//!   which transmission was answered. Here the timeout falls no further than to the time since the transmission
//!   before the last one. If the round trip of a path has become longer than the estimate, every segment is
//!   retransmitted, and the timeout still rises above it. If an answer came after that time, so does the next, and it
//!   is a sample. The key is printed only where it differs.
//!
//! `new-mean=true` takes the deviation from the new mean, as Nikzad et al. print their equations (2) and (3). With
//! `very-fast` the deviation is then 0.
use super::smoothed::{Gains, Smoothed, seconds, within};
use super::timing::{LONGEST, backed_off};
use super::{FACTOR, Question, RtoEstimator, RttSample, SHORTEST};
use crate::spec::{self, Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};
use std::fmt;

/// Gains by the names that Nikzad et al. give them.
const GAINS: [(&str, Gains); 5] = [
    ("very-slow", Gains::VERY_SLOW),
    ("slow", Gains { alpha: 1.0 / 16.0, beta: 1.0 / 8.0 }),
    ("steady", Gains::STEADY),
    ("fast", Gains { alpha: 1.0 / 2.0, beta: 1.0 }),
    ("very-fast", Gains { alpha: 1.0, beta: 1.0 }),
];

/// The parameters of [`Jacobson`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JacobsonSettings {
    /// Gain of the smoothed round-trip time, 0 to 1.
    pub alpha: f64,
    /// Gain of the mean deviation, 0 to 1.
    pub beta: f64,
    /// Mean deviations added to the smoothed round-trip time.
    pub k: f64,
    /// Timeout before the first sample.
    pub init: Duration,
    /// Shortest timeout.
    pub min: Duration,
    /// Longest timeout, back-off included.
    pub max: Duration,
    /// Factor of the timeout at a loss event, or with each retransmission.
    pub backoff: f64,
    /// Back-off is by loss event and for all Interests, or for each Interest by its retransmissions.
    pub global_backoff: bool,
    /// End of the back-off for all Interests.
    pub backoff_until: BackoffUntil,
    /// Whether the deviation is taken from the new mean.
    pub new_mean: bool,
}

/// End of a back-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackoffUntil {
    /// The next sample (RFC 6298, 5.7).
    #[default]
    Sample,
    /// Any answer, used as an upper bound of the round trip.
    Progress,
}

impl BackoffUntil {
    const WORDS: [(&str, Self); 2] = [("sample", Self::Sample), ("progress", Self::Progress)];
}

impl Default for JacobsonSettings {
    fn default() -> Self {
        Self {
            alpha: 1.0 / 8.0,
            beta: 1.0 / 4.0,
            k: 4.0,
            init: Duration::from_secs(1),
            min: Duration::from_millis(200),
            max: Duration::from_secs(60),
            backoff: 2.0,
            global_backoff: true,
            backoff_until: BackoffUntil::Sample,
            new_mean: false,
        }
    }
}

/// Jacobson's estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Jacobson {
    settings: JacobsonSettings,
    /// Shortest and longest timeout, seconds.
    bounds: (f64, f64),
    estimate: Option<Estimate>,
    rto: Duration,
}

/// Seconds, and the same as durations: they are read more often than they change.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    smoothed: Smoothed,
    rounded: (Duration, Duration),
}

impl Jacobson {
    /// An estimator in its initial state. Settings outside their ranges are clamped.
    pub fn new(settings: JacobsonSettings) -> Self {
        let max = settings.max.clamp(SHORTEST, LONGEST);
        let settings = JacobsonSettings {
            alpha: within(settings.alpha, 0.0, 1.0),
            beta: within(settings.beta, 0.0, 1.0),
            k: within(settings.k, 0.0, 1e6),
            init: settings.init.clamp(SHORTEST, LONGEST),
            min: settings.min.min(max),
            max,
            backoff: within(settings.backoff, 1.0, 1e6),
            ..settings
        };
        let least = settings.min.max(SHORTEST);
        let bounds = (least.as_secs_f64(), max.as_secs_f64());
        Self { settings, bounds, estimate: None, rto: settings.init.clamp(least, max) }
    }

    /// The limits of RFC 6298: at least one second.
    pub fn rfc6298() -> Self {
        Self::new(rfc6298())
    }

    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        Self::with_defaults(spec, JacobsonSettings::default())
    }

    pub(super) fn yang2016_from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (min, max) = (Duration::ZERO, Duration::from_secs(20));
        Self::with_defaults(spec, JacobsonSettings { min, max, ..JacobsonSettings::default() })
    }

    pub(super) fn rfc6298_from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        Self::with_defaults(spec, rfc6298())
    }

    pub(super) fn nikzad2022_from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let (init, max) = (Duration::from_secs(3), Duration::from_secs(64));
        let (min, global_backoff) = (Duration::ZERO, false);
        let default = JacobsonSettings::default();
        Self::with_defaults(spec, JacobsonSettings { init, min, max, global_backoff, ..default })
    }

    fn with_defaults(spec: Spec<'_>, default: JacobsonSettings) -> Result<Self, SpecError> {
        Ok(Self::new(spec.read(default)?))
    }

    /// The timeout without back-off.
    fn estimated(&self) -> Duration {
        let init = self.settings.init.as_secs_f64();
        let estimate = self.estimate.map(|it| it.smoothed.timeout(self.settings.k));
        self.clamp(estimate.unwrap_or(init))
    }

    fn clamp(&self, value: f64) -> Duration {
        let (least, most) = self.bounds;
        // Rounding must not exceed the limits.
        let (shortest, longest) = (self.settings.min.max(SHORTEST), self.settings.max);
        seconds(within(value, least, most)).clamp(shortest, longest)
    }
}

impl Default for Jacobson {
    fn default() -> Self {
        Self::new(JacobsonSettings::default())
    }
}

impl RtoEstimator for Jacobson {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let JacobsonSettings { alpha, beta, k, new_mean, .. } = self.settings;
        let gains = Gains { alpha, beta }.divided(sample.divisor());
        let rtt = sample.rtt.as_secs_f64();
        let smoothed = match self.estimate.map(|estimate| estimate.smoothed) {
            None => Smoothed::first(rtt),
            Some(before) if new_mean => before.next_by_new_mean(rtt, gains),
            Some(before) => before.next(rtt, gains),
        };
        self.estimate = Some(Estimate { smoothed, rounded: smoothed.rounded() });
        self.rto = self.clamp(smoothed.timeout(k));
    }

    fn on_timeout(&mut self, _: Instant) {
        if self.settings.global_backoff {
            self.rto = self.clamp(self.rto.as_secs_f64() * self.settings.backoff);
        }
    }

    fn on_progress(&mut self, _: Instant, elapsed: Duration) {
        if self.settings.backoff_until == BackoffUntil::Progress {
            self.rto = self.rto.min(self.estimated().max(self.clamp(elapsed.as_secs_f64())));
        }
    }

    fn rto_for(&self, _: Instant, question: &Question) -> Duration {
        let times = question.retransmissions;
        if self.settings.global_backoff || times == 0 {
            return self.rto;
        }
        let JacobsonSettings { backoff, max, .. } = self.settings;
        self.clamp(backed_off(self.rto.as_secs_f64(), backoff, times, max))
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn srtt(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.rounded.0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.estimate.map(|estimate| estimate.rounded.1)
    }
}

impl Described for JacobsonSettings {
    fn describe(&mut self, each: &mut Description<'_>) {
        let Self { alpha, beta, .. } = *self;
        let mut gains = Gains { alpha, beta };
        let expected = "very-slow, slow, steady, fast or very-fast";
        // A name sets both gains, which override it.
        let named = |spec: &mut Spec<'_>, it| spec.word("gains", it, &GAINS, expected);
        each.value("gains", &mut gains, named, |_| None);
        gains.describe(each);
        (self.alpha, self.beta) = (gains.alpha, gains.beta);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        each.duration("init", &mut self.init, SHORTEST);
        each.duration("min", &mut self.min, Duration::ZERO);
        each.duration("max", &mut self.max, SHORTEST);
        each.number("backoff", &mut self.backoff, 1.0..=1e6, "a number of 1 or more");
        each.boolean("global-backoff", &mut self.global_backoff);
        let (words, expected) = (&BackoffUntil::WORDS, "sample or progress");
        let until = |spec: &mut Spec<'_>, it| spec.word("backoff-until", it, words, expected);
        let printed = |it: &_| (*it == BackoffUntil::Progress).then(|| "progress".to_owned());
        each.value("backoff-until", &mut self.backoff_until, until, printed);
        let new_mean = |spec: &mut Spec<'_>, it| spec.boolean("new-mean", it);
        each.value("new-mean", &mut self.new_mean, new_mean, |it| it.then(|| "true".to_owned()));
        let Self { init, min, max, .. } = *self;
        let expected = "init and max of a day or less";
        each.check(max.max(init) <= LONGEST, "max", format_args!("{max:?}"), expected);
        each.check(min <= max, "min", format_args!("{min:?}"), "no more than max");
    }
}

impl fmt::Display for Jacobson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        spec::describe::print(f, "jacobson", &self.settings)
    }
}

fn rfc6298() -> JacobsonSettings {
    JacobsonSettings { min: Duration::from_secs(1), ..JacobsonSettings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(millis: u64, weight_divisor: f64) -> RttSample {
        RttSample { weight_divisor, ..RttSample::new(0, Duration::from_millis(millis)) }
    }

    fn fed(settings: JacobsonSettings, samples: &[(u64, f64)]) -> Jacobson {
        let mut jacobson = Jacobson::new(settings);
        for (millis, divisor) in samples {
            jacobson.on_sample(Instant::ZERO, &sample(*millis, *divisor));
        }
        jacobson
    }

    fn free() -> JacobsonSettings {
        JacobsonSettings { min: Duration::ZERO, ..JacobsonSettings::default() }
    }

    #[test]
    fn the_first_sample_gives_three_round_trips() {
        assert_eq!(Jacobson::default().rto(), Duration::from_secs(1));
        assert_eq!(fed(free(), &[(100, 1.0)]).rto(), Duration::from_millis(300));
    }

    #[test]
    fn the_deviation_is_taken_from_the_old_mean() {
        // RTTVAR = 3/4·50 + 1/4·|100 − 180| = 57.5; SRTT = 7/8·100 + 1/8·180 = 110.
        let jacobson = fed(free(), &[(100, 1.0), (180, 1.0)]);
        assert_eq!(jacobson.srtt(), Some(Duration::from_millis(110)));
        assert_eq!(jacobson.rttvar(), Some(Duration::from_micros(57_500)));
        assert_eq!(jacobson.rto(), Duration::from_millis(340));
    }

    #[test]
    fn last_sample_has_no_deviation_from_itself() {
        let last = JacobsonSettings { alpha: 1.0, beta: 1.0, new_mean: true, ..free() };
        let jacobson = fed(last, &[(100, 1.0), (180, 1.0)]);
        assert_eq!(jacobson.rto(), Duration::from_millis(180));
        let spec = jacobson.to_string();
        assert!(spec.ends_with("global-backoff=true,new-mean=true)"), "{spec}");
    }

    #[test]
    fn a_divisor_slows_both_gains() {
        // RTTVAR = 15/16·50 + 1/16·80 = 51.875; SRTT = 31/32·100 + 1/32·180 = 102.5.
        let jacobson = fed(free(), &[(100, 4.0), (180, 4.0)]);
        assert_eq!(jacobson.srtt(), Some(Duration::from_micros(102_500)));
        assert_eq!(jacobson.rttvar(), Some(Duration::from_micros(51_875)));
    }

    #[test]
    fn limits_hold() {
        assert_eq!(
            fed(JacobsonSettings::default(), &[(10, 1.0)]).rto(),
            Duration::from_millis(200)
        );
        assert_eq!(fed(free(), &[(90_000, 1.0)]).rto(), Duration::from_secs(60));
        assert_eq!(fed(free(), &[(0, 1.0)]).rto(), SHORTEST);
        assert_eq!(Jacobson::rfc6298().rto(), Duration::from_secs(1));
    }

    #[test]
    fn back_off_doubles_until_the_next_sample() {
        let mut jacobson = fed(free(), &[(100, 1.0)]);
        jacobson.on_timeout(Instant::ZERO);
        assert_eq!(jacobson.rto(), Duration::from_millis(600));
        for _ in 0..1_000 {
            jacobson.on_timeout(Instant::ZERO);
        }
        assert_eq!(jacobson.rto(), Duration::from_secs(60));
        jacobson.on_sample(Instant::ZERO, &sample(100, 1.0));
        assert_eq!(jacobson.rto(), Duration::from_millis(250));
    }

    #[test]
    fn answer_to_a_retransmission_limits_the_back_off() {
        let backed_off = |backoff_until| {
            let mut jacobson = fed(JacobsonSettings { backoff_until, ..free() }, &[(100, 1.0)]);
            (0..3).for_each(|_| jacobson.on_timeout(Instant::ZERO));
            assert_eq!(jacobson.rto(), Duration::from_millis(2_400));
            jacobson
        };
        let after = |backoff_until, millis| {
            let mut jacobson = backed_off(backoff_until);
            jacobson.on_progress(Instant::ZERO, Duration::from_millis(millis));
            jacobson.rto().as_millis()
        };
        for (elapsed, rto) in [(301, 301), (900, 900), (120, 300), (9_000, 2_400)] {
            assert_eq!(after(BackoffUntil::Progress, elapsed), rto);
            assert_eq!(after(BackoffUntil::Sample, elapsed), 2_400);
        }
        let mut unknown = backed_off(BackoffUntil::Progress);
        (unknown.estimate, unknown.rto) = (None, Duration::from_secs(8));
        unknown.on_progress(Instant::ZERO, Duration::ZERO);
        assert_eq!(unknown.rto(), Duration::from_secs(1), "no less than at first");
    }

    /// The round trip is longer than the timeout, so that each segment is retransmitted before its answer.
    #[test]
    fn timeout_reaches_longer_round_trips_with_progress() {
        for round_trip in [450_u64, 1_000, 3_300, 20_000] {
            let settings = JacobsonSettings { backoff_until: BackoffUntil::Progress, ..free() };
            let mut jacobson = fed(settings, &[(100, 1.0)]);
            let (mut now, mut rounds) = (Instant::ZERO, 0);
            while jacobson.rto() < Duration::from_millis(round_trip) {
                let (first, mut sent) = (now, vec![now]);
                while now + jacobson.rto() < first + Duration::from_millis(round_trip) {
                    now += jacobson.rto();
                    jacobson.on_timeout(now);
                    sent.push(now);
                }
                now = first + Duration::from_millis(round_trip);
                let before = sent[sent.len().saturating_sub(2)];
                jacobson.on_progress(now, now.since(before));
                rounds += 1;
                assert!(rounds < 5, "{round_trip}: {:?}", jacobson.rto());
            }
        }
    }

    #[test]
    fn gains_of_one_follow_the_last_sample() {
        // "Very fast": α = β = 1, the deviation must not vanish.
        let settings = JacobsonSettings { alpha: 1.0, beta: 1.0, ..free() };
        let jacobson = fed(settings, &[(100, 1.0), (180, 1.0)]);
        assert_eq!(jacobson.rto(), Duration::from_millis(180 + 4 * 80));
    }

    #[test]
    fn an_interest_backs_off_without_touching_the_others() {
        let settings = JacobsonSettings { global_backoff: false, ..free() };
        let mut jacobson = fed(settings, &[(100, 1.0)]);
        jacobson.on_timeout(Instant::ZERO);
        let of = |retransmissions| {
            let question = Question { retransmissions, ..Question::default() };
            jacobson.rto_for(Instant::ZERO, &question)
        };
        assert_eq!(jacobson.rto(), Duration::from_millis(300));
        assert_eq!((of(0), of(2)), (Duration::from_millis(300), Duration::from_millis(1_200)));
        assert_eq!(of(u32::MAX), Duration::from_secs(60));
    }

    #[test]
    fn gains_have_names() {
        let read = |text: &str| crate::rto::parse(text).unwrap().to_string();
        assert_eq!(read("jacobson(gains=very-slow)"), read("jacobson(alpha=1/80,beta=1/40)"));
        assert_eq!(read("jacobson(gains=very-fast,beta=1/2)"), read("jacobson(alpha=1,beta=1/2)"));
        assert_eq!(
            read("nikzad2022"),
            read("jacobson(init=3s,min=0s,max=64s,global-backoff=false)")
        );
    }
}
