//! Topologies in the XML of FNSS, the Fast Network Simulation Setup, which icarus uses too.
//!
//! Source: Saino, Cocora and Pavlou, "A toolchain for simplifying network simulation setup", SIMUTools
//! 2013; FNSS 0.9, `write_topology` and `units.py`.
//!
//! Properties of a link: `capacity` in the topology's `capacity_unit`, `delay` in `delay_unit`, `buffer`
//! in `buffer_unit` (packets or octets), `weight`. A topology with `linkdefault="directed"` gives each
//! direction on its own. Nodes are named by their ids; `label`, `name` or `city` becomes the label,
//! `longitude` and `latitude` the position. Stacks and applications of nodes are ignored.
use super::super::draft::Draft;
use super::super::{ChannelPart, QueueRoom, Topology, TopologyError};
use super::decimal::{self, Decimal};
use super::edge::{Edge, Placed, assemble};
use super::{Problem, coordinate, xml};
use roxmltree::Node;

/// Reads a topology.
pub fn read(text: &str) -> Result<Topology, TopologyError> {
    xml::read(text, topology)
}

fn topology(root: Node<'_, '_>) -> Placed<Topology> {
    let wrong = |problem| (xml::place(root), problem);
    if root.tag_name().name() != "topology" {
        return Err(wrong(Problem::unexpected("an element <topology>", root.tag_name().name())));
    }
    let directed = match xml::attribute(root, "linkdefault")? {
        "undirected" => false,
        "directed" => true,
        other => return Err(wrong(Problem::unexpected("undirected or directed", other))),
    };
    let units = Units {
        capacity: property(root, "capacity_unit"),
        delay: property(root, "delay_unit"),
        buffer: property(root, "buffer_unit"),
    };
    let mut draft = Draft::default();
    for element in xml::children(root, "node") {
        node(&mut draft, element)?;
    }
    let links = xml::children(root, "link");
    let edges = links.map(|element| link(&mut draft, &units, directed, element));
    let edges = edges.collect::<Placed<Vec<_>>>()?;
    assemble(&mut draft, edges)?;
    Ok(draft.finish())
}

/// The units of a topology's properties.
#[derive(Clone, Copy, Default)]
pub(super) struct Units<'a> {
    pub(super) capacity: Option<&'a str>,
    pub(super) delay: Option<&'a str>,
    pub(super) buffer: Option<&'a str>,
}

fn property<'a>(element: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let mut properties = xml::children(element, "property");
    properties.find(|property| property.attribute("name") == Some(name)).and_then(xml::value)
}

fn node(draft: &mut Draft, element: Node<'_, '_>) -> Placed<()> {
    let wrong = |problem| (xml::place(element), problem);
    let node = draft.node(xml::attribute(element, "id")?.trim()).map_err(wrong)?;
    let degrees = |name| property(element, name).map(coordinate).transpose().map_err(wrong);
    let position = degrees("longitude")?.zip(degrees("latitude")?);
    if position.is_some() {
        draft.positions_are_geographic();
    }
    let label = ["label", "name", "city"].into_iter().find_map(|name| property(element, name));
    draft.describe(node, position, label);
    Ok(())
}

fn link(
    draft: &mut Draft,
    units: &Units<'_>,
    directed: bool,
    element: Node<'_, '_>,
) -> Placed<Edge> {
    let place = xml::place(element);
    let wrong = |problem| (place, problem);
    let end = |name: &'static str| {
        let id = xml::children(element, name).next().and_then(xml::value);
        // FNSS adds nodes that only links mention.
        draft.known_or_new(id.ok_or(Problem::Missing(name))?)
    };
    let mut end = end;
    let ends = (end("from").map_err(wrong)?, end("to").map_err(wrong)?);
    let mut part = ChannelPart::default();
    let capacity = property(element, "capacity");
    part.rate_bits = capacity.map(|text| capacity_bits(text, units)).transpose().map_err(wrong)?;
    let delay = property(element, "delay");
    part.delay = delay.map(|text| delay_of(text, units)).transpose().map_err(wrong)?;
    let buffer = property(element, "buffer");
    part.queue = buffer.map(|text| buffer_of(text, units)).transpose().map_err(wrong)?;
    let weight = property(element, "weight").map(weight_of).transpose().map_err(wrong)?;
    Ok(Edge { place, ends, directed, part, weight })
}

/// A capacity in bits per second.
pub(super) fn capacity_bits(text: &str, units: &Units<'_>) -> Result<u64, Problem> {
    let (factor, power) = match units.capacity {
        None => return Err(Problem::Missing("a property capacity_unit, such as Mbps")),
        Some(unit) => capacity_unit(unit)
            .ok_or_else(|| Problem::unexpected("a capacity_unit such as Mbps", unit))?,
    };
    decimal::quantity(text, "a capacity, a number", |unit| {
        unit.is_empty().then_some((factor, power))
    })
}

/// The units of rates that FNSS knows.
pub(super) fn capacity_unit(unit: &str) -> Option<(u64, i32)> {
    let bare = unit.strip_suffix("it/s").or(unit.strip_suffix("ps")).or(unit.strip_suffix("/s"));
    let bare = bare.unwrap_or(unit);
    let (size, factor) = match bare.strip_suffix('b') {
        Some(size) => (size, 1),
        None if unit.ends_with("it/s") => return None,
        None => (bare.strip_suffix('B')?, 8),
    };
    let power = match size {
        "" => 0,
        "k" | "K" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        _ => return None,
    };
    Some((factor, power))
}

fn delay_of(text: &str, units: &Units<'_>) -> Result<recoup_transport::time::Duration, Problem> {
    let (factor, power) = match units.delay {
        None => return Err(Problem::Missing("a property delay_unit, such as ms")),
        Some(unit) => {
            time_unit(unit).ok_or_else(|| Problem::unexpected("a delay_unit such as ms", unit))?
        }
    };
    decimal::duration(text, "a delay, a number", |unit| unit.is_empty().then_some((factor, power)))
}

/// The units of time that FNSS knows, in nanoseconds.
pub(super) fn time_unit(unit: &str) -> Option<(u64, i32)> {
    match unit {
        "minutes" | "minute" | "min" | "m" => Some((60, 9)),
        "seconds" | "second" | "sec" | "s" => Some((1, 9)),
        "milliseconds" | "millisecond" | "millisec" | "ms" => Some((1, 6)),
        "microseconds" | "microsecond" | "microsec" | "us" => Some((1, 3)),
        "nanoseconds" | "nanosecond" | "nanosec" | "ns" => Some((1, 0)),
        _ => None,
    }
}

/// A buffer, rounded to whole packets or octets.
pub(super) fn buffer_of(text: &str, units: &Units<'_>) -> Result<QueueRoom, Problem> {
    const SIZE: &str = "the size of a buffer, a number";
    let size = Decimal::parse(text).and_then(|size| size.times(1, 0));
    let size = size.ok_or_else(|| Problem::unexpected(SIZE, text))?;
    match units.buffer {
        Some("packets" | "packet" | "pkts") => Ok(QueueRoom::Packets(size)),
        Some("bytes" | "byte" | "B" | "octets") => Ok(QueueRoom::Octets(size)),
        Some(other) => Err(Problem::unexpected("a buffer_unit, packets or bytes", other)),
        None => Err(Problem::Missing("a property buffer_unit, packets or bytes")),
    }
}

/// A weight.
pub(super) fn weight_of(text: &str) -> Result<Decimal, Problem> {
    Decimal::parse(text).ok_or_else(|| Problem::unexpected("a weight that is not negative", text))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn units_are_those_of_the_topology() {
        let properties =
            [("capacity", "2.5"), ("delay", "0.5"), ("buffer", "64000"), ("weight", "3.0")];
        let topology = read(&document("undirected", &link_of(0, 1, &properties))).unwrap();
        let link = &topology.links[0];
        assert_eq!((link.name.as_str(), link.cost), ("0-1", 3));
        assert_eq!(link.forth.rate_bits, Some(2_500_000));
        assert_eq!(link.forth.delay.unwrap().as_micros(), 500);
        assert_eq!(link.back.queue, Some(QueueRoom::Octets(64_000)));
    }

    #[test]
    fn a_directed_topology_gives_each_direction_on_its_own() {
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
    fn all_units_of_fnss_are_known() {
        for (unit, expected) in [
            ("bps", (1, 0)),
            ("Kbps", (1, 3)),
            ("Gbit/s", (1, 9)),
            ("MB/s", (8, 6)),
            ("TBps", (8, 12)),
            ("Mb", (1, 6)),
            ("kB", (8, 3)),
            ("B", (8, 0)),
        ] {
            assert_eq!(capacity_unit(unit), Some(expected), "{unit}");
        }
        for unit in ["", "M", "Mbpss", "furlong", "MBit/s"] {
            assert_eq!(capacity_unit(unit), None, "{unit}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("<graph/>").contains("expected an element <topology>, found \"graph\""));
        assert!(error("<topology linkdefault='both'/>").contains("found \"both\""));
        let body = link_of(0, 1, &[("delay", "fast")]);
        assert!(error(&document("directed", &body)).starts_with("line 6: expected a delay"));
        let bare = document("directed", &link_of(0, 1, &[("delay", "1")]));
        let bare = bare.replace("delay_unit", "delays");
        assert!(error(&bare).contains("expected a property delay_unit"));
        assert!(
            error(&document("directed", "<link><from>0</from></link>")).contains("expected to")
        );
        assert!(error(&document("directed", "<node id=\"0\"/>")).contains("twice"));
        assert!(error("<topology").starts_with("line 1: not readable as XML"));
    }
}
