//! An Interest leaves.
//!
//! Source: NFD, `Forwarder::onOutgoingInterest`.
use super::MAX_LIFETIME;
use crate::drop::DropReason;
use crate::face::{FaceId, FaceTable};
use crate::node::Node;
use crate::packet::{Body, Hop, Kind, Packet};
use crate::strategy::Faces;
use crate::table::{InRecord, PitId};
use crate::trace::Trace;
use recoup_packet::interest::Interest;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl Node {
    /// `came` is how the Interest came in; its mark and what is carried over go on with it.
    pub(super) fn outgoing_interest(
        &mut self,
        now: Instant,
        id: PitId,
        egress: FaceId,
        interest: Arc<Interest>,
        came: &Hop,
        trace: Trace,
    ) {
        let is_local = |faces: &FaceTable| faces.facts(egress).is_some_and(|facts| facts.local);
        if came.hop_limit == Some(0) && !is_local(&self.faces) {
            self.trace_dies(&trace);
            return self.outbox.discard(egress, Kind::Interest, DropReason::HopLimit);
        }
        let expiry = now + interest.lifetime_or_default().min(MAX_LIFETIME);
        let entry = self.pit.entry_mut(id);
        let first = entry.out_record(egress).is_none();
        entry.send(now, egress, interest.nonce, expiry);
        if first {
            self.note_at_face(egress, id);
        }
        self.set_soft_timeout(now, id, egress);
        if egress == FaceId::MANAGEMENT {
            self.trace_asks(id, egress, trace);
            return self.ask_management(id, interest);
        }
        if let Some(app) = egress.app() {
            self.note_going_back(id, &interest, came);
            let input = AppInput::Interest { interest, path: self.return_path(id) };
            if self.applications.tell(now, app, input) {
                self.trace_asks(id, egress, trace);
            } else {
                self.trace_dies(&trace);
                self.outbox.discard(egress, Kind::Interest, DropReason::NoFace);
            }
            return;
        }
        let mut hop = came.onward();
        if let Some(extra) = &came.extra
            && !extra.carried.is_empty()
        {
            hop.extra_mut().carried.clone_from(&extra.carried);
            self.add_record(now, &mut hop);
        }
        if !first && self.guards.has(egress) {
            hop.extra_mut().retransmits = true;
        }
        if self.faces.tells(egress) {
            let asker = self.asker_of(id, &interest).map(|record| record.face);
            hop.extra_mut().incoming = asker;
        }
        hop.add_trace(trace);
        let flow = (!self.gates.are_none()).then(|| {
            let asker = self.asker_of(id, &interest).map_or(egress, |record| record.face);
            (asker, self.content_of(id))
        });
        let packet = Packet { body: Body::Interest(interest), hop };
        match flow {
            None => self.transmit(now, egress, packet),
            Some(flow) => self.schedule(now, egress, flow, packet),
        }
    }

    /// An Interest is for the node itself, which has to know by which face it came.
    fn ask_management(&mut self, id: PitId, interest: Arc<Interest>) {
        let path = self.return_path(id);
        let asker = self.asker_of(id, &interest).map(|record| record.face);
        if let (Some(face), Some(management)) = (asker, &mut self.management) {
            management.ask(interest, face, path);
        }
    }

    /// Who asked with this very Interest.
    fn asker_of(&self, id: PitId, interest: &Interest) -> Option<&InRecord> {
        self.pit.entry(id).ins().iter().find(|record| record.nonce == interest.nonce)
    }
}
