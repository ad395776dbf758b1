//! The content store answers an Interest.
//!
//! Source: NFD, `Forwarder::onContentStoreHit`. Stored Data has no link fields. It gets those of this node, and the
//! fields of the Interest that are returned.
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::packet::Hop;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::field;
use recoup_transport::application::Asked;
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    pub(super) fn content_store_hit(
        &mut self,
        now: Instant,
        downstream: FaceId,
        interest: &Interest,
        data: Data,
        mut asked: Hop,
    ) {
        self.counters.cs_hits += 1;
        self.edge.out().event(NodeEvent::CsHit { hash: asked.name_hash });
        let same = data.name_value().len() == interest.name.value().len();
        let hash = if same { asked.name_hash } else { self.hasher.hash(data.name_value()) };
        let mut hop = Hop::bare(hash, data.encoded_len() as u32);
        let observer = &mut self.edge.out().observer;
        let trace = observer.take(&mut asked);
        observer.attach(&mut hop, trace);
        if let Some(asked) = asked.extra {
            self.send_back(&asked.carried, false, &mut hop);
            if let Some(nonce) = field::flow_nonce(&asked.carried)
                && downstream.app().is_none()
            {
                field::set_flow_nonce(&mut hop.extra_mut().carried, nonce);
            }
            if asked.pit_token.is_some() {
                hop.extra_mut().pit_token = asked.pit_token;
            }
        }
        self.add_provider_id(&mut hop);
        if self.edge.recovers(downstream) {
            hop.note_lifetime(interest);
        }
        if self.faces.has_local_fields(downstream) {
            hop.extra_mut().incoming = Some(FaceId::CONTENT_STORE);
        }
        self.outgoing_data(now, downstream, data, hop, None, Some(Asked::of(interest)));
    }
}
