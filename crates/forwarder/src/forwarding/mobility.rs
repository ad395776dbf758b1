//! Interests whose face is down, and those that are returned because of that.
//!
//! Source: Carofiglio et al. 2016, section 3.2, MLDR. A node whose face goes down searches the entries that sent an
//! Interest there. If no other face has it in flight, the node forwards it by another face, with its remaining
//! lifetime. Without another face it returns the Interest with the M flag to all downstream faces, whose nodes do the
//! same. The consumer's node keeps the entry, notifies the application, and forwards the Interest when a face is up.
//!
//! Differences:
//! - the M flag is a Nack with a reason of its own, so that forwarders without MLDR accept it (`docs/wire.md`);
//! - the other face is the cheapest next hop that is up, was not tried for this entry, and is no downstream face;
//! - a rerouted Interest has a fresh nonce, because lists of dead nonces on shared links would drop it. Its first
//!   nonce is forwarded with it (`Reroute`): a node that returned it before returns it at once;
//! - entries are found through a list for each face that is cleaned when it is long, not kept exact.
use super::route;
use super::{Edge, Forwarder};
use crate::event::NodeEvent;
use crate::face::FaceId;
use crate::mobility::{Mobility, MobilitySettings};
use crate::packet::{Body, Hop, Packet};
use crate::strategy::{Action, Faces, Scope};
use crate::table::PitId;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{Ignorable, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::application::AppInput;
use recoup_transport::time::{Duration, Instant};
use std::sync::Arc;

impl<E: Edge> Forwarder<E> {
    fn mobility(&self) -> Option<MobilitySettings> {
        match self.mobility {
            Mobility::Off => None,
            Mobility::On(settings) => Some(settings),
        }
    }

    /// Lists an entry at a face of which it has a record.
    #[inline]
    pub(crate) fn list_at_face(&mut self, face: FaceId, id: PitId) {
        if !self.mobility.is_off() {
            self.add_to_list(face, id);
        }
    }

    #[inline(never)]
    fn add_to_list(&mut self, face: FaceId, id: PitId) {
        if face.app().is_none() {
            self.reroutes.note(face, id, &self.pit);
        }
    }

    // --- faces and routes -----------------------------------------------------------------------

    /// Handles a face that is gone: its in-records are removed, and its out-records rerouted or returned.
    pub(crate) fn face_lost(&mut self, now: Instant, face: FaceId) {
        let ids = self.reroutes.take(face, &self.pit);
        for id in &ids {
            self.forget_downstream(*id, face);
        }
        for id in ids {
            if self.pit.entry(id).out_record(face).is_some() {
                self.lose_next_hop(now, id, face);
            }
        }
    }

    /// Reroutes or returns Interests in flight to the former neighbour of a face that is up; those of applications
    /// leave again. In-records stay: they are no older than the neighbour, or cost one packet of Data.
    pub(super) fn lose_in_flight(&mut self, now: Instant, face: FaceId) {
        let listed = self.reroutes.at_face(face, &self.pit);
        for &id in &listed {
            if self.pit.entry(id).out_record(face).is_some() {
                self.reroutes.reroute_mut(id, &self.pit).tried.push(face);
                self.lose_next_hop(now, id, face);
            }
        }
        self.face_found(now, face);
        // The new neighbour has not tried them.
        for id in listed {
            if self.reroutes.reroute(id, &self.pit).is_some() {
                let reroute = self.reroutes.reroute_mut(id, &self.pit);
                reroute.tried.retain(|tried| *tried != face);
            }
        }
    }

    fn lose_next_hop(&mut self, now: Instant, id: PitId, face: FaceId) {
        let Some(record) = self.pit.entry_mut(id).remove_out(face) else {
            return;
        };
        let reroute = self.reroutes.reroute_mut(id, &self.pit);
        reroute.first.get_or_insert(record.sent);
        reroute.lost = true;
        if !self.pit.entry(id).has_pending_out(now) && !self.forward_elsewhere(now, id) {
            self.hold(now, id);
        }
    }

    /// No next hop is left: remote downstream faces get a Nack, and applications wait for a face.
    fn hold(&mut self, now: Instant, id: PitId) {
        let from_afar = |node: &Self| {
            let mut ins = node.pit.entry(id).ins().iter();
            ins.find(|record| record.face.app().is_none()).map(|record| record.face)
        };
        self.end_reroute(now, id);
        while let Some(face) = from_afar(self) {
            self.flag(now, id, face, NackReason::Mobility);
        }
        if self.pit.entry(id).ins().is_empty() {
            return self.interest_finalize(now, id);
        }
        self.reroutes.hold(id, &self.pit);
        let entry = self.pit.entry(id);
        let apps: Vec<_> = entry.ins().iter().filter_map(|record| record.face.app()).collect();
        let interest = Arc::clone(entry.interest());
        for app in apps {
            let interest = Arc::clone(&interest);
            self.edge.deliver(now, app, AppInput::Held { interest });
        }
    }

    fn flag(&mut self, now: Instant, id: PitId, to: FaceId, reason: NackReason) {
        let hash = self.pit.entry(id).hash();
        self.edge.out().event(NodeEvent::Flagged { hash, face: to });
        self.pass_nack(now, id, to, reason, None);
    }

    /// A face is up, or got its first route: waiting Interests are forwarded.
    pub(crate) fn face_found(&mut self, now: Instant, face: FaceId) {
        if self.mobility.is_off() || self.faces.facts(face).is_none() {
            return;
        }
        for id in self.reroutes.take_held(&self.pit) {
            let reroute = self.reroutes.reroute_mut(id, &self.pit);
            reroute.tried.retain(|tried| *tried != face);
            if self.pit.entry(id).has_pending_out(now) {
                continue;
            }
            if self.alternatives(id).any(|hop| hop == face) {
                self.forward_again(now, id, face);
            } else {
                self.reroutes.hold(id, &self.pit);
            }
        }
    }

    /// Records that a prefix lost a next hop.
    pub(crate) fn route_lost(&mut self, now: Instant, prefix: &Name) {
        if let Some(settings) = self.mobility() {
            self.reroutes.record_loss(now, prefix, settings.lost);
        }
    }

    // --- forwarding elsewhere -------------------------------------------------------------------

    /// The next hops of an entry that are up, were not tried, and are no downstream faces; cheapest first.
    fn alternatives(&self, id: PitId) -> impl Iterator<Item = FaceId> {
        let entry = self.pit.entry(id);
        let interest = entry.interest();
        let from = entry.ins().first().and_then(|record| self.faces.facts(record.face));
        let scope = Scope::of(&interest.name);
        let reroute = self.reroutes.reroute(id, &self.pit);
        let hops = route(&self.fib, interest).next_hops.iter().map(|hop| hop.face);
        hops.filter(move |face| {
            let passes = self.faces.facts(*face).is_some_and(|to| to.admits(scope, from));
            let tried = reroute.is_some_and(|it| it.tried.contains(face));
            passes && entry.in_record(*face).is_none() && !tried
        })
    }

    /// Forwards an Interest by another face; `false` if there is none, or its lifetime is too short.
    fn forward_elsewhere(&mut self, now: Instant, id: PitId) -> bool {
        let Some(settings) = self.mobility().filter(|it| it.reforwards) else {
            return false;
        };
        let lifetime = self.pit.entry(id).interest().lifetime_or_default();
        let least = lifetime.as_secs_f64() * f64::from(settings.residual_ppm) / 1e6;
        if self.residual(now, id).as_secs_f64() < least {
            return false;
        }
        let next_hop = self.alternatives(id).next();
        next_hop.map(|face| self.forward_again(now, id, face)).is_some()
    }

    /// Remaining time until the last in-record of an entry expires.
    fn residual(&self, now: Instant, id: PitId) -> Duration {
        self.pit.entry(id).latest_expiry().unwrap_or(now).since(now)
    }

    fn forward_again(&mut self, now: Instant, id: PitId, face: FaceId) {
        let residual = self.residual(now, id);
        let nonce = self.rng.next_u32();
        let reroute = self.reroutes.reroute_mut(id, &self.pit);
        reroute.again = Some(now);
        reroute.tried.push(face);
        let entry = self.pit.entry(id);
        let began = entry.ins().first().and_then(|record| record.nonce).unwrap_or(nonce);
        let began = *reroute.nonce.get_or_insert(began);
        let mut interest = Interest::clone(entry.interest());
        (interest.nonce, interest.lifetime) = (Some(nonce), Some(residual));
        let mut hop = self.hop_of(id, &interest);
        field::set_original_nonce(&mut hop.extra_mut().carried, began);
        self.edge.out().event(NodeEvent::Reforwarded { hash: hop.name_hash, face });
        self.outgoing_interest(now, id, face, Arc::new(interest), &hop, Default::default());
    }

    /// Link fields of a pending Interest that this node sends by itself.
    pub(super) fn hop_of(&self, id: PitId, interest: &Interest) -> Hop {
        let entry = self.pit.entry(id);
        let mut hop = Hop::bare(entry.hash(), interest.encoded_len() as u32);
        hop.hop_limit = interest.hop_limit.map(|limit| limit.saturating_sub(1));
        let flow = entry.ins().iter().find_map(|record| record.rare.as_ref()?.flow_nonce);
        if let Some(nonce) = flow {
            field::set_flow_nonce(&mut hop.extra_mut().carried, nonce);
        }
        hop
    }

    // --- returned Interests ----------------------------------------------------------------------

    /// Handles an Interest that was returned, with the M flag or because a link lost it or its Data.
    pub(super) fn interest_returned(
        &mut self,
        now: Instant,
        id: PitId,
        from: FaceId,
        reason: NackReason,
    ) {
        if let Some(record) = self.pit.entry_mut(id).remove_out(from) {
            let reroute = self.reroutes.reroute_mut(id, &self.pit);
            reroute.first.get_or_insert(record.sent);
            reroute.tried.push(from);
            reroute.lost |= reason == NackReason::Mobility;
        }
        if self.pit.entry(id).has_pending_out(now) {
            return;
        }
        if reason == NackReason::Mobility && self.forward_elsewhere(now, id) {
            return;
        }
        self.end_reroute(now, id);
        while let Some(face) = self.pit.entry(id).ins().first().map(|record| record.face) {
            self.flag(now, id, face, reason);
        }
        self.interest_finalize(now, id);
    }

    /// Whether the face of a next hop of a pending Interest is gone, or a next hop has returned it for that reason.
    pub(super) fn has_lost_next_hop(&self, id: PitId) -> bool {
        self.reroutes.reroute(id, &self.pit).is_some_and(|it| it.lost)
    }

    /// Records that no next hop is left: the Interest need not come here again, whatever its nonce.
    fn end_reroute(&mut self, now: Instant, id: PitId) {
        let Self { pit, dead_nonces, .. } = self;
        let entry = pit.entry(id);
        for nonce in entry.ins().iter().filter_map(|record| record.nonce) {
            dead_nonces.insert(now, entry.hash(), nonce);
        }
    }

    /// Whether a rerouted Interest was returned from here, or waits here.
    pub(super) fn was_rerouted_here(
        &self,
        now: Instant,
        ingress: FaceId,
        known: Option<PitId>,
        hop: &Hop,
    ) -> bool {
        let Some(first) = hop.extra.as_ref().and_then(|it| field::original_nonce(&it.carried))
        else {
            return false;
        };
        let waits = known.is_some_and(|id| {
            let entry = self.pit.entry(id);
            let began = self.reroutes.reroute(id, &self.pit).and_then(|it| it.nonce);
            let asked = || entry.ins().iter().any(|record| record.nonce == Some(first));
            entry.in_record(ingress).is_none() && (began == Some(first) || asked())
        });
        waits || self.dead_nonces.contains(now, hop.name_hash, first)
    }

    /// Records the first nonce of an Interest that became pending, if another node rerouted it.
    pub(super) fn record_reroute(&mut self, id: PitId, hop: &Hop) {
        let first = hop.extra.as_ref().and_then(|it| field::original_nonce(&it.carried));
        if first.is_some() {
            self.reroutes.reroute_mut(id, &self.pit).nonce = first;
        }
    }

    /// The entry of a loss notice from `from`. The sender knows the name of the lost Data, but not the Interest.
    pub(super) fn find_lost(&self, interest: &Interest, hash: u64, from: FaceId) -> Option<PitId> {
        [(false, false), (false, true), (true, false), (true, true)].into_iter().find_map(|it| {
            let mut asked = Interest::new(interest.name.clone());
            (asked.can_be_prefix, asked.must_be_fresh) = it;
            let id = self.pit.find(&asked, hash)?;
            self.pit.entry(id).out_record(from).is_some().then_some(id)
        })
    }

    /// Reports Mobility instead of NoRoute for an Interest without a next hop, if its route was lost shortly before,
    /// or is down. An Interest that another node has rerouted counts, too: its producer has not registered here yet.
    pub(super) fn report_lost_route(
        &mut self,
        now: Instant,
        id: PitId,
        ingress: FaceId,
        actions: &mut Vec<Action>,
    ) {
        let no_route = Action::Nack { reason: NackReason::NoRoute };
        let Some(settings) = self.mobility().filter(|_| actions.contains(&no_route)) else {
            return;
        };
        let reroute = self.reroutes.reroute(id, &self.pit);
        let was_rerouted = reroute.is_some_and(|it| it.nonce.is_some());
        if !was_rerouted && !self.is_route_lost(now, id, settings.lost) {
            return;
        }
        actions.clear();
        if ingress.app().is_some() {
            self.hold(now, id);
        } else {
            actions.extend([Action::Nack { reason: NackReason::Mobility }, Action::Reject]);
        }
    }

    fn is_route_lost(&mut self, now: Instant, id: PitId, within: Duration) -> bool {
        let Self { fib, pit, faces, reroutes, .. } = self;
        let entry = pit.entry(id);
        let hops = route(fib, entry.interest()).next_hops;
        let mut others = hops.iter().filter(|hop| entry.in_record(hop.face).is_none()).peekable();
        let all_down = others.peek().is_some() && others.all(|hop| faces.facts(hop.face).is_none());
        all_down || reroutes.has_lost(now, &entry.interest().name, within)
    }

    // --- losses that a link returns --------------------------------------------------------------

    /// A link lost a packet and does not resend it: downstream nodes get a Nack.
    pub(crate) fn packet_lost(&mut self, now: Instant, face: FaceId, body: &Body) {
        match body {
            Body::Interest(interest) => {
                let hash = self.hasher.hash(interest.name.value());
                let sent = self.pit.find(interest, hash).filter(|id| {
                    let record = self.pit.entry(*id).out_record(face);
                    record.is_some_and(|record| record.nonce == interest.nonce)
                });
                if let Some(id) = sent {
                    self.interest_returned(now, id, face, NackReason::Loss);
                }
            }
            Body::Data(data) => self.data_lost(now, face, data.name().clone()),
            Body::Nack(..) | Body::Idle => {}
        }
    }

    fn data_lost(&mut self, now: Instant, face: FaceId, name: Name) {
        let mut interest = Interest::new(name);
        interest.nonce = Some(self.rng.next_u32());
        let notice = Packet::nack(Arc::new(interest), NackReason::Loss, &self.hasher);
        self.edge.transmit(now, face, notice);
    }

    /// A driver gave up a packet for a face: the Interest that is pending there under this name, or else Data.
    pub(crate) fn given_up(&mut self, now: Instant, face: FaceId, name: Name) {
        let hash = self.hasher.hash(name.value());
        let interest = Interest::new(name);
        match self.find_lost(&interest, hash, face) {
            Some(id) => self.interest_returned(now, id, face, NackReason::Loss),
            None => self.data_lost(now, face, interest.name),
        }
    }

    // --- Data -----------------------------------------------------------------------------------

    /// Time that rerouting has added to the round trip of an entry.
    pub(super) fn reduction(&self, id: PitId) -> Option<Duration> {
        let reroute = self.reroutes.reroute(id, &self.pit)?;
        Some(reroute.again?.since(reroute.first?))
    }
}

/// Adds to the RttReduction field of Data.
pub(super) fn prolong(carried: &mut Ignorable, by: Duration) {
    let before = field::time(carried, field::RTT_REDUCTION).unwrap_or_default();
    field::set_time(carried, field::RTT_REDUCTION, before.saturating_add(by));
}
