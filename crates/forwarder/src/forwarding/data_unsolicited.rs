//! Unsolicited Data.
//!
//! Source: NFD, `Forwarder::onDataUnsolicited`.
//!
//! Difference: an application that verifies gets Data for which it still waits. An earlier forged copy has consumed
//! the pending Interest, and only the application recognizes the genuine copy.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::{AppId, FaceId};
use crate::observer::Observer;
use crate::options::Unsolicited;
use crate::outbox::Outbox;
use crate::packet::{Hop, Kind};
use recoup_packet::data::Data;
use recoup_transport::time::Instant;

impl<E: Edge> Forwarder<E> {
    pub(super) fn data_unsolicited(
        &mut self,
        now: Instant,
        ingress: FaceId,
        data: Data,
        mut hop: Hop,
    ) {
        if ingress.app().is_none() && self.deliver_unsolicited(now, &data, &hop) {
            return;
        }
        let Outbox { observer, outputs } = self.edge.out();
        let trace = observer.take(&mut hop);
        observer.data_unsolicited(trace, outputs);
        if self.unsolicited == Unsolicited::AdmitNetwork && ingress.app().is_none() {
            self.store(now, &data, &mut hop);
        }
        self.edge.out().dropped(ingress, Kind::Data, DropReason::Unsolicited);
    }

    /// Delivers Data to each application that still waits for it. Returns false if none does.
    fn deliver_unsolicited(&mut self, now: Instant, data: &Data, hop: &Hop) -> bool {
        let mut next = self.edge.awaiting(AppId(0), data);
        let is_awaited = next.is_some();
        while let Some(app) = next {
            self.outgoing_data(now, FaceId::of_app(app), data.clone(), hop.clone(), None, None);
            next = self.edge.awaiting(AppId(app.0 + 1), data);
        }
        is_awaited
    }
}
