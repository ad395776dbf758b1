//! Access points in a grid, wired by a fat tree.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};
use crate::network::NodeId;

/// Edge routers of a pod, and aggregation routers above them.
const POD: u32 = 2;

/// Numbers of nodes, and distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessPoints {
    /// Columns of access points.
    pub width: u32,
    /// Rows of them.
    pub height: u32,
    /// Metres from one to the next.
    pub spacing: f64,
    /// Access points of an edge router.
    pub per_edge: u32,
    /// Nodes beside, without links.
    pub clients: u32,
}

impl Default for AccessPoints {
    fn default() -> Self {
        Self { width: 6, height: 6, spacing: 80.0, per_edge: 3, clients: 0 }
    }
}

/// Access points `ap1`, `ap2`, … row by row, at their positions. That many neighbours at a time hang on an edge router
/// `edge1`, …; two edge routers with two aggregation routers `agg1_1`, `agg1_2` above them are a pod. Each of the
/// routers `core1` to `core4` is joined to one aggregation router of every pod, two to each: a fat tree of four ports,
/// but for the number of its pods (Al-Fares, Loukissas and Vahdat, 2008). A single edge router has nothing above it.
/// `m1`, `m2`, … stand beside.
pub fn access_points(shape: &AccessPoints) -> Result<Topology, TopologyError> {
    let AccessPoints { width, height, spacing, per_edge, clients } = *shape;
    if width == 0 || height == 0 || per_edge == 0 {
        let what = "access points need a column, a row and at least one for each edge router";
        return Err(Problem::Shape(what).into());
    }
    let mut draft = Draft::default();
    let points = u64::from(width) * u64::from(height);
    let edges = u32::try_from(points.div_ceil(u64::from(per_edge))).unwrap_or(u32::MAX);
    let cores = if edges > 1 { cores(&mut draft)? } else { Vec::new() };
    let (mut above, mut edge) = (Vec::new(), NodeId(0));
    for number in 0..u32::try_from(points).unwrap_or(u32::MAX) {
        if number % per_edge == 0 {
            let place = number / per_edge;
            if place % POD == 0 && edges > 1 {
                above = pod(&mut draft, place / POD + 1, &cores)?;
            }
            edge = draft.labelled(&format!("edge{}", place + 1), "edge")?;
            for router in &above {
                draft.plain(*router, edge)?;
            }
        }
        let point = draft.node(&format!("ap{}", number + 1))?;
        let place = (number % width, number / width);
        let position = (f64::from(place.0) * spacing, f64::from(place.1) * spacing);
        draft.describe(point, Some(position), Some("access point"));
        draft.plain(edge, point)?;
    }
    for number in 1..=clients {
        draft.labelled(&format!("m{number}"), "client")?;
    }
    Ok(draft.finish())
}

fn cores(draft: &mut Draft) -> Result<Vec<NodeId>, Problem> {
    (1..=POD * POD).map(|number| draft.labelled(&format!("core{number}"), "core")).collect()
}

/// The aggregation routers of a pod, joined to the core.
fn pod(draft: &mut Draft, pod: u32, cores: &[NodeId]) -> Result<Vec<NodeId>, Problem> {
    let mut routers = Vec::new();
    for (number, cores) in (1..).zip(cores.chunks(POD as usize)) {
        let router = draft.labelled(&format!("agg{pod}_{number}"), "aggregation")?;
        for core in cores {
            draft.plain(*core, router)?;
        }
        routers.push(router);
    }
    Ok(routers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_points_form_pods_of_a_fat_tree() {
        let shape = AccessPoints { clients: 10, ..AccessPoints::default() };
        let topology = access_points(&shape).unwrap();
        let count = |label: &str| {
            topology.nodes.iter().filter(|node| node.label.as_deref() == Some(label)).count()
        };
        let labels = ["core", "aggregation", "edge", "access point", "client"];
        assert_eq!(labels.map(count), [4, 12, 12, 36, 10]);
        assert_eq!(topology.links.len(), 24 + 24 + 36);
        let last = topology.node("ap36").unwrap();
        assert_eq!(topology.nodes[last.0 as usize].position, Some((400.0, 400.0)));
        assert!(topology.link("edge12-ap36").is_some() && topology.link("agg6_2-edge12").is_some());
        assert_eq!(topology.check(), Ok(()));
    }

    #[test]
    fn single_edge_router_needs_no_tree() {
        let row = |width, per_edge| {
            access_points(&AccessPoints { width, height: 1, per_edge, ..AccessPoints::default() })
        };
        let few = row(2, 3).unwrap();
        assert_eq!((few.nodes.len(), few.links.len()), (3, 2));
        assert!(few.is_connected() && row(7, 2).unwrap().is_connected());
        assert!(row(0, 1).is_err() && row(1, 0).is_err() && row(u32::MAX, 1).is_err());
    }
}
