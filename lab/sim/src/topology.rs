//! Networks as graphs: nodes and links with the properties that a generator or a file gives them.
//!
//! A [`Topology`] is plain data. What it leaves open (a rate, a queue) is filled from the defaults of a
//! scenario when it becomes [`NodePlan`]s and [`LinkPlan`]s. One generator to a file; the formats of
//! other tools are under [`read`].
mod access_points;
mod draft;
mod dumbbell;
mod error;
mod fat_tree;
mod grid;
mod line;
mod random;
pub mod read;
mod sprint;
mod star;
mod tree;

pub use self::access_points::{AccessPoints, access_points};
pub use self::dumbbell::dumbbell;
pub use self::error::{Problem, TopologyError};
pub use self::fat_tree::fat_tree;
pub use self::grid::grid;
pub use self::line::line;
pub use self::random::{Waxman, random, waxman};
pub use self::sprint::{sprint, sprint_routers};
pub use self::star::star;
pub use self::tree::tree;

use crate::model::law::Law;
use crate::model::loss::Loss;
use crate::network::{LinkId, LinkOptions, LinkPlan, NodeId, NodePlan, Order};
use recoup_transport::queue::QueueLimit;
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;
use std::collections::BTreeSet;

/// Most nodes of a topology.
pub const MAX_NODES: usize = 100_000;
/// Most links of a topology.
pub const MAX_LINKS: usize = 1_000_000;

/// Nodes and the links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The nodes.
    pub nodes: Vec<TopologyNode>,
    /// The links.
    pub links: Vec<TopologyLink>,
    /// Positions are longitude and latitude in degrees, not places on a plane.
    pub geographic: bool,
    /// Parts of a file that have no place in the topology, a sentence each.
    pub notes: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopologyNode {
    /// Its name, unique.
    pub name: String,
    /// To the right and up, in the unit of the topology's author; or longitude and latitude, if
    /// [`Topology::geographic`] is set.
    pub position: Option<(f64, f64)>,
    /// Further description: a city, or its part in the network.
    pub label: Option<String>,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyLink {
    /// Its name, unique: `a-b` after its ends, `a-b#2` if it is the second between them.
    pub name: String,
    /// The two ends.
    pub ends: (NodeId, NodeId),
    /// From the first end to the second.
    pub forth: ChannelPart,
    /// From the second end to the first.
    pub back: ChannelPart,
    /// Cost where routes are computed by cost.
    pub cost: u64,
    /// Cost in the direction from the second end to the first, if it is another.
    pub back_cost: Option<u64>,
}

/// The known properties of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelPart {
    /// Bits per second.
    pub rate_bits: Option<u64>,
    /// Time on the way.
    pub delay: Option<Duration>,
    /// Law of the random part of the delay.
    pub jitter: Option<Spelled<Law>>,
    /// Packets with different jitter may overtake each other.
    pub reorder: Option<bool>,
    /// Limit of the queue.
    pub queue: Option<QueueRoom>,
    /// Law of loss.
    pub loss: Option<Spelled<Loss>>,
    /// The order of rate and delay.
    pub order: Option<Order>,
}

/// Room of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueRoom {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
}

impl Topology {
    /// The number of the node called `name`.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let place = self.nodes.iter().position(|node| node.name == name)?;
        u32::try_from(place).ok().map(NodeId)
    }

    /// The number of the link called `name`.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        let place = self.links.iter().position(|link| link.name == name)?;
        u32::try_from(place).ok().map(LinkId)
    }

    /// The plans of the nodes and links: those of the topology, and for the rest the defaults of nodes and this
    /// channel.
    ///
    /// Positions in degrees are no places on a plane and are left out.
    pub fn plans(&self, channel: &LinkOptions) -> (Vec<NodePlan>, Vec<LinkPlan>) {
        let nodes = self.nodes.iter().map(|known| NodePlan {
            name: known.name.clone(),
            position: known.position.filter(|_| !self.geographic),
            ..NodePlan::default()
        });
        let links = self.links.iter().map(|known| LinkPlan {
            name: known.name.clone(),
            ends: known.ends,
            forth: known.forth.over(channel),
            back: known.back.over(channel),
            cost: known.cost,
            back_cost: known.cost_back(),
        });
        (nodes.collect(), links.collect())
    }

    /// Whether the topology is connected.
    pub fn is_connected(&self) -> bool {
        let mut parts = draft::Parts::new(self.nodes.len());
        for link in &self.links {
            parts.join(link.ends.0.0 as usize, link.ends.1.0 as usize);
        }
        parts.count() <= 1
    }

    /// Checks what a program may have got wrong: names are unique, ends exist, no link leads from a node
    /// to itself.
    pub fn check(&self) -> Result<(), TopologyError> {
        if self.nodes.len() > MAX_NODES {
            return Err(Problem::TooMany { what: "nodes", limit: MAX_NODES }.into());
        }
        let mut names = BTreeSet::new();
        for node in &self.nodes {
            error::check_name(&node.name)?;
            if !names.insert(&node.name) {
                return Err(Problem::RepeatedNode(node.name.clone()).into());
            }
        }
        self.check_links()
    }

    fn check_links(&self) -> Result<(), TopologyError> {
        if self.links.len() > MAX_LINKS {
            return Err(Problem::TooMany { what: "links", limit: MAX_LINKS }.into());
        }
        let mut names = BTreeSet::new();
        for link in &self.links {
            let (a, b) = link.ends;
            if a == b {
                return Err(Problem::SelfLink(link.name.clone()).into());
            }
            if let Some(end) = [a, b].iter().find(|end| end.0 as usize >= self.nodes.len()) {
                return Err(Problem::UnknownNode(format!("number {}", end.0)).into());
            }
            if !names.insert(&link.name) {
                return Err(Problem::RepeatedLink(link.name.clone()).into());
            }
        }
        Ok(())
    }
}

impl TopologyLink {
    /// Cost from the second end to the first.
    pub fn cost_back(&self) -> u64 {
        self.back_cost.unwrap_or(self.cost)
    }
}

impl ChannelPart {
    /// The channel with these properties, and for the rest those of `defaults`.
    pub fn over(&self, defaults: &LinkOptions) -> LinkOptions {
        let mut plan = defaults.clone();
        plan.rate_bits = self.rate_bits.unwrap_or(plan.rate_bits);
        plan.delay = self.delay.unwrap_or(plan.delay);
        plan.reorder = self.reorder.unwrap_or(plan.reorder);
        plan.order = self.order.unwrap_or(plan.order);
        plan.jitter = self.jitter.clone().unwrap_or(plan.jitter);
        plan.loss = self.loss.clone().unwrap_or(plan.loss);
        if let Some(room) = self.queue {
            plan.queue = match room {
                QueueRoom::Packets(packets) => QueueLimit::of_packets(packets),
                QueueRoom::Bytes(bytes) => QueueLimit::of_bytes(bytes),
            };
        }
        plan
    }
}

/// Time of light in fibre: 200 km per millisecond.
fn delay_of(km: f64) -> Duration {
    Duration::from_nanos(libm::round(km * 5_000.0) as u64)
}

/// Length of the great circle between two places in kilometres: the haversine formula on a sphere with
/// a radius of 6,371 km.
fn great_circle_km(from: (f64, f64), to: (f64, f64)) -> f64 {
    let half_sine_squared = |degrees: f64| {
        let sine = libm::sin(degrees.to_radians() / 2.0);
        sine * sine
    };
    let upward = half_sine_squared(to.1 - from.1);
    let level = libm::cos(from.1.to_radians()) * libm::cos(to.1.to_radians());
    let haversine = upward + level * half_sine_squared(to.0 - from.0);
    2.0 * 6_371.0 * libm::asin(libm::sqrt(haversine.clamp(0.0, 1.0)))
}

/// Time of light in fibre along the great circle. Cables are longer, so real delays are.
fn great_circle_delay(from: (f64, f64), to: (f64, f64)) -> Duration {
    delay_of(great_circle_km(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_of_sprint_follow_the_great_circle() {
        let known = sprint();
        let place = |end: NodeId| known.nodes[end.0 as usize].position.unwrap();
        let apart = known.links.iter().map(|link| {
            let delay = great_circle_delay(place(link.ends.0), place(link.ends.1));
            link.forth.delay.unwrap().abs_diff(delay).as_micros()
        });
        let apart = apart.collect::<Vec<_>>();
        assert!(apart.iter().all(|micros| *micros < 390), "{apart:?}");
        assert_eq!(apart.iter().filter(|micros| **micros < 50).count(), 73);
    }

    #[test]
    fn missing_properties_come_from_the_defaults() {
        let mut topology = line(2).unwrap();
        topology.links[0].forth.queue = Some(QueueRoom::Bytes(4_000));
        topology.links[0].forth.delay = Some(Duration::from_millis(3));
        topology.links[0].back_cost = Some(7);
        let defaults =
            LinkOptions { rate_bits: 5, loss: "burst()".parse().unwrap(), ..Default::default() };
        let (nodes, links) = topology.plans(&defaults);
        assert_eq!(nodes[1].name, "n2");
        let forth = &links[0].forth;
        assert_eq!((forth.rate_bits, forth.delay.as_millis()), (5, 3));
        assert_eq!(forth.queue, QueueLimit::of_bytes(4_000));
        assert_eq!(links[0].back, defaults);
        assert_eq!((links[0].cost, links[0].back_cost), (1, 7));
    }

    #[test]
    fn a_topology_made_by_hand_is_checked() {
        let complaint = |change: fn(&mut Topology)| {
            let mut topology = line(3).unwrap();
            change(&mut topology);
            topology.check().map_err(|error| error.problem)
        };
        assert_eq!(complaint(|_| ()), Ok(()));
        assert_eq!(
            complaint(|t| t.nodes[2].name = "n1".into()),
            Err(Problem::RepeatedNode("n1".into()))
        );
        assert_eq!(
            complaint(|t| t.links[1].ends.1 = NodeId(9)),
            Err(Problem::UnknownNode("number 9".into()))
        );
        assert_eq!(
            complaint(|t| t.links[1].ends = (NodeId(1), NodeId(1))),
            Err(Problem::SelfLink("n2-n3".into()))
        );
        assert_eq!(
            complaint(|t| t.links[1].name = "n1-n2".into()),
            Err(Problem::RepeatedLink("n1-n2".into()))
        );
    }
}
