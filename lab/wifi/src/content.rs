//! Contents of frames: load of the layer above, or management of the medium itself.
//!
//! IEEE Std 802.11-2016, §9.3.3. Differences: lengths of management frames are typical ones, and requests are
//! always granted.
use super::StationId;
use recoup_core::load::Load;

/// Content of a frame.
#[derive(Clone, Debug)]
pub(super) enum Content<L> {
    /// Load of the layer above.
    Above(L),
    /// Management.
    Management(Management),
}

/// A management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Management {
    /// An access point is there.
    Beacon,
    /// A client wants to be known.
    AuthenticationRequest,
    /// The access point.
    AuthenticationResponse,
    /// A client wants to belong to this access point, and leaves another one.
    AssociationRequest {
        /// The access point that is left.
        before: Option<StationId>,
    },
    /// The action.
    AssociationResponse,
}

impl<L> Content<L> {
    pub(super) fn as_above(&self) -> Option<&L> {
        match self {
            Self::Above(load) => Some(load),
            Self::Management(_) => None,
        }
    }

    pub(super) fn management(&self) -> Option<Management> {
        match self {
            Self::Above(_) => None,
            Self::Management(management) => Some(*management),
        }
    }
}

impl<L: Load> Load for Content<L> {
    /// Bytes above the LLC header; management frames have none, and count as if they had.
    fn bytes(&self) -> u32 {
        match self {
            Self::Above(load) => load.bytes(),
            Self::Management(Management::Beacon) => 160,
            Self::Management(Management::AuthenticationRequest) => 6,
            Self::Management(Management::AuthenticationResponse) => 6,
            Self::Management(_) => 90,
        }
    }
}
