//! Compiles a scenario to its network.
//!
//! Layers are put on top of each other: the defaults of a plan, what the topology knows, `[link]` and
//! `[node]`, then each exception in the order of the file. Names are looked up; applications that stand
//! at several nodes become several; routes are computed.
mod air;
mod application;
mod event;
mod index;
mod place;
mod route;
mod site;
pub(super) mod travel;
mod trouble;
mod warning;

pub(super) use route::to_all as routes_to_all;
pub(super) use warning::warnings;

use super::file::link::read_node;
use super::file::record::Record;
use super::file::{Content, Exception};
use super::pattern;
use index::Index;
use recoup_config::problem::{Origin, Problems, hint, listed};
use recoup_config::tree::Table;
use recoup_sim::network::{
    LinkId, LinkOptions, LinkPlan, Network, NodeId, NodePlan, Stop, StrategyPlan,
};
use recoup_sim::pcap::CaptureOptions;
use recoup_sim::route::Graph;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use site::Site;
use std::collections::{BTreeMap, BTreeSet};
use travel::Travels;

/// The network of a scenario for a seed.
pub(super) fn compile(content: &Content, seed: u64) -> Result<Network, Problems> {
    let mut topology = content.topology.topology(seed)?;
    let mut problems = Problems::default();
    let air = air::extend(content, &mut topology, &mut problems);
    let (mut nodes, mut links) = topology.plans(&LinkOptions::default());
    lay_on_nodes(content, &mut nodes, &mut problems);
    lay_on_links(content, &mut links, &mut problems);
    let mut network = Network {
        nodes,
        links,
        follow_transmissions: content.record.timeouts,
        stop: Stop { at: Instant::ZERO + content.stop, when_done: content.when_done },
        ..Network::default()
    };
    let rng = Rng::from_seed(seed).substream("scenario");
    let joins_two = |link: LinkId| {
        network.links.get(link.0 as usize).is_some_and(|link| link.ends.0 != link.ends.1)
    };
    let metric = content.routing.metric;
    let graph = Graph::of_usable(&network.nodes, &network.links, metric, joins_two);
    let graph = match graph {
        Ok(graph) => graph,
        Err(error) => {
            problems.add(Origin::Unknown, "topology", error.to_string());
            return Err(problems);
        }
    };
    let mut site = Site::new(&network.nodes, &network.links);
    place::draw_all(content, &mut site, &graph, &rng, &mut problems);
    let places = site.into_places();
    nodes_of_places(content, &places, &mut network.nodes, &mut problems);
    let mut site = Site::new(&network.nodes, &network.links);
    places.into_iter().for_each(|(name, nodes)| site.add_place(&name, nodes));
    let applications = application::applications(content, &site, &rng, &mut problems);
    let strategies = strategies(content, &site, &mut problems);
    let faults = event::faults(content, &site, &mut problems);
    let by_hand = route::by_hand(content, &site, &mut problems);
    site.links_of(&content.record.capture, "record.capture", &mut problems);
    let mut travels = Travels::new(&content.motions, network.stop.at, &rng);
    let media = air::media(content, &air, &site, &mut travels, &mut problems);
    network.wifi = media;
    network.applications = applications;
    network.strategies = strategies;
    network.faults = faults;
    let producers = route::producers(&network);
    let routes = route::computed(content, &network, &graph, &producers, by_hand, &mut problems);
    air::rerouting(content, &air, producers, &mut network);
    // Computed routes lead over clients, which carry nothing for others.
    network.routes = match network.rerouting {
        Some(_) => routes.by_hand,
        None => routes.all(),
    };
    problems.or(network)
}

/// The capture; unknown names were reported when the network was made.
pub(super) fn capture(record: &Record, network: &Network) -> Option<CaptureOptions> {
    if record.capture.is_empty() {
        return None;
    }
    let site = Site::new(&network.nodes, &network.links);
    let links = site.links_of(&record.capture, "record.capture", &mut Problems::default());
    let frame_bytes = record.capture_bytes;
    let links: BTreeSet<_> = links.into_iter().collect();
    (!links.is_empty()).then_some(CaptureOptions { links, frame_bytes })
}

/// Puts layers on top of what the topology knows of nodes.
fn lay_on_nodes(content: &Content, plans: &mut [NodePlan], problems: &mut Problems) {
    let mut defaults = NodePlan::default();
    read_node(&content.node, "node", Origin::Unknown, &mut defaults, false, problems);
    for plan in &mut *plans {
        let name = std::mem::take(&mut plan.name);
        let position = defaults.position.or(plan.position);
        *plan = NodePlan { name, position, ..defaults.clone() };
    }
    let places: BTreeSet<&str> = content.places.iter().map(|place| place.name.as_str()).collect();
    let names: Vec<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    let index = Index::new(names.iter().map(String::as_str));
    // Nodes of places have to be drawn first.
    let here = |one: &&Exception<Table>| !places.contains(one.pattern.value.as_str());
    for exception in content.nodes.iter().filter(here) {
        let path = format!("nodes.{}", recoup_config::print::key(&exception.pattern.value));
        let known = names.iter().map(String::as_str);
        for number in meant(exception, &path, "node", &index, known, problems) {
            let (plan, origin) = (&mut plans[number as usize], exception.pattern.origin);
            read_node(&exception.layer, &path, origin, plan, false, problems);
        }
    }
}

/// Puts exceptions on top of the nodes that were drawn for places.
fn nodes_of_places(
    content: &Content,
    places: &[(String, Vec<NodeId>)],
    plans: &mut [NodePlan],
    problems: &mut Problems,
) {
    // Of equal names the first counts.
    let drawn = places.iter().rev().map(|(name, nodes)| (name.as_str(), nodes));
    let drawn: BTreeMap<&str, &Vec<NodeId>> = drawn.collect();
    for exception in &content.nodes {
        let pattern = &exception.pattern;
        let path = format!("nodes.{}", recoup_config::print::key(&pattern.value));
        for node in drawn.get(pattern.value.as_str()).into_iter().flat_map(|nodes| *nodes) {
            if let Some(plan) = plans.get_mut(node.0 as usize) {
                read_node(&exception.layer, &path, pattern.origin, plan, false, problems);
            }
        }
    }
}

/// Puts layers on top of what the topology knows of links.
fn lay_on_links(content: &Content, plans: &mut [LinkPlan], problems: &mut Problems) {
    plans.iter_mut().for_each(|plan| content.link.put_on(plan));
    let names: Vec<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    let index = Index::new(names.iter().map(String::as_str));
    for exception in &content.links {
        let path = format!("links.{}", recoup_config::print::key(&exception.pattern.value));
        let known = names.iter().map(String::as_str);
        for number in meant(exception, &path, "link", &index, known, problems) {
            exception.layer.put_on(&mut plans[number as usize]);
        }
    }
}

/// The numbers of what an exception means; there must be one.
fn meant<'a, L>(
    exception: &Exception<L>,
    path: &str,
    what: &str,
    index: &Index<'_>,
    known: impl Iterator<Item = &'a str> + Clone,
    problems: &mut Problems,
) -> Vec<u32> {
    let pattern = &exception.pattern;
    let found = match pattern::braces(&pattern.value) {
        Ok(patterns) => index.matching_any(&patterns),
        Err(what) => {
            problems.add(pattern.origin, path, what);
            return Vec::new();
        }
    };
    if found.is_empty() && !problems.are_enough() {
        let near = hint(&pattern.value, known.clone());
        let near = if near.is_empty() { format!("; {}", listed(known)) } else { near };
        problems.add(pattern.origin, path, format!("no {what} is called that{near}"));
    }
    found
}

fn strategies(content: &Content, site: &Site<'_>, problems: &mut Problems) -> Vec<StrategyPlan> {
    let mut plans = Vec::new();
    for (number, rule) in (1..).zip(&content.strategies) {
        let key = format!("strategy.{number}.node");
        for node in site.nodes_of(&rule.nodes, &key, problems) {
            plans.push(StrategyPlan {
                node,
                prefix: rule.prefix.clone(),
                strategy: rule.strategy.clone(),
            });
        }
    }
    plans
}
