//! The cheapest face first, another one for a retransmission.
//!
//! Source: NFD, `daemon/fw/best-route-strategy.cpp` (version 5).
//!
//! Differences: a next hop with a Nack or an expired out-record counts as unused.
use super::{Action, Context, ForwardingStrategy, Ingress, choice, decide, reject_unsent};
use crate::suppression::Decision;
use crate::table::PitEntry;
use std::fmt;

/// `best-route`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BestRoute;

impl ForwardingStrategy for BestRoute {
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
        let decision = decide(context, entry, from.arrival);
        let hops = || context.eligible(&entry.interest().name, from.face);
        let hop = match decision {
            Decision::Suppress => return,
            Decision::New => hops().next(),
            Decision::Again => choice::unused(context.now, entry, hops())
                .or_else(|| choice::asked_longest_ago(entry, hops())),
        };
        match hop {
            Some(hop) => context.actions.push(Action::SendInterest { face: hop.face }),
            None => reject_unsent(context, entry),
        }
    }
}

impl fmt::Display for BestRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("best-route")
    }
}
