//! A tree in which every inner node has as many children.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};

/// A tree: every node above the lowest level has `arity` children, and the lowest is `depth` links below
/// the root.
///
/// Nodes are numbered level by level from the root `n1`: the children of `n{i}` are `n{arity*(i-1)+2}`
/// and the following. Labels are `root`, `inner` and `leaf`. Links are named parent first.
pub fn tree(arity: u32, depth: u32) -> Result<Topology, TopologyError> {
    if arity == 0 {
        return Err(Problem::Shape("a tree needs an arity of at least one").into());
    }
    let mut draft = Draft::default();
    let mut level = vec![draft.labelled("n1", "root")?];
    let mut number = 1_u64;
    for below in 1..=depth {
        let label = if below == depth { "leaf" } else { "inner" };
        let mut children = Vec::new();
        for parent in &level {
            for _ in 0..arity {
                number += 1;
                let child = draft.labelled(&format!("n{number}"), label)?;
                draft.plain(*parent, child)?;
                children.push(child);
            }
        }
        level = children;
    }
    Ok(draft.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_tree_has_two_to_the_depth_leaves() {
        let topology = tree(2, 4).unwrap();
        let labelled = |label: &str| {
            topology.nodes.iter().filter(|node| node.label.as_deref() == Some(label)).count()
        };
        assert_eq!((labelled("root"), labelled("inner"), labelled("leaf")), (1, 14, 16));
        assert_eq!(topology.links.len(), 30);
        assert!(topology.link("n3-n6").is_some() && topology.link("n3-n7").is_some());
        assert!(topology.is_connected());
    }

    #[test]
    fn childless_and_enormous_trees_are_rejected() {
        assert!(tree(0, 3).is_err() && tree(10, 10).is_err() && tree(2, u32::MAX).is_err());
        assert_eq!(tree(3, 0).unwrap().nodes.len(), 1);
    }
}
