//! `popularity(k=5.2,trust=64)`: contents of similar popularity have similar round trips.
//!
//! Source: the finding of Nikzad et al. 2022 that the right timeout depends on the popularity of a content, because
//! that decides how near it is cached. There are three estimates: of all contents, of the *class* (contents below one
//! prefix with a similar number of answers: 0, 1, 2–3, 4–7, …), and of the content itself. Each leans on the wider
//! one until it has samples of its own: with `n` of them its share is λ = n / (n + trust).
//!
//! ```text
//! est = λ_c·est_content + (1 − λ_c)·(λ_k·est_class + (1 − λ_k)·est_all),   est… = (SRTT, RTTVAR)
//! RTO = SRTT + RTTVAR·(k + ln(SRTT/RTTVAR))
//! ```
//!
//! The number of deviations follows from the cost of waiting. Suppose that round trips beyond the mean M fall off
//! exponentially with the deviation D. A timeout after M + x·D is then spurious with a probability of about exp(−x).
//! A second of waiting for a lost packet costs in proportion to 1/M, as in the study's W. The sum of both is least at
//! x = k + ln(M/D), where `k` is the relative cost of a spurious timeout. `relative=false` always adds `k`.
//!
//! The first samples of an estimate count alike (gains of at least 1/n), then with gains of 1/40.
//!
//! Differences: the number of answers of a content is kept by hash, for 4096 hashes, and halved at intervals. Above
//! `contents` contents and 1024 classes the one unchanged for longest is forgotten. `contents=1` disables estimates
//! of contents.
use super::bounded::Bounded;
use super::reconsidered::{factor, gains};
use super::smoothed::{Gains, Smoothed};
use super::timing::Timing;
use super::{Question, RtoEstimator, RttSample, Target};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use std::fmt;

const MOST_CLASSES: usize = 1024;
/// Most binary digits of a count.
const RANKS: u32 = 12;
/// Number of counters, by hash.
const COUNTS: usize = 4096;
/// Least deviation, as a part of the mean.
const LEAST_DEVIATION: f64 = 1e-9;
/// Samples after which counts are halved.
const HALVED_AFTER: u64 = 1 << 17;

/// Estimates by class and content.
#[derive(Clone, Debug, PartialEq)]
pub struct Popularity {
    gains: Gains,
    k: f64,
    trust: f64,
    most_contents: usize,
    relative: bool,
    timing: Timing,
    all: Counted,
    classes: Bounded<Counted>,
    contents: Bounded<Counted>,
    counts: Counts,
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

/// Numbers of answers by content.
#[derive(Clone, Debug, PartialEq)]
struct Counts {
    counts: Vec<u16>,
    samples: u64,
}

impl Counts {
    fn place(content: u64) -> usize {
        // The finaliser of SplitMix64, so that neighbours do not share a counter.
        let mixed = (content ^ content >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) as usize % COUNTS
    }

    fn add(&mut self, content: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; COUNTS];
        }
        let count = &mut self.counts[Self::place(content)];
        *count = count.saturating_add(1);
        self.samples += 1;
        if self.samples.is_multiple_of(HALVED_AFTER) {
            self.counts.iter_mut().for_each(|count| *count /= 2);
        }
    }

    /// 0 for a content without answers, 1 after the first answer, then one more with each doubling.
    fn rank(&self, content: u64) -> u32 {
        let count = self.counts.get(Self::place(content)).copied().unwrap_or(0);
        (u16::BITS - count.leading_zeros()).min(RANKS)
    }
}

impl Popularity {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let gains = gains(&mut spec, Gains { alpha: 1.0 / 40.0, beta: 1.0 / 40.0 })?;
        let k = factor(&mut spec, 5.2)?;
        let trust = spec.number("trust", 64.0, 0.001..=1e9, "a number from 0.001 to 1000000000")?;
        let expected = "a number of contents from 1 to 1048576";
        let most_contents = spec.take("contents", 4096, expected, |text| {
            text.parse().ok().filter(|most| (1..=1 << 20).contains(most))
        })?;
        let relative = spec.boolean("relative", true)?;
        let timing = Timing::from_spec(&mut spec, Timing::free())?;
        spec.finish()?;
        Ok(Self {
            gains,
            k,
            trust,
            most_contents,
            relative,
            timing,
            all: Counted::default(),
            classes: Bounded::new(MOST_CLASSES),
            contents: Bounded::new(most_contents),
            counts: Counts { counts: Vec::new(), samples: 0 },
        })
    }

    /// The class of a content: its prefix and its popularity.
    fn class(&self, target: Target) -> u64 {
        let rank = u64::from(self.counts.rank(target.content));
        target.class.wrapping_mul(u64::from(RANKS) + 1).wrapping_add(rank)
    }

    /// Mean and deviation of a content.
    fn estimate(&self, target: Target) -> Option<Smoothed> {
        let mut estimate = self.all.estimate?;
        if let Some(class) = self.classes.get(self.class(target)) {
            estimate = class.lean_on(estimate, self.trust);
        }
        if let Some(content) = self.contents.get(target.content) {
            estimate = content.lean_on(estimate, self.trust);
        }
        Some(estimate)
    }

    /// The timeout for an estimate.
    fn timeout(&self, estimate: Smoothed) -> f64 {
        let Smoothed { srtt, rttvar } = estimate;
        let factor = match self.relative && rttvar > 0.0 {
            true => {
                // Equal round trips leave a deviation too small for the quotient.
                let ratio = srtt / rttvar.max(LEAST_DEVIATION * srtt);
                (self.k + libm::log(ratio.max(f64::MIN_POSITIVE))).max(0.0)
            }
            false => self.k,
        };
        estimate.timeout(factor)
    }
}

impl RtoEstimator for Popularity {
    fn on_sample(&mut self, _: Instant, sample: &RttSample) {
        let (rtt, target) = (sample.rtt.as_secs_f64(), sample.target);
        let gains = self.gains.divided(sample.divisor());
        let class = self.class(target);
        self.all.feed(rtt, gains);
        self.classes.change(class, Counted::default).feed(rtt, gains);
        if self.most_contents > 1 {
            self.contents.change(target.content, Counted::default).feed(rtt, gains);
        }
        self.counts.add(target.content);
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

impl fmt::Display for Popularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = SpecWriter::new(f, "popularity")
            .value("alpha", self.gains.alpha)
            .value("beta", self.gains.beta)
            .value("k", self.k)
            .value("trust", self.trust)
            .value("contents", self.most_contents)
            .value("relative", self.relative);
        self.timing.describe(writer).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(text: &str) -> Popularity {
        Popularity::from_spec(Spec::parse(text).unwrap()).unwrap()
    }

    fn feed(estimator: &mut Popularity, content: u64, millis: u64) {
        let sample = RttSample::new(0, Duration::from_millis(millis));
        let target = Target { content, class: 0 };
        estimator.on_sample(Instant::ZERO, &RttSample { target, ..sample });
    }

    fn rto_of(estimator: &Popularity, content: u64) -> f64 {
        let target = Target { content, class: 0 };
        let question = Question { target, retransmissions: 0 };
        estimator.rto_for(Instant::ZERO, &question).as_secs_f64()
    }

    #[test]
    fn near_content_has_a_short_timeout() {
        let mut popularity = estimator("popularity");
        for n in 0..2_000 {
            feed(&mut popularity, 1, 10);
            feed(&mut popularity, 1_000 + n, 150 + n % 7);
        }
        let (near, far) = (rto_of(&popularity, 1), rto_of(&popularity, 999_999));
        assert!(near < 0.03 && far > 0.15, "{near} {far}");
    }

    #[test]
    fn unknown_content_uses_its_class() {
        let mut popularity = estimator("popularity(k=0,relative=false,trust=8,contents=1)");
        for content in 0..200 {
            feed(&mut popularity, content, 100);
            for _ in 0..8 {
                feed(&mut popularity, content, 20);
            }
        }
        let (new, known) = (rto_of(&popularity, 1_000_000), rto_of(&popularity, 7));
        assert!(new > 0.09 && known < 0.03, "{new} {known}");
    }

    #[test]
    fn few_samples_lean_on_the_wider_estimate() {
        // λ = 1/(1+1): the content's own 40 ms, and the mean 70 ms of the two samples on the other side.
        let mut popularity = estimator("popularity(k=0,relative=false,trust=1)");
        feed(&mut popularity, 1, 100);
        feed(&mut popularity, 2, 40);
        // All: 70. The class of contents with one answer has no samples: both were new when they came.
        assert!((rto_of(&popularity, 2) - (0.5 * 0.04 + 0.5 * 0.07)).abs() < 1e-9);
    }

    #[test]
    fn varying_round_trips_add_fewer_deviations() {
        let factor = |spread: u64| {
            let mut popularity = estimator("popularity(k=4,contents=1,trust=1000000000)");
            (0..4_000).for_each(|n| feed(&mut popularity, 1, 100 + spread * (n % 2)));
            let all = popularity.all.estimate.unwrap();
            (rto_of(&popularity, 1) - all.srtt) / all.rttvar
        };
        // 102.5 ± 2.5 and 150 ± 50 ms: 4 + ln(41) and 4 + ln(3), about.
        let (steady, varied) = (factor(5), factor(100));
        assert!((steady - 7.7).abs() < 0.2 && (varied - 5.1).abs() < 0.2, "{steady} {varied}");
    }

    #[test]
    fn constant_round_trips_have_a_close_timeout() {
        let mut popularity = estimator("popularity");
        (0..100_000).for_each(|_| feed(&mut popularity, 1, 10));
        let rto = rto_of(&popularity, 1);
        assert!((0.01..0.010_01).contains(&rto), "{rto}");
    }

    #[test]
    fn number_of_contents_is_limited() {
        let mut popularity = estimator("popularity(contents=100)");
        (0..10_000).for_each(|content| feed(&mut popularity, content, 50));
        assert_eq!(popularity.contents.len(), 100);
        assert!(popularity.classes.len() <= RANKS as usize + 1);
        assert_eq!(popularity.counts.counts.len(), COUNTS);
    }
}
