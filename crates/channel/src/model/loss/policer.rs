//! A policer: `policer(rate=960,burst=30)` takes every frame above `rate` frames per second, once `burst` frames in a row
//! have come faster.
//!
//! A token bucket without a queue, counted in frames: routers that enforce a contracted rate drop so (RFC 2475, 2.3.3.3).
use super::LossModel;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::Instant;

/// A token bucket that drops what exceeds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    rate: f64,
    burst: f64,
    /// Frames that may pass at once.
    tokens: f64,
    filled: Instant,
}

impl Policer {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { rate: 1_000.0, burst: 10.0, tokens: 10.0, filled: Instant::ZERO })
    }
}

impl LossModel for Policer {
    fn takes(&mut self, _: &mut Rng, at: Instant) -> bool {
        let gained = at.since(self.filled).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + gained).min(self.burst);
        self.filled = at;
        let taken = self.tokens < 1.0;
        self.tokens -= if taken { 0.0 } else { 1.0 };
        taken
    }
}

impl Described for Policer {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("rate", &mut self.rate, 0.001..=1e12, "frames per second, above 0");
        each.number("burst", &mut self.burst, 1.0..=1e9, "a number of frames from 1 on");
        self.tokens = self.burst;
    }
}

recoup_core::print_as_spec!(Policer, "policer");

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the frames that pass, of so many frames with one every `every` microseconds.
    fn passed(frames: u64, every: u64) -> Vec<u64> {
        let spec = Spec::parse("policer(rate=1000,burst=10)").unwrap();
        let (mut policer, mut rng) = (Policer::from_spec(spec).unwrap(), Rng::from_seed(1));
        let at = |frame: u64| Instant::from_nanos(frame * every * 1_000);
        (0..frames).filter(|frame| !policer.takes(&mut rng, at(*frame))).collect()
    }

    #[test]
    fn frames_at_the_rate_pass() {
        assert_eq!(passed(1_000, 1_001).len(), 1_000);
    }

    #[test]
    fn fast_frames_pass_at_the_rate_after_bursts() {
        let passed = passed(4_000, 250);
        assert_eq!(passed.len(), 1_000 + 9, "a second's tokens, and the bucket");
        assert!(passed.starts_with(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16]), "{passed:?}");
    }
}
