//! Routes: `rib/register`, `rib/unregister`, `rib/announce`, `fib/add-nexthop`, `fib/remove-nexthop`, and those of the
//! configuration.
//!
//! Source: NFD's wiki pages "RibMgmt" and "FibMgmt".
use super::{Command, Node, Outcome, RibFull, Route, STATIC};
use crate::face::FaceId;
use crate::node::RouteChange;
use crate::shard::Handed;
use recoup_packet::name::Name;
use recoup_transport::management::{CHILD_INHERIT, ControlParameters, Origin, Refusal};
use recoup_transport::time::Instant;

impl Node {
    /// A route of the configuration; longer prefixes do not inherit it.
    pub(crate) fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        let RouteChange { prefix, face, cost } = change;
        let Some(management) = &mut self.management else {
            return self.on_route(now, change);
        };
        let changes = match cost {
            Some(cost) => {
                let route = Route { cost: *cost, flags: 0, expires: None };
                // A table that is full keeps the route out of the RIB, not out of the node.
                let set = management.rib.set(prefix, *face, STATIC, route);
                set.unwrap_or_else(|RibFull| vec![change.clone()])
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
        let route = Route { cost, flags, expires: expiration_period.map(|period| now + period) };
        let management = self.management.as_mut().ok_or(Refusal::UNKNOWN)?;
        let set = management.rib.set(&prefix, face, origin, route);
        let changes = set.map_err(|RibFull| Refusal::FULL)?;
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

    /// A face is gone for good, and its routes with it.
    pub(crate) fn forget_routes(&mut self, now: Instant, face: FaceId) {
        self.lead(|| Handed::RoutesGone { face });
        // What leads upstream stands at "/", without being counted.
        self.fib.remove(&Name::root(), face);
        if self.faces.has_routes_to(face) {
            self.fib.remove_face(face);
            self.faces.forget_routes(face);
        }
        if let Some(management) = &mut self.management {
            let changes = management.rib.forget_face(face);
            self.follow_rib(now, &changes);
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
