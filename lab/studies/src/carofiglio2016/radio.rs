//! Radio, window and cells, where the paper leaves them open: the values that were searched, which stand in `axes.toml`.
//!
//! The authors published ns-3 code for a later paper (`mapme-tnsm17`, of ns-3.24). Its values come first on each axis.

use super::axis::named;
use crate::sweep::Axis;

/// Path loss, power, detection and longest aggregates.
pub(super) const RADIOS: Axis = named("radio");
/// Fading.
pub(super) const FADINGS: Axis = named("fading");
/// Tries of an MPDU under block acknowledgement.
pub(super) const TRIES: Axis = named("tries");
/// Errors of a frame by its signal.
pub(super) const ERRORS: Axis = named("errors");
/// β and Δp of RAAQM.
pub(super) const WINDOWS: Axis = named("window");
/// Where the second access point of the wireless network stands.
pub(super) const CELLS: Axis = named("cells");

/// A value of each axis, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub radio: &'static str,
    pub fading: &'static str,
    pub tries: &'static str,
    pub errors: &'static str,
    pub window: &'static str,
    pub cells: &'static str,
}

/// The choice of the search (`calibration.toml`), with the radio and the cells that were fixed in it.
pub(super) const CHOSEN: Setup = Setup {
    radio: "120 m",
    fading: "m = 1, coherence",
    tries: "7",
    errors: "tables",
    window: "0.8, 0.2",
    cells: "1 km apart",
};

impl Setup {
    /// The fields of radio and window, for all networks.
    pub(super) fn radio(&self) -> String {
        let Self { radio, fading, tries, errors, window, .. } = *self;
        let values = [radio, fading, tries, errors, window];
        let axes = [RADIOS, FADINGS, TRIES, ERRORS, WINDOWS].into_iter();
        axes.zip(values).map(|(axis, value)| axis.fields(value)).collect()
    }
}
