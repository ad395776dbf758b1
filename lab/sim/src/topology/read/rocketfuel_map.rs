//! Maps of Internet providers by Rocketfuel (`.cch`).
//!
//! Source: Spring, Mahajan and Wetherall, "Measuring ISP Topologies with Rocketfuel", SIGCOMM 2002, README of the maps;
//! ns-3, `RocketfuelTopologyReader`.
//!
//! ```text
//! uid @location [+] [bb] (neighbours) [&external] -> <uid> … {-uid} … =name[!] rNUMBER
//! -uid =address rNUMBER
//! ```
//!
//! Nodes are called by their `uid`; the location becomes the label of the node. A pair of neighbours has one link,
//! although both list it. Maps have no delays and no rates.
//!
//! Differences: links to other providers (`{-uid}`, lines of `-uid`) are left out with a note.
use super::super::{Topology, TopologyError};
use super::edge::Placed;
use super::graph::{Graph, GraphEdge, GraphNode};
use super::{Naming, Problem, lines};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reads a topology.
pub(super) fn read(text: &str, _naming: Naming) -> Result<Topology, TopologyError> {
    let wrong = |(line, problem)| TopologyError::at(line, problem);
    let (mut graph, mut joined, mut external) = (Graph::default(), BTreeSet::new(), 0_usize);
    for (number, line) in lines(text)? {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(router) = router(number, line).map_err(wrong)? else { continue };
        external += router.external;
        for neighbour in router.neighbours {
            let (one, other) = (router.id.min(neighbour), router.id.max(neighbour));
            if joined.insert((one, other)) {
                let ends = (router.id.into(), neighbour.into());
                let attributes = Vec::new();
                graph.edges.push(GraphEdge { place: number, ends, directed: None, attributes });
            }
        }
        let attributes = vec![("label".into(), router.location)];
        graph.nodes.push(GraphNode { place: number, id: router.id.into(), attributes });
    }
    if external > 0 {
        graph.notes.push(format!("{external} links to other providers are left out"));
    }
    // Many routers are at one location, so locations name none of them.
    graph.topology(Naming::Id).map_err(wrong)
}

/// Whether one of the first lines is a router of a map: a damaged one before it is an error with its line.
pub(super) fn is_likely(text: &str) -> bool {
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.take(4).any(|line| matches!(router(1, line.trim()), Ok(Some(_))))
}

struct Router<'a> {
    id: &'a str,
    location: Cow<'a, str>,
    neighbours: Vec<&'a str>,
    external: usize,
}

/// The router of a line; `None` if it belongs to another provider.
fn router(place: usize, line: &str) -> Placed<Option<Router<'_>>> {
    const WHAT: &str = "a router such as 1 @San+Jose,+CA bb (2) -> <2> <3> =r1.sj r0";
    let wrong = || (place, Problem::unexpected(WHAT, line));
    let id = line.split_whitespace().next().unwrap_or_default();
    if id.starts_with('-') && id[1..].parse::<u64>().is_ok() && line.contains('=') {
        return Ok(None);
    }
    id.parse::<u64>().map_err(|_| wrong())?;
    let (head, tail) = line.split_once("->").ok_or_else(wrong)?;
    let (_, location) = head.split_once('@').ok_or_else(wrong)?;
    let (location, rest) = location.split_once(char::is_whitespace).ok_or_else(wrong)?;
    let is_known = |word: &str| matches!(word, "+" | "bb") || word.starts_with(['&', '(']);
    if !rest.split_whitespace().all(is_known) || !rest.contains('(') {
        return Err(wrong());
    }
    let mut router = Router {
        id,
        location: location.replace('+', " ").into(),
        neighbours: Vec::new(),
        external: 0,
    };
    for word in tail.split_whitespace().take_while(|word| !word.starts_with('=')) {
        let inner = |open, close| word.strip_prefix(open).and_then(|it| it.strip_suffix(close));
        match (inner('<', '>'), inner('{', '}')) {
            (Some(neighbour), _) if neighbour.parse::<u64>().is_ok() => {
                router.neighbours.push(neighbour);
            }
            (None, Some(_)) => router.external += 1,
            _ => return Err(wrong()),
        }
    }
    Ok(Some(router))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| read(text, Naming::Label).unwrap_err().to_string();
        let good = "1 @Here (1) -> <2> =a r0\n";
        assert!(
            error(&format!("{good}2 @There -> <1>\n")).starts_with("line 2: expected a router")
        );
        assert!(error(&format!("{good}2 @There (1) -> 1\n")).starts_with("line 2: expected a"));
        assert!(error(&format!("{good}x\n")).starts_with("line 2: expected a router such as"));
        let cut = format!("Here (1) -> <2> =a r0\n{good}");
        assert!(is_likely(&cut) && error(&cut).starts_with("line 1: expected a router"));
        assert!(error(good).starts_with("line 1: there is no node \"2\""));
    }
}
