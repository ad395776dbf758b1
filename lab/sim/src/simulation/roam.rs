//! Clients that come and go: faces up and down at both ends of a link, and routes that follow.
//!
//! | event | inputs of nodes, in this order |
//! |---|---|
//! | a client leaves an access point | the client: `FaceDown` of the face to it. The access point: `FaceDown`, too, if it detects departures ([`Notice::Departure`]) |
//! | a client joins an access point | both: `FaceUp`; every node whose routes change: `Route`; the access point that it left: `FaceDown`, unless it had one before |
//!
//! The old access point comes last, so that what it has to do with what waits finds routes to the new one.
//! What waits in either station for the other when a face goes down is lost there ([`LossReason::Down`]).
//!
//! [`LossReason::Down`]: crate::observe::LossReason::Down
use super::build::{NetworkError, wrong};
use super::lane;
use super::{Observers, Simulation, notify};
use crate::network::{Direction, LinkId, NodeId, Notice, RoutePlan};
use crate::observe::Observation;
use crate::route::Graph;
use recoup_forwarder::node::{Input, RouteChange};
use recoup_packet::name::Name;
use recoup_wifi::StationId;
use recoup_wifi::medium::MediumInput;
use std::collections::BTreeMap;

/// Routes that are computed anew, as nodes have them: by node and prefix. They outlive faces that go down.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    hops: BTreeMap<(u32, Name), Vec<(LinkId, u64)>>,
}

impl Ways {
    /// A node has lost its tables.
    pub(super) fn forget_node(&mut self, node: usize) {
        self.hops.retain(|(owner, _), _| *owner != node as u32);
    }
}

impl Simulation {
    /// Channels between clients and access points to which they do not belong are down from the beginning.
    pub(super) fn detach_at_first(&mut self) {
        for lane in (0..self.lanes.len()).filter(|lane| self.detached[*lane]) {
            self.lanes[lane].channel.handle(self.now, crate::channel::ChannelInput::Down);
        }
    }

    pub(super) fn on_left(
        &mut self,
        cell: usize,
        client: StationId,
        point: StationId,
        observers: &mut Observers<'_, '_>,
    ) {
        let (here, there) = (self.cells[cell].node(client), self.cells[cell].node(point));
        let Some(link) = self.link_between(cell, here, there) else {
            return;
        };
        self.detach(link, here);
        if self.network.wifi[cell].notice == Notice::Departure {
            self.detach(link, there);
            self.forget(cell, point, client, observers);
        }
        self.refresh(link, observers);
        let (client, point) = (NodeId(here as u32), NodeId(there as u32));
        notify(observers, self.now, &Observation::Left { client, point });
    }

    pub(super) fn on_joined(
        &mut self,
        cell: usize,
        client: StationId,
        point: StationId,
        before: Option<StationId>,
        observers: &mut Observers<'_, '_>,
    ) {
        let (here, there) = (self.cells[cell].node(client), self.cells[cell].node(point));
        let left = before.filter(|before| *before != point).map(|left| self.cells[cell].node(left));
        let left_link = left.and_then(|left| self.link_between(cell, here, left));
        if let (Some(left), Some(link)) = (left, left_link) {
            // Routes lead there no more; the access point itself learns of it last.
            self.detach(link, left);
        }
        if let Some(link) = self.link_between(cell, here, there) {
            self.detached[lane::place(link, Direction::Forth)] = false;
            self.detached[lane::place(link, Direction::Back)] = false;
            self.refresh(link, observers);
        }
        // Routes that could be computed when the simulation was built can be computed again.
        self.route_anew().unwrap_or_default();
        for node in 0..self.stations.len() {
            self.turn_to(node, observers);
        }
        if let (Some(before), Some(link)) = (before, left_link) {
            self.forget(cell, before, client, observers);
            self.refresh(link, observers);
        }
        let before = before.map(|before| NodeId(self.cells[cell].node(before) as u32));
        let (client, point) = (NodeId(here as u32), NodeId(there as u32));
        notify(observers, self.now, &Observation::Joined { client, point, before });
    }

    fn forget(
        &mut self,
        cell: usize,
        from: StationId,
        to: StationId,
        observers: &mut Observers<'_, '_>,
    ) {
        self.cells[cell].medium.handle(self.now, MediumInput::Forget { from, to });
        self.notify_lost(cell, observers);
        self.arm_cell(cell);
    }

    /// The link of a medium between two nodes.
    fn link_between(&self, cell: usize, one: usize, other: usize) -> Option<LinkId> {
        let joins = |link: &&LinkId| {
            let (a, b) = self.network.links[link.0 as usize].ends;
            let ends = (a.0 as usize, b.0 as usize);
            ends == (one, other) || ends == (other, one)
        };
        self.network.wifi[cell].links.iter().find(joins).copied()
    }

    /// The end of a link at a node goes down, or will when the link is looked at.
    fn detach(&mut self, link: LinkId, node: usize) {
        let lane = self.lane_from(link, node);
        self.detached[lane] = true;
    }

    /// The lane of a link that leads away from a node.
    fn lane_from(&self, link: LinkId, node: usize) -> usize {
        lane::away(&self.lanes, link, node)
    }

    // --- routes ---------------------------------------------------------------------------------

    /// Computes routes over the links that are up, and sends the changes to the nodes.
    pub(super) fn route_anew(&mut self) -> Result<(), NetworkError> {
        let Some(plan) = self.network.rerouting.clone() else {
            return Ok(());
        };
        let wrong_routes = |error: crate::route::RouteError| wrong("routes", error);
        let (nodes, links) = (&self.network.nodes, &self.network.links);
        let graph = Graph::of_usable(nodes, links, plan.metric, |link| self.is_usable(link));
        let graph = graph.map_err(wrong_routes)?;
        let mut anew = Ways::default();
        for producers in &plan.producers {
            for route in graph.routes(producers, plan.next_hops, &[]).map_err(wrong_routes)? {
                let RoutePlan { node, prefix, hops } = route;
                anew.hops.insert((node.0, prefix), hops);
            }
        }
        let before = std::mem::take(&mut self.ways);
        let nothing = Vec::new();
        for ((node, prefix), hops) in &before.hops {
            let kept = anew.hops.get(&(*node, prefix.clone())).unwrap_or(&nothing);
            for (link, _) in hops.iter().filter(|hop| !kept.iter().any(|new| new.0 == hop.0)) {
                self.notify_route(*node as usize, prefix, *link, None);
            }
        }
        for ((node, prefix), hops) in &anew.hops {
            let known = before.hops.get(&(*node, prefix.clone())).unwrap_or(&nothing);
            for (link, cost) in hops.iter().filter(|hop| !known.contains(hop)) {
                self.notify_route(*node as usize, prefix, *link, Some(*cost));
            }
        }
        self.ways = anew;
        Ok(())
    }

    fn notify_route(&mut self, node: usize, prefix: &Name, link: LinkId, cost: Option<u64>) {
        let face = self.lanes[self.lane_from(link, node)].from.face;
        let change = RouteChange { prefix: prefix.clone(), face, cost };
        self.stations[node].node.handle(self.now, Input::Route(change));
    }

    /// Whether routes lead over a link: to a client over the access point that it belonged to last, even while
    /// it is on its way to another one.
    fn is_usable(&self, link: LinkId) -> bool {
        let lanes = [lane::place(link, Direction::Forth), lane::place(link, Direction::Back)];
        let [one, other] = lanes.map(|lane| self.lanes[lane].from.node);
        let is_cut = self.failed[link.0 as usize]
            || self.stations[one].is_down
            || self.stations[other].is_down;
        if is_cut || one == other {
            return false;
        }
        match self.client_end(link) {
            None => true,
            Some(client) => {
                let point = if client == one { other } else { one };
                !self.detached[self.lane_from(link, point)]
            }
        }
    }

    /// The end of a link between a client and an access point that is the client.
    fn client_end(&self, link: LinkId) -> Option<usize> {
        use recoup_wifi::plan::Role;
        let aerial = self.lanes[lane::place(link, Direction::Forth)].aerial?;
        let (a, b) = self.network.links[link.0 as usize].ends;
        let role = |node: NodeId| {
            let station = self.cells[aerial.cell].station(node.0 as usize)?;
            Some(self.role(aerial.cell, station))
        };
        match (role(a)?, role(b)?) {
            (Role::Client, Role::AccessPoint) => Some(a.0 as usize),
            (Role::AccessPoint, Role::Client) => Some(b.0 as usize),
            _ => None,
        }
    }
}
