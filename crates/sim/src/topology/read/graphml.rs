//! Topologies in GraphML, as networkx writes it and the Topology Zoo distributes it.
//!
//! Source: Brandes et al., "GraphML Progress Report", 2001, and the GraphML primer; Knight et al., "The
//! Internet Topology Zoo", IEEE JSAC 29(9), 2011.
//!
//! Nodes are named by their ids; attributes are recognised by their names, whatever the case:
//!
//! | of | attribute | meaning |
//! |---|---|---|
//! | node | `longitude`, `latitude` | position, in degrees |
//! | node | `x`, `y` | position on a plane |
//! | node | `label`, `name`, `city` | label |
//! | edge | `LinkSpeedRaw` | rate in bits per second |
//! | edge | `capacity`, `bandwidth`, `rate` | rate with its unit, or in the graph's `capacity_unit` |
//! | edge | `delay`, `latency` | delay with its unit, or in the graph's `delay_unit`, or in ms |
//! | edge | `buffer`, `queue` | packets, or in the graph's `buffer_unit` |
//! | edge | `loss`, `packet_loss`, `packetloss` | share of lost packets |
//! | edge | `weight`, `cost`, `metric` | cost |
//!
//! Others are ignored. Edges from a node to itself, which the Zoo has, are left out. Directed edges are
//! joined in pairs.
use super::super::draft::Draft;
use super::super::{ChannelPart, QueueRoom, Topology, TopologyError};
use super::decimal::{self, Decimal};
use super::edge::{Edge, Placed, assemble};
use super::fnss::{self, Units};
use super::{Problem, coordinate, xml};
use recoup_transport::time::Duration;
use roxmltree::Node;
use std::collections::BTreeMap;

/// Reads a topology.
pub fn read(text: &str) -> Result<Topology, TopologyError> {
    xml::read(text, topology)
}

fn topology(root: Node<'_, '_>) -> Placed<Topology> {
    let wrong = |problem| (xml::place(root), problem);
    if root.tag_name().name() != "graphml" {
        return Err(wrong(Problem::unexpected("an element <graphml>", root.tag_name().name())));
    }
    let keys = Keys::of(root)?;
    let mut graphs = xml::children(root, "graph");
    let graph = graphs.next().ok_or(wrong(Problem::Missing("an element <graph>")))?;
    if let Some(second) = graphs.next() {
        let found = second.attribute("id").unwrap_or_default();
        return Err((xml::place(second), unsupported("second graph", found)));
    }
    let mut draft = Draft::default();
    for element in xml::children(graph, "node") {
        node(&mut draft, &keys, element)?;
    }
    if let Some(hyperedge) = xml::children(graph, "hyperedge").next() {
        return Err((xml::place(hyperedge), unsupported("element", "hyperedge")));
    }
    let edges = edges(&mut draft, &keys, graph)?;
    assemble(&mut draft, edges)?;
    Ok(draft.finish())
}

fn unsupported(what: &'static str, found: &str) -> Problem {
    Problem::unsupported(what, found, "keep one graph of nodes and edges")
}

/// What the keys of a document stand for.
struct Keys<'a> {
    /// Names in lower case by the ids of their keys.
    names: BTreeMap<&'a str, String>,
    /// Values of elements that do not give their own, by what they describe and name.
    defaults: BTreeMap<(&'a str, String), &'a str>,
}

impl<'a> Keys<'a> {
    fn of(root: Node<'a, '_>) -> Placed<Self> {
        let mut keys = Self { names: BTreeMap::new(), defaults: BTreeMap::new() };
        for key in xml::children(root, "key") {
            let id = xml::attribute(key, "id")?;
            let name = key.attribute("attr.name").unwrap_or(id).to_ascii_lowercase();
            if let Some(value) = xml::children(key, "default").next().and_then(xml::value) {
                let of = key.attribute("for").unwrap_or("all");
                keys.defaults.insert((of, name.clone()), value);
            }
            keys.names.insert(id, name);
        }
        Ok(keys)
    }

    /// The attributes of an element by their names.
    fn attributes<'b>(&'b self, element: Node<'a, '_>) -> Attributes<'a, 'b> {
        let mut values = BTreeMap::new();
        for data in xml::children(element, "data") {
            let name = data.attribute("key").and_then(|key| self.names.get(key));
            if let (Some(name), Some(value)) = (name, xml::value(data)) {
                values.insert(name.as_str(), value);
            }
        }
        Attributes { of: element.tag_name().name(), values, keys: self }
    }
}

/// The attributes of an element.
struct Attributes<'a, 'b> {
    of: &'a str,
    values: BTreeMap<&'b str, &'a str>,
    keys: &'b Keys<'a>,
}

impl<'a> Attributes<'a, '_> {
    /// The first of these that the element has.
    fn first(&self, names: &[&str]) -> Option<&'a str> {
        let given = names.iter().find_map(|name| self.values.get(name).copied());
        given.or_else(|| names.iter().find_map(|name| self.default(name)))
    }

    fn default(&self, name: &str) -> Option<&'a str> {
        let defaults = &self.keys.defaults;
        [self.of, "all"].iter().find_map(|of| defaults.get(&(*of, name.to_owned())).copied())
    }
}

fn node(draft: &mut Draft, keys: &Keys<'_>, element: Node<'_, '_>) -> Placed<()> {
    let wrong = |problem| (xml::place(element), problem);
    if xml::children(element, "graph").next().is_some() {
        return Err(wrong(unsupported("graph within the node", xml::attribute(element, "id")?)));
    }
    let node = draft.node(xml::attribute(element, "id")?.trim()).map_err(wrong)?;
    let attributes = keys.attributes(element);
    let number = |name| attributes.first(&[name]).map(coordinate).transpose().map_err(wrong);
    let degrees = number("longitude")?.zip(number("latitude")?);
    if degrees.is_some() {
        draft.positions_are_geographic();
    }
    let position = match degrees {
        Some(degrees) => Some(degrees),
        None => number("x")?.zip(number("y")?),
    };
    draft.describe(node, position, attributes.first(&["label", "name", "city"]));
    Ok(())
}

fn edges(draft: &mut Draft, keys: &Keys<'_>, graph: Node<'_, '_>) -> Placed<Vec<Edge>> {
    let graph_attributes = keys.attributes(graph);
    let units = Units {
        capacity: graph_attributes.first(&["capacity_unit"]),
        delay: graph_attributes.first(&["delay_unit"]),
        buffer: graph_attributes.first(&["buffer_unit"]),
    };
    let directed = graph.attribute("edgedefault") == Some("directed");
    let mut edges = Vec::new();
    for element in xml::children(graph, "edge") {
        let place = xml::place(element);
        let wrong = |problem| (place, problem);
        let end = |name| {
            let id = xml::attribute(element, name)?;
            draft.known(id.trim()).map_err(wrong)
        };
        let ends = (end("source")?, end("target")?);
        if ends.0 == ends.1 {
            continue;
        }
        let directed = match element.attribute("directed") {
            Some(own) => own == "true",
            None => directed,
        };
        let attributes = keys.attributes(element);
        let part = channel(&attributes, &units).map_err(wrong)?;
        let weight = attributes.first(&["weight", "cost", "metric"]);
        let weight = weight.map(fnss::weight_of).transpose().map_err(wrong)?;
        edges.push(Edge { place, ends, directed, part, weight });
    }
    Ok(edges)
}

fn channel(attributes: &Attributes<'_, '_>, units: &Units<'_>) -> Result<ChannelPart, Problem> {
    let raw = attributes.first(&["linkspeedraw"]);
    let capacity = attributes.first(&["capacity", "bandwidth", "rate"]);
    let delay = attributes.first(&["delay", "latency"]);
    let buffer = attributes.first(&["buffer", "queue"]);
    let loss = attributes.first(&["loss", "packet_loss", "packetloss"]);
    Ok(ChannelPart {
        rate_bits: match raw {
            Some(raw) => Some(speed(raw)?),
            None => capacity.map(|text| capacity_of(text, units)).transpose()?,
        },
        delay: delay.map(|text| delay_of(text, units)).transpose()?,
        queue: buffer.map(|text| queue_of(text, units)).transpose()?,
        loss: loss.map(loss_of).transpose()?,
        ..ChannelPart::default()
    })
}

fn speed(text: &str) -> Result<u64, Problem> {
    decimal::quantity(text, "a speed in bits per second", |unit| unit.is_empty().then_some((1, 0)))
}

/// A rate with its unit, or in that of the graph.
fn capacity_of(text: &str, units: &Units<'_>) -> Result<u64, Problem> {
    if Decimal::parse(text).is_some() {
        return fnss::capacity_bits(text, units);
    }
    decimal::quantity(text, "a rate with its unit, such as 10Mbps", fnss::capacity_unit)
}

fn delay_of(text: &str, units: &Units<'_>) -> Result<Duration, Problem> {
    let bare = units.delay.unwrap_or("ms");
    decimal::duration(text, "a delay such as 10ms", |unit| {
        fnss::time_unit(if unit.is_empty() { bare } else { unit })
    })
}

fn queue_of(text: &str, units: &Units<'_>) -> Result<QueueRoom, Problem> {
    let buffer = Some(units.buffer.unwrap_or("packets"));
    fnss::buffer_of(text, &Units { buffer, ..*units })
}

fn loss_of(text: &str) -> Result<String, Problem> {
    let loss = Decimal::parse(text).and_then(|share| share.loss(0));
    loss.ok_or_else(|| Problem::unexpected("a share of lost packets from 0 to 1", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(keys: &[(&str, &str)], graph: &str) -> String {
        let keys = keys.iter().map(|(of, name)| {
            format!("<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"string\"/>\n")
        });
        let keys = keys.collect::<String>();
        format!(
            "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n{keys}{graph}</graphml>"
        )
    }

    fn one_edge(name: &str, value: &str) -> Result<ChannelPart, String> {
        let graph = format!(
            "<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\
             <edge source=\"a\" target=\"b\"><data key=\"{name}\">{value}</data></edge></graph>"
        );
        let topology = read(&document(&[("edge", name)], &graph)).map_err(|e| e.to_string())?;
        Ok(topology.links[0].forth.clone())
    }

    #[test]
    fn attributes_of_edges_are_recognised_by_name() {
        let rate = |name: &str, value: &str| one_edge(name, value).map(|part| part.rate_bits);
        assert_eq!(rate("LinkSpeedRaw", "155000000.0"), Ok(Some(155_000_000)));
        assert_eq!(rate("bandwidth", "10Mbps"), Ok(Some(10_000_000)));
        assert!(rate("bandwidth", "10").unwrap_err().contains("capacity_unit"));
        assert_eq!(one_edge("Latency", "2.5").unwrap().delay, Some(Duration::from_micros(2_500)));
        assert_eq!(one_edge("delay", "3us").unwrap().delay, Some(Duration::from_micros(3)));
        assert_eq!(one_edge("queue", "7").unwrap().queue, Some(QueueRoom::Packets(7)));
        assert_eq!(one_edge("packetloss", "0.25").unwrap().loss.unwrap(), "bernoulli(p=0.25)");
        assert_eq!(one_edge("colour", "blue"), Ok(ChannelPart::default()));
        assert!(one_edge("delay", "soon").unwrap_err().contains("expected a delay"));
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
        assert_eq!(part.queue, Some(QueueRoom::Octets(9)));
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
    fn what_is_no_plain_graph_is_refused() {
        let error = |text: &str| read(&document(&[], text)).unwrap_err().to_string();
        assert!(error("").contains("expected an element <graph>"));
        assert!(error("<graph/><graph id=\"two\"/>").contains("second graph \"two\""));
        assert!(error("<graph><hyperedge/></graph>").contains("hyperedge"));
        assert!(error("<graph><node id=\"a\"><graph/></node></graph>").contains("within the node"));
        assert!(error("<graph><node/></graph>").contains("expected id"));
        let unknown = error("<graph>\n<node id=\"a\"/>\n<edge source=\"a\" target=\"b\"/></graph>");
        assert_eq!(unknown, "line 4: there is no node \"b\"; name it among the nodes first");
    }
}
