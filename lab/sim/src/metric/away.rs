//! Interests of fetches that left their nodes: what the network saw of them.
use crate::network::{ApplicationKind, Direction, LinkId, Network, NodeId};
use recoup_forwarder::packet::{Kind, Packet};
use recoup_packet::name::Name;

/// Fetches by their node.
#[derive(Clone, Debug)]
pub(super) struct Away {
    /// By node: the objects fetched there, with the fetches' numbers.
    objects: Vec<Vec<(Name, usize)>>,
    ends: Vec<(NodeId, NodeId)>,
}

impl Away {
    pub(super) fn new(network: &Network) -> Self {
        let mut objects = vec![Vec::new(); network.nodes.len()];
        for (number, application) in network.applications.iter().enumerate() {
            if let ApplicationKind::Fetch(plan) = &application.kind
                && let Some(here) = objects.get_mut(application.node.0 as usize)
            {
                here.push((plan.object.clone(), number));
            }
        }
        Self { objects, ends: network.links.iter().map(|link| link.ends).collect() }
    }

    /// The fetches whose Interest a node hands to a link.
    pub(super) fn whose(
        &self,
        link: LinkId,
        direction: Direction,
        packet: &Packet,
    ) -> impl Iterator<Item = usize> {
        let is_interest = packet.kind() == Kind::Interest;
        let ends = self.ends.get(link.0 as usize).filter(|_| is_interest);
        let from = ends.map(|ends| if direction == Direction::Forth { ends.0 } else { ends.1 });
        let here = from.and_then(|node| self.objects.get(node.0 as usize));
        let asks = |(object, _): &&(Name, usize)| object.is_prefix_of(packet.name());
        here.into_iter().flatten().filter(asks).map(|(_, number)| *number)
    }
}
