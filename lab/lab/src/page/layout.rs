//! Where nodes are drawn: at the places of the scenario, or else by a rule that always gives the same.
//!
//! | network | rule |
//! |---|---|
//! | nodes have places | there; those without one beside their neighbours |
//! | a line | from the end with a consumer to the other one |
//! | a tree | in layers by the distance to the nearest producer, producers to the right |
//! | any other | forces: Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991 |
//!
//! Difference of the last: the nodes begin on a spiral instead of random places, and a weak force leads to the middle, which
//! holds together what no link joins.
use recoup_sim::network::{ApplicationKind, Network, NodeId};
use recoup_transport::time::Instant;
use std::collections::VecDeque;

/// Nodes that forces place; the work grows with the square.
const MOST_FORCED: usize = 400;
const ROUNDS: usize = 300;

/// Places of all nodes, x to the right and y up.
#[derive(Debug, PartialEq)]
pub(super) struct Positions {
    pub(super) of: Vec<(f64, f64)>,
    /// The places are those of the scenario: both axes have one scale.
    pub(super) are_metres: bool,
}

/// Places the nodes.
pub(super) fn positions(network: &Network) -> Positions {
    let known = known(network);
    let graph = Graph::new(network);
    let (of, are_metres) = if known.iter().any(Option::is_some) {
        (forced(&graph, &known), true)
    } else if let Some(order) = graph.as_line(network) {
        let mut of = vec![(0.0, 0.0); order.len()];
        order.iter().zip(0..).for_each(|(node, place)| of[*node] = (f64::from(place), 0.0));
        (of, false)
    } else if graph.is_tree() {
        (layered(&graph, network), false)
    } else {
        (forced(&graph, &known), false)
    };
    Positions { of, are_metres }
}

/// Places in the scenario: of a station where it begins.
fn known(network: &Network) -> Vec<Option<(f64, f64)>> {
    let mut known: Vec<_> = network.nodes.iter().map(|node| node.position).collect();
    for station in network.wifi.iter().flat_map(|plan| &plan.stations) {
        let place = station.motion.position(Instant::ZERO);
        if let Some(known) = known.get_mut(station.node.0 as usize) {
            *known = Some((place.x, place.y));
        }
    }
    known
}

/// Neighbours of each node, in ascending order.
struct Graph {
    neighbours: Vec<Vec<usize>>,
}

impl Graph {
    fn new(network: &Network) -> Self {
        let mut neighbours = vec![Vec::new(); network.nodes.len()];
        for link in &network.links {
            let (a, b) = (link.ends.0.0 as usize, link.ends.1.0 as usize);
            if a != b && a < neighbours.len() && b < neighbours.len() {
                neighbours[a].push(b);
                neighbours[b].push(a);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { neighbours }
    }

    fn len(&self) -> usize {
        self.neighbours.len()
    }

    fn is_tree(&self) -> bool {
        let ends: usize = self.neighbours.iter().map(Vec::len).sum();
        let is_whole = self.distances(&[0]).iter().all(Option::is_some);
        self.len() > 0 && ends == 2 * (self.len() - 1) && is_whole
    }

    /// The nodes of a line from one end to the other.
    fn as_line(&self, network: &Network) -> Option<Vec<usize>> {
        if !self.is_tree() || self.neighbours.iter().any(|list| list.len() > 2) {
            return None;
        }
        let is_end = |node: &usize| self.neighbours[*node].len() < 2;
        let mut ends: Vec<_> = (0..self.len()).filter(is_end).collect();
        ends.sort_by_key(|end| !hosts(network, *end, is_consumer));
        let mut order = vec![*ends.first()?];
        while let Some(next) = self.neighbours[order[order.len() - 1]]
            .iter()
            .find(|next| !order.ends_with(&[**next]) && order.iter().rev().nth(1) != Some(next))
        {
            order.push(*next);
        }
        Some(order)
    }

    /// Links from the nearest of `from`.
    fn distances(&self, from: &[usize]) -> Vec<Option<usize>> {
        let mut distances = vec![None; self.len()];
        let mut waiting: VecDeque<_> =
            from.iter().filter(|node| **node < self.len()).copied().collect();
        waiting.iter().for_each(|node| distances[*node] = Some(0));
        while let Some(node) = waiting.pop_front() {
            for next in &self.neighbours[node] {
                if distances[*next].is_none() {
                    distances[*next] = distances[node].map(|distance| distance + 1);
                    waiting.push_back(*next);
                }
            }
        }
        distances
    }

    /// Nodes in the order of a search in depth.
    fn in_depth(&self, root: usize) -> Vec<usize> {
        let (mut seen, mut order, mut open) = (vec![false; self.len()], Vec::new(), vec![root]);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                order.push(node);
                open.extend(self.neighbours[node].iter().rev().filter(|next| !seen[**next]));
            }
        }
        order
    }
}

fn is_consumer(kind: &ApplicationKind) -> bool {
    matches!(kind, ApplicationKind::Fetch(_) | ApplicationKind::Request(_))
}

fn hosts(network: &Network, node: usize, is: fn(&ApplicationKind) -> bool) -> bool {
    network.applications.iter().any(|plan| plan.node == NodeId(node as u32) && is(&plan.kind))
}

/// Layers by the distance to the nearest producer; within a layer in the order of a search in depth, so that with one producer
/// no links cross.
fn layered(graph: &Graph, network: &Network) -> Vec<(f64, f64)> {
    let producers: Vec<_> = (0..graph.len())
        .filter(|node| hosts(network, *node, |kind| kind.served().is_some()))
        .collect();
    let distances = graph.distances(if producers.is_empty() { &[0] } else { &producers });
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
    for node in graph.in_depth(producers.first().copied().unwrap_or(0)) {
        layers[distances[node].unwrap_or(0)].push(node);
    }
    let mut of = vec![(0.0, 0.0); graph.len()];
    for (layer, nodes) in layers.iter().enumerate() {
        for (place, node) in nodes.iter().enumerate() {
            let y = 0.5 - (place as f64 + 0.5) / nodes.len() as f64;
            of[*node] = (-(layer as f64), y);
        }
    }
    of
}

/// Forces: links pull, nodes push. Nodes with a known place stay there.
fn forced(graph: &Graph, known: &[Option<(f64, f64)>]) -> Vec<(f64, f64)> {
    let places: Vec<_> = known.iter().flatten().copied().collect();
    let (middle, size) = extent(&places);
    let count = graph.len().max(1) as f64;
    let length = size / count.sqrt();
    let mut of: Vec<_> = known
        .iter()
        .zip(0..)
        .map(|(known, number)| {
            // The golden angle: no two nodes begin in one direction.
            let (turn, radius) =
                (f64::from(number) * 2.399_963, size * 0.5 * (f64::from(number) / count).sqrt());
            known.unwrap_or((middle.0 + radius * turn.cos(), middle.1 + radius * turn.sin()))
        })
        .collect();
    if known.iter().all(Option::is_some) || graph.len() > MOST_FORCED {
        return of;
    }
    for round in 0..ROUNDS {
        let step = size * 0.1 * (1.0 - round as f64 / ROUNDS as f64);
        let moves: Vec<_> =
            (0..of.len()).map(|node| force(graph, &of, node, middle, length)).collect();
        for ((place, (x, y)), known) in of.iter_mut().zip(moves).zip(known) {
            let strength = x.hypot(y);
            if known.is_none() && strength > 0.0 {
                let part = step.min(strength) / strength;
                *place = (place.0 + x * part, place.1 + y * part);
            }
        }
    }
    of
}

fn force(
    graph: &Graph,
    of: &[(f64, f64)],
    node: usize,
    middle: (f64, f64),
    length: f64,
) -> (f64, f64) {
    let here = of[node];
    let mut sum = ((middle.0 - here.0) * 0.1, (middle.1 - here.1) * 0.1);
    for (other, there) in of.iter().enumerate().filter(|(other, _)| *other != node) {
        let (x, y) = (here.0 - there.0, here.1 - there.1);
        let distance = x.hypot(y).max(length * 0.01);
        let push = length * length / (distance * distance);
        let pull = if graph.neighbours[node].binary_search(&other).is_ok() {
            distance / length
        } else {
            0.0
        };
        sum = (sum.0 + x * (push - pull), sum.1 + y * (push - pull));
    }
    sum
}

/// The middle of some places, and the larger side of the box around them.
fn extent(places: &[(f64, f64)]) -> ((f64, f64), f64) {
    let side = |of: fn(&(f64, f64)) -> f64| {
        let low = places.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        if low > high { (0.0, 0.0) } else { ((low + high) / 2.0, high - low) }
    };
    let (x, y) = (side(|it| it.0), side(|it| it.1));
    let size = x.1.max(y.1);
    ((x.0, y.0), if size > 0.0 { size } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_sim::network::{LinkPlan, NodePlan};

    fn network(nodes: u32, links: &[(u32, u32)]) -> Network {
        let node = |number| NodePlan { name: format!("n{number}"), ..NodePlan::default() };
        let link = |(a, b): &(u32, u32)| LinkPlan {
            name: format!("n{a}-n{b}"),
            ends: (NodeId(*a), NodeId(*b)),
            ..LinkPlan::default()
        };
        Network {
            nodes: (0..nodes).map(node).collect(),
            links: links.iter().map(link).collect(),
            ..Network::default()
        }
    }

    #[test]
    fn line_is_drawn_in_its_order() {
        let drawn = positions(&network(4, &[(2, 0), (0, 3), (3, 1)]));
        assert_eq!(drawn.of, [(2.0, 0.0), (0.0, 0.0), (3.0, 0.0), (1.0, 0.0)]);
    }

    #[test]
    fn tree_has_layers_without_crossings() {
        let drawn = positions(&network(7, &[(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]));
        let x: Vec<_> = drawn.of.iter().map(|it| it.0).collect();
        assert_eq!(x, [0.0, -1.0, -1.0, -2.0, -2.0, -2.0, -2.0]);
        let y = |node: usize| drawn.of[node].1;
        assert!(y(3) > y(4) && y(4) > y(5) && y(5) > y(6) && y(1) > y(2));
    }

    #[test]
    fn ring_is_spread_without_overlaps() {
        let ring = network(8, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0)]);
        let drawn = positions(&ring);
        assert_eq!(drawn, positions(&ring), "the same each time");
        let apart = |a: usize, b: usize| {
            let (a, b) = (drawn.of[a], drawn.of[b]);
            (a.0 - b.0).hypot(a.1 - b.1)
        };
        for node in 0..8 {
            assert!(apart(node, (node + 1) % 8) < apart(node, (node + 4) % 8));
            assert!((0..node).all(|other| apart(node, other) > 0.1), "{:?}", drawn.of);
        }
    }

    #[test]
    fn known_places_stay() {
        let mut some = network(3, &[(0, 1), (1, 2)]);
        some.nodes[0].position = Some((10.0, 5.0));
        some.nodes[1].position = Some((30.0, 5.0));
        let drawn = positions(&some);
        assert!(drawn.are_metres);
        assert_eq!(drawn.of[..2], [(10.0, 5.0), (30.0, 5.0)]);
        let (x, y) = drawn.of[2];
        assert!(x.is_finite() && y.is_finite() && drawn.of[..2].iter().all(|it| *it != (x, y)));
    }

    #[test]
    fn empty_network_has_no_places() {
        assert!(positions(&network(0, &[])).of.is_empty());
        assert_eq!(positions(&network(1, &[])).of.len(), 1);
    }
}
