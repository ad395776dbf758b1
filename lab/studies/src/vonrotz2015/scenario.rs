//! The experiments: the paper's three scenarios, and the places whose traces it shows.
use super::axis::{Scenario, TIMERS, axis, hops, rto, timers};
use super::open;
use super::runs;
use super::setup::{LAST, NAMED};
use crate::study::{Experiment, Scale, with_open};
use crate::sweep::{change_variants, changed};
use recoup_config::tree::Value;

/// Common part of all scenarios.
const COMMON: &str = include_str!("common.toml");

/// Label of the assumed set-up on the axis of set-ups.
pub(super) const ASSUMED: &str = "assumed";

/// The records that traces are judged from.
pub(super) const TRACE: &[&str] = &["segments"];

/// Variants of timers: their names, and how they are written.
pub(super) const VARIANTS: [(&str, &str); 9] = [
    ("ICP", "icp"),
    ("ICP, clean answers only", "icp(skip-timeouts=true)"),
    ("CHoPCoP", "chopcop"),
    ("TCP RTO, at most 8 s", "tcp(max=8s)"),
    ("Timeest, at most 8 s", "timeest(max=8s)"),
    ("CCNTimer, at most 8 s", "ccntimer(max=8s)"),
    ("WMA, at most 8 s", "wma(max=8s)"),
    ("ICP, at most 8 s", "icp(max=8s)"),
    ("CCNTimer, listed Φ", "ccntimer(phi-strict=true)"),
];

/// Whether a variant only has a longer bound. The others run in scenario 1 alone. In scenario 2, ICP with clean answers
/// only takes far longer than all other variants.
pub(super) fn is_longer(variant: &str) -> bool {
    variant.ends_with("8 s")
}

/// Part of the file that is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// The whole file.
    Whole,
    /// A quarter: enough to compare ratios.
    Quarter,
    /// 64 segments.
    Small,
}

impl Size {
    /// Size for experiments whose whole file takes too long at this scale.
    pub(super) fn of_many(scale: Scale) -> Self {
        match scale {
            Scale::Smoke => Self::Small,
            Scale::Check | Scale::Verdict => Self::Quarter,
            Scale::Paper => Self::Whole,
        }
    }

    /// Size for the other experiments.
    fn of_one(scale: Scale) -> Self {
        if scale == Scale::Smoke { Self::Small } else { Self::Whole }
    }

    /// Number of the last segment, if that of the whole file is `last`.
    fn last(self, last: u64) -> u64 {
        match self {
            Self::Whole => last,
            Self::Quarter => (last + 1) / 4 - 1,
            Self::Small => 63,
        }
    }
}

/// The scenario with these axes, of which the last are the set-ups.
pub(super) fn scenario(axes: &[String], size: Size) -> String {
    changed(&format!("{COMMON}{}", axes.concat()), |scenario| {
        change_variants(scenario, |fields| {
            if let Some(&Value::Integer(last)) = fields.get(LAST).map(|tree| &tree.value) {
                fields.set(&[LAST], size.last(last as u64));
            }
        });
    })
}

/// Number of seeds.
pub(super) fn seeds(scale: Scale) -> u64 {
    match scale {
        Scale::Smoke => 1,
        Scale::Check => 20,
        Scale::Verdict | Scale::Paper => 100,
    }
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    with_open(scale, paper, open::experiments)
}

/// The paper's own experiments.
fn paper(scale: Scale) -> Vec<Experiment> {
    let assumed = axis("setup", [(ASSUMED, NAMED.fields())]);
    let sized = |size, name, axes: &[String]| {
        let scenario = scenario(&[axes, std::slice::from_ref(&assumed)].concat(), size);
        Experiment::new(name, scenario, seeds(scale))
    };
    let whole = |name, axes: &[String]| sized(Size::of_one(scale), name, axes);
    let many = |name, axes: &[String]| sized(Size::of_many(scale), name, axes);
    let place = |scenario, chosen: &[&'static str]| hops(scenario, &NAMED, chosen);
    let traced = Some((seeds(scale), TRACE));
    // Spurious timeouts are a few in a run.
    let many_seeds = match scale {
        Scale::Verdict | Scale::Paper => 1_000,
        Scale::Smoke | Scale::Check => seeds(scale),
    };
    let traces = |experiment: Experiment| Experiment { curves: traced, ..experiment };
    let variants = |is_in: fn(&str) -> bool| {
        let chosen = VARIANTS.iter().filter(|(name, _)| is_in(name));
        axis("timer", chosen.map(|(name, spec)| (*name, rto(spec))))
    };
    let axes = |scenario, chosen: &[&'static str]| [timers(&TIMERS), place(scenario, chosen)];
    let (one, row, sides) = (Scenario::One, Scenario::Row, Scenario::Sides);
    let near = many("side-trace", &axes(sides, &["1"]));
    let near_two = [timers(&["CCNTimer", "WMA"]), place(sides, &["1"])];
    let spurious = whole(runs::WHOLE, &near_two);
    let (but_three, but_five) = (["1", "2", "4", "5"], ["1", "2", "3", "4"]);
    vec![
        whole("one", &axes(one, &but_three)),
        many("row", &axes(row, &but_five)),
        many("side", &axes(sides, &["2", "3", "4", "5"])),
        traces(whole("one-trace", &axes(one, &["3"]))),
        traces(many("row-trace", &axes(row, &["5"]))),
        traces(Experiment { scenario: followed(&near.scenario), seeds: many_seeds, ..near }),
        Experiment { scenario: followed(&spurious.scenario), seeds: many_seeds, ..spurious },
        whole("variants-1", &[variants(|_| true), place(one, &["3"])]),
        many("variants-2", &[variants(is_longer), place(row, &["5"])]),
    ]
}

/// This scenario with every transmission followed until its fate is known.
pub(super) fn followed(scenario: &str) -> String {
    changed(scenario, |scenario| scenario.set(&["record", "timeouts"], true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::{ApplicationKind, Network};

    fn at(all: &[Experiment], name: &str, label: &str) -> Network {
        all.iter().find(|it| it.name == name).unwrap().network(label)
    }

    /// Names of consumers with the nodes where they stand.
    fn consumers(network: &Network) -> Vec<(&str, &str)> {
        let of =
            network.applications.iter().filter(|it| matches!(it.kind, ApplicationKind::Fetch(_)));
        of.map(|it| (it.name.as_str(), network.nodes[it.node.0 as usize].name.as_str())).collect()
    }

    #[test]
    fn scenario_one_has_one_requester_in_a_row() {
        let network =
            at(&experiments(Scale::Paper), "one-trace", "timer=WMA, hops=3, setup=assumed");
        assert_eq!((network.nodes.len(), network.links.len()), (4, 3));
        assert_eq!(consumers(&network), [("c1", "n1")]);
        let ApplicationKind::Fetch(plan) = &network.applications[1].kind else { panic!() };
        let (rto, congestion) = (plan.options.rto.text(), plan.options.congestion.text());
        assert!(rto.starts_with("wma") && congestion.contains("accounting=span"));
        assert_eq!((plan.first, plan.last), (0, Some(1279)));
        assert_eq!(network.wifi[0].medium.largest_bytes, Some(2_296));
        let at =
            |number: usize| network.wifi[0].stations[number].motion.position(Default::default());
        assert_eq!(at(2).x - at(1).x, 700.0);
    }

    #[test]
    fn scenario_two_has_requesters_on_all_other_nodes() {
        let network = at(&experiments(Scale::Paper), "row", "timer=ICP, hops=4, setup=assumed");
        assert_eq!(
            consumers(&network),
            [("c1", "n1"), ("row1", "n2"), ("row2", "n3"), ("row3", "n4")]
        );
    }

    #[test]
    fn scenario_three_has_two_nodes_beside_each() {
        let network = at(&experiments(Scale::Paper), "side", "timer=ICP, hops=5, setup=assumed");
        assert_eq!(consumers(&network).len(), 15);
        let stations = &network.wifi[0].stations;
        let place = |name: &str| {
            let number = network.nodes.iter().position(|node| node.name == name).unwrap();
            let station = stations.iter().find(|it| it.node.0 as usize == number).unwrap();
            station.motion.position(Default::default())
        };
        let distance = |one: &str, other: &str| {
            let (a, b) = (place(one), place(other));
            ((a.x - b.x).powi(2) + (a.y - b.y).powi(2)).sqrt()
        };
        for one in &network.nodes {
            for other in network.nodes.iter().filter(|it| it.name != one.name) {
                let is_linked = network.links.iter().any(|link| {
                    let ends =
                        [link.ends.0, link.ends.1].map(|it| &network.nodes[it.0 as usize].name);
                    ends == [&one.name, &other.name] || ends == [&other.name, &one.name]
                });
                let in_range = distance(&one.name, &other.name) < 787.0;
                assert_eq!(in_range, is_linked, "{} {}", one.name, other.name);
            }
        }
    }

    #[test]
    fn smoke_fetches_sixty_four_segments() {
        for experiment in experiments(Scale::Smoke) {
            for (label, network) in experiment.networks().into_iter().take(3) {
                let ApplicationKind::Fetch(plan) = &network.applications[1].kind else { panic!() };
                assert_eq!((plan.first, plan.last), (0, Some(63)), "{label}");
            }
        }
    }
}
