//! WLDR and loss notices on real processes: the parts of Figure 5b, over links that lose in bursts.
use super::axis::{ELN, INTERESTS, NOTHING, TWO_TIMERS, WLDR, recoveries, timers};
use crate::compare::{Quantity, Sockets, Terms};
use crate::contest::Contest;
use crate::study::{Experiment, Scale};
use crate::sweep::changed;
use recoup_core::unit::Capacity;

/// The wireless network, with lossy links in place of the radio.
const NETWORK: &str = include_str!("sockets.toml");

const TIME: Quantity = Quantity { metric: "time_s", label: "time", unit: "s", factor: 1.0 };
const TIMEOUTS: Quantity =
    Quantity { metric: "timeouts", label: "timeouts", unit: "", factor: 1.0 };
const QUANTITIES: &[Quantity] = &[TIME, TIMEOUTS];

const RECOVERING: Contest = Contest {
    experiment: "parts-sockets",
    axis: "recovery",
    ours: WLDR,
    theirs: NOTHING,
    place: "c1",
    quantity: TIME,
    expected: &[("timer", "200")],
};
const CONTESTS: &[Contest] = &[
    RECOVERING,
    Contest { ours: ELN, ..RECOVERING },
    Contest { ours: INTERESTS, ..RECOVERING },
    Contest { quantity: TIMEOUTS, ..RECOVERING },
];

pub(super) fn sockets(scale: Scale) -> Sockets {
    let is_small = scale == Scale::Smoke;
    let size = Capacity::Bytes(if is_small { 200_000 } else { 2_000_000 });
    let mut scenario = changed(NETWORK, |scenario| scenario.set(&["serve", "size"], size));
    scenario += &timers(&TWO_TIMERS);
    scenario += &recoveries(&[NOTHING, ELN, INTERESTS, WLDR]);
    let seeds = if is_small { 1 } else { 20 };
    let (name, serves) = ("parts-sockets", &["parts-sockets"]);
    let experiment = Experiment { name, serves, scenario, files: &[], seeds, curves: None };
    let (quantities, reported) = (QUANTITIES, Vec::new());
    let terms = Terms { quantities, decisive: &[], within: 0.2, reported, contests: CONTESTS };
    Sockets { simulated: vec![experiment.clone()], experiments: vec![experiment], terms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_radio_links_lose_and_recover() {
        let networks = sockets(Scale::Check).experiments[0].networks();
        assert_eq!(networks.len(), 2 * 4);
        for (label, network) in networks {
            let lossy = network.links.iter().map(|it| it.back.loss.text() != "none");
            assert_eq!(lossy.collect::<Vec<_>>(), [true, false, false, true], "{label}");
        }
    }
}
