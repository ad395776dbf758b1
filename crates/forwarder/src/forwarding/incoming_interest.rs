//! Incoming Interest.
//!
//! Source: NFD, `Forwarder::onIncomingInterest`.
//!
//! Differences: the content store is searched before a PIT entry exists, so that a hit creates none.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::packet::{Hop, Kind};
use crate::strategy::{FaceFacts, Scope};
use crate::table::policy::CopyDown;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    pub(crate) fn incoming_interest(
        &mut self,
        now: Instant,
        ingress: FaceId,
        FaceFacts { local, link_type }: FaceFacts,
        interest: Arc<Interest>,
        mut hop: Hop,
    ) {
        if !local && Scope::of(&interest.name) == Scope::Localhost {
            return self.drop_interest(ingress, &hop, DropReason::Scope);
        }
        match &mut hop.hop_limit {
            Some(0) => return self.drop_interest(ingress, &hop, DropReason::HopLimit),
            Some(limit) => *limit -= 1,
            None => {}
        }
        let is_directed = hop.extra.as_ref().is_some_and(|extra| extra.next_hop.is_some());
        if is_directed && !self.faces.has_local_fields(ingress) {
            return self.drop_interest(ingress, &hop, DropReason::LocalField);
        }
        let interest = self.with_nonce(interest, &mut hop);
        let nonce = interest.nonce.unwrap_or_default();
        let known = self.pit.find(&interest, hop.name_hash);
        let is_loop = self.dead_nonces.contains(now, hop.name_hash, nonce)
            || known.is_some_and(|id| {
                self.pit.entry(id).find_nonce(ingress, nonce).is_loop(link_type.is_shared())
            });
        if is_loop {
            return self.interest_loop(now, ingress, &interest, &hop);
        }
        if self.was_rerouted_here(now, ingress, known, &hop) {
            self.nack(now, ingress, &interest, &hop, NackReason::Mobility);
            return self.drop_interest(ingress, &hop, DropReason::Loop);
        }
        let pending = known.is_some_and(|id| !self.pit.entry(id).ins().is_empty());
        if !pending
            && !self.cs.is_off()
            && let Some(data) = self.cs.find(now, &interest, hop.name_hash)
        {
            if self.cs.copy_down() == CopyDown::Move && ingress.app().is_none() {
                let hash = self.hasher.hash(data.name_value());
                self.cs.erase_exact(data.name_value(), hash);
            }
            return self.content_store_hit(now, ingress, &interest, data, hop);
        }
        self.content_store_miss(now, ingress, interest, &mut hop, known);
    }

    /// Drops an Interest, and its tokens with it.
    pub(super) fn drop_interest(&mut self, ingress: FaceId, hop: &Hop, reason: DropReason) {
        self.edge.out().drop_hop(ingress, Kind::Interest, hop, reason);
    }

    /// Interests must have a nonce on network links; one without gets one.
    fn with_nonce(&mut self, mut interest: Arc<Interest>, hop: &mut Hop) -> Arc<Interest> {
        if interest.nonce.is_none() {
            Arc::make_mut(&mut interest).nonce = Some(self.rng.next_u32());
            hop.bytes = interest.encoded_len() as u32;
        }
        interest
    }
}
