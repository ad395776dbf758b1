//! Search for fading, tries, errors and window of the wireless network in numbers of Figures 5a and 5c that gate nothing.
//!
//! The mobile and the joint network have no part in it: they take what it chooses.
use super::axis::{self, NOTHING, WLDR, axis};
use super::radio::{CELLS, CHOSEN, ERRORS, FADINGS, RADIOS, TRIES, WINDOWS};
use super::scenario::with_flows;
use crate::calibration::Calibration;
use crate::sweep::{Axis, changed, set_fields};

/// The scenario of the search stands alone, so that the base network may follow from the choice.
const SCENARIO: &str = include_str!("search.toml");

/// The axis whose values belong to each candidate: recovery, and timer in milliseconds.
const RUN: &str = "run";

/// The runs of a candidate.
const RUNS: [(&str, &str, &str); 6] = [
    ("nothing, 40 ms", NOTHING, "40"),
    ("nothing, 60 ms", NOTHING, "60"),
    ("nothing, 100 ms", NOTHING, "100"),
    ("nothing, 200 ms", NOTHING, "200"),
    ("WLDR, 60 ms", WLDR, "60"),
    ("WLDR, 200 ms", WLDR, "200"),
];

/// The candidates, each with its runs.
fn space() -> String {
    let runs =
        RUNS.map(|(name, way, timer)| (name, axis::RECOVERY.fields(way) + &axis::timer(timer)));
    let axes = [FADINGS, TRIES, ERRORS, WINDOWS].map(Axis::text);
    axis(RUN, runs) + &axes.concat()
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let scenario = changed(SCENARIO, |scenario| {
        set_fields(scenario, &RADIOS.fields(CHOSEN.radio));
        set_fields(scenario, &CELLS.fields(CHOSEN.cells));
        with_flows(scenario);
    });
    let (targets, frozen) = (include_str!("targets.toml"), include_str!("calibration.toml"));
    Calibration::read(targets, scenario + &space(), frozen)
}
