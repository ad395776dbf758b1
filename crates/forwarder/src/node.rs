//! The node: a forwarder with its applications, the only machine that a driver drives.
//!
//! A node is composed of four machines, each of which owns its state and can be tested alone:
//! the tables and pipelines ([`forwarding`](crate::forwarding)), the links of its faces ([`link`](crate::link)), the attached
//! applications, and the [`management`](crate::management). The node passes messages between them.
mod edge;
mod faces;
mod frames;
mod held;
mod manage;
mod view;

pub use crate::message::{Input, Output};
pub use crate::table::RouteChange;

use crate::application::Applications;
use crate::counters::QueueState;
use crate::face::{AppId, FaceId, FaceUse};
use crate::forwarding::Forwarder;
use crate::hash::NameHasher;
use crate::link::Links;
use crate::management::Management;
use crate::observer::Observer;
use crate::options::NodeConfig;
use crate::outbox::Outbox;
use crate::strategy::Strategy;
use crate::table::NextHop;
use edge::Surroundings;
use held::Held;
use recoup_packet::name::Name;
use recoup_transport::application::{AppOutput, Application};
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::time::Instant;
use std::collections::BTreeMap;

/// A node: a forwarder with its applications.
///
/// Applications are behind faces of their own: their Interests enter the same pipelines as those of neighbours. A face that
/// leads [upstream](crate::face::FaceAttributes::upstream) becomes a next hop of "/" while it is up, the one with the lowest number
/// first; an application's prefixes lead to it. The observer `O` is `()` for nodes on real sockets.
pub struct Node<O: Observer = ()> {
    forwarder: Forwarder<Surroundings<O>>,
    management: Option<Management>,
    /// Faces that are down although their links are up.
    held: BTreeMap<FaceId, Held>,
    /// No timer is due at this time, and the management has nothing to do. `None` once something has happened.
    idle_at: Option<Instant>,
}

impl Node {
    /// A node for simulations and tests, with the default options: a run with the same seed repeats.
    #[must_use]
    pub fn deterministic(seed: u64) -> Self {
        Self::new(NodeConfig::deterministic(seed))
    }

    /// A node without faces and applications.
    #[must_use]
    pub fn new(config: NodeConfig) -> Self {
        Self::observed(config, ())
    }
}

impl<O: Observer> Node<O> {
    /// A node without faces and applications, with its observer.
    #[must_use]
    pub fn observed(config: NodeConfig, observer: O) -> Self {
        let hasher = NameHasher::new(config.hash_seed);
        let links = Links::new(hasher, config.rng.clone(), config.scheduling);
        let mut forwarder = Forwarder::new(&config, Surroundings::new(links, observer));
        // Without mobility, a face that is down costs what an unanswered Interest costs.
        if config.management.is_some() && !config.options.mobility.is_off() {
            forwarder.edge.links.watch();
        }
        for prefix in config.management.iter().flat_map(Management::prefixes) {
            forwarder.fib.insert(&prefix, FaceId::MANAGEMENT, 0);
        }
        Self {
            forwarder,
            management: config.management.as_ref().map(Management::new),
            held: BTreeMap::new(),
            idle_at: None,
        }
    }

    #[inline]
    fn out(&mut self) -> &mut Outbox<O> {
        &mut self.forwarder.edge.out
    }

    #[inline]
    fn links(&self) -> &Links {
        &self.forwarder.edge.links
    }

    #[inline]
    fn applications(&mut self) -> &mut Applications {
        &mut self.forwarder.edge.applications
    }

    /// The links, and the outputs that they add to.
    #[inline]
    fn links_and_out(&mut self) -> (&mut Links, &mut Outbox<O>) {
        let Surroundings { links, out, .. } = &mut self.forwarder.edge;
        (links, out)
    }

    /// Attaches an application that answers Interests below `prefixes`.
    pub fn attach(
        &mut self,
        now: Instant,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        self.idle_at = None;
        let app = self.applications().attach(application, prefixes.clone());
        self.forwarder.add_application(app, &prefixes);
        if let Some(input) = self.forwarder.uplink_input() {
            self.applications().deliver(now, app, input);
        }
        app
    }

    /// Removes an application, with all its outputs that were not returned. Its number may be reused.
    pub fn detach(&mut self, app: AppId) {
        self.idle_at = None;
        if let Some(prefixes) = self.applications().detach(app) {
            self.out().forget(app);
            self.forwarder.remove_application(app, &prefixes);
        }
    }

    /// Detects neighbours on other machines that fall silent, or that are replaced by others. A node with management
    /// and mobility detects them without this call.
    pub fn watch_neighbours(&mut self) {
        self.forwarder.edge.links.watch();
    }

    /// Sets the strategy of `prefix`.
    pub fn set_strategy(&mut self, prefix: &Name, strategy: &Strategy) {
        self.forwarder.strategies.insert(prefix, strategy.build());
    }

    /// All routes, by prefix in canonical order.
    pub fn routes(&self) -> impl Iterator<Item = (&Name, &[NextHop])> {
        self.forwarder.fib.iter()
    }

    /// Number of Data packets in the content store.
    #[must_use]
    pub fn cs_len(&self) -> usize {
        self.forwarder.cs.len()
    }

    /// Number of pending Interests.
    #[must_use]
    pub fn pit_len(&self) -> usize {
        self.forwarder.pit.len()
    }

    /// Slots of the PIT that a face takes, if faces are limited.
    #[must_use]
    pub fn slots(&self, face: FaceId) -> usize {
        self.forwarder.faces.get(face).map_or(0, |face| face.share.slots)
    }

    /// Use of a network face.
    #[must_use]
    pub fn face_use(&self, face: FaceId) -> FaceUse {
        FaceUse {
            routes: self.forwarder.faces.has_routes_to(face),
            pending: self.forwarder.faces.has_pending(face),
            answered: self.links().counters(face).out_data > 0,
        }
    }

    /// Length of the queue of a face that is up: at its scheduler, and at its link if it is a value face. `None`
    /// without queue.
    #[must_use]
    pub fn queue(&self, face: FaceId) -> Option<QueueState> {
        self.links().queue(face)
    }

    /// Counters of the recovery of a face; `None` if it has none.
    #[must_use]
    pub fn recovery(&self, face: FaceId) -> Option<Counters> {
        self.links().recovery(face)
    }

    /// Whether both ends of the link of a face recover losses.
    #[must_use]
    pub fn link_recovery(&self, face: FaceId) -> Agreement {
        self.links().agreement(face)
    }

    /// Counters of the recoveries of all faces, past ones included; `None` if there never was one.
    #[must_use]
    pub fn recovered(&self) -> Option<Counters> {
        self.links().recovered()
    }

    /// The hasher of the node's names, to build [`Packet`](crate::packet::Packet)s with.
    #[must_use]
    pub fn hasher(&self) -> &NameHasher {
        &self.forwarder.hasher
    }

    // --- inputs, outputs, timers ----------------------------------------------------------------

    /// Handles one input.
    // Inlined: the match on the input disappears where a driver constructs it.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, input: Input) {
        self.idle_at = None;
        match input {
            Input::Frame { face, frame } => self.on_frame(now, face, 0, frame),
            Input::FrameFrom { face, sender, frame } => self.on_frame(now, face, sender, frame),
            Input::Packet { face, packet } => self.on_packet(now, face, packet),
            Input::Ready { face } => {
                let (links, out) = self.links_and_out();
                links.ready(now, face, out);
            }
            Input::Busy { face, until } => self.forwarder.edge.links.busy(face, until),
            Input::Backlog { face, bytes } => self.forwarder.edge.links.backlog(face, bytes),
            Input::Overflowed { face, frame } => {
                self.forwarder.edge.links.overflowed(face, frame);
            }
            Input::App { app, input } => {
                self.applications().deliver(now, app, *input);
            }
            Input::FaceUp { face, attributes } => self.on_face_up(now, face, attributes),
            Input::FaceDown { face } => self.on_face_down(now, face),
            Input::Route(change) => self.on_static_route(now, &change),
            Input::Schedule { face, scheduling } => {
                let (links, out) = self.links_and_out();
                links.plan(now, face, *scheduling, out);
            }
            Input::Notice(notice) => self.on_notice(now, *notice),
        }
    }

    /// Fires expired timers and returns one output. Call it until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        if self.out().outputs.is_empty() {
            return self.poll_further(now);
        }
        self.out().outputs.pop_front()
    }

    /// As [`poll`](Self::poll), without outputs in the queue.
    fn poll_further(&mut self, now: Instant) -> Option<Output> {
        loop {
            if !self.out().outputs.is_empty() {
                return self.out().outputs.pop_front();
            }
            // Reports of applications, of which there are several for each packet, arm no timer.
            if self.idle_at != Some(now) {
                if self.is_due(now) && self.fire(now)
                    || self.management.is_some() && self.manage(now)
                {
                    continue;
                }
                self.idle_at = Some(now);
            }
            match self.applications().poll(now)? {
                // The outbox is empty, so the report may precede it.
                (app, AppOutput::Report(report)) => return Some(Output::App { app, report }),
                (app, output) => {
                    self.idle_at = None;
                    self.carry_out(now, app, output);
                }
            }
        }
    }

    /// Time of the next call of [`poll`](Self::poll) if no input comes.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let management = self.management.as_ref().and_then(Management::deadline);
        let packets = earlier(self.forwarder.deadline(), self.links().deadline());
        earlier(packets, earlier(management, self.forwarder.edge.applications.deadline()))
    }

    /// Whether a timer has expired.
    #[inline]
    fn is_due(&self, now: Instant) -> bool {
        let is_due = |deadline: Option<Instant>| deadline.is_some_and(|at| at <= now);
        is_due(self.forwarder.deadline()) || is_due(self.links().deadline())
    }

    /// Handles one expired timer; `false` if there is none.
    #[inline(never)]
    fn fire(&mut self, now: Instant) -> bool {
        if self.forwarder.fire(now) {
            return true;
        }
        let (links, out) = self.links_and_out();
        match links.fire(now, out) {
            Some(Some(face)) => {
                self.drain(now, face);
                if self.links().is_silent(face) {
                    self.on_face_silent(now, face);
                }
            }
            Some(None) => {}
            None => return false,
        }
        true
    }

    // --- applications ---------------------------------------------------------------------------

    /// Handles an output of an application.
    #[inline(never)]
    fn carry_out(&mut self, now: Instant, app: AppId, output: AppOutput) {
        let face = FaceId::of_app(app);
        match output {
            AppOutput::Report(report) => self.out().push(Output::App { app, report }),
            AppOutput::Interest(interest) => {
                let nonce = self.applications().flow_nonce(app);
                self.forwarder.express(now, app, interest, None, nonce);
            }
            AppOutput::InterestWith { interest, fields } => {
                let nonce = self.applications().flow_nonce(app);
                self.forwarder.express(now, app, interest, Some(*fields), nonce);
            }
            AppOutput::Data { data, path } => self.forwarder.answer(now, face, data, path),
            AppOutput::Nack { reason, path } => self.forwarder.reject(now, face, reason, path),
            AppOutput::KeepAlive => self.forwarder.keep_alive(now),
        }
    }
}

#[inline]
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Interface between a driver and its state machine; [`Node`] is the usual one.
///
/// A driver passes all inputs to it, polls outputs until there are none, and calls it again at the deadline at the
/// latest.
pub trait Machine {
    /// Handles one input.
    fn handle(&mut self, now: Instant, input: Input);
    /// Fires expired timers and returns one output. Call it until it returns `None`.
    fn poll(&mut self, now: Instant) -> Option<Output>;
    /// Time of the next call of [`poll`](Self::poll) if no input comes.
    fn deadline(&self) -> Option<Instant>;
    /// Use of a face, as far as the machine knows.
    fn face_use(&self, face: FaceId) -> FaceUse {
        let _ = face;
        FaceUse::default()
    }
}

impl<O: Observer> Machine for Node<O> {
    fn handle(&mut self, now: Instant, input: Input) {
        Self::handle(self, now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        Self::poll(self, now)
    }

    fn deadline(&self) -> Option<Instant> {
        Self::deadline(self)
    }

    fn face_use(&self, face: FaceId) -> FaceUse {
        Self::face_use(self, face)
    }
}
