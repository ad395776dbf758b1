//! GraphML, as networkx writes it and the Topology Zoo distributes it.
//!
//! Source: Brandes et al., "GraphML Progress Report", 2001, and the GraphML primer; Knight et al., "The Internet
//! Topology Zoo", IEEE JSAC 29(9), 2011.
//!
//! Differences: ports, nested graphs and hyperedges are errors. An element of another namespace, such as the drawing of
//! yEd, is passed over.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Attributes, Graph, GraphEdge, GraphNode};
use super::{Naming, Problem, xml};
use roxmltree::Node;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads a topology.
pub(super) fn read(text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    xml::read(text, |root| graph(root)?.topology(naming))
}

fn graph<'a>(root: Node<'a, '_>) -> Placed<Graph<'a>> {
    let wrong = |problem| (xml::place(root), problem);
    if root.tag_name().name() != "graphml" {
        return Err(wrong(Problem::unexpected("an element <graphml>", root.tag_name().name())));
    }
    let keys = Keys::of(root)?;
    let mut graphs = xml::children(root, "graph");
    let element = graphs.next().ok_or(wrong(Problem::Missing("an element <graph>")))?;
    if let Some(second) = graphs.next() {
        let found = second.attribute("id").unwrap_or_default();
        return Err((xml::place(second), unsupported("second graph", found)));
    }
    if let Some(hyperedge) = xml::children(element, "hyperedge").next() {
        return Err((xml::place(hyperedge), unsupported("element", "hyperedge")));
    }
    let nodes = xml::children(element, "node").map(|it| node(it, &keys));
    let edges = xml::children(element, "edge").map(|it| edge(it, &keys));
    Ok(Graph {
        directed: element.attribute("edgedefault") == Some("directed"),
        attributes: keys.attributes(element)?,
        nodes: nodes.collect::<Placed<_>>()?,
        edges: edges.collect::<Placed<_>>()?,
        ..Graph::default()
    })
}

fn unsupported(what: &'static str, found: &str) -> Problem {
    Problem::unsupported(what, found, "keep one graph of nodes and edges")
}

fn node<'a>(element: Node<'a, '_>, keys: &Keys<'a>) -> Placed<GraphNode<'a>> {
    let (place, id) = (xml::place(element), xml::attribute(element, "id")?);
    if xml::children(element, "graph").next().is_some() {
        return Err((place, unsupported("graph within the node", id)));
    }
    Ok(GraphNode { place, id: id.into(), attributes: keys.attributes(element)? })
}

fn edge<'a>(element: Node<'a, '_>, keys: &Keys<'a>) -> Placed<GraphEdge<'a>> {
    let end = |name| xml::attribute(element, name).map(Cow::Borrowed);
    Ok(GraphEdge {
        place: xml::place(element),
        ends: (end("source")?, end("target")?),
        directed: element.attribute("directed").map(|own| own == "true"),
        attributes: keys.attributes(element)?,
    })
}

/// Meanings of the keys of a document.
struct Keys<'a> {
    /// Names by the ids of the keys.
    names: BTreeMap<&'a str, &'a str>,
    /// Elements that a key describes, its name and its default value.
    defaults: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    /// Most keys with a default value: each element has all of them.
    const MOST_DEFAULTS: usize = 64;

    fn of(root: Node<'a, '_>) -> Placed<Self> {
        let mut keys = Self { names: BTreeMap::new(), defaults: Vec::new() };
        for key in xml::children(root, "key") {
            let id = xml::attribute(key, "id")?;
            let name = key.attribute("attr.name").unwrap_or(id);
            if let Some(value) = xml::children(key, "default").next().map(xml::text) {
                keys.defaults.push((key.attribute("for").unwrap_or("all"), name, value));
            }
            keys.names.insert(id, name);
        }
        if keys.defaults.len() > Self::MOST_DEFAULTS {
            let limit = Self::MOST_DEFAULTS;
            return Err((xml::place(root), Problem::TooMany { what: "default values", limit }));
        }
        Ok(keys)
    }

    /// The attributes of an element: its own, and default values of those that it does not have.
    fn attributes(&self, element: Node<'a, '_>) -> Placed<Attributes<'a>> {
        let mut attributes = Attributes::new();
        for data in xml::children(element, "data") {
            let key = xml::attribute(data, "key")?;
            let wrong = || (xml::place(data), Problem::unexpected("the id of a <key>", key));
            let name = self.names.get(key).ok_or_else(wrong)?;
            attributes.push(((*name).into(), xml::text(data).into()));
        }
        let own = attributes.len();
        for (of, name, value) in &self.defaults {
            let is_its = *of == "all" || *of == element.tag_name().name();
            if is_its && !attributes[..own].iter().any(|(given, _)| given == name) {
                attributes.push(((*name).into(), (*value).into()));
            }
        }
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ChannelPart;
    use super::*;
    use recoup_transport::time::Duration;

    fn document(keys: &[(&str, &str)], graph: &str) -> String {
        let keys = keys.iter().map(|(of, name)| {
            format!("<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"string\"/>\n")
        });
        let keys = keys.collect::<String>();
        format!(
            "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{keys}{graph}</graphml>"
        )
    }

    fn read(text: &str) -> Result<Topology, String> {
        super::read(text, Naming::Label).map_err(|error| error.to_string())
    }

    fn one_edge(name: &str, value: &str) -> Result<ChannelPart, String> {
        let graph = format!(
            "<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\
             <edge source=\"a\" target=\"b\"><data key=\"{name}\">{value}</data></edge></graph>"
        );
        Ok(read(&document(&[("edge", name)], &graph))?.links[0].forth.clone())
    }

    #[test]
    fn attributes_of_edges_are_recognised_by_name() {
        let rate = |name: &str, value: &str| one_edge(name, value).map(|part| part.rate_bits);
        assert_eq!(rate("LinkSpeedRaw", "155000000.0"), Ok(Some(155_000_000)));
        assert_eq!(rate("bandwidth", "10Gbps"), Ok(Some(10_000_000_000)));
        assert_eq!(rate("capacity", "10"), Ok(Some(10_000_000)));
        assert!(rate("capacity", "10000000000").unwrap_err().contains("capacity_unit"));
        assert!(rate("LinkSpeedRaw", "0").unwrap_err().contains("a rate above 0"));
        assert_eq!(one_edge("Latency", "2.5").unwrap().delay, Some(Duration::from_micros(2_500)));
        assert_eq!(one_edge("delay", "3us").unwrap().delay, Some(Duration::from_micros(3)));
        assert!(one_edge("delay", "soon").unwrap_err().contains("line 3: delay: expected a delay"));
        let lossy = Some("bernoulli(p=0.01)".parse().unwrap());
        assert_eq!(one_edge("loss", "1%").unwrap().loss, lossy);
        assert_eq!(one_edge("loss", "bernoulli(p=0.01)").unwrap().loss, lossy);
        assert!(one_edge("loss", "1").unwrap_err().contains("write bernoulli(p=0.01)"));
    }

    #[test]
    fn unknown_attributes_are_named() {
        let graph = "<graph><node id=\"a\"><data key=\"mood\">1</data></node><node id=\"b\"/>\
            <edge source=\"a\" target=\"b\"><data key=\"colour\">blue</data></edge></graph>";
        let topology = read(&document(&[("node", "mood"), ("edge", "colour")], graph)).unwrap();
        let none = "that have no meaning here";
        let notes = [
            format!("attributes of nodes {none}: mood"),
            format!("attributes of links {none}: colour"),
        ];
        assert_eq!(topology.notes, notes);
    }

    #[test]
    fn units_of_the_graph_hold_for_bare_numbers() {
        let graph = "<graph edgedefault=\"undirected\"><data key=\"capacity_unit\">Kbps</data>\
            <data key=\"delay_unit\">s</data><data key=\"buffer_unit\">bytes</data>\
            <node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\">\
            <data key=\"capacity\">8</data><data key=\"delay\">1</data><data key=\"buffer\">9</data>\
            </edge></graph>";
        let keys = ["capacity_unit", "delay_unit", "buffer_unit"].map(|name| ("graph", name));
        let keys =
            [&keys[..], &["capacity", "delay", "buffer"].map(|name| ("edge", name))].concat();
        let part = read(&document(&keys, graph)).unwrap().links[0].forth.clone();
        assert_eq!((part.rate_bits, part.delay), (Some(8_000), Some(Duration::from_secs(1))));
        assert_eq!(part.queue, Some(super::super::super::QueueRoom::Bytes(9)));
    }

    #[test]
    fn a_key_has_a_default() {
        let key = "<key id=\"d0\" for=\"edge\" attr.name=\"weight\"><default>4</default></key>";
        let graph = "<graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/>\
            <edge source=\"a\" target=\"b\"/>\
            <edge source=\"b\" target=\"a\"><data key=\"d0\">5</data></edge></graph>";
        let topology = read(&format!("<graphml>{key}{graph}</graphml>")).unwrap();
        assert_eq!((topology.links[0].cost, topology.links[0].cost_back()), (4, 5));
        assert_eq!(topology.links.len(), 1);
    }

    #[test]
    fn only_plain_graphs_are_accepted() {
        let error = |text: &str| read(&document(&[], text)).unwrap_err();
        assert!(error("").contains("expected an element <graph>"));
        assert!(error("<graph/><graph id=\"two\"/>").contains("second graph \"two\""));
        assert!(error("<graph><hyperedge/></graph>").contains("hyperedge"));
        assert!(error("<graph><node id=\"a\"><graph/></node></graph>").contains("within the node"));
        assert!(error("<graph><node/></graph>").contains("expected id"));
        assert!(error("<graph><data key=\"d\">1</data></graph>").contains("the id of a <key>"));
        let unknown = error("<graph>\n<node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/></graph>");
        assert_eq!(unknown, "line 4: there is no node \"b\"; name it among the nodes first");
    }
}
