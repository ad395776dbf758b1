//! Strategies: selection of the next hops of Interests and of their retransmissions.
//!
//! As in NFD (`daemon/fw/strategy.hpp`) the interface has three parts. *Triggers* are the methods of
//! [`ForwardingStrategy`], called by the pipelines with the preconditions given there. *Actions* ([`Action`]) are the
//! outputs of a trigger; it appends them to a list and the pipeline performs them in order. *Accessors* are the
//! fields and methods of [`Context`], and those of [`PitEntry`].
//!
//! A program registers a strategy of its own, whose name scenario files, configurations and the management then know:
//!
//! ```
//! use recoup_forwarder::strategy::{self, Action, Context, ForwardingStrategy, Ingress, Strategy};
//! use recoup_forwarder::suppression::Decision;
//! use recoup_forwarder::table::PitEntry;
//! use std::fmt;
//!
//! /// The most expensive next hop.
//! #[derive(Clone, Debug)]
//! struct Costliest;
//!
//! impl ForwardingStrategy for Costliest {
//!     fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress) {
//!         if strategy::decide(context, entry, from.arrival) == Decision::Suppress {
//!             return;
//!         }
//!         match context.eligible(&entry.interest().name, from.face).last() {
//!             Some(hop) => context.actions.push(Action::SendInterest { face: hop.face }),
//!             None => strategy::reject_unsent(context, entry),
//!         }
//!     }
//! }
//!
//! impl fmt::Display for Costliest {
//!     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         f.write_str("costliest")
//!     }
//! }
//!
//! Strategy::register("costliest", |spec| {
//!     spec.finish()?;
//!     Ok(Strategy::custom(Costliest))
//! });
//! assert_eq!("costliest".parse::<Strategy>()?.build().to_string(), "costliest");
//! # Ok::<(), recoup_transport::spec::SpecError>(())
//! ```
use crate::face::{FaceId, LinkType};
use crate::suppression::{Decision, Suppression};
use crate::table::{Arrival, FibMatch, Measurements, NextHop, PitEntry};
use recoup_core::family;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::spec::{Spec, SpecError};
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

/// Action of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send the current Interest (in `after_nack` the one that was returned) to a face and record it in the entry
    /// with [`PitEntry::send`].
    SendInterest {
        /// The face.
        face: FaceId,
    },
    /// Send a Nack to all downstream faces, and remove their in-records.
    Nack {
        /// The reason.
        reason: NackReason,
    },
    /// Send a Nack to one downstream face, and remove its in-record.
    NackTo {
        /// The face.
        face: FaceId,
        /// The reason.
        reason: NackReason,
    },
    /// Remove the entry, which has no downstream faces left. The last action.
    Reject,
    /// Suppress the Interest: its entry is pending already.
    Suppress,
}

/// Attributes of a face that is up, for strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceFacts {
    /// Receivers of the link. Only on an ad-hoc link an Interest may leave by its ingress face, because some
    /// receivers there have not received it.
    pub link_type: LinkType,
    /// The other end is on this machine.
    pub local: bool,
}

impl FaceFacts {
    /// Attributes of all application faces.
    pub const APPLICATION: Self = Self { link_type: LinkType::PointToPoint, local: true };
}

/// The faces of a node, for strategies.
pub trait Faces {
    /// Attributes of a face; `None` if it is not up.
    fn facts(&self, face: FaceId) -> Option<FaceFacts>;
}

/// Context of a trigger, beside the entry.
pub struct Context<'a> {
    /// The current time.
    pub now: Instant,
    /// The route of the entry's name (or forwarding hint).
    pub route: FibMatch<'a>,
    /// Suppression of retransmissions.
    pub suppression: &'a Suppression,
    /// The node's faces.
    pub faces: &'a dyn Faces,
    /// Measurements of faces.
    pub measurements: &'a mut Measurements,
    /// The actions of the trigger, in order.
    pub actions: &'a mut Vec<Action>,
}

/// How an Interest arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ingress {
    /// The face.
    pub face: FaceId,
    /// Relation to the Interests before it.
    pub arrival: Arrival,
}

impl<'a> Context<'a> {
    /// The eligible next hops of an Interest for `name` from `ingress`, cheapest first: those that are up, do not
    /// lead back and are within the name's scope.
    pub fn eligible(
        &self,
        name: &Name,
        ingress: FaceId,
    ) -> impl Iterator<Item = NextHop> + Clone + use<'a> {
        let (faces, scope) = (self.faces, Scope::of(name));
        // Most names have global scope.
        let from = if scope == Scope::Global { None } else { faces.facts(ingress) };
        self.route.next_hops.iter().copied().filter(move |hop| {
            faces.facts(hop.face).is_some_and(|to| {
                (hop.face != ingress || to.link_type == LinkType::AdHoc) && to.admits(scope, from)
            })
        })
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("route", &self.route).finish()
    }
}

/// Selects the next hops of the Interests of one namespace.
///
/// Each implementation keeps these invariants. No Interest is sent to a face that is down, out of scope, or its
/// ingress (except on ad-hoc links). Each trigger appends a limited number of actions. Its text (`Display`) parses
/// to the [`Strategy`] of an equal one in its initial state.
pub trait ForwardingStrategy: fmt::Debug + fmt::Display + Send {
    /// An Interest arrived, and no stored Data answers it. Precondition: it is no loop, and its in-record is in `entry`
    /// ([`PitEntry::receive`], which returned the arrival).
    fn after_interest(&mut self, context: &mut Context<'_>, entry: &mut PitEntry, from: Ingress);

    /// A Nack arrived from `upstream`. Precondition: `entry` has an out-record of it with the nonce of the Nack, and
    /// the reason is recorded there.
    fn after_nack(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
        reason: NackReason,
    ) {
        let _ = (upstream, reason);
        pass_nack_on(entry, context.actions);
    }

    /// Whether the strategy implements [`before_satisfy`](Self::before_satisfy), [`on_expiry`](Self::on_expiry) and
    /// [`on_abandon`](Self::on_abandon). If not, they need not be called, which saves a look-up of the route for each Data.
    fn learns(&self) -> bool {
        false
    }

    /// Data arrived from `upstream` that satisfies `entry`, whose records still exist.
    fn before_satisfy(
        &mut self,
        context: &mut Context<'_>,
        entry: &mut PitEntry,
        upstream: FaceId,
    ) {
        let _ = (context, entry, upstream);
    }

    /// The entry has expired without Data and is about to be removed.
    fn on_expiry(&mut self, context: &mut Context<'_>, entry: &mut PitEntry) {
        let _ = (context, entry);
    }

    /// The entry is about to be removed because no downstream face waits any more.
    fn on_abandon(&mut self, entry: &PitEntry) {
        let _ = entry;
    }
}

family! {
    /// A forwarding strategy with its parameters, such as `multipath(split=cost)`.
    ///
    /// ```
    /// use recoup_forwarder::strategy::Strategy;
    /// let strategy: Strategy = "best-face(gain=1/4)".parse()?;
    /// assert_eq!(strategy.to_string(), "best-face(gain=0.25)");
    /// let forwarding = strategy.build();
    /// # Ok::<(), recoup_transport::spec::SpecError>(())
    /// ```
    pub enum Strategy: "strategy", ForwardingStrategy {
        BestRoute(BestRoute): "best-route" => |spec| without_parameters(spec, BestRoute);
        Multicast(Multicast): "multicast" => |spec| without_parameters(spec, Multicast);
        Broadcast(Broadcast): "broadcast" => |spec| without_parameters(spec, Broadcast);
        BestFace(BestFace): "best-face" => BestFace::from_spec;
        Discover(Discover): "discover" => Discover::from_spec;
        Multipath(Multipath): "multipath" => |spec: Spec<'_>| spec.read(Multipath::default());
    }
}

/// The names of all strategies.
pub fn names() -> impl Iterator<Item = &'static str> {
    Strategy::names()
}

fn without_parameters<S>(spec: Spec<'_>, strategy: S) -> Result<S, SpecError> {
    spec.finish()?;
    Ok(strategy)
}

/// Rejects an Interest that goes to no next hop, unless one may still answer.
pub fn reject_unsent(context: &mut Context<'_>, entry: &PitEntry) {
    if entry.has_pending_out(context.now) {
        context.actions.push(Action::Suppress);
    } else {
        context.actions.extend([Action::Nack { reason: NackReason::NoRoute }, Action::Reject]);
    }
}

/// Handles a Nack from upstream (NFD, `process-nack-traits.cpp`). When all upstreams have sent one, the downstream
/// faces get the least severe reason. If the only other upstream is a downstream, too, both would wait for each
/// other, so it gets a Nack at once.
pub fn pass_nack_on(entry: &PitEntry, actions: &mut Vec<Action>) {
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

/// Severity of a reason: the higher, the less useful a retransmission is; no reason is the highest.
fn severity(reason: NackReason) -> u64 {
    if reason == NackReason::None { u64::MAX } else { reason.number() }
}

/// The decision for an entry as a whole; a decision not to forward is reported.
pub fn decide(context: &mut Context<'_>, entry: &mut PitEntry, arrival: Arrival) -> Decision {
    let decision = context.suppression.decide(context.now, entry, arrival);
    if decision == Decision::Suppress {
        context.actions.push(Action::Suppress);
    }
    decision
}

#[cfg(test)]
mod tests;
