//! Search for the base network in Table 3's row without background traffic and in the times of section 4.2.
//!
//! Two clients fetch 20 MB without other traffic and without fairness. The paper reports both times and no losses.
//! In section 4.2 each flavour still fetches at the fourth burst.
use crate::calibration::Calibration;
use crate::sweep::axis;
use recoup_lab::calibrate::{Deviation, Measure, Round, Target};

/// The scenario of the search stands alone, so that the base network may follow from the choice.
const SCENARIO: &str = include_str!("search.toml");

const ABOUT: &str = "\
Table 3 has a row without background traffic: Client 1 needs 24.19 s, Client 2 23.43 s, and nothing is lost.\n\
The paper states no rates, no delays, no first threshold, no least RTO and no start of Client 2.\n\
Rates, delays and thresholds are searched here, with one queue per link and no fairness.\n\n\
Section 4.2 has a condition. Its flows start at 300 s and meet their fourth burst at 320 s.\n\
So each flavour's 20 MB must take 20 s or more without losses; such runs have one client.\n\n\
D-22b is the claim of these seconds, and does not gate. D-22a and D-24 gate on the difference that fairness makes.\n\
That nothing is lost with fairness is judged there, and is no target.\n\n\
Fixed are NewReno with Smart, queues of 100 packets, half of the file in Router 1's cache, RFC 6298's least RTO of 1 s,\n\
and the 0.75 s between the paper's two times. The soft PIT timeout is half a round trip.\n\
As in OPNET, links have no jitter. Seeds move the starts of both clients by up to a round trip.\n\
Of equally near candidates the first in the space is taken.";

/// Delays of a link. A round trip has six of them, and its half is the soft timeout of the PIT.
const DELAYS_MS: std::ops::RangeInclusive<u64> = 16..=26;

/// First thresholds, in segments.
const THRESHOLDS: [&str; 7] = ["16", "24", "32", "40", "48", "56", "64"];

const ROUNDS: &[Round] = &[
    Round { seeds: 1, candidates: usize::MAX },
    Round { seeds: 4, candidates: 24 },
    Round { seeds: 20, candidates: 6 },
];

/// The axis whose values belong to each candidate.
const CLIENTS: &str = "clients";
const TWO: &str = "two";
const ONE_NEWRENO: &str = "one, NewReno";
const ONE_COMPOUND: &str = "one, Compound";
const ONE_CUBIC: &str = "one, Cubic";

const CLIENT_2: &str = r#""applications.c2" = { kind = "fetch", node = "c2", start = "0.75 s" }"#;

/// The axes, in the order of a tie.
fn space() -> String {
    let one = |flavour| format!("\"fetch.congestion.flavour\" = \"{flavour}\"");
    let clients = [
        (TWO, CLIENT_2.to_owned()),
        (ONE_NEWRENO, one("newreno")),
        (ONE_COMPOUND, one("compound")),
        (ONE_CUBIC, one("cubic")),
    ];
    let rates = ["10 Mbit/s", "20 Mbit/s", "50 Mbit/s"]
        .map(|rate| (rate, format!("\"link.rate\" = \"{rate}\"")));
    let delay = |delay| {
        let fields = format!(
            "\"link.delay\" = \"{delay} ms\"\n\"node.suppression\" = \"soft-hard(soft={}ms)\"\n\
             \"fetch.spread\" = \"{} ms\"",
            3 * delay,
            6 * delay
        );
        (format!("{delay} ms"), fields)
    };
    let delays: Vec<_> = DELAYS_MS.map(delay).collect();
    let thresholds =
        THRESHOLDS.map(|it| (it, format!("\"fetch.congestion.init-ssthresh\" = {it}")));
    [
        axis(CLIENTS, clients),
        axis("rate", rates),
        axis("delay", delays.iter().map(|(name, fields)| (name.as_str(), fields.clone()))),
        axis("threshold", thresholds),
    ]
    .concat()
}

/// The search.
pub(super) fn calibration() -> Calibration {
    let target = |name, (metric, at), wanted, unit, deviation| {
        let measure = Measure::Mean { metric, at: Some(at) };
        Target { name, measure, wanted, unit, deviation }
    };
    let time =
        |name, metric, wanted| target(name, (metric, TWO), wanted, "s", Deviation::Relative(0.01));
    let losses = |name, metric| target(name, (metric, TWO), 0.0, "", Deviation::Absolute(1.0));
    let outlasts = |name, at| target(name, ("c1.time_s", at), 20.0, "s", Deviation::AtLeast(0.01));
    Calibration {
        scenario: format!("{SCENARIO}\n{}", space()),
        inner: Some(CLIENTS),
        targets: vec![
            time("D-22b: Client 1", "c1.time_s", 24.19),
            losses("D-22b: its losses", "c1.retransmissions"),
            time("Table 3: Client 2", "c2.time_s", 23.43),
            losses("Table 3: its losses", "c2.retransmissions"),
            outlasts("4.2: NewReno", ONE_NEWRENO),
            outlasts("4.2: Compound", ONE_COMPOUND),
            outlasts("4.2: Cubic", ONE_CUBIC),
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
    use recoup_sim::network::{ApplicationKind, Network};

    /// The windows of a network's consumers.
    fn windows(network: &Network) -> Vec<&str> {
        let consumers = network.applications.iter().filter_map(|it| match &it.kind {
            ApplicationKind::Fetch(plan) => Some(plan.options.congestion.text()),
            _ => None,
        });
        consumers.collect()
    }

    #[test]
    fn base_network_is_the_frozen_choice() {
        let all = crate::udugama2013::scenario::experiments(Scale::Check);
        let fairness = all.iter().find(|it| it.name == "fairness").unwrap().networks();
        let of_paper = |(label, _): &&(String, _)| label == "fairness=off, load=0 %";
        let (_, base) = fairness.iter().find(of_paper).unwrap();
        let chosen = calibration().chosen();
        let networks: Vec<_> =
            chosen.iter().map(|it| it.scenario().unwrap().network(1).unwrap()).collect();
        let [two, newreno, compound, cubic] = &networks[..] else { panic!("{}", networks.len()) };
        assert_eq!(format!("{base:#?}"), format!("{two:#?}"));
        // Section 4.2's condition: one client with each flavour.
        for (network, flavour) in [(newreno, "newreno"), (compound, "compound"), (cubic, "cubic")] {
            let expected = format!("udugama2013(flavour={flavour},init-ssthresh=64)");
            assert_eq!(windows(network), [expected]);
        }
    }
}
