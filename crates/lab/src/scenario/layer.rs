//! Single parts of a scenario, for files of other kinds that say the same things in the same words.
use super::file::link;
use super::form::{CACHE, FEW_OCTETS, Form, INSTANT, RATE};
use super::problem::{Origin, Problems};
use super::tree::{Table, Tree};
use crate::network::{CachePlan, ChannelPlan, LinkPlan};
use recoup_transport::time::Instant;

/// Reads the room of a content store, such as "1000 packets" or "10 MiB".
///
/// # Errors
/// What is wrong with it and what would be right.
pub fn cache(tree: &Tree) -> Result<CachePlan, String> {
    CACHE.read(tree)
}

/// Reads a rate, such as "10 Mbit/s", in bits per second; 0 for "unlimited".
///
/// # Errors
/// What is wrong with it and what would be right.
pub fn rate(tree: &Tree) -> Result<u64, String> {
    RATE.read(tree)
}

/// Reads a few octets, such as "28 B".
///
/// # Errors
/// What is wrong with it and what would be right.
pub fn few_octets(tree: &Tree) -> Result<u32, String> {
    FEW_OCTETS.read(tree)
}

/// Reads a point in time, such as "10 s", counted from the beginning.
///
/// # Errors
/// What is wrong with it and what would be right.
pub fn instant(tree: &Tree) -> Result<Instant, String> {
    INSTANT.read(tree)
}

/// Reads the properties of a link, written as in `[link]` of a scenario, onto those of its two directions.
pub fn channels(
    given: &Table,
    path: &str,
    origin: Origin,
    (forth, back): (&mut ChannelPlan, &mut ChannelPlan),
    problems: &mut Problems,
) {
    let mut plan = LinkPlan { forth: forth.clone(), back: back.clone(), ..LinkPlan::default() };
    link::read_link(given, path, origin, &mut plan, problems);
    (*forth, *back) = (plan.forth, plan.back);
}
