//! Messages between the workers of a forwarder.
use super::{RingTask, Worker};
use crate::face::{FaceAttributes, FaceId};
use crate::order::Notice;
use crate::packet::Packet;
use crate::table::RouteChange;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpHeader;
use recoup_packet::name::Name;
use recoup_transport::queue::{FlowKey, Scheduling};
use std::sync::Arc;

/// A message from one worker to another.
#[derive(Clone, Debug)]
pub enum WorkerMessage {
    /// A received packet for the other's tables.
    Came {
        /// The face.
        face: FaceId,
        /// Its link fields.
        header: Option<Box<LpHeader>>,
        /// The whole network packet.
        packet: Bytes,
        /// Data: further workers to search.
        search: DataSearch,
    },
    /// A packet for a face of the other.
    Leaves {
        /// The face.
        face: FaceId,
        /// The neighbour for which it is sent, if the face may have a scheduler.
        group: Option<FaceId>,
        /// The packet.
        packet: Packet,
    },
    /// Data for a face of the other: its scheduler charges Interests of this flow with them.
    Answered {
        /// The face.
        face: FaceId,
        /// Flow of their Interest.
        key: FlowKey,
        /// Bytes on the link.
        bytes: u32,
    },
    /// A link lost an Interest of the other, and does not resend it.
    Lost {
        /// The egress face.
        face: FaceId,
        /// The Interest.
        interest: Arc<Interest>,
    },
    /// A face of this worker is up, or has changed.
    FaceUp {
        /// The face.
        face: FaceId,
        /// Its worker.
        worker: Worker,
        /// Its attributes.
        attributes: Box<FaceAttributes>,
    },
    /// A face of this worker is down.
    FaceDown {
        /// The face.
        face: FaceId,
    },
    /// A face is down although its link is up.
    FaceHeld {
        /// The face.
        face: FaceId,
        /// Its neighbour is silent: the next intact frame ends it.
        silent: bool,
    },
    /// Such a face is up again.
    FaceReleased {
        /// The face.
        face: FaceId,
        /// Its neighbour is not silent any more: a face that an operator holds stays down.
        silent: bool,
    },
    /// A driver gave up a packet with a name of the other.
    GivenUp {
        /// The egress face.
        face: FaceId,
        /// Name of the packet.
        name: Name,
    },
    /// The leader changes a route.
    Route(Box<RouteChange>),
    /// The leader removes all routes of a face that is gone.
    RoutesGone {
        /// The face.
        face: FaceId,
        /// The prefixes of its routes in the routing table of the leader.
        prefixes: Vec<Name>,
    },
    /// Sets the scheduler of a face of any worker.
    Schedule {
        /// The face.
        face: FaceId,
        /// The scheduler.
        scheduling: Box<Scheduling>,
    },
    /// A report about faces for the leader, or about strategies for the others.
    Notice(Box<Notice>),
    /// A task that all workers carry out in turn.
    Task(Box<RingTask>),
}

impl WorkerMessage {
    /// Whether it carries a packet, which may be dropped if the channel is full. All other messages must arrive.
    #[must_use]
    pub fn is_packet(&self) -> bool {
        matches!(self, Self::Came { .. } | Self::Leaves { .. })
    }
}

/// Further workers that receive Data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSearch {
    /// The prefix length from which pending Interests of other workers are searched; `None`: the receiver is the
    /// last.
    pub(crate) next: Option<u8>,
    /// An earlier worker had a pending Interest.
    pub(crate) answered: bool,
}

/// Role of a worker that receives Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// The only one or the last one.
    Last {
        /// An earlier worker had a pending Interest.
        answered: bool,
    },
    /// Others follow, and count the Data.
    Passing,
}

impl Visit {
    /// The only worker that receives the Data.
    pub(crate) const ONLY: Self = Self::Last { answered: false };
}
