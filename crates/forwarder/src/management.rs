//! Management: a node answers applications and operators by NFD's management protocol.
//!
//! Management sits behind a face of its own ([`FaceId::MANAGEMENT`]) to which `/localhost/nfd` leads, so commands go
//! through the same pipelines and the same rules of scope as all Interests: they come from local faces only.
//! `/localhop/nfd` leads there if the node is told so; a peer on another machine can then ask for routes to itself.
//!
//! `Management` is a machine of its own. Interests enter it, and notices of the node's owner ([`Notice`]), who opens and
//! closes faces. What it reads of the other machines is a `View`; what it wants done are its `Effect`s, among them orders
//! to the owner ([`FaceOrder`]).
//!
//! Source: NFD's wiki pages "Management", "ControlCommand" and those of the modules. Differences: in
//! [`Request::read`], [`Authority`] and the files of `management/`.
mod census;
mod dataset;
mod face;
mod registry;
mod rib;
mod route;
mod strategy;
#[cfg(test)]
mod tests;

pub use crate::order::{FaceDescription, FaceOrder, FaceRefusal, FaceSettings, Notice};

use crate::face::FaceId;
use crate::order::ManagementRequest;
use crate::shard::{RingTask, Task};
use crate::strategy::ForwardingStrategy;
use crate::table::RouteChange;
use crate::tally::Tally;
use dataset::DatasetCache;
pub(crate) use dataset::node_status;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    Authority, AuthorityOptions, Command, ControlParameters, CsInfo, FaceCounters, FibEntry,
    Refusal, Request, Scope, StrategyChoice, Verb, respond, respond_conflict,
};
use recoup_transport::time::{Instant, TimeOfDay};
use registry::{EventStream, FaceRegistry};
use rib::{Registrant, Rib, RibFull, Route, STATIC};
use std::collections::{BTreeMap, VecDeque};
pub(crate) use strategy::strategy_choice;
use strategy::{configure_cs, erase_cs};

const OWN_PREFIX: Refusal = Refusal {
    code: 403,
    text: "not allowed: commands come by this prefix, and nothing leads it elsewhere",
};

/// Orders that may wait for the owner.
const MAX_ORDERS: usize = 64;

/// Settings of a node's management.
#[derive(Clone, Debug)]
pub struct ManagementOptions {
    /// Peers on other machines may ask for routes to themselves (`/localhop/nfd/rib`).
    pub localhop: bool,
    /// Most routes that there may be, configured ones included; and most prefixes with next hops, or with a strategy.
    pub routes: usize,
    /// Whose commands are carried out.
    pub authority: AuthorityOptions,
    /// What runs, and its version, for `status/general`.
    pub version: String,
}

impl Default for ManagementOptions {
    fn default() -> Self {
        let (authority, version) = (AuthorityOptions::default(), "recoup".to_owned());
        Self { localhop: false, routes: 1 << 16, authority, version }
    }
}

/// What the management reads of the other machines of its node.
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
    /// What a face carried since it came up, at all workers.
    fn carried(&self, face: FaceId) -> FaceCounters;
    /// All prefixes with next hops, in canonical order.
    fn fib_entries(&self) -> Vec<FibEntry>;
    /// All choices of strategies, by prefix in canonical order.
    fn strategy_choices(&self) -> Vec<StrategyChoice>;
    /// What is known of the content stores of all workers.
    fn cs_info(&self) -> CsInfo;
    /// What all workers have together.
    fn total(&self) -> Tally;
}

/// What the management wants done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Answer an Interest.
    Answer { path: ReturnPath, data: Data },
    /// Reject an Interest.
    Reject { path: ReturnPath, reason: NackReason },
    /// Change the forwarding table.
    Route(RouteChange),
    /// Have a strategy decide below a prefix, at other workers by its text.
    SetStrategy { prefix: Name, text: String, strategy: Box<dyn ForwardingStrategy> },
    /// Have the strategy of the next shorter prefix decide below a prefix.
    UnsetStrategy { prefix: Name },
    /// The owner opens, changes or closes a face.
    Order(FaceOrder),
    /// All workers carry out a task, after which [`Management::task_done`] is to be called.
    Task(RingTask),
}

/// The management of a node: its routing table, what it knows of faces, and commands that wait for their turn.
#[derive(Debug)]
pub(crate) struct Management {
    rib: Rib,
    limit: usize,
    /// Prefixes that lead to the management and nowhere else.
    own: Vec<Name>,
    authority: Authority,
    version: String,
    registry: FaceRegistry,
    events: EventStream,
    shelf: DatasetCache,
    channels: Vec<String>,
    requests: VecDeque<Waiting>,
    /// Commands that the owner carries out, by the tickets of their orders.
    orders: BTreeMap<u64, Ordered>,
    next_ticket: u64,
    clock: Calendar,
    census: Census,
    /// There are other workers, to be counted for some datasets.
    counts_others: bool,
    effects: VecDeque<Effect>,
}

/// A request in the queue.
#[derive(Debug)]
struct Waiting {
    request: ManagementRequest,
    /// What other workers have was counted after it came.
    counted: bool,
}

/// Requests for what all workers have together.
#[derive(Debug, Default)]
struct Census {
    /// They wait until it is counted.
    counting: Vec<Waiting>,
    /// They came meanwhile.
    next: Vec<Waiting>,
}

/// A command that the owner carries out.
#[derive(Debug)]
struct Ordered {
    name: Name,
    path: ReturnPath,
    verb: Verb,
}

/// The calendar clock, as far as it was set.
#[derive(Clone, Copy, Debug, Default)]
struct Calendar {
    time: TimeOfDay,
    /// When it was set the first time.
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

    /// The time of day at the start, by the clock as it is set now: milliseconds since 1970.
    fn start_millis(self) -> u64 {
        self.time.millis(self.started.unwrap_or_default())
    }
}

/// What follows from a command that may be carried out.
#[derive(Debug)]
enum Outcome {
    /// It was done.
    Done(ControlParameters),
    /// What it makes is there already.
    Conflict(ControlParameters),
    /// It is done when the owner has carried this out, after it was answered.
    DoneThenOrder(ControlParameters, FaceOrder),
    /// The owner carries it out, and it is answered then.
    Ordered(FaceOrder),
    /// All workers carry it out.
    Task(Task),
}

impl Management {
    /// `counts_others` if the node is one of several workers.
    pub(crate) fn new(options: &ManagementOptions, counts_others: bool) -> Self {
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
            census: Census::default(),
            counts_others,
            effects: VecDeque::new(),
        }
    }

    /// What leads to the management.
    pub(crate) fn prefixes(options: &ManagementOptions) -> impl Iterator<Item = Name> + use<> {
        let words = ["localhost", "localhop"].into_iter().take(1 + usize::from(options.localhop));
        words.map(|word| {
            [word, "nfd"].map(|it| Component::generic(it.as_bytes())).into_iter().collect()
        })
    }

    /// An Interest arrives for the management.
    pub(crate) fn request(&mut self, request: ManagementRequest) {
        self.requests.push_back(Waiting { request, counted: false });
    }

    /// When the first route ends by itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.rib.deadline()
    }

    /// What is to be done next.
    pub(crate) fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Answers one request, or ends one route that is due; `false` if there is nothing to do.
    pub(crate) fn step(&mut self, now: Instant, view: &impl View) -> bool {
        if let Some(changes) = self.rib.pop_expired(now) {
            self.follow_rib(changes);
            return true;
        }
        let Some(waiting) = self.requests.pop_front() else {
            return false;
        };
        let ManagementRequest { ref interest, ingress, path } = waiting.request;
        if !(ingress.app().is_some() || view.is_up(ingress)) {
            // Its face can go down before the request is read, and a route that is added after the routes of the face were
            // removed would stay. The Interest was counted as dropped with its face.
            return true;
        }
        match Request::read(interest) {
            Some(Ok(Request::Command(command))) => {
                self.on_command(now, ingress, interest, path, command, view);
            }
            Some(Ok(Request::Dataset(dataset, depth)))
                if self.is_to_be_counted(now, &waiting, &dataset, depth) =>
            {
                self.await_count(waiting);
            }
            Some(Ok(Request::Dataset(dataset, depth))) => {
                self.on_dataset(now, interest, path, &dataset, depth, view);
            }
            Some(Ok(Request::Events)) => self.on_event_request(now, interest, path),
            Some(Err(refusal)) => self.respond(&interest.name, path, &Err(refusal)),
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
        outcome: &Result<ControlParameters, Refusal>,
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
            Ok(Outcome::Ordered(order)) => {
                if self.take_ticket(name, path, verb).is_some() {
                    self.effects.push_back(Effect::Order(order));
                }
            }
            Ok(Outcome::Task(task)) => {
                if let Some(ticket) = self.take_ticket(name, path, verb) {
                    self.effects.push_back(Effect::Task(RingTask { ticket, task }));
                }
            }
            Err(refusal) => self.respond(name, path, &Err(refusal)),
        }
    }

    /// Carries a command out, if its sender may give it.
    fn command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Interest,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Refusal> {
        self.shelf.invalidate();
        let of_rib = [Verb::RibRegister, Verb::RibUnregister, Verb::RibAnnounce];
        let is_rib = of_rib.contains(&command.verb);
        if command.scope == Scope::Localhop && !is_rib {
            return Err(Refusal::NOT_ALLOWED);
        }
        let (now_millis, start_millis) = (self.clock.millis(now), self.clock.start_millis());
        self.authority.check(interest, &command, now_millis, start_millis)?;
        // A route for the prefix of commands would lead them elsewhere.
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
            Verb::StrategySet => self.choose_strategy(command, view),
            Verb::StrategyUnset => self.unset_strategy(command),
            Verb::CsConfig => Ok(configure_cs(&command)),
            Verb::CsErase => Ok(erase_cs(&command)),
        }
    }

    /// The face that a command means: its own, unless it is local and names another.
    fn commanded_face(
        &self,
        ingress: FaceId,
        scope: Scope,
        said: Option<u64>,
        view: &impl View,
    ) -> Result<FaceId, Refusal> {
        let Some(number) = said.filter(|number| *number != 0) else {
            return Ok(ingress);
        };
        let face = u32::try_from(number).map(FaceId).map_err(|_| Refusal::NO_FACE)?;
        let is_known = || self.registry.get(face).is_some() || view.is_up(face);
        match scope {
            _ if face == ingress => Ok(face),
            Scope::Localhop => Err(Refusal::NOT_ALLOWED),
            Scope::Localhost if is_known() => Ok(face),
            Scope::Localhost => Err(Refusal::NO_FACE),
        }
    }

    /// What the owner of the node reports, as far as it concerns the management.
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
