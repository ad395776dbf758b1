//! Search for radio, pipeline and capture in the numbers of scenario 1 at three hops, and in lifetimes of scenario 3 at five.
//!
//! Values that CCNx 0.8.2 and NS3-DCE imply are fixed. Scenario 2, and scenarios 1 and 3 at other distances, have no part in it.
use super::axis::{Scenario, TIMERS, axis, network, rto, spec};
use super::scenario::{Size, scenario};
use super::setup::{AT_ONCE, CAPTURES, LAST, PIPELINES, RADIOS, Setup};
use crate::calibration::Calibration;

/// The axis whose values belong to each candidate.
const RUN: &str = "run";

/// The run of scenario 3.
const SIDES: &str = "TCP RTO, scenario 3";

/// Last segment of a quarter of the file.
const QUARTER: u32 = 319;

/// The candidates; each combines values of three axes with all timers.
fn space() -> String {
    let setup = |radio| Setup::with_tools(radio, PIPELINES[0], CAPTURES[0]);
    // Fields that are the same for all stand with the radio.
    let radio = |radio| {
        let setup = setup(radio);
        (radio, setup.content() + AT_ONCE + &setup.medium())
    };
    let pipeline = |pipeline| (pipeline, Setup { pipeline, ..setup(RADIOS[0]) }.consumer());
    let capture = |capture| (capture, Setup { capture, ..setup(RADIOS[0]) }.reception());
    // Outer nodes stand 395 or 760 m beside the row, as far as all candidates permit.
    let hidden = setup(RADIOS[0]);
    let row = network(Scenario::One, &hidden, 3);
    let alone = TIMERS.map(|timer| (timer, rto(spec(timer)) + "\n" + &row));
    let sides =
        network(Scenario::Sides, &hidden, 5) + &rto("tcp") + &format!("\n\"{LAST}\" = {QUARTER}\n");
    let axes = [
        axis("radio", RADIOS.map(radio)),
        axis("pipeline", PIPELINES.map(pipeline)),
        axis("capture", CAPTURES.map(capture)),
        axis(RUN, alone.into_iter().chain([(SIDES, sides)])),
    ];
    scenario(&axes, Size::Whole)
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let (targets, frozen) = (include_str!("targets.toml"), include_str!("calibration.toml"));
    Calibration::read(targets, space(), frozen)
}
