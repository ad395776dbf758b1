//! The parts of a network by their node, from one walk over each list.
//!
//! A walk over a whole list for each node costs the product of both lengths.
use super::{Direction, LinkId, Network, NodeId};
use recoup_packet::name::Name;

/// The parts of a network by their node. Parts of unknown nodes are left out.
#[derive(Clone, Debug, Default)]
pub struct ByNode {
    nodes: Vec<AtNode>,
    /// Whether routes are computed during the run.
    reroutes: bool,
}

/// The parts at one node, each in the order of its list.
#[derive(Clone, Debug, Default)]
pub struct AtNode {
    /// The links of the node's faces: face number `k` is the item `k`, in the order of the links.
    pub faces: Vec<(LinkId, Direction)>,
    /// Indices into [`Network::routes`].
    pub routes: Vec<u32>,
    /// Indices into [`Network::strategies`].
    pub strategies: Vec<u32>,
    /// Indices into [`Network::applications`].
    pub applications: Vec<u32>,
    leads_away: bool,
}

impl Network {
    /// The parts of the network by their node.
    #[must_use]
    pub fn by_node(&self) -> ByNode {
        let nodes = vec![AtNode::default(); self.nodes.len()];
        let mut by_node = ByNode { nodes, reroutes: self.rerouting.is_some() };
        for (link, plan) in (0..).map(LinkId).zip(&self.links) {
            let (first, second) = plan.ends;
            by_node.note(first, |at| at.faces.push((link, Direction::Forth)));
            if second != first {
                by_node.note(second, |at| at.faces.push((link, Direction::Back)));
            }
        }
        for (number, plan) in (0..).zip(&self.routes) {
            by_node.note(plan.node, |at| {
                at.routes.push(number);
                at.leads_away |= !plan.hops.is_empty();
            });
        }
        for (number, plan) in (0..).zip(&self.strategies) {
            by_node.note(plan.node, |at| at.strategies.push(number));
        }
        for (number, plan) in (0..).zip(&self.applications) {
            by_node.note(plan.node, |at| at.applications.push(number));
        }
        by_node
    }
}

impl ByNode {
    /// The parts at a node; nothing for an unknown node.
    #[must_use]
    pub fn at(&self, node: NodeId) -> &AtNode {
        const NOTHING: &AtNode = &AtNode {
            faces: Vec::new(),
            routes: Vec::new(),
            strategies: Vec::new(),
            applications: Vec::new(),
            leads_away: false,
        };
        self.nodes.get(node.0 as usize).unwrap_or(NOTHING)
    }

    /// Whether a route leads away from a node, or may during the run.
    #[must_use]
    pub fn leads_away(&self, node: NodeId) -> bool {
        self.reroutes || self.at(node).leads_away
    }

    /// The names that applications of a node serve, in the network of this index.
    pub fn served_at<'a>(
        &'a self,
        network: &'a Network,
        node: NodeId,
    ) -> impl Iterator<Item = &'a Name> {
        let there = self.at(node).applications.iter();
        there.filter_map(|number| network.applications.get(*number as usize)?.kind.served())
    }

    fn note(&mut self, node: NodeId, note: impl FnOnce(&mut AtNode)) {
        if let Some(at) = self.nodes.get_mut(node.0 as usize) {
            note(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{LinkPlan, NodePlan, RoutePlan};

    #[test]
    fn parts_stand_at_their_node() {
        let ends = |first, second| LinkPlan {
            ends: (NodeId(first), NodeId(second)),
            ..LinkPlan::default()
        };
        let route = |node, hops| RoutePlan { node: NodeId(node), prefix: Name::root(), hops };
        let network = Network {
            nodes: vec![NodePlan::default(); 3],
            links: vec![ends(1, 2), ends(0, 1), ends(1, 1), ends(2, 7)],
            routes: vec![route(1, vec![(LinkId(0), 0)]), route(2, Vec::new()), route(9, vec![])],
            ..Network::default()
        };
        let by_node = network.by_node();
        let forth = |link| (LinkId(link), Direction::Forth);
        let back = |link| (LinkId(link), Direction::Back);
        assert_eq!(by_node.at(NodeId(1)).faces, [forth(0), back(1), forth(2)]);
        assert_eq!(by_node.at(NodeId(2)).faces, [back(0), forth(3)]);
        assert!(by_node.leads_away(NodeId(1)) && !by_node.leads_away(NodeId(2)));
        assert_eq!(by_node.at(NodeId(2)).routes, [1]);
        assert!(by_node.at(NodeId(9)).routes.is_empty() && !by_node.leads_away(NodeId(9)));
    }
}
