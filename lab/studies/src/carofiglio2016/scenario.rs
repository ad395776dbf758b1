//! The experiments: the paper's three networks, each with its sweeps.
use super::axis::{self, JOINT_TIMERS, MOVES, REPETITIONS, SPEEDS, TIMERS, TWO_TIMERS};
use super::radio::{CELLS, CHOSEN, FADINGS};
use super::{beside, open, shared};
use crate::study::{Experiment, Scale, with_open};
use crate::sweep::{changed, set_fields};
use recoup_config::tree::Table;

/// Common part of all networks.
const COMMON: &str = include_str!("common.toml");

/// A network, with its consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Net {
    /// Consumer and producer each on a radio link.
    Wireless,
    /// The wireless network with fewer packets: enough to compare ratios.
    WirelessShort,
    /// A network with six access points that the mobile node passes.
    Mobile,
    /// Ten among 36 access points.
    Joint,
    /// One access point with near and distant stations.
    Shared,
}

/// Flows of the wireless network.
const FLOWS: u32 = 10;

impl Net {
    fn text(self) -> &'static str {
        match self {
            Self::Wireless | Self::WirelessShort => include_str!("wireless.toml"),
            Self::Mobile => include_str!("mobile.toml"),
            Self::Joint => include_str!("joint.toml"),
            Self::Shared => include_str!("shared.toml"),
        }
    }

    /// Packets of each flow.
    pub(super) fn packets(self, scale: Scale) -> u32 {
        let (whole, check, verdict) = match self {
            Self::Wireless => (50_000, 40, 40),
            Self::WirelessShort => (50_000, 100, 100),
            Self::Mobile => (300_000, 30, 10),
            Self::Joint => (100_000, 50, 50),
            Self::Shared => (4_000, 1, 1),
        };
        match scale {
            Scale::Smoke => 60,
            Scale::Check => whole / check,
            Scale::Verdict => whole / verdict,
            Scale::Paper => whole,
        }
    }

    /// The scenario in the chosen set-up, without its sweep.
    fn scenario(self, scale: Scale) -> String {
        let own = Table::parse(self.text()).unwrap_or_else(|problem| panic!("{problem}"));
        changed(COMMON, |scenario| {
            scenario.set(&["fetch", "last"], u64::from(self.packets(scale) - 1));
            scenario.merge(&own);
            set_fields(scenario, &CHOSEN.radio());
            if matches!(self, Self::Wireless | Self::WirelessShort) {
                set_fields(scenario, &CELLS.fields(CHOSEN.cells));
                with_flows(scenario);
            }
            if self == Self::Shared {
                // Fades that hold would never end for stations that stand still.
                set_fields(scenario, &FADINGS.fields("m = 1, MPDU"));
            }
        })
    }
}

/// Adds the flows of the wireless network.
pub(super) fn with_flows(scenario: &mut Table) {
    for flow in 1..=FLOWS {
        let mut set = |key, value: &str| {
            scenario.set(&["applications", &format!("flow{flow}"), key], value);
        };
        set("kind", "fetch");
        set("node", "consumer");
        set("object", &format!("/file/{flow}"));
    }
}

/// Number of seeds.
fn seeds(net: Net, scale: Scale) -> u64 {
    match (scale, net) {
        (Scale::Smoke, _) => 1,
        (Scale::Paper, Net::Joint) => 200,
        (Scale::Check | Scale::Verdict | Scale::Paper, _) => 20,
    }
}

/// The experiments that have what MLDR alone gains with many seeds, at the scale of verdicts: at 3 to 20 km/h, and at 50.
pub(super) const MANY: [&str; 2] = ["joint-slower", "joint-fast"];

/// The experiment with as many seeds as verdicts on small gains need, at the scale of verdicts.
fn with_more(seeds: u64, scale: Scale, experiment: Experiment) -> Experiment {
    let seeds = if scale == Scale::Verdict { seeds } else { experiment.seeds };
    Experiment { seeds, ..experiment }
}

/// An experiment on a network, with these axes.
pub(super) fn experiment(
    name: &'static str,
    net: Net,
    scale: Scale,
    axes: &[String],
) -> Experiment {
    let scenario = net.scenario(scale) + &axes.concat();
    Experiment::new(name, scenario, seeds(net, scale))
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    with_open(scale, paper, |scale| {
        let mut all = open::experiments(scale);
        all.extend(beside::experiments(scale));
        all.extend(shared::experiments(scale));
        all
    })
}

/// The nodes that move on the wireless network, and on the joint one.
const BOTH_ENDS: [&str; 2] = ["consumer", "producer"];
pub(super) const CLIENTS: [&str; 1] = ["'m{1..10}'"];

/// The ring of WLDR, and one in which nothing is ever overwritten.
pub(super) const RINGS: [&str; 2] = ["8192", "65536"];

/// The axis of rings; each of these links has one.
fn rings(links: &[&str]) -> String {
    let fields = |slots: &'static str| {
        let recovery = format!("wldr(ring={slots},bytes=268435456,strict=true)");
        let link = |link: &&str| format!("\"links.{link}.recovery\" = \"{recovery}\"\n");
        (slots, links.iter().map(link).collect())
    };
    axis::axis("ring", RINGS.map(fields))
}

/// The rings on a link of 100 Mbit/s that is always busy, as the paper dimensions them.
fn saturated(scale: Scale) -> Experiment {
    let scenario = changed(include_str!("saturated.toml"), |scenario| {
        if scale == Scale::Smoke {
            scenario.set(&["fetch", "last"], u64::from(Net::Wireless.packets(scale) - 1));
        }
    });
    let scenario = scenario + &rings(&["consumer-producer"]);
    Experiment::new("ring-saturated", scenario, seeds(Net::Wireless, scale))
}

/// Seeds of which twenty have a walker that goes to another access point.
pub(super) fn walkers(scale: Scale) -> u64 {
    match scale {
        Scale::Check | Scale::Verdict => 60,
        Scale::Smoke | Scale::Paper => seeds(Net::Mobile, scale),
    }
}

/// All values of an axis; the first and the last where it only has to be seen that everything works.
pub(super) fn some(all: &[&'static str], scale: Scale) -> Vec<&'static str> {
    let every = if scale == Scale::Smoke { all.len() - 1 } else { 1 };
    all.iter().step_by(every).copied().collect()
}

/// The paper's own experiments.
fn paper(scale: Scale) -> Vec<Experiment> {
    let wireless = |name, axes: &[String]| experiment(name, Net::Wireless, scale, axes);
    let mobile = |name, axes: &[String]| experiment(name, Net::Mobile, scale, axes);
    let joint = |name, axes: &[String]| experiment(name, Net::Joint, scale, axes);
    let many = |seeds, experiment| with_more(seeds, scale, experiment);
    let alone_at = |name, seeds, speeds: &[&'static str]| {
        let axes =
            [axis::NETWORK.only(&[axis::NOTHING, axis::MLDR]), axis::speeds(&CLIENTS, speeds)];
        many(seeds, joint(name, &axes))
    };
    let slower = alone_at(MANY[0], 4_000, &axis::SLOWER);
    let fast = alone_at(MANY[1], 1_000, &[axis::FAST]);
    let two = || axis::timers(&TWO_TIMERS);
    let ends = || axis::speeds(&BOTH_ENDS, &some(&SPEEDS, scale));
    let alone = || axis::speeds(&["mobile"], &some(&SPEEDS, scale));
    let (timers, joint_timers) = (some(&TIMERS, scale), some(&JOINT_TIMERS, scale));
    let all = vec![
        wireless(
            "timer",
            &[
                axis::RECOVERY.only(&axis::ALL_WAYS),
                axis::timers(&timers),
                axis::wires(&axis::WIRES),
            ],
        ),
        many(100, wireless("part", &[axis::RECOVERY.only(&axis::PARTS), two()])),
        many(
            100,
            wireless("speed", &[axis::RECOVERY.only(&[axis::NOTHING, axis::WLDR]), two(), ends()]),
        ),
        wireless("ring", &[rings(&["consumer-ap1", "ap2-producer"]), axis::timers(&["1000"])]),
        saturated(scale),
        mobile("producer", &[axis::MOBILITY.only(&MOVES), alone()]),
        Experiment {
            seeds: walkers(scale),
            ..mobile(
                "satisfaction",
                &[
                    axis::MOBILITY.only(&[axis::ELN, axis::MLDR]),
                    axis::REPEATED.only(&REPETITIONS),
                    alone(),
                ],
            )
        },
        mobile("consumer", &[axis::consumer_moves(), alone()]),
        joint(
            "joint",
            &[axis::NETWORK.only(&axis::ALL_JOINT), axis::speeds(&CLIENTS, &some(&SPEEDS, scale))],
        ),
        joint(
            "joint-timer",
            &[axis::NETWORK.only(&axis::TIMED_JOINT), axis::timers(&joint_timers)],
        ),
    ];
    // A gain of some per cent, between files with one hand-off or less.
    let apart = if scale == Scale::Verdict { vec![slower, fast] } else { Vec::new() };
    all.into_iter().chain(apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::{ApplicationKind, FetchPlan, Network, Notice};

    fn at(name: &str, label: &str) -> Network {
        let all = experiments(Scale::Check);
        all.iter().find(|it| it.name == name).unwrap().network(label)
    }

    fn fetches(network: &Network) -> Vec<&FetchPlan> {
        let plans = network.applications.iter().filter_map(|it| match &it.kind {
            ApplicationKind::Fetch(plan) => Some(plan.as_ref()),
            _ => None,
        });
        plans.collect()
    }

    fn recovery(network: &Network, link: &str) -> (String, String) {
        let plan = network.links.iter().find(|it| it.name == link).unwrap();
        (plan.forth.recovery.to_string(), plan.back.recovery.to_string())
    }

    #[test]
    fn ten_flows_cross_two_partly_recovered_radio_links() {
        let network = at("part", "recovery=Interests at the consumer, timer=60");
        let flows = fetches(&network);
        assert_eq!((flows.len(), network.wifi[0].links.len()), (10, 2));
        assert!(flows.iter().all(|plan| {
            plan.options.rto.text() == "constant(rto=60ms)"
                && plan.options.lifetime.as_millis() == 60
        }));
        let near = recovery(&network, "consumer-ap1").0;
        assert!(near.contains("kinds=interests") && near.contains("strict=true"), "{near}");
        assert_eq!(recovery(&network, "ap2-producer").0, "off");
    }

    #[test]
    fn set_ups_take_the_limit_of_tries_back() {
        let set =
            |value: &str| at("open-wireless", &format!("recovery=WLDR, timer=60, setup={value}"));
        let limit = |network: &Network| network.wifi[0].medium.aggregation.unwrap().mpdu_tries;
        let free = set("the grid: none, tries no limit");
        assert_eq!((limit(&free), free.wifi[0].medium.fading.nakagami_m), (None, None));
        assert_eq!(limit(&set("the grid: m = 3, MPDU, tries 7")), Some(7));
        let earlier = set("the grid: m = 1, coherence, tries 4");
        let fading = earlier.wifi[0].medium.fading;
        assert_eq!((limit(&earlier), fading.nakagami_m), (Some(4), Some(1.0)));
        assert!(format!("{fading:?}").contains("Coherence"), "{fading:?}");
    }

    #[test]
    fn timer_alone_gets_no_notice_of_faces() {
        let deaf =
            |network: &Network| fetches(network).iter().all(|plan| !plan.options.follows_faces);
        let mobility = |network: &Network| network.nodes[0].options.mobility.to_string();
        let timer = at("consumer", "mobility=500, speed=3");
        assert!(deaf(&timer) && mobility(&timer) == "off");
        let mldr = at("consumer", "mobility=MLDR, speed=3");
        assert!(!deaf(&mldr) && mobility(&mldr).starts_with("mldr"));
    }

    #[test]
    fn joint_network_recovers_radio_links_only() {
        let network = at("joint", "network=WLDR and MLDR, speed=50");
        assert_eq!((fetches(&network).len(), network.wifi[0].links.len()), (5, 360));
        assert!(recovery(&network, "m1-ap36").1.contains("strict=true"));
        let ours = at("joint", "network=Recoup's WLDR and MLDR, speed=50");
        assert!(!recovery(&ours, "m1-ap36").1.contains("strict"));
        assert!(ours.nodes[0].options.mobility.to_string().starts_with("mldr"));
        assert_eq!(recovery(&network, "edge1-ap1").0, "off");
        assert_eq!(network.wifi[0].notice, Notice::Association);
        let early = at(
            "open-mobile",
            "mobility=MLDR, speed=50, setup=the old access point learns: departure noticed",
        );
        assert_eq!(early.wifi[0].notice, Notice::Departure);
    }
}
