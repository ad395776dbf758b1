//! Drawing the nodes of places.
use super::site::Site;
use crate::file::Content;
use crate::file::place::PlaceRule;
use recoup_config::form::Located;
use recoup_config::problem::{Problems, hint, listed};
use recoup_sim::network::{Network, NodeId};
use recoup_sim::route::Graph;
use recoup_transport::random::Rng;

/// Places with their nodes, in the order of the file.
type Places = Vec<(String, Vec<NodeId>)>;

/// Draws every place. Each draws from a stream of its own.
pub(super) fn places(
    content: &Content,
    network: &Network,
    graph: &Graph,
    rng: &Rng,
    problems: &mut Problems,
) -> Places {
    let mut places = Places::new();
    for rule in &content.places {
        let taken = network.nodes.iter().any(|node| node.name == rule.name);
        if taken {
            let key = format!("places.{}", rule.name);
            problems.add(rule.origin, key, "a node is called that; give the place another name");
        }
        let stream = format!("place/{}", rule.name);
        let mut rng = rule.seed.map_or_else(|| rng.clone(), Rng::from_seed).substream(&stream);
        let nodes = draw(rule, network, graph, &places, &mut rng, problems);
        places.push((rule.name.clone(), nodes));
    }
    places
}

fn draw(
    rule: &PlaceRule,
    network: &Network,
    graph: &Graph,
    places: &Places,
    rng: &mut Rng,
    problems: &mut Problems,
) -> Vec<NodeId> {
    let key = |key: &str| format!("places.{}.{key}", rule.name);
    let site = Site { nodes: &network.nodes, links: &network.links, places };
    let mut open = site.nodes_of(&rule.among, &key("among"), problems);
    open.sort();
    open.dedup();
    for except in &rule.except {
        let out = place(except, &key("except"), places, problems);
        open.retain(|node| !out.contains(node));
    }
    let near = rule.from.as_ref().zip(rule.hops);
    let anchors = near.map(|(from, _)| place(from, &key("from"), places, problems));
    let mut drawn = Vec::new();
    for number in 0..rule.pick as usize {
        let anchor = anchors.as_ref().map(|nodes| nodes.get(number).copied());
        let fitting: Vec<NodeId> = match (anchor, near) {
            (None, _) | (_, None) => open.clone(),
            (Some(None), _) => {
                problems.add(rule.origin, key("pick"), "is more than `from` has nodes");
                return drawn;
            }
            (Some(Some(anchor)), Some((_, hops))) => within(graph, anchor, hops, &open),
        };
        let Some(node) = fitting.get(rng.below(fitting.len() as u64) as usize).copied() else {
            let what = format!("only {number} of {} nodes can be found", rule.pick);
            problems.add(rule.origin, key("pick"), what);
            return drawn;
        };
        open.retain(|other| *other != node);
        drawn.push(node);
    }
    drawn
}

/// The nodes from which the shortest way to `anchor` has that many hops.
fn within(graph: &Graph, anchor: NodeId, hops: (u64, u64), open: &[NodeId]) -> Vec<NodeId> {
    let distances = graph.distances(&[anchor]).unwrap_or_default();
    let fits = |node: &NodeId| {
        let distance = distances.get(node.0 as usize).copied().flatten();
        distance.is_some_and(|distance| (hops.0..=hops.1).contains(&u64::from(distance.hops)))
    };
    open.iter().copied().filter(fits).collect()
}

/// The nodes of a place that was drawn before.
fn place(
    name: &Located<String>,
    key: &str,
    places: &Places,
    problems: &mut Problems,
) -> Vec<NodeId> {
    let found = places.iter().find(|(place, _)| *place == name.value);
    found.map(|(_, nodes)| nodes.clone()).unwrap_or_else(|| {
        let known = || places.iter().map(|(place, _)| place.as_str());
        let near = hint(&name.value, known());
        let near = if near.is_empty() { listed(known()) } else { near[2..].to_owned() };
        let what = format!("no place above is called `{}`; {near}", name.value);
        problems.add(name.origin, key, what);
        Vec::new()
    })
}
