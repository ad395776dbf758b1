//! Output of BRITE, the Boston university Representative Internet Topology gEnerator.
//!
//! Source: Medina, Lakhina, Matta and Byers, "BRITE: Universal Topology Generation from a User's Perspective", 2001,
//! section "Output formats".
//!
//! ```text
//! Topology: ( 2 Nodes, 1 Edges )
//! Model (1 - RTWaxman):  2 1000 100 1  2  0.15 0.2 1 1 10.0 1024.0
//!
//! Nodes: ( 2 )
//! # id  x  y  in-degree  out-degree  AS  type
//! 0  10.0  20.0  1  1  -1  RT_NODE
//! 1  40.0  60.0  1  1  -1  RT_NODE
//!
//! Edges: ( 1 )
//! # id  from  to  length  delay  bandwidth  AS from  AS to  type
//! 0  0  1  50.0  0.167  10.0  -1  -1  E_RT  U
//! ```
//!
//! Delays are in milliseconds and bandwidths in Mbit/s. A negative bandwidth or delay is none: BRITE writes -1 between
//! autonomous systems. Edges are used in both directions, also those marked `D`.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Attributes, Graph, GraphEdge, GraphNode};
use super::{Naming, Problem, lines};
use std::borrow::Cow;

/// Reads a topology.
pub(super) fn read(text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    let topology = parse(text)?.topology(naming);
    topology.map_err(|(line, problem)| TopologyError::at(line, problem))
}

/// Whether a text begins as BRITE's does.
pub(super) fn is_likely(text: &str) -> bool {
    let first = text.trim_start_matches('\u{feff}').trim_start().lines().next();
    first.is_some_and(|line| line.starts_with("Topology:") && line.contains("Nodes"))
}

fn parse(text: &str) -> Result<Graph<'_>, TopologyError> {
    let mut graph = Graph {
        attributes: vec![attribute("capacity_unit", "Mbps"), attribute("delay_unit", "ms")],
        ..Graph::default()
    };
    let mut section = Section::Head;
    // Heads of sections with the announced number.
    let (mut nodes, mut edges) = ((1, None), (1, None));
    for (number, line) in lines(text)? {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with("Nodes:") {
            (section, nodes) = (Section::Nodes, (number, announced(line)));
            continue;
        }
        if line.starts_with("Edges:") {
            (section, edges) = (Section::Edges, (number, announced(line)));
            continue;
        }
        let added = match section {
            Section::Head => Ok(()),
            Section::Nodes => node(number, line).map(|node| graph.nodes.push(node)),
            Section::Edges => edge(number, line).map(|edge| graph.edges.push(edge)),
        };
        added.map_err(|(line, problem)| TopologyError::at(line, problem))?;
    }
    if section == Section::Head {
        return Err(Problem::Missing("a line \"Nodes: ( … )\"").into());
    }
    for ((line, announced), found) in [(nodes, graph.nodes.len()), (edges, graph.edges.len())] {
        if announced.is_some_and(|announced| announced != found) {
            let found = format!("{found} of them");
            let problem = Problem::unexpected("as many lines as are announced", &found);
            return Err(TopologyError::at(line, problem));
        }
    }
    Ok(graph)
}

/// The number in `Nodes: ( 2 )`.
fn announced(line: &str) -> Option<usize> {
    line.split(['(', ')']).nth(1)?.trim().parse().ok()
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Head,
    Nodes,
    Edges,
}

fn attribute<'a>(name: &'static str, value: &'a str) -> (Cow<'a, str>, Cow<'a, str>) {
    (name.into(), value.into())
}

fn node(place: usize, line: &str) -> Placed<GraphNode<'_>> {
    const WHAT: &str = "a node: its number, x, y, degrees, AS and type";
    let columns: Vec<_> = line.split_whitespace().collect();
    let [id, x, y, _in_degree, _out_degree, _system, _kind] = columns[..] else {
        return Err((place, Problem::unexpected(WHAT, line)));
    };
    let attributes = vec![attribute("x", x), attribute("y", y)];
    Ok(GraphNode { place, id: id.into(), attributes })
}

fn edge(place: usize, line: &str) -> Placed<GraphEdge<'_>> {
    const WHAT: &str = "an edge: its number, from, to, length, delay, bandwidth, two AS and type";
    let columns: Vec<_> = line.split_whitespace().collect();
    let (_number, from, to, _length, delay, bandwidth) = match columns[..] {
        [number, from, to, length, delay, bandwidth, _, _, _]
        | [number, from, to, length, delay, bandwidth, _, _, _, "U" | "D"] => {
            (number, from, to, length, delay, bandwidth)
        }
        _ => return Err((place, Problem::unexpected(WHAT, line))),
    };
    let values = [attribute("delay", delay), attribute("bandwidth", bandwidth)];
    let given = |(_, value): &(Cow<'_, str>, Cow<'_, str>)| !value.starts_with('-');
    let attributes: Attributes<'_> = values.into_iter().filter(given).collect();
    Ok(GraphEdge { place, ends: (from.into(), to.into()), directed: Some(false), attributes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text, Naming::Label).unwrap_err().to_string();
        assert!(error("Topology: ( 1 Nodes, 0 Edges )\n").contains("expected a line \"Nodes:"));
        let cut = "Nodes: ( 1 )\n0 1 2 1 1 -1 RT_NODE\nEdges: ( 3 )\n";
        assert!(error(cut).starts_with("line 3: expected as many lines as are announced"));
        assert!(error("Nodes: ( 1 )\n0 1 2\n").starts_with("line 2: expected a node: its number"));
        let edge = "Nodes: ( 1 )\n0 1 2 1 1 -1 RT_NODE\nEdges: ( 1 )\n0 0 7 1 1 10 -1 -1 E_RT U\n";
        assert!(error(edge).starts_with("line 4: there is no node \"7\""));
        assert!(error(&edge.replace(" U", " X")).starts_with("line 4: expected an edge"));
        let slow = edge.replace("0 0 7 1 1", "0 0 0 1 slow");
        assert!(error(&slow).starts_with("line 4: delay: expected a delay"));
    }
}
