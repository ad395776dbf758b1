//! Looping Interest: its nonce has been seen here before.
//!
//! Source: NFD, `Forwarder::onInterestLoop`.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::packet::Hop;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    pub(super) fn interest_loop(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: &Arc<Interest>,
        hop: &Hop,
    ) {
        self.nack(now, ingress, interest, hop, NackReason::Duplicate);
        self.drop_interest(ingress, hop, DropReason::Loop);
    }
}
