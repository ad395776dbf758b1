//! Faces that are down although their links are up: by an operator's command, or since the neighbour is silent.
//!
//! Such a face keeps its number, its routes and the state of its link. Interests that are pending there are forwarded
//! elsewhere, returned or held, as if the face were down (`forwarding/mobility.rs`). A face whose neighbour was silent
//! is up again with the next frame; the others wait for the operator. If the driver closes the face, it is forgotten.
use super::Node;
use crate::face::{FaceAttributes, FaceId};
use crate::forwarding::FaceLoss;
use crate::observer::Observer;
use recoup_transport::time::Instant;

/// A face that is held down.
#[derive(Debug)]
pub(super) struct Held {
    /// Its attributes when it is up again.
    pub(super) attributes: FaceAttributes,
    /// The neighbour is silent: any frame ends it.
    silent: bool,
}

impl<O: Observer> Node<O> {
    /// Handles a neighbour that has left all questions unanswered.
    #[inline(never)]
    pub(super) fn on_face_silent(&mut self, now: Instant, face: FaceId) {
        if !self.held.contains_key(&face) {
            self.hold(now, face, true);
        }
    }

    /// Holds a face down.
    pub(super) fn hold(&mut self, now: Instant, id: FaceId, silent: bool) {
        if let Some(held) = self.held.get_mut(&id) {
            held.silent &= silent;
            return;
        }
        let Some(face) = self.forwarder.faces.down(id) else {
            return;
        };
        self.held.insert(id, Held { attributes: face.attributes, silent });
        if let Some(management) = &mut self.management {
            management.face_down(now, id, &face.received, true);
            self.follow_management(now);
        }
        let is_listed = !face.attributes.permanent && self.forwarder.faces.is_counting();
        let tickets = is_listed.then_some(face.share.tickets);
        self.forwarder.face_down(now, FaceLoss { face: id, asked: true }, tickets);
    }

    /// Ends the hold of a face.
    pub(super) fn release(&mut self, now: Instant, id: FaceId) {
        let Some(Held { attributes, .. }) = self.held.remove(&id) else {
            return;
        };
        self.forwarder.face_up(id, attributes, false);
        if let Some(management) = &mut self.management {
            management.face_up(now, id);
            self.follow_management(now);
        }
        self.forwarder.face_ready(now, id, attributes.upstream, false);
    }

    /// Whether a face is held down although a frame arrives from it.
    #[inline(never)]
    pub(super) fn is_held_at(&mut self, now: Instant, id: FaceId) -> bool {
        match self.held.get(&id) {
            Some(Held { silent: false, .. }) => true,
            Some(Held { silent: true, .. }) => {
                self.release(now, id);
                false
            }
            None => false,
        }
    }

    /// Handles new attributes of a face; `true` if it stays down because an operator holds it.
    pub(super) fn stays_held(&mut self, id: FaceId, attributes: &FaceAttributes) -> bool {
        match self.held.get_mut(&id) {
            Some(held) if !held.silent => {
                held.attributes = *attributes;
                true
            }
            Some(_) => {
                self.held.remove(&id);
                false
            }
            None => false,
        }
    }
}
