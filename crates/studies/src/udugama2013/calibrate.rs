//! Search for the base network in Table 3's row without background traffic.
//!
//! Two clients fetch 20 MB without other traffic and without fairness. The paper reports both times and no losses.
use crate::calibration::Calibration;
use crate::sweep::axis;
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

/// The scenario of the search stands alone, so that the base network may follow from the choice.
const SCENARIO: &str = include_str!("search.toml");

const ABOUT: &str = "\
Table 3 has a row without background traffic: Client 1 needs 24.19 s, Client 2 23.43 s, and nothing is lost.\n\
The paper states no rates, no delays, no first threshold, no least RTO and no start of Client 2.\n\
They are searched here, with one queue per link and no fairness.\n\n\
D-22b is the claim of these seconds, and does not gate. D-22a and D-24 gate on the difference that fairness makes.\n\
That nothing is lost with fairness is judged there, and is no target.\n\n\
Fixed are NewReno with Smart, queues of 100 packets, and half of the file in Router 1's cache.\n\
The soft PIT timeout is half a round trip; each link has 0.3 ms of jitter.\n\
Of equally near candidates the first in the space is taken.";

/// Delays of a link. A round trip has six of them, and its half is the soft timeout of the PIT.
const DELAYS_MS: [u64; 7] = [10, 15, 18, 20, 21, 22, 24];

const ROUNDS: &[Round] = &[
    Round { seeds: 1, candidates: usize::MAX },
    Round { seeds: 4, candidates: 24 },
    Round { seeds: 20, candidates: 6 },
];

/// A value of a field for each of these names of it.
fn same<'a>(field: &str, values: &[&'a str]) -> Vec<(&'a str, String)> {
    values.iter().map(|value| (*value, format!("\"{field}\" = \"{value}\""))).collect()
}

/// The axes, in the order of a tie: RFC 6298's floor comes first.
fn space() -> String {
    let delays = DELAYS_MS.map(|delay| {
        let soft = 3 * delay;
        let fields = format!(
            "\"link.delay\" = \"{delay} ms\"\n\"node.suppression\" = \"soft-hard(soft={soft}ms)\""
        );
        (format!("{delay} ms"), fields)
    });
    let thresholds = ["16", "24", "32", "48", "64"]
        .map(|it| (it, format!("\"fetch.congestion.init-ssthresh\" = {it}")));
    [
        axis("rate", same("link.rate", &["10 Mbit/s", "20 Mbit/s", "50 Mbit/s"])),
        axis("delay", delays.iter().map(|(name, fields)| (name.as_str(), fields.clone()))),
        axis("threshold", thresholds),
        axis("floor", same("fetch.rto.min", &["1 s", "200 ms"])),
        axis("later", same("applications.c2.start", &["0.75 s", "2 s"])),
    ]
    .concat()
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let time = |name, metric, wanted| {
        let deviation = Deviation::Relative(0.01);
        Target { name, measure: Measure::Mean { metric, at: None }, wanted, unit: "s", deviation }
    };
    let losses = |name, metric| {
        let deviation = Deviation::Absolute(1.0);
        Target {
            name,
            measure: Measure::Mean { metric, at: None },
            wanted: 0.0,
            unit: "",
            deviation,
        }
    };
    Calibration {
        scenario: format!("{SCENARIO}\n{}", space()),
        inner: None,
        targets: vec![
            time("D-22b: Client 1", "c1.time_s", 24.19),
            losses("D-22b: its losses", "c1.retransmissions"),
            time("Table 3: Client 2", "c2.time_s", 23.43),
            losses("Table 3: its losses", "c2.retransmissions"),
        ],
        rounds: ROUNDS,
        about: ABOUT,
        drawn: ("delay", "threshold"),
        frozen: Some(include_str!("calibration.toml")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Scale;

    #[test]
    fn base_network_is_the_frozen_choice() {
        let chosen = calibration().chosen();
        let [chosen] = &chosen[..] else { panic!("{} points", chosen.len()) };
        let chosen = chosen.scenario.network(1).unwrap();
        let all = crate::udugama2013::scenario::experiments(Scale::Check);
        let fairness = all.iter().find(|it| it.name == "fairness").unwrap();
        let networks = fairness.networks();
        let (_, base) =
            networks.iter().find(|(label, _)| label == "fairness=off, load=0 %").unwrap();
        assert_eq!(format!("{base:#?}"), format!("{chosen:#?}"));
    }
}
