//! The backbone of Sprint (AS1239): the network of many NDN papers, where it is called "Sprint (Rocketfuel)".
//!
//! There are two maps: 52 points of presence with 84 links, and 315 routers with 972 links.
//!
//! Source: the Rocketfuel measurements (Spring, Mahajan and Wetherall, "Measuring ISP topologies with
//! Rocketfuel", 2002; Mahajan et al., "Inferring link weights using end-to-end measurements", 2002) in
//! the form that ndnSIM redistributes: which links there are, their one-way delays and weights. Node
//! names are those of Mini-NDN's file of the same graph.
//!
//! Differences: rates and queues are left to the scenario (ndnSIM's reader sets 100 Mbit/s). Positions
//! are those of the cities; each delay is the length of the great circle at 200 km per millisecond.
//! The routers are those of the data set's `latencies.intra`, with whole milliseconds. Their costs are 1.
use super::draft::Draft;
use super::{ChannelPart, Topology, TopologyError, TopologyLink, TopologyNode};
use crate::network::NodeId;
use recoup_transport::time::Duration;

/// A line is a node (name, latitude, longitude, city) or a link (two names, delay in microseconds, weight).
const TABLE: &str = include_str!("sprint.tsv");

/// A line is a router: its number, its city, and its links to routers below (`number:delay` in milliseconds).
const ROUTERS: &str = include_str!("sprint_routers.tsv");

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

/// The routers of the Sprint network: `r` and the number in the data set, labels with the cities.
///
/// # Errors
/// If the built-in table is wrong, which a test excludes.
pub fn sprint_routers() -> Result<Topology, TopologyError> {
    let mut draft = Draft::default();
    let lines = || ROUTERS.lines().filter(|line| !line.starts_with('#'));
    let columns = |line: &'static str| {
        let mut columns = line.split('\t');
        [columns.next(), columns.next(), columns.next()].map(Option::unwrap_or_default)
    };
    for [number, city, _] in lines().map(columns) {
        draft.labelled(&format!("r{number}"), city)?;
    }
    for [number, _, links] in lines().map(columns) {
        let from = draft.known(&format!("r{number}"))?;
        for (to, delay) in links.split(' ').filter_map(|link| link.split_once(':')) {
            let to = draft.known(&format!("r{to}"))?;
            let delay = Duration::from_millis(delay.parse().unwrap_or_default());
            draft.link(
                from,
                to,
                ChannelPart { delay: Some(delay), ..ChannelPart::default() },
                1,
            )?;
        }
    }
    Ok(draft.finish())
}
