//! Single losses that keep their distance: `sparse(p=0.001,gap=168)` takes a share `p` of all frames, and after
//! each of them at least `gap` frames get through.
//!
//! Source: Udugama et al., whose losses are single ones at random gaps, never two in one window.
//! Differences: the law of the gaps is not stated there. Here what exceeds `gap` is geometric, with the mean
//! that makes `p` the share of lost frames; a gap begins with the first frame. A number is drawn for each
//! frame, so that two runs with different traffic stay comparable.
use super::LossModel;
use super::bernoulli::PROBABILITY;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use recoup_transport::time::Instant;
use std::fmt;

/// Single losses that keep their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparse {
    p: f64,
    gap: u64,
    /// Probability that a frame beyond the gap is taken.
    hazard: f64,
    /// Frames that got through since the last loss.
    passed: u64,
}

impl Sparse {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let p = spec.number("p", 0.0, 0.0..=1.0, PROBABILITY)?;
        let whole = |text: &str| text.parse::<u64>().ok();
        let gap = spec.take("gap", 1, "a whole number", whole)?;
        let rest = if p > 0.0 { 1.0 / p - gap as f64 } else { f64::INFINITY };
        if rest < 1.0 {
            return Err(spec.bad("gap", gap, "less than 1/p frames"));
        }
        spec.finish()?;
        Ok(Self { p, gap, hazard: 1.0 / rest, passed: 0 })
    }
}

impl LossModel for Sparse {
    fn takes(&mut self, rng: &mut Rng, _: Instant) -> bool {
        let drawn = rng.unit_f64();
        let taken = self.passed >= self.gap && drawn < self.hazard;
        self.passed = if taken { 0 } else { self.passed.saturating_add(1) };
        taken
    }
}

impl fmt::Display for Sparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "sparse").value("p", self.p).value("gap", self.gap).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Result<Sparse, SpecError> {
        Sparse::from_spec(Spec::parse(text).unwrap())
    }

    fn taken(text: &str, frames: u64) -> Vec<u64> {
        let (mut model, mut rng) = (model(text).unwrap(), Rng::from_seed(1));
        (0..frames).filter(|_| model.takes(&mut rng, Instant::ZERO)).collect()
    }

    #[test]
    fn losses_have_the_given_share_and_gap() {
        for (p, gap) in [(0.005, 168), (0.001, 168), (0.02, 0)] {
            let frames = 1_000_000;
            let lost = taken(&format!("sparse(p={p},gap={gap})"), frames);
            let share = lost.len() as f64 / frames as f64;
            assert!((share / p - 1.0).abs() < 0.05, "{share}");
            assert!(lost.windows(2).all(|pair| pair[1] - pair[0] > gap));
            assert!(lost.windows(2).any(|pair| pair[1] - pair[0] < gap + 20));
        }
    }

    #[test]
    fn gap_too_large_is_an_error() {
        let error = model("sparse(p=0.01,gap=100)").unwrap_err().to_string();
        assert!(error.contains("gap=100") && error.contains("1/p"), "{error}");
        assert!(model("sparse(p=0.01,gap=99)").is_ok());
        assert!(taken("sparse(gap=5)", 1_000).is_empty());
    }
}
