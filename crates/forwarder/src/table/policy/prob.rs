//! Leave copy everywhere, and its probabilistic variant `prob(p=0.5)`.
//!
//! Source: Laoutaris, Che and Stavrakakis, "The LCD interconnection of LRU caches and its analysis", Performance Evaluation
//! 63(7), 2006, section 2: LCE and Prob(p). In icarus `prob` is RAND_BERNOULLI.
use super::{AdmissionPolicy, Candidate};
use recoup_transport::random::Rng;
use recoup_transport::spec::{Described, Description, Spec, SpecError};
use std::fmt;

/// `lce`: all Data is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lce;

impl AdmissionPolicy for Lce {
    fn admits(&mut self, _candidate: &Candidate<'_>) -> bool {
        true
    }
}

impl fmt::Display for Lce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lce")
    }
}

/// `prob`: Data is stored with a fixed probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Prob {
    p: f64,
    rng: Option<Rng>,
}

impl Prob {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self { p: 0.5, rng: None })
    }
}

impl AdmissionPolicy for Prob {
    fn seed(&mut self, rng: Rng) {
        self.rng = Some(rng);
    }

    fn admits(&mut self, _candidate: &Candidate<'_>) -> bool {
        self.rng.as_mut().is_some_and(|rng| rng.unit_f64() < self.p)
    }
}

impl Described for Prob {
    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("p", &mut self.p, 0.0..=1.0, "a number from 0 to 1");
    }
}

recoup_core::print_as_spec!(Prob, "prob");
