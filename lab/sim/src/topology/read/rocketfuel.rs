//! Rocketfuel's files of pairs: `from to value`, one direction of a link to a line.
//!
//! Source: the data set of Rocketfuel, files `latencies.intra` (milliseconds) and `weights.intra`
//! (inferred routing weights); ndnSIM's `RocketfuelWeightsReader`.
//!
//! Either file alone makes a topology, or both together, joined by the names of the pairs (ndnSIM joins
//! them by their order). A reversed line gives the other direction; where there is none, the link is the
//! same both ways. Empty lines and lines that begin with `#` are skipped. Rates are left to the scenario
//! (ndnSIM sets 100 Mbit/s). If a weight has a fraction, all costs are weights times 1,000.
use super::super::draft::Draft;
use super::super::error::excerpt;
use super::super::{ChannelPart, Topology, TopologyError};
use super::decimal::{self, Decimal};
use super::edge::{Edge, Placed, assemble};
use super::{Problem, lines};
use recoup_transport::time::Duration;
use std::collections::BTreeMap;

/// Reads a file of latencies, or of weights, or both.
pub fn read(latencies: Option<&str>, weights: Option<&str>) -> Result<Topology, TopologyError> {
    let latencies = latencies.map(|text| pairs(text, delay)).transpose()?;
    let weights = weights.map(|text| pairs(text, weight)).transpose()?;
    let mut draft = Draft::default();
    let joined = match (latencies, weights) {
        (None, None) => return Err(Problem::Missing("latencies or weights").into()),
        (Some(latencies), None) => edges(&mut draft, &latencies, |edge, delay| {
            edge.part.delay = Some(*delay);
        }),
        (None, Some(weights)) => edges(&mut draft, &weights, |edge, weight| {
            edge.weight = Some(*weight);
        }),
        (Some(latencies), Some(weights)) => both(&mut draft, &latencies, &weights),
    };
    let finished = joined.and_then(|edges| assemble(&mut draft, edges));
    finished.map_err(|(line, problem)| TopologyError::at(line, problem))?;
    Ok(draft.finish())
}

/// Pairs of nodes in a file, with their values.
struct Pairs<'a, T> {
    /// Line, ends and value in the order of the file.
    listed: Vec<(usize, (&'a str, &'a str), T)>,
    /// Places in `listed`.
    places: BTreeMap<(&'a str, &'a str), usize>,
}

impl<T> Pairs<'_, T> {
    fn value(&self, from: &str, to: &str) -> Option<&T> {
        self.places.get(&(from, to)).map(|place| &self.listed[*place].2)
    }
}

fn pairs<T: PartialEq>(
    text: &str,
    value: fn(&str) -> Result<T, Problem>,
) -> Result<Pairs<'_, T>, TopologyError> {
    let mut pairs = Pairs { listed: Vec::new(), places: BTreeMap::new() };
    for (number, line) in lines(text)? {
        if line.trim_start().is_empty() || line.starts_with('#') {
            continue;
        }
        add(&mut pairs, number, line, value).map_err(|p| TopologyError::at(number, p))?;
    }
    Ok(pairs)
}

/// Adds a line. A repeated pair must have the same value.
fn add<'a, T: PartialEq>(
    pairs: &mut Pairs<'a, T>,
    number: usize,
    line: &'a str,
    value: fn(&str) -> Result<T, Problem>,
) -> Result<(), Problem> {
    let columns = line.split_whitespace().collect::<Vec<_>>();
    let [from, to, text] = columns[..] else {
        return Err(Problem::unexpected("three columns: from, to and a number", line));
    };
    let value = value(text)?;
    match pairs.value(from, to) {
        Some(known) if *known == value => return Ok(()),
        Some(_) => return Err(Problem::RepeatedLink(excerpt(&format!("{from}-{to}")))),
        None => (),
    }
    pairs.places.insert((from, to), pairs.listed.len());
    pairs.listed.push((number, (from, to), value));
    Ok(())
}

fn delay(text: &str) -> Result<Duration, Problem> {
    decimal::duration(text, "a latency in milliseconds", |unit| {
        matches!(unit, "" | "ms").then_some((1, 6))
    })
}

fn weight(text: &str) -> Result<Decimal, Problem> {
    Decimal::parse(text).ok_or_else(|| Problem::unexpected("a weight", text))
}

fn edges<T>(
    draft: &mut Draft,
    pairs: &Pairs<'_, T>,
    mut set: impl FnMut(&mut Edge, &T),
) -> Placed<Vec<Edge>> {
    let mut edges = Vec::with_capacity(pairs.listed.len());
    for (line, (from, to), value) in &pairs.listed {
        let mut end = |name: &str| draft.known_or_new(name).map_err(|problem| (*line, problem));
        let ends = (end(from)?, end(to)?);
        let part = ChannelPart::default();
        let mut edge = Edge { place: *line, ends, directed: true, part, weight: None };
        set(&mut edge, value);
        edges.push(edge);
    }
    Ok(edges)
}

/// Joins both files. A direction that is missing in one file gets the value of the reverse direction.
fn both(
    draft: &mut Draft,
    latencies: &Pairs<'_, Duration>,
    weights: &Pairs<'_, Decimal>,
) -> Placed<Vec<Edge>> {
    for (line, (from, to), _) in &latencies.listed {
        if weights.value(from, to).or(weights.value(to, from)).is_none() {
            return Err((*line, unmatched("link without a weight", from, to)));
        }
    }
    for (line, (from, to), _) in &weights.listed {
        if latencies.value(from, to).or(latencies.value(to, from)).is_none() {
            return Err((*line, unmatched("link without a latency", from, to)));
        }
    }
    let mut edges = edges(draft, latencies, |edge, delay| edge.part.delay = Some(*delay))?;
    for (edge, (_, (from, to), _)) in edges.iter_mut().zip(&latencies.listed) {
        edge.weight = weights.value(from, to).or(weights.value(to, from)).copied();
    }
    let mut missing = Vec::new();
    for (edge, (line, (from, to), delay)) in edges.iter().zip(&latencies.listed) {
        if let (Some(weight), None) = (weights.value(to, from), latencies.value(to, from)) {
            let part = ChannelPart { delay: Some(*delay), ..ChannelPart::default() };
            let ends = (edge.ends.1, edge.ends.0);
            missing.push(Edge { place: *line, ends, directed: true, part, weight: Some(*weight) });
        }
    }
    edges.extend(missing);
    Ok(edges)
}

fn unmatched(what: &'static str, from: &str, to: &str) -> Problem {
    Problem::unsupported(what, &format!("{from}-{to}"), "give both files the same links")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCIES: &str = "A,+X1 B,+Y2 3\nB,+Y2 A,+X1 4\nB,+Y2 C 1\n";

    #[test]
    fn a_reversed_line_is_the_way_back() {
        let topology = read(Some(LATENCIES), None).unwrap();
        let names = topology.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names, ["A,+X1-B,+Y2", "B,+Y2-C"]);
        let millis = |part: &ChannelPart| part.delay.unwrap().as_millis();
        let link = &topology.links[0];
        assert_eq!((millis(&link.forth), millis(&link.back)), (3, 4));
        assert_eq!(topology.links[1].forth, topology.links[1].back);
    }

    #[test]
    fn weights_with_fractions_become_thousandths() {
        let cost = |text: &str| {
            let topology = read(None, Some(text)).unwrap();
            topology.links.iter().map(|l| (l.cost, l.cost_back())).collect::<Vec<_>>()
        };
        assert_eq!(cost("a b 2\nb a 3\nb c 1.0\n"), [(2, 3), (1, 1)]);
        assert_eq!(cost("a b 2.5\nb c 1\n"), [(2_500, 2_500), (1_000, 1_000)]);
    }

    #[test]
    fn files_are_joined_by_pair_names() {
        let weights = "C B,+Y2 9\nB,+Y2 C 8\nB,+Y2 A,+X1 7\n";
        let topology = read(Some(LATENCIES), Some(weights)).unwrap();
        let costs = topology.links.iter().map(|l| (l.cost, l.cost_back())).collect::<Vec<_>>();
        assert_eq!(costs, [(7, 7), (8, 9)]);
        assert_eq!(topology.links[1].back.delay, Some(Duration::from_millis(1)));
        assert_eq!(topology.links.len(), 2);
    }

    #[test]
    fn links_of_one_file_only_are_named() {
        let error = read(Some(LATENCIES), Some("A,+X1 B,+Y2 1\n")).unwrap_err().to_string();
        assert!(error.starts_with("line 3: link without a weight \"B,+Y2-C\""), "{error}");
        let error = read(Some("a b 1\n"), Some("a b 1\nb c 1\n")).unwrap_err().to_string();
        assert!(error.starts_with("line 2: link without a latency \"b-c\""), "{error}");
    }

    #[test]
    fn a_pair_may_be_repeated_but_not_contradicted() {
        assert_eq!(read(Some("a b 1\na b 1.0\n"), None).unwrap().links.len(), 1);
        let error = read(Some("a b 1\na b 2\n"), None).unwrap_err().to_string();
        assert_eq!(error, "line 2: link \"a-b\" is there twice");
    }

    #[test]
    fn malformed_pair_is_an_error_with_its_line() {
        let error = |text: &str| read(Some(text), None).unwrap_err().to_string();
        assert!(error("# c\n\na b\n").starts_with("line 3: expected three columns"));
        assert_eq!(
            error("a b fast\n"),
            "line 1: expected a latency in milliseconds, found \"fast\""
        );
        assert_eq!(error("a a 1\n"), "line 1: link \"a-a\" leads from a node to itself; remove it");
        let error = read(None, None).unwrap_err().to_string();
        assert_eq!(error, "expected latencies or weights, but there is nothing");
    }
}
