//! Looking up what a scenario calls by name: nodes, links, places.
use crate::pattern;
use recoup_config::form::Located;
use recoup_config::problem::{Problems, hint, listed};
use recoup_sim::network::{LinkId, LinkPlan, NodeId, NodePlan};

/// Nodes and links that have names.
pub(super) struct Site<'a> {
    pub nodes: &'a [NodePlan],
    pub links: &'a [LinkPlan],
    /// Places that were drawn, with their nodes.
    pub places: &'a [(String, Vec<NodeId>)],
}

impl Site<'_> {
    /// The nodes that match patterns, in their order.
    pub(super) fn nodes_of(
        &self,
        patterns: &[Located<String>],
        key: &str,
        problems: &mut Problems,
    ) -> Vec<NodeId> {
        let names: Vec<_> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                let place = self.places.iter().find(|(name, _)| *name == pattern);
                match place {
                    Some((_, nodes)) => found.extend(nodes.iter().copied()),
                    None => {
                        let numbers = numbers(&pattern, &names);
                        if numbers.is_empty() {
                            let places = self.places.iter().map(|(name, _)| name.as_str());
                            let known = names.iter().copied().chain(places);
                            missing("node", &pattern, located, key, known, problems);
                        }
                        found.extend(numbers.into_iter().map(NodeId));
                    }
                }
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
        let names: Vec<_> = self.links.iter().map(|link| link.name.as_str()).collect();
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                let numbers = self.link_numbers(&pattern, &names);
                if numbers.is_empty() {
                    missing("link", &pattern, located, key, names.iter().copied(), problems);
                }
                found.extend(numbers.into_iter().map(LinkId));
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
        let links: Vec<_> = self.links.iter().map(|link| link.name.as_str()).collect();
        let nodes: Vec<_> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut found = Vec::new();
        for located in patterns {
            for pattern in expanded(located, key, problems) {
                let these = self.link_numbers(&pattern, &links);
                let node = nodes.iter().position(|name| *name == pattern);
                match (these.as_slice(), node) {
                    ([], Some(node)) => found.push(Thing::Node(NodeId(node as u32))),
                    ([], None) => {
                        let known = links.iter().chain(&nodes).copied();
                        missing("link or node", &pattern, located, key, known, problems);
                    }
                    (these, _) => found.extend(these.iter().map(|link| Thing::Link(LinkId(*link)))),
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
        let beyond = |link: &LinkPlan| if link.ends.0 == node { link.ends.1 } else { link.ends.0 };
        let name = |id: NodeId| self.nodes.get(id.0 as usize).map_or("", |plan| &plan.name);
        let fits = |link: &&LinkPlan| {
            at_end(link) && (link.name == via.value || name(beyond(link)) == via.value)
        };
        match self.links.iter().position(|link| fits(&link)) {
            Some(place) => Some(LinkId(place as u32)),
            None => {
                let ways = self.links.iter().filter(|link| at_end(link));
                let names: Vec<_> = ways.map(|link| link.name.as_str()).collect();
                let here = name(node);
                let near = listed(names.iter().copied());
                let what = format!("no link of `{here}` is or leads to `{}`; {near}", via.value);
                problems.add(via.origin, key, what);
                None
            }
        }
    }

    /// `r2-r1` is `r1-r2`.
    fn link_numbers(&self, pattern: &str, names: &[&str]) -> Vec<u32> {
        let numbers = numbers(pattern, names);
        if !numbers.is_empty() || pattern.contains('*') {
            return numbers;
        }
        let name = |id: NodeId| self.nodes.get(id.0 as usize).map_or("", |plan| &plan.name);
        let turned = |link: &LinkPlan| format!("{}-{}", name(link.ends.1), name(link.ends.0));
        let place = self.links.iter().position(|link| turned(link) == pattern);
        place.map(|place| place as u32).into_iter().collect()
    }
}

/// A link or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Places of the names that a pattern fits; `first` and `last` are words for the ends of the list.
fn numbers(pattern: &str, names: &[&str]) -> Vec<u32> {
    if pattern.contains('*') {
        let fits = names.iter().enumerate().filter(|(_, name)| pattern::fits(pattern, name));
        return fits.map(|(place, _)| place as u32).collect();
    }
    let place = names.iter().position(|name| *name == pattern).or(match pattern {
        "first" if !names.is_empty() => Some(0),
        "last" => names.len().checked_sub(1),
        _ => None,
    });
    place.map(|place| place as u32).into_iter().collect()
}

fn missing<'a>(
    what: &str,
    pattern: &str,
    located: &Located<String>,
    key: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    problems: &mut Problems,
) {
    let near = hint(pattern, known.clone());
    let near = if near.is_empty() { format!("; {}", listed(known)) } else { near };
    problems.add(located.origin, key, format!("no {what} is called `{pattern}`{near}"));
}
