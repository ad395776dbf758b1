//! A policer: `policer(rate=960,burst=30)` takes every frame above `rate` frames per second, once `burst` frames in a row
//! have come faster.
//!
//! A token bucket without a queue, counted in frames: routers that enforce a contracted rate drop so (RFC 2475, 2.3.3.3).
use super::LossModel;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use recoup_transport::time::Instant;
use std::fmt;

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
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let rate = spec.number("rate", 1_000.0, 0.001..=1e12, "frames per second, above 0")?;
        let burst = spec.number("burst", 10.0, 1.0..=1e9, "a number of frames from 1 on")?;
        spec.finish()?;
        Ok(Self { rate, burst, tokens: burst, filled: Instant::ZERO })
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

impl fmt::Display for Policer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "policer").value("rate", self.rate).value("burst", self.burst).finish()
    }
}

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
