//! Links and faces of `[wifi]`: links from clients to access points, and broadcast faces.
use super::index::Index;
use super::pattern;
use crate::compile::site::Site;
use crate::compile::travel::Travels;
use crate::file::Content;
use recoup_config::form::Located;
use recoup_config::problem::{Problems, hint, listed};
use recoup_sim::network::{LinkId, Network, NodeId, Rerouting, WifiPlan};
use recoup_sim::route::Producer;
use recoup_sim::topology::{ChannelPart, MAX_LINKS, Topology, TopologyLink};
use std::collections::BTreeSet;

/// Nodes with a part in the medium, and the links that were added for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Air {
    pub(super) points: Vec<NodeId>,
    pub(super) clients: Vec<NodeId>,
    links: Vec<LinkId>,
}

/// Adds a link for each client and access point, and one from each node with a broadcast face to itself.
pub(super) fn extend(content: &Content, topology: &mut Topology, problems: &mut Problems) -> Air {
    let Some(rule) = &content.wifi else {
        return Air::default();
    };
    let points = nodes(&rule.points, "wifi.points", topology, problems);
    let mut clients = nodes(&rule.clients, "wifi.clients", topology, problems);
    let all = nodes(&rule.broadcast, "wifi.broadcast", topology, problems);
    let are_points: BTreeSet<NodeId> = points.iter().copied().collect();
    if !clients.is_empty() && clients.iter().all(|client| are_points.contains(client)) {
        let origin = rule.clients.first().map(|one| one.origin).unwrap_or_default();
        problems.add(origin, "wifi.clients", "names access points only; name other nodes, too");
    }
    clients.retain(|client| !are_points.contains(client));
    let mut air = Air { points, clients, links: Vec::new() };
    let wanted = air.points.len() * air.clients.len() + all.len();
    if topology.links.len() + wanted > MAX_LINKS {
        let what = format!("makes more than {MAX_LINKS} links; name fewer clients or points");
        problems.add(rule.clients.first().map(|one| one.origin).unwrap_or_default(), "wifi", what);
        return air;
    }
    let wired = topology.links.len();
    let name = |topology: &Topology, id: NodeId| topology.nodes[id.0 as usize].name.clone();
    for client in &air.clients {
        for point in &air.points {
            let name = format!("{}-{}", name(topology, *client), name(topology, *point));
            air.links.push(add(topology, name, (*client, *point)));
        }
    }
    for node in all {
        let name = format!("{}-all", name(topology, node));
        air.links.push(add(topology, name, (node, node)));
    }
    if let Some(link) = twice(&topology.links[..wired], &topology.links[wired..]) {
        let is_all = link.ends.0 == link.ends.1;
        let (key, from) =
            if is_all { ("broadcast", &rule.broadcast) } else { ("clients", &rule.clients) };
        let origin = from.first().map(|one| one.origin).unwrap_or_default();
        let what = format!(
            "makes a link `{}`, which the topology has, too; leave it out there",
            link.name
        );
        problems.add(origin, format!("wifi.{key}"), what);
    }
    air
}

/// An added link whose name an existing link has.
fn twice<'a>(wired: &[TopologyLink], added: &'a [TopologyLink]) -> Option<&'a TopologyLink> {
    let names: BTreeSet<&str> = wired.iter().map(|link| link.name.as_str()).collect();
    added.iter().find(|link| names.contains(link.name.as_str()))
}

fn add(topology: &mut Topology, name: String, ends: (NodeId, NodeId)) -> LinkId {
    let (forth, back) = (ChannelPart::default(), ChannelPart::default());
    topology.links.push(TopologyLink { name, ends, forth, back, cost: 1, back_cost: None });
    LinkId((topology.links.len() - 1) as u32)
}

fn nodes(
    patterns: &[Located<String>],
    key: &str,
    topology: &Topology,
    problems: &mut Problems,
) -> Vec<NodeId> {
    let names = || topology.nodes.iter().map(|node| node.name.as_str());
    let index = Index::new(names());
    let mut found = BTreeSet::new();
    for located in patterns {
        let each = match pattern::braces(&located.value) {
            Ok(each) => each,
            Err(what) => {
                problems.add(located.origin, key, what);
                continue;
            }
        };
        for pattern in each {
            let before = found.len();
            found.extend(index.matching(&pattern).into_iter().map(NodeId));
            if found.len() == before && !problems.are_enough() {
                let near = hint(&pattern, names());
                let near = if near.is_empty() { format!("; {}", listed(names())) } else { near };
                let what = format!("no more nodes are called `{pattern}`{near}");
                problems.add(located.origin, key, what);
            }
        }
    }
    found.into_iter().collect()
}

/// The medium, with the links that it carries and stations at their ends.
pub(super) fn media(
    content: &Content,
    air: &Air,
    site: &Site<'_>,
    travels: &mut Travels<'_>,
    problems: &mut Problems,
) -> Vec<WifiPlan> {
    let Some(rule) = &content.wifi else {
        return Vec::new();
    };
    let mut carried: BTreeSet<LinkId> = air.links.iter().copied().collect();
    carried.extend(site.links_of(&rule.links, "wifi.links", problems));
    if rule.links.is_empty() && air.points.is_empty() {
        carried.extend((0..site.links.len() as u32).map(LinkId));
    }
    let ends = |link: &LinkId| {
        let plan = site.links.get(link.0 as usize)?;
        Some((*link, [plan.ends.0.0 as usize, plan.ends.1.0 as usize]))
    };
    let links: Vec<_> = carried.iter().filter_map(ends).collect();
    vec![rule.plan(&links, (&air.points, &air.clients), site.nodes, travels, problems)]
}

/// Routes that follow clients, where there are any.
pub(super) fn rerouting(
    content: &Content,
    air: &Air,
    producers: Vec<Vec<Producer>>,
    network: &mut Network,
) {
    if let (Some(next_hops), false) = (content.routing.paths, air.clients.is_empty()) {
        let metric = content.routing.metric;
        network.rerouting = Some(Rerouting { producers, metric, next_hops });
    }
}
