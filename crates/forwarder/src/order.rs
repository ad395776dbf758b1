//! Messages between management and the owner of a node, which opens and closes faces.
use crate::face::{FaceId, Marking};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{LinkType, Persistency, Rejection};
use recoup_transport::time::Duration;
use std::sync::Arc;

/// An Interest for the management.
#[derive(Clone, Debug)]
pub(crate) struct ManagementRequest {
    pub(crate) interest: Arc<Interest>,
    /// Ingress face of the Interest.
    pub(crate) ingress: FaceId,
    pub(crate) path: ReturnPath,
}

/// Description of a face by the owner of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceDescription {
    /// Remote URI.
    pub uri: String,
    /// Local URI.
    pub local_uri: String,
    /// Persistency of the face.
    pub persistency: Persistency,
    /// Whether the peer is on the same machine.
    pub local: bool,
    /// Receivers of the link.
    pub link_type: LinkType,
    /// Longest frame, in bytes.
    pub mtu: u64,
    /// Congestion marking of outgoing packets; `None`: off.
    pub marking: Option<Marking>,
    /// NDNLPv2 reliability.
    pub reliable: bool,
    /// Local fields for applications at the other end.
    pub local_fields: bool,
}

/// Settings of a face in a command; absent ones do not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceSettings {
    /// Persistency of the face.
    pub persistency: Option<Persistency>,
    /// Longest frame, in bytes.
    pub mtu: Option<u64>,
    /// Whether packets are marked for congestion.
    pub marks: Option<bool>,
    /// Duration of congestion before packets are marked.
    pub marking_interval: Option<Duration>,
    /// Queue length in bytes above which the queue is congested.
    pub marking_threshold: Option<u64>,
    /// NDNLPv2 reliability.
    pub reliable: Option<bool>,
    /// Local fields for applications at the other end.
    pub local_fields: Option<bool>,
}

/// Order of the node to its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceOrder {
    /// Open a face; expects one [`Notice::FaceMade`], after its [`Notice::FaceKnown`] if it was opened.
    Create {
        /// Returned with the answer.
        ticket: u64,
        /// Remote URI.
        uri: String,
        /// Local URI, if given: `dev://eth0` for faces on an interface.
        local_uri: Option<String>,
        /// Settings of the face.
        settings: FaceSettings,
    },
    /// Change a face; expects one [`Notice::FaceMade`], after a [`Notice::FaceKnown`] if it was changed.
    Update {
        /// Returned with the answer.
        ticket: u64,
        /// The face.
        face: FaceId,
        /// The new settings.
        settings: FaceSettings,
    },
    /// Close a face for good.
    Destroy {
        /// The face.
        face: FaceId,
    },
}

/// Reason why an order was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderError {
    /// The URI is missing, or contains no address.
    Malformed,
    /// Faces of this kind cannot be opened, or not changed like this.
    Unsupported,
    /// The limit of open faces is reached.
    TooMany,
    /// The address is unreachable.
    Unreachable,
    /// The face is gone.
    Gone,
    /// The face cannot change: a peer opened it, or this side did.
    Fixed,
}

impl OrderError {
    /// Answer to the command.
    #[must_use]
    pub const fn rejection(self) -> Rejection {
        match self {
            Self::Malformed => Rejection {
                code: 400,
                text: "malformed URI: it takes a scheme, an address and a port",
            },
            Self::Unsupported => Rejection {
                code: 406,
                text: "no face can be like this here: udp, tcp and ws lead to an address, ether and groups need a \
                       LocalUri such as dev://eth0, and an MTU is 256 or more",
            },
            Self::TooMany => Rejection { code: 503, text: "too many faces" },
            Self::Unreachable => Rejection { code: 504, text: "nothing can be sent there" },
            Self::Gone => Rejection::UNKNOWN_FACE,
            Self::Fixed => Rejection { code: 409, text: "a face does not change its opening side" },
        }
    }
}

/// A report of the node's owner to its management.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A face exists, up or down; or its description has changed.
    FaceKnown {
        /// The face.
        face: FaceId,
        /// Its description.
        description: FaceDescription,
    },
    /// A face is gone for good.
    FaceGone {
        /// The face.
        face: FaceId,
    },
    /// Outcome of an order.
    FaceMade {
        /// Ticket of the order.
        ticket: u64,
        /// The face, or the reason of the rejection.
        outcome: Result<FaceId, OrderError>,
    },
    /// Addresses at which peers can open faces: all of them, and no others.
    Channels(Vec<String>),
    /// Sets the strategy of a prefix.
    Strategy {
        /// The prefix.
        prefix: Name,
        /// Text of the strategy; `None`: that of the next shorter prefix applies. An invalid text, and `None` for
        /// "/", change nothing.
        text: Option<String>,
    },
    /// The current time of day.
    TimeOfDay {
        /// Microseconds since 1970.
        micros: u64,
    },
}
