//! A network as routing sees it: nodes, and how far it is over each link in each direction.
use super::{Metric, RouteError};
use crate::network::{LinkId, LinkPlan, NodeId, NodePlan};
use recoup_transport::time::Duration;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network seen through a metric.
#[derive(Clone, Debug)]
pub struct Graph {
    names: Vec<String>,
    /// Links of each node, in the order of their numbers.
    ways: Vec<Vec<Way>>,
    links: usize,
}

/// A link as seen from one end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) link: LinkId,
    /// The node at the other end.
    pub(super) to: NodeId,
    /// Length away from the node.
    pub(super) forth: u64,
    /// Length toward the node.
    pub(super) back: u64,
}

/// Length of a path, ordered by the metric and then by the number of hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Distance {
    /// Length in the metric of the graph, saturating.
    pub metric: u64,
    /// Links on the path.
    pub hops: u32,
}

/// A path from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The nodes, from the first to the last.
    pub nodes: Vec<NodeId>,
    /// The links between them.
    pub links: Vec<LinkId>,
    /// Its length.
    pub length: Distance,
}

impl Distance {
    /// The length of a path with one more link of this length in front.
    pub(super) fn after(self, out: u64) -> Self {
        Self { metric: self.metric.saturating_add(out), hops: self.hops.saturating_add(1) }
    }
}

impl Graph {
    /// The graph of a network's plans.
    pub fn of_plans(
        nodes: &[NodePlan],
        links: &[LinkPlan],
        metric: Metric,
    ) -> Result<Self, RouteError> {
        Self::of_usable(nodes, links, metric, |_| true)
    }

    /// The graph of those links of a network's plans that can be used.
    pub fn of_usable(
        nodes: &[NodePlan],
        links: &[LinkPlan],
        metric: Metric,
        is_usable: impl Fn(LinkId) -> bool,
    ) -> Result<Self, RouteError> {
        let mut graph = Self::without_links(nodes.iter().map(|node| node.name.clone()));
        for link in links {
            if !is_usable(LinkId(graph.links as u32)) {
                graph.links += 1;
                continue;
            }
            let (delays, costs) =
                ((link.forth.delay, link.back.delay), (link.cost, link.back_cost));
            let lengths = lengths(metric, delays, costs);
            graph.add(&link.name, link.ends, lengths)?;
        }
        Ok(graph)
    }

    /// The shortest distance of each node to the nearest of these nodes; `None` if there is no way.
    pub fn distances(&self, to: &[NodeId]) -> Result<Vec<Option<Distance>>, RouteError> {
        match to.iter().find(|node| node.0 as usize >= self.len()) {
            Some(unknown) => Err(RouteError::UnknownNode(unknown.0)),
            None => Ok(self.shortest(to)),
        }
    }

    /// The shortest path between two nodes; `None` if there is none.
    pub fn path(&self, from: NodeId, to: NodeId) -> Result<Option<Path>, RouteError> {
        let distances = self.distances(&[to])?;
        let own = distances.get(from.0 as usize).ok_or(RouteError::UnknownNode(from.0))?;
        let Some(length) = *own else { return Ok(None) };
        let hops = self.downhill(&distances);
        let mut path = Path { nodes: vec![from], links: Vec::new(), length };
        let mut here = from;
        while let Some(hop) = hops.get(here.0 as usize).and_then(|hops| hops.first()) {
            here = hop.to;
            path.nodes.push(here);
            path.links.push(hop.link);
        }
        Ok(Some(path))
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Number of links.
    pub(super) fn links(&self) -> usize {
        self.links
    }

    pub(super) fn name(&self, node: NodeId) -> &str {
        self.names.get(node.0 as usize).map_or("", String::as_str)
    }

    /// The links of a node.
    pub(super) fn ways(&self, node: NodeId) -> &[Way] {
        self.ways.get(node.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn shortest(&self, to: &[NodeId]) -> Vec<Option<Distance>> {
        let mut settled: Vec<Option<Distance>> = vec![None; self.len()];
        let start = to.iter().map(|node| Reverse((Distance::default(), *node)));
        let mut waiting = start.collect::<BinaryHeap<_>>();
        while let Some(Reverse((distance, node))) = waiting.pop() {
            let Some(own @ None) = settled.get_mut(node.0 as usize) else { continue };
            *own = Some(distance);
            for way in self.ways(node) {
                let open = settled.get(way.to.0 as usize) == Some(&None);
                if open {
                    waiting.push(Reverse((distance.after(way.back), way.to)));
                }
            }
        }
        settled
    }

    fn without_links(names: impl Iterator<Item = String>) -> Self {
        let names = names.collect::<Vec<_>>();
        Self { ways: vec![Vec::new(); names.len()], names, links: 0 }
    }

    fn add(
        &mut self,
        name: &str,
        (a, b): (NodeId, NodeId),
        (forth, back): (u64, u64),
    ) -> Result<(), RouteError> {
        if a == b || a.max(b).0 as usize >= self.len() {
            return Err(RouteError::BadLink(name.into()));
        }
        let link = LinkId(self.links as u32);
        self.ways[a.0 as usize].push(Way { link, to: b, forth, back });
        self.ways[b.0 as usize].push(Way { link, to: a, forth: back, back: forth });
        self.links += 1;
        Ok(())
    }
}

/// The lengths of a link in both directions.
fn lengths(metric: Metric, delays: (Duration, Duration), costs: (u64, u64)) -> (u64, u64) {
    let nanos = |delay: Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    let delays = (nanos(delays.0), nanos(delays.1));
    match metric {
        Metric::Hops => (1, 1),
        Metric::Delay => delays,
        Metric::RoundTrip => {
            let both = delays.0.saturating_add(delays.1);
            (both, both)
        }
        Metric::Cost => costs,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::network::LinkOptions;
    use crate::topology::{self, Topology};

    pub(in crate::route) fn graph(
        topology: &Topology,
        metric: Metric,
    ) -> Result<Graph, RouteError> {
        let (nodes, links) = topology.plans(&LinkOptions::default());
        Graph::of_plans(&nodes, &links, metric)
    }

    #[test]
    fn the_direction_of_the_interest_decides() {
        let mut ring = topology::grid(2, 2).unwrap();
        // n1_1 - n2_1 - n2_2 is quick only toward n1_1.
        for (number, link) in ring.links.iter_mut().enumerate() {
            let slow = Duration::from_millis(if [0, 3].contains(&number) { 50 } else { 10 });
            link.forth.delay = Some(slow);
            link.back.delay =
                Some(Duration::from_millis(if slow.as_millis() == 50 { 1 } else { 10 }));
        }
        let nodes = |metric, from, to| {
            let graph = graph(&ring, metric).unwrap();
            graph.path(NodeId(from), NodeId(to)).unwrap().unwrap()
        };
        let there = nodes(Metric::Delay, 0, 3);
        assert_eq!((there.nodes[1], there.length.metric), (NodeId(2), 20_000_000));
        let back = nodes(Metric::Delay, 3, 0);
        assert_eq!((back.nodes[1], back.length.metric), (NodeId(1), 2_000_000));
        assert_eq!(nodes(Metric::RoundTrip, 3, 0).length.metric, 40_000_000);
    }

    #[test]
    fn lengths_beyond_all_numbers_saturate() {
        let mut line = topology::line(3).unwrap();
        line.links.iter_mut().for_each(|link| link.forth.delay = Some(Duration::MAX));
        let graph = graph(&line, Metric::Delay).unwrap();
        let path = graph.path(NodeId(0), NodeId(2)).unwrap().unwrap();
        assert_eq!(path.length, Distance { metric: u64::MAX, hops: 2 });
        assert_eq!(path.links, [LinkId(0), LinkId(1)]);
    }

    #[test]
    fn dangling_links_are_rejected() {
        let mut line = topology::line(2).unwrap();
        line.links[0].ends.1 = NodeId(2);
        let error = graph(&line, Metric::Hops).unwrap_err();
        assert_eq!(error.to_string(), "link \"n1-n2\" does not join two nodes");
        let graph = graph(&topology::line(2).unwrap(), Metric::Hops).unwrap();
        assert_eq!(graph.path(NodeId(0), NodeId(7)).unwrap_err(), RouteError::UnknownNode(7));
        assert_eq!(graph.path(NodeId(7), NodeId(0)).unwrap_err(), RouteError::UnknownNode(7));
    }
}
