//! Renewed Interests that are sent when the transmission before them expires: `ccnd`.
//!
//! Source: CCNx 0.8.2, `ccnd.c`, `do_propagate`. A retransmission that arrives while an earlier transmission is pending
//! only renews its in-record. If that is still pending when the transmission expires, the node sends the Interest.
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::strategy::{Action, Ingress};
use crate::table::{Arrival, InRecord, PitEntry, PitId};
use recoup_packet::interest::Interest;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    /// Sets the timer of an entry to the end of its last transmission, if an in-record is pending beyond that.
    #[cold]
    pub(super) fn wait_to_renew(&mut self, now: Instant, id: PitId) {
        let entry = self.pit.entry(id);
        let pending = entry.outs().iter().filter(|record| record.is_pending(now));
        let end = pending.map(|record| record.expiry).max();
        if let Some(end) = end.filter(|end| entry.latest_expiry().is_some_and(|last| last > *end)) {
            self.pit.arm(id, end);
        }
    }

    /// Sends the Interest of an entry whose transmission has expired; `false` if no in-record is pending any more, or
    /// there is no next hop.
    #[cold]
    pub(super) fn send_renewed(&mut self, now: Instant, id: PitId) -> bool {
        let entry = self.pit.entry(id);
        let Some(InRecord { face, nonce, expiry, .. }) = last_pending(now, entry).cloned() else {
            return false;
        };
        let mut interest = Interest::clone(entry.interest());
        (interest.nonce, interest.lifetime) = (nonce, Some(expiry.since(now)));
        let (hop, interest) = (self.hop_of(id, &interest), Arc::new(interest));
        let from = Ingress { face, arrival: Arrival::Retransmission };
        self.consult_strategy(now, id, |strategy, context, entry| {
            strategy.after_interest(context, entry, from);
        });
        let mut actions = std::mem::take(&mut self.actions);
        let mut is_sent = false;
        for action in &actions {
            if let Action::SendInterest { face } = *action {
                is_sent = true;
                self.outgoing_interest(
                    now,
                    id,
                    face,
                    Arc::clone(&interest),
                    &hop,
                    Default::default(),
                );
            }
        }
        actions.clear();
        self.actions = actions;
        if is_sent {
            self.edge.out().event(NodeEvent::PitForwardedAgain { hash: hop.name_hash });
            self.pit.arm(id, expiry);
        }
        is_sent
    }
}

/// The in-record that is pending longest.
fn last_pending(now: Instant, entry: &PitEntry) -> Option<&InRecord> {
    let pending = entry.ins().iter().filter(|record| record.expiry > now);
    pending.max_by_key(|record| record.expiry)
}
