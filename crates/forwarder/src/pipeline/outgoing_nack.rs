//! A Nack leaves: one that this node begins, or one that came from further on.
//!
//! Source: NFD, `Forwarder::onOutgoingNack`.
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::node::Node;
use crate::packet::{Body, Hop, Packet};
use crate::table::{InRecord, PitId, Rare};
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl Node {
    /// This node refuses an Interest that did not become pending.
    pub(super) fn refuse(
        &mut self,
        now: Instant,
        to: FaceId,
        interest: &Arc<Interest>,
        asked: &Hop,
        reason: NackReason,
    ) {
        if self.is_refused(to) {
            let token = asked.extra.as_ref().and_then(|extra| extra.pit_token.clone());
            self.outbox.event(NodeEvent::Refused { face: to, reason });
            let interest = Arc::clone(interest);
            self.outgoing_nack(now, to, interest, asked.name_hash, reason, token);
        }
    }

    /// This node refuses all who wait for an entry.
    pub(super) fn refuse_all(&mut self, now: Instant, id: PitId, reason: NackReason) {
        while let Some(face) = self.pit.entry(id).ins().first().map(|record| record.face) {
            self.refuse_one(now, id, face, reason);
        }
    }

    /// This node refuses one who waits for an entry.
    pub(super) fn refuse_one(&mut self, now: Instant, id: PitId, to: FaceId, reason: NackReason) {
        let refused = self.is_refused(to);
        if refused {
            self.outbox.event(NodeEvent::Refused { face: to, reason });
        }
        self.end_waiting(now, id, to, reason, refused);
    }

    /// A refusal from further on goes to all who wait.
    pub(super) fn pass_nack_to_all(&mut self, now: Instant, id: PitId, reason: NackReason) {
        while let Some(face) = self.pit.entry(id).ins().first().map(|record| record.face) {
            self.pass_nack(now, id, face, reason);
        }
    }

    /// A refusal from further on goes to one who waits.
    pub(super) fn pass_nack(&mut self, now: Instant, id: PitId, to: FaceId, reason: NackReason) {
        let to_shared = self.faces.get(to).map(|face| face.attributes.link_type.is_shared());
        self.end_waiting(now, id, to, reason, to_shared != Some(true));
    }

    /// Who waited waits no more, and is told so if `tell`.
    fn end_waiting(&mut self, now: Instant, id: PitId, to: FaceId, reason: NackReason, tell: bool) {
        let Some(InRecord { nonce, rare, places, .. }) = self.pit.entry_mut(id).remove_in(to)
        else {
            return;
        };
        if self.faces.is_counting() {
            self.faces.give_back(to, places);
        }
        let Rare { pit_token, trace, .. } = *rare.unwrap_or_default();
        self.trace_dies(&trace);
        if tell {
            let entry = self.pit.entry(id);
            let (hash, mut interest) = (entry.hash(), Arc::clone(entry.interest()));
            if interest.nonce != nonce {
                Arc::make_mut(&mut interest).nonce = nonce;
            }
            self.outgoing_nack(now, to, interest, hash, reason, pit_token);
        }
    }

    fn outgoing_nack(
        &mut self,
        now: Instant,
        egress: FaceId,
        interest: Arc<Interest>,
        hash: u64,
        reason: NackReason,
        pit_token: Option<Bytes>,
    ) {
        if let Some(app) = egress.app() {
            self.applications.tell(now, app, AppInput::Nack { interest, reason });
            return;
        }
        let mut hop = Hop::bare(hash, interest.encoded_len() as u32);
        if pit_token.is_some() {
            hop.extra_mut().pit_token = pit_token;
        }
        self.transmit(now, egress, Packet { body: Body::Nack(interest, reason), hop });
    }

    /// Whether a face is told when this node refuses.
    fn is_refused(&self, face: FaceId) -> bool {
        if face.app().is_some() {
            return self.way_out.is_some();
        }
        let attributes = self.faces.get(face).map(|face| face.attributes);
        attributes.is_some_and(|it| !it.upstream && !it.link_type.is_shared())
    }
}
