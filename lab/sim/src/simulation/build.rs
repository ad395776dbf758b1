//! Building a simulation from a network: each name is resolved once, each specification parsed once, and errors are
//! reported before the run.
use super::aerial;
use super::balance::Balance;
use super::lane::{self, End, Lane};
use super::roam::Ways;
use super::script::Script;
use super::source::Source;
use super::station::Station;
use super::{Attachment, Simulation};
use crate::channel::ChannelModel;
use crate::network::{
    ApplicationKind, Arrival, Direction, Fault, LinkId, LinkOptions, Network, NodeId,
};
use crate::workload::{self, Tables};
use recoup_core::agenda::{Agenda, Key};
use recoup_forwarder::face::{FaceAttributes, FaceId, LinkType};
use recoup_forwarder::hash::NameHasher;
use recoup_forwarder::node::{Input, Node, RouteChange};
use recoup_forwarder::observer::Recorder;
use recoup_forwarder::options::NodeConfig;
use recoup_packet::name::Name;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::collections::BTreeSet;

/// Error of a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct NetworkError {
    /// The wrong part: for example "link `a-b`".
    pub place: String,
    /// The problem.
    pub problem: String,
}

pub(super) fn wrong(place: impl Into<String>, problem: impl ToString) -> NetworkError {
    NetworkError { place: place.into(), problem: problem.to_string() }
}

/// Seed of the hashes of names: the same in all simulations, so that digests can be compared.
const HASH_SEED: u64 = 0x5eed;

/// The hash of a name, the same in all simulations.
pub(crate) fn name_hash(name: &Name) -> u64 {
    NameHasher::new(HASH_SEED).hash(name.value())
}

/// Most Interests that may be pending at a node. A simulated node is not attacked, and what a fast link
/// with a long delay holds must fit.
const PIT_LIMIT: usize = 1 << 24;

/// Trace ids of one node: each has its own range.
const TRACE_IDS: u64 = 1 << 40;

impl Simulation {
    pub(super) fn build(network: Network, seed: u64, observe: bool) -> Result<Self, NetworkError> {
        check(&network)?;
        let rng = Rng::from_seed(seed);
        let kinds = || network.applications.iter().map(|plan| &plan.kind);
        let open = kinds().filter(|kind| workload::ends(kind)).count();
        let sources: Vec<Source> = kinds().filter_map(source).collect();
        let mut numbers = 0..;
        let attachment = |kind| Attachment {
            source: source(kind).and_then(|_| numbers.next()),
            ..Attachment::default()
        };
        let slots =
            2 * network.links.len() + network.nodes.len() + sources.len() + 1 + network.wifi.len();
        let mut simulation = Self {
            rng,
            observe,
            tables: Tables::default(),
            now: Instant::ZERO,
            events: 0,
            at_once: 0,
            agenda: Agenda::new(slots),
            lanes: Vec::new(),
            stations: Vec::new(),
            sources,
            cells: Vec::new(),
            attachments: kinds().map(attachment).collect(),
            script: Script::new(&network),
            failed: vec![false; network.links.len()],
            detached: vec![false; 2 * network.links.len()],
            ways: Ways::default(),
            balance: Balance::default(),
            open,
            has_ends: open > 0,
            by_node: network.by_node(),
            network,
        };
        simulation.build_stations()?;
        simulation.build_lanes()?;
        simulation.build_cells()?;
        simulation.check_applications()?;
        simulation.detach_at_first();
        for node in 0..simulation.stations.len() {
            simulation.set_up(node)?;
        }
        simulation.route_anew()?;
        for cell in 0..simulation.cells.len() {
            simulation.arm_cell(cell);
        }
        simulation.arm_script();
        Ok(simulation)
    }

    fn build_stations(&mut self) -> Result<(), NetworkError> {
        for number in 0..self.network.nodes.len() {
            let plan = &self.network.nodes[number];
            let processing = *plan.processing;
            let rng = self.node_rng(number, 1).substream("processing");
            let node = self.blank_node(number, 1);
            self.stations.push(Station::new(node, processing, rng));
        }
        Ok(())
    }

    fn build_lanes(&mut self) -> Result<(), NetworkError> {
        for number in 0..self.network.links.len() {
            let link = &self.network.links[number];
            let (a, b) = (link.ends.0.0 as usize, link.ends.1.0 as usize);
            let face = |node: usize| FaceId(self.stations[node].doors.len() as u32);
            let (a, b) = (End { node: a, face: face(a) }, End { node: b, face: face(b) });
            let forth = self.model(number, Direction::Forth, &link.forth, None)?;
            let back = self.model(number, Direction::Back, &link.back, None)?;
            self.lanes.push(Lane::new(&link.forth, forth, a, b));
            self.lanes.push(Lane::new(&link.back, back, b, a));
            self.stations[a.node].doors.push(2 * number);
            // A link from a node to itself is one face.
            if a.node != b.node {
                self.stations[b.node].doors.push(2 * number + 1);
            }
        }
        for source in &self.sources {
            self.lanes[source.lane()].is_shared = true;
        }
        for number in 0..self.network.faults.len() {
            if let (_, Fault::Change(link, direction, plan)) = &self.network.faults[number] {
                self.model(link.0 as usize, *direction, plan, Some(number))?;
            }
        }
        Ok(())
    }

    /// The model of a direction as planned, or as the fault of that number changes it.
    pub(super) fn model(
        &self,
        link: usize,
        direction: Direction,
        plan: &LinkOptions,
        fault: Option<usize>,
    ) -> Result<ChannelModel, NetworkError> {
        let name = &self.network.links[link].name;
        let word = match direction {
            Direction::Forth => "forth",
            Direction::Back => "back",
        };
        let place = || format!("link `{name}`, {word}");
        let mut rng = self.rng.substream(&format!("link/{name}/{word}"));
        if let Some(fault) = fault {
            rng = rng.substream(&format!("change/{fault}"));
        }
        ChannelModel::read(plan, &rng).map_err(|error| wrong(place(), error))
    }

    fn check_applications(&mut self) -> Result<(), NetworkError> {
        for plan in &self.network.applications {
            workload::make(&plan.kind, &Rng::from_seed(0), &mut self.tables)
                .map_err(|problem| wrong(format!("application `{}`", plan.name), problem))?;
        }
        Ok(())
    }

    // --- nodes ----------------------------------------------------------------------------------

    fn node_rng(&self, number: usize, life: u32) -> Rng {
        let rng = self.rng.substream(&format!("node/{}", self.network.nodes[number].name));
        lived(rng, life)
    }

    /// A node without faces, in its given life.
    pub(super) fn blank_node(&self, number: usize, life: u32) -> Node<Recorder> {
        let plan = &self.network.nodes[number];
        let ids = number as u64 * TRACE_IDS + u64::from(life - 1) * (TRACE_IDS >> 8);
        let config = NodeConfig {
            options: plan.options.clone(),
            answers_itself: self.answers_itself(NodeId(number as u32)),
            pit_limit: PIT_LIMIT,
            hash_seed: HASH_SEED,
            rng: self.node_rng(number, life),
            provider_id: plan.options.names_provider().then_some(number as u64 + 1),
            ..NodeConfig::deterministic(HASH_SEED)
        };
        let first_id = self.network.follow_transmissions.then_some(ids);
        let recorder = Recorder::new(self.observe, first_id);
        Node::observed(config, recorder)
    }

    /// Whether requests of the node can only reach producers at the node itself, since no route leads away.
    fn answers_itself(&self, node: NodeId) -> bool {
        let mut served = self.by_node.served_at(&self.network, node);
        !self.by_node.leads_away(node) && served.next().is_some()
    }

    /// Gives a blank node its strategies, faces and routes.
    pub(super) fn set_up(&mut self, number: usize) -> Result<(), NetworkError> {
        let now = self.now;
        for face in 0..self.stations[number].doors.len() {
            if let Some(scheduling) = self.scheduling(self.stations[number].doors[face]) {
                let (face, scheduling) = (FaceId(face as u32), Box::new(scheduling));
                let input = Input::Schedule { face, scheduling };
                self.stations[number].node.handle(now, input);
            }
        }
        let Self { network, by_node, stations, lanes, detached, .. } = self;
        let at = by_node.at(NodeId(number as u32));
        let Station { node, doors, .. } = &mut stations[number];
        for plan in at.strategies.iter().map(|plan| &network.strategies[*plan as usize]) {
            node.set_strategy(&plan.prefix, &plan.strategy);
        }
        for (face, lane) in doors.iter().enumerate().filter(|(_, lane)| !detached[**lane]) {
            let face = FaceId(face as u32);
            let link_type = link_type(lanes[*lane].is_for_all());
            let attributes = FaceAttributes { link_type, ..attributes(plan_of(network, *lane)) };
            node.handle(now, Input::FaceUp { face, attributes });
        }
        for plan in at.routes.iter().map(|plan| &network.routes[*plan as usize]) {
            for (link, cost) in &plan.hops {
                let face = lanes[lane::away(lanes, *link, number)].from.face;
                let (prefix, cost) = (plan.prefix.clone(), Some(*cost));
                node.handle(now, Input::Route(RouteChange { prefix, face, cost }));
            }
        }
        Ok(())
    }

    pub(super) fn arm_script(&mut self) {
        let slot = (self.lanes.len() + self.stations.len() + self.sources.len()) as u32;
        let next = self.script.next_at().map(|at| Key::new(at, self.agenda.sequence()));
        self.agenda.set(slot, next);
    }
}

/// The stream of something in its given life: the first life has the stream itself.
pub(super) fn lived(rng: Rng, life: u32) -> Rng {
    if life <= 1 { rng } else { rng.substream(&format!("life/{life}")) }
}

/// Attributes of a face, from the channel behind it.
pub(super) fn attributes(plan: &LinkOptions) -> FaceAttributes {
    FaceAttributes {
        marking: plan.marking.0,
        recovery: *plan.recovery,
        ..FaceAttributes::value(plan.queue)
    }
}

/// Radio links to all nodes are ad hoc: not every node receives every frame.
pub(super) fn link_type(is_for_all: bool) -> LinkType {
    if is_for_all { LinkType::AdHoc } else { LinkType::PointToPoint }
}

pub(super) fn plan_of(network: &Network, lane: usize) -> &LinkOptions {
    let link = &network.links[lane / 2];
    if lane.is_multiple_of(2) { &link.forth } else { &link.back }
}

fn source(kind: &ApplicationKind) -> Option<Source> {
    match kind {
        ApplicationKind::Background(plan) => Some(Source::new(plan)),
        _ => None,
    }
}

// --- what must hold -----------------------------------------------------------------------------

fn check(network: &Network) -> Result<(), NetworkError> {
    let names = |what, names: Vec<&String>| {
        let mut seen = BTreeSet::new();
        match names.into_iter().find(|name| !seen.insert(*name)) {
            Some(twice) => Err(wrong(format!("{what} `{twice}`"), "this name is given twice")),
            None => Ok(()),
        }
    };
    names("node", network.nodes.iter().map(|plan| &plan.name).collect())?;
    names("link", network.links.iter().map(|plan| &plan.name).collect())?;
    names("application", network.applications.iter().map(|plan| &plan.name).collect())?;
    let aerial = aerial::carried(network);
    for (number, plan) in (0..).map(LinkId).zip(&network.links) {
        let place = format!("link `{}`", plan.name);
        node(network, &place, plan.ends.0)?;
        node(network, &place, plan.ends.1)?;
        if plan.ends.0 == plan.ends.1 && !aerial.contains(&number) {
            return Err(wrong(place, "both ends are the same node"));
        }
    }
    for plan in &network.routes {
        let place = format!("route to {}", plan.prefix);
        node(network, &place, plan.node)?;
        for (hop, _) in &plan.hops {
            let ends = link(network, &place, *hop)?.ends;
            if ends.0 != plan.node && ends.1 != plan.node {
                return Err(wrong(
                    place,
                    "its next hop is over a link that does not end at its node",
                ));
            }
        }
    }
    for plan in &network.strategies {
        node(network, &format!("strategy below {}", plan.prefix), plan.node)?;
    }
    aerial::check(network)?;
    check_applications(network)?;
    check_faults(network)
}

fn check_applications(network: &Network) -> Result<(), NetworkError> {
    for plan in &network.applications {
        let place = format!("application `{}`", plan.name);
        node(network, &place, plan.node)?;
        if plan.stop.is_some_and(|stop| stop < plan.start) {
            return Err(wrong(place, "it stops before it starts"));
        }
        if let ApplicationKind::Background(background) = &plan.kind {
            link(network, &place, background.link)?;
            if let Some(problem) = background.arrival.problem() {
                return Err(wrong(place, problem));
            }
            if matches!(background.arrival, Arrival::Window(_)) {
                return Err(wrong(place, "background traffic has no window"));
            }
        }
    }
    Ok(())
}

fn check_faults(network: &Network) -> Result<(), NetworkError> {
    for (at, fault) in &network.faults {
        let place = format!("fault at {at}");
        match fault {
            Fault::LinkDown(id)
            | Fault::LinkUp(id)
            | Fault::OutageBegins(id, _)
            | Fault::OutageEnds(id, _)
            | Fault::Change(id, ..) => {
                link(network, &place, *id)?;
            }
            Fault::NodeDown(id) | Fault::NodeUp(id) => node(network, &place, *id)?,
        }
    }
    Ok(())
}

pub(super) fn node(network: &Network, place: &str, id: NodeId) -> Result<(), NetworkError> {
    match network.nodes.get(id.0 as usize) {
        Some(_) => Ok(()),
        None => Err(wrong(place, format_args!("there is no node number {}", id.0))),
    }
}

pub(super) fn link<'a>(
    network: &'a Network,
    place: &str,
    id: LinkId,
) -> Result<&'a crate::network::LinkPlan, NetworkError> {
    let link = network.links.get(id.0 as usize);
    link.ok_or_else(|| wrong(place, format_args!("there is no link number {}", id.0)))
}
