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
    /// A packet came by a face, and is for the other's tables.
    Came {
        /// The face.
        face: FaceId,
        /// The link fields that it came with.
        header: Option<Box<LpHeader>>,
        /// The whole network packet.
        packet: Bytes,
        /// Data: who else is to see them.
        search: DataSearch,
    },
    /// A packet leaves by a face of the other.
    Leaves {
        /// The face.
        face: FaceId,
        /// On whose behalf, where the face may have a scheduler.
        group: Option<FaceId>,
        /// The packet.
        packet: Packet,
    },
    /// Data came by a face of the other: Interests of this flow are charged with them there.
    Answered {
        /// The face.
        face: FaceId,
        /// Whose Interest they answer.
        key: FlowKey,
        /// Bytes on the link.
        bytes: u32,
    },
    /// A link lost an Interest that the other has sent, and does not send it again.
    Lost {
        /// By which face it left.
        face: FaceId,
        /// The Interest.
        interest: Arc<Interest>,
    },
    /// A face of this worker is usable, or has changed.
    FaceUp {
        /// The face.
        face: FaceId,
        /// Whose it is.
        worker: Worker,
        /// What it can do.
        attributes: Box<FaceAttributes>,
    },
    /// A face of this worker is gone for now.
    FaceDown {
        /// The face.
        face: FaceId,
    },
    /// The leader changes a route.
    Route(Box<RouteChange>),
    /// The leader removes all routes to a face that is gone.
    RoutesGone {
        /// The face.
        face: FaceId,
        /// The prefixes that the routing table of the leader had routes of to that face.
        prefixes: Vec<Name>,
    },
    /// What leaves by a face is scheduled like this from now on, whoever has it.
    Schedule {
        /// The face.
        face: FaceId,
        /// The scheduler.
        scheduling: Box<Scheduling>,
    },
    /// What the leader must know of faces, or others of strategies.
    Notice(Box<Notice>),
    /// A task that all workers carry out in turn.
    Task(Box<RingTask>),
}

impl WorkerMessage {
    /// Whether it brings a packet, which may be dropped where there is no room for it. All else must arrive.
    #[must_use]
    pub fn is_packet(&self) -> bool {
        matches!(self, Self::Came { .. } | Self::Leaves { .. })
    }
}

/// Who else is to see Data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSearch {
    /// From this length on it is to be looked whether Interests for prefixes of their name wait elsewhere; `None`: the one
    /// who gets the Data is the last.
    pub(crate) next: Option<u8>,
    /// Somebody waited for them.
    pub(crate) answered: bool,
}

/// How a worker sees Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// As the only one, or as the last one; whether others have waited for them.
    Last {
        /// They have.
        answered: bool,
    },
    /// Others follow, and account for them.
    Passing,
}

impl Visit {
    /// Nobody else sees it.
    pub(crate) const ONLY: Self = Self::Last { answered: false };
}
