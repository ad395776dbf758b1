//! What management and the owner of a node say to each other: the owner knows where faces lead, and opens and closes them.
use crate::face::{FaceId, Marking};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{LinkType, Persistency, Refusal};
use recoup_transport::time::Duration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An Interest for the management.
#[derive(Clone, Debug)]
pub(crate) struct ManagementRequest {
    pub(crate) interest: Arc<Interest>,
    /// The face that the Interest came by.
    pub(crate) ingress: FaceId,
    pub(crate) path: ReturnPath,
}

/// What the owner of a node knows of a face.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaceDescription {
    /// Where it leads.
    pub uri: String,
    /// Its end on this machine.
    pub local_uri: String,
    /// How long it stays.
    pub persistency: Persistency,
    /// The other end is on this machine.
    pub local: bool,
    /// Who hears what is sent.
    pub link_type: LinkType,
    /// Longest frame, in bytes.
    pub mtu: u64,
    /// Whether and when packets that leave are marked for congestion.
    pub marking: Option<Marking>,
    /// What is lost is sent again, by the reliability of NDNLPv2.
    pub reliable: bool,
    /// Applications at the other end are told by which faces packets came.
    pub local_fields: bool,
}

/// What a command wants of a face; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceSettings {
    /// How long it is to stay.
    pub persistency: Option<Persistency>,
    /// Longest frame, in bytes.
    pub mtu: Option<u64>,
    /// Whether packets are marked for congestion.
    pub marks: Option<bool>,
    /// How long a queue may be too long before that.
    pub marking_interval: Option<Duration>,
    /// From which length on, in bytes, a queue is too long.
    pub marking_threshold: Option<u64>,
    /// Whether what is lost is sent again, by the reliability of NDNLPv2.
    pub reliable: Option<bool>,
    /// Whether applications at the other end are told by which faces packets came.
    pub local_fields: Option<bool>,
}

/// What the node wants of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceOrder {
    /// Open a face; to be answered by one [`Notice::FaceMade`], after its [`Notice::FaceKnown`] if it was opened.
    Create {
        /// To be given back.
        ticket: u64,
        /// Where it is to lead.
        uri: String,
        /// From where, if that is said: `dev://eth0` for faces that are on an interface.
        local_uri: Option<String>,
        /// How it is to be.
        settings: FaceSettings,
    },
    /// Change a face; to be answered by one [`Notice::FaceMade`], after a [`Notice::FaceKnown`] if it was changed.
    Update {
        /// To be given back.
        ticket: u64,
        /// The face.
        face: FaceId,
        /// How it is to be.
        settings: FaceSettings,
    },
    /// Close a face for good.
    Destroy {
        /// The face.
        face: FaceId,
    },
}

/// Why an order was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaceRefusal {
    /// It does not say where the face is to lead, or not by an address.
    Malformed,
    /// Faces of this kind cannot be opened, or not changed like this.
    Unsupported,
    /// As many faces are open as there may be.
    TooMany,
    /// Nothing can be sent there.
    Unreachable,
    /// The face is gone.
    Gone,
    /// The face stays as it is: a peer opened it, or this side did.
    Fixed,
}

impl FaceRefusal {
    /// What is answered to the command.
    #[must_use]
    pub const fn refusal(self) -> Refusal {
        match self {
            Self::Malformed => Refusal {
                code: 400,
                text: "malformed URI: it takes a scheme, an address and a port",
            },
            Self::Unsupported => Refusal {
                code: 406,
                text: "no face can be like this here: udp, tcp and ws lead to an address, ether and groups need a \
                       LocalUri such as dev://eth0, and an MTU is 256 or more",
            },
            Self::TooMany => Refusal { code: 503, text: "too many faces" },
            Self::Unreachable => Refusal { code: 504, text: "nothing can be sent there" },
            Self::Gone => Refusal::UNKNOWN_FACE,
            Self::Fixed => Refusal { code: 409, text: "who opened a face does not change" },
        }
    }
}

/// A report of the node's owner to its management.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// A face is there, usable or not; or what is known of it has changed.
    FaceKnown {
        /// The face.
        face: FaceId,
        /// What is known of it.
        description: FaceDescription,
    },
    /// A face is gone for good.
    FaceGone {
        /// The face.
        face: FaceId,
    },
    /// What became of an order.
    FaceMade {
        /// That of the order.
        ticket: u64,
        /// The face, or why there is none.
        outcome: Result<FaceId, FaceRefusal>,
    },
    /// Where peers can open faces: all of these places, and no others.
    Channels(Vec<String>),
    /// Below a prefix another strategy decides from now on.
    Strategy {
        /// The prefix.
        prefix: Name,
        /// How the strategy is written; `None`: that of the next shorter prefix decides. A text that cannot be read, and
        /// nothing for "/", change nothing.
        text: Option<String>,
    },
    /// What time of day it is.
    TimeOfDay {
        /// Microseconds since 1970.
        micros: u64,
    },
}
