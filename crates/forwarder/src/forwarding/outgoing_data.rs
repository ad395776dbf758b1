//! Data leaves.
//!
//! Source: NFD, `Forwarder::onOutgoingData`.
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::node::Node;
use crate::packet::{Body, Extra, Hop, Kind, Packet};
use crate::schedule;
use crate::strategy::{Faces, Scope};
use recoup_packet::data::Data;
use recoup_transport::application::AppInput;
use recoup_transport::time::Instant;

impl Node {
    /// `content` is what the Data is part of, where that is known already.
    pub(super) fn outgoing_data(
        &mut self,
        now: Instant,
        egress: FaceId,
        data: Data,
        mut hop: Hop,
        content: Option<u64>,
    ) {
        if let Some(app) = egress.app() {
            let congestion_mark = u64::from(hop.congestion_mark);
            let beside = hop.extra.as_deref_mut().map(Extra::beside).unwrap_or_default();
            if self.applications.tell(now, app, AppInput::Data { data, congestion_mark, beside }) {
                let trace = hop.take_trace();
                self.trace_is_delivered(app, &trace);
            }
            return;
        }
        let is_localhost = Scope::of_value(data.name_value()) == Scope::Localhost;
        if is_localhost && !self.faces.facts(egress).is_some_and(|facts| facts.local) {
            self.trace_dies(&hop.trace);
            return self.outbox.discard(egress, Kind::Data, DropReason::Scope);
        }
        let packet = Packet { body: Body::Data(data), hop };
        if self.gates.are_none() {
            return self.transmit(now, egress, packet);
        }
        let content = content.unwrap_or_else(|| schedule::content(&self.hasher, packet.name()));
        self.schedule(now, egress, (egress, content), packet);
    }
}
