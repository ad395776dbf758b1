//! A topology while it is put together: names are looked up and kept unique, sizes are bounded.
use super::error::{Problem, check_name, excerpt};
use super::{ChannelPart, MAX_LINKS, MAX_NODES, Topology, TopologyLink, TopologyNode};
use crate::network::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// A topology in the making.
#[derive(Default)]
pub(super) struct Draft {
    topology: Topology,
    numbers: BTreeMap<String, NodeId>,
    /// Number of links of each name.
    link_names: BTreeMap<String, u32>,
    /// Links of which only one direction was given: places by their ends.
    half: BTreeMap<(NodeId, NodeId), VecDeque<usize>>,
}

impl Draft {
    /// The finished topology.
    pub(super) fn finish(self) -> Topology {
        self.topology
    }

    /// Adds a node.
    pub(super) fn node(&mut self, name: &str) -> Result<NodeId, Problem> {
        check_name(name)?;
        let number = NodeId(self.topology.nodes.len() as u32);
        if self.topology.nodes.len() >= MAX_NODES {
            return Err(Problem::TooMany { what: "nodes", limit: MAX_NODES });
        }
        if self.numbers.insert(name.into(), number).is_some() {
            return Err(Problem::RepeatedNode(excerpt(name)));
        }
        self.topology.nodes.push(TopologyNode { name: name.into(), ..TopologyNode::default() });
        Ok(number)
    }

    /// Adds a node with a label.
    pub(super) fn labelled(&mut self, name: &str, label: &str) -> Result<NodeId, Problem> {
        let number = self.node(name)?;
        self.describe(number, None, Some(label));
        Ok(number)
    }

    /// Sets position and label of a node.
    pub(super) fn describe(
        &mut self,
        node: NodeId,
        position: Option<(f64, f64)>,
        label: Option<&str>,
    ) {
        if let Some(node) = self.topology.nodes.get_mut(node.0 as usize) {
            node.position = position;
            node.label = label.filter(|label| !label.is_empty()).map(Into::into);
        }
    }

    /// The number of a node that exists.
    pub(super) fn known(&self, name: &str) -> Result<NodeId, Problem> {
        self.numbers.get(name).copied().ok_or_else(|| Problem::UnknownNode(excerpt(name)))
    }

    /// The number of a node, which is added if it does not exist.
    pub(super) fn known_or_new(&mut self, name: &str) -> Result<NodeId, Problem> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        self.node(name)
    }

    /// The link at a place.
    pub(super) fn link_at(&mut self, place: usize) -> Option<&mut TopologyLink> {
        self.topology.links.get_mut(place)
    }

    /// Adds a link of which nothing is known but its ends.
    pub(super) fn plain(&mut self, a: NodeId, b: NodeId) -> Result<usize, Problem> {
        self.link(a, b, ChannelPart::default(), 1)
    }

    /// Adds a link that is the same in both directions; returns its index.
    pub(super) fn link(
        &mut self,
        a: NodeId,
        b: NodeId,
        part: ChannelPart,
        cost: u64,
    ) -> Result<usize, Problem> {
        let name = format!("{}-{}", self.name(a), self.name(b));
        if a == b {
            return Err(Problem::SelfLink(excerpt(&name)));
        }
        let place = self.topology.links.len();
        if place >= MAX_LINKS {
            return Err(Problem::TooMany { what: "links", limit: MAX_LINKS });
        }
        let (name, back) = (self.free_name(name), part.clone());
        let link = TopologyLink { name, ends: (a, b), forth: part, back, cost, back_cost: None };
        self.topology.links.push(link);
        Ok(place)
    }

    /// Adds one direction of a link: the way back of a link without one, or else a link that is the same in both
    /// directions until its way back is given.
    pub(super) fn direction(
        &mut self,
        from: NodeId,
        to: NodeId,
        part: ChannelPart,
        cost: u64,
    ) -> Result<(), Problem> {
        let half = self.half.get_mut(&(to, from)).and_then(VecDeque::pop_front);
        let Some(link) = half.and_then(|place| self.topology.links.get_mut(place)) else {
            let place = self.link(from, to, part, cost)?;
            self.half.entry((from, to)).or_default().push_back(place);
            return Ok(());
        };
        link.back = part;
        link.back_cost = Some(cost).filter(|cost| *cost != link.cost);
        Ok(())
    }

    fn name(&self, node: NodeId) -> &str {
        self.topology.nodes.get(node.0 as usize).map_or("", |node| &node.name)
    }

    fn free_name(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        loop {
            let asked = self.link_names.entry(name.clone()).or_default();
            *asked += 1;
            if *asked == 1 {
                return name;
            }
            name = format!("{wanted}#{asked}");
        }
    }
}

/// Links from a node to itself that a file has. They carry nothing and are left out.
#[derive(Default)]
pub(super) struct SelfLinks {
    count: usize,
    /// Nodes of the first ones.
    nodes: Vec<String>,
}

impl SelfLinks {
    /// Most nodes that a note names.
    const NAMED: usize = 5;

    /// Records one.
    pub(super) fn add(&mut self, node: &str) {
        self.count += 1;
        if self.nodes.len() < Self::NAMED {
            self.nodes.push(excerpt(node));
        }
    }

    /// A sentence on them; `None` if there was none.
    pub(super) fn note(self) -> Option<String> {
        let more = if self.count > self.nodes.len() { ", …" } else { "" };
        let names = self.nodes.join(", ");
        (self.count > 0).then(|| {
            format!("links from a node to itself are left out: {} ({names}{more})", self.count)
        })
    }
}

/// Connected components: disjoint sets with path halving.
pub(super) struct Parts {
    parent: Vec<usize>,
    count: usize,
}

impl Parts {
    /// Each node is a part of its own.
    pub(super) fn new(nodes: usize) -> Self {
        Self { parent: (0..nodes).collect(), count: nodes }
    }

    /// Number of parts.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Makes one part of two; false if they are one already, or do not exist.
    pub(super) fn join(&mut self, a: usize, b: usize) -> bool {
        if a.max(b) >= self.parent.len() {
            return false;
        }
        let (a, b) = (self.part_of(a), self.part_of(b));
        if a == b {
            return false;
        }
        self.parent[a.max(b)] = a.min(b);
        self.count -= 1;
        true
    }

    fn part_of(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_links_have_names_of_their_own() {
        let mut draft = Draft::default();
        let nodes = ["a", "b", "b#2"].map(|name| draft.node(name).unwrap());
        draft.plain(nodes[0], nodes[2]).unwrap();
        for _ in 0..3 {
            draft.plain(nodes[0], nodes[1]).unwrap();
        }
        let topology = draft.finish();
        assert_eq!(topology.check(), Ok(()));
        let names = topology.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names[..2], ["a-b#2", "a-b"]);
    }

    #[test]
    fn the_second_direction_completes_the_first() {
        let mut draft = Draft::default();
        let (a, b) = (draft.node("a").unwrap(), draft.node("b").unwrap());
        let part = |rate| ChannelPart { rate_bits: Some(rate), ..ChannelPart::default() };
        draft.direction(a, b, part(1), 5).unwrap();
        draft.direction(b, a, part(2), 6).unwrap();
        draft.direction(b, a, part(3), 7).unwrap();
        let links = draft.finish().links;
        assert_eq!((links.len(), &links[0].forth, &links[0].back), (2, &part(1), &part(2)));
        assert_eq!((links[0].cost, links[0].cost_back()), (5, 6));
        assert_eq!((&links[1].forth, &links[1].back, links[1].ends), (&part(3), &part(3), (b, a)));
    }
}
