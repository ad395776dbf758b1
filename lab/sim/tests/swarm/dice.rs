//! Choices of a seed, each below a name of its own.
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

pub(crate) struct Dice(Rng);

impl Dice {
    pub(crate) fn of(seed: u64, name: &str) -> Self {
        Self(Rng::from_seed(seed).substream(name))
    }

    pub(crate) fn rng(&mut self) -> &mut Rng {
        &mut self.0
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.unit_f64() < probability
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number from `low` to `high`, each order of magnitude equally likely.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (libm::log(low as f64), libm::log(high as f64));
        libm::exp(low + (high - low) * self.0.unit_f64()) as u64
    }

    pub(crate) fn millis(&mut self, low: u64, high: u64) -> Duration {
        Duration::from_micros(self.between(low * 1_000, high * 1_000))
    }

    pub(crate) fn instant(&mut self, low_millis: u64, high_millis: u64) -> Instant {
        Instant::ZERO + self.millis(low_millis, high_millis)
    }

    /// One of several.
    pub(crate) fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.0.below(of.len() as u64) as usize]
    }

    /// One of the algorithms of a family by its name alone, or of `more`; new algorithms are included without a change
    /// here.
    pub(crate) fn one_named(
        &mut self,
        family: impl Iterator<Item = &'static str>,
        more: &[&'static str],
    ) -> &'static str {
        let all: Vec<_> = family.chain(more.iter().copied()).collect();
        self.one(&all)
    }

    /// The place of one of `count`.
    pub(crate) fn place(&mut self, count: usize) -> u32 {
        self.0.below(count as u64) as u32
    }
}
