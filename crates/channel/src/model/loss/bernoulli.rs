//! Independent losses: `bernoulli(p=0.01)` takes each frame with the same probability.
use super::LossModel;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::Instant;

/// Valid probabilities, in words.
pub(super) const PROBABILITY: &str = "a probability from 0 to 1";

/// Independent losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bernoulli {
    p: f64,
}

impl Bernoulli {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { p: 0.0 })
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

impl Described for Bernoulli {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("p", &mut self.p, 0.0..=1.0, PROBABILITY);
    }
}

recoup_core::print_as_spec!(Bernoulli, "bernoulli");
