//! Content store miss: the Interest becomes pending, or is aggregated, and the strategy decides.
//!
//! Source: NFD, `Forwarder::onContentStoreMiss`.
//!
//! Differences: lifetimes are limited ([`MAX_LIFETIME`]). The forwarding hint counts if the only route of the name is
//! that of "/", while NFD looks at it first and knows its region.
use super::{Edge, Forwarder};
use crate::drop::DropReason;
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::limits;
use crate::limits::MAX_LIFETIME;
use crate::observer::Observer;
use crate::outbox::Outbox;
use crate::packet::{Extra, Hop, Kind};
use crate::strategy::{Action, Context, FaceFacts, Faces, ForwardingStrategy, Ingress, Scope};
use crate::table::{Arrival, Fib, FibMatch, InRecord, PitEntry, PitFull, PitId, Rare};
use recoup_packet::interest::Interest;
use recoup_packet::lp::field;
use recoup_packet::nack::NackReason;
use recoup_transport::time::Instant;
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    pub(super) fn content_store_miss(
        &mut self,
        now: Instant,
        ingress: FaceId,
        interest: Arc<Interest>,
        hop: &mut Hop,
        known: Option<PitId>,
    ) {
        let hash = hop.name_hash;
        if !self.cs.is_off() {
            self.counters.cs_misses += 1;
            self.edge.out().event(NodeEvent::CsMiss { hash });
        }
        if self.faces.is_counting() && !self.has_free_slot(ingress, hop, known) {
            self.nack(now, ingress, &interest, hop, NackReason::Congestion);
            return self.drop_interest(ingress, hop, DropReason::TooManyPending);
        }
        let id = match known.map_or_else(|| self.begin(&interest, hash), Ok) {
            Ok(id) => id,
            Err(PitFull) => {
                self.nack(now, ingress, &interest, hop, NackReason::Congestion);
                return self.drop_interest(ingress, hop, DropReason::PitFull);
            }
        };
        let arrival = self.record_downstream(now, id, ingress, &interest, hop);
        self.record_reroute(id, hop);
        let next_hop = hop.extra.as_mut().and_then(|extra| extra.next_hop.take());
        match next_hop {
            Some(face) => self.direct(ingress, face, &interest),
            None => self.consult_strategy(now, id, |strategy, context, entry| {
                strategy.after_interest(context, entry, Ingress { face: ingress, arrival });
            }),
        }
        let mut actions = std::mem::take(&mut self.actions);
        self.report_lost_route(now, id, ingress, &mut actions);
        self.after_interest(now, id, ingress, interest, hop, arrival, &actions);
        actions.clear();
        self.actions = actions;
    }

    #[inline]
    fn begin(&mut self, interest: &Arc<Interest>, hash: u64) -> Result<PitId, PitFull> {
        let id = self.pit.insert(Arc::clone(interest), hash)?;
        self.edge.out().event(NodeEvent::PitInserted { hash });
        Ok(id)
    }

    /// Whether a face may have one more pending Interest, if this is one more.
    #[inline]
    fn has_free_slot(&self, ingress: FaceId, hop: &Hop, known: Option<PitId>) -> bool {
        let waits = |id| self.pit.entry(id).in_record(ingress).is_some();
        known.is_some_and(waits)
            || self.faces.admits_pending(ingress, limits::slots(hop.bytes), self.pit.limit())
    }

    /// Adds or updates an in-record.
    #[inline]
    fn record_downstream(
        &mut self,
        now: Instant,
        id: PitId,
        ingress: FaceId,
        interest: &Interest,
        hop: &mut Hop,
    ) -> Arrival {
        let lifetime = interest.lifetime_or_default().min(MAX_LIFETIME);
        let lifetime = self.suppression.remembered(lifetime);
        let rare = hop.extra.as_deref_mut().and_then(rare_of);
        let slots = limits::slots(hop.bytes);
        let entry = self.pit.entry_mut(id);
        let record = InRecord::new(ingress, interest.nonce, now + lifetime);
        let arrival = entry.receive(InRecord { slots, rare, ..record });
        let expiry = entry.latest_expiry().unwrap_or(now);
        self.pit.arm(id, expiry);
        if self.suppression.sends_renewed() {
            self.wait_to_renew(now, id);
        }
        match arrival {
            Arrival::First | Arrival::AnotherFace => {
                if self.faces.is_counting() {
                    self.faces.take_slots(ingress, slots, id, &self.pit);
                }
                self.list_at_face(ingress, id);
            }
            Arrival::Retransmission => self.reroutes.restart_clock(id, &self.pit),
            Arrival::Repetition => {}
        }
        arrival
    }

    /// Follows the NextHopFaceId of a local application.
    fn direct(&mut self, ingress: FaceId, to: FaceId, interest: &Interest) {
        let from = self.faces.facts(ingress);
        let passes = |to: FaceFacts| to.admits(Scope::of(&interest.name), from);
        if to != ingress && self.faces.facts(to).is_some_and(passes) {
            self.actions.push(Action::SendInterest { face: to });
        } else {
            self.actions.extend([Action::Nack { reason: NackReason::NoRoute }, Action::Reject]);
        }
    }

    /// Calls the strategy of an entry.
    pub(super) fn consult_strategy(
        &mut self,
        now: Instant,
        id: PitId,
        ask: impl FnOnce(&mut dyn ForwardingStrategy, &mut Context<'_>, &mut PitEntry),
    ) {
        let Self { fib, pit, strategies, suppression, faces, measurements, actions, .. } = self;
        let entry = pit.entry_mut(id);
        let route = route(fib, entry.interest());
        let strategy = strategies.longest_mut(&entry.interest().name);
        let mut context =
            Context { now, route, suppression, faces: &*faces, measurements, actions };
        if let Some((_, strategy)) = strategy {
            ask(strategy.as_mut(), &mut context, entry);
        }
    }

    /// Notifies the strategy of the end of an entry, if it requires that.
    pub(super) fn notify_strategy(
        &mut self,
        now: Instant,
        id: PitId,
        notify: impl FnOnce(&mut dyn ForwardingStrategy, &mut Context<'_>, &mut PitEntry),
    ) {
        let strategy = self.strategies.longest(&self.pit.entry(id).interest().name);
        if strategy.is_some_and(|(_, strategy)| strategy.learns()) {
            self.consult_strategy(now, id, notify);
            // Nothing is left to be done for the entry.
            self.actions.clear();
        }
    }

    /// Performs the actions of the strategy for an incoming Interest.
    #[expect(clippy::too_many_arguments, reason = "all that is known of one Interest")]
    fn after_interest(
        &mut self,
        now: Instant,
        id: PitId,
        ingress: FaceId,
        interest: Arc<Interest>,
        hop: &mut Hop,
        arrival: Arrival,
        actions: &[Action],
    ) {
        let sent = actions.iter().filter(|it| matches!(it, Action::SendInterest { .. })).count();
        let Outbox { observer, outputs } = self.edge.out();
        let trace = observer.take(hop);
        observer.interest_pending(id, ingress, &trace, sent, outputs);
        self.report_outcome(hop, ingress, arrival, sent > 0, actions);
        let (mut to_send, mut left) = (sent, Some(interest));
        for action in actions {
            match *action {
                Action::SendInterest { face } => {
                    to_send -= 1;
                    let interest = if to_send == 0 { left.take() } else { left.clone() };
                    if let Some(interest) = interest {
                        self.outgoing_interest(now, id, face, interest, hop, trace.clone());
                    }
                }
                Action::Nack { reason } => self.nack_all(now, id, reason),
                Action::NackTo { face, reason } => self.nack_one(now, id, face, reason),
                Action::Reject => self.interest_finalize(now, id),
                Action::Suppress => {}
            }
        }
        // A rejection is the last action.
        if matches!(actions.last(), Some(Action::Reject)) {
            let lost = actions.contains(&Action::Nack { reason: NackReason::Mobility });
            let reason = if lost { DropReason::WayLost } else { DropReason::NoRoute };
            self.edge.out().dropped(ingress, Kind::Interest, reason);
        }
    }

    /// Reports the outcome of an Interest.
    #[inline]
    fn report_outcome(
        &mut self,
        hop: &Hop,
        ingress: FaceId,
        arrival: Arrival,
        forwarded: bool,
        actions: &[Action],
    ) {
        let hash = hop.name_hash;
        match arrival {
            Arrival::First => {}
            _ if actions.contains(&Action::Reject) => {}
            _ if forwarded => self.edge.out().event(NodeEvent::PitForwardedAgain { hash }),
            Arrival::AnotherFace => self.edge.out().event(NodeEvent::PitAggregated { hash }),
            Arrival::Retransmission | Arrival::Repetition => {
                self.edge.out().event(NodeEvent::PitSuppressed { hash });
                self.edge.out().dropped(ingress, Kind::Interest, DropReason::Suppressed);
            }
        }
    }
}

/// Fields that few Interests have and a record keeps.
#[inline]
fn rare_of(extra: &mut Extra) -> Option<Box<Rare>> {
    let (pit_token, flow_nonce) = (extra.pit_token.take(), field::flow_nonce(&extra.carried));
    let is_there = pit_token.is_some() || flow_nonce.is_some();
    is_there.then(|| Box::new(Rare { pit_token, flow_nonce, ..Rare::default() }))
}

/// The route of an Interest: that of its name, unless it is only that of "/" and a forwarding hint has a better one.
#[inline]
pub(crate) fn route<'a>(fib: &'a Fib, interest: &Interest) -> FibMatch<'a> {
    let by_name = fib.longest(&interest.name);
    if interest.forwarding_hint.is_empty() || !by_name.prefix.is_empty() {
        return by_name;
    }
    let hints = interest.forwarding_hint.iter().map(|hint| fib.longest(hint));
    hints.into_iter().find(|found| !found.prefix.is_empty()).unwrap_or(by_name)
}
