//! Path classes: round trips that belong together, as those of one cache or one producer do.
//!
//! Each class has a base round trip of its own, and the queueing delay is the excess over that. Where Data carries a
//! ProviderId, the provider is the class. Elsewhere the order decides, because a queue keeps it. An answer overtaken
//! by those of the nearest source comes from another one, or jitter delayed it. Jitter leaves no gap between round
//! trips. Answers beyond a gap are a class of their own, as soon as three of them and a quarter were overtaken.
use super::super::extreme::Extreme;
use super::constants::{
    APART_FACTOR, APART_LEAST, CLASS_SAMPLES, MEAN_ANSWERS, MOST_CLASSES, MOST_PROVIDERS, NEAR,
    NEAR_OVERTAKEN, OVERTAKEN_LEAST, OVERTAKEN_PART, UNSEEN_ROUNDS,
};
use crate::time::{Duration, Instant};
use std::collections::VecDeque;

/// Samples in a row that all lie above the threshold of a standing queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Above {
    pub(super) since: Instant,
    /// Deliveries before it.
    pub(super) delivered: u64,
    pub(super) samples: u64,
    pub(super) least: f64,
}

/// A round-trip sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// Seconds.
    pub(super) rtt: f64,
    /// An answer of the nearest source to a later transmission arrived before it.
    pub(super) overtaken: bool,
    /// Node that answered, if it is known.
    pub(super) provider: Option<u64>,
}

/// One class.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Class {
    base: Extreme,
    above: Option<Above>,
    provider: Option<u64>,
    /// Samples in this round.
    samples: u64,
    /// Rounds without a sample.
    unseen: u32,
}

impl Class {
    fn new(base: Extreme, provider: Option<u64>) -> Self {
        Self { base, above: None, provider, samples: 0, unseen: 0 }
    }

    /// Base round trip, seconds.
    fn base(&self) -> f64 {
        self.base.get().unwrap_or(0.0)
    }
}

/// The classes of a path, by base round trip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classes {
    classes: Vec<Class>,
    /// Recent round trips, and whether others overtook the answer.
    recent: VecDeque<(f64, bool)>,
    /// Overtaken answers without a class since `recent` was examined.
    strangers: usize,
    /// Mean base round trip of the recent answers, seconds.
    mean: Option<f64>,
}

impl Classes {
    pub(super) fn new(base: Extreme) -> Self {
        Self {
            classes: vec![Class::new(base, None)],
            recent: VecDeque::new(),
            strangers: 0,
            mean: None,
        }
    }

    /// Least base round trip, seconds.
    pub(super) fn base(&self) -> Option<f64> {
        self.classes.iter().filter_map(|class| class.base.get()).reduce(f64::min)
    }

    /// Mean base round trip of the answers, seconds.
    pub(super) fn mean(&self) -> Option<f64> {
        if self.is_single() { self.base() } else { self.mean.or_else(|| self.base()) }
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is one class.
    pub(super) fn is_single(&self) -> bool {
        self.len() < 2
    }

    /// Whether the round trip may be that of the nearest source.
    pub(super) fn is_near(&self, rtt: f64) -> bool {
        self.base().is_none_or(|base| !is_apart(base, rtt))
    }

    /// Whether the round trip is that of one of several classes without a queue.
    pub(super) fn explain(&self, rtt: f64) -> bool {
        let explains = |class: &Class| {
            class
                .base
                .get()
                .is_some_and(|base| rtt >= NEAR_OVERTAKEN * base && rtt <= APART_FACTOR * base)
        };
        !self.is_single() && self.classes.iter().any(explains)
    }

    /// Records a round trip; returns its class, and its queueing delay.
    pub(super) fn add(&mut self, now: Instant, sample: &Sample) -> (usize, f64) {
        let Sample { rtt, overtaken, provider } = *sample;
        if self.recent.len() >= CLASS_SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back((rtt, overtaken));
        let place = self.of_provider(now, provider).unwrap_or_else(|| self.place(rtt, overtaken));
        let class = &mut self.classes[place];
        class.base.add(now, rtt);
        class.samples += 1;
        let (base, queue) = (class.base(), (rtt - class.base()).max(0.0));
        let is_strange = overtaken && class.provider.is_none() && is_apart(base, rtt);
        self.strangers += usize::from(is_strange);
        (place, queue)
    }

    /// Base round trip of a class, seconds.
    pub(super) fn base_of(&self, class: usize) -> f64 {
        self.classes[class].base()
    }

    /// Records whether the last queueing delay of a class was above the threshold of a standing queue, after so many
    /// deliveries.
    pub(super) fn mark(&mut self, now: Instant, class: usize, above: Option<(u64, f64)>) {
        let class = &mut self.classes[class];
        class.above = above.map(|(delivered, queue)| {
            let new = Above { since: now, delivered, samples: 0, least: queue };
            let above = class.above.unwrap_or(new);
            Above { samples: above.samples + 1, least: above.least.min(queue), ..above }
        });
    }

    /// The farthest class for which the round trip is not too short; the nearest one if it is too short for all.
    fn place(&self, rtt: f64, overtaken: bool) -> usize {
        let part = if overtaken { NEAR_OVERTAKEN } else { NEAR };
        let belongs = |class: &Class| class.base.get().is_some_and(|base| rtt >= part * base);
        let by_base =
            |(_, a): &(usize, &Class), (_, b): &(usize, &Class)| a.base().total_cmp(&b.base());
        let all = || self.classes.iter().enumerate();
        let farthest = all().filter(|(_, class)| belongs(class)).max_by(by_base);
        farthest.or_else(|| all().min_by(by_base)).map_or(0, |(place, _)| place)
    }

    fn of_provider(&mut self, now: Instant, provider: Option<u64>) -> Option<usize> {
        let provider = Some(provider?);
        if let Some(place) = self.classes.iter().position(|class| class.provider == provider) {
            return Some(place);
        }
        let first = &mut self.classes[0];
        if first.provider.is_none() && first.base.get().is_none() {
            first.provider = provider;
            return Some(0);
        }
        (self.classes.len() < MOST_PROVIDERS).then(|| {
            let base = self.classes[0].base.emptied(now);
            self.classes.push(Class::new(base, provider));
            self.classes.len() - 1
        })
    }

    /// Runs of samples above the threshold, of each class, and its base round trip.
    pub(super) fn above(&self) -> impl Iterator<Item = (Above, f64)> {
        self.classes.iter().filter_map(|class| Some((class.above?, class.base())))
    }

    pub(super) fn forget_above(&mut self) {
        self.classes.iter_mut().for_each(|class| class.above = None);
    }

    /// Sets the span for which base round trips are remembered.
    pub(super) fn set_span(&mut self, span: Duration) {
        self.classes.iter_mut().for_each(|class| class.base.set_span(span));
    }

    /// Ends a round.
    pub(super) fn end_round(&mut self) {
        let all: u64 = self.classes.iter().map(|class| class.samples).sum();
        if all > 0 {
            let sum: f64 =
                self.classes.iter().map(|class| class.samples as f64 * class.base()).sum();
            let (mean, weight) = (sum / all as f64, all as f64 / (all as f64 + MEAN_ANSWERS));
            self.mean = Some(self.mean.map_or(mean, |before| before + weight * (mean - before)));
        }
        for class in &mut self.classes {
            class.unseen = if class.samples > 0 { 0 } else { class.unseen + 1 };
            class.samples = 0;
        }
        if all > 0 {
            self.classes.retain(|class| class.unseen < UNSEEN_ROUNDS);
        }
    }

    /// Searches further classes once there is evidence; true if there are any.
    pub(super) fn look(&mut self, now: Instant) -> bool {
        if self.strangers < OVERTAKEN_LEAST {
            return false;
        }
        self.strangers = 0;
        let known = self.classes.len();
        for least in groups(&self.recent) {
            let is_near = |class: &Class| {
                let base = class.base();
                least >= base / APART_FACTOR && least <= base * APART_FACTOR
            };
            if self.classes.len() < MOST_CLASSES && !self.classes.iter().any(is_near) {
                let mut base = self.classes[0].base.emptied(now);
                base.add(now, least);
                self.classes.push(Class::new(base, None));
            }
        }
        if self.classes.len() == known {
            return false;
        }
        self.forget_above();
        let base =
            |(rtt, overtaken): &(f64, bool)| self.classes[self.place(*rtt, *overtaken)].base();
        let sum: f64 = self.recent.iter().map(base).sum();
        self.mean = Some(sum / self.recent.len() as f64);
        true
    }
}

/// Whether a round trip is above another by more than a queue of a few packets or jitter adds at once.
fn is_apart(low: f64, high: f64) -> bool {
    high >= low * APART_FACTOR && high - low >= APART_LEAST
}

/// The least of each group of round trips above a gap with enough overtaken answers.
fn groups(recent: &VecDeque<(f64, bool)>) -> Vec<f64> {
    let mut sorted: Vec<(f64, bool)> = recent.iter().copied().collect();
    sorted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let has_enough = |group: &&[(f64, bool)]| {
        let overtaken = group.iter().filter(|(_, overtaken)| *overtaken).count();
        overtaken >= OVERTAKEN_LEAST && overtaken * OVERTAKEN_PART >= group.len()
    };
    let groups = sorted.chunk_by(|(low, _), (high, _)| !is_apart(*low, *high)).skip(1);
    groups.filter(has_enough).map(|group| group[0].0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Classes {
        Classes::new(Extreme::new(false, Duration::from_secs(5)))
    }

    fn of(rtt: f64, overtaken: bool) -> Sample {
        Sample { rtt, overtaken, provider: None }
    }

    /// The first train of three producers in turn.
    fn three_producers() -> Classes {
        let mut classes = classes();
        for rtt in [0.031, 0.032, 0.033, 0.034] {
            classes.add(Instant::ZERO, &of(rtt, false));
        }
        for rtt in [0.061, 0.062, 0.063, 0.121, 0.122, 0.123] {
            classes.add(Instant::ZERO, &of(rtt, true));
        }
        classes
    }

    #[test]
    fn first_train_separates_three_producers() {
        let mut classes = three_producers();
        assert!(classes.look(Instant::ZERO));
        let bases: Vec<f64> = classes.classes.iter().map(Class::base).collect();
        assert_eq!(bases, [0.031, 0.061, 0.121]);
        let mean = classes.mean().expect("a mean");
        assert!((mean - (4.0 * 0.031 + 3.0 * 0.061 + 3.0 * 0.121) / 10.0).abs() < 1e-9);
        assert_eq!(classes.add(Instant::ZERO, &of(0.13, true)).1, 0.13 - 0.121);
        assert!(!classes.look(Instant::ZERO), "no further class");
    }

    #[test]
    fn overtaken_answer_may_lower_its_class_base() {
        let mut classes = three_producers();
        classes.look(Instant::ZERO);
        assert_eq!(classes.add(Instant::ZERO, &of(0.057, true)).1, 0.0);
        assert_eq!(classes.add(Instant::ZERO, &of(0.05, false)).1, 0.05 - 0.031);
    }

    #[test]
    fn queue_that_grows_in_order_is_no_class() {
        let mut classes = classes();
        for n in 0..40 {
            classes.add(Instant::ZERO, &of(if n < 20 { 0.03 } else { 0.09 }, false));
        }
        assert!(!classes.look(Instant::ZERO));
        assert!(classes.is_single());
    }

    #[test]
    fn queue_with_few_overtaken_answers_is_no_class() {
        let queue = |overtaken: usize| {
            let mut classes = classes();
            for n in 0..40 {
                classes
                    .add(Instant::ZERO, &of(if n < 20 { 0.03 } else { 0.09 }, n >= 40 - overtaken));
            }
            classes.look(Instant::ZERO)
        };
        assert!(!queue(4), "4 of 20");
        assert!(queue(5), "a quarter of 20");
    }

    #[test]
    fn three_overtaken_answers_make_a_class() {
        let mut classes = classes();
        for n in 0..128 {
            let far = n >= 125;
            classes.add(Instant::ZERO, &of(if far { 0.12 } else { 0.03 }, far));
        }
        assert!(classes.look(Instant::ZERO));
        assert_eq!(classes.len(), 2);
    }

    #[test]
    fn jitter_without_a_gap_is_no_class() {
        let mut classes = classes();
        for n in 0..40 {
            classes.add(Instant::ZERO, &of(0.03 * (1.0 + f64::from(n) / 20.0), n % 2 == 0));
        }
        assert!(!classes.look(Instant::ZERO));
    }

    #[test]
    fn providers_that_are_known_are_classes() {
        let mut classes = classes();
        let of =
            |rtt: f64, provider: u64| Sample { rtt, overtaken: false, provider: Some(provider) };
        classes.add(Instant::ZERO, &of(0.03, 1));
        classes.add(Instant::ZERO, &of(0.033, 2));
        assert_eq!(classes.add(Instant::ZERO, &of(0.035, 1)).1, 0.035 - 0.03);
        assert_eq!(classes.add(Instant::ZERO, &of(0.035, 2)).1, 0.035 - 0.033);
    }
}
