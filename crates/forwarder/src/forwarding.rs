//! Forwarding: the tables of a node, and the pipelines of packets through them under NFD's names
//! (`daemon/fw/forwarder.hpp`).
//!
//! `Forwarder` is a machine of its own. What leaves the tables goes over its `Edge`: packets to links, Interests and
//! Data to applications, Interests to the management. In a [`Node`](crate::node::Node) these machines are behind the edge, in a test a
//! recording.
//!
//! | a node refuses an Interest with | if |
//! |---|---|
//! | NoRoute | no next hop is eligible and nobody is being asked already |
//! | Duplicate | its nonce came by another face, or was seen by this node a short while ago |
//! | Congestion | as many Interests are pending as there may be, in all or of its face, or it came faster than its face may ask |
//! | Mobility | its face, or all faces that lead toward its name, are down or were lost a short while ago (`mobility`) |
//! | Loss | a link lost it or its Data, and does not send it again (`wldr(mode=eln)`) |
//!
//! It reports nothing on a multi-access face, for others there may know better; no face that leads toward producers, for
//! a forwarder there has its own reasons for what it brings here; and no application while there is no way out, for
//! it knows. Refusals that came from further on are passed to everybody who waits, except on multi-access faces.
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
mod reroute;
mod share;
mod soft_timeout;
#[cfg(test)]
mod tests;
mod uplink;

use content_store_miss::route;
#[cfg(test)]
pub(crate) use edge::RecordingEdge;
pub(crate) use edge::{Edge, FlowPart};
pub(crate) use uplink::FaceLoss;

use crate::counters::NodeCounters;
use crate::drop::DropReason;
use crate::face::{AppId, FaceId};
use crate::flow;
use crate::hash::NameHasher;
use crate::mobility::Mobility;
use crate::observer::Observer;
use crate::options::{Anticipation, NodeOptions, Unsolicited};
use crate::outbox::Outbox;
use crate::packet::{Body, Kind, Packet, PacketMemory};
use crate::shard::{ShardOptions, Visit};
use crate::strategy::{self, Action, FaceFacts, ForwardingStrategy};
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
use recoup_transport::spec::SpecError;
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
    /// Memory of packets that were received.
    memory: PacketMemory,
    /// Lent to the pipelines, so that they need no memory of their own.
    actions: Vec<Action>,
    found: Vec<PitId>,
    pub(crate) edge: E,
}

impl<E: Edge> Forwarder<E> {
    /// Tables without faces and routes.
    ///
    /// # Errors
    /// If the text of the strategy cannot be read.
    pub(crate) fn new(options: &NodeOptions, edge: E) -> Result<Self, SpecError> {
        let hasher = NameHasher::new(options.hash_seed);
        let mut strategies = PrefixTable::new(hasher.clone());
        strategies.insert(&Name::root(), strategy::parse(&options.strategy)?);
        let short_names = options.shard.as_ref().map(ShardOptions::short_names);
        Ok(Self {
            faces: FaceTable::new(options.limits),
            uplink: options.answers_itself.then_some(Uplink::Own),
            answers_itself: options.answers_itself,
            fib: Fib::new(hasher.clone()),
            pit: Pit::new(hasher.clone(), options.pit_limit).with_short_names(short_names),
            cs: Cs::new(hasher.clone(), options.cs),
            dead_nonces: DeadNonces::new(options.dead_nonces),
            dead_nonce_lifetime: options.dead_nonces.lifetime,
            measurements: Measurements::new(hasher.clone(), options.measurements),
            strategies,
            suppression: options.suppression,
            unsolicited: options.unsolicited,
            hasher: hasher.clone(),
            rng: options.rng.clone(),
            mobility: options.mobility,
            reroutes: Reroutes::new(hasher),
            counters: NodeCounters::default(),
            provider_id: options.provider_id,
            anticipation: options.anticipation,
            memory: PacketMemory::default(),
            actions: Vec::new(),
            found: Vec::new(),
            edge,
        })
    }

    /// Handles one timer that is due; `false` if none is.
    pub(crate) fn fire(&mut self, now: Instant) -> bool {
        let Some(id) = self.pit.pop_due(now) else {
            return false;
        };
        self.interest_expiry(now, id);
        true
    }

    /// When the next timer is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.pit.deadline()
    }

    /// Reads a whole network packet that came behind `header`, or bare.
    ///
    /// # Errors
    /// If it is not a valid packet.
    #[inline]
    pub(crate) fn decode(
        &mut self,
        header: Option<&LpHeader>,
        packet: &Bytes,
    ) -> Result<Packet, DropReason> {
        let will_stay = !self.cs.is_off();
        Packet::from_wire(header, packet, &self.hasher, &mut self.memory, will_stay)
    }

    /// A packet came by a network face of this node.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, face: FaceId, packet: Packet) {
        if packet.kind() == Kind::Interest && !self.faces.admits(now, face) {
            return self.reject_fast(now, face, packet);
        }
        self.enter(now, face, packet, Visit::ONLY);
    }

    /// A packet that came by a network face, of this node or of another worker, and not too fast; whether it was Data for
    /// which somebody waited.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        now: Instant,
        face: FaceId,
        packet: Packet,
        visit: Visit,
    ) -> bool {
        let Some(known) = self.faces.get_mut(face) else {
            self.edge.out().drop_packet(face, &packet, DropReason::NoFace);
            return false;
        };
        if visit != Visit::Passing {
            known.count_in(packet.kind());
        }
        let facts = known.facts();
        let Packet { body, hop } = packet;
        match body {
            Body::Interest(interest) => self.incoming_interest(now, face, facts, interest, hop),
            Body::Data(data) => return self.incoming_data(now, face, facts, data, hop, visit),
            Body::Nack(interest, reason) => self.incoming_nack(now, face, &interest, reason, hop),
            Body::Idle => {}
        }
        false
    }

    /// Rejects an Interest that came too fast.
    pub(crate) fn reject_fast(&mut self, now: Instant, face: FaceId, packet: Packet) {
        let Packet { body: Body::Interest(interest), hop } = packet else {
            return;
        };
        if let Some(face) = self.faces.get_mut(face) {
            face.count_in(Kind::Interest);
        }
        self.refuse(now, face, &interest, &hop, NackReason::Congestion);
        self.drop_interest(face, &hop, DropReason::TooFast);
    }

    /// An application sends an Interest; `fields` are carried over to the next hops, and so is the flow nonce of the
    /// application.
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

    /// Hash of the content that a pending Interest asks for.
    fn content_of(&mut self, id: PitId) -> u64 {
        let Self { pit, hasher, .. } = self;
        pit.entry_mut(id).content(|name| flow::content(hasher, name))
    }

    /// As [`content_of`](Self::content_of), of Data that answers; `None` if no packets are scheduled.
    fn content_of_answer(&mut self, id: PitId, data: &Data) -> Option<u64> {
        if !self.edge.schedules() {
            return None;
        }
        // Both names are the same if they are as long; an answer may have a longer one.
        let same = self.pit.entry(id).interest().name.len() == data.name().len();
        Some(if same { self.content_of(id) } else { flow::content(&self.hasher, data.name()) })
    }

    /// What identifies a pending Interest to an application.
    fn return_path(&self, id: PitId) -> ReturnPath {
        ReturnPath(self.pit.ticket(id))
    }
}
