//! Management: the node's side of NFD's management protocol.
//!
//! Management has a face of its own ([`FaceId::MANAGEMENT`]), the next hop of `/localhost/nfd`. Commands pass the
//! same pipelines and scope rules as all Interests, so they come from local faces only. `/localhop/nfd` leads there
//! if the options enable it; a peer on another machine can then register routes for itself.
//!
//! `Management` is a state machine of its own. Its inputs are Interests and notices of the node's owner ([`Notice`]).
//! The owner opens and closes faces. The state machine reads the other machines through a `View`. Its outputs are
//! `Effect`s, among them orders to the owner ([`FaceOrder`]).
//!
//! Source: NFD's wiki pages "Management", "ControlCommand" and those of the modules. Differences: in
//! [`Request::read`], [`Authority`] and the files of `management/`.
mod dataset;
mod face;
mod registry;
mod rib;
mod route;
mod strategy;

pub use crate::order::{FaceDescription, FaceOrder, FaceSettings, Notice, OrderError};

use crate::counters::NodeCounters;
use crate::face::FaceId;
use crate::order::ManagementRequest;
use crate::strategy::ForwardingStrategy;
use crate::table::RouteChange;
use dataset::DatasetCache;
pub(crate) use dataset::node_status;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    Authority, AuthorityOptions, Command, ControlParameters, CsInfo, FaceCounters, FibEntry,
    Rejection, Request, Scope, StrategyChoice, Verb, respond, respond_conflict,
};
use recoup_transport::time::{Instant, TimeOfDay};
use registry::{EventStream, FaceRegistry};
use rib::{Registrant, Rib, RibFull, Route, STATIC};
use std::collections::{BTreeMap, VecDeque};
pub(crate) use strategy::{CsCommand, cs_flags, strategy_choice};

const OWN_PREFIX: Rejection = Rejection {
    code: 403,
    text: "not allowed: commands come by this prefix, and nothing leads it elsewhere",
};

/// Most orders pending at the owner.
const MAX_ORDERS: usize = 64;

/// Settings of a node's management.
#[derive(Clone, Debug)]
pub struct ManagementOptions {
    /// Peers on other machines may register routes for themselves (`/localhop/nfd/rib`).
    pub localhop: bool,
    /// Most routes, configured ones included; and most prefixes with next hops, or with a strategy.
    pub routes: usize,
    /// Authorization of commands.
    pub authority: AuthorityOptions,
    /// Name and version of the forwarder, for `status/general`.
    pub version: String,
}

impl Default for ManagementOptions {
    fn default() -> Self {
        let (authority, version) = (AuthorityOptions::default(), "recoup".to_owned());
        Self { localhop: false, routes: 1 << 16, authority, version }
    }
}

/// Read access to the other machines of the node.
pub(crate) trait View {
    /// Whether a network face is up.
    fn is_up(&self, face: FaceId) -> bool;
    /// Whether a face is a next hop of exactly this prefix.
    fn is_next_hop(&self, prefix: &Name, face: FaceId) -> bool;
    /// Prefixes with next hops.
    fn prefixes(&self) -> usize;
    /// Next hops of all prefixes together.
    fn next_hops(&self) -> usize;
    /// Whether exactly this prefix has a strategy.
    fn has_strategy(&self, prefix: &Name) -> bool;
    /// Prefixes that have a strategy.
    fn strategies(&self) -> usize;
    /// Pending Interests.
    fn pending(&self) -> usize;
    /// Prefixes with measurements.
    fn measurements(&self) -> usize;
    /// Counters of a face since it came up.
    fn carried(&self, face: FaceId) -> FaceCounters;
    /// All prefixes with next hops, in canonical order.
    fn fib_entries(&self) -> Vec<FibEntry>;
    /// All choices of strategies, by prefix in canonical order.
    fn strategy_choices(&self) -> Vec<StrategyChoice>;
    /// Status of the content store.
    fn cs_info(&self) -> CsInfo;
    /// Counters of the node.
    fn counters(&self) -> NodeCounters;
}

/// Output of the management.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Answer an Interest.
    Answer { path: ReturnPath, data: Data },
    /// Reject an Interest.
    Reject { path: ReturnPath, reason: NackReason },
    /// Change the forwarding table.
    Route(RouteChange),
    /// Set the strategy of a prefix.
    SetStrategy { prefix: Name, strategy: Box<dyn ForwardingStrategy> },
    /// Remove the strategy of a prefix.
    UnsetStrategy { prefix: Name },
    /// Execute a command on the content store, and answer it under this name.
    ContentStore { name: Name, path: ReturnPath, command: CsCommand },
    /// The owner opens, changes or closes a face.
    Order(FaceOrder),
    /// Hold a face down, or end that.
    Hold { face: FaceId, down: bool },
    /// A driver gave up a packet for a face.
    Lost { face: FaceId, name: Name },
}

/// The management of a node: its routing table, faces, and pending commands.
#[derive(Debug)]
pub(crate) struct Management {
    rib: Rib,
    limit: usize,
    /// Prefixes of the management, without other next hops.
    own: Vec<Name>,
    authority: Authority,
    version: String,
    registry: FaceRegistry,
    events: EventStream,
    shelf: DatasetCache,
    channels: Vec<String>,
    requests: VecDeque<ManagementRequest>,
    /// Commands pending at the owner, by the tickets of their orders.
    orders: BTreeMap<u64, Ordered>,
    next_ticket: u64,
    clock: Calendar,
    effects: VecDeque<Effect>,
}

/// A command pending at the owner.
#[derive(Debug)]
struct Ordered {
    name: Name,
    path: ReturnPath,
    verb: Verb,
}

/// The calendar clock, from the moment when it was first set.
#[derive(Clone, Copy, Debug, Default)]
struct Calendar {
    time: TimeOfDay,
    /// Time at which it was first set.
    started: Option<Instant>,
}

impl Calendar {
    fn set(&mut self, now: Instant, time: TimeOfDay) {
        self.time = time;
        self.started.get_or_insert(now);
    }

    fn micros(self, now: Instant) -> u64 {
        self.time.micros(now)
    }

    fn millis(self, now: Instant) -> u64 {
        self.time.millis(now)
    }

    /// Time of day at the start, by the current setting of the clock: milliseconds since 1970.
    fn start_millis(self) -> u64 {
        self.time.millis(self.started.unwrap_or_default())
    }
}

/// Outcome of an authorized command.
#[derive(Debug)]
enum Outcome {
    /// The command was executed.
    Done(ControlParameters),
    /// The item exists already.
    Conflict(ControlParameters),
    /// The command is answered at once, and the owner executes it.
    DoneThenOrder(ControlParameters, FaceOrder),
    /// The owner executes the command, which is answered afterwards.
    Ordered(FaceOrder),
    /// The content store executes the command.
    ContentStore(CsCommand),
}

impl Management {
    /// A management without routes and faces.
    pub(crate) fn new(options: &ManagementOptions) -> Self {
        Self {
            rib: Rib::new(options.routes),
            limit: options.routes,
            own: Self::prefixes(options).collect(),
            authority: Authority::new(options.authority.clone()),
            version: options.version.clone(),
            registry: FaceRegistry::default(),
            events: EventStream::default(),
            shelf: DatasetCache::default(),
            channels: Vec::new(),
            requests: VecDeque::new(),
            orders: BTreeMap::new(),
            next_ticket: 1,
            clock: Calendar::default(),
            effects: VecDeque::new(),
        }
    }

    /// Name prefixes of the management.
    pub(crate) fn prefixes(options: &ManagementOptions) -> impl Iterator<Item = Name> + use<> {
        let words = ["localhost", "localhop"].into_iter().take(1 + usize::from(options.localhop));
        words.map(|word| {
            [word, "nfd"].map(|it| Component::generic(it.as_bytes())).into_iter().collect()
        })
    }

    /// Handles an Interest for the management.
    pub(crate) fn request(&mut self, request: ManagementRequest) {
        self.requests.push_back(request);
    }

    /// Time at which the next route expires.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.rib.deadline()
    }

    /// The next output.
    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Handles one request, or one expired route; `false` if there is neither.
    pub(crate) fn step(&mut self, now: Instant, view: &impl View) -> bool {
        if let Some(changes) = self.rib.pop_expired(now) {
            self.follow_rib(changes);
            return true;
        }
        let Some(ManagementRequest { interest, ingress, path }) = self.requests.pop_front() else {
            return false;
        };
        if !(ingress.app().is_some() || view.is_up(ingress)) {
            // The face can go down before the request is read. A route added after the removal of the face's routes
            // would stay. The Interest was counted as dropped with its face.
            return true;
        }
        match Request::read(&interest) {
            Some(Ok(Request::Command(command))) => {
                self.on_command(now, ingress, &interest, path, command, view);
            }
            Some(Ok(Request::Dataset(dataset, depth))) => {
                self.on_dataset(now, &interest, path, &dataset, depth, view);
            }
            Some(Ok(Request::Events)) => self.on_event_request(now, &interest, path),
            Some(Err(rejection)) => self.respond(&interest.name, path, &Err(rejection)),
            None => self.reject(path, NackReason::NoRoute),
        }
        true
    }

    fn answer(&mut self, path: ReturnPath, data: Data) {
        self.effects.push_back(Effect::Answer { path, data });
    }

    fn reject(&mut self, path: ReturnPath, reason: NackReason) {
        self.effects.push_back(Effect::Reject { path, reason });
    }

    fn respond(
        &mut self,
        name: &Name,
        path: ReturnPath,
        outcome: &Result<ControlParameters, Rejection>,
    ) {
        self.answer(path, respond(name, outcome));
    }

    fn on_command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Interest,
        path: ReturnPath,
        command: Command,
        view: &impl View,
    ) {
        let (name, verb) = (&interest.name, command.verb);
        match self.command(now, ingress, interest, command, view) {
            Ok(Outcome::Done(done)) => self.respond(name, path, &Ok(done)),
            Ok(Outcome::Conflict(there)) => self.answer(path, respond_conflict(name, &there)),
            Ok(Outcome::DoneThenOrder(done, order)) => {
                self.respond(name, path, &Ok(done));
                self.effects.push_back(Effect::Order(order));
            }
            Ok(Outcome::Ordered(order)) => self.give_order(name, path, verb, order),
            Ok(Outcome::ContentStore(command)) => {
                let name = name.clone();
                self.effects.push_back(Effect::ContentStore { name, path, command });
            }
            Err(rejection) => self.respond(name, path, &Err(rejection)),
        }
    }

    /// Executes an authorized command.
    fn command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Interest,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        self.shelf.invalidate();
        let of_rib = [Verb::RibRegister, Verb::RibUnregister, Verb::RibAnnounce];
        let is_rib = of_rib.contains(&command.verb);
        if command.scope == Scope::Localhop && !is_rib {
            return Err(Rejection::NOT_ALLOWED);
        }
        let (now_millis, start_millis) = (self.clock.millis(now), self.clock.start_millis());
        self.authority.check(interest, &command, now_millis, start_millis)?;
        // A route for the prefix of commands would divert them.
        let is_route =
            is_rib || matches!(command.verb, Verb::FibAddNextHop | Verb::FibRemoveNextHop);
        let prefix = command.parameters.name.as_ref();
        if is_route && prefix.is_some_and(|it| self.own.iter().any(|own| own.is_prefix_of(it))) {
            return Err(OWN_PREFIX);
        }
        match command.verb {
            Verb::RibRegister => self.register(now, ingress, command, view),
            Verb::RibUnregister => self.unregister(ingress, command, view),
            Verb::RibAnnounce => self.announce(now, now_millis, ingress, command, view),
            Verb::FibAddNextHop => self.add_next_hop(ingress, command, view),
            Verb::FibRemoveNextHop => self.remove_next_hop(ingress, command, view),
            Verb::FaceCreate => self.create_face(command, view),
            Verb::FaceUpdate => self.update_face(ingress, command, view),
            Verb::FaceDestroy => Ok(self.destroy_face(ingress, command, view)),
            Verb::FaceDown => self.switch_face(ingress, command, view, true),
            Verb::FaceUp => self.switch_face(ingress, command, view, false),
            Verb::FaceLost => self.packet_given_up(ingress, command, view),
            Verb::StrategySet => self.choose_strategy(command, view),
            Verb::StrategyUnset => self.unset_strategy(command),
            Verb::CsConfig => Ok(Outcome::ContentStore(CsCommand::configure(&command))),
            Verb::CsErase => Ok(Outcome::ContentStore(CsCommand::erase(&command))),
        }
    }

    /// The face of a command: its ingress face, unless that is local and the command names another.
    fn commanded_face(
        &self,
        ingress: FaceId,
        scope: Scope,
        number_given: Option<u64>,
        view: &impl View,
    ) -> Result<FaceId, Rejection> {
        let Some(number) = number_given.filter(|number| *number != 0) else {
            return Ok(ingress);
        };
        let face = u32::try_from(number).map(FaceId).map_err(|_| Rejection::NO_FACE)?;
        let is_known = || self.registry.get(face).is_some() || view.is_up(face);
        match scope {
            _ if face == ingress => Ok(face),
            Scope::Localhop => Err(Rejection::NOT_ALLOWED),
            Scope::Localhost if is_known() => Ok(face),
            Scope::Localhost => Err(Rejection::NO_FACE),
        }
    }

    /// Handles a report of the node's owner.
    pub(crate) fn notice(&mut self, now: Instant, notice: Notice, view: &impl View) {
        self.shelf.invalidate();
        match notice {
            Notice::FaceKnown { face, description } => self.know_face(now, face, description),
            Notice::FaceGone { face } => self.lose_face(now, face),
            Notice::FaceMade { ticket, outcome } => self.order_done(ticket, outcome, view),
            Notice::Strategy { .. } => {}
            Notice::Channels(channels) => self.channels = channels,
            Notice::TimeOfDay { micros } => self.clock.set(now, TimeOfDay::at(now, micros)),
        }
    }
}
