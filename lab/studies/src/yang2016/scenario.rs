//! The experiments: the paper's two networks with its four designs, and what it leaves open.
use crate::beside;
use crate::study::{Experiment, Scale};
use crate::sweep::{Axis, axis, changed};
use recoup_core::unit::Capacity;

/// The paper's network with one consumer, in Mini-NDN's format.
pub const LINEAR_CONF: &str = include_str!("linear.conf");
/// The paper's network with two consumers.
pub const DUMBBELL_CONF: &str = include_str!("dumbbell.conf");

const FILES: &[(&str, &str)] = &[("linear.conf", LINEAR_CONF), ("dumbbell.conf", DUMBBELL_CONF)];

/// Common to all networks: segments of 1024 bytes in packets of 1448, and caches in every forwarder. The paper does not
/// state the mean delay of 0.3 ms at each hop.
const COMMON: &str = include_str!("common.toml");

/// The axis of that name.
const fn named(name: &'static str) -> Axis {
    Axis::new(include_str!("axes.toml"), name)
}

/// The designs that adapt.
const ADAPTIVE: Axis = named("design");

/// The designs as variants of one scenario; the window of #0 depends on the network. It takes no samples, so its
/// timeout stays the initial one of RFC 6298.
fn designs(fixed_window: u32) -> String {
    let fixed = format!(
        "\"fetch.congestion\" = \"fixed(window={fixed_window})\"\n\"fetch.rto\" = \"constant(rto=1s)\"\n"
    );
    axis(ADAPTIVE.name, [("#0", fixed)]) + &ADAPTIVE.text()
}

const LINEAR: &str = include_str!("linear.toml");
const DUMBBELL: &str = include_str!("dumbbell.toml");

/// A parameter that the paper leaves open: the experiment and figure, its axis, and the value that the other experiments
/// assume.
pub(super) struct Open {
    pub experiment: &'static str,
    pub axis: Axis,
    pub assumed: &'static str,
}

const fn open(experiment: &'static str, axis: &'static str, assumed: &'static str) -> Open {
    Open { experiment, axis: named(axis), assumed }
}

pub(super) static OPEN: [Open; 4] = [
    open("linear-floor", "floor", "0 ms"),
    open("linear-jitter", "jitter", "0.3 ms"),
    open("linear-segment", "segment", "1024 B"),
    open("linear-reading", "reading", "as decided"),
];

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let (seeds, size) = match scale {
        Scale::Smoke => (2, Capacity::Bytes(256 << 10)),
        Scale::Check | Scale::Verdict | Scale::Paper => (20, Capacity::Bytes(10 << 20)),
    };
    let common = changed(COMMON, |scenario| scenario.set(&["serve", "size"], size));
    let text = |network: &str, sweep: String| format!("{common}{network}{sweep}");
    let experiment =
        |name, scenario| Experiment { files: FILES, ..Experiment::new(name, scenario, seeds) };
    let mut all = vec![
        Experiment {
            curves: Some((1, &["window", "rto"])),
            ..experiment("linear", text(LINEAR, designs(32)))
        },
        Experiment {
            curves: Some((1, &["window"])),
            ..experiment("dumbbell", text(DUMBBELL, designs(16)))
        },
    ];
    if scale != Scale::Paper {
        all.extend(OPEN.iter().map(|open| {
            // The design comes first: it names algorithms whose parameters a variant then sets.
            let sweep = ADAPTIVE.text() + &open.axis.text();
            experiment(open.experiment, text(LINEAR, sweep))
        }));
        let with_default = |window| {
            let default = axis(ADAPTIVE.name, [(beside::DEFAULT, beside::fields())]);
            designs(window) + &default
        };
        all.push(experiment("default-linear", text(LINEAR, with_default(32))));
        all.push(experiment("default-dumbbell", text(DUMBBELL, with_default(16))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::{ApplicationKind, Network, Order};
    use recoup_transport::fetch::FetchOptions;

    fn fetch(network: &Network) -> &FetchOptions {
        let ApplicationKind::Fetch(plan) = &network.applications[0].kind else { panic!() };
        &plan.options
    }

    #[test]
    fn the_networks_are_the_papers() {
        for experiment in &experiments(Scale::Paper) {
            for (label, network) in experiment.networks() {
                let middle = network.links.iter().find(|link| link.name == "r1-r2").unwrap();
                assert_eq!(
                    (middle.forth.rate_bits, middle.forth.queue.packets),
                    (5_000_000, Some(32))
                );
                assert_eq!(middle.back.order, Order::DelayThenRate);
                assert_eq!(middle.back.jitter.text(), "exponential(mean=0.3ms)");
                assert!(network.follow_transmissions, "{label}");
            }
        }
    }

    #[test]
    fn variant_changes_its_fields_and_keeps_the_design() {
        let all = experiments(Scale::Check);
        let at =
            |name: &str, label: &str| all.iter().find(|it| it.name == name).unwrap().network(label);
        let network = at("linear-reading", "design=#1, reading=window 1 after a loss");
        let congestion = fetch(&network).congestion.text();
        assert!(
            congestion.contains("conservative=off") && congestion.contains("reset-to-init=true")
        );
        let network = at("linear-reading", "design=#3, reading=queue before the delay");
        assert!(network.links.iter().all(|link| link.back.order == Order::RateThenDelay));
        assert_eq!(network.links[1].forth.queue.packets, Some(32));
        let network = at("linear-reading", "design=#2, reading=a timeout cancels");
        assert!(fetch(&network).cancel_on_timeout);
        let network = at("linear-floor", "design=#2, floor=80 ms");
        assert_eq!(fetch(&network).rto.text(), "yang2016(min=80ms)");
        let network = at("linear-jitter", "design=#2, jitter=0 ms");
        assert!(network.links.iter().all(|link| link.forth.jitter.text() == "none"));
    }
}
