//! Search for the base network in Table 3's row without background traffic and in the times of section 4.2.
//!
//! Two clients fetch 20 MB without other traffic and without fairness. The paper reports both times and no losses.
//! In section 4.2 each flavour still fetches at the fourth burst.
use crate::calibration::Calibration;
use crate::sweep::axis;

/// The scenario of the search stands alone, so that the base network may follow from the choice.
const SCENARIO: &str = include_str!("search.toml");

/// Delays of a link. A round trip has six of them, and its half is the soft timeout of the PIT.
const DELAYS_MS: std::ops::RangeInclusive<u64> = 16..=26;

/// First thresholds, in segments.
const THRESHOLDS: [&str; 7] = ["16", "24", "32", "40", "48", "56", "64"];

/// The axis whose values belong to each candidate.
const CLIENTS: &str = "clients";

const CLIENT_2: &str = r#""applications.c2" = { kind = "fetch", node = "c2", start = "0.75 s" }"#;

/// The axes, in the order of a tie.
fn space() -> String {
    let one = |flavour| format!("\"fetch.congestion.flavour\" = \"{flavour}\"");
    let clients = [
        ("two", CLIENT_2.to_owned()),
        ("one, NewReno", one("newreno")),
        ("one, Compound", one("compound")),
        ("one, Cubic", one("cubic")),
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
    let (targets, frozen) = (include_str!("targets.toml"), include_str!("calibration.toml"));
    Calibration::read(targets, format!("{SCENARIO}\n{}", space()), frozen)
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn each_flavour_also_runs_alone() {
        let networks = calibration().chosen().into_iter().skip(1);
        let networks = networks.map(|it| it.scenario().unwrap().network(1).unwrap());
        for (network, flavour) in networks.zip(["newreno", "compound", "cubic"]) {
            let expected = format!("udugama2013(flavour={flavour},init-ssthresh=64)");
            assert_eq!(windows(&network), [expected]);
        }
    }
}
