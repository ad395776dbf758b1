//! All next hops; each has its own retransmission interval.
//!
//! Source: NFD, `daemon/fw/multicast-strategy.cpp` (version 4).
//!
//! Differences: an Interest without a next hop is answered with a Nack (NoRoute), and Nacks are passed on when they
//! are unanimous; in NFD both just expire.
use super::{Action, Context, ForwardingStrategy, Ingress, reject_unsent};
use crate::suppression::Decision;
use crate::table::PitEntry;
use std::fmt;

/// `multicast`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multicast;

impl ForwardingStrategy for Multicast {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        let (now, before) = (context.now, context.actions.len());
        let (mut found, hops) = (false, context.eligible(&entry.interest().name, from.face));
        for hop in hops {
            found = true;
            let decision = context.suppression.decide_upstream(now, entry, hop.face, from.arrival);
            if decision != Decision::Suppress {
                context.actions.push(Action::SendInterest { face: hop.face });
            }
        }
        match found {
            false => reject_unsent(context, entry),
            true if context.actions.len() == before => context.actions.push(Action::Suppress),
            true => {}
        }
    }
}

impl fmt::Display for Multicast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("multicast")
    }
}
