//! Compiles a scenario to its network.
//!
//! Layers are put on top of each other: the defaults of a plan, what the topology knows, `[link]` and
//! `[node]`, then each exception in the order of the file. Names are looked up; applications that stand
//! at several nodes become several; routes are computed.
mod air;
mod application;
mod event;
mod place;
mod site;
pub(super) mod travel;

use super::file::link::{read_link, read_node};
use super::file::record::Record;
use super::file::{Content, Exception};
use super::pattern;
use recoup_config::problem::{Origin, Problems, hint, listed};
use recoup_packet::name::{Component, Name};
use recoup_sim::network::{
    ApplicationKind, ApplicationPlan, LinkId, LinkOptions, LinkPlan, Network, NodeId, NodePlan,
    RoutePlan, Stop, StrategyPlan,
};
use recoup_sim::pcap::CaptureOptions;
use recoup_sim::route::{Graph, Producer};
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use site::Site;
use std::collections::BTreeSet;
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
    let places = place::places(content, &network, &graph, &rng, &mut problems);
    nodes_of_places(content, &places, &mut network.nodes, &mut problems);
    let site = Site { nodes: &network.nodes, links: &network.links, places: &places };
    let applications = application::applications(content, &site, &rng, &mut problems);
    let strategies = strategies(content, &site, &mut problems);
    let faults = event::faults(content, &site, &mut problems);
    let by_hand = routes_by_hand(content, &site, &mut problems);
    site.links_of(&content.record.capture, "record.capture", &mut problems);
    let mut travels = Travels::new(&content.motions, network.stop.at, &rng);
    let media = air::media(content, &air, &site, &mut travels, &mut problems);
    network.wifi = media;
    network.applications = applications;
    network.strategies = strategies;
    network.faults = faults;
    let routes = routes(content, &network, &graph, by_hand.clone(), &mut problems);
    let producers = producers(&network);
    air::rerouting(content, &air, producers, &mut network);
    // Computed routes lead over clients, which carry nothing for others.
    network.routes = if network.rerouting.is_some() { by_hand } else { routes };
    problems.or(network)
}

/// Consumers on nodes without a route away, of names without a producer beside them.
fn stranded(network: &Network) -> impl Iterator<Item = String> {
    let is_served = |node, name: &Name| network.served_at(node).any(|it| it.is_prefix_of(name));
    let lacks = move |one: &&ApplicationPlan| match &one.kind {
        ApplicationKind::Fetch(plan) => !is_served(one.node, &plan.object),
        ApplicationKind::Request(plan) => !plan.prefixes.iter().all(|it| is_served(one.node, it)),
        _ => false,
    };
    let all = network.applications.iter().filter(|one| !network.leads_away(one.node));
    all.filter(lacks)
        .map(|one| format!("{} asks in vain: no route leads away from its node", one.name))
}

/// Routes of every node to every other.
pub(super) fn routes_to_all(
    content: &Content,
    network: &Network,
) -> Result<Vec<RoutePlan>, Problems> {
    let mut problems = Problems::default();
    let Some(paths) = content.routing.paths else { return Ok(Vec::new()) };
    let producer = |(node, plan): (u32, &NodePlan)| {
        let prefix = Name::root().append(Component::generic(plan.name.as_bytes()));
        Producer { node: NodeId(node), prefix }
    };
    let producers: Vec<_> = (0..).zip(&network.nodes).map(producer).collect();
    let graph = Graph::of_plans(&network.nodes, &network.links, content.routing.metric);
    let routes = graph.and_then(|graph| graph.routes(&producers, paths, &[]));
    let routes = routes.unwrap_or_else(|error| {
        problems.add(Origin::Unknown, "routing", error.to_string());
        Vec::new()
    });
    problems.or(routes)
}

/// The capture; unknown names were reported when the network was made.
pub(super) fn capture(record: &Record, network: &Network) -> Option<CaptureOptions> {
    let site = Site { nodes: &network.nodes, links: &network.links, places: &[] };
    let links = site.links_of(&record.capture, "record.capture", &mut Problems::default());
    let frame_bytes = record.capture_bytes;
    let links: BTreeSet<_> = links.into_iter().collect();
    (!links.is_empty()).then_some(CaptureOptions { links, frame_bytes })
}

/// Puts layers on top of what the topology knows of nodes.
fn lay_on_nodes(content: &Content, plans: &mut [NodePlan], problems: &mut Problems) {
    for plan in &mut *plans {
        read_node(&content.node, "node", Origin::Unknown, plan, false, problems);
    }
    for exception in content.nodes.iter().filter(|one| !is_place(content, one)) {
        layer(
            exception,
            "nodes",
            "node",
            plans,
            |plan| &plan.name,
            problems,
            |plan, path, problems| {
                let origin = exception.pattern.origin;
                read_node(&exception.layer, path, origin, plan, false, problems);
            },
        );
    }
}

/// Whether an exception is about nodes that have to be drawn first.
fn is_place(content: &Content, exception: &Exception) -> bool {
    content.places.iter().any(|place| place.name == exception.pattern.value)
}

/// Puts exceptions on top of the nodes that were drawn for places.
fn nodes_of_places(
    content: &Content,
    places: &[(String, Vec<NodeId>)],
    plans: &mut [NodePlan],
    problems: &mut Problems,
) {
    for exception in &content.nodes {
        let pattern = &exception.pattern;
        let drawn = places.iter().find(|(name, _)| *name == pattern.value);
        let path = format!("nodes.{}", recoup_config::print::key(&pattern.value));
        for node in drawn.into_iter().flat_map(|(_, nodes)| nodes) {
            if let Some(plan) = plans.get_mut(node.0 as usize) {
                read_node(&exception.layer, &path, pattern.origin, plan, false, problems);
            }
        }
    }
}

/// Puts layers on top of what the topology knows of links.
fn lay_on_links(content: &Content, plans: &mut [LinkPlan], problems: &mut Problems) {
    for plan in &mut *plans {
        read_link(&content.link, "link", Origin::Unknown, plan, problems);
    }
    for exception in &content.links {
        layer(
            exception,
            "links",
            "link",
            plans,
            |plan| &plan.name,
            problems,
            |plan, path, problems| {
                read_link(&exception.layer, path, exception.pattern.origin, plan, problems);
            },
        );
    }
}

/// Puts an exception on top of all plans that it means; there must be one.
fn layer<P>(
    exception: &Exception,
    section: &str,
    what: &str,
    plans: &mut [P],
    name: impl Fn(&P) -> &String,
    problems: &mut Problems,
    mut put: impl FnMut(&mut P, &str, &mut Problems),
) {
    let pattern = &exception.pattern;
    let path = format!("{section}.{}", recoup_config::print::key(&pattern.value));
    let patterns = match pattern::braces(&pattern.value) {
        Ok(patterns) => patterns,
        Err(what) => return problems.add(pattern.origin, path, what),
    };
    let mut found = 0;
    for plan in plans.iter_mut() {
        if patterns.iter().any(|pattern| pattern::fits(pattern, name(plan))) {
            put(plan, &path, problems);
            found += 1;
        }
    }
    if found == 0 {
        let known = || plans.iter().map(|plan| name(plan).as_str());
        let near = hint(&pattern.value, known());
        let near = if near.is_empty() { format!("; {}", listed(known())) } else { near };
        problems.add(pattern.origin, path, format!("no {what} is called that{near}"));
    }
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

fn routes_by_hand(content: &Content, site: &Site<'_>, problems: &mut Problems) -> Vec<RoutePlan> {
    let mut plans: Vec<RoutePlan> = Vec::new();
    for (number, rule) in (1..).zip(&content.routes) {
        let nodes = site.nodes_of(&rule.nodes, &format!("route.{number}.node"), problems);
        for node in nodes {
            let key = format!("route.{number}.via");
            let hops: Vec<_> = rule
                .via
                .iter()
                .filter_map(|via| site.way(node, via, &key, problems))
                .map(|link| (link, rule.cost))
                .collect();
            let same = |plan: &&mut RoutePlan| plan.node == node && plan.prefix == rule.prefix;
            match plans.iter_mut().find(same) {
                Some(plan) => plan.hops.extend(hops),
                None => plans.push(RoutePlan { node, prefix: rule.prefix.clone(), hops }),
            }
        }
    }
    plans
}

/// Routes to every producer; one by hand takes the place of the computed one.
fn routes(
    content: &Content,
    network: &Network,
    graph: &Graph,
    by_hand: Vec<RoutePlan>,
    problems: &mut Problems,
) -> Vec<RoutePlan> {
    let Some(paths) = content.routing.paths else {
        return by_hand;
    };
    let mut routes = Vec::new();
    for producers in producers(network) {
        let consumers: Vec<_> =
            producers.first().map_or_else(Vec::new, |one| consumers(network, &one.prefix));
        // A consumer with a manual route need not be reached by a computed one.
        let needy: Vec<_> = consumers
            .into_iter()
            .filter(|node| !by_hand.iter().any(|route| route.node == *node))
            .collect();
        match graph.routes(&producers, paths, &needy) {
            Ok(these) => routes.extend(these),
            Err(error) => problems.add(Origin::Unknown, "routing", error.to_string()),
        }
    }
    let replaced = |route: &RoutePlan| {
        by_hand.iter().any(|hand| hand.node == route.node && hand.prefix == route.prefix)
    };
    routes.retain(|route| !replaced(route));
    routes.extend(by_hand);
    routes
}

/// The producers of each prefix, in the order in which the prefixes come.
fn producers(network: &Network) -> Vec<Vec<Producer>> {
    let mut all: Vec<Vec<Producer>> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for application in &network.applications {
        let prefix = match &application.kind {
            ApplicationKind::Serve(plan) => &plan.prefix,
            ApplicationKind::Produce(plan) => &plan.prefix,
            _ => continue,
        };
        let producer = Producer { node: application.node, prefix: prefix.clone() };
        let place = *places.entry(prefix.value().clone()).or_insert_with(|| {
            all.push(Vec::new());
            all.len() - 1
        });
        if !all[place].contains(&producer) {
            all[place].push(producer);
        }
    }
    all
}

/// Consumers of names below a prefix.
fn consumers(network: &Network, prefix: &Name) -> Vec<NodeId> {
    let asks = |kind: &ApplicationKind| match kind {
        ApplicationKind::Fetch(plan) => prefix.is_prefix_of(&plan.object),
        ApplicationKind::Request(plan) => plan.prefixes.iter().any(|one| prefix.is_prefix_of(one)),
        _ => false,
    };
    let those = network.applications.iter().filter(|application| asks(&application.kind));
    those.map(|application| application.node).collect()
}

/// Warnings: valid parts that are probably not meant.
pub(super) fn warnings(network: &Network) -> Vec<String> {
    let served: Vec<&Name> =
        network.applications.iter().filter_map(|application| application.kind.served()).collect();
    let mut warnings = Vec::new();
    for application in &network.applications {
        let asked: Vec<&Name> = match &application.kind {
            ApplicationKind::Fetch(plan) => vec![&plan.object],
            ApplicationKind::Request(plan) => plan.prefixes.iter().collect(),
            _ => continue,
        };
        for name in asked {
            if !served.iter().any(|prefix| prefix.is_prefix_of(name)) {
                let name = name.to_string();
                let known: Vec<_> = served.iter().map(ToString::to_string).collect();
                let near = hint(&name, known.iter().map(String::as_str));
                warnings.push(format!(
                    "{} requests {name}, which no producer serves{near}",
                    application.name
                ));
            }
        }
    }
    warnings.extend(stranded(network));
    if network.applications.is_empty() {
        warnings.push("there are no applications, so nothing happens".into());
    }
    warnings
}
