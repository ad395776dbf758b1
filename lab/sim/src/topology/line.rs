//! A line of nodes.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};

/// A line of at least one node: `n1` to `n{nodes}`, links `n1-n2`, `n2-n3` and so on.
pub fn line(nodes: u32) -> Result<Topology, TopologyError> {
    if nodes == 0 {
        return Err(Problem::Shape("a line needs at least one node").into());
    }
    let mut draft = Draft::default();
    let mut last = draft.node("n1")?;
    for number in 2..=nodes {
        let node = draft.node(&format!("n{number}"))?;
        draft.plain(last, node)?;
        last = node;
    }
    Ok(draft.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_link_less_than_nodes() {
        let topology = line(1_000).unwrap();
        assert_eq!((topology.nodes.len(), topology.links.len()), (1_000, 999));
        assert_eq!(topology.links[998].name, "n999-n1000");
        assert!(topology.is_connected() && line(1).unwrap().is_connected());
    }

    #[test]
    fn empty_and_enormous_lines_are_rejected() {
        assert_eq!(line(0).unwrap_err().to_string(), "a line needs at least one node");
        assert_eq!(line(u32::MAX).unwrap_err().to_string(), "more than 100000 nodes");
    }
}
