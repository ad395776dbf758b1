//! XML of FNSS, the Fast Network Simulation Setup, which Icarus uses, too.
//!
//! Source: Saino, Cocora and Pavlou, "A toolchain for simplifying network simulation setup", SIMUTools 2013; FNSS 0.9,
//! `write_topology`.
//!
//! Properties have a `name`: those of the topology are the units. A topology with `linkdefault="directed"` gives each
//! direction on its own. A node that only links name exists, too. Stacks and applications of nodes are passed over with
//! a note: applications of a scenario are its own.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Attributes, Graph, GraphEdge, GraphNode};
use super::{Naming, Problem, xml};
use roxmltree::Node;
use std::borrow::Cow;

/// Reads a topology.
pub(super) fn read(text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    xml::read(text, |root| graph(root)?.topology(naming))
}

fn graph<'a>(root: Node<'a, '_>) -> Placed<Graph<'a>> {
    let wrong = |problem| (xml::place(root), problem);
    if root.tag_name().name() != "topology" {
        return Err(wrong(Problem::unexpected("an element <topology>", root.tag_name().name())));
    }
    let directed = match xml::attribute(root, "linkdefault")? {
        "undirected" => false,
        "directed" => true,
        other => return Err(wrong(Problem::unexpected("undirected or directed", other))),
    };
    let nodes = xml::children(root, "node").map(node).collect::<Placed<Vec<_>>>()?;
    let edges = xml::children(root, "link").map(edge).collect::<Placed<Vec<_>>>()?;
    let has = |name: &'static str| {
        xml::children(root, "node").any(|node| xml::children(node, name).next().is_some())
    };
    let left_out = ["stack", "application"].into_iter().filter(|name| has(name));
    let notes = left_out.map(|name| format!("elements <{name}> of nodes are left out"));
    Ok(Graph {
        directed,
        edges_name_nodes: true,
        attributes: properties(root)?,
        notes: notes.collect(),
        nodes,
        edges,
    })
}

fn properties<'a>(element: Node<'a, '_>) -> Placed<Attributes<'a>> {
    let properties = xml::children(element, "property")
        .map(|property| Ok((xml::attribute(property, "name")?.into(), xml::text(property).into())));
    properties.collect()
}

fn node<'a>(element: Node<'a, '_>) -> Placed<GraphNode<'a>> {
    let id = xml::attribute(element, "id")?;
    let attributes = properties(element)?;
    Ok(GraphNode { place: xml::place(element), id: id.into(), attributes })
}

fn edge<'a>(element: Node<'a, '_>) -> Placed<GraphEdge<'a>> {
    let place = xml::place(element);
    let end = |name: &'static str| {
        let id = xml::children(element, name).next().map(xml::text);
        id.map(Cow::Borrowed).ok_or((place, Problem::Missing(name)))
    };
    let ends = (end("from")?, end("to")?);
    Ok(GraphEdge { place, ends, directed: None, attributes: properties(element)? })
}

#[cfg(test)]
mod tests {
    use super::super::super::QueueRoom;
    use super::*;

    fn document(linkdefault: &str, body: &str) -> String {
        format!(
            "<topology linkdefault=\"{linkdefault}\">\n\
             <property name=\"capacity_unit\" type=\"string\">Mbps</property>\n\
             <property name=\"delay_unit\" type=\"string\">ms</property>\n\
             <property name=\"buffer_unit\" type=\"string\">bytes</property>\n\
             <node id=\"0\" id.type=\"int\"/><node id=\"1\" id.type=\"int\"/>\n{body}</topology>"
        )
    }

    fn link_of(from: u8, to: u8, properties: &[(&str, &str)]) -> String {
        let properties = properties.iter().map(|(name, value)| {
            format!("<property name=\"{name}\" type=\"float\">{value}</property>")
        });
        let properties = properties.collect::<String>();
        format!(
            "<link><from type=\"int\">{from}</from><to type=\"int\">{to}</to>{properties}</link>\n"
        )
    }

    fn read(text: &str) -> Result<Topology, String> {
        super::read(text, Naming::Label).map_err(|error| error.to_string())
    }

    #[test]
    fn units_are_those_of_the_topology() {
        let properties =
            [("capacity", "2.5"), ("delay", "0.5"), ("buffer", "64000"), ("weight", "3.0")];
        let topology = read(&document("undirected", &link_of(0, 1, &properties))).unwrap();
        let link = &topology.links[0];
        assert_eq!((link.name.as_str(), link.cost), ("0-1", 3));
        assert_eq!(link.forth.rate_bits, Some(2_500_000));
        assert_eq!(link.forth.delay.unwrap().as_micros(), 500);
        assert_eq!(link.back.queue, Some(QueueRoom::Bytes(64_000)));
    }

    #[test]
    fn a_directed_topology_gives_each_direction() {
        let body = link_of(0, 1, &[("delay", "1"), ("weight", "1")])
            + &link_of(1, 0, &[("delay", "2"), ("weight", "2.5")]);
        let topology = read(&document("directed", &body)).unwrap();
        assert_eq!(topology.links.len(), 1);
        let link = &topology.links[0];
        assert_eq!((link.cost, link.cost_back()), (1_000, 2_500));
        assert_eq!(link.forth.delay.unwrap() * 2, link.back.delay.unwrap());
        assert_eq!(read(&document("undirected", &body)).unwrap().links.len(), 2);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text).unwrap_err();
        assert!(error("<graph/>").contains("expected an element <topology>, found \"graph\""));
        assert!(error("<topology linkdefault='both'/>").contains("found \"both\""));
        let body = link_of(0, 1, &[("delay", "fast")]);
        assert!(error(&document("directed", &body)).starts_with("line 6: delay: expected a delay"));
        let twice = link_of(0, 1, &[("delay", "1"), ("latency", "1")]);
        assert!(error(&document("directed", &twice)).starts_with("line 6: attribute \"latency\""));
        let unit =
            document("directed", &link_of(0, 1, &[("delay", "1")])).replace(">ms<", ">moons<");
        assert!(error(&unit).contains("expected a delay_unit such as ms, found \"moons\""));
        assert!(
            error(&document("directed", "<link><from>0</from></link>")).contains("expected to")
        );
        assert!(error(&document("directed", "<node id=\"0\"/>")).contains("twice"));
        let label = "<node id=\"2\"><property name=\"label\">x</property></node>
            <link><from>0</from><to>x</to></link>";
        assert!(error(&document("directed", label)).contains("node \"x\" is there twice"));
        assert!(error("<topology").starts_with("line 1: not readable as XML"));
    }
}
