//! Strategies: which of the faces that lead toward a name are asked, and when they are asked again.
//!
//! As in NFD (`daemon/fw/strategy.hpp`) the interface has three parts. *Triggers* are the methods of
//! [`ForwardingStrategy`], called by the pipelines with the preconditions given there. *Actions*
//! ([`Action`]) are what a trigger can have done; it appends them to a list and the pipeline carries
//! them out in order. *Accessors* are the fields and methods of [`Context`], and those of [`PitEntry`].
use crate::face::{FaceId, LinkType};
use crate::suppression::{Decision, Suppression};
use crate::table::{Arrival, FibMatch, Measurements, NextHop, PitEntry};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::spec::{self, Reader, Spec, SpecError};
use recoup_transport::time::Instant;
use std::fmt;

mod best_face;
mod best_route;
mod broadcast;
mod choice;
mod discover;
mod multicast;
mod multipath;
mod scope;

pub use best_face::BestFace;
pub use best_route::BestRoute;
pub use broadcast::Broadcast;
pub use discover::Discover;
pub use multicast::Multicast;
pub use multipath::{Multipath, Split};
pub use scope::Scope;

/// What a trigger can have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the Interest in hand (in `after_nack` the one that came back) to a face and note it in the
    /// entry with [`PitEntry::send`].
    SendInterest {
        /// The face.
        face: FaceId,
    },
    /// Send a Nack to all who asked, and forget that they did.
    Nack {
        /// The reason.
        reason: NackReason,
    },
    /// Send a Nack to one of those who asked, and forget that it did.
    NackTo {
        /// The face.
        face: FaceId,
        /// The reason.
        reason: NackReason,
    },
    /// Remove the entry: nobody waits for it any more. It comes last.
    Reject,
    /// The Interest only waits for an answer that others wait for.
    Suppress,
}

/// What the strategy may know of a face that is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceFacts {
    /// Who hears what is sent. Only on an ad-hoc link an Interest may leave by the face it came by: not everybody there
    /// has heard it.
    pub link_type: LinkType,
    /// The other end is on this machine.
    pub local: bool,
}

impl FaceFacts {
    /// What is known of the face of any application.
    pub const APPLICATION: Self = Self { link_type: LinkType::PointToPoint, local: true };
}

/// The faces of a node, as strategies see them.
pub trait Faces {
    /// What is known of a face; `None` if it is not up.
    fn facts(&self, face: FaceId) -> Option<FaceFacts>;
}

/// What a trigger sees beside the entry.
pub struct Context<'a> {
    /// The present.
    pub now: Instant,
    /// The route of the entry's name (or forwarding hint).
    pub route: FibMatch<'a>,
    /// When asking again is suppressed.
    pub suppression: &'a Suppression,
    /// The node's faces.
    pub faces: &'a dyn Faces,
    /// What was learnt about faces.
    pub measurements: &'a mut Measurements,
}

impl<'a> Context<'a> {
    /// The next hops that an Interest for `name` that came by `ingress` may take, cheapest first: those
    /// that are up, do not lead back and do not leave the name's scope.
    pub fn eligible(
        &self,
        name: &Name,
        ingress: FaceId,
    ) -> impl Iterator<Item = NextHop> + Clone + use<'a> {
        let (faces, scope) = (self.faces, Scope::of(name));
        // Most names may go anywhere, whoever asks.
        let from = if scope == Scope::Global { None } else { faces.facts(ingress) };
        self.route.next_hops.iter().copied().filter(move |hop| {
            faces.facts(hop.face).is_some_and(|to| {
                (hop.face != ingress || to.link_type == LinkType::AdHoc)
                    && scope.lets_pass(from, to)
            })
        })
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("route", &self.route).finish()
    }
}

/// Decides where the Interests of one namespace go.
///
/// Holds for every implementation: nothing is sent to a face that is down, out of scope, or that the
/// Interest came by (unless its link is ad-hoc); each trigger appends a bounded number of actions;
/// its text (`Display`) is read by [`parse`] as an equal strategy in its initial state.
pub trait ForwardingStrategy: fmt::Debug + fmt::Display + Send {
    /// An Interest came by `ingress` and nothing stored answers it. Precondition: it is no loop, and its
    /// in-record has been noted in `entry` ([`PitEntry::receive`], which said `arrival`).
    fn after_interest(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        ingress: FaceId,
        arrival: Arrival,
        actions: &mut Vec<Action>,
    );

    /// A Nack came from `upstream`. Precondition: `entry` has an out-record of it with the nonce of the
    /// Nack, and the reason has been noted there.
    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
        reason: NackReason,
        actions: &mut Vec<Action>,
    ) {
        let _ = (context, upstream, reason);
        pass_nack_on(entry, actions);
    }

    /// Whether [`before_satisfy`](Self::before_satisfy) and [`on_expiry`](Self::on_expiry) do anything; if
    /// not, they need not be called, which saves a look-up of the route for each Data.
    fn learns(&self) -> bool {
        false
    }

    /// Data came from `upstream` that satisfies `entry`, whose records are still there.
    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        let _ = (context, entry, upstream);
    }

    /// Nobody waits for the Data of `entry` any more, which never came; the entry is about to be
    /// removed.
    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        let _ = (context, entry);
    }
}

/// Every strategy by its name.
const FAMILY: &[(&str, Reader<Box<dyn ForwardingStrategy>>)] = &[
    ("best-route", |spec| without_parameters(spec, BestRoute)),
    ("multicast", |spec| without_parameters(spec, Multicast)),
    ("broadcast", |spec| without_parameters(spec, Broadcast)),
    ("best-face", |spec| Ok(Box::new(BestFace::from_spec(spec)?))),
    ("discover", |spec| Ok(Box::new(Discover::from_spec(spec)?))),
    ("multipath", |spec| Ok(Box::new(Multipath::from_spec(spec)?))),
];

/// Makes the strategy that `text` describes, for example `multipath(split=cost)`.
///
/// # Errors
/// If the text cannot be read; the error names the offending part and what would be right.
pub fn parse(text: &str) -> Result<Box<dyn ForwardingStrategy>, SpecError> {
    spec::parse_with(text, "strategy", FAMILY)
}

/// The names of all strategies.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILY.iter().map(|(name, _)| *name)
}

fn without_parameters<S: ForwardingStrategy + 'static>(
    spec: Spec<'_>,
    strategy: S,
) -> Result<Box<dyn ForwardingStrategy>, SpecError> {
    spec.finish()?;
    Ok(Box::new(strategy))
}

/// There is nowhere to send an Interest: say so, unless somebody is being asked already.
fn give_up(now: Instant, entry: &PitEntry, actions: &mut Vec<Action>) {
    if entry.has_pending_out(now) {
        actions.push(Action::Suppress);
    } else {
        actions.extend([Action::Nack { reason: NackReason::NoRoute }, Action::Reject]);
    }
}

/// What to do once an upstream refused (NFD, `process-nack-traits.cpp`): when all have, those who asked
/// are told the least severe reason. If the only one that has not is one of those who asked, it waits
/// for others and others for it: it is told at once.
fn pass_nack_on(entry: &PitEntry, actions: &mut Vec<Action>) {
    let mut silent = entry.outs().iter().filter(|record| record.nacked().is_none());
    let (first, second) = (silent.next(), silent.next());
    let reasons = entry.outs().iter().filter_map(|record| record.nacked());
    let Some(reason) = reasons.min_by_key(|reason| severity(*reason)) else {
        return;
    };
    match (first, second) {
        (None, _) => actions.extend([Action::Nack { reason }, Action::Reject]),
        (Some(only), None) if entry.in_record(only.face).is_some() => {
            actions.push(Action::NackTo { face: only.face, reason });
        }
        _ => {}
    }
}

/// How much a reason says against asking again; that none is given says most.
fn severity(reason: NackReason) -> u64 {
    if reason == NackReason::None { u64::MAX } else { reason.number() }
}

/// The decision for an entry as a whole, reported if it is not to forward.
fn decide(
    context: &Context<'_>,
    entry: &mut PitEntry,
    arrival: Arrival,
    actions: &mut Vec<Action>,
) -> Decision {
    let decision = context.suppression.decide(context.now, entry, arrival);
    if decision == Decision::Suppress {
        actions.push(Action::Suppress);
    }
    decision
}

#[cfg(test)]
mod tests;
