//! Incoming Nack, or an Interest that is returned because its path or its Data was lost (see [`super::mobility`]).
//!
//! Source: NFD, `Forwarder::onIncomingNack`.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Hop, Kind};
use crate::strategy::{Action, Faces};
use crate::table::PitId;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::application::ReturnPath;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    /// Only a Nack for the last Interest sent there counts.
    pub(super) fn incoming_nack(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Arc<Interest>,
        reason: NackReason,
        mut hop: Hop,
    ) {
        let Outbox { observer, outputs } = self.edge.out();
        let trace = observer.take(&mut hop);
        observer.trace_dropped(trace, outputs);
        let is_shared = self.faces.facts(ingress).is_none_or(|it| it.link_type.is_shared());
        let nacked = self.pit.find(interest, hop.name_hash).filter(|id| {
            let record = self.pit.entry(*id).out_record(ingress);
            !is_shared && record.is_some_and(|record| record.nonce == interest.nonce)
        });
        let returned = matches!(reason, NackReason::Mobility | NackReason::Loss);
        let lost = || self.find_lost(interest, hop.name_hash, ingress).filter(|_| !is_shared);
        let nacked = nacked.or_else(|| (reason == NackReason::Loss).then(lost)?);
        // Where the producer will arrive, it has not registered yet: that is no mistyped name.
        let is_early =
            reason == NackReason::NoRoute && nacked.is_some_and(|id| self.has_lost_next_hop(id));
        match nacked {
            Some(id) if is_early => {
                self.interest_returned(now, id, ingress, NackReason::Mobility);
            }
            Some(id) if returned => self.interest_returned(now, id, ingress, reason),
            Some(id) => self.upstream_nacked(now, id, ingress, interest, reason, hop),
            None => self.edge.out().dropped(ingress, Kind::Nack, DropReason::NackUnmatched),
        }
    }

    /// Handles the Nack of an application.
    pub(crate) fn reject(
        &mut self,
        now: Instant,
        from: FaceId,
        reason: NackReason,
        path: ReturnPath,
    ) {
        let asked = |id: &PitId| self.pit.entry(*id).out_record(from).is_some();
        let Some(id) = self.pit.by_ticket(path.0).filter(asked) else {
            return self.edge.out().dropped(from, Kind::Nack, DropReason::NackUnmatched);
        };
        let Outbox { observer, outputs } = self.edge.out();
        let trace = observer.answered(id, from);
        observer.trace_dropped(trace, outputs);
        let interest = Arc::clone(self.pit.entry(id).interest());
        let hop = Hop::bare(self.pit.entry(id).hash(), interest.encoded_len() as u32);
        self.upstream_nacked(now, id, from, &interest, reason, hop);
    }

    fn upstream_nacked(
        &mut self,
        now: Instant,
        id: PitId,
        upstream: FaceId,
        interest: &Arc<Interest>,
        reason: NackReason,
        mut hop: Hop,
    ) {
        // The alternative next hop is at the same distance, whatever the hop limit becomes.
        let came = self.pit.entry(id).interest().hop_limit.unwrap_or(u8::MAX);
        hop.hop_limit = interest.hop_limit.map(|limit| limit.min(came.saturating_sub(1)));
        if let Some(record) = self.pit.entry_mut(id).out_record_mut(upstream) {
            record.set_nacked(reason);
        }
        self.consult_strategy(now, id, |strategy, context, entry| {
            strategy.after_nack(context, entry, upstream, reason);
        });
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match action {
                Action::SendInterest { face } => {
                    let (interest, trace) = (Arc::clone(interest), Default::default());
                    self.outgoing_interest(now, id, face, interest, &hop, trace);
                }
                Action::Nack { reason } => self.pass_nack_to_all(now, id, reason, upstream),
                Action::NackTo { face, reason } => {
                    self.pass_nack(now, id, face, reason, Some(upstream));
                }
                Action::Reject => self.interest_finalize(now, id),
                Action::Suppress => {}
            }
        }
        self.actions = actions;
    }
}
