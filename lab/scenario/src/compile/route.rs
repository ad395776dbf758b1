//! Routes: those by hand, and those to every producer.
use super::site::Site;
use crate::file::Content;
use recoup_config::problem::{Origin, Problems};
use recoup_packet::name::{Component, Name};
use recoup_sim::network::{ApplicationKind, Network, NodeId, NodePlan, RoutePlan};
use recoup_sim::route::{Graph, Producer};
use std::collections::{BTreeMap, BTreeSet};

/// The routes of a network.
#[derive(Debug, Default)]
pub(super) struct Routes {
    computed: Vec<RoutePlan>,
    pub(super) by_hand: Vec<RoutePlan>,
}

impl Routes {
    /// The computed ones first.
    pub(super) fn all(mut self) -> Vec<RoutePlan> {
        self.computed.extend(self.by_hand);
        self.computed
    }
}

/// Routes by hand, one for each node and prefix.
pub(super) fn by_hand(
    content: &Content,
    site: &Site<'_>,
    problems: &mut Problems,
) -> Vec<RoutePlan> {
    let mut plans: Vec<RoutePlan> = Vec::new();
    let mut known: BTreeMap<(NodeId, &Name), usize> = BTreeMap::new();
    for (number, rule) in (1..).zip(&content.routes) {
        let nodes = site.nodes_of(&rule.nodes, &format!("route.{number}.node"), problems);
        for node in nodes {
            let key = format!("route.{number}.via");
            let ways = rule.via.iter().filter_map(|via| site.way(node, via, &key, problems));
            let hops: Vec<_> = ways.map(|link| (link, rule.cost)).collect();
            let place = *known.entry((node, &rule.prefix)).or_insert(plans.len());
            match plans.get_mut(place) {
                Some(plan) => plan.hops.extend(hops),
                None => plans.push(RoutePlan { node, prefix: rule.prefix.clone(), hops }),
            }
        }
    }
    plans
}

/// Routes to every producer; one by hand takes the place of the computed one.
pub(super) fn computed(
    content: &Content,
    network: &Network,
    graph: &Graph,
    producers: &[Vec<Producer>],
    by_hand: Vec<RoutePlan>,
    problems: &mut Problems,
) -> Routes {
    let Some(paths) = content.routing.paths else {
        return Routes { computed: Vec::new(), by_hand };
    };
    // A consumer with a manual route need not be reached by a computed one.
    let manual: BTreeSet<NodeId> = by_hand.iter().map(|route| route.node).collect();
    let consumers = consumers(network, producers, &manual);
    let mut computed = Vec::new();
    for producers in producers {
        let prefix = producers.first().map(|one| &one.prefix);
        let needy = prefix.and_then(|prefix| consumers.get(prefix)).map_or(&[][..], Vec::as_slice);
        match graph.routes(producers, paths, needy) {
            Ok(these) => computed.extend(these),
            Err(error) => problems.add(Origin::Unknown, "routing", error.to_string()),
        }
    }
    let replaced: BTreeSet<(NodeId, &Name)> =
        by_hand.iter().map(|route| (route.node, &route.prefix)).collect();
    computed.retain(|route| !replaced.contains(&(route.node, &route.prefix)));
    drop(replaced);
    Routes { computed, by_hand }
}

/// The producers of each prefix, in the order in which the prefixes come.
pub(super) fn producers(network: &Network) -> Vec<Vec<Producer>> {
    let mut all: Vec<Vec<Producer>> = Vec::new();
    let mut places = BTreeMap::new();
    let mut known = BTreeSet::new();
    for application in &network.applications {
        let Some(prefix) = application.kind.served() else { continue };
        let place = *places.entry(prefix).or_insert_with(|| {
            all.push(Vec::new());
            all.len() - 1
        });
        if known.insert((place, application.node)) {
            all[place].push(Producer { node: application.node, prefix: prefix.clone() });
        }
    }
    all
}

/// The nodes that request names below the prefix of a producer, apart from some, by the prefix.
fn consumers<'a>(
    network: &Network,
    producers: &'a [Vec<Producer>],
    except: &BTreeSet<NodeId>,
) -> BTreeMap<&'a Name, Vec<NodeId>> {
    let prefixes = producers.iter().filter_map(|these| these.first());
    let mut consumers: BTreeMap<&Name, Vec<NodeId>> =
        prefixes.map(|one| (&one.prefix, Vec::new())).collect();
    for application in &network.applications {
        if except.contains(&application.node) {
            continue;
        }
        for name in requested(&application.kind) {
            for length in 0..=name.len() {
                if let Some(nodes) = consumers.get_mut(&name.prefix(length))
                    && nodes.last() != Some(&application.node)
                {
                    nodes.push(application.node);
                }
            }
        }
    }
    consumers
}

/// The names that an application requests, or prefixes of them.
pub(super) fn requested(kind: &ApplicationKind) -> &[Name] {
    match kind {
        ApplicationKind::Fetch(plan) => std::slice::from_ref(&plan.object),
        ApplicationKind::Request(plan) => &plan.prefixes,
        _ => &[],
    }
}

/// Routes of every node to every other.
pub(crate) fn to_all(content: &Content, network: &Network) -> Result<Vec<RoutePlan>, Problems> {
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
