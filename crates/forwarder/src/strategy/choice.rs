//! Choices that several strategies make alike.
use super::Context;
use crate::table::{NextHop, PitEntry};
use recoup_transport::time::Instant;

/// The first of `hops` that has not been asked, or will not answer any more.
pub(super) fn unused(
    now: Instant,
    entry: &PitEntry,
    mut hops: impl Iterator<Item = NextHop>,
) -> Option<NextHop> {
    hops.find(|hop| entry.out_record(hop.face).is_none_or(|record| !record.is_pending(now)))
}

/// The one of `hops` that was asked longest ago; among equals the first.
pub(super) fn asked_longest_ago(
    entry: &PitEntry,
    hops: impl Iterator<Item = NextHop>,
) -> Option<NextHop> {
    hops.min_by_key(|hop| entry.out_record(hop.face).map(|record| record.sent))
}

/// Where an Interest can be sent that was refused: the cheapest next hop that was never asked and that
/// somebody else than itself waits for.
pub(super) fn alternative(context: &Context<'_>, entry: &PitEntry) -> Option<NextHop> {
    let waiting = || entry.ins().iter().filter(|record| context.now < record.expiry);
    let from = waiting().next()?.face;
    let name = &entry.interest().name;
    context.eligible(name, from).find(|hop| {
        entry.out_record(hop.face).is_none() && waiting().all(|record| record.face != hop.face)
    })
}
