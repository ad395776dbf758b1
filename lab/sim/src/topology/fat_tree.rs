//! The fat tree of data centres, three levels of switches with equal numbers of ports.
//!
//! Source: Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network architecture",
//! SIGCOMM 2008, section 2.2.
use super::draft::Draft;
use super::error::Problem;
use super::{Topology, TopologyError};
use crate::network::NodeId;

/// A fat tree of switches with `ports` ports, an even number: `ports` pods with `ports/2` switches on
/// each of two levels, `(ports/2)²` core switches, `ports³/4` hosts.
///
/// Names: `core{i}`, then pod by pod `agg{pod}_{i}`, `edge{pod}_{i}`, `host{pod}_{edge}_{i}`, all counted
/// from 1; labels `core`, `aggregation`, `edge`, `host`. Links are named upper end first.
pub fn fat_tree(ports: u32) -> Result<Topology, TopologyError> {
    if ports < 2 || !ports.is_multiple_of(2) {
        return Err(Problem::Shape("a fat tree needs an even number of ports, at least 2").into());
    }
    let half = ports / 2;
    let mut draft = Draft::default();
    let mut cores = Vec::new();
    for number in 1..=u64::from(half) * u64::from(half) {
        cores.push(draft.labelled(&format!("core{number}"), "core")?);
    }
    for pod in 1..=ports {
        add_pod(&mut draft, pod, half, &cores)?;
    }
    Ok(draft.finish())
}

fn add_pod(draft: &mut Draft, pod: u32, half: u32, cores: &[NodeId]) -> Result<(), Problem> {
    let mut upper = Vec::new();
    for (number, reached) in (1..=half).zip(cores.chunks(half as usize)) {
        let switch = draft.labelled(&format!("agg{pod}_{number}"), "aggregation")?;
        for core in reached {
            draft.plain(*core, switch)?;
        }
        upper.push(switch);
    }
    for number in 1..=half {
        let edge = draft.labelled(&format!("edge{pod}_{number}"), "edge")?;
        for switch in &upper {
            draft.plain(*switch, edge)?;
        }
        for host in 1..=half {
            let host = draft.labelled(&format!("host{pod}_{number}_{host}"), "host")?;
            draft.plain(edge, host)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_uses_all_its_ports() {
        let topology = fat_tree(4).unwrap();
        assert_eq!((topology.nodes.len(), topology.links.len()), (4 + 8 + 8 + 16, 48));
        let mut ports = vec![0; topology.nodes.len()];
        for link in &topology.links {
            ports[link.ends.0.0 as usize] += 1;
            ports[link.ends.1.0 as usize] += 1;
        }
        for (node, ports) in topology.nodes.iter().zip(ports) {
            let expected = if node.label.as_deref() == Some("host") { 1 } else { 4 };
            assert_eq!(ports, expected, "{}", node.name);
        }
        assert!(topology.is_connected());
    }

    #[test]
    fn odd_and_enormous_fat_trees_are_rejected() {
        assert!(fat_tree(3).is_err() && fat_tree(0).is_err() && fat_tree(1 << 31).is_err());
    }
}
