//! The experiments: the paper's four sections, each a scenario with its sweep.
use super::axis::{CACHED, COMPOUND, FAIRNESS, FLAVOUR, LOAD, LOSS, VERSION};
use super::{beside, open, switch};
use crate::study::{Experiment, Scale, with_open};
use crate::sweep::{change_variants, changed};
use recoup_config::tree::{Table, Value};
use recoup_core::unit::Capacity;
use std::time::Duration;

/// Two clients, two routers and a server in a line, and what all experiments share.
const COMMON: &str = include_str!("common.toml");

/// Section 4.2: the client starts at 300 s, the k-th burst takes k Data packets on their way from Router 2 to Router 1.
/// When the bursts begin, in seconds.
pub(super) const BURST_TIMES: [f64; 4] = [305.0, 310.0, 315.0, 320.0];

/// Section 4.4: Client 2 starts 0.75 s later; half of the file fits into Router 1.
const TWO_CLIENTS: &str = include_str!("two-clients.toml");

/// Two servers have the file, one of them 30 ms further away than the other; Router 1 asks them in turn.
const TWO_SERVERS: &str = include_str!("two-servers.toml");

/// Records from which the shape of windows is judged.
pub(super) const SHAPE: &[&str] = &["window(every=20ms)", "rto(every=20ms)", "recoveries"];

/// The scenario of a section, without its sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// 4.1: single losses.
    Single,
    /// 4.1: how windows grow between them.
    Growth,
    /// 4.2: bursts of losses.
    Burst,
    /// 4.3: a part of the file is near.
    Caching,
    /// 4.3, with a second server instead.
    Sources,
    /// 4.4: two clients, background traffic.
    Fairness,
    /// 4.4 without background traffic.
    Unloaded,
}

impl Section {
    /// Its scenario, at that scale.
    pub(super) fn scenario(self, scale: Scale) -> String {
        let more = match self {
            Self::Single | Self::Growth | Self::Burst | Self::Caching => "",
            Self::Sources => TWO_SERVERS,
            Self::Fairness | Self::Unloaded => TWO_CLIENTS,
        };
        changed(&format!("{COMMON}{more}"), |scenario| {
            let start = &["applications", "c1", "start"];
            match self {
                Self::Single | Self::Growth => {}
                Self::Burst => {
                    scenario.set(start, Duration::from_secs(300));
                    // Bursts meet the flow at another phase with each seed.
                    scenario.set(&["applications", "c1", "spread"], Duration::from_secs(1));
                    let bursts = bursts(BURST_TIMES.map(|at_s| at_s as u64 * 1000));
                    scenario.set(&["links", "r1-r2", "back", "loss"], bursts.as_str());
                }
                // The section is about arrivals out of order without any loss, so queues never overflow. Router 1
                // is filled by a consumer of its own before the client starts: 20,000 segments, 40 in each 100 ms.
                Self::Caching => {
                    scenario.set(start, Duration::from_secs(60));
                    scenario.set(&["link", "queue"], Capacity::Unlimited);
                }
                Self::Sources => {
                    let links = ["c1-r1", "c2-r1", "r1-r2", "r2-s1", "r1-s2"];
                    scenario.set(&["topology", "links"], &links[..]);
                }
                Self::Fairness | Self::Unloaded => scenario.set(&["fetch", "flow-nonce"], true),
            }
            if scale == Scale::Smoke {
                self.shrink(scenario);
            }
        })
    }

    /// A small version: a file of a hundredth, and everything that depends on its length.
    fn shrink(self, scenario: &mut Table) {
        scenario.set(&SIZE, Capacity::Bytes(200_000));
        match self {
            Self::Burst => {
                scenario.set(&SIZE, Capacity::Bytes(4_000_000));
                let bursts = bursts([302_000, 302_500, 303_000, 303_500]);
                scenario.set(&["links", "r1-r2", "back", "loss"], bursts.as_str());
            }
            Self::Fairness | Self::Unloaded => {
                scenario.set(&["nodes", "r1", "cache"], Capacity::Packets(100))
            }
            _ => {}
        }
    }
}

/// The length of the file.
pub(super) const SIZE: [&str; 2] = ["serve", "size"];

/// The k-th burst takes k Data packets; times in milliseconds.
fn bursts(at_ms: [u64; 4]) -> String {
    let burst = |(at_ms, packets)| match at_ms % 1000 {
        0 => format!("burst(at={}s,packets={packets})", at_ms / 1000),
        _ => format!("burst(at={at_ms}ms,packets={packets})"),
    };
    at_ms.into_iter().zip(1..).map(burst).collect::<Vec<_>>().join("+")
}

/// A scenario with its sweep.
pub(super) fn swept(section: Section, scale: Scale, axes: &[String]) -> String {
    section.scenario(scale) + &sweep(scale, axes)
}

/// The axes; the latter part of a shorter file begins earlier.
pub(super) fn sweep(scale: Scale, axes: &[String]) -> String {
    let axes = axes.concat();
    if scale != Scale::Smoke {
        return axes;
    }
    changed(&axes, |sweep| {
        change_variants(sweep, |fields| {
            let Some(Value::Table(warm)) =
                fields.get_mut("applications.warm").map(|it| &mut it.value)
            else {
                return;
            };
            if let Some(Value::Integer(first)) = warm.get_mut("first").map(|it| &mut it.value) {
                *first /= 100;
            }
        });
    })
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    with_open(scale, paper, |scale| {
        let mut all = open::experiments(scale);
        all.push(readings_of_compound(scale));
        all.extend(beside::experiments(scale));
        all
    })
}

/// The paper's own experiments.
fn paper(scale: Scale) -> Vec<Experiment> {
    let many = if scale == Scale::Smoke { 1 } else { 20 };
    let experiment =
        |name, section, axes: &[String]| Experiment::new(name, swept(section, scale, axes), many);
    let curves = |name, curves, section, axes: &[String]| Experiment {
        seeds: 0,
        curves: Some(curves),
        ..experiment(name, section, axes)
    };
    let versions = |names: &[&str]| VERSION.only(names);
    let mut all = vec![
        experiment(
            "single",
            Section::Single,
            &[FLAVOUR.text(), versions(&["Simple1", "Smart"]), LOSS.text()],
        ),
        curves(
            "shape",
            (many, SHAPE),
            Section::Single,
            &[FLAVOUR.only(&["NewReno", "Cubic"]), versions(&["Smart"]), LOSS.text()],
        ),
        curves(
            "window",
            (1, &["window"]),
            Section::Single,
            &[FLAVOUR.text(), versions(&["Simple1", "Smart"]), LOSS.only(&["0.1 %"])],
        ),
        curves(
            "burst",
            (many, &["recoveries"]),
            Section::Burst,
            &[FLAVOUR.text(), versions(&["Simple2", "Simple3", "Smart"])],
        ),
        curves(
            "burst-window",
            (1, &["window"]),
            Section::Burst,
            &[FLAVOUR.only(&["NewReno", "Cubic"]), versions(&["Simple2", "Smart"])],
        ),
        curves(
            "caching",
            (many, SHAPE),
            Section::Caching,
            &[FLAVOUR.only(&["Cubic"]), versions(&["Simple3", "Smart"]), CACHED.text()],
        ),
        experiment(
            "sources",
            Section::Sources,
            &[FLAVOUR.text(), versions(&["Simple1", "Simple3", "Smart"])],
        ),
        experiment("fairness", Section::Fairness, &[FAIRNESS.text(), LOAD.text()]),
    ];
    all.extend(switch::experiments(scale));
    all
}

/// Single losses with each reading of Compound.
fn readings_of_compound(scale: Scale) -> Experiment {
    let axes = [COMPOUND.text(), VERSION.only(&["Simple1", "Smart"]), LOSS.text()];
    let seeds = if scale == Scale::Smoke { 1 } else { 20 };
    Experiment::new("compound", swept(Section::Single, scale, &axes), seeds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::{ApplicationKind, Network};

    fn at(all: &[Experiment], name: &str, label: &str) -> Network {
        all.iter().find(|it| it.name == name).unwrap().network(label)
    }

    fn consumer(network: &Network) -> (&str, &str, &str) {
        let ApplicationKind::Fetch(plan) = &network.applications[1].kind else { panic!() };
        let options = &plan.options;
        (options.congestion.text(), options.loss.text(), options.rto.text())
    }

    #[test]
    fn network_is_a_line_of_equal_links() {
        let network =
            at(&experiments(Scale::Paper), "single", "flavour=Cubic, version=Smart, loss=0.2 %");
        assert_eq!(network.links.len(), 4);
        for link in &network.links {
            for way in [&link.forth, &link.back] {
                assert_eq!((way.rate_bits, way.queue.packets), (10_000_000, Some(100)));
                assert_eq!(way.delay.as_millis(), 25);
            }
        }
        let lossy = network.links.iter().find(|link| link.name == "r1-r2").unwrap();
        assert_eq!(
            (lossy.forth.loss.text(), lossy.back.loss.text()),
            ("none", "sparse(p=0.002,gap=168)")
        );
        let (congestion, loss, rto) = consumer(&network);
        assert!(congestion.contains("flavour=cubic") && loss == "smart", "{congestion} {loss}");
        assert!(rto.contains("min=1s"), "{rto}");
    }

    #[test]
    fn open_parameter_changes_its_fields_only() {
        let all = experiments(Scale::Check);
        let point = "flavour=NewReno, version=Smart, loss=0.5 %";
        let network = at(&all, "single-gap", &format!("{point}, gap=none"));
        let lossy = network.links.iter().find(|link| link.name == "r1-r2").unwrap();
        assert_eq!(lossy.back.loss.text(), "sparse(p=0.005,gap=0)");
        let network = at(&all, "single-accounting", &format!("{point}, accounting=outstanding"));
        let (congestion, _, _) = consumer(&network);
        assert!(
            congestion.contains("flavour=newreno") && congestion.contains("accounting=outstanding")
        );
        let network = at(&all, "single-rtt", &format!("{point}, rtt=240 ms"));
        assert!(network.links.iter().all(|link| link.forth.delay.as_millis() == 40));
        let suppression = network.nodes[0].options.suppression.to_string();
        assert!(suppression.contains("120ms"), "{suppression}");
    }

    #[test]
    fn latter_half_is_cached_before_the_client_starts() {
        let all = experiments(Scale::Paper);
        let point = "flavour=Cubic, version=Simple3";
        let warm = at(&all, "caching", &format!("{point}, cached=latter half"));
        let ApplicationKind::Fetch(plan) = &warm.applications[2].kind else { panic!() };
        assert_eq!((plan.first, plan.last), (10_000, None));
        let (congestion, loss) = (plan.options.congestion.text(), plan.options.loss.text());
        assert!(congestion.starts_with("fixed") && loss == "timeout");
        let full = at(&all, "caching", &format!("{point}, cached=everything"));
        let longest = at(
            &all,
            "switch-references",
            "flavour=Cubic, version=Smart, cached=everything, path=10 Mbit/s, 150 ms",
        );
        for network in [full, longest] {
            let ApplicationKind::Fetch(warm) = &network.applications[2].kind else { panic!() };
            assert!(warm.options.congestion.text().contains("window=40"));
            let round_trip = network.links[2].forth.delay * 4;
            let filled = recoup_core::time::Instant::ZERO + round_trip * (20_000 / 40 + 1);
            assert!(filled < network.applications[1].start, "{filled:?}");
        }
        let cold = at(&all, "caching", &format!("{point}, cached=nothing"));
        assert_eq!(cold.applications.len(), 2);
        let small =
            at(&experiments(Scale::Smoke), "caching", &format!("{point}, cached=latter half"));
        let ApplicationKind::Fetch(plan) = &small.applications[2].kind else { panic!() };
        assert_eq!((plan.first, plan.last), (100, None));
    }
}
