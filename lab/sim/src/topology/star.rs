//! A hub and its neighbours.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};

/// A star: `hub` and its neighbours `n1` to `n{leaves}`, links `hub-n1` and so on.
pub fn star(leaves: u32) -> Result<Topology, TopologyError> {
    if leaves == 0 {
        return Err(Problem::Shape("a star needs at least one leaf").into());
    }
    let mut draft = Draft::default();
    let hub = draft.labelled("hub", "hub")?;
    for number in 1..=leaves {
        let leaf = draft.labelled(&format!("n{number}"), "leaf")?;
        draft.plain(hub, leaf)?;
    }
    Ok(draft.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NodeId;

    #[test]
    fn links_of_a_star_begin_at_its_hub() {
        let topology = star(5).unwrap();
        assert_eq!(topology.links.len(), 5);
        assert!(topology.links.iter().all(|link| link.ends.0 == NodeId(0)));
        assert!(star(0).is_err());
    }
}
