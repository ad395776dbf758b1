//! A grid of nodes.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};

/// A grid of `width` columns and `height` rows: node `n{x}_{y}` stands in column `x` and row `y`, both
/// counted from 1, at the position `(x - 1, y - 1)`.
///
/// Nodes are numbered row by row; a node's links to the left and to the row before follow it, named
/// after the neighbour first.
pub fn grid(width: u32, height: u32) -> Result<Topology, TopologyError> {
    if width == 0 || height == 0 {
        return Err(Problem::Shape("a grid needs at least one column and one row").into());
    }
    let mut draft = Draft::default();
    for y in 1..=height {
        for x in 1..=width {
            let node = draft.node(&place(x, y))?;
            draft.describe(node, Some((f64::from(x - 1), f64::from(y - 1))), None);
            if x > 1 {
                let left = draft.known(&place(x - 1, y))?;
                draft.plain(left, node)?;
            }
            if y > 1 {
                let before = draft.known(&place(x, y - 1))?;
                draft.plain(before, node)?;
            }
        }
    }
    Ok(draft.finish())
}

fn place(x: u32, y: u32) -> String {
    format!("n{x}_{y}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_joins_neighbours_in_rows_and_columns() {
        let topology = grid(4, 3).unwrap();
        assert_eq!((topology.nodes.len(), topology.links.len()), (12, 3 * 3 + 4 * 2));
        assert!(topology.link("n2_1-n3_1").is_some() && topology.link("n4_2-n4_3").is_some());
        assert_eq!(topology.nodes[11].position, Some((3.0, 2.0)));
        assert!(topology.is_connected());
    }

    #[test]
    fn empty_and_enormous_grids_are_rejected() {
        assert!(grid(3, 0).is_err() && grid(0, 3).is_err() && grid(u32::MAX, u32::MAX).is_err());
    }
}
