//! The experiments: the paper's two networks with its four designs, and what it leaves open.
use crate::beside;
use crate::study::{Experiment, Scale};
use crate::sweep::{axis, changed};
use recoup_core::unit::Capacity;

/// The paper's network with one consumer, in Mini-NDN's format.
pub const LINEAR_CONF: &str = include_str!("linear.conf");
/// The paper's network with two consumers.
pub const DUMBBELL_CONF: &str = include_str!("dumbbell.conf");

const FILES: &[(&str, &str)] = &[("linear.conf", LINEAR_CONF), ("dumbbell.conf", DUMBBELL_CONF)];

/// Common to all networks: segments of 1024 bytes in packets of 1448, and caches in every forwarder. The paper does not
/// state the mean delay of 0.3 ms at each hop.
const COMMON: &str = include_str!("common.toml");

/// The designs as variants of one scenario; the window of #0 depends on the network. It takes no samples, so its
/// timeout stays the initial one of RFC 6298.
fn designs(fixed_window: u32) -> String {
    format!(
        r##"
[sweep.design."#0"]
"fetch.congestion" = "fixed(window={fixed_window})"
"fetch.rto" = "constant(rto=1s)"
{}"##,
        ADAPTIVE
    )
}

const ADAPTIVE: &str = r##"
[sweep.design."#1"]
"fetch.congestion" = "yang2016(conservative=off)"
"fetch.sampling" = "every"
[sweep.design."#2"]
"fetch.congestion" = "yang2016"
"fetch.sampling" = "every"
[sweep.design."#3"]
"fetch.congestion" = "yang2016"
"fetch.sampling" = "per-rtt"
"##;

const LINEAR: &str = r#"
[topology]
file = "linear.conf"
[applications.c1]
kind = "fetch"
node = "c1"
object = "/p1/file"
[applications.p1]
kind = "serve"
node = "p1"
prefix = "/p1/file"
"#;

const DUMBBELL: &str = r#"
[topology]
file = "dumbbell.conf"
[applications.c1]
kind = "fetch"
node = "c1"
object = "/p1/file"
[applications.c2]
kind = "fetch"
node = "c2"
object = "/p2/file"
[applications.p1]
kind = "serve"
node = "p1"
prefix = "/p1/file"
[applications.p2]
kind = "serve"
node = "p2"
prefix = "/p2/file"
"#;

/// A parameter that the paper leaves open: an axis, its variants, and the fields that each variant
/// sets.
struct Open {
    experiment: &'static str,
    serves: &'static [&'static str],
    axis: &'static str,
    /// The variant that the other experiments assume.
    assumed: &'static str,
    variants: &'static [(&'static str, &'static str)],
}

const OPEN: [Open; 4] = [
    Open {
        experiment: "linear-floor",
        serves: &["linear-floor"],
        axis: "floor",
        assumed: "0 ms",
        variants: &[
            ("0 ms", r#""fetch.rto.min" = "0 ms""#),
            ("50 ms", r#""fetch.rto.min" = "50 ms""#),
            ("70 ms", r#""fetch.rto.min" = "70 ms""#),
            ("80 ms", r#""fetch.rto.min" = "80 ms""#),
            ("100 ms", r#""fetch.rto.min" = "100 ms""#),
            ("150 ms", r#""fetch.rto.min" = "150 ms""#),
            ("200 ms", r#""fetch.rto.min" = "200 ms""#),
            ("1 s", r#""fetch.rto.min" = "1 s""#),
        ],
    },
    Open {
        experiment: "linear-jitter",
        serves: &["linear-jitter"],
        axis: "jitter",
        assumed: "0.3 ms",
        variants: &[
            ("0 ms", r#""link.jitter" = "none""#),
            ("0.1 ms", r#""link.jitter" = "exponential(mean=0.1ms)""#),
            ("0.3 ms", r#""link.jitter" = "exponential(mean=0.3ms)""#),
            ("1 ms", r#""link.jitter" = "exponential(mean=1ms)""#),
        ],
    },
    Open {
        experiment: "linear-segment",
        serves: &["linear-segment"],
        axis: "segment",
        assumed: "1024 B",
        variants: &[
            ("512 B", "\"serve.segment\" = \"512 B\"\n\"serve.packet\" = \"936 B\""),
            ("1024 B", "\"serve.segment\" = \"1024 B\"\n\"serve.packet\" = \"1448 B\""),
            ("4096 B", "\"serve.segment\" = \"4096 B\"\n\"serve.packet\" = \"4520 B\""),
            ("8000 B", "\"serve.segment\" = \"8000 B\"\n\"serve.packet\" = \"8424 B\""),
        ],
    },
    Open {
        experiment: "linear-reading",
        serves: &["linear-reading"],
        axis: "reading",
        assumed: "as decided",
        variants: &[
            ("as decided", r#""fetch.rto.init" = "1 s""#),
            ("window 1 after a loss", r#""fetch.congestion.reset-to-init" = true"#),
            ("a timeout cancels", r#""fetch.cancel-on-timeout" = true"#),
            ("first timeout 3 s", r#""fetch.rto.init" = "3 s""#),
            ("queue before the delay", r#""links.'*'.order" = "rate-then-delay""#),
        ],
    },
];

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let (seeds, size) = match scale {
        Scale::Smoke => (2, Capacity::Bytes(256 << 10)),
        Scale::Check | Scale::Verdict | Scale::Paper => (20, Capacity::Bytes(10 << 20)),
    };
    let common = changed(COMMON, |scenario| scenario.set(&["serve", "size"], size));
    let text = |network: &str, sweep: String| format!("{common}{network}{sweep}");
    let experiment = |name, serves, scenario| Experiment {
        name,
        serves,
        scenario,
        files: FILES,
        seeds,
        curves: None,
    };
    let mut all = vec![
        Experiment {
            curves: Some((1, &["window", "rto"])),
            ..experiment(
                "linear",
                &["linear", "window", "rto-2", "rto-3"],
                text(LINEAR, designs(32)),
            )
        },
        Experiment {
            curves: Some((1, &["window"])),
            ..experiment("dumbbell", &["dumbbell", "sharing"], text(DUMBBELL, designs(16)))
        },
    ];
    if scale != Scale::Paper {
        all.extend(OPEN.iter().map(|open| {
            // The design comes first: it names algorithms whose parameters a variant then sets.
            let variants = open.variants.iter().map(|(name, fields)| (*name, (*fields).to_owned()));
            let sweep = format!("{ADAPTIVE}{}", axis(open.axis, variants));
            experiment(open.experiment, open.serves, text(LINEAR, sweep))
        }));
        let with_default = |window| {
            let default = axis("design", [(beside::DEFAULT, beside::fields())]);
            designs(window) + &default
        };
        all.push(experiment("default-linear", &["default-linear"], text(LINEAR, with_default(32))));
        all.push(experiment(
            "default-dumbbell",
            &["default-dumbbell"],
            text(DUMBBELL, with_default(16)),
        ));
    }
    all
}

/// An open parameter: its experiment, its axis, the value that is assumed, and all values.
pub(super) struct Parameter {
    pub experiment: &'static str,
    pub axis: &'static str,
    pub assumed: &'static str,
    pub values: Vec<&'static str>,
}

/// The parameters that the paper leaves open.
pub(super) fn open() -> impl Iterator<Item = Parameter> {
    OPEN.iter().map(|open| Parameter {
        experiment: open.experiment,
        axis: open.axis,
        assumed: open.assumed,
        values: open.variants.iter().map(|(name, _)| *name).collect(),
    })
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
    fn every_experiment_is_a_scenario_at_every_scale() {
        for (scale, runs) in [
            (Scale::Smoke, 8 + 73),
            (Scale::Check, 8 + 73),
            (Scale::Verdict, 8 + 73),
            (Scale::Paper, 8),
        ] {
            let points = experiments(scale).iter().map(|it| it.networks().len()).sum::<usize>();
            assert_eq!(points, runs, "{scale:?}");
        }
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
        let at = |name: &str, label: &str| {
            let experiment = all.iter().find(|it| it.name == name).unwrap();
            let found = experiment.networks().into_iter().find(|(own, _)| own == label);
            found.unwrap_or_else(|| panic!("{label}")).1
        };
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
