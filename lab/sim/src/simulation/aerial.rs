//! Links over an 802.11 medium: stations of nodes, and unicast and broadcast faces.
//!
//! A link of a medium has the two lanes of any link. Its packets are queued in the sender's station and go over the
//! medium. Several faces of a node share its station. A link from a node to itself is the node's broadcast face: its
//! packets arrive at the broadcast face of every node in range.
use super::build::{self, NetworkError, wrong};
use super::lane::{self, End, Frame};
use super::{Observers, Simulation, notify};
use crate::network::{Direction, Fault, LinkId, Network, NodeId, WifiPlan};
use crate::observe::{LossReason, Observation};
use defer::{Deferred, Outgoing};
use part::{Part, Parts, cut};
use recoup_core::agenda::Key;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_transport::queue::Load;
use recoup_transport::random::Rng;
use recoup_wifi::medium::{Counters, Discard, Medium, MediumInput, MediumOutput};
use recoup_wifi::plan::{Category, Role};
use recoup_wifi::{Address, StationId};
use std::collections::{BTreeMap, BTreeSet};

mod defer;
mod part;

/// A medium in its place.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) medium: Medium<Borne>,
    /// In the order of its stations.
    ground: Vec<Ground>,
    /// The station of each node.
    stations: BTreeMap<usize, StationId>,
    /// Bytes of the longest packet that is sent in one frame.
    largest: Option<u32>,
    parts: Parts,
    /// Access categories of Interests, and of all other packets.
    categories: (Category, Category),
    deferred: Deferred,
}

/// Where a station stands.
#[derive(Clone, Copy, Debug)]
struct Ground {
    node: usize,
    /// The lane of its broadcast face.
    broadcast: Option<usize>,
}

/// A frame, or a part of one, and the lane that it was offered to.
#[derive(Clone, Debug)]
pub(super) struct Borne {
    /// The last part bears it.
    frame: Option<Frame>,
    lane: usize,
    bytes: u32,
    /// The part of the packet; `None` for a whole one.
    part: Option<Part>,
}

impl Load for Borne {
    fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// The way of a lane that leads through the air.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aerial {
    pub(super) cell: usize,
    from: StationId,
    to: Address,
}

impl Aerial {
    /// Whether it is addressed to all nodes in range.
    pub(super) fn is_for_all(&self) -> bool {
        self.to == Address::All
    }
}

impl Cell {
    fn new(plan: &WifiPlan, rng: &Rng) -> Self {
        let stations = plan.stations.iter().map(|it| (it.motion.clone(), it.role));
        let ground = |node: NodeId| Ground { node: node.0 as usize, broadcast: None };
        Self {
            medium: Medium::with_roles(
                plan.medium,
                stations,
                &rng.substream(&format!("wifi/{}", plan.name)),
            ),
            categories: (plan.interests, plan.data),
            deferred: Deferred::new(
                plan.defer,
                rng.substream(&format!("wifi/{}/defer", plan.name)),
            ),
            ground: plan.stations.iter().map(|station| ground(station.node)).collect(),
            stations: (0..)
                .zip(&plan.stations)
                .map(|(id, station)| (station.node.0 as usize, StationId(id)))
                .collect(),
            largest: plan.medium.largest_bytes,
            parts: Parts::default(),
        }
    }

    /// Node of a station.
    pub(super) fn node(&self, station: StationId) -> usize {
        self.ground[station.0 as usize].node
    }

    pub(super) fn station(&self, node: usize) -> Option<StationId> {
        self.stations.get(&node).copied()
    }

    /// Frames that have not arrived anywhere yet.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Frame> {
        let in_medium = self.medium.inside().filter_map(|borne| borne.frame.as_ref());
        in_medium.chain(self.deferred.inside())
    }
}

/// The links that a medium carries.
pub(super) fn carried(network: &Network) -> BTreeSet<LinkId> {
    network.wifi.iter().flat_map(|plan| &plan.links).copied().collect()
}

/// Rejects media that refer to something that does not exist or carry a link of another medium, and faults that a
/// radio link cannot have.
pub(super) fn check(network: &Network) -> Result<(), NetworkError> {
    let mut names = BTreeSet::new();
    let mut carried = BTreeSet::new();
    for plan in &network.wifi {
        let place = || format!("wifi `{}`", plan.name);
        if !names.insert(&plan.name) {
            return Err(wrong(place(), "this name is given twice"));
        }
        let mut nodes = BTreeSet::new();
        for station in &plan.stations {
            build::node(network, &place(), station.node)?;
            if !nodes.insert(station.node) {
                return Err(wrong(place(), "a node has two stations"));
            }
        }
        for id in &plan.links {
            let name = &build::link(network, &place(), *id)?.name;
            if !carried.insert(*id) {
                return Err(wrong(place(), format!("link `{name}` is carried twice")));
            }
        }
    }
    for (at, fault) in &network.faults {
        let (Fault::OutageBegins(link, _) | Fault::OutageEnds(link, _) | Fault::Change(link, ..)) =
            fault
        else {
            continue;
        };
        if carried.contains(link) {
            let problem =
                "a link over a medium has no outages and does not change: let it or a node fail";
            return Err(wrong(format!("fault at {at}"), problem));
        }
    }
    Ok(())
}

impl Simulation {
    /// Counters of the station of a node in a medium (an index into [`crate::network::Network::wifi`]).
    pub fn wifi_counters(&self, medium: usize, node: NodeId) -> Option<Counters> {
        let cell = self.cells.get(medium)?;
        cell.station(node.0 as usize).map(|station| cell.medium.counters(station))
    }

    // --- building -------------------------------------------------------------------------------

    pub(super) fn build_cells(&mut self) -> Result<(), NetworkError> {
        for number in 0..self.network.wifi.len() {
            let cell = Cell::new(&self.network.wifi[number], &self.rng);
            self.cells.push(cell);
            for place in 0..self.network.wifi[number].links.len() {
                self.lift(number, self.network.wifi[number].links[place])?;
            }
        }
        Ok(())
    }

    /// Leads the lanes of a link through the air.
    fn lift(&mut self, cell: usize, link: LinkId) -> Result<(), NetworkError> {
        for direction in [Direction::Forth, Direction::Back] {
            let place = lane::place(link, direction);
            let (from, to) = (self.lanes[place].from.node, self.lanes[place].to.node);
            let stations = (self.cells[cell].station(from), self.cells[cell].station(to));
            let (Some(sender), Some(receiver)) = stations else {
                let medium = &self.network.wifi[cell].name;
                let name = &self.network.links[link.0 as usize].name;
                let problem = format!("an end of link `{name}` has no station");
                return Err(wrong(format!("wifi `{medium}`"), problem));
            };
            let address = if from == to { Address::All } else { Address::Station(receiver) };
            self.lanes[place].aerial = Some(Aerial { cell, from: sender, to: address });
            let roles = [sender, receiver].map(|id| self.role(cell, id));
            if roles.contains(&Role::Client) && roles.contains(&Role::AccessPoint) {
                let (client, point) = match roles[0] {
                    Role::Client => (sender, receiver),
                    _ => (receiver, sender),
                };
                self.detached[place] = self.cells[cell].medium.member_of(client) != Some(point);
            }
            if from == to && direction == Direction::Forth {
                self.cells[cell].ground[sender.0 as usize].broadcast = Some(place);
            }
        }
        Ok(())
    }

    pub(super) fn role(&self, cell: usize, station: StationId) -> Role {
        self.network.wifi[cell].stations[station.0 as usize].role
    }

    // --- running --------------------------------------------------------------------------------

    /// Offers a frame to a station.
    pub(super) fn fly(
        &mut self,
        aerial: Aerial,
        lane: usize,
        frame: Frame,
        observers: &mut Observers<'_, '_>,
    ) {
        let outgoing = Outgoing { aerial, lane, frame };
        match self.cells[aerial.cell].deferred.take(self.now, outgoing) {
            Ok(()) => self.arm_cell(aerial.cell),
            Err(outgoing) => self.send_frame(outgoing, observers),
        }
    }

    /// A frame begins to wait in a station, in parts if it is long.
    fn send_frame(&mut self, outgoing: Outgoing, observers: &mut Observers<'_, '_>) {
        let Outgoing { aerial: Aerial { cell, from, to }, lane, frame } = outgoing;
        let Cell { medium, parts, largest, categories, .. } = &mut self.cells[cell];
        let is_interest =
            frame.packet.as_ref().is_some_and(|packet| packet.kind() == Kind::Interest);
        let category = if is_interest { categories.0 } else { categories.1 };
        let (bytes, now) = (frame.bytes, self.now);
        let mut send = |frame, bytes, part| {
            let load = Borne { frame, lane, bytes, part };
            medium.handle(now, MediumInput::Frame { from, to, category, load });
        };
        if largest.is_none_or(|largest| bytes <= largest) {
            send(Some(frame), bytes, None);
        } else {
            let count = cut(bytes, *largest).count();
            let part = (count > 1).then(|| parts.number(count as u32));
            let mut frame = Some(frame);
            for (number, bytes) in cut(bytes, *largest).enumerate() {
                send(if number + 1 == count { frame.take() } else { None }, bytes, part);
            }
        }
        self.notify_lost(cell, observers);
        self.arm_cell(cell);
    }

    /// A medium's time has come.
    pub(super) fn on_cell(&mut self, cell: usize, observers: &mut Observers<'_, '_>) {
        while let Some(outgoing) = self.cells[cell].deferred.pop_due(self.now) {
            self.send_frame(outgoing, observers);
        }
        while let Some(output) = self.cells[cell].medium.poll(self.now) {
            match output {
                MediumOutput::Arrived { at, load, is_copy, .. } => {
                    self.land(cell, at, load, is_copy, observers);
                }
                MediumOutput::Lost { load, reason, .. } => self.crash(load, reason, observers),
                MediumOutput::Joined { client, point, before } => {
                    self.on_joined(cell, client, point, before, observers);
                }
                MediumOutput::Left { client, point } => {
                    self.on_left(cell, client, point, observers);
                }
                MediumOutput::Traced(_) => {}
            }
        }
        self.arm_cell(cell);
    }

    /// A node fails or is back, and its stations with it.
    pub(super) fn set_silent(
        &mut self,
        node: usize,
        is_down: bool,
        observers: &mut Observers<'_, '_>,
    ) {
        for cell in 0..self.cells.len() {
            let Some(station) = self.cells[cell].station(node) else {
                continue;
            };
            let input = if is_down { MediumInput::Down(station) } else { MediumInput::Up(station) };
            self.cells[cell].medium.handle(self.now, input);
            self.notify_lost(cell, observers);
            self.arm_cell(cell);
        }
    }

    pub(super) fn notify_lost(&mut self, cell: usize, observers: &mut Observers<'_, '_>) {
        while let Some((load, reason)) = self.cells[cell].medium.poll_lost() {
            self.crash(load, reason, observers);
        }
    }

    fn land(
        &mut self,
        cell: usize,
        at: StationId,
        load: Borne,
        is_copy: bool,
        observers: &mut Observers<'_, '_>,
    ) {
        let Borne { frame, lane, part, .. } = load;
        let whole = part.is_none_or(|part| self.cells[cell].parts.take(lane, at, part));
        let Some(frame) = frame else { return };
        let ground = self.cells[cell].ground[at.0 as usize];
        if let (Some(receiver), Some(packet)) = (ground.broadcast, &frame.packet) {
            for outgoing in self.cells[cell].deferred.silence(receiver, packet) {
                let reason = LossReason::Superfluous;
                self.crash_frame(outgoing.lane, &outgoing.frame, reason, observers);
            }
        }
        let is_for_all = self.lanes[lane].aerial.is_some_and(|aerial| aerial.is_for_all());
        if is_copy {
            self.note_copy(lane, &frame, observers);
        }
        let end = match is_for_all {
            false => Some(self.lanes[lane].to),
            true => ground.broadcast.map(|lane| self.lanes[lane].from),
        };
        let is_up = |end: &End| {
            let door = self.stations[end.node].doors.get(end.face.0 as usize);
            door.is_some_and(|lane| !self.lanes[*lane].channel.channel().is_down())
        };
        match end.filter(is_up) {
            Some(end) if whole => self.arrive_at(lane, end, frame, observers),
            Some(_) => self.crash_frame(lane, &frame, LossReason::Model, observers),
            None => self.crash_frame(lane, &frame, LossReason::Down, observers),
        }
    }

    fn note_copy(&mut self, place: usize, frame: &Frame, observers: &mut Observers<'_, '_>) {
        self.balance.count_doubled(frame.packet.as_ref().map(Packet::kind));
        if let Some(packet) = &frame.packet {
            let (link, direction) = lane::name(place);
            notify(observers, self.now, &Observation::Doubled { link, direction, packet });
        }
    }

    fn crash(&mut self, load: Borne, discard: Discard, observers: &mut Observers<'_, '_>) {
        let reason = match discard {
            Discard::QueueFull => LossReason::QueueFull,
            Discard::Lifetime | Discard::Retries | Discard::Unheard => LossReason::Model,
            Discard::Down | Discard::Departed => LossReason::Down,
        };
        // A packet is lost with its last part.
        if let Some(frame) = &load.frame {
            self.crash_frame(load.lane, frame, reason, observers);
        }
    }

    fn crash_frame(
        &mut self,
        lane: usize,
        frame: &Frame,
        reason: LossReason,
        observers: &mut Observers<'_, '_>,
    ) {
        self.balance.count_lost(frame.packet.as_ref().map(Packet::kind), reason);
        if let Some(packet) = &frame.packet {
            let (link, direction) = lane::name(lane);
            notify(observers, self.now, &Observation::Lost { link, direction, packet, reason });
        }
    }

    pub(super) fn arm_cell(&mut self, cell: usize) {
        let slot = self.slot_of_cell(cell);
        let (medium, deferred) = (&self.cells[cell].medium, &self.cells[cell].deferred);
        let at = match (medium.deadline(), deferred.deadline()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if self.agenda.key(slot).map(Key::at) != at {
            let key = at.map(|at| Key::new(at, self.agenda.sequence()));
            self.agenda.set(slot, key);
        }
    }

    /// Cells stand behind everything else in the agenda.
    fn slot_of_cell(&self, cell: usize) -> u32 {
        (self.lanes.len() + self.stations.len() + self.sources.len() + 1 + cell) as u32
    }

    /// Frames that wait in the station of a lane's sender.
    pub(super) fn waiting_in_air(&self, aerial: Aerial) -> (u64, u64) {
        let waiting = self.cells[aerial.cell].medium.waiting_loads(aerial.from);
        waiting.fold((0, 0), |(frames, bytes), load| {
            (frames + u64::from(load.frame.is_some()), bytes + u64::from(load.bytes))
        })
    }
}
