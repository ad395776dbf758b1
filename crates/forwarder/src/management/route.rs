//! Routes: `rib/register`, `rib/unregister`, `rib/announce`, `fib/add-nexthop`, `fib/remove-nexthop`, and those of the
//! configuration.
//!
//! Source: NFD's wiki pages "RibMgmt" and "FibMgmt".
use super::{Command, Effect, Management, Outcome, Registrant, RibFull, Route, STATIC, View};
use crate::face::FaceId;
use crate::table::RouteChange;
use recoup_packet::name::Name;
use recoup_transport::management::{CHILD_INHERIT, ControlParameters, Origin, Rejection, Scope};
use recoup_transport::time::Instant;

const NO_SHARE: Rejection =
    Rejection { code: 503, text: "this face has its share of the routes: unregister one first" };

impl Management {
    /// Sets a configured route; longer prefixes do not inherit it.
    pub(crate) fn set_static_route(&mut self, change: &RouteChange) {
        let RouteChange { prefix, face, cost } = change;
        let changes = match cost {
            Some(cost) => {
                let registrant = Registrant::Operator;
                let route = Route { cost: *cost, flags: 0, expires: None, registrant };
                // A full RIB rejects the route, but the node still uses it.
                let set = self.rib.set(prefix, *face, STATIC, route);
                set.unwrap_or_else(|_full| vec![change.clone()])
            }
            None => self.rib.unset(prefix, *face, STATIC),
        };
        self.follow_rib(changes);
    }

    pub(super) fn register(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view)?;
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
        let set = self.rib.set(&prefix, face, origin, route);
        let changes = set.map_err(|full| match full {
            RibFull::Table => Rejection::FULL,
            RibFull::Share => NO_SHARE,
        })?;
        self.follow_rib(changes);
        Ok(Outcome::Done(ControlParameters {
            origin: Some(origin),
            cost: Some(cost),
            flags: Some(flags),
            expiration_period,
            ..of(prefix, face)
        }))
    }

    /// Adds the route of a prefix announcement, for its remaining validity.
    pub(super) fn announce(
        &mut self,
        now: Instant,
        now_millis: u64,
        ingress: FaceId,
        mut command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let announcement = command.announcement.as_ref().ok_or(Rejection::MALFORMED)?;
        let remaining = announcement.remaining(now_millis).ok_or(Rejection::NOT_VALID)?;
        command.parameters.expiration_period = Some(remaining);
        self.register(now, ingress, command, view)
    }

    pub(super) fn unregister(
        &mut self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view)?;
        let prefix = command.prefix();
        let origin = command.parameters.origin.unwrap_or(Origin::App as u64);
        let changes = self.rib.unset(&prefix, face, origin);
        self.follow_rib(changes);
        Ok(Outcome::Done(ControlParameters { origin: Some(origin), ..of(prefix, face) }))
    }

    pub(super) fn add_next_hop(
        &mut self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view)?;
        let (prefix, cost) = (command.prefix(), command.parameters.cost.unwrap_or(0));
        if view.next_hops() >= self.limit && !view.is_next_hop(&prefix, face) {
            return Err(Rejection::FULL);
        }
        self.follow_rib(vec![RouteChange { prefix: prefix.clone(), face, cost: Some(cost) }]);
        Ok(Outcome::Done(ControlParameters { cost: Some(cost), ..of(prefix, face) }))
    }

    pub(super) fn remove_next_hop(
        &mut self,
        ingress: FaceId,
        command: Command,
        view: &impl View,
    ) -> Result<Outcome, Rejection> {
        let face = self.commanded_face(ingress, command.scope, command.parameters.face_id, view)?;
        let prefix = command.prefix();
        self.follow_rib(vec![RouteChange { prefix: prefix.clone(), face, cost: None }]);
        Ok(Outcome::Done(of(prefix, face)))
    }

    /// Applies changes to the forwarding table.
    pub(super) fn follow_rib(&mut self, changes: Vec<RouteChange>) {
        self.effects.extend(changes.into_iter().map(Effect::Route));
    }

    /// Removes all routes of a face; returns the changes of the forwarding table.
    pub(crate) fn forget_routes(&mut self, face: FaceId) -> Vec<RouteChange> {
        self.rib.forget_face(face)
    }
}

/// Prefix and face of a command, for its answer.
fn of(prefix: Name, face: FaceId) -> ControlParameters {
    ControlParameters {
        name: Some(prefix),
        face_id: Some(u64::from(face.0)),
        ..ControlParameters::default()
    }
}
