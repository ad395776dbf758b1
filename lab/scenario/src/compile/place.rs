//! Drawing the nodes of places.
use super::site::Site;
use crate::file::Content;
use crate::file::place::PlaceRule;
use recoup_config::form::Located;
use recoup_config::problem::{Problems, hint, listed};
use recoup_sim::network::NodeId;
use recoup_sim::route::Graph;
use recoup_transport::random::Rng;
use std::collections::BTreeSet;

/// Draws every place. Each draws from a stream of its own.
pub(super) fn draw_all(
    content: &Content,
    site: &mut Site<'_>,
    graph: &Graph,
    rng: &Rng,
    problems: &mut Problems,
) {
    for rule in &content.places {
        if site.has_node(&rule.name) {
            let key = format!("places.{}", rule.name);
            problems.add(rule.origin, key, "a node is called that; give the place another name");
        }
        let stream = format!("place/{}", rule.name);
        let mut rng = rule.seed.map_or_else(|| rng.clone(), Rng::from_seed).substream(&stream);
        let nodes = draw(rule, site, graph, &mut rng, problems);
        site.add_place(&rule.name, nodes);
    }
}

fn draw(
    rule: &PlaceRule,
    site: &Site<'_>,
    graph: &Graph,
    rng: &mut Rng,
    problems: &mut Problems,
) -> Vec<NodeId> {
    let key = |key: &str| format!("places.{}.{key}", rule.name);
    let mut open = site.nodes_of(&rule.among, &key("among"), problems);
    open.sort();
    open.dedup();
    for except in &rule.except {
        let out: BTreeSet<_> = place(except, &key("except"), site, problems).into_iter().collect();
        open.retain(|node| !out.contains(node));
    }
    let near = rule.from.as_ref().zip(rule.hops);
    let anchors = near.map(|(from, _)| place(from, &key("from"), site, problems));
    let mut drawn = Vec::new();
    for number in 0..rule.pick as usize {
        let anchor = anchors.as_ref().map(|nodes| nodes.get(number).copied());
        let fitting: Option<Vec<NodeId>> = match (anchor, near) {
            (None, _) | (_, None) => None,
            (Some(None), _) => {
                problems.add(rule.origin, key("pick"), "is more than `from` has nodes");
                return drawn;
            }
            (Some(Some(anchor)), Some((_, hops))) => Some(within(graph, anchor, hops, &open)),
        };
        let fitting = fitting.as_deref().unwrap_or(&open);
        let Some(node) = fitting.get(rng.below(fitting.len() as u64) as usize).copied() else {
            let what = format!("only {number} of {} nodes can be found", rule.pick);
            problems.add(rule.origin, key("pick"), what);
            return drawn;
        };
        if let Ok(place) = open.binary_search(&node) {
            open.remove(place);
        }
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
    site: &Site<'_>,
    problems: &mut Problems,
) -> Vec<NodeId> {
    if let Some(nodes) = site.place(&name.value) {
        return nodes.to_vec();
    }
    let near = hint(&name.value, site.place_names());
    let near = if near.is_empty() { listed(site.place_names()) } else { near[2..].to_owned() };
    let what = format!("no place above is called `{}`; {near}", name.value);
    problems.add(name.origin, key, what);
    Vec::new()
}
