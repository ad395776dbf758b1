//! `nearness(k=4.2,trust=64)`: a content takes about as long as contents that were as near the last time.
//!
//! Source: the aim of Nikzad et al. 2022, fewer spurious timeouts *and* less waiting where caches answer. How near a
//! content is cached shows in its latest round trip R, or, for a content without any, in the latest of all. The
//! *band* of an Interest is the power of four, in nanoseconds, below R, and whether R was of the content itself. There
//! are four estimates: of all contents, of the band, of the contents below one prefix, and of those of both. Each
//! leans on the wider one before it until it has samples of its own: with `n` of them its share is
//! λ = n / (n + trust).
//!
//! ```text
//! est ← λ·est_own + (1 − λ)·est,   est = (SRTT, RTTVAR), from the estimate of all to that of band and prefix
//! RTO = SRTT + RTTVAR·(k + ln(SRTT/RTTVAR))
//! ```
//!
//! The number of deviations follows from the cost of waiting. Suppose that round trips beyond the mean M fall off
//! exponentially with the deviation D. A timeout after M + x·D is then spurious with a probability of about exp(−x).
//! A second of waiting for a lost packet costs in proportion to 1/M, as in the study's W. The sum of both is least at
//! x = k + ln(M/D), where `k` is the relative cost of a spurious timeout.
//!
//! The first samples of an estimate count alike (gains of at least 1/n), then with gains of 1/40.
//!
//! Differences: the band of a sample is that of the time at which the Data arrives. If the latest round trip changed
//! after the Interest was sent, the timeout came from another band. Above `contents` contents and 128 prefixes the
//! one unchanged for longest is forgotten.
use super::bounded::Bounded;
use super::smoothed::{Gains, Smoothed};
use super::timing::Timing;
use super::{FACTOR, Question, RtoEstimator, RttSample, Target};
use crate::spec::{Described, Description, Spec, SpecError};
use crate::time::{Duration, Instant};

const MOST_PREFIXES: usize = 128;
/// Powers of four in the nanoseconds of a round trip; longer ones count as 4³¹ ns, some 146 years.
const POWERS: usize = 32;
/// Bands of contents with a known round trip, then bands of all others.
const BANDS: usize = 2 * POWERS;
/// Least deviation, as a part of the mean.
const LEAST_DEVIATION: f64 = 1e-9;

/// Estimates by the latest round trip and the prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearness {
    gains: Gains,
    k: f64,
    trust: f64,
    most_contents: usize,
    timing: Timing,
    all: Counted,
    bands: [Counted; BANDS],
    prefixes: Bounded<Prefix>,
    /// The power of four of the latest round trip of each content.
    contents: Bounded<usize>,
    /// The power of four of the latest round trip of all.
    latest: usize,
}

/// The estimates of one prefix: of all its contents, and of those in each band.
#[derive(Clone, Debug, PartialEq)]
struct Prefix {
    all: Counted,
    bands: Box<[Counted; BANDS]>,
}

/// An estimate, and its number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    samples: u64,
    estimate: Option<Smoothed>,
}

impl Counted {
    fn feed(&mut self, rtt: f64, gains: Gains) {
        self.samples += 1;
        Smoothed::feed(&mut self.estimate, rtt, gains.at_least(self.samples));
    }

    /// The estimate, leaning on a `wider` one.
    fn lean_on(&self, wider: Smoothed, trust: f64) -> Smoothed {
        let Some(estimate) = self.estimate else {
            return wider;
        };
        let samples = self.samples as f64;
        let share = samples / (samples + trust);
        let between = |own: f64, wider: f64| share * own + (1.0 - share) * wider;
        Smoothed {
            srtt: between(estimate.srtt, wider.srtt),
            rttvar: between(estimate.rttvar, wider.rttvar),
        }
    }
}

impl Prefix {
    fn new() -> Self {
        Self { all: Counted::default(), bands: Box::new([Counted::default(); BANDS]) }
    }
}

/// The power of four in the nanoseconds of a round trip, below [`POWERS`]; 0 for none.
fn power(rtt: Duration) -> usize {
    (rtt.as_nanos().checked_ilog2().unwrap_or(0) as usize / 2).min(POWERS - 1)
}

impl Nearness {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        let read = spec.read(Self {
            gains: Gains { alpha: 1.0 / 40.0, beta: 1.0 / 40.0 },
            k: 4.2,
            trust: 64.0,
            most_contents: 4096,
            timing: Timing::free(),
            all: Counted::default(),
            bands: [Counted::default(); BANDS],
            prefixes: Bounded::new(MOST_PREFIXES),
            contents: Bounded::new(0),
            latest: 0,
        })?;
        Ok(Self { contents: Bounded::new(read.most_contents), ..read })
    }

    /// The band of a content.
    fn band(&self, content: u64) -> usize {
        self.contents.get(content).copied().unwrap_or(POWERS + self.latest)
    }

    /// Mean and deviation of a content.
    fn estimate(&self, target: Target) -> Option<Smoothed> {
        let band = self.band(target.content);
        let mut estimate = self.bands[band].lean_on(self.all.estimate?, self.trust);
        if let Some(prefix) = self.prefixes.get(target.class) {
            estimate = prefix.all.lean_on(estimate, self.trust);
            estimate = prefix.bands[band].lean_on(estimate, self.trust);
        }
        Some(estimate)
    }

    /// The timeout for an estimate.
    fn timeout(&self, estimate: Smoothed) -> f64 {
        let Smoothed { srtt, rttvar } = estimate;
        // Equal round trips leave a deviation too small for the quotient.
        let ratio = srtt / rttvar.max(LEAST_DEVIATION * srtt);
        let factor = if rttvar > 0.0 {
            (self.k + libm::log(ratio.max(f64::MIN_POSITIVE))).max(0.0)
        } else {
            self.k
        };
        estimate.timeout(factor)
    }
}

impl RtoEstimator for Nearness {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let (rtt, Target { content, class }) = (sample.rtt.as_secs_f64(), sample.target);
        let gains = self.gains.divided(sample.divisor());
        let band = self.band(content);
        self.all.feed(rtt, gains);
        self.bands[band].feed(rtt, gains);
        let prefix = self.prefixes.change(class, Prefix::new);
        prefix.all.feed(rtt, gains);
        prefix.bands[band].feed(rtt, gains);
        self.latest = power(sample.rtt);
        *self.contents.change(content, || 0) = self.latest;
        self.timing.on_sample(rtt);
    }

    fn on_timeout(&mut self, _: Instant) {
        self.timing.on_timeout();
    }

    fn rto(&self) -> Duration {
        self.timing.timeout(self.all.estimate.map(|all| self.timeout(all)))
    }

    fn rto_for(&self, _: Instant, question: &Question) -> Duration {
        let estimate = self.estimate(question.target);
        self.timing.timeout_for(estimate.map(|own| self.timeout(own)), question)
    }

    fn needs_samples_only(&self) -> bool {
        false
    }

    fn srtt(&self) -> Option<Duration> {
        self.all.estimate.map(|estimate| estimate.rounded().0)
    }

    fn rttvar(&self) -> Option<Duration> {
        self.all.estimate.map(|estimate| estimate.rounded().1)
    }
}

impl Described for Nearness {
    fn describe(&mut self, each: &mut Description<'_>) {
        self.gains.describe(each);
        each.number("k", &mut self.k, 0.0..=1e6, FACTOR);
        let trust = "a number from 0.001 to 1000000000";
        each.number("trust", &mut self.trust, 0.001..=1e9, trust);
        let contents = "a number of contents from 1 to 1048576";
        each.whole("contents", &mut self.most_contents, 1..=1 << 20, contents);
        self.timing.describe(each);
    }
}

recoup_core::print_as_spec!(Nearness, "nearness");

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(text: &str) -> Nearness {
        Nearness::from_spec(Spec::parse(text).unwrap()).unwrap()
    }

    fn feed(estimator: &mut Nearness, content: u64, class: u64, millis: u64) {
        let sample = RttSample::new(0, Duration::from_millis(millis));
        let target = Target { content, class };
        estimator.on_sample(Instant::ZERO, &RttSample { target, ..sample });
    }

    fn rto_of(estimator: &Nearness, content: u64, class: u64) -> f64 {
        let target = Target { content, class };
        let question = Question { target, retransmissions: 0 };
        estimator.rto_for(Instant::ZERO, &question).as_secs_f64()
    }

    #[test]
    fn near_content_has_a_short_timeout() {
        let mut nearness = estimator("nearness");
        for n in 0..2_000 {
            feed(&mut nearness, n % 8, 0, 10);
            feed(&mut nearness, 1_000 + n % 500, 0, 150 + n % 7);
        }
        let (near, far) = (rto_of(&nearness, 1, 0), rto_of(&nearness, 1_001, 0));
        assert!(near < 0.03 && far > 0.15, "{near} {far}");
        // It was far once: the next timeout is that of far contents.
        feed(&mut nearness, 1, 0, 150);
        assert_eq!(rto_of(&nearness, 1, 0), rto_of(&nearness, 1_001, 0));
    }

    #[test]
    fn new_content_uses_the_latest_of_all() {
        // A hundred segments from a cache, then a hundred from the producer, and so on.
        let mut nearness = estimator("nearness(trust=8)");
        for n in 0..2_000 {
            feed(&mut nearness, n, 0, if n / 100 % 2 == 0 { 5 } else { 80 });
        }
        let far = rto_of(&nearness, 9_999, 0);
        (2_000..2_010).for_each(|n| feed(&mut nearness, n, 0, 5));
        let near = rto_of(&nearness, 9_999, 0);
        assert!(far > 0.08 && near < far, "{near} {far}");
    }

    #[test]
    fn prefixes_have_estimates_of_their_own() {
        let mut nearness = estimator("nearness");
        for n in 0..4_000 {
            feed(&mut nearness, 2 * n, 0, 20);
            feed(&mut nearness, 2 * n + 1, 1, 24);
        }
        let (one, other) = (rto_of(&nearness, 9_998, 0), rto_of(&nearness, 9_999, 1));
        assert!(one < 0.023 && other > 0.024, "{one} {other}");
    }

    #[test]
    fn few_samples_lean_on_the_wider_estimate() {
        let mut nearness = estimator("nearness(k=0,trust=1)");
        let estimate = |nearness: &Nearness, content| {
            nearness.estimate(Target { content, class: 0 }).unwrap().srtt
        };
        feed(&mut nearness, 1, 0, 100);
        assert_eq!(estimate(&nearness, 1), 0.1);
        feed(&mut nearness, 2, 0, 40);
        feed(&mut nearness, 1, 0, 100);
        // The second sample is that of a new content after a round trip of 100 ms.
        let after = nearness.bands[POWERS + power(Duration::from_millis(100))];
        assert_eq!((after.samples, after.estimate.unwrap().srtt), (1, 0.04));
        // All and prefix: 80. The band of contents that took 100 ms has one sample of 100.
        let expected = [(0.5, 0.1), (0.75, 0.08), (0.5, 0.1)]
            .iter()
            .fold(0.08, |wider, (share, own)| share * own + (1.0 - share) * wider);
        assert!((estimate(&nearness, 1) - expected).abs() < 1e-9, "{}", estimate(&nearness, 1));
    }

    #[test]
    fn varying_round_trips_add_fewer_deviations() {
        let factor = |spread: u64| {
            let mut nearness = estimator("nearness(k=4,trust=1000000000)");
            (0..4_000).for_each(|n| feed(&mut nearness, 1, 0, 100 + spread * (n % 2)));
            let all = nearness.all.estimate.unwrap();
            (rto_of(&nearness, 1, 0) - all.srtt) / all.rttvar
        };
        // 102.5 ± 2.5 and 150 ± 50 ms: 4 + ln(41) and 4 + ln(3), about.
        let (steady, varied) = (factor(5), factor(100));
        assert!((steady - 7.7).abs() < 0.2 && (varied - 5.1).abs() < 0.2, "{steady} {varied}");
    }

    #[test]
    fn constant_round_trips_have_a_close_timeout() {
        let mut nearness = estimator("nearness");
        (0..100_000).for_each(|_| feed(&mut nearness, 1, 0, 10));
        let rto = rto_of(&nearness, 1, 0);
        assert!((0.01..0.010_01).contains(&rto), "{rto}");
    }

    #[test]
    fn hostile_names_and_times_are_bounded() {
        let mut nearness = estimator("nearness(contents=100)");
        for n in 0..10_000_u64 {
            let rtt = Duration::from_nanos(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let target = Target { content: n, class: u64::MAX - n };
            nearness.on_sample(Instant::ZERO, &RttSample { target, ..RttSample::new(n, rtt) });
        }
        assert_eq!((nearness.contents.len(), nearness.prefixes.len()), (100, MOST_PREFIXES));
        let endless = RttSample::new(0, Duration::MAX);
        nearness.on_sample(Instant::ZERO, &endless);
        nearness.on_sample(Instant::ZERO, &RttSample::new(1, Duration::ZERO));
        assert_eq!((power(Duration::MAX), power(Duration::ZERO)), (POWERS - 1, 0));
        assert!(rto_of(&nearness, 0, 0) <= 64.0);
    }
}
