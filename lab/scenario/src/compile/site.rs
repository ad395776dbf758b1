//! Looking up what a scenario calls by name: nodes, links, places.
use super::index::Index;
use crate::pattern;
use recoup_config::form::Located;
use recoup_config::problem::{Problems, hint, listed};
use recoup_sim::network::{LinkId, LinkPlan, NodeId, NodePlan};
use std::collections::BTreeMap;

/// Nodes and links that have names, and where they are in their lists.
pub(super) struct Site<'a> {
    pub nodes: &'a [NodePlan],
    pub links: &'a [LinkPlan],
    node_names: Index<'a>,
    link_names: Index<'a>,
    /// The first link from one end to the other, by its ends.
    ends: BTreeMap<(NodeId, NodeId), LinkId>,
    /// Places that were drawn, with their nodes.
    places: Vec<(String, Vec<NodeId>)>,
    place_names: BTreeMap<String, usize>,
}

impl<'a> Site<'a> {
    /// Nodes and links, without places.
    pub(super) fn new(nodes: &'a [NodePlan], links: &'a [LinkPlan]) -> Self {
        let mut ends = BTreeMap::new();
        for (number, link) in (0..).map(LinkId).zip(links) {
            ends.entry(link.ends).or_insert(number);
        }
        Self {
            nodes,
            links,
            node_names: Index::new(nodes.iter().map(|node| node.name.as_str())),
            link_names: Index::new(links.iter().map(|link| link.name.as_str())),
            ends,
            places: Vec::new(),
            place_names: BTreeMap::new(),
        }
    }

    /// Adds a place that was drawn.
    pub(super) fn add_place(&mut self, name: &str, nodes: Vec<NodeId>) {
        self.place_names.entry(name.to_owned()).or_insert(self.places.len());
        self.places.push((name.to_owned(), nodes));
    }

    /// The nodes of a place.
    pub(super) fn place(&self, name: &str) -> Option<&[NodeId]> {
        let place = self.place_names.get(name).and_then(|place| self.places.get(*place));
        place.map(|(_, nodes)| nodes.as_slice())
    }

    /// The places, in the order in which they were added.
    pub(super) fn into_places(self) -> Vec<(String, Vec<NodeId>)> {
        self.places
    }

    /// The names of the places, in their order.
    pub(super) fn place_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.places.iter().map(|(name, _)| name.as_str())
    }

    /// Whether a node has that name.
    pub(super) fn has_node(&self, name: &str) -> bool {
        self.node_names.number(name).is_some()
    }

    /// The nodes that match patterns, in their order.
    pub(super) fn nodes_of(
        &self,
        patterns: &[Located<String>],
        key: &str,
        problems: &mut Problems,
    ) -> Vec<NodeId> {
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                if let Some(nodes) = self.place(&pattern) {
                    found.extend(nodes);
                    continue;
                }
                let numbers = numbers(&pattern, &self.node_names, self.nodes.len());
                if numbers.is_empty() {
                    let known = names(self.nodes).chain(self.place_names());
                    missing("node", &pattern, located, key, known, problems);
                }
                found.extend(numbers.into_iter().map(NodeId));
            }
        }
        found
    }

    /// The links that match patterns, in their order.
    pub(super) fn links_of(
        &self,
        patterns: &[Located<String>],
        key: &str,
        problems: &mut Problems,
    ) -> Vec<LinkId> {
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                let links = self.matching_links(&pattern);
                if links.is_empty() {
                    let known = self.links.iter().map(|link| link.name.as_str());
                    missing("link", &pattern, located, key, known, problems);
                }
                found.extend(links);
            }
        }
        found
    }

    /// The links and nodes that match patterns; a star matches links only.
    pub(super) fn things_of(
        &self,
        patterns: &[Located<String>],
        key: &str,
        problems: &mut Problems,
    ) -> Vec<Thing> {
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                let links = self.matching_links(&pattern);
                match (links.as_slice(), self.node_names.number(&pattern)) {
                    ([], Some(node)) => found.push(Thing::Node(NodeId(node))),
                    ([], None) => {
                        let links = self.links.iter().map(|link| link.name.as_str());
                        let known = links.chain(names(self.nodes));
                        missing("link or node", &pattern, located, key, known, problems);
                    }
                    (links, _) => found.extend(links.iter().copied().map(Thing::Link)),
                }
            }
        }
        found
    }

    /// The link away from a node that `via` names: itself, or the neighbour at its other end.
    pub(super) fn way(
        &self,
        node: NodeId,
        via: &Located<String>,
        key: &str,
        problems: &mut Problems,
    ) -> Option<LinkId> {
        let at_end = |link: &LinkPlan| link.ends.0 == node || link.ends.1 == node;
        let named = self.link_names.number(&via.value).map(LinkId);
        let named = named.filter(|link| self.links.get(link.0 as usize).is_some_and(at_end));
        let neighbour = self.node_names.number(&via.value).map(NodeId);
        let toward = neighbour.into_iter().flat_map(|it| [(node, it), (it, node)]);
        let toward = toward.filter_map(|ends| self.ends.get(&ends).copied());
        let found = toward.chain(named).min();
        if found.is_none() && !problems.are_enough() {
            let ways = self.links.iter().filter(|link| at_end(link));
            let here = self.nodes.get(node.0 as usize).map_or("", |plan| &plan.name);
            let near = listed(ways.map(|link| link.name.as_str()));
            let what = format!("no link of `{here}` is or leads to `{}`; {near}", via.value);
            problems.add(via.origin, key, what);
        }
        found
    }

    /// `r2-r1` is `r1-r2`.
    fn matching_links(&self, pattern: &str) -> Vec<LinkId> {
        let numbers = numbers(pattern, &self.link_names, self.links.len());
        if !numbers.is_empty() || pattern.contains('*') {
            return numbers.into_iter().map(LinkId).collect();
        }
        let node = |name: &str| self.node_names.number(name).map(NodeId);
        let splits = pattern.match_indices('-').map(|(at, _)| (&pattern[..at], &pattern[at + 1..]));
        let ends = splits.filter_map(|(second, first)| Some((node(first)?, node(second)?)));
        ends.filter_map(|ends| self.ends.get(&ends).copied()).min().into_iter().collect()
    }
}

fn names(nodes: &[NodePlan]) -> impl Iterator<Item = &str> + Clone {
    nodes.iter().map(|node| node.name.as_str())
}

/// A link or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Link(LinkId),
    Node(NodeId),
}

fn expanded(located: &Located<String>, key: &str, problems: &mut Problems) -> Vec<String> {
    pattern::braces(&located.value).unwrap_or_else(|what| {
        problems.add(located.origin, key, what);
        Vec::new()
    })
}

/// Numbers of the names that a pattern fits; `first` and `last` are words for the ends of the list.
fn numbers(pattern: &str, names: &Index<'_>, count: usize) -> Vec<u32> {
    let mut numbers = names.matching(pattern);
    if numbers.is_empty() && count > 0 {
        let end = match pattern {
            "first" => Some(0),
            "last" => Some(count as u32 - 1),
            _ => None,
        };
        numbers.extend(end);
    }
    numbers
}

fn missing<'a>(
    what: &str,
    pattern: &str,
    located: &Located<String>,
    key: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    problems: &mut Problems,
) {
    if problems.are_enough() {
        return;
    }
    let near = hint(pattern, known.clone());
    let near = if near.is_empty() { format!("; {}", listed(known)) } else { near };
    problems.add(located.origin, key, format!("no {what} is called `{pattern}`{near}"));
}
