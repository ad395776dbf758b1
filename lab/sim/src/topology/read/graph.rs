//! Graphs with attributes as files of other tools have them, and their conversion to a topology.
//!
//! A reader of a format fills a [`Graph`]: nodes, edges, and their attributes as text. [`Graph::topology`] is the one
//! place that gives the attributes their meaning, see [`super::attribute`].
//!
//! - A node is called by its `label`, or by its id if it has none. If another node has that name, too, a labelled node
//!   is `label-id`. With [`Naming::Id`] all are called by their ids.
//! - An edge from a node to itself is left out and counted in [`Topology::notes`].
//! - Directed edges are joined in pairs.
//! - A link without a delay, between nodes with longitude and latitude, has the delay of light in fibre along the great
//!   circle. In such a graph, positions of a drawing (`x`, `y`) are left out.
use super::super::draft::{Draft, SelfLinks};
use super::super::{Topology, great_circle_delay};
use super::attribute::{LinkAttributes, Units, Unused};
use super::edge::{Edge, Placed, assemble};
use super::{Naming, Problem, coordinate};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Attributes by their names, in the order of the file.
pub(super) type Attributes<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// A graph of a file.
#[derive(Default)]
pub(super) struct Graph<'a> {
    /// Edges lead from their first end to their second only, unless an edge has its own direction.
    pub(super) directed: bool,
    /// Nodes that only edges name exist, too.
    pub(super) edges_name_nodes: bool,
    pub(super) attributes: Attributes<'a>,
    pub(super) nodes: Vec<GraphNode<'a>>,
    pub(super) edges: Vec<GraphEdge<'a>>,
    /// Parts of the file that have no place in a topology, a sentence each.
    pub(super) notes: Vec<String>,
}

/// A node of a graph.
pub(super) struct GraphNode<'a> {
    /// Where it is in the text: a line or a byte, as the format counts.
    pub(super) place: usize,
    pub(super) id: Cow<'a, str>,
    pub(super) attributes: Attributes<'a>,
}

/// An edge of a graph.
pub(super) struct GraphEdge<'a> {
    /// Where it is in the text: a line or a byte, as the format counts.
    pub(super) place: usize,
    pub(super) ends: (Cow<'a, str>, Cow<'a, str>),
    /// Whether it is directed; `None` if the graph decides.
    pub(super) directed: Option<bool>,
    pub(super) attributes: Attributes<'a>,
}

impl<'a> Graph<'a> {
    /// The topology of the graph.
    pub(super) fn topology(mut self, naming: Naming) -> Placed<Topology> {
        let notes = std::mem::take(&mut self.notes);
        let mut topology = Conversion::default().convert(&self, naming)?;
        topology.notes.splice(0..0, notes);
        Ok(topology)
    }
}

/// The value of an attribute, whatever the case of its name.
pub(super) fn value<'b>(attributes: &'b Attributes<'_>, name: &str) -> Option<&'b str> {
    let mut named = attributes.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim()).filter(|value| is_given(value))
}

/// Whether a value is one: neither empty nor Python's `None`.
pub(super) fn is_given(value: &str) -> bool {
    !value.is_empty() && value != "None"
}

#[derive(Default)]
struct Conversion {
    draft: Draft,
    /// Names of nodes by their ids.
    names: BTreeMap<String, String>,
    self_links: SelfLinks,
    unused: Unused,
    geographic: bool,
}

impl Conversion {
    fn convert(mut self, graph: &Graph<'_>, naming: Naming) -> Placed<Topology> {
        let units = Units::of(|name| value(&graph.attributes, name));
        self.geographic = graph.nodes.iter().any(|node| {
            ["longitude", "latitude"].iter().all(|name| value(&node.attributes, name).is_some())
        });
        for (node, name) in graph.nodes.iter().zip(names(&graph.nodes, naming)) {
            self.node(node, name).map_err(|problem| (node.place, problem))?;
        }
        let mut edges = Vec::with_capacity(graph.edges.len());
        for edge in &graph.edges {
            let place = edge.place;
            edges.extend(self.edge(graph, edge, &units).map_err(|problem| (place, problem))?);
        }
        assemble(&mut self.draft, edges)?;
        let mut topology = self.draft.finish();
        topology.geographic = self.geographic;
        let undelayed = fill_delays(&mut topology);
        topology.notes.extend(self.self_links.note());
        topology.notes.extend(self.unused.notes());
        topology.notes.extend(undelayed);
        Ok(topology)
    }

    fn node(&mut self, node: &GraphNode<'_>, name: String) -> Result<(), Problem> {
        let id = node.id.trim();
        let number = self.draft.node(&name)?;
        if self.names.insert(id.to_owned(), name).is_some() {
            return Err(Problem::RepeatedNode(id.to_owned()));
        }
        let find = |name| value(&node.attributes, name).map(coordinate).transpose();
        let degrees = find("longitude")?.zip(find("latitude")?);
        if let Some((longitude, latitude)) = degrees
            && (longitude.abs() > 360.0 || latitude.abs() > 90.0)
        {
            const WHAT: &str = "longitude and latitude in degrees";
            return Err(Problem::unexpected(WHAT, &format!("{longitude}, {latitude}")));
        }
        let drawn = find("x")?.zip(find("y")?);
        let position = if self.geographic { degrees } else { drawn };
        self.unused.look_at_node(node.attributes.iter().map(|(name, _)| &**name));
        self.draft.describe(number, position, label(node).as_deref());
        Ok(())
    }

    /// An edge, if it joins two nodes.
    fn edge(
        &mut self,
        graph: &Graph<'_>,
        edge: &GraphEdge<'_>,
        units: &Units<'_>,
    ) -> Result<Option<Edge>, Problem> {
        let mut end = |id: &str| {
            let id = id.trim();
            match self.names.get(id) {
                Some(name) => self.draft.known(name),
                None if graph.edges_name_nodes => {
                    self.names.insert(id.to_owned(), id.to_owned());
                    self.draft.node(id)
                }
                None => Err(Problem::UnknownNode(super::super::error::excerpt(id))),
            }
        };
        let ends = (end(&edge.ends.0)?, end(&edge.ends.1)?);
        let known = LinkAttributes::of(&edge.attributes, units, &mut self.unused)?;
        if ends.0 == ends.1 {
            self.self_links.add(&edge.ends.0);
            return Ok(None);
        }
        let directed = edge.directed.unwrap_or(graph.directed);
        let (place, part, weight) = (edge.place, known.part, known.weight);
        Ok(Some(Edge { place, ends, directed, part, weight }))
    }
}

/// The label of a node: one line without white space around it.
fn label(node: &GraphNode<'_>) -> Option<String> {
    let label = value(&node.attributes, "label")?;
    let words: Vec<_> = label.split_whitespace().collect();
    Some(words.join(" "))
}

/// The names of nodes, unique if their labels and ids permit it.
fn names(nodes: &[GraphNode<'_>], naming: Naming) -> Vec<String> {
    let is_labelled = |node: &&GraphNode<'_>| naming == Naming::Label && label(node).is_some();
    let id = |node: &GraphNode<'_>| node.id.trim().to_owned();
    let name = |node| Some(node).filter(is_labelled).and_then(label).unwrap_or_else(|| id(node));
    let mut names: Vec<_> = nodes.iter().map(name).collect();
    // The second time, `label-id` may be the label of another node.
    for _ in 0..2 {
        let mut counts = BTreeMap::new();
        names.iter().for_each(|name| *counts.entry(name.clone()).or_insert(0) += 1);
        for (node, name) in nodes.iter().zip(&mut names) {
            if counts.get(name) != Some(&1)
                && is_labelled(&node)
                && label(node).as_ref() == Some(name)
            {
                *name = format!("{name}-{}", id(node));
            }
        }
    }
    names
}

/// Gives delays to links between positions on the globe. Returns a note on links that cannot have one.
fn fill_delays(topology: &mut Topology) -> Option<String> {
    if !topology.geographic {
        return None;
    }
    let places: Vec<_> = topology.nodes.iter().map(|node| node.position).collect();
    let place = |end: crate::network::NodeId| places.get(end.0 as usize).copied().flatten();
    let mut without = 0_usize;
    for link in &mut topology.links {
        if link.forth.delay.is_some() && link.back.delay.is_some() {
            continue;
        }
        match place(link.ends.0).zip(place(link.ends.1)) {
            Some((from, to)) => {
                let delay = great_circle_delay(from, to);
                link.forth.delay.get_or_insert(delay);
                link.back.delay.get_or_insert(delay);
            }
            None => without += 1,
        }
    }
    (without > 0).then(|| {
        format!("{without} links have no delay: an end has no coordinates; `[link] delay` holds")
    })
}
