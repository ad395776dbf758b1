//! Links as files list them, before they are joined to a topology: some formats give each direction of
//! a link on its own, and weights that are no whole numbers.
use super::super::ChannelPart;
use super::super::draft::Draft;
use super::Problem;
use super::decimal::Decimal;
use crate::network::NodeId;

/// A result whose problem has a place: a line, or a byte of a text.
pub(super) type Placed<T> = Result<T, (usize, Problem)>;

/// A link, or one direction of it.
pub(super) struct Edge {
    /// Where it is in the text.
    pub(super) place: usize,
    pub(super) ends: (NodeId, NodeId),
    /// Whether it is the direction from the first end to the second only.
    pub(super) directed: bool,
    pub(super) part: ChannelPart,
    /// Its weight, if it has one.
    pub(super) weight: Option<Decimal>,
}

/// Adds edges to a topology.
///
/// Directed ones are joined in pairs, the first `a b` with the first `b a`; where a partner is missing,
/// the link is the same in both directions, for nothing comes back over a link in one direction only.
/// Weights become costs; if one of them has a fraction, all are taken times 1,000 and rounded. A link
/// without a weight costs as much as a weight of 1.
pub(super) fn assemble(draft: &mut Draft, edges: Vec<Edge>) -> Placed<()> {
    let whole = edges.iter().filter_map(|edge| edge.weight).all(Decimal::is_whole);
    let scale = if whole { 1 } else { 1_000 };
    for edge in edges {
        let place = edge.place;
        let cost = match edge.weight {
            None => scale,
            Some(weight) => weight.times(scale, 0).ok_or((place, TOO_HEAVY))?,
        };
        let (a, b) = edge.ends;
        let added = if edge.directed {
            draft.direction(a, b, edge.part, cost)
        } else {
            draft.link(a, b, edge.part, cost).map(|_| ())
        };
        added.map_err(|problem| (place, problem))?;
    }
    Ok(())
}

const TOO_HEAVY: Problem = Problem::Shape("the weight is too large; keep it below 10^16");
