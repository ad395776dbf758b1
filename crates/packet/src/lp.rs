//! Link frames: a network packet or a fragment of one, with hop-by-hop fields.
//!
//! Source: NDNLPv2; rules on order, repetition and unknown fields as in ndn-cxx. A bare Interest or
//! Data is a frame, too.

pub mod anticipation;
pub mod field;
mod ignorable;
mod wire;

pub use ignorable::Ignorable;

use crate::nack::NackReason;
use crate::tlv::{self, typ};
use bytes::{BufMut, Bytes, BytesMut};

/// Most bytes of a PitToken (NDNLPv2, section "PIT Token").
pub const MAX_PIT_TOKEN_LEN: usize = 32;

/// Most Ack fields in a decoded frame: as many as the largest UDP datagram holds.
pub const MAX_ACKS: usize = 5500;

/// The fields of a link frame; the default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LpHeader {
    /// Sequence: identifies the fragment on this link.
    pub sequence: Option<u64>,
    /// FragIndex: number of this fragment, from 0; absent means 0.
    pub frag_index: Option<u64>,
    /// FragCount: number of fragments of the packet; absent means 1.
    pub frag_count: Option<u64>,
    /// PitToken: opaque bytes (1 to 32) that the answer returns.
    pub pit_token: Option<Bytes>,
    /// Nack: rejects the Interest that follows.
    pub nack: Option<NackReason>,
    /// IncomingFaceId: local links only.
    pub incoming_face_id: Option<u64>,
    /// NextHopFaceId: local links only.
    pub next_hop_face_id: Option<u64>,
    /// CachePolicyType inside CachePolicy: 1 means that the Data must not be cached.
    pub cache_policy: Option<u64>,
    /// CongestionMark: 0 means none.
    pub congestion_mark: Option<u64>,
    /// Ack: each acknowledges a TxSequence of the other side.
    pub acks: Vec<u64>,
    /// TxSequence: identifies this transmission on this link.
    pub tx_sequence: Option<u64>,
    /// NonDiscovery: the Interest must not be flooded.
    pub non_discovery: bool,
    /// PrefixAnnouncement: a whole Data packet.
    pub prefix_announcement: Option<Bytes>,
    /// Fields that a peer ignores if it does not know them.
    pub ignorable: Ignorable,
}

impl LpHeader {
    /// Whether there is no field, so that the packet may be sent bare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A link frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LpPacket {
    /// Fields of the frame.
    pub header: LpHeader,
    /// The packet or fragment; a frame without one (IDLE) only carries fields.
    pub fragment: Option<Bytes>,
}

impl LpPacket {
    /// A packet without link fields.
    #[must_use]
    pub fn bare(packet: Bytes) -> Self {
        Self { header: LpHeader::default(), fragment: Some(packet) }
    }

    /// Appends the frame: the bare packet if there is no field, else an LpPacket.
    pub fn encode(&self, out: &mut BytesMut) {
        out.reserve(self.encoded_len());
        if let Some(packet) = self.as_bare() {
            out.put_slice(packet);
            return;
        }
        tlv::put_header(out, typ::LP_PACKET, self.value_len());
        self.header.encode(out);
        if let Some(fragment) = &self.fragment {
            tlv::put_tlv(out, typ::FRAGMENT, fragment);
        }
    }

    /// Bytes of the whole frame.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        match self.as_bare() {
            Some(packet) => packet.len(),
            None => tlv::tlv_len(typ::LP_PACKET, self.value_len()),
        }
    }

    fn value_len(&self) -> usize {
        let fragment = self.fragment.as_ref().map_or(0, |it| tlv::tlv_len(typ::FRAGMENT, it.len()));
        self.header.encoded_len() + fragment
    }

    /// The packet, if it needs no LpPacket around it.
    fn as_bare(&self) -> Option<&Bytes> {
        self.fragment
            .as_ref()
            .filter(|packet| wire::is_network_packet(packet) && self.header.is_empty())
    }
}
