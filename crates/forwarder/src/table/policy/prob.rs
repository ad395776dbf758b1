//! Leave copy everywhere, and its probabilistic variant `prob(p=0.5)`.
//!
//! Source: Laoutaris, Che and Stavrakakis, "The LCD interconnection of LRU caches and its analysis", Performance Evaluation
//! 63(7), 2006, section 2: LCE and Prob(p). In icarus `prob` is RAND_BERNOULLI.
use super::{AdmissionPolicy, Candidate};
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
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
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let p = spec.number("p", 0.5, 0.0..=1.0, "a number from 0 to 1")?;
        spec.finish()?;
        Ok(Self { p, rng: None })
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

impl fmt::Display for Prob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "prob").value("p", self.p).finish()
    }
}
