//! Data comes that nobody waits for.
//!
//! Source: NFD, `Forwarder::onDataUnsolicited`.
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::node::Node;
use crate::options::Unsolicited;
use crate::packet::{Hop, Kind};
use recoup_packet::data::Data;
use recoup_transport::time::Instant;

impl Node {
    pub(super) fn data_unsolicited(
        &mut self,
        now: Instant,
        ingress: FaceId,
        data: Data,
        mut hop: Hop,
    ) {
        let trace = hop.take_trace();
        self.trace_is_late(&trace);
        if self.unsolicited == Unsolicited::AdmitNetwork && ingress.app().is_none() {
            self.store(now, &data, &hop);
        }
        self.outbox.discard(ingress, Kind::Data, DropReason::Unsolicited);
    }
}
