//! Outgoing Data.
//!
//! Source: NFD, `Forwarder::onOutgoingData`.
use super::edge::FlowPart;
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::flow;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Body, Extra, Hop, Kind, Packet};
use crate::strategy::{Faces, Scope};
use recoup_packet::data::Data;
use recoup_transport::application::{AppInput, Asked, Beside};
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    /// `content` is the hash of its content, if known already; `asked` the pending Interest that it satisfies.
    #[inline]
    pub(super) fn outgoing_data(
        &mut self,
        now: Instant,
        egress: FaceId,
        data: Data,
        mut hop: Hop,
        content: Option<u64>,
        asked: Option<Asked>,
    ) {
        if let Some(app) = egress.app() {
            let congestion_mark = u64::from(hop.congestion_mark);
            let beside = hop.extra.as_deref_mut().map(Extra::beside).unwrap_or_default();
            let beside = Beside { asked, ..beside };
            if self.edge.deliver(now, app, AppInput::Data { data, congestion_mark, beside }) {
                let Outbox { observer, outputs } = self.edge.out();
                observer.data_delivered(app, &hop, outputs);
            }
            return;
        }
        let is_localhost = Scope::of_value(data.name_value()) == Scope::Localhost;
        if is_localhost && !self.faces.facts(egress).is_some_and(|facts| facts.local) {
            return self.edge.out().drop_hop(egress, Kind::Data, &hop, DropReason::Scope);
        }
        let packet = Packet { body: Body::Data(data), hop };
        if !self.edge.schedules() {
            return self.edge.transmit(now, egress, packet);
        }
        let content = content.unwrap_or_else(|| flow::content(&self.hasher, packet.name()));
        self.edge.schedule(now, egress, FlowPart { neighbour: egress, content }, packet);
    }
}
