//! The timers on real processes: scenario 1 at three hops, over links that lose as much as the radio does.
use super::axis::{TIMERS, timers};
use crate::compare::{Quantity, Sockets, Terms};
use crate::contest::Contest;
use crate::study::{Experiment, Scale};
use crate::sweep::changed;
use recoup_core::unit::Capacity;

/// The chain, and the axis of its losses.
const CHAIN: &str = include_str!("sockets.toml");

const TIME: Quantity = Quantity { metric: "time_s", label: "time", unit: "s", factor: 1.0 };
const QUANTITIES: &[Quantity] = &[
    TIME,
    Quantity { metric: "timeouts", label: "timeouts", unit: "", factor: 1.0 },
    Quantity { metric: "retransmissions", label: "sent again", unit: "", factor: 1.0 },
];

/// The thesis' result: a lifetime near the round trip is faster than 4 s.
const CONTESTS: &[Contest] = &[
    Contest {
        experiment: "chain",
        axis: "timer",
        ours: "CCNTimer",
        theirs: "constant",
        place: "c1",
        quantity: TIME,
        expected: &[("loss", "2 %"), ("loss", "5 %")],
    },
    Contest {
        experiment: "chain",
        axis: "timer",
        ours: "WMA",
        theirs: "constant",
        place: "c1",
        quantity: TIME,
        expected: &[("loss", "2 %"), ("loss", "5 %")],
    },
];

pub(super) fn sockets(scale: Scale) -> Sockets {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 40_000 } else { 200_000 });
    let mut scenario = changed(CHAIN, |scenario| scenario.set(&["serve", "size"], size));
    scenario += &timers(&TIMERS);
    let seeds = if is_small { 1 } else { 20 };
    let (name, serves) = ("chain", &["chain"]);
    let experiment = Experiment { name, serves, scenario, files: &[], seeds, curves: None };
    let (quantities, reported) = (QUANTITIES, Vec::new());
    let terms = Terms { quantities, decisive: &[], within: 0.2, reported, contests: CONTESTS };
    Sockets { simulated: vec![experiment.clone()], experiments: vec![experiment], terms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_has_three_lossy_hops() {
        let networks = sockets(Scale::Check).experiments[0].networks();
        assert_eq!(networks.len(), 12);
        let (_, network) = networks.iter().find(|(it, _)| it.contains("loss=2 %")).unwrap();
        assert_eq!(network.links.len(), 3);
        assert!(network.links.iter().all(|it| it.back.loss.text() == "bernoulli(p=0.02)"));
    }
}
