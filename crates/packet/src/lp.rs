//! Link frames: a network packet, or a piece of one, behind fields that concern this link only.
//!
//! Source: NDNLPv2; the rules on order, repetition and unknown fields are those of ndn-cxx. A bare Interest or Data is
//! a frame too.

pub mod anticipation;
pub mod field;
mod ignorable;
mod wire;

pub use ignorable::Ignorable;

use crate::nack::NackReason;
use crate::tlv::{self, typ};
use bytes::{BufMut, Bytes, BytesMut};

/// Most octets of a PitToken (NDNLPv2, section "PIT Token").
pub const MAX_PIT_TOKEN_LEN: usize = 32;

/// Most Ack fields that decoding accepts in one frame: what a frame of the largest UDP datagram can hold.
pub const MAX_ACKS: usize = 5500;

/// The fields of a link frame. The default header is empty: no field at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LpHeader {
    /// Sequence: identifies the fragment on this link.
    pub sequence: Option<u64>,
    /// FragIndex: which piece of the packet follows, from 0; absent means 0.
    pub frag_index: Option<u64>,
    /// FragCount: into how many pieces the packet was cut; absent means 1.
    pub frag_count: Option<u64>,
    /// PitToken: opaque octets (1 to 32) to be sent back with the answer.
    pub pit_token: Option<Bytes>,
    /// Nack: the Interest that follows is refused.
    pub nack: Option<NackReason>,
    /// IncomingFaceId: local links only.
    pub incoming_face_id: Option<u64>,
    /// NextHopFaceId: local links only.
    pub next_hop_face_id: Option<u64>,
    /// CachePolicyType inside CachePolicy: 1 asks not to cache the Data.
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
    /// Fields that a peer which does not know them must ignore.
    pub ignorable: Ignorable,
}

impl LpHeader {
    /// Whether there is no field at all, so that the packet may travel bare.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A link frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LpPacket {
    /// Its fields.
    pub header: LpHeader,
    /// The packet or the piece of one; a frame without (IDLE) only carries fields.
    pub fragment: Option<Bytes>,
}

impl LpPacket {
    /// A packet without link fields.
    #[must_use]
    pub fn bare(packet: Bytes) -> Self {
        Self { header: LpHeader::default(), fragment: Some(packet) }
    }

    /// Appends the frame: the packet alone if there is no field, else an LpPacket.
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

    /// Octets of the whole frame.
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

    /// The packet, if it can travel without an LpPacket around it.
    fn as_bare(&self) -> Option<&Bytes> {
        self.fragment
            .as_ref()
            .filter(|packet| wire::is_network_packet(packet) && self.header.is_empty())
    }
}
