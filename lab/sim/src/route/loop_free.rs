//! Next hops beyond those that lead closer, for as long as no Interest can run in a circle.
//!
//! Source: Schneider, Zhang and Benmohamed, "Hop-by-hop multipath routing: choosing the right nexthop
//! set", INFOCOM 2020 (LFID, loop-free inport-dependent routing): what keeps paths free of loops is that
//! a node never sends an Interest back over the link on which it came.
//!
//! Differences: the paper removes detours until no loop is left. Here they are added one by one, cheapest first over
//! the whole network. Each must close no loop, and must not strand an Interest at its other end. Both checks walk the
//! graph whose points are links with a direction. Costs of detours are those of the best path that avoids the node.
use super::NextHop;
use super::graph::{Distance, Graph};
use crate::network::NodeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Adds detours to the next hops of each node until it has `most`.
///
/// For each node, Dijkstra's algorithm runs over the nodes that reach a producer only through that node.
pub(super) fn add_detours(
    graph: &Graph,
    distances: &[Option<Distance>],
    most: usize,
    hops: &mut [Vec<NextHop>],
) {
    let mut open = detours(graph, distances, most, hops);
    let mut walk = Walk { seen: vec![0; 2 * graph.links()], round: 0, waiting: Vec::new() };
    loop {
        let before = open.len();
        open.retain(|(hop, node)| {
            let full = hops[node.0 as usize].len() >= most;
            let taken = !full && goes_on(hops, hop) && !walk.closes_circle(hops, hop, *node);
            if taken {
                hops[node.0 as usize].push(*hop);
            }
            !taken && !full
        });
        // A detour may be what another one was waiting for.
        if open.len() == before || open.is_empty() {
            break;
        }
    }
    hops.iter_mut().for_each(|hops| hops.sort());
}

/// All hops that do not lead closer, but to a node from which a producer can be reached without coming
/// back: cheapest first, with the nodes that they belong to.
fn detours(
    graph: &Graph,
    distances: &[Option<Distance>],
    most: usize,
    hops: &[Vec<NextHop>],
) -> Vec<(NextHop, NodeId)> {
    let mut avoiding = Avoiding::of(graph, distances);
    let mut detours = Vec::new();
    for (node, own) in (0..).map(NodeId).zip(hops) {
        let uphill =
            graph.ways(node).iter().filter(|way| own.iter().all(|hop| hop.link != way.link));
        let uphill = uphill.collect::<Vec<_>>();
        if own.is_empty() || own.len() >= most || uphill.is_empty() {
            continue;
        }
        avoiding.avoid(node);
        for way in uphill {
            if let Some(beyond) = avoiding.distance(way.to) {
                let length = beyond.after(way.forth);
                detours.push((NextHop { length, link: way.link, to: way.to }, node));
            }
        }
    }
    detours.sort_by_key(|(hop, node)| (hop.length, *node, hop.link));
    detours
}

/// Shortest distances on paths that avoid a node. They differ only at nodes all of whose shortest paths pass that node.
struct Avoiding<'a> {
    graph: &'a Graph,
    distances: &'a [Option<Distance>],
    /// By node: the last round in which all of its shortest paths passed the avoided node, and the distance then.
    behind: Vec<(u32, Option<Distance>)>,
    round: u32,
}

impl<'a> Avoiding<'a> {
    fn of(graph: &'a Graph, distances: &'a [Option<Distance>]) -> Self {
        Self { graph, distances, behind: vec![(0, None); distances.len()], round: 0 }
    }

    fn distance(&self, node: NodeId) -> Option<Distance> {
        let (round, distance) = self.behind[node.0 as usize];
        if round == self.round { distance } else { self.distances[node.0 as usize] }
    }

    fn is_behind(&self, node: NodeId) -> bool {
        self.behind[node.0 as usize].0 == self.round
    }

    fn avoid(&mut self, node: NodeId) {
        self.round += 1;
        self.behind[node.0 as usize] = (self.round, None);
        let all = self.nodes_behind(node);
        let mut waiting = BinaryHeap::new();
        for one in &all {
            let open = self.graph.ways(*one).iter().filter(|way| !self.is_behind(way.to));
            let lengths = open.filter_map(|way| Some(self.distance(way.to)?.after(way.forth)));
            waiting.extend(lengths.min().map(|length| Reverse((length, *one))));
        }
        while let Some(Reverse((distance, one))) = waiting.pop() {
            if self.distance(one).is_some() {
                continue;
            }
            self.behind[one.0 as usize].1 = Some(distance);
            for way in self.graph.ways(one).iter().filter(|way| way.to != node) {
                if self.distance(way.to).is_none() && self.is_behind(way.to) {
                    waiting.push(Reverse((distance.after(way.back), way.to)));
                }
            }
        }
    }

    /// Marks the nodes behind `node`, nearest first.
    fn nodes_behind(&mut self, node: NodeId) -> Vec<NodeId> {
        let mut all = Vec::new();
        let mut waiting = BinaryHeap::from([Reverse((self.distances[node.0 as usize], node))]);
        while let Some(Reverse((distance, one))) = waiting.pop() {
            let shortest = |from: NodeId, length| {
                let through =
                    self.distances[from.0 as usize].map(|distance| distance.after(length));
                through.is_some() && through == self.distances[one.0 as usize]
            };
            let mut parents = self.graph.ways(one).iter().filter(|way| shortest(way.to, way.forth));
            if one != node {
                if self.is_behind(one) || !parents.all(|way| self.is_behind(way.to)) {
                    continue;
                }
                self.behind[one.0 as usize] = (self.round, None);
                all.push(one);
            }
            let onward = self.graph.ways(one).iter().filter(|way| {
                let through = distance.map(|distance| distance.after(way.back));
                through == self.distances[way.to.0 as usize]
            });
            waiting.extend(onward.map(|way| Reverse((self.distances[way.to.0 as usize], way.to))));
        }
        all
    }
}

/// Whether an Interest that takes this hop can leave its end again, over another link.
fn goes_on(hops: &[Vec<NextHop>], hop: &NextHop) -> bool {
    hops[hop.to.0 as usize].iter().any(|next| next.link != hop.link)
}

/// A walk over links in the direction in which Interests cross them.
struct Walk {
    /// Round in which an arrival was last seen: by link and end.
    seen: Vec<u32>,
    round: u32,
    waiting: Vec<(NextHop, NodeId)>,
}

impl Walk {
    /// Whether an Interest that takes this hop from `node` may take it again later.
    fn closes_circle(&mut self, hops: &[Vec<NextHop>], new: &NextHop, node: NodeId) -> bool {
        self.round += 1;
        self.waiting.clear();
        self.waiting.push((*new, node));
        while let Some((arrived, from)) = self.waiting.pop() {
            if arrived.to == node && arrived.link != new.link {
                return true;
            }
            let place = 2 * arrived.link.0 as usize + usize::from(from > arrived.to);
            if self.seen[place] != self.round {
                self.seen[place] = self.round;
                let onward = hops[arrived.to.0 as usize].iter();
                let onward = onward.filter(|next| next.link != arrived.link);
                self.waiting.extend(onward.map(|next| (*next, arrived.to)));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::LinkOptions;
    use crate::route::Metric;
    use crate::topology;

    #[test]
    fn avoiding_is_like_removal_of_the_node() {
        for seed in 0..40_u64 {
            let mut grid = topology::grid(5, 4).unwrap();
            for (number, link) in grid.links.iter_mut().enumerate() {
                link.cost = (number as u64 + 1) * (2 * seed + 1) % 7 % 4;
            }
            let removed = |link: usize| (link as u64 + seed).is_multiple_of(5);
            let (nodes, links) = grid.plans(&LinkOptions::default());
            let graph = |avoided: Option<NodeId>| {
                Graph::of_usable(&nodes, &links, Metric::Cost, |link| {
                    let (a, b) = links[link.0 as usize].ends;
                    !removed(link.0 as usize) && Some(a) != avoided && Some(b) != avoided
                })
                .unwrap()
            };
            let producers = [NodeId(seed as u32 % 20), NodeId(7)];
            let whole = graph(None);
            let distances = whole.distances(&producers).unwrap();
            let mut avoiding = Avoiding::of(&whole, &distances);
            let others = (0..20).map(NodeId).filter(|node| !producers.contains(node));
            for node in others.filter(|node| distances[node.0 as usize].is_some()) {
                avoiding.avoid(node);
                let found: Vec<_> = (0..20).map(|one| avoiding.distance(NodeId(one))).collect();
                assert_eq!(
                    found,
                    graph(Some(node)).distances(&producers).unwrap(),
                    "{seed} {node:?}"
                );
            }
        }
    }
}
