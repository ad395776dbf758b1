//! Search for fading, tries, errors and window of the wireless network in numbers of Figures 5a and 5c that gate nothing.
//!
//! The mobile and the joint network have no part in it: they take what it chooses.
use super::axis::{self, NOTHING, WLDR, axis};
use super::radio::{CELLS, CHOSEN, ERRORS, FADINGS, RADIOS, TRIES, Value, WINDOWS, fields};
use super::scenario::with_flows;
use crate::calibration::Calibration;
use crate::sweep::{changed, set_fields};
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

/// The scenario of the search stands alone, so that the base network may follow from the choice.
const SCENARIO: &str = include_str!("search.toml");

const ABOUT: &str = "\
The paper states an average round trip of 50 ms, a best timer of 60 ms, and gains of WLDR with 60 and with 200 ms.\n\
They gate nothing. It states no fading, no tries, no model of errors and no constants of RAAQM, and those are searched here.\n\
The wires have 1 ms, as the paper states (5.2, 5.3), and the radio reaches its 120 m.\n\
Each candidate fetches the ten files at 10 km/h without recovery and with WLDR; a file has a fortieth of its packets.\n\n\
It is the third search. The second one searched the delay of the wires, too, which contradicts the paper, and chose 4 ms.\n\n\
A gain is wanted in the middle of the paper's range; one unit is half of that range or more.\n\
A best timer of 60 ms means that 40 and 100 ms take at least as long.\n\
Of equally near candidates the first in the space is taken.";

const ROUNDS: &[Round] = &[
    Round { seeds: 2, candidates: usize::MAX },
    Round { seeds: 8, candidates: 16 },
    Round { seeds: 20, candidates: 6 },
];

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
    let runs = RUNS.map(|(name, way, timer)| (name, axis::recovery(way) + &axis::timer(timer)));
    let values = |all: &[Value]| -> Vec<(&'static str, String)> {
        all.iter().map(|(name, fields)| (*name, (*fields).to_owned())).collect()
    };
    [
        axis(RUN, runs),
        axis("fading", values(&FADINGS)),
        axis("tries", values(&TRIES)),
        axis("errors", values(&ERRORS)),
        axis("window", values(&WINDOWS)),
    ]
    .concat()
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let time = |name, above, below, wanted, deviation| Target {
        name,
        measure: Measure::Ratio { metric: "all.time_mean_s", above, below },
        wanted,
        unit: "",
        deviation,
    };
    let best = |name, above| time(name, above, "nothing, 60 ms", 1.0, Deviation::AtLeast(0.03));
    let gain =
        |name, above, below, wanted| time(name, above, below, wanted, Deviation::Relative(0.03));
    Calibration {
        scenario: changed(SCENARIO, |scenario| {
            set_fields(scenario, fields(&RADIOS, CHOSEN.radio));
            set_fields(scenario, fields(&CELLS, CHOSEN.cells));
            with_flows(scenario);
        }) + &space(),
        inner: Some(RUN),
        targets: vec![
            Target {
                name: "E-28: round trip",
                measure: Measure::Mean { metric: "all.rtt_mean_s", at: None },
                wanted: 0.05,
                unit: "s",
                deviation: Deviation::Relative(0.2),
            },
            best("E-01b: 40 ms over 60 ms", "nothing, 40 ms"),
            best("E-01b: 100 ms over 60 ms", "nothing, 100 ms"),
            gain("E-10: nothing over WLDR, 60 ms", "nothing, 60 ms", "WLDR, 60 ms", 1.106),
            gain("E-11: nothing over WLDR, 200 ms", "nothing, 200 ms", "WLDR, 200 ms", 1.183),
        ],
        rounds: ROUNDS,
        about: ABOUT,
        drawn: ("fading", "window"),
        frozen: Some(include_str!("calibration.toml")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carofiglio2016::scenario::experiments;
    use crate::study::Scale;

    #[test]
    fn base_network_is_the_frozen_choice() {
        let all = experiments(Scale::Check);
        let base = all.iter().find(|it| it.name == "timer").unwrap().networks();
        let chosen = calibration().chosen();
        assert_eq!(chosen.len(), RUNS.len());
        for (stage, (_, way, timer)) in chosen.into_iter().zip(RUNS) {
            let label = format!("recovery={way}, timer={timer}, wires=300");
            let (_, base) = base.iter().find(|(own, _)| *own == label).unwrap();
            let chosen = stage.scenario().unwrap().network(1).unwrap();
            assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"), "{label}");
        }
    }
}
