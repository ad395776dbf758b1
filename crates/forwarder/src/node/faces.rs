//! Faces that come and go, and routes.
use super::Node;
use crate::face::{FaceAttributes, FaceId};
use crate::forwarding::FaceLoss;
use crate::observer::Observer;
use crate::options::share_of_face;
use crate::shard::{Worker, WorkerMessage};
use crate::table::RouteChange;
use recoup_packet::name::Name;
use recoup_transport::management::FaceCounters;
use recoup_transport::time::Instant;

impl<O: Observer> Node<O> {
    /// Handles a face of this node that is up.
    pub(super) fn on_face_up(&mut self, now: Instant, id: FaceId, attributes: FaceAttributes) {
        if let Some(worker) = self.shard.as_ref().map(|shard| shard.worker()) {
            let attributes = || Box::new(attributes);
            let message = || WorkerMessage::FaceUp { face: id, worker, attributes: attributes() };
            self.send_to_all(message);
        }
        self.face_up(now, id, attributes, None);
    }

    /// Handles a face that is up, or has changed, here or `elsewhere`.
    pub(super) fn face_up(
        &mut self,
        now: Instant,
        id: FaceId,
        mut attributes: FaceAttributes,
        elsewhere: Option<Worker>,
    ) {
        if let Some(shard) = &self.shard {
            attributes.limits = attributes.limits.map(|it| share_of_face(it, &shard.options));
        }
        let is_held = self.stays_held(id, &attributes);
        let known = self.forwarder.faces.get(id).is_some();
        let stays = self.forwarder.edge.links.up(id, &attributes, elsewhere);
        if !is_held {
            self.forwarder.face_up(id, attributes, stays);
            if let Some(management) = &mut self.management {
                management.face_up(now, id);
                self.follow_management(now);
            }
        }
        let (links, out) = self.links_and_out();
        links.open(now, id, &attributes, out);
        self.drain(now, id);
        if !is_held {
            self.forwarder.face_ready(now, id, attributes.upstream, known);
        }
    }

    /// Handles a face of this node that is down, for good if it is not permanent.
    pub(super) fn on_face_down(&mut self, now: Instant, id: FaceId) {
        self.send_to_all(|| WorkerMessage::FaceDown { face: id });
        self.face_down(now, id);
    }

    pub(super) fn face_down(&mut self, now: Instant, id: FaceId) {
        if let Some(held) = self.held.remove(&id) {
            self.forwarder.face_up(id, held.attributes, false);
        }
        let Some(face) = self.forwarder.faces.down(id) else {
            return;
        };
        let permanent = face.attributes.permanent;
        let (links, out) = self.links_and_out();
        let Some(closed) = links.down(now, id, permanent, out) else {
            return;
        };
        let mut carried = face.received;
        carried.add(&closed.counters);
        self.face_carried(now, id, &carried, permanent);
        let asked = closed.counters.out_interests > 0;
        if !permanent {
            // A search of all measurements costs too much for a face without answers.
            let is_measured =
                asked || closed.is_elsewhere || self.forwarder.faces.has_routes_to(id);
            self.forwarder.record_losses(now, id);
            self.forget_routes(now, id);
            if is_measured {
                self.forwarder.measurements.forget_face(id);
            }
        }
        let is_listed = !permanent && self.forwarder.faces.is_counting();
        let tickets = is_listed.then_some(face.share.tickets);
        self.forwarder.face_down(now, FaceLoss { face: id, asked }, tickets);
    }

    /// Adds the counters of a face that went down.
    pub(super) fn face_carried(
        &mut self,
        now: Instant,
        id: FaceId,
        carried: &FaceCounters,
        permanent: bool,
    ) {
        if let Some(management) = &mut self.management {
            management.face_down(now, id, carried, permanent);
            self.follow_management(now);
        } else if let Some(shard) = &mut self.shard {
            match permanent {
                true => shard.carried.entry(id).or_default().add(carried),
                false => shard.past.add(carried),
            }
        }
    }

    /// Adds, changes or removes a configured route.
    pub(super) fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        match &mut self.management {
            Some(management) => {
                management.set_static_route(change);
                self.follow_management(now);
            }
            None => self.change_route(now, change),
        }
    }

    /// Adds, changes or removes a next hop, at all workers.
    pub(super) fn change_route(&mut self, now: Instant, change: &RouteChange) {
        self.send_as_leader(|| WorkerMessage::Route(Box::new(change.clone())));
        self.forwarder.change_route(now, change);
    }

    /// Removes the routes of a face that is gone for good. Only the leader knows the prefixes of a face without a
    /// search of all of them. Other workers keep the routes until the leader names them, and send nothing to a face
    /// that is down.
    pub(super) fn forget_routes(&mut self, now: Instant, face: FaceId) {
        // The upstream route is at "/", and is not counted.
        self.forwarder.fib.remove(&Name::root(), face);
        if self.shard.as_ref().is_some_and(|shard| !shard.leads()) {
            return;
        }
        let changes = self.management.as_mut().map(|it| it.forget_routes(face));
        let (gone, others): (Vec<_>, Vec<_>) = changes
            .unwrap_or_default()
            .into_iter()
            .partition(|it| it.face == face && it.cost.is_none());
        let prefixes: Vec<Name> = gone.into_iter().map(|change| change.prefix).collect();
        if !prefixes.is_empty() || self.forwarder.faces.has_routes_to(face) {
            self.send_as_leader(|| WorkerMessage::RoutesGone { face, prefixes: prefixes.clone() });
        }
        self.forwarder.remove_routes(face, &prefixes);
        others.iter().for_each(|change| self.change_route(now, change));
    }
}
