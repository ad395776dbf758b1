//! Faces: the interfaces of a node.
//!
//! A node handles two kinds of network faces alike but for their ends. *Wire* faces carry frames of bytes
//! (sockets), *value* faces carry packets as values (the simulator). Applications sit behind faces of their own, so
//! that all tables know only one kind of number.

use crate::limits::FaceLimits;
pub use recoup_transport::link::recovery::Agreement;
pub use recoup_transport::link::{Aqm, Marking, Recovery};
pub use recoup_transport::management::LinkType;
pub use recoup_transport::queue::QueueLimit;

/// Number of a face, unique in its node. A driver numbers network faces from small numbers up, and reuses a number
/// only after all others. The faces of applications follow from their [`AppId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FaceId(pub u32);

/// Number of an attached application, unique in its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppId(pub u32);

/// Set in the numbers of application faces.
const APP_BIT: u32 = 1 << 31;

impl FaceId {
    /// The face of the node's own management, without an application.
    pub const MANAGEMENT: Self = Self(u32::MAX);

    /// The largest number of a network face.
    pub const LAST_OF_NETWORK: Self = Self(APP_BIT - 1);

    /// The IncomingFaceId of Data from the content store, as in NFD.
    pub const CONTENT_STORE: Self = Self(254);

    /// The face of an application.
    #[must_use]
    pub const fn of_app(app: AppId) -> Self {
        Self(app.0 | APP_BIT)
    }

    /// The application behind this face; `None` for a face of the network.
    #[must_use]
    pub const fn app(self) -> Option<AppId> {
        if self.0 & APP_BIT == 0 { None } else { Some(AppId(self.0 & !APP_BIT)) }
    }
}

/// The attributes of a face, given by the driver when the face comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceAttributes {
    /// Frames, or packets as values.
    pub form: FaceForm,
    /// Bytes that the receiver of the face can buffer before it loses frames, if known.
    pub receive_budget: Option<u64>,
    /// The face leads toward producers: it is a next hop of "/".
    pub upstream: bool,
    /// The far end is on this machine: packets below /localhost may pass.
    pub local: bool,
    /// The link type. No Nacks are sent on multi-access links; on an ad-hoc link a packet may leave by its ingress face.
    pub link_type: LinkType,
    /// Packets to the far end, an application of this machine, carry IncomingFaceId.
    pub local_fields: bool,
    /// The face comes up again under its number after it went down: its routes are kept.
    pub permanent: bool,
    /// The far end may be forged: no Data has left by the face. Such faces share low limits.
    pub provisional: bool,
    /// Congestion marking of outgoing packets; `None`: off.
    pub marking: Option<Aqm>,
    /// Link recovery.
    pub recovery: Recovery,
    /// Limits of the face; `None`: those of [`NodeConfig::limits`](crate::options::NodeConfig::limits). A node
    /// without limits in its options does not count the slots of faces, and enforces only the rate.
    pub limits: Option<FaceLimits>,
}

impl FaceAttributes {
    /// A face for frames of at most `mtu` bytes with default attributes: opened by a peer, not local, without marks.
    #[must_use]
    pub const fn wire(mtu: usize) -> Self {
        Self::of(FaceForm::Wire { mtu })
    }

    /// A permanent face for packets as values, with a queue of that limit in the node, without marks.
    #[must_use]
    pub const fn value(queue: QueueLimit) -> Self {
        Self { permanent: true, ..Self::of(FaceForm::Value { queue }) }
    }

    const fn of(form: FaceForm) -> Self {
        Self {
            form,
            receive_budget: None,
            upstream: false,
            local: false,
            link_type: LinkType::PointToPoint,
            local_fields: false,
            permanent: false,
            provisional: false,
            marking: None,
            recovery: Recovery::Off,
            limits: None,
        }
    }

    /// Makes the face an upstream one, toward producers; such a face is permanent.
    #[must_use]
    pub const fn toward_producers(self) -> Self {
        Self { upstream: true, permanent: true, ..self }
    }
}

/// Use of a face, for a driver that has to close one of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceUse {
    /// Routes lead to the face.
    pub routes: bool,
    /// Interests of the face are pending. A node without face limits does not know.
    pub pending: bool,
    /// Data left by the face since it came up.
    pub answered: bool,
}

impl FaceUse {
    /// Whether closing the face would lose something.
    #[must_use]
    pub const fn is_engaged(&self) -> bool {
        self.routes || self.pending
    }
}

/// Transport of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaceForm {
    /// Frames of bytes, sent as soon as they are made.
    Wire {
        /// Largest frame, in bytes, that the face carries in one piece.
        mtu: usize,
    },
    /// Packets as values, one for each `Ready`; the others wait in the node.
    Value {
        /// Limit of queued packets, link headers included; further ones are dropped.
        queue: QueueLimit,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn face_of_an_application_identifies_it() {
        assert_eq!(FaceId::of_app(AppId(7)).app(), Some(AppId(7)));
        assert_eq!(FaceId(7).app(), None);
        assert_ne!(FaceId::of_app(AppId(7)), FaceId(7));
    }
}
