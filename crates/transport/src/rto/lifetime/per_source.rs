//! `per-source(ccntimer,recent=64,settled=8)`: a timer for each source that answers.
//!
//! Source: von Rotz et al. (2015), sections 2 and 5 (multi-homing): round trips of several sources must not be mixed,
//! so each source has a timer of its own, by its identifier. The source of the next answer is not known beforehand,
//! so the longest lifetime of the possible ones applies.
//!
//! Differences: all of it. A source is possible if it answered among the `recent` last answers. It does not count
//! before its `settled`-th answer while another one does, because a timer without samples waits longest. A timeout is
//! reported to the timers of all possible sources. Data without an identifier belongs to a source of its own. Above
//! 16 sources the one idle for longest is forgotten.
use super::super::bounded::Bounded;
use super::super::{Answer, Question, Rto, RtoEstimator, RttSample};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use std::fmt;

/// Most sources remembered.
const MOST: usize = 16;
/// Source of answers without an identifier.
const UNKNOWN: u64 = 0;

/// The parameters of [`PerSource`].
#[derive(Clone, Debug, PartialEq)]
pub struct PerSourceSettings {
    /// The timer of each source.
    pub timer: Box<Rto>,
    /// Number of last answers within which an active source has answered.
    pub recent: u64,
    /// Number of answers from which on a source counts.
    pub settled: u64,
}

/// Timers by source.
pub struct PerSource {
    settings: PerSourceSettings,
    /// The timer before the first answer.
    blank: Box<dyn RtoEstimator>,
    answers: u64,
    sources: Bounded<Source>,
}

struct Source {
    timer: Box<dyn RtoEstimator>,
    answers: u64,
    /// Number of its last answer among all.
    last: u64,
}

impl PerSourceSettings {
    pub(in crate::rto) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let timer = spec.inner().unwrap_or("ccntimer");
        if Spec::parse(timer)?.name() == spec.name() {
            return Err(spec.bad("timer", timer, "a timer that is not per source itself"));
        }
        let timer = Box::new(timer.parse()?);
        let count = "a number from 1 to 1000000";
        let recent = spec.number("recent", 64.0, 1.0..=1e6, count)? as u64;
        let settled = spec.number("settled", 8.0, 1.0..=1e6, count)? as u64;
        spec.finish()?;
        Ok(Self { timer, recent, settled })
    }

    /// An estimator that has seen no answer.
    pub(in crate::rto) fn build(&self) -> Box<dyn RtoEstimator> {
        Box::new(PerSource::new(self.clone()))
    }
}

impl PerSource {
    /// An estimator that has seen no answer.
    #[must_use]
    pub fn new(settings: PerSourceSettings) -> Self {
        Self { blank: settings.timer.build(), settings, answers: 0, sources: Bounded::new(MOST) }
    }

    /// Whether a source may answer the next Interest.
    fn is_active(&self, source: &Source) -> bool {
        self.answers - source.last < self.settings.recent
    }

    /// The timers that apply; none before the first answer.
    fn in_force(&self) -> impl Iterator<Item = &dyn RtoEstimator> {
        let active = || self.sources.values().filter(|source| self.is_active(source));
        let any_settled = active().any(|source| source.answers >= self.settings.settled);
        let counts =
            move |source: &&Source| !any_settled || source.answers >= self.settings.settled;
        active().filter(counts).map(|source| &*source.timer)
    }

    /// The longest timeout of the timers that apply.
    fn longest(&self, of: impl Fn(&dyn RtoEstimator) -> Duration) -> Duration {
        self.in_force().map(&of).max().unwrap_or_else(|| of(&*self.blank))
    }

    /// Updates the timer of the source that answered.
    fn update_source(&mut self, provider: Option<u64>, update: impl FnOnce(&mut dyn RtoEstimator)) {
        self.answers += 1;
        let (timer, answers) = (&self.settings.timer, self.answers);
        let blank = || Source { timer: timer.build(), answers: 0, last: 0 };
        let source = self.sources.change(provider.unwrap_or(UNKNOWN), blank);
        source.answers += 1;
        source.last = answers;
        update(&mut *source.timer);
    }

    /// Updates every timer that applies; before any answer the initial one.
    fn update(&mut self, mut update: impl FnMut(&mut dyn RtoEstimator)) {
        if self.answers == 0 {
            return update(&mut *self.blank);
        }
        let (answers, recent) = (self.answers, self.settings.recent);
        let all = self.sources.values_mut();
        all.filter(|source| answers - source.last < recent)
            .for_each(|source| update(&mut *source.timer));
    }
}

impl RtoEstimator for PerSource {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        self.update_source(sample.provider, |timer| timer.on_sample(now, sample));
    }

    fn on_timeout(&mut self, now: Instant) {
        self.update(|timer| timer.on_timeout(now));
    }

    fn sets_lifetime(&self) -> bool {
        self.blank.sets_lifetime()
    }

    fn on_answer(&mut self, now: Instant, answer: &Answer) {
        self.update_source(answer.sample.provider, |timer| timer.on_answer(now, answer));
    }

    fn on_expiry(&mut self, now: Instant, timeouts: u32) {
        self.update(|timer| timer.on_expiry(now, timeouts));
    }

    fn rto(&self) -> Duration {
        self.longest(|timer| timer.rto())
    }

    fn rto_for(&self, now: Instant, question: &Question) -> Duration {
        self.longest(|timer| timer.rto_for(now, question))
    }

    fn needs_samples_only(&self) -> bool {
        false
    }

    fn srtt(&self) -> Option<Duration> {
        self.in_force().filter_map(|timer| timer.srtt()).max()
    }

    fn rttvar(&self) -> Option<Duration> {
        self.in_force().filter_map(|timer| timer.rttvar()).max()
    }
}

impl fmt::Debug for PerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timers: Vec<_> = self.sources.values().map(|source| &source.timer).collect();
        f.debug_struct("PerSource")
            .field("settings", &self.settings)
            .field("timers", &timers)
            .finish()
    }
}

impl fmt::Display for PerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}

impl fmt::Display for PerSourceSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "per-source")
            .inner(self.timer.full())
            .value("recent", self.recent)
            .value("settled", self.settled)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super as rto;
    use super::*;

    fn timer(text: &str) -> PerSource {
        let spec = Spec::parse(text).expect("a spec");
        PerSource::new(PerSourceSettings::from_spec(spec).expect("a timer"))
    }

    fn answers(timer: &mut PerSource, count: u64, provider: Option<u64>, millis: u64) {
        let sample = RttSample::new(0, Duration::from_millis(millis));
        let sample = RttSample { provider, ..sample };
        (0..count).for_each(|_| timer.on_answer(Instant::ZERO, &Answer { sample, timeouts: 0 }));
    }

    #[test]
    fn round_trips_of_two_sources_are_not_mixed() {
        let mut mixed = rto::parse("icp").expect("a timer");
        let mut timer = timer("per-source(icp)");
        for _ in 0..20 {
            for (source, millis) in [(1, 200), (2, 1_000)] {
                answers(&mut timer, 1, Some(source), millis);
                let sample = RttSample::new(0, Duration::from_millis(millis));
                mixed.on_answer(Instant::ZERO, &Answer { sample, timeouts: 0 });
            }
        }
        // The middle of both would be too short for the second.
        assert_eq!(mixed.rto(), Duration::from_millis(600));
        assert_eq!(timer.rto(), Duration::from_secs(1));
    }

    #[test]
    fn idle_source_does_not_count() {
        let mut timer = timer("per-source(wma,recent=10)");
        answers(&mut timer, 20, Some(1), 2_000);
        assert_eq!(timer.rto(), Duration::from_secs(3));
        answers(&mut timer, 9, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_secs(3));
        answers(&mut timer, 1, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_millis(300));
    }

    #[test]
    fn new_source_does_not_count_before_it_settles() {
        let mut timer = timer("per-source(wma)");
        answers(&mut timer, 20, Some(1), 200);
        answers(&mut timer, 2, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_millis(300), "the new one alone would wait 4 s");
    }

    #[test]
    fn timeout_updates_all_active_sources() {
        let mut timer = timer("per-source(wma)");
        answers(&mut timer, 20, None, 200);
        answers(&mut timer, 20, Some(2), 400);
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(720));
        timer.on_expiry(Instant::ZERO, 3);
        assert_eq!(timer.rto(), Duration::from_secs(4));
    }

    #[test]
    fn per_source_wraps_any_timer_and_prints_it() {
        assert_eq!(timer("per-source").settings, timer("per-source(ccntimer)").settings);
        let text = "per-source(jacobson(k=8,min=5ms),recent=9)";
        let printed = timer(text).to_string();
        assert!(printed.contains("k=8") && printed.contains("recent=9"), "{printed}");
        assert!(!timer(text).sets_lifetime() && timer("per-source(icp)").sets_lifetime());
        for wrong in ["per-source(per-source)", "per-source(unknown)", "per-source(recent=0)"] {
            assert!(rto::parse(wrong).is_err(), "{wrong}");
        }
        assert!(rto::parse("tcp(icp)").is_err());
    }
}
