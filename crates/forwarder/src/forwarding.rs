//! Pipelines: the stations of a packet in a node, under NFD's names (`daemon/fw/forwarder.hpp`).
//!
//! | a node refuses an Interest with | if |
//! |---|---|
//! | NoRoute | no next hop is eligible and nobody is being asked already |
//! | Duplicate | its nonce came by another face, or was seen by this node a short while ago |
//! | Congestion | as many Interests are pending as there may be, in all or of its face, or it came faster than its face may ask |
//! | Mobility | its face, or all faces that lead toward its name, are down or were lost a short while ago (`mobility`) |
//! | Loss | a link lost it or its Data, and does not send it again (`wldr(mode=eln)`) |
//!
//! It tells nobody on a multi-access face, for others there may know better; no face that leads toward producers, for
//! a forwarder there has its own reasons for what it brings here; and no application while there is no way out, for
//! it knows. Refusals that came from further on are passed to everybody who waits, except on multi-access faces.
mod content_store_hit;
mod content_store_miss;
mod data_unsolicited;
mod incoming_data;
mod incoming_interest;
mod incoming_nack;
mod interest_expiry;
mod interest_loop;
mod mobility;
mod outgoing_data;
mod outgoing_interest;
mod outgoing_nack;

pub(crate) use content_store_miss::route;

use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::{AppId, FaceId};
use crate::link::{Enqueued, Link};
use crate::node::{Node, Output};
use crate::packet::{Body, Kind, Packet};
use crate::shard::{Handed, Visit};
use crate::strategy::FaceFacts;
use crate::table::PitId;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_transport::application::{AppOutput, ReturnPath};
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

/// Longest time that an Interest is remembered, whatever it asks for: what strangers can make a node keep is bounded.
pub const MAX_LIFETIME: Duration = Duration::from_secs(120);

impl Node {
    /// A packet came by a network face of this node.
    #[inline]
    pub(crate) fn receive(&mut self, now: Instant, face: FaceId, packet: Packet) {
        if packet.kind() == Kind::Interest && !self.faces.admits(now, face) {
            return self.refuse_fast(now, face, packet);
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
            self.discard_packet(face, packet, DropReason::NoFace);
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

    /// An Interest came too fast.
    pub(crate) fn refuse_fast(&mut self, now: Instant, face: FaceId, packet: Packet) {
        let Packet { body: Body::Interest(interest), hop } = packet else {
            return;
        };
        if let Some(face) = self.faces.get_mut(face) {
            face.count_in(Kind::Interest);
        }
        self.refuse(now, face, &interest, &hop, NackReason::Congestion);
        self.drop_interest(face, &hop, DropReason::TooFast);
    }

    /// Does what an application wants.
    pub(crate) fn carry_out(&mut self, now: Instant, app: AppId, output: AppOutput) {
        let face = FaceId::of_app(app);
        match output {
            AppOutput::Report(report) => {
                self.outbox.outputs.push_back(Output::App { app, report });
            }
            AppOutput::Interest(interest) => self.express(now, app, interest, None),
            AppOutput::InterestWith { interest, fields } => {
                self.express(now, app, interest, Some(*fields));
            }
            AppOutput::Data { data, path } => self.answer(now, face, data, path),
            AppOutput::Nack { reason, path } => self.refusal(now, face, reason, path),
        }
    }

    /// An application asks; what is to be carried over goes with its Interest.
    fn express(
        &mut self,
        now: Instant,
        app: AppId,
        interest: Arc<Interest>,
        fields: Option<Ignorable>,
    ) {
        let mut packet = Packet::interest(interest, &self.hasher);
        if let Some(fields) = fields {
            packet.hop.extra_mut().carried = field::sort(&fields).0;
        }
        if let Some(nonce) = self.applications.flow_nonce(app) {
            field::set_flow_nonce(&mut packet.hop.extra_mut().carried, nonce);
        }
        self.trace_born(app, &mut packet);
        if let Packet { body: Body::Interest(interest), hop } = packet {
            let (face, facts) = (FaceId::of_app(app), FaceFacts::APPLICATION);
            self.incoming_interest(now, face, facts, interest, hop);
        }
    }

    /// A packet leaves by a network face.
    pub(crate) fn transmit(&mut self, now: Instant, id: FaceId, mut packet: Packet) {
        let Some(face) = self.faces.get_mut(id) else {
            return self.discard_packet(id, packet, DropReason::NoFace);
        };
        if let Link::Elsewhere(worker) = face.link {
            return self.hand(worker, Handed::Leaves { face: id, group: None, packet });
        }
        face.count_out(packet.kind());
        let guarded = face.is_guarded();
        let (outputs, counters) = (&mut self.outbox.outputs, &mut face.counters);
        let marked = match &mut face.link {
            Link::Wire(_) if guarded => match self.send_guarded(now, id, &mut packet) {
                Ok(sent) => sent.marked,
                Err(reason) => return self.discard_packet(id, packet, reason),
            },
            Link::Wire(link) => {
                let push = |frame: Bytes| {
                    counters.out_octets += frame.len() as u64;
                    outputs.push_back(Output::Send { face: id, frame: frame.into() });
                };
                match link.send(now, &mut packet, &mut self.wires, push) {
                    Ok(sent) => sent.marked,
                    Err(reason) => return self.discard_packet(id, packet, reason),
                }
            }
            Link::Value(link) => match link.enqueue(now, packet) {
                Enqueued::Leaves { packet, marked } => {
                    let packet = self.guards.tag(now, id, packet);
                    outputs.push_back(Output::Transmit { face: id, packet });
                    marked
                }
                Enqueued::Full(packet) => {
                    return self.discard_packet(id, packet, DropReason::QueueFull);
                }
                Enqueued::Waits { wants, marked } => {
                    let state = link.state();
                    if wants {
                        outputs.push_back(Output::Wants { face: id });
                    }
                    let (packets, octets) = (state.packets as u32, state.octets as u32);
                    self.outbox.event(NodeEvent::Queued { face: id, packets, octets });
                    marked
                }
            },
            Link::Elsewhere(_) => false,
        };
        if marked {
            self.counters.marked += 1;
            self.outbox.event(NodeEvent::Marked { face: id });
        }
    }

    /// A packet goes no further, and its tokens with it.
    pub(crate) fn discard_packet(&mut self, face: FaceId, packet: Packet, reason: DropReason) {
        self.trace_dies(packet.trace());
        self.outbox.discard(face, packet.kind(), reason);
    }

    /// What identifies a pending Interest to an application.
    fn return_path(&self, id: PitId) -> ReturnPath {
        ReturnPath(self.pit.ticket(id))
    }
}
