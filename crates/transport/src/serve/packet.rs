//! Packets of a producer before they are sent.
use recoup_packet::data::{Data, Unsigned};

/// A packet of an answer.
#[derive(Debug)]
pub(super) enum Packet {
    /// A complete packet.
    Whole(Data),
    /// A packet to be signed; for a segment, its origin, so that the signature is kept.
    Unsigned(Unsigned, Option<Origin>),
}

impl Packet {
    /// The bytes to sign, if any.
    pub(super) fn signed_portion(&self) -> Option<&[u8]> {
        match self {
            Self::Whole(_) => None,
            Self::Unsigned(unsigned, _) => Some(unsigned.signed_portion()),
        }
    }
}

/// Object and segment of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// Number of the object on the shelf.
    pub(super) object: u64,
    /// Number of the segment.
    pub(super) segment: u64,
}
