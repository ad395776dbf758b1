//! Outgoing Interest.
//!
//! Source: NFD, `Forwarder::onOutgoingInterest`.
use super::edge::FlowPart;
use super::face::FaceTable;
use super::{Edge, Forwarder, TraceOf};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::limits::MAX_LIFETIME;
use crate::observer::Observer;
use crate::order::ManagementRequest;
use crate::outbox::Outbox;
use crate::packet::{Body, Hop, Kind, Packet};
use crate::strategy::Faces;
use crate::table::{InRecord, PitId};
use recoup_packet::interest::Interest;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    /// `came` has the link fields of the incoming Interest; its mark and forwarded fields are sent with it.
    #[inline]
    pub(super) fn outgoing_interest(
        &mut self,
        now: Instant,
        id: PitId,
        egress: FaceId,
        interest: Arc<Interest>,
        came: &Hop,
        trace: TraceOf<E>,
    ) {
        let is_local = |faces: &FaceTable| faces.facts(egress).is_some_and(|facts| facts.local);
        if came.hop_limit == Some(0) && !is_local(&self.faces) {
            self.edge.out().trace_dropped(trace);
            return self.edge.out().dropped(egress, Kind::Interest, DropReason::HopLimit);
        }
        let lifetime = interest.lifetime_or_default().min(MAX_LIFETIME);
        let expiry = now + self.suppression.remembered(lifetime);
        let entry = self.pit.entry_mut(id);
        let first = entry.out_record(egress).is_none();
        entry.send(now, egress, interest.nonce, expiry);
        if first {
            self.list_at_face(egress, id);
        }
        self.set_soft_timeout(now, id, egress);
        if egress == FaceId::MANAGEMENT {
            let Outbox { observer, outputs } = self.edge.out();
            observer.interest_delivered(id, egress, trace, outputs);
            return self.ask_management(id, interest);
        }
        if let Some(app) = egress.app() {
            self.keep_returned_fields(id, &interest, came);
            let input = AppInput::Interest { interest, path: self.return_path(id) };
            if self.edge.deliver(now, app, input) {
                let Outbox { observer, outputs } = self.edge.out();
                observer.interest_delivered(id, egress, trace, outputs);
            } else {
                self.edge.out().trace_dropped(trace);
                self.edge.out().dropped(egress, Kind::Interest, DropReason::NoFace);
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
        if !first && self.edge.recovers(egress) {
            hop.extra_mut().retransmits = true;
        }
        if self.faces.has_local_fields(egress) {
            let ingress = self.downstream_of(id, &interest).map(|record| record.face);
            hop.extra_mut().incoming = ingress;
        }
        self.edge.out().observer.attach(&mut hop, trace);
        let flow = self.edge.schedules().then(|| {
            let neighbour = self.downstream_of(id, &interest).map_or(egress, |record| record.face);
            FlowPart { neighbour, content: self.content_of(id) }
        });
        let packet = Packet { body: Body::Interest(interest), hop };
        match flow {
            None => self.edge.transmit(now, egress, packet),
            Some(flow) => self.edge.schedule(now, egress, flow, packet),
        }
    }

    /// Passes an Interest to the management, which needs its ingress face.
    fn ask_management(&mut self, id: PitId, interest: Arc<Interest>) {
        let path = self.return_path(id);
        let ingress = self.downstream_of(id, &interest).map(|record| record.face);
        if let Some(ingress) = ingress {
            self.edge.manage(ManagementRequest { interest, ingress, path });
        }
    }

    /// The in-record with the nonce of this Interest.
    fn downstream_of(&self, id: PitId, interest: &Interest) -> Option<&InRecord> {
        self.pit.entry(id).ins().iter().find(|record| record.nonce == interest.nonce)
    }
}
