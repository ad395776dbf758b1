//! Faces that are down although their links are up: by an operator's command, or since the neighbour is silent.
//!
//! Such a face keeps its number, its routes and the state of its link. Interests that are pending there are forwarded
//! elsewhere, returned or held, as if the face were down (`forwarding/mobility.rs`). A face whose neighbour was silent
//! is up again with the next intact frame; the others wait for the operator. If the driver closes the face, it is
//! forgotten.
use super::Node;
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceId};
use crate::forwarding::FaceLoss;
use crate::observer::Observer;
use bytes::Bytes;
use recoup_packet::lp::LpPacket;
use recoup_transport::link::recovery::Replaced;
use recoup_transport::time::Instant;

/// A face that is held down.
#[derive(Debug)]
pub(super) struct Held {
    /// Its attributes when it is up again.
    pub(super) attributes: FaceAttributes,
    /// The neighbour is silent: the next intact frame ends it.
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

    /// Handles the answer of another neighbour than before.
    #[inline(never)]
    pub(super) fn on_neighbour_replaced(&mut self, now: Instant, face: FaceId, by: Replaced) {
        if !self.held.contains_key(&face) {
            self.forwarder.neighbour_replaced(now, face, by);
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

    /// Ends the hold of a face; if `silent`, only that of a silent neighbour.
    pub(super) fn release(&mut self, now: Instant, id: FaceId, silent: bool) {
        if silent && self.held.get(&id).is_some_and(|held| !held.silent) {
            return;
        }
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

    /// Handles a frame of a face that may be held down. An intact one ends the silence of its neighbour.
    ///
    /// # Errors
    /// The frame is to be dropped.
    #[inline(never)]
    pub(super) fn pass_held(
        &mut self,
        now: Instant,
        id: FaceId,
        frame: &Bytes,
    ) -> Result<(), DropReason> {
        match self.held.get(&id) {
            None => Ok(()),
            Some(Held { silent: false, .. }) => Err(DropReason::NoFace),
            Some(Held { silent: true, .. }) => {
                self.check(frame)?;
                self.release(now, id, true);
                Ok(())
            }
        }
    }

    /// Checks a frame, and the packet in it if that is whole.
    fn check(&mut self, frame: &Bytes) -> Result<(), DropReason> {
        let frame = LpPacket::decode(frame.clone()).map_err(|_| DropReason::Malformed)?;
        match frame.fragment {
            Some(packet) if frame.header.frag_count.is_none_or(|count| count == 1) => {
                self.forwarder.decode(Some(&frame.header), &packet).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Handles new attributes of a face; `true` if it stays down.
    pub(super) fn stays_held(&mut self, id: FaceId, attributes: &FaceAttributes) -> bool {
        let Some(held) = self.held.get_mut(&id) else {
            return false;
        };
        // Another recovery has no silent neighbour, and asks none.
        if held.silent && held.attributes.recovery != attributes.recovery {
            self.held.remove(&id);
            return false;
        }
        held.attributes = *attributes;
        true
    }
}
