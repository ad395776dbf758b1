//! Events inside a node, for observers. They are small: a name is represented by its hash.
use crate::face::{AppId, FaceId};
use recoup_packet::nack::NackReason;

/// An event inside a node, recorded by a [`Recorder`](crate::observer::Recorder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeEvent {
    /// The content store answered an Interest.
    CsHit {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The content store had no Data for an Interest. A node without content store reports no misses.
    CsMiss {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The content store evicted its oldest packets.
    CsEvicted {
        /// Number of packets.
        packets: u32,
    },
    /// An Interest became pending.
    PitInserted {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// An Interest was aggregated with a pending one.
    PitAggregated {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// An Interest was forwarded although another one was pending.
    PitForwardedAgain {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// A retransmission was suppressed.
    PitSuppressed {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// Data satisfied a pending Interest.
    PitSatisfied {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// A pending Interest expired.
    PitExpired {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// A pending Interest was removed: all downstream faces got a Nack or are gone.
    PitAbandoned {
        /// Hash of the Interest's name.
        hash: u64,
    },
    /// The queue of a value face grew.
    Queued {
        /// The face.
        face: FaceId,
        /// Packets in it.
        packets: u32,
        /// Bytes in it.
        bytes: u32,
    },
    /// A packet was marked for congestion.
    Marked {
        /// The face.
        face: FaceId,
    },
    /// The node sent a Nack of its own.
    NackSent {
        /// The downstream face.
        face: FaceId,
        /// The reason.
        reason: NackReason,
    },
    /// The next hop of an Interest is gone, and the Interest was forwarded to another one.
    Reforwarded {
        /// Hash of the Interest's name.
        hash: u64,
        /// The face of the new next hop.
        face: FaceId,
    },
    /// An Interest was returned downstream, because its next hop is gone or a link lost it or its Data.
    Flagged {
        /// Hash of the Interest's name.
        hash: u64,
        /// The downstream face.
        face: FaceId,
    },
    /// An application sent an Interest, which got this trace id.
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
    /// Data arrived after an earlier copy of it had answered all downstream faces.
    TraceSuperseded {
        /// The Interest's trace id.
        id: u64,
    },
    /// There are more copies that descend from an Interest than before.
    TraceCopied {
        /// The Interest's trace id.
        id: u64,
        /// Number of additional copies.
        copies: u32,
    },
}
