//! Outgoing Nack: one of this node, or one from upstream.
//!
//! Source: NFD, `Forwarder::onOutgoingNack`. Difference: applications with local fields get the IncomingFaceId of a
//! Nack, as NDNLPv2 has it; NFD loses it.
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Body, Hop, Packet};
use crate::table::{InRecord, PitId};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    /// Sends a Nack for an Interest that did not become pending.
    pub(super) fn nack(
        &mut self,
        now: Instant,
        to: FaceId,
        interest: &Arc<Interest>,
        asked: &Hop,
        reason: NackReason,
    ) {
        if self.gets_nacks(to) {
            let mut hop = Hop::bare(asked.name_hash, interest.encoded_len() as u32);
            if let Some(token) = asked.extra.as_ref().and_then(|extra| extra.pit_token.clone()) {
                hop.extra_mut().pit_token = Some(token);
            }
            self.edge.out().event(NodeEvent::NackSent { face: to, reason });
            self.outgoing_nack(now, to, Arc::clone(interest), reason, hop);
        }
    }

    /// Sends a Nack of this node to all downstream faces of an entry.
    pub(super) fn nack_all(&mut self, now: Instant, id: PitId, reason: NackReason) {
        while let Some(face) = self.pit.entry(id).ins().first().map(|record| record.face) {
            self.nack_one(now, id, face, reason);
        }
    }

    /// Sends a Nack of this node to one downstream face of an entry.
    pub(super) fn nack_one(&mut self, now: Instant, id: PitId, to: FaceId, reason: NackReason) {
        let notify = self.gets_nacks(to);
        if notify {
            self.edge.out().event(NodeEvent::NackSent { face: to, reason });
        }
        self.end_waiting(now, id, to, (reason, None), notify);
    }

    /// Passes a Nack from `upstream` to all downstream faces.
    pub(super) fn pass_nack_to_all(
        &mut self,
        now: Instant,
        id: PitId,
        reason: NackReason,
        upstream: FaceId,
    ) {
        while let Some(face) = self.pit.entry(id).ins().first().map(|record| record.face) {
            self.pass_nack(now, id, face, reason, Some(upstream));
        }
    }

    /// Passes a Nack from upstream to one downstream face, with its IncomingFaceId if required.
    pub(super) fn pass_nack(
        &mut self,
        now: Instant,
        id: PitId,
        to: FaceId,
        reason: NackReason,
        upstream: Option<FaceId>,
    ) {
        let to_shared = self.faces.get(to).map(|face| face.attributes.link_type.is_shared());
        self.end_waiting(now, id, to, (reason, upstream), to_shared != Some(true));
    }

    /// Removes a downstream face from an entry, and sends it a Nack if `notify`.
    fn end_waiting(
        &mut self,
        now: Instant,
        id: PitId,
        to: FaceId,
        (reason, upstream): (NackReason, Option<FaceId>),
        notify: bool,
    ) {
        let Some(InRecord { nonce, rare, slots, .. }) = self.pit.entry_mut(id).remove_in(to) else {
            return;
        };
        if self.faces.is_counting() {
            self.faces.release_slots(to, slots);
        }
        let pit_token = rare.and_then(|rare| rare.pit_token);
        let Outbox { observer, outputs } = self.edge.out();
        observer.waiting_ended(id, to, outputs);
        if notify {
            let entry = self.pit.entry(id);
            let (hash, mut interest) = (entry.hash(), Arc::clone(entry.interest()));
            if interest.nonce != nonce {
                Arc::make_mut(&mut interest).nonce = nonce;
            }
            let mut hop = Hop::bare(hash, interest.encoded_len() as u32);
            if pit_token.is_some() {
                hop.extra_mut().pit_token = pit_token;
            }
            if upstream.is_some() && self.faces.has_local_fields(to) {
                hop.extra_mut().incoming = upstream;
            }
            self.outgoing_nack(now, to, interest, reason, hop);
        }
    }

    fn outgoing_nack(
        &mut self,
        now: Instant,
        egress: FaceId,
        interest: Arc<Interest>,
        reason: NackReason,
        hop: Hop,
    ) {
        if let Some(app) = egress.app() {
            self.edge.deliver(now, app, AppInput::Nack { interest, reason });
            return;
        }
        self.edge.transmit(now, egress, Packet { body: Body::Nack(interest, reason), hop });
    }

    /// Whether a face gets Nacks of this node.
    fn gets_nacks(&self, face: FaceId) -> bool {
        if face.app().is_some() {
            return self.uplink.is_some();
        }
        let attributes = self.faces.get(face).map(|face| face.attributes);
        attributes.is_some_and(|it| !it.upstream && !it.link_type.is_shared())
    }
}
