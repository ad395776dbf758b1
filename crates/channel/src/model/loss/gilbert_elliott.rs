//! Losses in bursts of frames: `gilbert-elliott(p=0.01,r=0.3,good=0,bad=1)`.
//!
//! Sources: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963. The symbols are those of Hasslinger and
//! Hohlfeld, 2008, and of netem: `p` leads from good to bad, `r` back, before each frame.
//!
//! Differences: the first state is drawn from the equilibrium, not good as in netem. So the share of lost frames is
//! `(p·bad + r·good)/(p + r)` from the first frame on. Two numbers are drawn for each frame whatever the state, so that
//! two runs with different traffic stay comparable.
use super::LossModel;
use super::bernoulli::PROBABILITY;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use recoup_transport::time::Instant;

/// A chain of two states that moves with each frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    p: f64,
    r: f64,
    good: f64,
    bad: f64,
    is_bad: Option<bool>,
}

impl GilbertElliott {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { p: 0.0, r: 1.0, good: 0.0, bad: 1.0, is_bad: None })
    }
}

impl LossModel for GilbertElliott {
    fn takes(&mut self, rng: &mut Rng, _: Instant) -> bool {
        let (change, loss) = (rng.unit_f64(), rng.unit_f64());
        let is_bad = match self.is_bad {
            // A chain that never moves begins where it stays: in the good state.
            None => change * (self.p + self.r) < self.p,
            Some(false) => change < self.p,
            Some(true) => change >= self.r,
        };
        self.is_bad = Some(is_bad);
        loss < if is_bad { self.bad } else { self.good }
    }

    fn mean_share(&self) -> Option<f64> {
        let moves = self.p + self.r;
        Some(if moves > 0.0 { (self.p * self.bad + self.r * self.good) / moves } else { self.good })
    }
}

impl Described for GilbertElliott {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("p", &mut self.p, 0.0..=1.0, PROBABILITY);
        each.number("r", &mut self.r, 0.0..=1.0, PROBABILITY);
        each.number("good", &mut self.good, 0.0..=1.0, PROBABILITY);
        each.number("bad", &mut self.bad, 0.0..=1.0, PROBABILITY);
    }
}

recoup_core::print_as_spec!(GilbertElliott, "gilbert-elliott");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_and_burst_length_follow_the_parameters() {
        let (p, r) = (0.02, 0.25);
        let mut model = GilbertElliott { p, r, good: 0.0, bad: 1.0, is_bad: None };
        let mut rng = Rng::from_seed(1);
        let taken: Vec<bool> = (0..200_000).map(|_| model.takes(&mut rng, Instant::ZERO)).collect();
        let lost = taken.iter().filter(|taken| **taken).count() as f64;
        let bursts = taken.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((lost / 200_000.0 - p / (p + r)).abs() < 0.003, "{lost}");
        assert!((lost / bursts - 1.0 / r).abs() < 0.1, "{}", lost / bursts);
    }

    #[test]
    fn the_first_state_is_drawn_from_the_equilibrium() {
        let first = |seed| {
            let mut model = GilbertElliott { p: 0.1, r: 0.3, good: 0.0, bad: 1.0, is_bad: None };
            model.takes(&mut Rng::from_seed(seed), Instant::ZERO)
        };
        let bad = (0..10_000).filter(|seed| first(*seed)).count();
        assert!((2_350..2_650).contains(&bad), "{bad}");
    }
}
