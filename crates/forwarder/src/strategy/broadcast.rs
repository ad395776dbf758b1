//! All next hops at the same time.
//!
//! Source: the standard forwarding of CCNx, as von Rotz et al. (2015) use it: all next hops except the ingress.
//! Unlike `multicast` it decides on retransmissions for all faces together. It never sends an Interest back by its
//! ingress face, multi-access or not. An Interest without a next hop stays pending instead of being answered with a
//! Nack.
use super::{Action, Context, ForwardingStrategy, Ingress, decide};
use crate::suppression::Decision;
use crate::table::PitEntry;
use std::fmt;

/// `broadcast`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Broadcast;

impl ForwardingStrategy for Broadcast {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        if decide(context, entry, from.arrival) == Decision::Suppress {
            return;
        }
        let hops = context.eligible(&entry.interest().name, from.face);
        let others = hops.filter(|hop| hop.face != from.face);
        context.actions.extend(others.map(|hop| Action::SendInterest { face: hop.face }));
    }
}

impl fmt::Display for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast")
    }
}
