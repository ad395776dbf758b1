//! Forwarding: the tables of a node, and the pipelines of packets through them under NFD's names
//! (`daemon/fw/forwarder.hpp`).
//!
//! `Forwarder` is a state machine of its own. Its outputs go to its `Edge`: packets to links, Interests and Data to
//! applications, Interests to the management. In a [`Node`](crate::node::Node) these machines are behind the edge, in
//! a test a recording.
//!
//! | Nack reason | condition |
//! |---|---|
//! | NoRoute | no next hop is eligible and the Interest is not in flight |
//! | Duplicate | its nonce came by another face, or was seen shortly before |
//! | Congestion | the PIT or the face's limit is full, or the rate limit is exceeded |
//! | Mobility | its face, or all next hops, are down or were just lost (`mobility`) |
//! | Loss | a link lost it or its Data, and does not resend it (`wldr(mode=eln)`) |
//!
//! The node sends no Nack of its own on a multi-access face, because other receivers there may have a route. It sends
//! none on upstream faces, whose forwarders have reasons of their own for sending the Interest here. It sends none to
//! an application while there is no uplink, because the application is notified of that. Nacks from upstream are
//! passed to all downstream faces, except on multi-access faces.
mod anticipation;
mod content_store_hit;
mod content_store_miss;
mod data_unsolicited;
mod edge;
mod face;
mod incoming_data;
mod incoming_interest;
mod incoming_nack;
mod interest_expiry;
mod interest_loop;
mod mobility;
mod outgoing_data;
mod outgoing_interest;
mod outgoing_nack;
mod renewed;
mod reroute;
mod share;
mod soft_timeout;
mod uplink;

use content_store_miss::route;
pub(crate) use edge::{Edge, FlowPart};
pub(crate) use uplink::FaceLoss;

use crate::counters::NodeCounters;
use crate::drop::DropReason;
use crate::face::{AppId, FaceId};
use crate::flow;
use crate::hash::NameHasher;
use crate::mobility::Mobility;
use crate::observer::Observer;
use crate::options::{Anticipation, NodeConfig, Unsolicited};
use crate::outbox::Outbox;
use crate::packet::{Body, Kind, Packet, PacketMemory};
use crate::strategy::{Action, FaceFacts, ForwardingStrategy};
use crate::suppression::Suppression;
use crate::table::{Cs, DeadNonces, Fib, Measurements, Pit, PitId, PrefixTable};
use bytes::Bytes;
use face::FaceTable;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{Ignorable, LpHeader, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::application::ReturnPath;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use reroute::Reroutes;
use std::sync::Arc;
use uplink::Uplink;

/// The trace of the observer behind an edge.
type TraceOf<E> = <<E as Edge>::Observer as Observer>::Trace;

/// The tables of a node and its pipelines.
pub(crate) struct Forwarder<E> {
    pub(crate) faces: FaceTable,
    uplink: Option<Uplink>,
    answers_itself: bool,
    pub(crate) fib: Fib,
    pub(crate) pit: Pit,
    pub(crate) cs: Cs,
    dead_nonces: DeadNonces,
    dead_nonce_lifetime: Duration,
    pub(crate) measurements: Measurements,
    pub(crate) strategies: PrefixTable<Box<dyn ForwardingStrategy>>,
    suppression: Suppression,
    unsolicited: Unsolicited,
    pub(crate) hasher: NameHasher,
    rng: Rng,
    mobility: Mobility,
    reroutes: Reroutes,
    pub(crate) counters: NodeCounters,
    provider_id: Option<u64>,
    anticipation: Anticipation,
    /// Memory of received packets.
    memory: PacketMemory,
    /// Scratch space of the pipelines.
    actions: Vec<Action>,
    found: Vec<PitId>,
    pub(crate) edge: E,
}

impl<E: Edge> Forwarder<E> {
    /// Tables without faces and routes.
    pub(crate) fn new(config: &NodeConfig, edge: E) -> Self {
        let options = &config.options;
        let hasher = NameHasher::new(config.hash_seed);
        let mut strategies = PrefixTable::new(hasher.clone());
        strategies.insert(&Name::root(), options.strategy.build());
        Self {
            faces: FaceTable::new(config.limits),
            uplink: config.answers_itself.then_some(Uplink::Own),
            answers_itself: config.answers_itself,
            fib: Fib::new(hasher.clone()),
            pit: Pit::new(hasher.clone(), config.pit_limit),
            cs: Cs::new(hasher.clone(), options.cache).with_policies(
                &options.cache_replacement,
                &options.cache_admission,
                &config.rng,
            ),
            dead_nonces: DeadNonces::new(config.dead_nonces),
            dead_nonce_lifetime: config.dead_nonces.lifetime,
            measurements: Measurements::new(hasher.clone(), config.measurements),
            strategies,
            suppression: *options.suppression,
            unsolicited: options.unsolicited,
            hasher: hasher.clone(),
            rng: config.rng.clone(),
            mobility: *options.mobility,
            reroutes: Reroutes::new(hasher),
            counters: NodeCounters::default(),
            provider_id: config.provider_id,
            anticipation: options.anticipation,
            memory: PacketMemory::default(),
            actions: Vec::new(),
            found: Vec::new(),
            edge,
        }
    }

    /// Handles one expired timer; `false` if there is none.
    pub(crate) fn fire(&mut self, now: Instant) -> bool {
        let Some(id) = self.pit.pop_due(now) else {
            return false;
        };
        if !(self.suppression.sends_renewed() && self.send_renewed(now, id)) {
            self.interest_expiry(now, id);
        }
        true
    }

    /// Time of the next timer.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.pit.deadline()
    }

    /// Decodes a whole network packet that came behind `header`, or bare.
    ///
    /// # Errors
    /// The packet is malformed.
    #[inline]
    pub(crate) fn decode(
        &mut self,
        header: Option<&LpHeader>,
        packet: &Bytes,
    ) -> Result<Packet, DropReason> {
        let will_stay = !self.cs.is_off();
        Packet::from_wire(header, packet, &self.hasher, &mut self.memory, will_stay)
    }

    /// Handles a packet that came by a network face.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, face: FaceId, packet: Packet) {
        if packet.kind() == Kind::Interest && !self.faces.admits(now, face) {
            return self.reject_fast(now, face, packet);
        }
        let Some(known) = self.faces.get_mut(face) else {
            return self.edge.out().drop_packet(face, &packet, DropReason::NoFace);
        };
        known.count_in(packet.kind());
        let facts = known.facts();
        let Packet { body, hop } = packet;
        match body {
            Body::Interest(interest) => self.incoming_interest(now, face, facts, interest, hop),
            Body::Data(data) => self.incoming_data(now, face, facts, data, hop),
            Body::Nack(interest, reason) => self.incoming_nack(now, face, &interest, reason, hop),
            Body::Idle => {}
        }
    }

    /// Rejects an Interest beyond the rate limit.
    fn reject_fast(&mut self, now: Instant, face: FaceId, packet: Packet) {
        let Packet { body: Body::Interest(interest), hop } = packet else {
            return;
        };
        if let Some(face) = self.faces.get_mut(face) {
            face.count_in(Kind::Interest);
        }
        self.nack(now, face, &interest, &hop, NackReason::Congestion);
        self.drop_interest(face, &hop, DropReason::TooFast);
    }

    /// Sends an Interest of an application. Its `fields` are forwarded to the next hops, and so is the flow nonce of
    /// the application.
    pub(crate) fn express(
        &mut self,
        now: Instant,
        app: AppId,
        interest: Arc<Interest>,
        fields: Option<Ignorable>,
        flow_nonce: Option<u64>,
    ) {
        let mut packet = Packet::interest(interest, &self.hasher);
        if let Some(fields) = fields {
            packet.hop.extra_mut().carried = field::sort(&fields).0;
        }
        if let Some(nonce) = flow_nonce {
            field::set_flow_nonce(&mut packet.hop.extra_mut().carried, nonce);
        }
        let Outbox { observer, outputs } = self.edge.out();
        observer.interest_sent(app, &mut packet, outputs);
        if let Packet { body: Body::Interest(interest), hop } = packet {
            let (face, facts) = (FaceId::of_app(app), FaceFacts::APPLICATION);
            self.incoming_interest(now, face, facts, interest, hop);
        }
    }

    /// Hash of the content that a pending Interest requests.
    fn content_of(&mut self, id: PitId) -> u64 {
        let Self { pit, hasher, .. } = self;
        pit.entry_mut(id).content(|name| flow::content(hasher, name))
    }

    /// As [`content_of`](Self::content_of), for Data that answers; `None` if no packets are scheduled.
    fn content_of_answer(&mut self, id: PitId, data: &Data) -> Option<u64> {
        if !self.edge.schedules() {
            return None;
        }
        // Both names are equal if they are as long; an answer may have a longer one.
        let same = self.pit.entry(id).interest().name.len() == data.name().len();
        Some(if same { self.content_of(id) } else { flow::content(&self.hasher, data.name()) })
    }

    /// Return path of a pending Interest, for an application.
    fn return_path(&self, id: PitId) -> ReturnPath {
        ReturnPath(self.pit.ticket(id))
    }
}
