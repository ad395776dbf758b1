//! What happens inside a node and is worth recording, as one type. Small and without names: a name is known by its
//! hash.
use crate::face::{AppId, FaceId};
use recoup_packet::nack::NackReason;

/// One thing worth recording; said only if the node was told to observe itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeEvent {
    /// The content store answered an Interest.
    CsHit {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The content store had no answer; not said by a node without content store.
    CsMiss {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The content store gave up its oldest packets.
    CsEvicted {
        /// How many.
        packets: u32,
    },
    /// An Interest is pending that was not before.
    PitInserted {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// An Interest joined a pending one.
    PitAggregated {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// An Interest for which another was pending was sent on nevertheless.
    PitForwardedAgain {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// A repeated Interest was not sent on.
    PitSuppressed {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// Data came for a pending Interest.
    PitSatisfied {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// Nothing came for a pending Interest.
    PitExpired {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// An Interest is pending no more: all who waited were refused or are gone.
    PitAbandoned {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The queue of a value face grew.
    Queued {
        /// Which.
        face: FaceId,
        /// Packets in it.
        packets: u32,
        /// Bytes in it.
        bytes: u32,
    },
    /// A packet was marked for congestion.
    Marked {
        /// At which face.
        face: FaceId,
    },
    /// The node itself refused an Interest.
    Refused {
        /// Where the Nack went.
        face: FaceId,
        /// Why.
        reason: NackReason,
    },
    /// The face of an Interest is gone, and it was sent on by another one.
    Reforwarded {
        /// Hash of the Interest's name.
        hash: u64,
        /// By which face it leaves.
        face: FaceId,
    },
    /// An Interest was sent back, because its face is gone or because a link lost it or its Data.
    Flagged {
        /// Hash of the Interest's name.
        hash: u64,
        /// Where it goes.
        face: FaceId,
    },
    /// An application asked, and its Interest got this trace id.
    TraceBorn {
        /// The id.
        id: u64,
        /// The application.
        app: AppId,
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// Data that descends from this Interest reached the application that asked.
    TraceDelivered {
        /// The Interest's trace id.
        id: u64,
        /// The application.
        app: AppId,
    },
    /// One of the copies that descend from an Interest is gone.
    TraceDied {
        /// The Interest's trace id.
        id: u64,
    },
    /// Data came back after an earlier copy of it had answered everybody.
    TraceSuperseded {
        /// The Interest's trace id.
        id: u64,
    },
    /// There are more copies that descend from an Interest than before.
    TraceCopied {
        /// The Interest's trace id.
        id: u64,
        /// How many more.
        copies: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small() {
        assert!(size_of::<NodeEvent>() <= 24, "{}", size_of::<NodeEvent>());
    }
}
