//! The node: a forwarder with its applications, the only machine that a driver drives.
//!
//! A node is composed of four machines, each of which owns its state and can be tested alone:
//! the tables and pipelines ([`forwarding`](crate::forwarding)), the links of its faces ([`link`](crate::link)), the attached
//! applications, and the [`management`](crate::management). The node passes messages between them.
mod edge;
mod view;
mod worker;

pub use crate::message::{Input, Output};
pub use crate::table::RouteChange;

use crate::application::Applications;
use crate::counters::QueueState;
use crate::drop::DropReason;
use crate::face::{AppId, FaceAttributes, FaceId, FaceUse};
use crate::forwarding::{FaceLoss, Forwarder};
use crate::hash::NameHasher;
use crate::link::{Links, Lost, Received, Whole};
use crate::management::{Effect, Management, Notice};
use crate::observer::Observer;
use crate::options::{NodeOptions, share_of_face};
use crate::outbox::Outbox;
use crate::packet::{Body, Kind, Packet};
use crate::shard::{Shard, Worker, WorkerMessage};
use crate::strategy;
use crate::table::NextHop;
use bytes::Bytes;
use edge::Surroundings;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::name::Name;
use recoup_packet::tlv::typ;
use recoup_transport::application::{AppInput, AppOutput, Application};
use recoup_transport::link::recovery::{Agreement, Counters};
use recoup_transport::management::FaceCounters;
use recoup_transport::spec::SpecError;
use recoup_transport::time::{Instant, TimeOfDay};
use std::sync::Arc;
use view::NodeView;

/// A node: a forwarder with its applications.
///
/// Applications are behind faces of their own: their Interests enter the same pipelines as those of neighbours. A face that
/// leads [upstream](FaceAttributes::upstream) becomes a next hop of "/" while it is up, the one with the lowest number
/// first; an application's prefixes lead to it. The observer `O` is `()` for nodes on real sockets.
pub struct Node<O: Observer = ()> {
    forwarder: Forwarder<Surroundings<O>>,
    management: Option<Management>,
    /// Identity and state of the node as a worker, if it is one.
    shard: Option<Box<Shard>>,
}

impl Node {
    /// A node for simulations and tests, with the default options: a run with the same seed repeats.
    ///
    /// # Panics
    /// Never: the default strategy is one of those that there are.
    #[must_use]
    pub fn deterministic(seed: u64) -> Self {
        Self::with_options(NodeOptions::deterministic(seed)).expect("the default options are right")
    }

    /// A node without faces and applications.
    ///
    /// # Errors
    /// The name of the strategy is unknown.
    pub fn with_options(options: NodeOptions) -> Result<Self, SpecError> {
        Self::observed(options, ())
    }
}

impl<O: Observer> Node<O> {
    /// A node without faces and applications, with its observer.
    ///
    /// # Errors
    /// The name of the strategy is unknown.
    pub fn observed(options: NodeOptions, observer: O) -> Result<Self, SpecError> {
        let options = options.of_worker();
        let hasher = NameHasher::new(options.hash_seed);
        let links = Links::new(hasher.clone(), options.rng.clone(), options.scheduling);
        let mut forwarder = Forwarder::new(&options, Surroundings::new(links, observer))?;
        for prefix in options.management.iter().flat_map(Management::prefixes) {
            forwarder.fib.insert(&prefix, FaceId::MANAGEMENT, 0);
        }
        let counts_others = options.shard.is_some();
        Ok(Self {
            forwarder,
            management: options.management.as_ref().map(|it| Management::new(it, counts_others)),
            shard: options.shard.map(|it| Box::new(Shard::new(it, hasher))),
        })
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
        let app = self.applications().attach(application, prefixes.clone());
        self.forwarder.add_application(app, &prefixes);
        if let Some(input) = self.forwarder.uplink_input() {
            self.applications().deliver(now, app, input);
        }
        app
    }

    /// Removes an application, with all its outputs that were not returned. Its number may be reused.
    pub fn detach(&mut self, app: AppId) {
        if let Some(prefixes) = self.applications().detach(app) {
            self.out().forget(app);
            self.forwarder.remove_application(app, &prefixes);
        }
    }

    /// Sets the strategy of `prefix` to the one in `text`.
    ///
    /// # Errors
    /// The text is invalid.
    pub fn set_strategy(&mut self, prefix: &Name, text: &str) -> Result<(), SpecError> {
        let strategy = strategy::parse(text)?;
        self.forwarder.strategies.insert(prefix, strategy);
        Ok(())
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

    /// The hasher of the node's names, to build [`Packet`]s with.
    #[must_use]
    pub fn hasher(&self) -> &NameHasher {
        &self.forwarder.hasher
    }

    // --- inputs, outputs, timers ----------------------------------------------------------------

    /// Handles one input.
    // Inlined: the match on the input disappears where a driver constructs it.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, input: Input) {
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
                self.send_as_leader(|| WorkerMessage::Schedule {
                    face,
                    scheduling: scheduling.clone(),
                });
                let (links, out) = self.links_and_out();
                links.plan(now, face, *scheduling, out);
            }
            Input::Notice(notice) => self.on_notice(now, *notice),
            Input::Worker(message) => self.on_message(now, message),
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
            if self.fire(now) || self.manage(now) {
                continue;
            }
            match self.applications().poll(now)? {
                // The outbox is empty, so the report may precede it.
                (app, AppOutput::Report(report)) => return Some(Output::App { app, report }),
                (app, output) => self.carry_out(now, app, output),
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

    /// Handles one expired timer; `false` if there is none.
    fn fire(&mut self, now: Instant) -> bool {
        if self.forwarder.fire(now) {
            return true;
        }
        let (links, out) = self.links_and_out();
        match links.fire(now, out) {
            Some(Some(face)) => self.drain(now, face),
            Some(None) => {}
            None => return false,
        }
        true
    }

    // --- applications ---------------------------------------------------------------------------

    /// Handles an output of an application.
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
        }
    }

    // --- links ----------------------------------------------------------------------------------

    /// Handles an arriving frame.
    #[inline]
    fn on_frame(&mut self, now: Instant, id: FaceId, sender: u64, frame: Bytes) {
        match self.forwarder.edge.links.arrives(id, &frame) {
            Ok(true) => self.read(now, id, None, frame),
            Ok(false) => self.on_framed(now, id, sender, frame),
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Handles an arriving frame with more than a bare packet, or on a link with recovery.
    fn on_framed(&mut self, now: Instant, id: FaceId, sender: u64, frame: Bytes) {
        let Received { whole, drains } = self.forwarder.edge.links.receive(now, id, sender, frame);
        if drains {
            self.drain(now, id);
        }
        let (links, out) = self.links_and_out();
        links.settle_fragments(id, out);
        match whole {
            Ok(None) => {}
            Ok(Some(Whole { header, packet })) => self.read(now, id, header.as_ref(), packet),
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Decodes a whole network packet that came behind `header`, or bare.
    // Inlined: the parts of a packet stay in registers without a call in between.
    #[inline(always)]
    fn read(&mut self, now: Instant, id: FaceId, header: Option<&LpHeader>, packet: Bytes) {
        if self.shard.is_some() {
            return self.read_as_worker(now, id, header, packet);
        }
        match self.forwarder.decode(header, &packet) {
            Ok(read) => {
                let may_leave = read.kind() == Kind::Interest;
                if may_leave {
                    self.forwarder.edge.links.wire_buffers().came = read.leaves_as(packet);
                }
                self.forwarder.receive(now, id, read);
                if may_leave {
                    self.forwarder.edge.links.wire_buffers().came = None;
                }
            }
            Err(reason) => self.out().dropped(id, None, reason),
        }
    }

    /// Handles an arriving packet of a value face.
    #[inline]
    fn on_packet(&mut self, now: Instant, id: FaceId, packet: Packet) {
        if !self.links().any_recovers() {
            return self.forwarder.receive(now, id, packet);
        }
        self.on_packet_recovering(now, id, packet);
    }

    fn on_packet_recovering(&mut self, now: Instant, id: FaceId, packet: Packet) {
        let mut drains = false;
        let received = self.forwarder.edge.links.receive_value(now, id, packet, &mut drains);
        if drains {
            self.drain(now, id);
        }
        match received {
            Ok(Some(packet)) => self.forwarder.receive(now, id, packet),
            Ok(None) => {}
            Err(duplicate) => self.out().drop_packet(id, &duplicate, DropReason::Repeated),
        }
    }

    /// Sends the frames of a link's recovery, and reports its losses.
    fn drain(&mut self, now: Instant, id: FaceId) {
        let (links, out) = self.links_and_out();
        for lost in links.drain(now, id, out) {
            self.on_lost(now, id, lost);
        }
        let (links, out) = self.links_and_out();
        links.settle(now, id, out);
    }

    /// Handles a packet that a link lost and does not resend.
    fn on_lost(&mut self, now: Instant, id: FaceId, lost: Lost) {
        let (kind, body) = match lost {
            // Its traces ended with the lost frame.
            Lost::Packet(packet) => (Some(packet.kind()), Some(packet.body)),
            Lost::Bytes(packet) => {
                let body = body(packet);
                let kind = body.as_ref().map(|body| match body {
                    Body::Interest(_) => Kind::Interest,
                    _ => Kind::Data,
                });
                (kind, body)
            }
            Lost::Fragment => (None, None),
        };
        self.out().dropped(id, kind, DropReason::LinkLoss);
        match body {
            Some(Body::Interest(interest)) if self.forward_lost(id, &interest) => {}
            Some(body) => self.forwarder.packet_lost(now, id, &body),
            None => {}
        }
    }

    // --- faces and routes -----------------------------------------------------------------------

    /// Handles a face of this node that is up.
    fn on_face_up(&mut self, now: Instant, id: FaceId, attributes: FaceAttributes) {
        if let Some(worker) = self.shard.as_ref().map(|shard| shard.worker()) {
            let attributes = || Box::new(attributes);
            let message = || WorkerMessage::FaceUp { face: id, worker, attributes: attributes() };
            self.send_to_all(message);
        }
        self.face_up(now, id, attributes, None);
    }

    /// Handles a face that is up, or has changed, here or `elsewhere`.
    fn face_up(
        &mut self,
        now: Instant,
        id: FaceId,
        mut attributes: FaceAttributes,
        elsewhere: Option<Worker>,
    ) {
        if let Some(shard) = &self.shard {
            attributes.limits = attributes.limits.map(|it| share_of_face(it, &shard.options));
        }
        let known = self.forwarder.faces.get(id).is_some();
        let stays = self.forwarder.edge.links.up(id, &attributes, elsewhere);
        self.forwarder.face_up(id, attributes, stays);
        if let Some(management) = &mut self.management {
            management.face_up(now, id);
            self.follow_management(now);
        }
        let (links, out) = self.links_and_out();
        links.open(now, id, &attributes, out);
        self.drain(now, id);
        self.forwarder.face_ready(now, id, attributes.upstream, known);
    }

    /// Handles a face of this node that is down, for good if it is not permanent.
    fn on_face_down(&mut self, now: Instant, id: FaceId) {
        self.send_to_all(|| WorkerMessage::FaceDown { face: id });
        self.face_down(now, id);
    }

    fn face_down(&mut self, now: Instant, id: FaceId) {
        let Some(face) = self.forwarder.faces.down(id) else {
            return;
        };
        let permanent = face.attributes.permanent;
        let (links, out) = self.links_and_out();
        let Some(closed) = links.down(now, id, permanent, out) else {
            return;
        };
        let mut carried = face.received;
        carried.add(&closed.counters);
        self.face_carried(now, id, &carried, permanent);
        let asked = closed.counters.out_interests > 0;
        if !permanent {
            // A search of all measurements costs too much for a face without answers.
            let is_measured =
                asked || closed.is_elsewhere || self.forwarder.faces.has_routes_to(id);
            self.forwarder.record_losses(now, id);
            self.forget_routes(now, id);
            if is_measured {
                self.forwarder.measurements.forget_face(id);
            }
        }
        let is_listed = !permanent && self.forwarder.faces.is_counting();
        let tickets = is_listed.then_some(face.share.tickets);
        self.forwarder.face_down(now, FaceLoss { face: id, asked }, tickets);
    }

    /// Adds the counters of a face that went down.
    fn face_carried(&mut self, now: Instant, id: FaceId, carried: &FaceCounters, permanent: bool) {
        if let Some(management) = &mut self.management {
            management.face_down(now, id, carried, permanent);
            self.follow_management(now);
        } else if let Some(shard) = &mut self.shard {
            match permanent {
                true => shard.carried.entry(id).or_default().add(carried),
                false => shard.past.add(carried),
            }
        }
    }

    /// Adds, changes or removes a configured route.
    fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        match &mut self.management {
            Some(management) => {
                management.set_static_route(change);
                self.follow_management(now);
            }
            None => self.change_route(now, change),
        }
    }

    /// Adds, changes or removes a next hop, at all workers.
    fn change_route(&mut self, now: Instant, change: &RouteChange) {
        self.send_as_leader(|| WorkerMessage::Route(Box::new(change.clone())));
        self.forwarder.change_route(now, change);
    }

    /// Removes the routes of a face that is gone for good. Only the leader knows the prefixes of a face without a
    /// search of all of them. Other workers keep the routes until the leader names them, and send nothing to a face
    /// that is down.
    fn forget_routes(&mut self, now: Instant, face: FaceId) {
        // The upstream route is at "/", and is not counted.
        self.forwarder.fib.remove(&Name::root(), face);
        if self.shard.as_ref().is_some_and(|shard| !shard.leads()) {
            return;
        }
        let changes = self.management.as_mut().map(|it| it.forget_routes(face));
        let (gone, others): (Vec<_>, Vec<_>) = changes
            .unwrap_or_default()
            .into_iter()
            .partition(|it| it.face == face && it.cost.is_none());
        let prefixes: Vec<Name> = gone.into_iter().map(|change| change.prefix).collect();
        if !prefixes.is_empty() || self.forwarder.faces.has_routes_to(face) {
            self.send_as_leader(|| WorkerMessage::RoutesGone { face, prefixes: prefixes.clone() });
        }
        self.forwarder.remove_routes(face, &prefixes);
        others.iter().for_each(|change| self.change_route(now, change));
    }

    // --- management -----------------------------------------------------------------------------

    /// Handles one request, or one expired route; `false` if there is neither.
    fn manage(&mut self, now: Instant) -> bool {
        let Self { forwarder, management: Some(management), shard } = self else {
            return false;
        };
        while let Some(request) = forwarder.edge.requests.pop_front() {
            management.request(request);
        }
        let did = management.step(now, &NodeView { forwarder, shard: shard.as_deref() });
        self.follow_management(now);
        did
    }

    /// Handles the outputs of the management.
    fn follow_management(&mut self, now: Instant) {
        while let Some(effect) = self.management.as_mut().and_then(Management::poll) {
            match effect {
                Effect::Answer { path, data } => {
                    self.forwarder.answer(now, FaceId::MANAGEMENT, data, path);
                }
                Effect::Reject { path, reason } => {
                    self.forwarder.reject(now, FaceId::MANAGEMENT, reason, path);
                }
                Effect::Route(change) => self.change_route(now, &change),
                Effect::SetStrategy { prefix, text, strategy } => {
                    self.forward_notice(&Notice::Strategy {
                        prefix: prefix.clone(),
                        text: Some(text),
                    });
                    self.forwarder.strategies.insert(&prefix, strategy);
                }
                Effect::UnsetStrategy { prefix } => {
                    self.forward_notice(&Notice::Strategy { prefix: prefix.clone(), text: None });
                    self.forwarder.strategies.remove(&prefix);
                }
                Effect::Order(order) => self.out().push(Output::Order(Box::new(order))),
                Effect::Task(task) => self.pass_task(task),
            }
        }
    }

    /// Handles a report of the owner.
    fn on_notice(&mut self, now: Instant, notice: Notice) {
        if self.shard.is_some() {
            self.forward_notice(&notice);
        } else if self.management.is_none() && !matches!(notice, Notice::TimeOfDay { .. }) {
            return;
        }
        self.apply_notice(now, notice);
    }

    /// Handles a report of the owner of this node, or of another worker.
    fn apply_notice(&mut self, now: Instant, notice: Notice) {
        match &notice {
            Notice::FaceGone { face } => self.lose_face(now, *face),
            Notice::Strategy { prefix, text: Some(text) } => {
                // The owner has parsed it before.
                let _ = self.set_strategy(prefix, text);
            }
            Notice::Strategy { prefix, text: None } => {
                if !prefix.is_empty() {
                    self.forwarder.strategies.remove(prefix);
                }
            }
            Notice::TimeOfDay { micros } => {
                let input = AppInput::TimeOfDay(TimeOfDay::at(now, *micros));
                self.applications().deliver_to_all(now, &input);
            }
            Notice::FaceKnown { .. } | Notice::FaceMade { .. } | Notice::Channels(_) => {}
        }
        let Self { forwarder, management: Some(management), shard } = self else {
            return;
        };
        management.notice(now, notice, &NodeView { forwarder, shard: shard.as_deref() });
        self.follow_management(now);
    }

    /// Handles a face that is gone for good.
    fn lose_face(&mut self, now: Instant, face: FaceId) {
        self.forget_routes(now, face);
        self.forwarder.measurements.forget_face(face);
        self.forwarder.edge.links.forget(face);
        if let Some(shard) = &mut self.shard {
            shard.past.add(&shard.carried.remove(&face).unwrap_or_default());
        }
    }
}

/// The Interest or Data in these bytes.
fn body(packet: Bytes) -> Option<Body> {
    match u64::from(*packet.first()?) {
        typ::INTEREST => Interest::decode(packet).ok().map(|it| Body::Interest(Arc::new(it))),
        typ::DATA => Data::decode(packet).ok().map(Body::Data),
        _ => None,
    }
}

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
