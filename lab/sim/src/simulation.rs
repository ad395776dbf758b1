//! A simulation: nodes, channels and their events, in an order that the seed alone decides.
//!
//! The simulation drives nodes by their value faces. A packet that a node transmits is handed to a channel; a packet
//! that leaves the channel is handed to the node at its end. The simulation does not look into packets. Its agenda
//! has one entry for each busy channel, node and source of background traffic, and one for the script of faults and
//! starts. A node's wake-up is armed again only when its deadline moves earlier; a later deadline is noticed when the
//! wake-up fires.
//!
//! Chance comes from streams named after what draws: `link/<name>/forth/loss`, `node/<name>`,
//! `application/<name>`. So nothing that is added moves another's draws.
mod aerial;
mod balance;
mod build;
mod digest;
mod fault;
mod lane;
mod roam;
mod schedule;
mod script;
mod source;
mod station;

pub use balance::{Balance, Imbalance};
pub use build::NetworkError;
pub(crate) use build::name_hash;
pub use digest::Digest;

use crate::channel::ChannelOutput;
use crate::network::{ApplicationId, ByNode, Direction, LinkId, Network, NodeId};
use crate::observe::{Observation, Observer};
use crate::workload::Tables;
use aerial::Cell;
use lane::{End, Frame, Lane};
use recoup_core::agenda::{Agenda, Key};
use recoup_forwarder::counters::QueueState;
use recoup_forwarder::face::{AppId, FaceId};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_forwarder::observer::Recorder;
use recoup_forwarder::packet::Packet;
use recoup_transport::application::Report;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use roam::Ways;
use script::Script;
use source::Source;
use station::Station;

/// Most events and outputs of nodes at one time: with more, the simulation stands still.
pub(crate) const MOST_AT_ONCE: u32 = if cfg!(test) { 200_000 } else { 20_000_000 };

/// A simulation of a network.
pub struct Simulation {
    network: Network,
    /// Its routes, strategies and applications by node.
    by_node: ByNode,
    rng: Rng,
    /// Whether nodes report their events.
    observe: bool,
    tables: Tables,
    now: Instant,
    events: u64,
    /// Events and outputs of nodes since the time last moved.
    at_once: u32,
    agenda: Agenda,
    /// Two for each link: forth, then back.
    lanes: Vec<Lane>,
    stations: Vec<Station>,
    sources: Vec<Source>,
    /// In the order of the network's media.
    cells: Vec<Cell>,
    /// In the order of the network's applications.
    attachments: Vec<Attachment>,
    script: Script,
    /// In the order of the network's links: whether it has failed.
    failed: Vec<bool>,
    /// In the order of the lanes: whether an access point at one of its ends has no client there.
    detached: Vec<bool>,
    /// Routes at the time of their last computation.
    ways: Ways,
    balance: Balance,
    /// Applications that end by themselves and have not.
    open: usize,
    has_ends: bool,
}

/// State of an application.
#[derive(Clone, Copy, Debug, Default)]
struct Attachment {
    app: Option<AppId>,
    /// The application answers already; its start at this instant is still to be reported.
    is_early: bool,
    has_begun: bool,
    is_over: bool,
    /// Number of starts.
    lives: u32,
    /// The source, if it is background traffic.
    source: Option<usize>,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Time of the end.
    pub at: Instant,
    /// Cause of the end.
    pub cause: Cause,
    /// Events of the agenda.
    pub events: u64,
    /// Balance of the packets on channels.
    pub balance: Balance,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Every finite application has ended.
    Done,
    /// The time was up.
    Time,
    /// The agenda is empty.
    Quiet,
    /// The time does not move: something is answered at once, without end.
    Standstill,
    /// A packet vanished or came from nowhere: the simulator is wrong, and so may be all its results.
    Unbalanced(Imbalance),
}

/// Observers of a run.
type Observers<'a, 'b> = [&'a mut (dyn Observer + 'b)];

impl Simulation {
    /// A simulation of `network`; every random choice follows from `seed`.
    ///
    /// # Errors
    /// If the network refers to something that does not exist; the error names it.
    pub fn new(network: Network, seed: u64) -> Result<Self, NetworkError> {
        Self::build(network, seed, true)
    }

    /// A simulation whose nodes do not report their events, which is faster. It runs the same way, and makes all
    /// observations but [`Observation::Node`].
    ///
    /// # Errors
    /// As for [`Simulation::new`].
    pub fn with_silent_nodes(network: Network, seed: u64) -> Result<Self, NetworkError> {
        Self::build(network, seed, false)
    }

    /// Runs to the end.
    pub fn run(&mut self, observers: &mut Observers<'_, '_>) -> Ended {
        loop {
            if let Some(cause) = self.cause() {
                return self.end(cause);
            }
            self.step(observers);
        }
    }

    /// Runs all events until `until`; returns the end if the run ended before.
    pub fn run_until(
        &mut self,
        until: Instant,
        observers: &mut Observers<'_, '_>,
    ) -> Option<Ended> {
        loop {
            if let Some(cause) = self.cause() {
                return Some(self.end(cause));
            }
            if self.next_at().is_none_or(|at| at > until) {
                self.now = self.now.max(until);
                return None;
            }
            self.step(observers);
        }
    }

    /// Runs one event; `false` if nothing is left to happen.
    pub fn step(&mut self, observers: &mut Observers<'_, '_>) -> bool {
        if self.events == 0 {
            self.begin(observers);
        }
        let Some((key, slot)) = self.agenda.first() else {
            return false;
        };
        debug_assert!(key.at() >= self.now, "time never goes backwards");
        if key.at() > self.now {
            self.at_once = 0;
        }
        self.now = key.at();
        self.at_once += 1;
        self.events += 1;
        let slot = slot as usize;
        let (lanes, stations) = (self.lanes.len(), self.stations.len());
        if slot < lanes {
            self.on_lane(slot, observers);
        } else if slot < lanes + stations {
            self.on_wake_up(slot - lanes, observers);
        } else if slot < lanes + stations + self.sources.len() {
            self.on_source(slot - lanes - stations, observers);
        } else if slot == lanes + stations + self.sources.len() {
            self.on_script(observers);
        } else {
            self.on_cell(slot - lanes - stations - self.sources.len() - 1, observers);
        }
        true
    }

    /// The simulated time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When the next event is.
    pub fn next_at(&self) -> Option<Instant> {
        self.agenda.first().map(|(key, _)| key.at())
    }

    /// The network that is simulated.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// A node, to be read at rest: what is pending, what is cached.
    pub fn node(&self, node: NodeId) -> Option<&Node<Recorder>> {
        self.stations.get(node.0 as usize).map(|station| &station.node)
    }

    /// The queue for a channel's rate, whether in the channel or in the node.
    pub fn waiting(&self, link: LinkId, direction: Direction) -> QueueState {
        let Some(lane) = self.lanes.get(lane::place(link, direction)) else {
            return QueueState::default();
        };
        let (packets, bytes) = match lane.aerial {
            Some(aerial) => self.waiting_in_air(aerial),
            None => lane.channel.waiting(),
        };
        let in_node = self.stations[lane.from.node].node.queue(lane.from.face).unwrap_or_default();
        QueueState { packets: packets + in_node.packets, bytes: bytes + in_node.bytes }
    }

    /// Balance of the packets on channels so far.
    pub fn balance(&self) -> Balance {
        let mut balance = self.balance.clone();
        let in_air = self.cells.iter().flat_map(Cell::inside);
        for frame in self.lanes.iter().flat_map(|lane| lane.channel.inside()).chain(in_air) {
            balance.count_inside(frame.packet.as_ref().map(Packet::kind));
        }
        balance
    }

    // --- the end --------------------------------------------------------------------------------

    fn cause(&self) -> Option<Cause> {
        if self.at_once >= MOST_AT_ONCE {
            return Some(Cause::Standstill);
        }
        if self.has_ends && self.open == 0 && self.network.stop.when_done {
            return Some(Cause::Done);
        }
        match self.next_at() {
            None => Some(Cause::Quiet),
            Some(at) => (at > self.network.stop.at).then_some(Cause::Time),
        }
    }

    fn end(&mut self, cause: Cause) -> Ended {
        if cause == Cause::Time {
            self.now = self.network.stop.at;
        }
        let balance = self.balance();
        let checked = balance.check();
        debug_assert_eq!(checked, Ok(()));
        let cause = checked.map_or_else(Cause::Unbalanced, |()| cause);
        Ended { at: self.now, cause, events: self.events, balance }
    }

    // --- channels -------------------------------------------------------------------------------

    fn on_lane(&mut self, lane: usize, observers: &mut Observers<'_, '_>) {
        // One due output at a time: an output of another lane may come before the next.
        loop {
            match self.lanes[lane].channel.poll(self.now) {
                Some(ChannelOutput::Arrived(frame)) => {
                    self.arrive(lane, frame, observers);
                    break;
                }
                Some(ChannelOutput::Free) => {
                    let End { node, face } = self.lanes[lane].from;
                    self.stations[node].node.handle(self.now, Input::Ready { face });
                    self.pump(node, observers);
                    self.arm_station(node);
                    break;
                }
                Some(decided) => self.notify_decided(lane, decided, observers),
                None => break,
            }
        }
        self.arm_lane(lane);
        self.notify_queue(lane, observers);
    }

    /// Lets nodes process faces that were up from the beginning.
    fn begin(&mut self, observers: &mut Observers<'_, '_>) {
        for node in 0..self.stations.len() {
            if self.stations[node].node.deadline().is_some() {
                self.pump(node, observers);
                self.arm_station(node);
            }
        }
    }

    fn arrive(&mut self, lane: usize, frame: Frame, observers: &mut Observers<'_, '_>) {
        self.arrive_at(lane, self.lanes[lane].to, frame, observers);
    }

    /// A frame of a lane leaves it at `end`.
    fn arrive_at(
        &mut self,
        lane: usize,
        end: End,
        frame: Frame,
        observers: &mut Observers<'_, '_>,
    ) {
        let (now, End { node, face }) = (self.now, end);
        self.balance.count_delivered(frame.packet.as_ref().map(Packet::kind));
        let Some(packet) = frame.packet else {
            return;
        };
        let (link, direction) = lane::name(lane);
        notify(observers, now, &Observation::Arrived { link, direction, packet: &packet });
        let station = &mut self.stations[node];
        if station.is_prompt() {
            station.node.handle(now, Input::Packet { face, packet });
            self.pump(node, observers);
        } else {
            let sequence = self.agenda.sequence();
            station.wait(now, sequence, face, packet);
        }
        self.arm_station(node);
    }

    fn transmit(
        &mut self,
        node: usize,
        face: FaceId,
        packet: Packet,
        observers: &mut Observers<'_, '_>,
    ) {
        let Some(place) = self.stations[node].doors.get(face.0 as usize).copied() else {
            return debug_assert!(false, "a node sends by its own faces");
        };
        let (link, direction) = lane::name(place);
        self.balance.count_sent(Some(packet.kind()));
        notify(observers, self.now, &Observation::Sent { link, direction, packet: &packet });
        let bytes = self.lanes[place].charge(&packet);
        let until = self.offer(place, Frame { packet: Some(packet), bytes }, observers);
        self.stations[node].node.handle(self.now, Input::Busy { face, until });
    }

    /// Hands a frame to a lane; returns the time from which it takes another one.
    fn offer(&mut self, place: usize, frame: Frame, observers: &mut Observers<'_, '_>) -> Instant {
        if let Some(aerial) = self.lanes[place].aerial {
            self.fly(aerial, place, frame, observers);
            return self.now;
        }
        let sequence = self.agenda.sequence();
        let lane = &mut self.lanes[place];
        lane.offer(self.now, sequence, frame);
        let until = lane.takes_from(self.now);
        let has_decided = lane.channel.channel().has_decided();
        self.agenda.set(place as u32, lane.channel.next());
        if has_decided {
            self.settle(place, observers);
        }
        self.notify_queue(place, observers);
        until
    }

    /// A face has something to send: at once if the channel takes it, else when it does.
    fn grant(&mut self, node: usize, face: FaceId) {
        let Some(place) = self.stations[node].doors.get(face.0 as usize).copied() else {
            return debug_assert!(false, "a node sends by its own faces");
        };
        if self.lanes[place].takes(self.now) {
            return self.stations[node].node.handle(self.now, Input::Ready { face });
        }
        let sequence = self.agenda.sequence();
        self.lanes[place].want(self.now, sequence);
        self.arm_lane(place);
    }

    /// Notifies observers of the frames whose fate a channel has decided.
    fn settle(&mut self, lane: usize, observers: &mut Observers<'_, '_>) {
        while let Some(decided) = self.lanes[lane].channel.poll_decided() {
            self.notify_decided(lane, decided, observers);
        }
    }

    fn notify_decided(
        &mut self,
        lane: usize,
        decided: ChannelOutput<Frame>,
        observers: &mut Observers<'_, '_>,
    ) {
        let (link, direction) = lane::name(lane);
        match decided {
            ChannelOutput::Lost { frame, reason } => {
                self.balance.count_lost(frame.packet.as_ref().map(Packet::kind), reason);
                if let Some(packet) = &frame.packet {
                    let lost = Observation::Lost { link, direction, packet, reason };
                    notify(observers, self.now, &lost);
                }
            }
            ChannelOutput::Doubled(frame) => {
                self.balance.count_doubled(frame.packet.as_ref().map(Packet::kind));
                if let Some(packet) = &frame.packet {
                    notify(observers, self.now, &Observation::Doubled { link, direction, packet });
                }
            }
            ChannelOutput::Arrived(_) | ChannelOutput::Free => {}
        }
    }

    /// Notifies observers of the queue inside a channel.
    fn notify_queue(&self, place: usize, observers: &mut Observers<'_, '_>) {
        let lane = &self.lanes[place];
        if lane.has_queue() && !observers.is_empty() {
            let (link, direction) = lane::name(place);
            let (packets, bytes) = lane.channel.waiting();
            let waiting = Observation::Waiting { link, direction, packets, bytes };
            notify(observers, self.now, &waiting);
        }
    }

    fn arm_lane(&mut self, lane: usize) {
        self.agenda.set(lane as u32, self.lanes[lane].channel.next());
    }

    // --- nodes ----------------------------------------------------------------------------------

    fn on_wake_up(&mut self, node: usize, observers: &mut Observers<'_, '_>) {
        let now = self.now;
        let station = &mut self.stations[node];
        let is_due = match station.next_waiting(now) {
            Some((face, packet)) => {
                station.node.handle(now, Input::Packet { face, packet });
                true
            }
            None => station.node.deadline().is_some_and(|deadline| deadline <= now),
        };
        if is_due {
            self.pump(node, observers);
        }
        let wake_up = self.wake_up(node, None);
        self.agenda.set(self.slot_of(node), wake_up);
    }

    /// Carries out what follows in a node, until nothing does or the simulation stands still.
    fn pump(&mut self, node: usize, observers: &mut Observers<'_, '_>) {
        let (now, id) = (self.now, NodeId(node as u32));
        while self.at_once < MOST_AT_ONCE {
            self.at_once += 1;
            // Taken apart where it was put, for most of it is moved on.
            match self.stations[node].node.poll(now) {
                None => return,
                Some(Output::Transmit { face, packet }) => {
                    self.transmit(node, face, packet, observers)
                }
                Some(Output::Wants { face }) => self.grant(node, face),
                Some(Output::App { app, report }) => self.on_report(node, app, &report, observers),
                Some(Output::Event(event)) => {
                    notify(observers, now, &Observation::Node { node: id, event });
                }
                Some(Output::Dropped { kind, reason, .. }) => {
                    notify(observers, now, &Observation::Dropped { node: id, kind, reason });
                }
                Some(Output::Send { .. }) => debug_assert!(false, "no face carries frames"),
                Some(Output::Order(_)) => debug_assert!(false, "no node has a management"),
            }
        }
    }

    /// Sees to it that a node is woken up no later than it wants to.
    fn arm_station(&mut self, node: usize) {
        let slot = self.slot_of(node);
        let armed = self.agenda.key(slot);
        let wake_up = self.wake_up(node, armed);
        if wake_up != armed {
            self.agenda.set(slot, wake_up);
        }
    }

    /// When to wake a node up that is woken up at `armed` anyway: then, or earlier.
    fn wake_up(&mut self, node: usize, mut armed: Option<Key>) -> Option<Key> {
        let station = &self.stations[node];
        if let Some(waiting) = station.first_waiting()
            && armed.is_none_or(|armed| waiting < armed)
        {
            armed = Some(waiting);
        }
        if let Some(deadline) = station.node.deadline() {
            // What is due at this very instant has its wake-up already, behind what happens first.
            let is_armed = armed.is_some_and(|armed| armed.at() <= self.now);
            debug_assert!(
                deadline > self.now || is_armed,
                "a machine that is done wants to be woken up later"
            );
            if armed.is_none_or(|armed| deadline < armed.at()) {
                armed = Some(Key::new(deadline, self.agenda.sequence()));
            }
        }
        armed
    }

    fn slot_of(&self, node: usize) -> u32 {
        (self.lanes.len() + node) as u32
    }

    // --- applications ---------------------------------------------------------------------------

    fn on_report(
        &mut self,
        node: usize,
        app: AppId,
        report: &Report,
        observers: &mut Observers<'_, '_>,
    ) {
        let Some(application) = self.stations[node].application(app) else {
            return;
        };
        notify(observers, self.now, &Observation::Application { application, report });
        if matches!(report, Report::Done(_)) {
            self.close(application);
        }
    }

    /// The application is over, whether it ended or was taken away.
    fn close(&mut self, application: ApplicationId) {
        let place = application.0 as usize;
        let ends = crate::workload::ends(&self.network.applications[place].kind);
        if !std::mem::replace(&mut self.attachments[place].is_over, true) && ends {
            self.open -= 1;
        }
    }
}

#[inline]
fn notify(observers: &mut Observers<'_, '_>, now: Instant, observation: &Observation<'_>) {
    for observer in observers {
        observer.on(now, observation);
    }
}
