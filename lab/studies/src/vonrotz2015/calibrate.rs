//! Search for radio, pipeline and capture in the numbers of scenario 1 at three hops.
//!
//! Values that CCNx 0.8.2 and NS3-DCE imply are fixed. Scenarios 2 and 3, and scenario 1 at other distances, have no part in it.
use super::axis::{Scenario, TIMERS, axis, network, timers};
use super::scenario::{Size, scenario};
use super::setup::{CAPTURES, PIPELINES, RADIOS, Setup};
use crate::calibration::Calibration;
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

const ABOUT: &str = "\
Scenario 1 at three hops has seven numbers that gate nothing: times and timeouts over those of CCNTimer.\n\
The paper states no rate, no distance, no pipeline and no capture. They are searched here.\n\
Each candidate runs the whole file with each of the six timers.\n\n\
What the paper's tools do counts as stated. CCNx 0.8.2 rounds lifetimes up to 125 ms at each node and admits late Data.\n\
Its blocks have 4,096 bytes. NS3-DCE takes no time for a packet, and ns-3's MTU is 2,296 bytes.\n\
ns-3 of that time judges frames by NIST's error model, sends a frame seven times, and has slots of 20 µs.\n\n\
Hidden are nodes two hops apart that do not sense each other; sensed are those that do.\n\
Of equally near candidates the first in the space is taken.";

const ROUNDS: &[Round] = &[
    Round { seeds: 2, candidates: usize::MAX },
    Round { seeds: 8, candidates: 24 },
    Round { seeds: 20, candidates: 6 },
];

/// The axis whose values belong to each candidate.
const TIMER: &str = "timer";

/// The candidates; each combines values of three axes with all timers.
fn space() -> String {
    let setup = |radio| Setup::with_tools(radio, PIPELINES[0], CAPTURES[0]);
    // Fields that are the same for all stand with the radio.
    let radio = |radio| {
        let setup = setup(radio);
        let same = network(Scenario::One, &setup, 3) + &setup.content() + &setup.time();
        (radio, same + &setup.medium())
    };
    let pipeline = |pipeline| (pipeline, Setup { pipeline, ..setup(RADIOS[0]) }.consumer());
    let capture = |capture| (capture, Setup { capture, ..setup(RADIOS[0]) }.reception());
    let axes = [
        timers(&TIMERS),
        axis("radio", RADIOS.map(radio)),
        axis("pipeline", PIPELINES.map(pipeline)),
        axis("capture", CAPTURES.map(capture)),
    ];
    scenario(&axes, Size::Whole)
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let target = |name, metric, above, below, wanted| Target {
        name,
        measure: Measure::Ratio { metric, above, below },
        wanted,
        unit: "",
        deviation: Deviation::Relative(0.1),
    };
    let (time, timeouts) = ("c1.time_s", "c1.timeouts");
    Calibration {
        scenario: space(),
        inner: Some(TIMER),
        targets: vec![
            target("A-12: 4 s / CCNTimer", time, "constant", "CCNTimer", 3.3),
            target("A-15: TCP RTO / CCNTimer", time, "TCP RTO", "CCNTimer", 1.95),
            target("A-16: Timeest / CCNTimer", time, "Timeest", "CCNTimer", 1.45),
            target("A-17: CCNTimer / ICP", time, "CCNTimer", "ICP", 1.06),
            target("A-18: CCNTimer / WMA", time, "CCNTimer", "WMA", 1.103),
            target("A-22: timeouts, ICP / CCNTimer", timeouts, "ICP", "CCNTimer", 3.59),
            target("A-23: timeouts, WMA / CCNTimer", timeouts, "WMA", "CCNTimer", 2.2),
        ],
        rounds: ROUNDS,
        about: ABOUT,
        drawn: ("radio", "pipeline"),
        frozen: Some(include_str!("calibration.toml")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Scale;
    use crate::vonrotz2015::scenario::{ASSUMED, experiments};

    #[test]
    fn base_network_is_the_frozen_choice() {
        let all = experiments(Scale::Paper);
        let base = all.iter().find(|it| it.name == "one-trace").unwrap().networks();
        let chosen = calibration().chosen();
        assert_eq!(chosen.len(), TIMERS.len());
        for (stage, timer) in chosen.into_iter().zip(TIMERS) {
            let label = format!("timer={timer}, hops=3, setup={ASSUMED}");
            let (_, base) = base.iter().find(|(own, _)| *own == label).unwrap();
            let chosen = stage.scenario().unwrap().network(1).unwrap();
            assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"), "{timer}");
        }
    }
}
