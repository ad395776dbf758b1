//! Relationships of autonomous systems, as CAIDA infers them (`as-rel`, serial 1 and 2).
//!
//! Source: CAIDA, "AS Relationships", README of serial-1 and serial-2.
//!
//! ```text
//! # provider|customer|-1[|source], peer|peer|0[|source]
//! 3356|64500|-1
//! 64500|64501|0|bgp
//! ```
//!
//! Files before 2013 have siblings, 1 and 2, which are links as well.
//!
//! Nodes are called by the numbers of the systems. Delays and rates are left to the scenario.
//!
//! Difference: policies of routing are not modelled. A path may lead over a customer, which routes of BGP do not.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Attributes, Graph, GraphEdge};
use super::{Naming, Problem, lines};

/// Reads a topology.
pub(super) fn read(text: &str, naming: Naming) -> Result<Topology, TopologyError> {
    let mut graph = Graph { edges_name_nodes: true, ..Graph::default() };
    let mut transit = 0_usize;
    for (number, line) in lines(text)? {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (edge, is_transit) =
            edge(number, line).map_err(|(line, problem)| TopologyError::at(line, problem))?;
        transit += usize::from(is_transit);
        graph.edges.push(edge);
    }
    let peering = graph.edges.len() - transit;
    let links = format!("{transit} links to customers and {peering} others");
    graph.notes.push(format!("{links} carry traffic alike: routing has no policies"));
    let topology = graph.topology(naming);
    topology.map_err(|(line, problem)| TopologyError::at(line, problem))
}

/// Whether the first line without a comment is a relationship.
pub(super) fn is_likely(text: &str) -> bool {
    let mut rows = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.next().is_some_and(|line| edge(1, line.trim_end()).is_ok())
}

/// An edge, and whether it leads to a customer.
fn edge(place: usize, line: &str) -> Placed<(GraphEdge<'_>, bool)> {
    const WHAT: &str = "a relationship such as 3356|64500|-1";
    let wrong = || (place, Problem::unexpected(WHAT, line));
    let columns: Vec<_> = line.split('|').collect();
    let (a, b, kind) = match columns[..] {
        [a, b, kind] | [a, b, kind, _] => (a, b, kind),
        _ => return Err(wrong()),
    };
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    if !is_number(a) || !is_number(b) || !matches!(kind, "-1" | "0" | "1" | "2") {
        return Err(wrong());
    }
    let ends = (a.into(), b.into());
    let edge = GraphEdge { place, ends, directed: Some(false), attributes: Attributes::new() };
    Ok((edge, kind == "-1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text, Naming::Label).unwrap_err().to_string();
        assert!(error("# x\n1|2|3\n").starts_with("line 2: expected a relationship such as"));
        assert!(error("1|2|0\nAS1|2|0\n").starts_with("line 2: expected a relationship"));
        assert!(error("1|2\n").starts_with("line 1: expected a relationship"));
    }
}
