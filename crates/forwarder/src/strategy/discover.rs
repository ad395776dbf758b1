//! `discover(phi=3)`: broadcast until Data arrives, then only the face that answered, until it times out.
//!
//! Source: von Rotz, Anastasiades and Braun (2015), section 2. A requester finds a source by broadcast, pins the path
//! to it, and searches again after Φ consecutive timeouts of one segment. A consumer whose timer has the same Φ
//! (`ccntimer`, `wma`) has its lifetime back at 4 s by then. The Interest that searches thus has that lifetime.
//!
//! Differences: a pin is valid for a route's prefix. The node counts timeouts of a segment by its name: the Interest
//! is retransmitted, or its entry expires. Data for that name resets the count, Data for others does not. At most 256
//! names are counted for a prefix; with one more, all counts are reset. A Nack of the pinned face counts as Φ
//! timeouts, and other faces are tried at once.
use super::{
    Action, Context, ForwardingStrategy, Ingress, choice, decide, pass_nack_on, reject_unsent,
};
use crate::face::FaceId;
use crate::suppression::Decision;
use crate::table::PitEntry;
use recoup_packet::nack::NackReason;
use recoup_transport::spec::{Described, Description, Spec, SpecError};

/// `discover`.
#[derive(Clone, Debug, PartialEq)]
pub struct Discover {
    phi: u32,
}

impl Default for Discover {
    fn default() -> Self {
        Self { phi: 3 }
    }
}

impl Discover {
    pub(super) fn from_spec(spec: Spec<'_>) -> Result<Self, SpecError> {
        spec.read(Self::default())
    }

    /// Counts a timeout of the pinned face for an Interest of `entry`.
    fn note_timeout(&self, context: &mut Context<'_>, entry: &PitEntry) {
        let (now, prefix) = (context.now, context.route.prefix);
        let Some(pin) = context.measurements.pin(now, prefix) else {
            return;
        };
        let asked = entry.out_record(pin.face);
        if asked.is_some_and(|record| record.nacked().is_none())
            && pin.fail(entry.hash()) >= self.phi
        {
            context.measurements.unpin(now, prefix);
        }
    }
}

impl ForwardingStrategy for Discover {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        match decide(context, entry, from.arrival) {
            Decision::Suppress => return,
            Decision::Again => self.note_timeout(context, entry),
            Decision::New => {}
        }
        let (now, prefix, before) = (context.now, context.route.prefix, context.actions.len());
        let hops = context.eligible(&entry.interest().name, from.face);
        let pinned = context.measurements.pin(now, prefix).map(|pin| pin.face);
        let is_way = hops.clone().any(|hop| Some(hop.face) == pinned);
        let chosen = hops.filter(|hop| !is_way || Some(hop.face) == pinned);
        context.actions.extend(chosen.map(|hop| Action::SendInterest { face: hop.face }));
        if context.actions.len() == before {
            reject_unsent(context, entry);
        }
    }

    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
        _reason: NackReason,
    ) {
        let (now, prefix) = (context.now, context.route.prefix);
        if context.measurements.pin(now, prefix).is_some_and(|pin| pin.face == upstream) {
            context.measurements.unpin(now, prefix);
            if let Some(hop) = choice::alternative(context, entry) {
                return context.actions.push(Action::SendInterest { face: hop.face });
            }
        }
        pass_nack_on(entry, context.actions);
    }

    fn learns(&self) -> bool {
        true
    }

    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        if entry.out_record(upstream).is_none() {
            return;
        }
        let (now, prefix) = (context.now, context.route.prefix);
        match context.measurements.pin(now, prefix) {
            Some(pin) => pin.forget(entry.hash()),
            None => context.measurements.pin_to(now, prefix, upstream),
        }
    }

    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        self.note_timeout(context, entry);
    }
}

impl Described for Discover {
    fn describe(&mut self, each: &mut Description<'_>) {
        let expected = "a number from 1 to 1000000";
        self.phi = each.truncated("phi", self.phi.into(), 1.0..=1e6, expected) as u32;
    }
}

recoup_core::print_as_spec!(Discover, "discover");
