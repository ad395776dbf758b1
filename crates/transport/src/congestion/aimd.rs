//! `aimd(step=1,beta=0.5,…,hystart=false)`: one `step` wider in each round trip, to `beta` of it at a loss.
//!
//! `yang2016` is the same with the values of that consumer's designs #2 and #3: `init-cwnd=1`,
//! `init-ssthresh=200`, `conservative=rec-point`, `growth=always`, `undo=false`. Design #1 is
//! `yang2016(conservative=off)`.
//!
//! `newreno` is the same with what a TCP does after a timeout, `timeout=slow-start`: a window of 1, and
//! slow start up to half of what it was.
//!
//! Sources: RFC 5681 section 3.1 (equation 3); S. Yang's consumer (2016), designs #1 to #3.
//!
//! Differences: those of `windowed`. A round trip adds `step` in all, spread over its deliveries as step/window each.
//! HyStart++ is off by default: the paper's consumer has none. The paper begins with a window of 0, which the Data of
//! version discovery makes 1.
use super::{AfterTimeout, Conservative, Delivered, Growth, WindowRule, WindowSettings, Windowed};
use crate::spec::{Description, Spec, SpecError};
use crate::time::Instant;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aimd {
    /// Segments added in each round trip.
    pub step: f64,
    /// Factor of the window at a loss, 0 to 1.
    pub beta: f64,
}

impl Default for Aimd {
    fn default() -> Self {
        Self { step: 1.0, beta: 0.5 }
    }
}

impl WindowRule for Aimd {
    const NAME: &'static str = "aimd";

    fn describe(&mut self, each: &mut Description<'_>) {
        each.number("step", &mut self.step, 0.0..=1e6, "a number from 0 to 1000000");
        each.number("beta", &mut self.beta, 0.0..=1.0, "a number from 0 to 1");
    }

    fn increase(&mut self, _: Instant, window: f64, _: &Delivered) -> f64 {
        self.step / window
    }

    fn decrease(&mut self, _: Instant, window: f64) -> f64 {
        window * self.beta
    }
}

pub(super) fn from_spec(spec: Spec<'_>) -> Result<Windowed<Aimd>, SpecError> {
    with_defaults(spec, WindowSettings::default())
}

pub(super) fn yang2016_from_spec(spec: Spec<'_>) -> Result<Windowed<Aimd>, SpecError> {
    with_defaults(
        spec,
        WindowSettings {
            init_cwnd: 1.0,
            init_ssthresh: 200.0,
            conservative: Conservative::RecPoint,
            growth: Growth::Always,
            undo: false,
            ..WindowSettings::default()
        },
    )
}

pub(super) fn newreno_from_spec(spec: Spec<'_>) -> Result<Windowed<Aimd>, SpecError> {
    let timeout = AfterTimeout::SlowStart;
    with_defaults(spec, WindowSettings { timeout, ..WindowSettings::default() })
}

pub(super) fn with_defaults(
    spec: Spec<'_>,
    settings: WindowSettings,
) -> Result<Windowed<Aimd>, SpecError> {
    Windowed::from_spec(spec, Aimd::default(), settings)
}
