//! Packets on their way out.
use recoup_packet::data::{Data, Unsigned};

/// An answer.
#[derive(Debug)]
pub(super) enum Packet {
    /// It is complete.
    Whole(Data),
    /// It is still to be signed, and where it is a segment, its signature is to be kept.
    Unsigned(Unsigned, Option<Origin>),
}

impl Packet {
    /// The octets to sign, if there are any.
    pub(super) fn signed_portion(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(_) => None,
            Self::Unsigned(unsigned, _) => Some(unsigned.signed_portion()),
        }
    }
}

/// Where a segment is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Number of the object on the shelf.
    pub(super) object: u64,
    /// Number of the segment.
    pub(super) segment: u64,
}
