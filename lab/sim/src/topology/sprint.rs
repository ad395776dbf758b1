//! The backbone of Sprint (AS1239) as its 52 points of presence and 84 links: the network of many NDN
//! papers, where it is called "Sprint (Rocketfuel)".
//!
//! Source: the Rocketfuel measurements (Spring, Mahajan and Wetherall, "Measuring ISP topologies with
//! Rocketfuel", 2002; Mahajan et al., "Inferring link weights using end-to-end measurements", 2002) in
//! the form that ndnSIM redistributes: which links there are, their one-way delays and weights. Node
//! names are those of Mini-NDN's file of the same graph.
//!
//! Differences: rates and queues are left to the scenario (ndnSIM's reader sets 100 Mbit/s). Positions
//! are those of the cities; each delay is the length of the great circle at 200 km per millisecond.
use super::{ChannelPart, Topology, TopologyLink, TopologyNode};
use crate::network::NodeId;
use recoup_transport::time::Duration;

/// A line is a node (name, latitude, longitude, city) or a link (two names, delay in microseconds, weight).
const TABLE: &str = include_str!("sprint.tsv");

/// The Sprint network: delays as measured, the inferred weights as costs, labels with the cities.
pub fn sprint() -> Topology {
    let mut topology = Topology { geographic: true, ..Topology::default() };
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [first, second, third, last] = columns[..] else { continue };
        let id = |name| topology.nodes.iter().position(|node| node.name == name);
        if let Some((a, b)) = id(first).zip(id(second)) {
            let micros = third.parse().unwrap_or_default();
            let delay = Some(Duration::from_micros(micros));
            let part = ChannelPart { delay, ..ChannelPart::default() };
            topology.links.push(TopologyLink {
                name: format!("{first}-{second}"),
                ends: (NodeId(a as u32), NodeId(b as u32)),
                forth: part.clone(),
                back: part,
                cost: last.parse().unwrap_or_default(),
                back_cost: None,
            });
        } else {
            topology.nodes.push(TopologyNode {
                name: first.into(),
                position: third.parse().ok().zip(second.parse().ok()),
                label: Some(last.into()),
            });
        }
    }
    topology
}
