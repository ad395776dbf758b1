//! Routes: `rib/register`, `rib/unregister`, `rib/announce`, `fib/add-nexthop`, `fib/remove-nexthop`, and those of the
//! configuration.
//!
//! Source: NFD's wiki pages "RibMgmt" and "FibMgmt".
use super::{Command, Node, Outcome, Registrant, RibFull, Route, STATIC};
use crate::face::FaceId;
use crate::node::RouteChange;
use crate::shard::Handed;
use recoup_packet::name::Name;
use recoup_transport::management::{CHILD_INHERIT, ControlParameters, Origin, Refusal, Scope};
use recoup_transport::time::Instant;

const NO_SHARE: Refusal =
    Refusal { code: 503, text: "this face has its share of the routes: unregister one first" };

impl Node {
    /// A route of the configuration; longer prefixes do not inherit it.
    pub(crate) fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        let RouteChange { prefix, face, cost } = change;
        let Some(management) = &mut self.management else {
            return self.on_route(now, change);
        };
        let changes = match cost {
            Some(cost) => {
                let registrant = Registrant::Operator;
                let route = Route { cost: *cost, flags: 0, expires: None, registrant };
                // A table that is full keeps the route out of the RIB, not out of the node.
                let set = management.rib.set(prefix, *face, STATIC, route);
                set.unwrap_or_else(|_full| vec![change.clone()])
            }
            None => management.rib.unset(prefix, *face, STATIC),
        };
        self.follow_rib(now, &changes);
    }

    pub(super) fn register(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id)?;
        let prefix = command.prefix();
        let ControlParameters { origin, cost, flags, expiration_period, .. } = command.parameters;
        let origin = origin.unwrap_or(Origin::App as u64);
        let (cost, flags) = (cost.unwrap_or(0), flags.unwrap_or(CHILD_INHERIT));
        let registrant = match command.scope {
            Scope::Localhop => Registrant::Peer,
            Scope::Localhost if face == ingress => Registrant::Application,
            Scope::Localhost => Registrant::Operator,
        };
        let expires = expiration_period.map(|period| now + period);
        let route = Route { cost, flags, expires, registrant };
        let management = self.management.as_mut().ok_or(Refusal::UNKNOWN)?;
        let set = management.rib.set(&prefix, face, origin, route);
        let changes = set.map_err(|full| match full {
            RibFull::Table => Refusal::FULL,
            RibFull::Share => NO_SHARE,
        })?;
        self.follow_rib(now, &changes);
        Ok(Outcome::Done(ControlParameters {
            origin: Some(origin),
            cost: Some(cost),
            flags: Some(flags),
            expiration_period,
            ..of(prefix, face)
        }))
    }

    /// A route to what a prefix announcement announces, for as long as that holds.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        now_millis: u64,
        ingress: FaceId,
        mut command: Command,
    ) -> Result<Outcome, Refusal> {
        let announcement = command.announcement.as_ref().ok_or(Refusal::MALFORMED)?;
        let remaining = announcement.remaining(now_millis).ok_or(Refusal::NOT_VALID)?;
        command.parameters.expiration_period = Some(remaining);
        self.register(now, ingress, command)
    }

    pub(super) fn unregister(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id)?;
        let prefix = command.prefix();
        let origin = command.parameters.origin.unwrap_or(Origin::App as u64);
        let management = self.management.as_mut().ok_or(Refusal::UNKNOWN)?;
        let changes = management.rib.unset(&prefix, face, origin);
        self.follow_rib(now, &changes);
        Ok(Outcome::Done(ControlParameters { origin: Some(origin), ..of(prefix, face) }))
    }

    pub(super) fn add_next_hop(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id)?;
        let (prefix, cost) = (command.prefix(), command.parameters.cost.unwrap_or(0));
        let limit = self.management.as_ref().map_or(0, |management| management.limit);
        let is_known = self.fib.get(&prefix).iter().any(|hop| hop.face == face);
        if self.fib.next_hops() >= limit && !is_known {
            return Err(Refusal::FULL);
        }
        self.on_route(now, &RouteChange { prefix: prefix.clone(), face, cost: Some(cost) });
        Ok(Outcome::Done(ControlParameters { cost: Some(cost), ..of(prefix, face) }))
    }

    pub(super) fn remove_next_hop(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
    ) -> Result<Outcome, Refusal> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id)?;
        let prefix = command.prefix();
        self.on_route(now, &RouteChange { prefix: prefix.clone(), face, cost: None });
        Ok(Outcome::Done(of(prefix, face)))
    }

    /// Brings the forwarding table in line with the routing table.
    pub(super) fn follow_rib(&mut self, now: Instant, changes: &[RouteChange]) {
        changes.iter().for_each(|change| self.on_route(now, change));
    }

    /// A face is gone for good, and its routes with it. Only the leader knows the prefixes of a face without looking at all
    /// of them; other workers keep the routes until the leader names them, and send nothing to a face that is down.
    pub(crate) fn forget_routes(&mut self, now: Instant, face: FaceId) {
        // The route upstream stands at "/", without being counted.
        self.fib.remove(&Name::root(), face);
        if self.shard.as_ref().is_some_and(|shard| !shard.leads()) {
            return;
        }
        let changes = self.management.as_mut().map(|it| it.rib.forget_face(face));
        let changes = changes.unwrap_or_default();
        let (gone, others): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|it| it.face == face && it.cost.is_none());
        let prefixes: Vec<Name> = gone.into_iter().map(|change| change.prefix).collect();
        if !prefixes.is_empty() || self.faces.has_routes_to(face) {
            self.lead(|| Handed::RoutesGone { face, prefixes: prefixes.clone() });
        }
        self.remove_routes(face, &prefixes);
        self.follow_rib(now, &others);
    }

    /// Removes the routes to a face: those of these prefixes, and next hops that no routing table has, if there are any.
    pub(crate) fn remove_routes(&mut self, face: FaceId, prefixes: &[Name]) {
        for prefix in prefixes {
            if self.fib.remove(prefix, face) {
                self.faces.count_route(face, false);
            }
        }
        if self.faces.has_routes_to(face) {
            self.fib.remove_face(face);
            self.faces.forget_routes(face);
        }
    }
}

/// What a command was about, as its answer says.
fn of(prefix: Name, face: FaceId) -> ControlParameters {
    ControlParameters {
        name: Some(prefix),
        face_id: Some(u64::from(face.0)),
        ..ControlParameters::default()
    }
}
