//! The timeline of one segment: its events, hop by hop, from the first Interest of its consumer on.
//!
//! A segment is known by the hash of its name, so that requests of other consumers for it are seen, too. Trace ids show
//! which packets descend from the consumer's own Interests, as in the oracle ([`crate::oracle`]): whose packets were
//! lost, and which of several transmissions was answered. So the network must follow transmissions
//! ([`Network::follow_transmissions`]), which does not change the run.
//!
//! A timeline is an observer like any other: with a scenario and a seed, run it again to watch one of its segments.
mod flight;
mod moment;
mod slowest;
mod verdict;

pub use moment::{Moment, Step};
pub use slowest::Slowest;
pub use verdict::{Cause, Loss, Remedy, Source, Verdict};

use crate::network::{ApplicationId, Network, NodeId};
use crate::observe::{LossReason, Observation, Observer};
use crate::oracle::ledger::Ledger;
use crate::record::place::{Channel, Places};
use crate::simulation::name_hash;
use flight::Flights;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::face::AppId;
use recoup_forwarder::packet::{Kind, Packet};
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;

/// Moments that are kept; of what comes after them only the number is.
const MOST_MOMENTS: usize = 10_000;

/// The segment to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The segment of that number; of a consumer of single contents the request of that number.
    Segment(u64),
    /// The content of that name, from the consumer's first Interest on.
    Content(Name),
}

/// An Interest of the consumer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmission {
    /// When it was sent.
    pub at: Instant,
    /// Its timeout.
    pub rto: Duration,
    /// Time of its timeout.
    pub expired: Option<Instant>,
    /// When its Data came back, or found that another's had answered.
    pub answered: Option<Instant>,
    id: u64,
}

/// Follows one segment of one consumer.
#[derive(Debug)]
pub struct Timeline {
    places: Places,
    application: ApplicationId,
    home: Option<NodeId>,
    wanted: Wanted,
    app: Option<AppId>,
    births: VecDeque<Birth>,
    sends: VecDeque<Option<Send>>,
    /// The segment and the hash of its name, once an Interest has been sent.
    target: Option<(u64, u64)>,
    /// Until the target is known: moments of the current instant, by the hashes of names.
    early: Vec<(u64, Moment)>,
    moments: Vec<Moment>,
    omitted: u64,
    transmissions: Vec<Transmission>,
    ledger: Ledger,
    flights: Flights,
    /// A node's drop at that instant, before or after the trace id is known.
    dropped: Option<(Instant, NodeId, Option<Kind>, DropReason)>,
    died: Option<(Instant, NodeId)>,
    source: Option<Source>,
    delays: Vec<f64>,
    delay: Option<Duration>,
    is_over: bool,
    /// The latest observed instant.
    seen: Instant,
}

/// A trace id of the consumer that has not been joined with its transmission.
#[derive(Clone, Copy, Debug)]
struct Birth {
    id: u64,
    hash: u64,
    /// Number of moments.
    place: usize,
}

/// A transmission that has not been joined with its trace id.
#[derive(Clone, Copy, Debug)]
struct Send {
    segment: u64,
    transmissions: u32,
    rto: Duration,
}

impl Timeline {
    /// Follows what `application` of `network` wants.
    pub fn new(network: &Network, application: ApplicationId, wanted: Wanted) -> Self {
        let places = Places::new(network);
        Self {
            home: places.home(application),
            flights: Flights::new(network),
            places,
            application,
            wanted,
            app: None,
            births: VecDeque::new(),
            sends: VecDeque::new(),
            target: None,
            early: Vec::new(),
            moments: Vec::new(),
            omitted: 0,
            transmissions: Vec::new(),
            ledger: Ledger::default(),
            dropped: None,
            died: None,
            source: None,
            delays: Vec::new(),
            delay: None,
            is_over: false,
            seen: Instant::ZERO,
        }
    }

    /// Number of the segment, once an Interest has been sent.
    pub fn segment(&self) -> Option<u64> {
        self.target.map(|(segment, _)| segment)
    }

    /// Its events, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Number of moments beyond the limit.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// The consumer's Interests for it.
    pub fn transmissions(&self) -> &[Transmission] {
        &self.transmissions
    }

    /// Names of nodes and links.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The median of that over all that the consumer received.
    pub fn median(&self) -> Option<Duration> {
        crate::statistic::order::quantile(&self.delays, 0.5).map(Duration::from_secs_f64)
    }

    // --- requests of the consumer ---------------------------------------------------------------

    fn on_report(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Probed | Event::Sent { .. } if self.is_over => return,
            Event::Probed => self.sends.push_back(None),
            Event::Sent { segment, transmissions, rto } => {
                let rto = rto.into();
                self.sends.push_back(Some(Send { segment, transmissions, rto }));
            }
            Event::Received { segment, delay, transmissions, .. } => {
                let delay: Duration = delay.into();
                self.delays.push(delay.as_secs_f64());
                if self.is_ours(segment) {
                    self.on_received(now, transmissions, delay);
                }
                return;
            }
            _ => return self.on_event(now, event),
        }
        self.join(now);
    }

    /// Brings together trace ids and transmissions; both come in the order of the Interests.
    fn join(&mut self, now: Instant) {
        while let (Some(birth), Some(send)) = (self.births.front().copied(), self.sends.front()) {
            let send = *send;
            self.births.pop_front();
            self.sends.pop_front();
            match send.filter(|send| self.is_wanted(send, birth.hash)) {
                Some(send) => self.on_asked(now, send, birth),
                None => self.ledger.forget(birth.id),
            }
        }
    }

    fn is_wanted(&self, send: &Send, hash: u64) -> bool {
        match (self.target, &self.wanted) {
            (Some((segment, _)), _) => send.segment == segment,
            (None, Wanted::Segment(segment)) => send.segment == *segment,
            (None, Wanted::Content(name)) => name_hash(name) == hash,
        }
    }

    fn on_asked(&mut self, now: Instant, send: Send, birth: Birth) {
        let mut place = birth.place.min(self.moments.len());
        if self.target.replace((send.segment, birth.hash)).is_none() {
            let early = std::mem::take(&mut self.early).into_iter();
            self.moments = early.filter(|(hash, _)| *hash == birth.hash).map(|it| it.1).collect();
            place = 0;
        }
        let Send { transmissions, rto, .. } = send;
        self.moments.insert(place, Moment { at: now, step: Step::Asked { transmissions, rto } });
        let (id, expired, answered) = (birth.id, None, None);
        self.transmissions.push(Transmission { at: now, rto, expired, answered, id });
    }

    fn is_ours(&self, segment: u64) -> bool {
        self.target.is_some_and(|(own, _)| own == segment) && !self.is_over
    }

    // --- reports of the consumer ----------------------------------------------------------------

    fn on_event(&mut self, now: Instant, event: &Event) {
        let (segment, step) = match *event {
            Event::TimedOut { segment } => (segment, Step::TimedOut),
            Event::Lost { segment } => (segment, Step::TakenForLost),
            Event::LeftOut { segment } => (segment, Step::LeftOut),
            Event::Nacked { segment: Some(segment), reason } => (segment, Step::Nacked { reason }),
            Event::Explained { segment, cause, .. } => (segment, Step::Explained { cause }),
            Event::Spurious { segment, cause: signal } => (segment, Step::FalseAlarm { signal }),
            _ => return,
        };
        if !self.is_ours(segment) {
            return;
        }
        if let (Step::TimedOut, Some(last)) = (step, self.transmissions.last_mut()) {
            last.expired = Some(now);
        }
        self.push(now, step);
    }

    fn on_received(&mut self, now: Instant, transmissions: u32, delay: Duration) {
        if self.delay.is_some() {
            return;
        }
        self.delay = Some(delay);
        self.source = self.home.and_then(|home| self.flights.source(home));
        self.push(now, Step::Received { transmissions, delay });
        self.close();
    }

    /// Closes the timeline once the segment has arrived and each Interest's fate is known.
    fn close(&mut self) {
        let known = |it: &Transmission| self.ledger.fate(it.id).is_some();
        self.is_over = self.delay.is_some() && self.transmissions.iter().all(known);
    }

    // --- reports of nodes -----------------------------------------------------------------------

    fn on_node(&mut self, now: Instant, node: NodeId, event: NodeEvent) {
        let step = |step: fn(NodeId) -> Step| Some(step(node));
        let (hash, step) = match event {
            NodeEvent::TraceBorn { id, app, hash } => {
                return self.on_birth(now, node, id, app, hash);
            }
            NodeEvent::TraceDied { id } => return self.on_death(now, node, id),
            NodeEvent::TraceDelivered { id, .. } => return self.on_answer(now, id, None),
            NodeEvent::TraceSuperseded { id } => return self.on_answer(now, id, Some(node)),
            NodeEvent::TraceCopied { id, copies } => return self.ledger.copied(id, copies),
            NodeEvent::CsHit { hash } => (hash, step(|node| Step::Cached { node })),
            NodeEvent::PitAggregated { hash } => (hash, step(|node| Step::Joined { node })),
            NodeEvent::PitForwardedAgain { hash } => (hash, step(|node| Step::SentOn { node })),
            NodeEvent::PitSuppressed { hash } => (hash, step(|node| Step::Suppressed { node })),
            NodeEvent::PitExpired { hash } => (hash, step(|node| Step::Expired { node })),
            NodeEvent::Reforwarded { hash, .. } => (hash, step(|node| Step::Redirected { node })),
            _ => return,
        };
        if let Some(step) = step
            && self.is_about(hash)
        {
            if matches!(step, Step::Cached { .. }) {
                self.flights.answered_from_cache(node);
            }
            self.note(now, hash, step);
        }
    }

    fn on_birth(&mut self, now: Instant, node: NodeId, id: u64, app: AppId, hash: u64) {
        if self.home != Some(node) || self.app != Some(app) || self.is_over {
            return;
        }
        self.ledger.born(id);
        self.births.push_back(Birth { id, hash, place: self.moments.len() });
        if self.is_about(hash) {
            self.flights.begin(node, now);
        }
        self.join(now);
    }

    /// A descendant of one of its Interests ended in a node; the reason is reported just before or after.
    fn on_death(&mut self, now: Instant, node: NodeId, id: u64) {
        self.ledger.died(id);
        if !self.is_own(&[id]) || self.is_over {
            return;
        }
        match self.dropped.take() {
            Some((at, place, kind, reason)) if (at, place) == (now, node) => {
                self.push(now, Step::Dropped { node, kind, reason });
            }
            _ => self.died = Some((now, node)),
        }
        self.close();
    }

    fn on_dropped(&mut self, now: Instant, node: NodeId, kind: Option<Kind>, reason: DropReason) {
        match self.died.take() {
            Some(death) if death == (now, node) => {
                self.push(now, Step::Dropped { node, kind, reason });
            }
            _ => self.dropped = Some((now, node, kind, reason)),
        }
    }

    fn on_answer(&mut self, now: Instant, id: u64, late_at: Option<NodeId>) {
        self.ledger.answered(id);
        let Some(transmission) = self.transmissions.iter_mut().find(|it| it.id == id) else {
            return;
        };
        transmission.answered.get_or_insert(now);
        if let Some(node) = late_at.filter(|_| !self.is_over) {
            self.push(now, Step::Superseded { node });
        }
        self.close();
    }

    // --- reports of channels --------------------------------------------------------------------

    fn on_sent(&mut self, now: Instant, channel: Channel, packet: &Packet) {
        let Some((hash, kind, own)) = self.about(packet) else { return };
        let sender = self.places.sender(channel);
        let (waited, again) = self.flights.depart(now, sender, channel, packet);
        self.note(now, hash, Step::Left { channel, kind, waited, again, own });
    }

    fn on_arrived(&mut self, now: Instant, channel: Channel, packet: &Packet) {
        let Some((hash, kind, own)) = self.about(packet) else { return };
        let receiver = self.places.receiver(channel);
        let (travelled, excess) = self.flights.arrive(now, receiver, channel, packet);
        let excess = excess.filter(|_| !self.places.is_aerial(channel.link));
        self.note(now, hash, Step::Came { channel, kind, travelled, excess, own });
    }

    fn on_lost(&mut self, now: Instant, channel: Channel, packet: &Packet, reason: LossReason) {
        packet.trace().ids().iter().for_each(|id| self.ledger.died(*id));
        if let Some((hash, kind, own)) = self.about(packet) {
            self.flights.end(channel, packet);
            self.note(now, hash, Step::Lost { channel, kind, reason, own });
        }
        self.close();
    }

    fn on_doubled(&mut self, channel: Channel, packet: &Packet) {
        packet.trace().ids().iter().for_each(|id| self.ledger.copied(*id, 1));
        if self.about(packet).is_some() {
            self.flights.double(channel, packet);
        }
    }

    /// The hash of a packet's name, its kind, and whether it is the consumer's; `None` if it does not matter.
    fn about(&self, packet: &Packet) -> Option<(u64, Kind, bool)> {
        let (hash, kind) = (packet.hop.name_hash, packet.kind());
        let matters = kind != Kind::Idle && self.is_about(hash);
        matters.then(|| (hash, kind, self.is_own(packet.trace().ids())))
    }

    fn is_own(&self, ids: &[u64]) -> bool {
        let sent = self.transmissions.iter().map(|it| it.id);
        let mut own = sent.chain(self.births.iter().map(|birth| birth.id));
        own.any(|id| ids.contains(&id))
    }

    /// Whether something of that name may matter: before the target is known anything may.
    fn is_about(&self, hash: u64) -> bool {
        !self.is_over && self.target.is_none_or(|(_, own)| own == hash)
    }

    fn note(&mut self, now: Instant, hash: u64, step: Step) {
        match self.target {
            Some(_) => self.push(now, step),
            None => self.early.push((hash, Moment { at: now, step })),
        }
    }

    fn push(&mut self, at: Instant, step: Step) {
        match self.moments.len() < MOST_MOMENTS {
            true => self.moments.push(Moment { at, step }),
            false => self.omitted += 1,
        }
    }

    /// Events at an earlier instant do not concern a target without an Interest.
    fn forget_before(&mut self, now: Instant) {
        if self.target.is_none() && now > self.seen {
            self.early.clear();
            self.flights.forget();
        }
        self.seen = now;
    }
}

impl Observer for Timeline {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        self.forget_before(now);
        match *observation {
            Observation::Started { application, app } if application == self.application => {
                self.app = app;
                self.births.clear();
                self.sends.clear();
            }
            Observation::Application { application, report: Report::Event(event) }
                if application == self.application =>
            {
                self.on_report(now, event);
            }
            Observation::Node { node, event } => self.on_node(now, node, event),
            Observation::Sent { link, direction, packet } => {
                self.on_sent(now, Channel::new(link, direction), packet);
            }
            Observation::Arrived { link, direction, packet } => {
                self.on_arrived(now, Channel::new(link, direction), packet);
            }
            Observation::Lost { link, direction, packet, reason } => {
                self.on_lost(now, Channel::new(link, direction), packet, reason);
            }
            Observation::Doubled { link, direction, packet } => {
                self.on_doubled(Channel::new(link, direction), packet);
            }
            Observation::Dropped { node, kind, reason } => self.on_dropped(now, node, kind, reason),
            Observation::Fault { number } => self.flights.on_fault(&self.places, number),
            _ => {}
        }
    }
}
