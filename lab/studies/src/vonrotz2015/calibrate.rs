//! Search for radio, pipeline and capture in the numbers of scenario 1 at three hops, and in lifetimes of scenario 3 at five.
//!
//! Values that CCNx 0.8.2 and NS3-DCE imply are fixed. Scenario 2, and scenarios 1 and 3 at other distances, have no part in it.
use super::axis::{Scenario, TIMERS, axis, network, rto, spec};
use super::scenario::{Size, scenario};
use super::setup::{AT_ONCE, CAPTURES, LAST, PIPELINES, RADIOS, Setup};
use crate::calibration::Calibration;
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

const ABOUT: &str = "\
Scenario 1 at three hops has seven numbers that gate nothing: times and timeouts over those of CCNTimer.\n\
Two absolute levels gate nothing either: TCP's RTO is slightly below 1 s there without its least value (A-04),\n\
and lifetimes of scenario 3 at five hops are almost constantly 4 s (A-48).\n\
The paper states no rate, no distance, no pipeline and no capture. They are searched here.\n\
It states that only immediate neighbours see each other (IV-B). So nodes two hops apart decode nothing of each other.\n\
Each candidate runs the whole file with each of the six timers, and a quarter of it in scenario 3.\n\n\
What the paper's tools do counts as stated. CCNx 0.8.2 rounds lifetimes up to 125 ms at each node and admits late Data.\n\
Its blocks have 4,096 bytes. NS3-DCE takes no time for a packet, and ns-3's MTU is 2,296 bytes.\n\
ns-3 of that time judges frames by NIST's error model, sends a frame seven times, and has slots of 20 µs.\n\
Its 802.11g has the rates of 802.11b, too, and ARF as its usual choice among them.\n\n\
It is the second search. The first one had no rate below 6 Mbit/s and no absolute level, and chose 24 Mbit/s with nodes\n\
two hops apart that sense and decode each other.\n\n\
Hidden are nodes two hops apart that do not sense each other.\n\
Of equally near candidates the first in the space is taken.";

const ROUNDS: &[Round] = &[
    Round { seeds: 2, candidates: usize::MAX },
    Round { seeds: 8, candidates: 24 },
    Round { seeds: 20, candidates: 6 },
];

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
        inner: Some(RUN),
        targets: vec![
            Target {
                name: "A-04: TCP's RTO without its least value",
                measure: Measure::Sum {
                    parts: &[(1.0, "c1.srtt_mean_s"), (4.0, "c1.rttvar_mean_s")],
                    at: "TCP RTO",
                },
                wanted: 0.95,
                unit: "s",
                deviation: Deviation::Relative(0.1),
            },
            Target {
                name: "A-48: median lifetime of scenario 3",
                measure: Measure::Mean { metric: "c1.rto_p50_s", at: Some(SIDES) },
                wanted: 4.0,
                unit: "s",
                deviation: Deviation::Relative(0.1),
            },
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
    use crate::vonrotz2015::scenario::experiments;

    #[test]
    fn base_network_is_the_frozen_choice() {
        let all = experiments(Scale::Check);
        let networks = |name| all.iter().find(|it| it.name == name).unwrap().networks();
        let base = [networks("one-trace"), networks("side")].concat();
        let labels = TIMERS.map(|timer| format!("timer={timer}, hops=3, setup=assumed"));
        let labels = labels.into_iter().chain(["timer=TCP RTO, hops=5, setup=assumed".to_owned()]);
        let chosen = calibration().chosen();
        assert_eq!(chosen.len(), TIMERS.len() + 1);
        for (stage, label) in chosen.into_iter().zip(labels) {
            let (_, base) = base.iter().find(|(own, _)| *own == label).unwrap();
            let chosen = stage.scenario().unwrap().network(1).unwrap();
            assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"), "{label}");
        }
    }
}
