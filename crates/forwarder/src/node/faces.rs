//! Faces that come and go, and routes.
use super::Node;
use crate::face::{FaceAttributes, FaceId};
use crate::forwarding::FaceLoss;
use crate::observer::Observer;
use crate::table::RouteChange;
use recoup_packet::name::Name;
use recoup_transport::time::Instant;

impl<O: Observer> Node<O> {
    /// Handles a face that is up, or has changed.
    pub(super) fn on_face_up(&mut self, now: Instant, id: FaceId, attributes: FaceAttributes) {
        let is_held = self.stays_held(id, &attributes);
        let known = self.forwarder.faces.get(id).is_some();
        let stays = self.forwarder.edge.links.up(id, &attributes);
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

    /// Handles a face that is down, for good if it is not permanent.
    pub(super) fn on_face_down(&mut self, now: Instant, id: FaceId) {
        if let Some(held) = self.held.remove(&id) {
            self.forwarder.face_up(id, held.attributes, false);
        }
        let Some(face) = self.forwarder.faces.down(id) else {
            return;
        };
        let permanent = face.attributes.permanent;
        let (links, out) = self.links_and_out();
        let Some(sent) = links.down(now, id, permanent, out) else {
            return;
        };
        if let Some(management) = &mut self.management {
            let mut carried = face.received;
            carried.add(&sent);
            management.face_down(now, id, &carried, permanent);
            self.follow_management(now);
        }
        let asked = sent.out_interests > 0;
        if !permanent {
            // A search of all measurements costs too much for a face without answers.
            let is_measured = asked || self.forwarder.faces.has_routes_to(id);
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

    /// Adds, changes or removes a configured route.
    pub(super) fn on_static_route(&mut self, now: Instant, change: &RouteChange) {
        match &mut self.management {
            Some(management) => {
                management.set_static_route(change);
                self.follow_management(now);
            }
            None => self.forwarder.change_route(now, change),
        }
    }

    /// Removes the routes of a face that is gone for good. The management knows their prefixes without a search.
    pub(super) fn forget_routes(&mut self, now: Instant, face: FaceId) {
        // The upstream route is at "/", and is not counted.
        self.forwarder.fib.remove(&Name::root(), face);
        let changes = self.management.as_mut().map(|it| it.forget_routes(face));
        let (gone, others): (Vec<_>, Vec<_>) = changes
            .unwrap_or_default()
            .into_iter()
            .partition(|it| it.face == face && it.cost.is_none());
        let prefixes: Vec<Name> = gone.into_iter().map(|change| change.prefix).collect();
        self.forwarder.remove_routes(face, &prefixes);
        others.iter().for_each(|change| self.forwarder.change_route(now, change));
    }
}
