//! Streams whose peer sends no more, and still reads (RFC 9293, section 3.6, half-closed): `nc -N`, scripts that shut down
//! their direction after the last Interest.
//!
//! The face stays until its pending Interests are answered or have expired. It is polled meanwhile: the descriptor is
//! readable all the time, and is not watched.
use super::{Driver, Uses};
use crate::driver::face_entry::{Conduit, Face};
use crate::face::{CloseReason, FaceId};
use recoup_transport::time::{Duration, Instant};

/// Interval between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Longest time for the answers.
const LIMIT: Duration = Duration::from_secs(30);

/// The peer of a face sends no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfClosed {
    /// Time of the next look.
    pub(super) look_at: Instant,
    until: Instant,
}

impl Driver {
    /// The peer has ended the connection, or its own direction of it.
    pub(super) fn end_receiving(&mut self, id: FaceId) {
        let now = self.timing.clock.now();
        let is_half = |face: &Face| {
            let Conduit::Link { link, .. } = &face.conduit else {
                return false;
            };
            !face.permanent && link.may_be_half_closed()
        };
        match self.sockets.faces.get_mut(&id).filter(|face| is_half(face)) {
            Some(face) => {
                // What it sent last has not reached the machine yet.
                face.half_closed.get_or_insert(HalfClosed { look_at: now, until: now + LIMIT });
                self.sockets.neglect(id);
                self.sockets.await_deadline(id);
            }
            None => self.end(id, CloseReason::Ended, true),
        }
    }

    /// Ends a half-closed face unless Interests of it are pending, or Data for it waits. A producer is gone at once.
    pub(super) fn look_at_half_closed(&mut self, id: FaceId, uses: Uses<'_>) {
        self.flush_face(id);
        let (now, uses) = (self.timing.clock.now(), uses(id));
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        let Some(half_closed) = &mut face.half_closed else {
            return;
        };
        half_closed.look_at = now + LOOK;
        let is_over = now >= half_closed.until || uses.routes;
        match is_over || !(uses.pending || face.waits_to_write()) {
            true => self.end(id, CloseReason::Ended, false),
            false => self.sockets.await_deadline(id),
        }
    }
}
