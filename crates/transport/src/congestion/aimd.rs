//! `aimd(step=1,beta=0.5,…,hystart=false)`: one `step` wider in each round trip, to `beta` of it at a loss.
//!
//! Sources: RFC 5681 section 3.1 (equation 3); S. Yang's consumer (2016), designs #1 to #3.
//!
//! Differences: those of the skeleton (`windowed`). A round trip adds `step` in all, spread over its
//! deliveries as step/window each. HyStart++ is off unless asked for: the paper's consumer has none.
use super::{Delivered, WindowRule, WindowSettings, Windowed};
use crate::spec::{Spec, SpecError, SpecWriter};
use crate::time::Instant;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aimd {
    /// Segments added in each round trip.
    pub step: f64,
    /// What a loss leaves of the window, 0 to 1.
    pub beta: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { step: 1.0, beta: 0.5 }
    }
}

impl WindowRule for Aimd {
    const NAME: &'static str = "aimd";

    fn describe<'a, 'b>(&self, writer: SpecWriter<'a, 'b>) -> SpecWriter<'a, 'b> {
        writer.value("step", self.step).value("beta", self.beta)
    }

    fn increase(&mut self, _: Instant, window: f64, _: &Delivered) -> f64 {
        self.step / window
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        window * self.beta
    }
}

pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Windowed<Aimd>, SpecError> {
    let default = Aimd::default();
    let rule = Aimd {
        step: spec.number("step", default.step, 0.0..=1e6, "a number from 0 to 1000000")?,
        beta: spec.number("beta", default.beta, 0.0..=1.0, "a number from 0 to 1")?,
    };
    let settings = WindowSettings::from_spec(&mut spec, WindowSettings::default())?;
    spec.finish()?;
    Ok(Windowed::new(rule, settings))
}
