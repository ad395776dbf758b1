//! The node: a forwarder with its applications, the only machine that a driver drives.
//!
//! What happens to packets is in [`pipeline`](crate::pipeline), under the names that NFD gives its pipelines.
use crate::attached::Applications;
use crate::counters::NodeCounters;
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceAttributes, FaceId, FaceTable, FaceUse};
use crate::frame::Frame;
use crate::guard::Guards;
use crate::hash::NameHasher;
use crate::link::{Link, QueueState};
use crate::management::{FaceOrder, Management, Notice};
use crate::mobility::{Itinerary, Mobility};
use crate::options::{Anticipation, NodeOptions, Unsolicited};
use crate::oracle::Oracle;
use crate::packet::{Kept, Kind, Packet, Wires};
use crate::schedule::Gates;
use crate::shard::{Handed, Shard, ShardOptions, Worker};
use crate::strategy::{self, Action, ForwardingStrategy};
use crate::suppression::Suppression;
use crate::table::{Cs, DeadNonces, Fib, Measurements, NextHop, Pit, PitId, PrefixTable};
use crate::way_out::WayOut;
use bytes::Bytes;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::queue::Scheduling;
use recoup_transport::random::Rng;
use recoup_transport::spec::SpecError;
use recoup_transport::time::Instant;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One thing that happened to the node.
#[derive(Clone, Debug)]
pub enum Input {
    /// A face is usable; or a usable face has only changed.
    FaceUp {
        /// Which.
        face: FaceId,
        /// What it can do.
        attributes: FaceAttributes,
    },
    /// A face is gone for now; it may come up again under the same number.
    FaceDown {
        /// Which.
        face: FaceId,
    },
    /// A frame arrived by a wire face.
    Frame {
        /// Which.
        face: FaceId,
        /// The whole frame: a bare packet or an LpPacket.
        frame: Bytes,
    },
    /// A frame arrived by a wire face where several send.
    FrameFrom {
        /// Which.
        face: FaceId,
        /// A number for who sent it: fragments belong together only if it is the same.
        sender: u64,
        /// The whole frame.
        frame: Bytes,
    },
    /// A packet arrived by a value face.
    Packet {
        /// Which.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face may send one more packet.
    Ready {
        /// Which.
        face: FaceId,
    },
    /// A value face that was given a packet takes the next one from that instant on without being asked,
    /// unless others wait then. Who does not say so is asked each time.
    Busy {
        /// Which.
        face: FaceId,
        /// Until when it is occupied.
        until: Instant,
    },
    /// What waits in the driver to leave by a wire face.
    Backlog {
        /// Which.
        face: FaceId,
        /// Octets that wait.
        octets: u64,
    },
    /// A frame that left by a wire face found a queue of this machine full, and did not get beyond it.
    Overflowed {
        /// Which.
        face: FaceId,
        /// The whole frame.
        frame: Bytes,
    },
    /// Something for an application from outside the network, such as `Consumed`.
    App {
        /// Which.
        app: AppId,
        /// What.
        input: Box<AppInput>,
    },
    /// A route comes, changes or goes.
    Route(RouteChange),
    /// What leaves by a face is scheduled like this from now on, whether the face is up or comes up later.
    Schedule {
        /// Which.
        face: FaceId,
        /// How; what waits already keeps its place if only the link has changed.
        scheduling: Box<Scheduling>,
    },
    /// Something that the management has to know.
    Notice(Box<Notice>),
    /// Another worker of the same forwarder says something.
    Handed(Handed),
}

/// A route comes, changes or goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteChange {
    /// Names below this one.
    pub prefix: Name,
    /// The face that leads to them.
    pub face: FaceId,
    /// How dear this way is, compared to others; `None` takes the route away.
    pub cost: Option<u64>,
}

/// One consequence.
#[derive(Clone, Debug)]
pub enum Output {
    /// Send a frame by a wire face.
    Send {
        /// Which.
        face: FaceId,
        /// The whole frame.
        frame: Frame,
    },
    /// Send a packet by a value face, which is not ready for another until `Ready` says so.
    Transmit {
        /// Which.
        face: FaceId,
        /// The packet.
        packet: Packet,
    },
    /// A value face that is not ready has something to send; to be answered by one `Ready`, in time.
    Wants {
        /// Which.
        face: FaceId,
    },
    /// Something for the application's owner: content, an event, the end.
    App {
        /// Which.
        app: AppId,
        /// What it says.
        report: Report,
    },
    /// A packet went no further.
    Dropped {
        /// The face that it came from or was to leave by, where there is one.
        face: Option<FaceId>,
        /// What it was, where that is known.
        kind: Option<Kind>,
        /// Why.
        reason: DropReason,
    },
    /// Something worth recording; only if the node observes itself.
    Event(NodeEvent),
    /// Something that the management wants done with faces; to be answered by a [`Notice`].
    Order(Box<FaceOrder>),
    /// Another worker of the same forwarder is to be told something ([`Input::Handed`]).
    Hand {
        /// Which.
        worker: Worker,
        /// What.
        handed: Handed,
    },
}

/// A node: a forwarder with its applications.
///
/// Applications sit behind faces of their own: what they ask enters the same pipelines as what arrives. A face that
/// leads [upstream](FaceAttributes::upstream) becomes a next hop of "/" while it is up, the one with the lowest number
/// first; an application's prefixes lead to it.
pub struct Node {
    pub(crate) faces: FaceTable,
    pub(crate) gates: Gates,
    pub(crate) applications: Applications,
    pub(crate) way_out: Option<WayOut>,
    pub(crate) answers_itself: bool,
    pub(crate) fib: Fib,
    pub(crate) pit: Pit,
    pub(crate) cs: Cs,
    pub(crate) dead_nonces: DeadNonces,
    pub(crate) dead_nonce_lifetime: std::time::Duration,
    pub(crate) measurements: Measurements,
    pub(crate) management: Option<Management>,
    pub(crate) strategies: PrefixTable<Box<dyn ForwardingStrategy>>,
    pub(crate) suppression: Suppression,
    pub(crate) unsolicited: Unsolicited,
    pub(crate) hasher: NameHasher,
    pub(crate) rng: Rng,
    pub(crate) guards: Guards,
    pub(crate) mobility: Mobility,
    pub(crate) itinerary: Itinerary,
    pub(crate) oracle: Oracle,
    pub(crate) counters: NodeCounters,
    pub(crate) provider_id: Option<u64>,
    pub(crate) anticipation: Anticipation,
    /// Which part of a forwarder the node is, if it is not all of it.
    pub(crate) shard: Option<Box<Shard>>,
    pub(crate) outbox: Outbox,
    pub(crate) wires: Wires,
    /// Packets that came are copied to here.
    pub(crate) kept: Kept,
    /// Lent to the pipelines, so that they need no memory of their own.
    pub(crate) actions: Vec<Action>,
    pub(crate) found: Vec<PitId>,
}

impl Default for Node {
    fn default() -> Self {
        Self::new()
    }
}

impl Node {
    /// A node with the default settings: no content store, `best-route`, `same-face-retx`.
    #[must_use]
    pub fn new() -> Self {
        Self::build(NodeOptions::default(), Box::new(strategy::BestRoute))
    }

    /// A node without faces and applications.
    ///
    /// # Errors
    /// If the text of the strategy cannot be read.
    pub fn with_options(options: NodeOptions) -> Result<Self, SpecError> {
        let strategy = strategy::parse(&options.strategy)?;
        Ok(Self::build(options, strategy))
    }

    fn build(options: NodeOptions, strategy: Box<dyn ForwardingStrategy>) -> Self {
        let options = options.of_worker();
        let hasher = NameHasher::new(options.hash_seed);
        let mut strategies = PrefixTable::new(hasher.clone());
        strategies.insert(&Name::root(), strategy);
        let mut fib = Fib::new(hasher.clone());
        for prefix in options.management.iter().flat_map(Management::prefixes) {
            fib.insert(&prefix, FaceId::MANAGEMENT, 0);
        }
        Self {
            faces: FaceTable::new(options.limits),
            gates: Gates::new(options.scheduling),
            applications: Applications::default(),
            way_out: options.answers_itself.then_some(WayOut::Own),
            answers_itself: options.answers_itself,
            fib,
            pit: Pit::new(hasher.clone(), options.pit_limit)
                .with_short_names(options.shard.as_ref().map(ShardOptions::short_names)),
            cs: Cs::new(hasher.clone(), options.cs),
            dead_nonces: DeadNonces::new(options.dead_nonces),
            dead_nonce_lifetime: options.dead_nonces.lifetime,
            measurements: Measurements::new(hasher.clone(), options.measurements),
            management: options.management.as_ref().map(Management::new),
            strategies,
            suppression: options.suppression,
            unsolicited: options.unsolicited,
            hasher: hasher.clone(),
            rng: options.rng,
            guards: Guards::default(),
            mobility: options.mobility,
            itinerary: Itinerary::new(hasher.clone()),
            oracle: Oracle::new(options.trace_ids),
            counters: NodeCounters::default(),
            provider_id: options.provider_id,
            anticipation: options.anticipation,
            shard: options.shard.map(|it| Box::new(Shard::new(it, hasher))),
            outbox: Outbox { outputs: VecDeque::new(), observe: options.observe },
            wires: Wires::default(),
            kept: Kept::default(),
            actions: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Attaches an application that answers Interests below `prefixes`.
    pub fn attach(
        &mut self,
        now: Instant,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        let app = self.applications.attach(application, prefixes.clone());
        for prefix in &prefixes {
            self.fib.insert(prefix, FaceId::of_app(app), 0);
        }
        if let Some(input) = self.way_out_input() {
            self.applications.tell(now, app, input);
        }
        app
    }

    /// Takes an application away, with everything that it wanted and was not handed out. Its number may
    /// be given to another.
    pub fn detach(&mut self, app: AppId) {
        let Some(prefixes) = self.applications.detach(app) else {
            return;
        };
        self.outbox.forget(app);
        let face = FaceId::of_app(app);
        for prefix in &prefixes {
            self.fib.remove(prefix, face);
        }
        self.forget_records(face);
        self.measurements.forget_face(face);
    }

    /// Below `prefix`, the strategy that `text` describes decides from now on.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn set_strategy(&mut self, prefix: &Name, text: &str) -> Result<(), SpecError> {
        let strategy = strategy::parse(text)?;
        self.strategies.insert(prefix, strategy);
        Ok(())
    }

    /// All routes, by prefix in canonical order.
    pub fn routes(&self) -> impl Iterator<Item = (&Name, &[NextHop])> {
        self.fib.iter()
    }

    /// How many Data packets the content store keeps.
    #[must_use]
    pub fn cs_len(&self) -> usize {
        self.cs.len()
    }

    /// How many Interests are pending.
    #[must_use]
    pub fn pit_len(&self) -> usize {
        self.pit.len()
    }

    /// How many places of that table a face takes, where faces are limited.
    #[must_use]
    pub fn places(&self, face: FaceId) -> usize {
        self.faces.get(face).map_or(0, |face| face.share.places)
    }

    /// How a network face is used.
    #[must_use]
    pub fn face_use(&self, face: FaceId) -> FaceUse {
        self.faces.use_of(face)
    }

    /// What waits in the node for a face that is up: for the scheduler of the face, and for its link if it is a value
    /// face. `None` where nothing ever waits.
    #[must_use]
    pub fn queue(&self, face: FaceId) -> Option<QueueState> {
        let scheduled = self.gates.waiting(face);
        let linked = match &self.faces.get(face)?.link {
            Link::Value(link) => Some(link.state()),
            Link::Wire(_) | Link::Elsewhere(_) => None,
        };
        if scheduled.is_none() {
            return linked;
        }
        let (here, there) = (scheduled.unwrap_or_default(), linked.unwrap_or_default());
        Some(QueueState {
            packets: here.packets + there.packets,
            octets: here.octets + there.octets,
        })
    }

    /// The hasher of the node's names, to make [`Packet`]s with.
    #[must_use]
    pub fn hasher(&self) -> &NameHasher {
        &self.hasher
    }

    /// One thing happened.
    // Drivers know what happened: nothing is left of the choice where they say it.
    #[inline(always)]
    pub fn handle(&mut self, now: Instant, input: Input) {
        match input {
            Input::Frame { face, frame } => self.on_frame(now, face, 0, frame),
            Input::FrameFrom { face, sender, frame } => self.on_frame(now, face, sender, frame),
            Input::Packet { face, packet } => self.on_packet(now, face, packet),
            Input::Ready { face } => self.on_ready(now, face),
            Input::Busy { face, until } => self.on_busy(face, until),
            Input::Backlog { face, octets } => self.on_backlog(face, octets),
            Input::Overflowed { face, frame } => self.on_overflow(face, frame),
            Input::App { app, input } => {
                self.applications.tell(now, app, *input);
            }
            Input::FaceUp { face, attributes } => self.on_face_up(now, face, attributes),
            Input::FaceDown { face } => self.on_face_down(now, face),
            Input::Route(change) => self.on_static_route(now, &change),
            Input::Schedule { face, scheduling } => {
                self.lead(|| Handed::Schedule { face, scheduling: scheduling.clone() });
                self.on_schedule(now, face, *scheduling);
            }
            Input::Notice(notice) => self.on_notice(now, *notice),
            Input::Handed(handed) => self.on_handed(now, handed),
        }
    }

    /// Fires what is due and hands out one consequence; to be called until `None`.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        if self.outbox.outputs.is_empty() {
            return self.poll_further(now);
        }
        self.outbox.outputs.pop_front()
    }

    /// As [`poll`](Self::poll), where no consequence waits.
    fn poll_further(&mut self, now: Instant) -> Option<Output> {
        loop {
            if !self.outbox.outputs.is_empty() {
                return self.outbox.outputs.pop_front();
            }
            if self.fire(now) || self.manage(now) {
                continue;
            }
            match self.applications.poll(now)? {
                // Nothing waits in front of it.
                (app, AppOutput::Report(report)) => return Some(Output::App { app, report }),
                (app, output) => self.carry_out(now, app, output),
            }
        }
    }

    /// When to come back if nothing happens.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let incomplete = self.faces.first_incomplete().map(|(due, _)| due);
        let management = self.management.as_ref().and_then(Management::deadline);
        let gates = earlier(self.gates.deadline(), self.guards.deadline());
        let tables = earlier(self.pit.deadline(), earlier(incomplete, gates));
        earlier(tables, earlier(management, self.applications.deadline()))
    }

    /// Does one thing that is due; `false` if nothing is.
    fn fire(&mut self, now: Instant) -> bool {
        if let Some(id) = self.pit.pop_due(now) {
            self.interest_expiry(now, id);
            return true;
        }
        if let Some(face) = self.gates.pop_due(now) {
            self.let_pass(now, face);
            return true;
        }
        match self.faces.first_incomplete() {
            Some((due, face)) if due <= now => {
                self.on_incomplete(now, face);
                true
            }
            _ => self.fire_guard(now),
        }
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Consequences that nobody has taken yet.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) outputs: VecDeque<Output>,
    observe: bool,
}

impl Outbox {
    /// A packet goes no further.
    pub(crate) fn discard(
        &mut self,
        face: impl Into<Option<FaceId>>,
        kind: impl Into<Option<Kind>>,
        reason: DropReason,
    ) {
        let (face, kind) = (face.into(), kind.into());
        self.outputs.push_back(Output::Dropped { face, kind, reason });
    }

    /// Whether anybody records.
    pub(crate) fn observes(&self) -> bool {
        self.observe
    }

    /// Something happened that is worth recording, if anybody records.
    pub(crate) fn event(&mut self, event: NodeEvent) {
        if self.observe {
            self.outputs.push_back(Output::Event(event));
        }
    }

    /// What an application wanted is wanted no more.
    fn forget(&mut self, app: AppId) {
        self.outputs.retain(|output| !matches!(output, Output::App { app: of, .. } if *of == app));
    }
}

/// What a driver needs of the machine that it drives; [`Node`] is the one that counts.
///
/// A driver gives it everything that happens, hands out its consequences until there are none, and
/// comes back at the deadline at the latest.
pub trait Machine {
    /// One thing happened.
    fn handle(&mut self, now: Instant, input: Input);
    /// Fires what is due and hands out one consequence; to be called until `None`.
    fn poll(&mut self, now: Instant) -> Option<Output>;
    /// When to come back if nothing happens.
    fn deadline(&self) -> Option<Instant>;
    /// How a face is used, as far as the machine knows.
    fn face_use(&self, face: FaceId) -> FaceUse {
        let _ = face;
        FaceUse::default()
    }
}

impl Machine for Node {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consequence_is_small() {
        // The largest is a report with an event of the fetch loop.
        assert!(size_of::<Output>() <= 88, "{}", size_of::<Output>());
    }
}
