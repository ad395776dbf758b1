//! `per-source(ccntimer,recent=64,settled=8)`: a timer for each source that answers.
//!
//! Source: von Rotz et al. (2015), sections 2 and 5, which name multi-homing: round trips of several sources must not be
//! mixed, so each source has a timer of its own, told apart by its identifier. Which of them will answer is not known
//! beforehand; the longest lifetime of those that may is in force.
//!
//! Differences: all of it is ours. A source may answer if it did so among the `recent` last answers; it does not count
//! before its `settled`-th answer while there is one that does, since a timer that knows nothing waits longest. A timeout is
//! told to all that may have been asked. Data that does not say who answered comes from a source of its own. Of more
//! than 16 sources the one silent for longest is forgotten.
use super::super::bounded::Bounded;
use super::super::{Answer, Question, Rto, RtoEstimator, RttSample};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::{Duration, Instant};
use std::fmt;

/// Most sources that are remembered.
const MOST: usize = 16;
/// Who answered where nobody said it.
const UNKNOWN: u64 = 0;

/// The parameters of [`PerSource`].
#[derive(Clone, Debug, PartialEq)]
pub struct PerSourceSettings {
    /// The timer of each source.
    pub timer: Box<Rto>,
    /// A source is active if it sent one of this many last answers.
    pub recent: u64,
    /// A source counts from this many answers on.
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

    /// Whether a source may be the one that is asked.
    fn is_active(&self, source: &Source) -> bool {
        self.answers - source.last < self.settings.recent
    }

    /// The timers in force; none before the first answer.
    fn in_force(&self) -> impl Iterator<Item = &dyn RtoEstimator> {
        let active = || self.sources.values().filter(|source| self.is_active(source));
        let any_settled = active().any(|source| source.answers >= self.settings.settled);
        let counts =
            move |source: &&Source| !any_settled || source.answers >= self.settings.settled;
        active().filter(counts).map(|source| &*source.timer)
    }

    /// The longest of what the timers in force say.
    fn longest(&self, of: impl Fn(&dyn RtoEstimator) -> Duration) -> Duration {
        self.in_force().map(&of).max().unwrap_or_else(|| of(&*self.blank))
    }

    /// Tells the timer of whoever answered.
    fn teach(&mut self, provider: Option<u64>, tell: impl FnOnce(&mut dyn RtoEstimator)) {
        self.answers += 1;
        let (timer, answers) = (&self.settings.timer, self.answers);
        let blank = || Source { timer: timer.build(), answers: 0, last: 0 };
        let source = self.sources.change(provider.unwrap_or(UNKNOWN), blank);
        source.answers += 1;
        source.last = answers;
        tell(&mut *source.timer);
    }

    /// Tells every timer that may have been asked, before any answer the one that knows nothing.
    fn tell(&mut self, mut tell: impl FnMut(&mut dyn RtoEstimator)) {
        if self.answers == 0 {
            return tell(&mut *self.blank);
        }
        let (answers, recent) = (self.answers, self.settings.recent);
        let all = self.sources.values_mut();
        all.filter(|source| answers - source.last < recent)
            .for_each(|source| tell(&mut *source.timer));
    }
}

impl RtoEstimator for PerSource {
    fn on_sample(&mut self, now: Instant, sample: &RttSample) {
        self.teach(sample.provider, |timer| timer.on_sample(now, sample));
    }

    fn on_timeout(&mut self, now: Instant) {
        self.tell(|timer| timer.on_timeout(now));
    }

    fn sets_lifetime(&self) -> bool {
        self.blank.sets_lifetime()
    }

    fn on_answer(&mut self, now: Instant, answer: &Answer) {
        self.teach(answer.sample.provider, |timer| timer.on_answer(now, answer));
    }

    fn on_expiry(&mut self, now: Instant, timeouts: u32) {
        self.tell(|timer| timer.on_expiry(now, timeouts));
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
        // The middle of both would be too short for the second, again and again.
        assert_eq!(mixed.rto(), Duration::from_millis(600));
        assert_eq!(timer.rto(), Duration::from_secs(1));
    }

    #[test]
    fn a_source_that_fell_silent_is_not_waited_for() {
        let mut timer = timer("per-source(wma,recent=10)");
        answers(&mut timer, 20, Some(1), 2_000);
        assert_eq!(timer.rto(), Duration::from_secs(3));
        answers(&mut timer, 9, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_secs(3));
        answers(&mut timer, 1, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_millis(300));
    }

    #[test]
    fn a_new_source_does_not_count_before_it_is_known() {
        let mut timer = timer("per-source(wma)");
        answers(&mut timer, 20, Some(1), 200);
        answers(&mut timer, 2, Some(2), 200);
        assert_eq!(timer.rto(), Duration::from_millis(300), "the new one alone would wait 4 s");
    }

    #[test]
    fn a_timeout_is_told_to_all_that_may_have_been_asked() {
        let mut timer = timer("per-source(wma)");
        answers(&mut timer, 20, None, 200);
        answers(&mut timer, 20, Some(2), 400);
        timer.on_expiry(Instant::ZERO, 1);
        assert_eq!(timer.rto(), Duration::from_millis(720));
        timer.on_expiry(Instant::ZERO, 3);
        assert_eq!(timer.rto(), Duration::from_secs(4));
    }

    #[test]
    fn it_is_around_any_timer_and_says_which() {
        assert_eq!(timer("per-source").settings, timer("per-source(ccntimer)").settings);
        let text = "per-source(jacobson(k=8,min=5ms),recent=9)";
        let printed = timer(text).to_string();
        assert!(printed.contains("k=8") && printed.contains("recent=9"), "{printed}");
        assert!(!timer(text).sets_lifetime() && timer("per-source(icp)").sets_lifetime());
        for wrong in ["per-source(per-source)", "per-source(nobody)", "per-source(recent=0)"] {
            assert!(rto::parse(wrong).is_err(), "{wrong}");
        }
        assert!(rto::parse("tcp(icp)").is_err());
    }
}
