//! Plan of the processes of an emulated network. Pure: it starts no process.
//!
//! A node is a `recoup forward`, a link a `recoup link` between two of them, a fetch a `recoup fetch`, a served object a
//! `recoup serve`. Each end of a link is a face of its node, with an address that the link knows, so that either may
//! speak first.
use super::length;
use recoup_forwarder::strategy::Strategy;
use recoup_packet::name::Name;
use recoup_sim::model::law::Law;
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, FetchPlan, LinkId, LinkOptions, LinkPlan, Network, NodeId,
    NodePlan, ServePlan,
};
use recoup_transport::queue::Scheduler;
use recoup_transport::spec::Spelled;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Forwarders, by the numbers of their nodes in the network; nodes that nothing passes have none.
    pub nodes: BTreeMap<usize, NodePart>,
    /// Links.
    pub links: Vec<LinkPart>,
    /// Served objects.
    pub producers: Vec<ProducerPart>,
    /// Fetches.
    pub consumers: Vec<ConsumerPart>,
    /// Longest time that the fetches may take.
    pub at_most: Duration,
}

/// A forwarder.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePart {
    /// Label of its files.
    pub label: String,
    /// As the network has it.
    pub plan: NodePlan,
    /// Strategies below other prefixes than `/`.
    pub strategies: Vec<(Name, Spelled<Strategy>)>,
    /// Routes over links, by their place in [`Plan::links`].
    pub routes: Vec<RoutePart>,
}

/// A route.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutePart {
    /// For which names.
    pub prefix: Name,
    /// Place in [`Plan::links`].
    pub link: usize,
    /// Less is better.
    pub cost: u64,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPart {
    /// Its name in the network.
    pub name: String,
    /// From the first end to the second, then back.
    pub ways: [WayPart; 2],
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct WayPart {
    /// The node that sends.
    pub from: usize,
    /// The channel of the direction.
    pub channel: LinkOptions,
    /// How it shares the link among flows.
    pub scheduler: Spelled<Scheduler>,
}

/// A served object.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerPart {
    /// Its name in the network.
    pub name: String,
    /// Its node.
    pub node: usize,
    /// The object.
    pub plan: ServePlan,
}

/// A fetch.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerPart {
    /// Its name in the network.
    pub name: String,
    /// Its node.
    pub node: usize,
    /// When it starts, counted from when everything stands.
    pub start: Duration,
    /// The fetch.
    pub plan: FetchPlan,
    /// Bytes by which Data of the network are longer than the real ones.
    pub missing_bytes: u32,
}

impl Plan {
    /// The processes of a network, with its applications and the links that their Interests cross.
    ///
    /// # Errors
    /// The parts of the scenario that sockets do not support, as a sentence.
    pub fn new(network: &Network) -> Result<Self, String> {
        let producers = producers(network)?;
        let missing_bytes = missing(&producers)?;
        let consumers = consumers(network, missing_bytes)?;
        check(network)?;
        let crossed = crossed(network, &consumers)?;
        let mut links = links(network, |id| crossed.contains(&id));
        if missing_bytes > 0 {
            let interest = length::longest_interest(&consumers);
            links.iter_mut().for_each(|link| link.charge(missing_bytes, interest));
        }
        let involved = producers.iter().map(|it| it.node).chain(consumers.iter().map(|it| it.node));
        let at_ends = links.iter().flat_map(|link| link.ways.iter().map(|way| way.from));
        let involved: BTreeSet<usize> = involved.chain(at_ends).collect();
        let crossed: Vec<LinkId> = crossed.into_iter().collect();
        let nodes = nodes(network, &crossed, |number| involved.contains(&number));
        let at_most = network.stop.at.since(Instant::ZERO);
        Ok(Self { nodes, links, producers, consumers, at_most })
    }

    /// The processes of a network with all its nodes and links, whether in use or not.
    ///
    /// # Errors
    /// The parts of the scenario that sockets do not support, as a sentence.
    pub fn whole(network: &Network) -> Result<Self, String> {
        check(network)?;
        let all: Vec<LinkId> = (0..network.links.len() as u32).map(LinkId).collect();
        let (nodes, links) = (nodes(network, &all, |_| true), links(network, |_| true));
        let at_most = network.stop.at.since(Instant::ZERO);
        Ok(Self { nodes, links, producers: Vec::new(), consumers: Vec::new(), at_most })
    }

    /// The links that end at a node: their places, with the ways away from it and toward it.
    pub fn links_of(&self, node: usize) -> impl Iterator<Item = (usize, &WayPart, &WayPart)> {
        self.links.iter().enumerate().filter_map(move |(place, link)| {
            let [first, second] = &link.ways;
            match (first.from == node, second.from == node) {
                (true, _) => Some((place, first, second)),
                (_, true) => Some((place, second, first)),
                _ => None,
            }
        })
    }
}

impl LinkPart {
    /// Data count as long as they are in the network, Interests as before.
    fn charge(&mut self, missing_bytes: u32, interest_bytes: u32) {
        for WayPart { channel, .. } in &mut self.ways {
            let own = interest_bytes.saturating_add(channel.overhead_bytes);
            channel.interest_bytes.get_or_insert(own);
            channel.overhead_bytes = channel.overhead_bytes.saturating_add(missing_bytes);
        }
    }
}

/// Rejects plans beyond the abilities of processes.
fn check(network: &Network) -> Result<(), String> {
    if !network.faults.is_empty() {
        return Err("nothing can happen to its nodes and links in time".into());
    }
    for NodePlan { name, processing, .. } in &network.nodes {
        if **processing != Law::None {
            return Err(format!(
                "{name} takes the time that it takes: it can have no `processing`"
            ));
        }
    }
    for LinkPlan { name, forth, back, .. } in &network.links {
        if forth.marking.0.is_some() || back.marking.0.is_some() {
            return Err(format!("link {name} changes no packets: it can have no `marking`"));
        }
        let is_traced = |way: &LinkOptions| way.rate_trace.is_some() || way.delay_trace.is_some();
        if is_traced(forth) || is_traced(back) {
            return Err(format!(
                "link {name} is the same at all times: its rate and delay can be no trace"
            ));
        }
    }
    Ok(())
}

fn producers(network: &Network) -> Result<Vec<ProducerPart>, String> {
    let mut parts = Vec::new();
    for ApplicationPlan { name, node, start, stop, kind } in &network.applications {
        let ApplicationKind::Serve(plan) = kind else { continue };
        if *start != Instant::ZERO || stop.is_some() {
            return Err(format!("{name} must serve from the beginning to the end"));
        }
        parts.push(ProducerPart { name: name.clone(), node: node.0 as usize, plan: plan.clone() });
    }
    Ok(parts)
}

fn consumers(network: &Network, missing_bytes: u32) -> Result<Vec<ConsumerPart>, String> {
    let mut parts = Vec::new();
    for ApplicationPlan { name, node, start, stop, kind } in &network.applications {
        let plan = match kind {
            ApplicationKind::Serve(_) => continue,
            ApplicationKind::Fetch(plan) if stop.is_none() => plan.as_ref().clone(),
            ApplicationKind::Fetch(_) => return Err(format!("{name} must end by itself")),
            _ => return Err(format!("{name} is neither of kind fetch nor serve")),
        };
        let (name, node, start) = (name.clone(), node.0 as usize, start.since(Instant::ZERO));
        parts.push(ConsumerPart { name, node, start, plan, missing_bytes });
    }
    match parts.is_empty() {
        true => Err("it has no consumer".into()),
        false => Ok(parts),
    }
}

/// By how much Data of the network are longer than those that are really sent: the same for all objects, since a link
/// does not know one from another.
fn missing(producers: &[ProducerPart]) -> Result<u32, String> {
    let mut found = None;
    for ProducerPart { name, plan, .. } in producers {
        let bytes = length::missing(plan).map_err(|what| format!("{name}: {what}"))?;
        if *found.get_or_insert(bytes) != bytes {
            return Err("its producers add different lengths to their packets".into());
        }
    }
    Ok(found.unwrap_or_default())
}

/// The links that Interests cross.
fn crossed(network: &Network, consumers: &[ConsumerPart]) -> Result<BTreeSet<LinkId>, String> {
    let mut crossed = BTreeSet::new();
    for ConsumerPart { node, plan, .. } in consumers {
        let (mut seen, mut open) = (BTreeSet::new(), vec![NodeId(*node as u32)]);
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of_node = network.routes.iter().filter(|route| route.node == node);
            let fitting = of_node.filter(|route| route.prefix.is_prefix_of(&plan.object));
            for (link, _) in fitting.flat_map(|route| &route.hops) {
                open.push(other_end(network, *link, node)?);
                crossed.insert(*link);
            }
        }
    }
    Ok(crossed)
}

/// The node at the other end of a link.
fn other_end(network: &Network, link: LinkId, node: NodeId) -> Result<NodeId, String> {
    match network.links.get(link.0 as usize).map(|link| link.ends) {
        Some((first, second)) if first == node => Ok(second),
        Some((first, second)) if second == node => Ok(first),
        _ => Err("a route leads over a link that is elsewhere".into()),
    }
}

/// Those of the links that are wanted, in their order.
fn links(network: &Network, wanted: impl Fn(LinkId) -> bool) -> Vec<LinkPart> {
    let part = |link: &LinkPlan| {
        let way = |from: NodeId, channel: &LinkOptions| {
            let (from, channel) = (from.0 as usize, channel.clone());
            let scheduler = scheduler(network, from, &channel).clone();
            WayPart { from, channel, scheduler }
        };
        let ways = [way(link.ends.0, &link.forth), way(link.ends.1, &link.back)];
        LinkPart { name: link.name.clone(), ways }
    };
    let all = (0..).map(LinkId).zip(&network.links);
    all.filter(|(id, _)| wanted(*id)).map(|(_, link)| part(link)).collect()
}

/// How a node shares a way that leads away from it.
fn scheduler<'a>(
    network: &'a Network,
    node: usize,
    way: &'a LinkOptions,
) -> &'a Spelled<Scheduler> {
    match (way.scheduler.0, network.nodes.get(node)) {
        (None, Some(node)) => &node.scheduler,
        _ => &way.scheduler,
    }
}

/// The nodes that are wanted, with routes over these links.
fn nodes(
    network: &Network,
    links: &[LinkId],
    wanted: impl Fn(usize) -> bool,
) -> BTreeMap<usize, NodePart> {
    let place = |link: &LinkId| links.iter().position(|other| other == link);
    let speak = network.nodes.iter().all(|node| is_plain(&node.name));
    let part = |(number, plan): (usize, &NodePlan)| {
        let here = |node: NodeId| node.0 as usize == number;
        let strategies = network.strategies.iter().filter(|it| here(it.node));
        let routes = network.routes.iter().filter(|it| here(it.node)).flat_map(|route| {
            let hops = route.hops.iter().filter_map(|(link, cost)| Some((place(link)?, *cost)));
            hops.map(|(link, cost)| RoutePart { prefix: route.prefix.clone(), link, cost })
        });
        let part = NodePart {
            label: if speak { plan.name.clone() } else { format!("node-{number}") },
            plan: plan.clone(),
            strategies: strategies.map(|it| (it.prefix.clone(), it.strategy.clone())).collect(),
            routes: routes.collect(),
        };
        (number, part)
    };
    network.nodes.iter().enumerate().filter(|(number, _)| wanted(*number)).map(part).collect()
}

/// Whether a file may have this name: with a folder in front it has to fit into the address of a socket, too.
fn is_plain(name: &str) -> bool {
    let valid = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.chars().all(valid) && !name.starts_with('.') && (1..=32).contains(&name.len())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scenario::ScenarioFile;
    use recoup_studies::study::Scale;
    use recoup_studies::yang2016::YANG2016;

    /// The network of the first point of one of the paper's experiments.
    pub(crate) fn network(name: &str) -> Network {
        let experiments = YANG2016.experiments(Scale::Paper);
        let experiment = experiments.iter().find(|it| it.name == name).unwrap();
        let file = ScenarioFile::parse(&experiment.scenario, &[]).unwrap();
        let scenario =
            file.scenario(&file.point(0).unwrap(), &|name| experiment.file(name)).unwrap();
        scenario.network(1).unwrap()
    }

    #[test]
    fn line_is_a_chain_of_forwarders() {
        let plan = Plan::new(&network("linear")).unwrap();
        assert_eq!((plan.links.len(), plan.consumers.len(), plan.producers.len()), (3, 1, 1));
        assert_eq!(plan.nodes.len(), 4);
        let consumer = &plan.nodes[&plan.consumers[0].node];
        assert_eq!((consumer.plan.name.as_str(), consumer.label.as_str()), ("c1", "c1"));
        assert_eq!((consumer.routes.len(), plan.links_of(plan.consumers[0].node).count()), (1, 1));
        let producer = plan.producers[0].node;
        assert!(plan.nodes[&producer].routes.is_empty());
        let (_, away, toward) = plan.links_of(producer).next().unwrap();
        assert_eq!((away.from, toward.from == producer), (producer, false));
    }

    #[test]
    fn data_have_network_length_and_interests_their_own() {
        let plan = Plan::new(&network("linear")).unwrap();
        let missing = plan.consumers[0].missing_bytes;
        assert!((300..400).contains(&missing), "{missing}");
        for channel in plan.links.iter().flat_map(|link| link.ways.iter().map(|it| &it.channel)) {
            assert_eq!(channel.overhead_bytes, missing);
            assert!((20..60).contains(&channel.interest_bytes.unwrap()), "{channel:?}");
        }
    }

    #[test]
    fn dumbbell_has_routes_over_crossed_links() {
        let plan = Plan::new(&network("dumbbell")).unwrap();
        assert_eq!((plan.links.len(), plan.consumers.len(), plan.nodes.len()), (5, 2, 6));
        let of = |name: &str| plan.nodes.values().find(|it| it.plan.name == name).unwrap();
        let routes = ["c1", "c2", "r1", "r2", "p1", "p2"].map(|name| of(name).routes.len());
        // Each but the producer of a prefix has a route to it.
        assert_eq!(routes, [2, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn whole_network_includes_unused_nodes() {
        let mut network = network("dumbbell");
        network.applications.clear();
        network.links[2].back.recovery = "wldr".parse().unwrap();
        network.nodes[0].scheduler = "drr".parse().unwrap();
        let plan = Plan::whole(&network).unwrap();
        assert_eq!((plan.links.len(), plan.nodes.len()), (5, 6));
        let recovery = plan.links[2].ways.each_ref().map(|way| way.channel.recovery.text());
        assert_eq!(recovery, ["off", "wldr"]);
        let (_, away, toward) = plan.links_of(0).next().unwrap();
        assert_eq!((away.scheduler.text(), toward.scheduler.text()), ("drr", "none"));
    }

    #[test]
    fn files_are_named_after_nodes_if_possible() {
        let labels = |name: &str| {
            let mut network = network("linear");
            network.nodes[0].name = name.into();
            let plan = Plan::whole(&network).unwrap();
            plan.nodes.into_values().map(|it| it.label).take(2).collect::<Vec<_>>()
        };
        let plain = labels("edge-1.x");
        assert!(plain[0] == "edge-1.x" && plain[1] != "node-1", "{plain:?}");
        let long = "n".repeat(33);
        for name in ["a/b", "..", "", "node 7", long.as_str()] {
            assert_eq!(labels(name), ["node-0", "node-1"], "{name}");
        }
    }

    #[test]
    fn interests_may_cross_a_link_in_both_directions() {
        // A consumer beside the second producer asks the neighbour of the second consumer.
        let mut network = network("dumbbell");
        let (c1, p2) = (network.applications[0].node, network.applications[3].node);
        network.applications[0].node = p2;
        network.applications[3].node = c1;
        let back = |link: u32, node| recoup_sim::network::RoutePlan {
            node: NodeId(node),
            prefix: "/p1".parse().unwrap(),
            hops: vec![(LinkId(link), 1)],
        };
        let (r1, r2) = (network.links[2].ends.0.0, network.links[2].ends.1.0);
        network.routes.extend([back(4, p2.0), back(2, r2), back(2, r1)]);
        assert!(Plan::new(&network).is_ok());
    }

    #[test]
    fn unsupported_plans_are_named() {
        let wrong = |change: fn(&mut Network)| {
            let mut network = network("dumbbell");
            change(&mut network);
            Plan::new(&network).unwrap_err()
        };
        assert!(
            wrong(|it| it.nodes[2].processing = "constant(time=1ms)".parse().unwrap())
                .contains("processing")
        );
        assert!(
            wrong(|it| it.links[0].back.marking = "codel()".parse().unwrap()).contains("marking")
        );
        assert!(
            wrong(|it| it.applications.retain(|one| one.name.starts_with('p')))
                .contains("no consumer")
        );
    }
}
