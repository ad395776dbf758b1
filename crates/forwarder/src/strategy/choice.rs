//! Common choices of several strategies.
use super::Context;
use crate::table::{NextHop, PitEntry};
use recoup_transport::time::Instant;

/// The first of `hops` that is unused, or will not answer any more.
pub(super) fn unused(
    now: Instant,
    entry: &PitEntry,
    mut hops: impl Iterator<Item = NextHop>,
) -> Option<NextHop> {
    hops.find(|hop| entry.out_record(hop.face).is_none_or(|record| !record.is_pending(now)))
}

/// The one of `hops` used longest ago; among equals the first.
pub(super) fn asked_longest_ago(
    entry: &PitEntry,
    hops: impl Iterator<Item = NextHop>,
) -> Option<NextHop> {
    hops.min_by_key(|hop| entry.out_record(hop.face).map(|record| record.sent))
}

/// The next hop of an Interest after a Nack: the cheapest unused one with another downstream than itself.
pub(super) fn alternative(context: &Context<'_>, entry: &PitEntry) -> Option<NextHop> {
    let waiting = || entry.ins().iter().filter(|record| context.now < record.expiry);
    let from = waiting().next()?.face;
    let name = &entry.interest().name;
    context.eligible(name, from).find(|hop| {
        entry.out_record(hop.face).is_none() && waiting().all(|record| record.face != hop.face)
    })
}
