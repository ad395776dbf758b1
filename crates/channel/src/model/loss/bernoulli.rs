//! Independent losses: `bernoulli(p=0.01)` takes each frame with the same probability.
use super::LossModel;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use recoup_transport::time::Instant;
use std::fmt;

/// Valid probabilities, in words.
pub(super) const PROBABILITY: &str = "a probability from 0 to 1";

/// Independent losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bernoulli {
    p: f64,
}

impl Bernoulli {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let p = spec.number("p", 0.0, 0.0..=1.0, PROBABILITY)?;
        spec.finish()?;
        Ok(Self { p })
    }
}

impl LossModel for Bernoulli {
    fn takes(&mut self, rng: &mut Rng, _: Instant) -> bool {
        rng.unit_f64() < self.p
    }

    fn mean_share(&self) -> Option<f64> {
        Some(self.p)
    }
}

impl fmt::Display for Bernoulli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "bernoulli").value("p", self.p).finish()
    }
}
