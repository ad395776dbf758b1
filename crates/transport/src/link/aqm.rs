//! Algorithms of active queue management, one of which marks the packets of a face.
use super::{Marker, Marking, Pie, PieMarker, Red, RedMarker};
use crate::time::Instant;

/// An algorithm with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aqm {
    /// As NFD, after CoDel.
    Codel(Marking),
    /// PIE, by the queueing delay.
    Pie(Pie),
    /// RED, by the mean length.
    Red(Red),
}

impl From<Marking> for Aqm {
    fn from(marking: Marking) -> Self {
        Self::Codel(marking)
    }
}

/// The marking of one queue.
#[derive(Clone, Debug)]
pub enum AqmMarker {
    /// By [`Aqm::Codel`].
    Codel(Marker),
    /// By [`Aqm::Pie`].
    Pie(PieMarker),
    /// By [`Aqm::Red`].
    Red(RedMarker),
}

impl AqmMarker {
    /// The marking of an empty queue.
    #[must_use]
    pub fn new(aqm: Aqm) -> Self {
        match aqm {
            Aqm::Codel(marking) => Self::Codel(Marker::new(marking)),
            Aqm::Pie(pie) => Self::Pie(PieMarker::new(pie)),
            Aqm::Red(red) => Self::Red(RedMarker::new(red)),
        }
    }

    /// Whether the packet that joins the queue is to be marked; `queue_bytes` are queued, `bytes` are its own.
    #[must_use]
    #[inline]
    pub fn on_enqueue(
        &mut self,
        now: Instant,
        queue_bytes: u64,
        bytes: impl FnOnce() -> u64,
    ) -> bool {
        match self {
            Self::Codel(marker) => marker.on_enqueue(now, queue_bytes),
            Self::Pie(marker) => marker.on_enqueue(now, queue_bytes, bytes()),
            Self::Red(marker) => marker.on_enqueue(now, queue_bytes),
        }
    }
}
