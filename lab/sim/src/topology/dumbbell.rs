//! Two routers with hosts on either side, all of whose traffic shares the link between them.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};

/// A dumbbell: consumers `c1` to `c{left}` at router `r1`, producers `p1` to `p{right}` at router `r2`.
///
/// Links `c1-r1` and so on, then the shared `r1-r2`, then `r2-p1` and so on; `dumbbell(1, 1)` is the
/// line of four nodes of Yang's study, `dumbbell(2, 2)` its dumbbell.
pub fn dumbbell(left: u32, right: u32) -> Result<Topology, TopologyError> {
    if left == 0 || right == 0 {
        return Err(Problem::Shape("a dumbbell needs a node on either side").into());
    }
    let mut draft = Draft::default();
    let mut consumers = Vec::new();
    for number in 1..=left {
        consumers.push(draft.labelled(&format!("c{number}"), "consumer")?);
    }
    let routers = (draft.labelled("r1", "router")?, draft.labelled("r2", "router")?);
    for consumer in consumers {
        draft.plain(consumer, routers.0)?;
    }
    draft.plain(routers.0, routers.1)?;
    for number in 1..=right {
        let producer = draft.labelled(&format!("p{number}"), "producer")?;
        draft.plain(routers.1, producer)?;
    }
    Ok(draft.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_share_one_link() {
        let topology = dumbbell(2, 3).unwrap();
        let names = topology.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>();
        assert_eq!(names, ["c1-r1", "c2-r1", "r1-r2", "r2-p1", "r2-p2", "r2-p3"]);
        assert!(topology.is_connected());
    }

    #[test]
    fn empty_side_is_rejected() {
        assert!(dumbbell(0, 1).is_err() && dumbbell(1, 0).is_err());
    }
}
