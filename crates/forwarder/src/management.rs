//! The node answers applications that ask for routes: `rib/register` and `rib/unregister` of NFD's management protocol.
//!
//! Management sits behind a face of its own ([`FaceId::MANAGEMENT`]) to which `/localhost/nfd` leads, so commands go
//! through the same pipelines and the same rules of scope as all Interests: they come from local faces only.
//! `/localhop/nfd` leads there if the node is told so; a peer on another machine can then ask for routes to itself.
//!
//! Source: NFD's wiki pages "ControlCommand" and "RibMgmt". Differences: in [`Command::read`] and in `management/rib.rs`.
mod rib;

use crate::face::FaceId;
use crate::node::{Node, RouteChange};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    CHILD_INHERIT, Command, ControlParameters, Origin, Refusal, Scope, Verb, respond,
};
use recoup_transport::time::Instant;
use rib::{Rib, RibFull, Route, STATIC};
use std::collections::VecDeque;
use std::sync::Arc;

/// Settings of a node's management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagementOptions {
    /// Peers on other machines may ask for routes to themselves (`/localhop/nfd/rib`).
    pub localhop: bool,
    /// Most routes that there may be, configured ones included.
    pub routes: usize,
}

impl Default for ManagementOptions {
    fn default() -> Self {
        Self { localhop: false, routes: 1 << 16 }
    }
}

/// What a node knows of its routes, and commands that wait for their turn.
#[derive(Debug)]
pub(crate) struct Management {
    rib: Rib,
    requests: VecDeque<Request>,
}

/// An Interest for the management.
#[derive(Debug)]
struct Request {
    interest: Arc<Interest>,
    ingress: FaceId,
    path: ReturnPath,
}

impl Management {
    pub(crate) fn new(options: &ManagementOptions) -> Self {
        Self { rib: Rib::new(options.routes), requests: VecDeque::new() }
    }

    /// What leads to the management.
    pub(crate) fn prefixes(options: &ManagementOptions) -> impl Iterator<Item = Name> {
        let words = ["localhost", "localhop"].into_iter().take(1 + usize::from(options.localhop));
        words.map(|word| {
            [word, "nfd"].map(|it| Component::generic(it.as_bytes())).into_iter().collect()
        })
    }

    /// An Interest came for the management by `ingress`.
    pub(crate) fn ask(&mut self, interest: Arc<Interest>, ingress: FaceId, path: ReturnPath) {
        self.requests.push_back(Request { interest, ingress, path });
    }

    /// A face is gone for good, and its routes with it.
    pub(crate) fn forget_face(&mut self, face: FaceId) {
        self.rib.forget_face(face);
    }

    /// When the first route ends by itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.rib.deadline()
    }
}

impl Node {
    /// A route of the configuration.
    pub(crate) fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        let RouteChange { prefix, face, cost } = change;
        let Some(management) = &mut self.management else {
            return self.on_route(now, change);
        };
        match cost {
            // A table that is full keeps the route out of the RIB, not out of the node.
            Some(cost) => {
                let route = Route { cost: *cost, expires: None };
                let _ = management.rib.set(prefix, *face, STATIC, route);
                let cost = management.rib.cost(prefix, *face).or(Some(*cost));
                self.on_route(now, &RouteChange { prefix: prefix.clone(), face: *face, cost });
            }
            None => {
                management.rib.unset(prefix, *face, STATIC);
                self.follow_rib(now, prefix, *face);
            }
        }
    }

    /// Answers one request, or ends one route that is due; `false` if there is nothing to do.
    pub(crate) fn manage(&mut self, now: Instant) -> bool {
        let Some(management) = &mut self.management else {
            return false;
        };
        if let Some((prefix, face)) = management.rib.pop_expired(now) {
            self.follow_rib(now, &prefix, face);
            return true;
        }
        let Some(Request { interest, ingress, path }) = management.requests.pop_front() else {
            return false;
        };
        match Command::read(&interest) {
            Some(command) => {
                let outcome = command.and_then(|command| self.command(now, ingress, command));
                let data = respond(&interest.name, &outcome);
                self.answer(now, FaceId::MANAGEMENT, data, path);
            }
            None => self.refusal(now, FaceId::MANAGEMENT, NackReason::NoRoute, path),
        }
        true
    }

    /// Carries a command out; says what was done.
    fn command(
        &mut self,
        now: Instant,
        ingress: FaceId,
        command: Command,
    ) -> Result<ControlParameters, Refusal> {
        let Command { scope, verb, prefix, parameters } = command;
        let face = self.commanded_face(ingress, scope, parameters.face_id)?;
        let origin = parameters.origin.unwrap_or(Origin::App as u64);
        let mut done = ControlParameters {
            name: Some(prefix.clone()),
            face_id: Some(u64::from(face.0)),
            origin: Some(origin),
            ..ControlParameters::default()
        };
        let Some(management) = &mut self.management else {
            return Err(Refusal::UNKNOWN);
        };
        match verb {
            Verb::Unregister => management.rib.unset(&prefix, face, origin),
            Verb::Register => {
                let cost = parameters.cost.unwrap_or(0);
                let expires = parameters.expiration_period.map(|period| now + period);
                let route = Route { cost, expires };
                let full = |RibFull| Refusal::FULL;
                management.rib.set(&prefix, face, origin, route).map_err(full)?;
                done.cost = Some(cost);
                done.flags = Some(parameters.flags.unwrap_or(CHILD_INHERIT));
                done.expiration_period = parameters.expiration_period;
            }
        }
        self.follow_rib(now, &prefix, face);
        Ok(done)
    }

    /// The face that a command means: its own, unless it is local and names another.
    fn commanded_face(
        &self,
        ingress: FaceId,
        scope: Scope,
        said: Option<u64>,
    ) -> Result<FaceId, Refusal> {
        let Some(number) = said.filter(|number| *number != 0) else {
            return Ok(ingress);
        };
        let face = u32::try_from(number).map(FaceId).map_err(|_| Refusal::NO_FACE)?;
        match scope {
            _ if face == ingress => Ok(face),
            Scope::Localhop => Err(Refusal::NOT_ALLOWED),
            Scope::Localhost if self.faces.get(face).is_some() => Ok(face),
            Scope::Localhost => Err(Refusal::NO_FACE),
        }
    }

    /// Brings the forwarding table in line with the routing table.
    fn follow_rib(&mut self, now: Instant, prefix: &Name, face: FaceId) {
        let cost = self.management.as_ref().and_then(|it| it.rib.cost(prefix, face));
        self.on_route(now, &RouteChange { prefix: prefix.clone(), face, cost });
    }
}
