//! The node answers applications and operators by NFD's management protocol.
//!
//! Management sits behind a face of its own ([`FaceId::MANAGEMENT`]) to which `/localhost/nfd` leads, so commands go
//! through the same pipelines and the same rules of scope as all Interests: they come from local faces only.
//! `/localhop/nfd` leads there if the node is told so; a peer on another machine can then ask for routes to itself.
//!
//! Tables are the node's own. Of faces it knows what its owner says ([`Notice`]), and has the owner open and close them
//! ([`FaceOrder`]).
//!
//! Source: NFD's wiki pages "Management", "ControlCommand" and those of the modules. Differences: in
//! [`Request::read`], [`Authority`] and the files of `management/`.
mod census;
mod dataset;
mod face;
mod order;
mod rib;
mod roster;
mod route;
mod strategy;

pub use order::{FaceDescription, FaceOrder, FaceRefusal, FaceSettings, Notice};

use crate::face::FaceId;
use crate::node::{Input, Node, Output};
use crate::shard::Task;
use dataset::Shelf;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::{AppInput, ReturnPath};
use recoup_transport::management::{
    Authority, AuthorityOptions, Command, ControlParameters, Refusal, Request, Scope, Verb,
    respond, respond_conflict,
};
use recoup_transport::time::{Instant, TimeOfDay};
use rib::{Registrant, Rib, RibFull, Route, STATIC};
use roster::{EventStream, Roster};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
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

/// What a node knows of its routes and faces, and commands that wait for their turn.
#[derive(Debug)]
pub(crate) struct Management {
    rib: Rib,
    limit: usize,
    /// What leads here and nowhere else.
    own: Vec<Name>,
    authority: Authority,
    version: String,
    roster: Roster,
    events: EventStream,
    shelf: Shelf,
    channels: Vec<String>,
    requests: VecDeque<Waiting>,
    /// Commands that the owner carries out, by the tickets of their orders.
    orders: BTreeMap<u64, Ordered>,
    next_ticket: u64,
    clock: Calendar,
    census: Census,
}

/// An Interest for the management.
#[derive(Debug)]
struct Waiting {
    interest: Arc<Interest>,
    ingress: FaceId,
    path: ReturnPath,
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

/// The calendar clock, as far as it was told.
#[derive(Clone, Copy, Debug, Default)]
struct Calendar {
    time: TimeOfDay,
    /// When it was told the first time.
    started: Option<Instant>,
}

impl Calendar {
    fn note(&mut self, now: Instant, time: TimeOfDay) {
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
    Farewell(ControlParameters, FaceOrder),
    /// The owner will say.
    Ordered(FaceOrder),
    /// All workers do it.
    Errand(Task),
}

impl Management {
    pub(crate) fn new(options: &ManagementOptions) -> Self {
        Self {
            rib: Rib::new(options.routes),
            limit: options.routes,
            own: Self::prefixes(options).collect(),
            authority: Authority::new(options.authority.clone()),
            version: options.version.clone(),
            roster: Roster::default(),
            events: EventStream::default(),
            shelf: Shelf::default(),
            channels: Vec::new(),
            requests: VecDeque::new(),
            orders: BTreeMap::new(),
            next_ticket: 1,
            clock: Calendar::default(),
            census: Census::default(),
        }
    }

    /// What leads to the management.
    pub(crate) fn prefixes(options: &ManagementOptions) -> impl Iterator<Item = Name> + use<> {
        let words = ["localhost", "localhop"].into_iter().take(1 + usize::from(options.localhop));
        words.map(|word| {
            [word, "nfd"].map(|it| Component::generic(it.as_bytes())).into_iter().collect()
        })
    }

    /// An Interest came for the management by `ingress`.
    pub(crate) fn ask(&mut self, interest: Arc<Interest>, ingress: FaceId, path: ReturnPath) {
        self.requests.push_back(Waiting { interest, ingress, path, counted: false });
    }

    /// When the first route ends by itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.rib.deadline()
    }
}

impl Node {
    /// Answers one request, or ends one route that is due; `false` if there is nothing to do.
    pub(crate) fn manage(&mut self, now: Instant) -> bool {
        let Some(management) = &mut self.management else {
            return false;
        };
        if let Some(changes) = management.rib.pop_expired(now) {
            self.follow_rib(now, &changes);
            return true;
        }
        let Some(waiting) = management.requests.pop_front() else {
            return false;
        };
        let Waiting { ref interest, ingress, path, .. } = waiting;
        if !self.can_answer(ingress) {
            // It was counted as dropped with the pending Interests of its face.
            return true;
        }
        match Request::read(interest) {
            Some(Ok(Request::Command(command))) => {
                self.on_command(now, ingress, interest, path, command);
            }
            Some(Ok(Request::Dataset(dataset, depth)))
                if self.is_to_be_counted(now, &waiting, &dataset, depth) =>
            {
                self.await_count(now, waiting);
            }
            Some(Ok(Request::Dataset(dataset, depth))) => {
                self.on_question(now, interest, path, &dataset, depth);
            }
            Some(Ok(Request::Events)) => self.on_vigil(now, interest, path),
            Some(Err(refusal)) => self.respond(now, &interest.name, path, &Err(refusal)),
            None => self.refusal(now, FaceId::MANAGEMENT, NackReason::NoRoute, path),
        }
        true
    }

    fn respond(
        &mut self,
        now: Instant,
        name: &Name,
        path: ReturnPath,
        outcome: &Result<ControlParameters, Refusal>,
    ) {
        self.answer(now, FaceId::MANAGEMENT, respond(name, outcome), path);
    }

    fn on_command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Interest,
        path: ReturnPath,
        command: Command,
    ) {
        let (name, verb) = (&interest.name, command.verb);
        match self.command(now, ingress, interest, command) {
            Ok(Outcome::Done(done)) => self.respond(now, name, path, &Ok(done)),
            Ok(Outcome::Conflict(there)) => {
                self.answer(now, FaceId::MANAGEMENT, respond_conflict(name, &there), path);
            }
            Ok(Outcome::Farewell(done, order)) => {
                self.respond(now, name, path, &Ok(done));
                self.outbox.outputs.push_back(Output::Order(Box::new(order)));
            }
            Ok(Outcome::Ordered(order)) => {
                if self.take_ticket(now, name, path, verb).is_some() {
                    self.outbox.outputs.push_back(Output::Order(Box::new(order)));
                }
            }
            Ok(Outcome::Errand(task)) => {
                if let Some(ticket) = self.take_ticket(now, name, path, verb) {
                    self.run_errand(now, ticket, task);
                }
            }
            Err(refusal) => self.respond(now, name, path, &Err(refusal)),
        }
    }

    /// Carries a command out, if who gave it may.
    fn command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Interest,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let management = self.management.as_mut().ok_or(Refusal::UNKNOWN)?;
        management.shelf.spoil();
        let of_rib = [Verb::RibRegister, Verb::RibUnregister, Verb::RibAnnounce];
        let is_rib = of_rib.contains(&command.verb);
        if command.scope == Scope::Localhop && !is_rib {
            return Err(Refusal::NOT_ALLOWED);
        }
        let (now_millis, start_millis) =
            (management.clock.millis(now), management.clock.start_millis());
        management.authority.check(interest, &command, now_millis, start_millis)?;
        // Who led commands elsewhere would be obeyed in our place.
        let is_way = is_rib || matches!(command.verb, Verb::FibAddNextHop | Verb::FibRemoveNextHop);
        let prefix = command.parameters.name.as_ref();
        if is_way && prefix.is_some_and(|it| management.own.iter().any(|own| own.is_prefix_of(it)))
        {
            return Err(OWN_PREFIX);
        }
        match command.verb {
            Verb::RibRegister => self.register(now, ingress, command),
            Verb::RibUnregister => self.unregister(now, ingress, command),
            Verb::RibAnnounce => self.announce(now, now_millis, ingress, command),
            Verb::FibAddNextHop => self.add_next_hop(now, ingress, command),
            Verb::FibRemoveNextHop => self.remove_next_hop(now, ingress, command),
            Verb::FaceCreate => self.create_face(command),
            Verb::FaceUpdate => self.update_face(ingress, command),
            Verb::FaceDestroy => Ok(self.destroy_face(ingress, command)),
            Verb::StrategySet => self.choose_strategy(command),
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
    ) -> Result<FaceId, Refusal> {
        let Some(number) = said.filter(|number| *number != 0) else {
            return Ok(ingress);
        };
        let face = u32::try_from(number).map(FaceId).map_err(|_| Refusal::NO_FACE)?;
        match scope {
            _ if face == ingress => Ok(face),
            Scope::Localhop => Err(Refusal::NOT_ALLOWED),
            Scope::Localhost if self.is_known(face) => Ok(face),
            Scope::Localhost => Err(Refusal::NO_FACE),
        }
    }

    /// Whether a face is up that a request came by. It can go down before the request is read, and a route that is added
    /// after its routes were removed would stay.
    fn can_answer(&self, ingress: FaceId) -> bool {
        ingress.app().is_some() || self.faces.get(ingress).is_some()
    }

    /// Whether a face is there, usable or not.
    fn is_known(&self, face: FaceId) -> bool {
        let known = self.management.as_ref().is_some_and(|it| it.roster.get(face).is_some());
        known || self.faces.get(face).is_some()
    }

    /// Something that the owner knows.
    pub(crate) fn on_notice(&mut self, now: Instant, notice: Notice) {
        if self.shard.is_some() {
            self.spread(&notice);
        } else if self.management.is_none() && !matches!(notice, Notice::TimeOfDay { .. }) {
            return;
        }
        self.heed(now, notice);
    }

    /// Something that the owner of this node, or of another worker, knows.
    pub(crate) fn heed(&mut self, now: Instant, notice: Notice) {
        if let Some(management) = &mut self.management {
            management.shelf.spoil();
        }
        match notice {
            Notice::FaceKnown { face, description } => self.know_face(now, face, description),
            Notice::FaceGone { face } => self.lose_face(now, face),
            Notice::FaceMade { ticket, outcome } => self.obeyed(now, ticket, outcome),
            Notice::Strategy { prefix, text: Some(text) } => {
                // The owner has read it before.
                let _ = self.set_strategy(&prefix, &text);
            }
            Notice::Strategy { prefix, text: None } => {
                if !prefix.is_empty() {
                    self.strategies.remove(&prefix);
                }
            }
            Notice::Channels(channels) => {
                if let Some(management) = &mut self.management {
                    management.channels = channels;
                }
            }
            Notice::TimeOfDay { micros } => {
                let time = TimeOfDay::at(now, micros);
                if let Some(management) = &mut self.management {
                    management.clock.note(now, time);
                }
                self.applications.tell_all(now, &AppInput::TimeOfDay(time));
            }
        }
    }
}

impl From<Notice> for Input {
    fn from(notice: Notice) -> Self {
        Self::Notice(Box::new(notice))
    }
}
