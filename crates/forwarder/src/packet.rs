//! Packets between the faces of nodes: a shared body, and fields that change at each hop.
mod wire;

pub(crate) use wire::{PacketMemory, WireBuffers};

use crate::face::FaceId;
use crate::hash::NameHasher;
use crate::trace::Trace;
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::interest::{DEFAULT_LIFETIME, Interest};
use recoup_packet::lp::{Ignorable, LpHeader, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::tlv::{self, typ};
use recoup_transport::application::Beside;
use recoup_transport::link::recovery::{FrameKind, Tag};
use recoup_transport::queue::Load;
use recoup_transport::time::Duration;
use std::sync::Arc;

/// A packet. Clones share the body.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Part that does not change.
    pub body: Body,
    /// Fields of this hop.
    pub hop: Hop,
}

/// Part of a packet that does not change.
#[derive(Clone, Debug)]
pub enum Body {
    /// An Interest.
    Interest(Arc<Interest>),
    /// A Data packet.
    Data(Data),
    /// A Nack.
    Nack(Arc<Interest>, NackReason),
    /// No packet: a control frame of a link.
    Idle,
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An Interest.
    Interest,
    /// A Data packet.
    Data,
    /// A Nack.
    Nack,
    /// No packet, only link fields.
    Idle,
}

/// Fields of a packet at one hop.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Hash of the name by the [`NameHasher`] that all nodes of one simulation share.
    pub name_hash: u64,
    /// Bytes of the network packet, without link header.
    pub bytes: u32,
    /// Remaining hops of an Interest; overrides the HopLimit of the Interest itself.
    pub hop_limit: Option<u8>,
    /// Congestion mark; 0 means none.
    pub congestion_mark: u8,
    /// Fields of few packets.
    pub extra: Option<Box<Extra>>,
}

/// Fields of few packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// PIT token, returned with the answer.
    pub pit_token: Option<Bytes>,
    /// Link fields that Recoup nodes forward to the next hop.
    pub carried: Ignorable,
    /// Link fields of this hop alone.
    pub hop_local: Ignorable,
    /// Recovery tag of the frame, for this hop alone.
    pub tag: Option<Box<Tag>>,
    /// Data: lifetime of its Interest, for the links of this node alone, if it is not the default.
    pub lifetime: Option<Duration>,
    /// Data: the node that answered, from its store or through its producer.
    pub provider: Option<u64>,
    /// Data: not to be kept in content stores.
    pub no_cache: bool,
    /// Interest: a retransmission by the same face.
    pub retransmits: bool,
    /// Interests of local applications: the NextHopFaceId.
    pub next_hop: Option<FaceId>,
    /// For local applications with local fields: the IncomingFaceId.
    pub incoming: Option<FaceId>,
    /// First transmissions from which the packet descends, for a simulator's observer.
    pub trace: Trace,
}

impl Packet {
    /// An Interest with its own hop limit and no link fields.
    #[must_use]
    pub fn interest(interest: Arc<Interest>, hasher: &NameHasher) -> Self {
        let bytes = interest.encoded_len() as u32;
        Self::sized(Body::Interest(interest), bytes, hasher)
    }

    /// A Data packet without link fields.
    #[must_use]
    pub fn data(data: Data, hasher: &NameHasher) -> Self {
        let bytes = data.encoded_len() as u32;
        Self::sized(Body::Data(data), bytes, hasher)
    }

    /// A Nack without further link fields.
    #[must_use]
    pub fn nack(interest: Arc<Interest>, reason: NackReason, hasher: &NameHasher) -> Self {
        let bytes = interest.encoded_len() as u32;
        Self::sized(Body::Nack(interest, reason), bytes, hasher)
    }

    /// A frame without packet.
    #[must_use]
    pub fn idle(tag: Tag) -> Self {
        let mut frame = Self { body: Body::Idle, hop: Hop::bare(0, 0) };
        frame.hop.extra_mut().tag = Some(Box::new(tag));
        frame
    }

    /// A frame without packet and fields.
    #[must_use]
    pub fn keep_alive() -> Self {
        Self { body: Body::Idle, hop: Hop::bare(0, 0) }
    }

    /// A packet whose bytes are known.
    #[inline]
    pub(crate) fn sized(body: Body, bytes: u32, hasher: &NameHasher) -> Self {
        let name_hash = hasher.hash(body.name_value());
        let hop_limit = match &body {
            Body::Interest(interest) => interest.hop_limit,
            Body::Data(_) | Body::Nack(..) | Body::Idle => None,
        };
        Self { body, hop: Hop { hop_limit, ..Hop::bare(name_hash, bytes) } }
    }

    /// Name of the packet.
    #[must_use]
    pub fn name(&self) -> &Name {
        self.body.name()
    }

    /// Kind of the packet.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Interest(_) => Kind::Interest,
            Body::Data(_) => Kind::Data,
            Body::Nack(..) => Kind::Nack,
            Body::Idle => Kind::Idle,
        }
    }

    /// Kind and lifetime of the packet, for link recovery.
    #[must_use]
    #[inline]
    pub fn worth(&self) -> (FrameKind, Option<Duration>) {
        match &self.body {
            Body::Interest(it) => (FrameKind::Interest, Some(it.lifetime_or_default())),
            Body::Data(_) => {
                let lifetime_of = |extra: &Extra| field::time(&extra.carried, field::DATA_LIFETIME);
                let lifetime = |extra: &Extra| lifetime_of(extra).or(extra.lifetime);
                let known = self.hop.extra.as_deref().and_then(lifetime);
                (FrameKind::Data, Some(known.unwrap_or(DEFAULT_LIFETIME)))
            }
            Body::Nack(..) | Body::Idle => (FrameKind::Data, None),
        }
    }

    /// Whether it is a retransmission by the same face.
    #[must_use]
    #[inline]
    pub(crate) fn retransmits(&self) -> bool {
        self.hop.extra.as_ref().is_some_and(|extra| extra.retransmits)
    }

    /// Bytes on a link without fragmentation, link header included.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        if self.has_link_fields() { self.bytes_with_fields() } else { self.hop.bytes as usize }
    }

    fn bytes_with_fields(&self) -> usize {
        match self.body {
            Body::Idle => tlv::tlv_len(typ::LP_PACKET, self.link_header().encoded_len()),
            Body::Nack(..) => in_frame(self.link_header().encoded_len(), self.hop.bytes),
            _ => in_frame(self.hop.fields_bytes(), self.hop.bytes),
        }
    }

    /// Ids of the first transmissions from which it descends.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        self.hop.trace()
    }

    /// Whether it has any link fields.
    #[inline]
    pub(crate) fn has_link_fields(&self) -> bool {
        self.hop.congestion_mark > 0
            || self.hop.extra.as_ref().is_some_and(|extra| extra.has_fields())
            || matches!(self.body, Body::Nack(..))
    }

    /// Its link fields.
    #[must_use]
    pub fn link_header(&self) -> LpHeader {
        let mut header = self.hop.link_header();
        if let Body::Nack(_, reason) = self.body {
            header.nack = Some(reason);
        }
        header
    }
}

impl Extra {
    /// Link fields for an application.
    pub(crate) fn beside(&mut self) -> Beside {
        let fields = std::mem::take(&mut self.carried);
        let fields = (!fields.is_empty()).then(|| Box::new(fields));
        Beside { provider: self.provider, fields, asked: None }
    }

    /// Whether any fields are written to links.
    fn has_fields(&self) -> bool {
        self.pit_token.is_some()
            || self.provider.is_some()
            || self.tag.is_some()
            || self.no_cache
            || self.next_hop.is_some()
            || self.incoming.is_some()
            || !self.carried.is_empty()
            || !self.hop_local.is_empty()
    }

    /// Whether the provider is the only link field.
    fn has_provider_alone(&self) -> bool {
        self.provider.is_some()
            && self.pit_token.is_none()
            && self.tag.is_none()
            && !self.no_cache
            && self.next_hop.is_none()
            && self.incoming.is_none()
            && self.carried.is_empty()
            && self.hop_local.is_empty()
    }
}

/// Bytes of a network packet behind a link header with this many bytes of fields.
fn in_frame(fields_bytes: usize, packet_bytes: u32) -> usize {
    let packet = packet_bytes as usize;
    match fields_bytes {
        0 => packet,
        fields => tlv::tlv_len(typ::LP_PACKET, fields + tlv::tlv_len(typ::FRAGMENT, packet)),
    }
}

/// Bytes of the number of a provider.
const PROVIDER_BYTES: usize = size_of::<u64>();

/// CachePolicyType: not to be cached (NDNLPv2).
pub(crate) const NO_CACHE: u64 = 1;

/// Name of a frame without packet.
static NO_NAME: Name = Name::root();

impl Load for Packet {
    fn bytes(&self) -> u32 {
        Self::bytes(self) as u32
    }
}

impl Body {
    /// Name of the packet.
    #[must_use]
    pub fn name(&self) -> &Name {
        match self {
            Self::Interest(interest) | Self::Nack(interest, _) => &interest.name,
            Self::Data(data) => data.name(),
            Self::Idle => &NO_NAME,
        }
    }

    /// TLV-VALUE of the packet's name.
    #[inline]
    fn name_value(&self) -> &[u8] {
        match self {
            Self::Interest(interest) | Self::Nack(interest, _) => interest.name.value(),
            Self::Data(data) => data.name_value(),
            Self::Idle => &[],
        }
    }
}

impl Hop {
    /// A hop without fields.
    #[inline]
    pub(crate) fn bare(name_hash: u64, bytes: u32) -> Self {
        Self { name_hash, bytes, hop_limit: None, congestion_mark: 0, extra: None }
    }

    /// The hop without fields of few packets; the caller adds those that are forwarded.
    #[inline]
    pub(crate) fn onward(&self) -> Self {
        let Self { name_hash, bytes, hop_limit, congestion_mark, .. } = *self;
        Self { hop_limit, congestion_mark, ..Self::bare(name_hash, bytes) }
    }

    /// First transmissions from which the packet descends.
    #[must_use]
    pub(crate) fn trace(&self) -> &Trace {
        self.extra.as_ref().map_or(Trace::EMPTY, |extra| &extra.trace)
    }

    /// Bytes of Data or an Interest with these fields on a link without fragmentation.
    pub(crate) fn link_bytes(&self) -> u32 {
        if self.congestion_mark == 0 && !self.extra.as_ref().is_some_and(|it| it.has_fields()) {
            return self.bytes;
        }
        in_frame(self.fields_bytes(), self.bytes) as u32
    }

    /// Bytes of its link fields.
    fn fields_bytes(&self) -> usize {
        // All Data of a simulation may carry a provider: its length is known without encoding a header.
        match &self.extra {
            Some(extra) if self.congestion_mark == 0 && extra.has_provider_alone() => {
                tlv::tlv_len(field::PROVIDER_ID, PROVIDER_BYTES)
            }
            _ => self.link_header().encoded_len(),
        }
    }

    /// The fields that it has on a link.
    fn link_header(&self) -> LpHeader {
        let mut header = LpHeader::default();
        if self.congestion_mark > 0 {
            header.congestion_mark = Some(u64::from(self.congestion_mark));
        }
        if let Some(extra) = &self.extra {
            header.pit_token.clone_from(&extra.pit_token);
            header.cache_policy = extra.no_cache.then_some(NO_CACHE);
            header.next_hop_face_id = extra.next_hop.map(|face| u64::from(face.0));
            header.incoming_face_id = extra.incoming.map(|face| u64::from(face.0));
            header.ignorable = extra.carried.clone();
            for (typ, value) in extra.hop_local.iter() {
                header.ignorable.set(typ, value.clone());
            }
            if let Some(provider) = extra.provider {
                let value = Bytes::copy_from_slice(&provider.to_be_bytes());
                header.ignorable.set(field::PROVIDER_ID, value);
            }
            if let Some(tag) = &extra.tag {
                tag.write(&mut header);
            }
        }
        header
    }

    /// Data: records the lifetime of its Interest.
    pub(crate) fn note_lifetime(&mut self, interest: &Interest) {
        let lifetime = interest.lifetime_or_default();
        // The default needs no memory of its own.
        if lifetime != DEFAULT_LIFETIME {
            self.extra_mut().lifetime = Some(lifetime);
        }
    }

    /// Fields of few packets, mutable.
    pub fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use recoup_packet::lp::LpPacket;

    #[test]
    fn packet_fits_a_cache_line() {
        assert!(size_of::<Packet>() <= 64, "{}", size_of::<Packet>());
    }

    #[test]
    fn packet_size_is_that_of_its_frame() {
        let hasher = NameHasher::new(1);
        let mut interest = Interest::new("/a/b".parse().unwrap());
        interest.hop_limit = Some(7);
        let interest = Arc::new(interest);
        let bare = Packet::interest(Arc::clone(&interest), &hasher);
        assert_eq!((bare.bytes(), bare.hop.hop_limit), (interest.encoded_len(), Some(7)));
        let mut nack = Packet::nack(Arc::clone(&interest), NackReason::NoRoute, &hasher);
        nack.hop.congestion_mark = 1;
        let extra = nack.hop.extra_mut();
        extra.pit_token = Some(Bytes::from_static(b"token"));
        extra.carried.set(852, Bytes::from_static(b"x"));
        extra.hop_local.set(956, Bytes::from_static(b"yz"));
        let frame = LpPacket { header: nack.link_header(), fragment: Some(interest.to_bytes()) };
        let mut encoded = BytesMut::new();
        frame.encode(&mut encoded);
        assert_eq!(nack.bytes(), encoded.len());
    }

    #[test]
    fn provider_counts_with_its_encoded_size() {
        let interest = Arc::new(Interest::new("/a/b".parse().unwrap()));
        let mut packet = Packet::interest(interest, &NameHasher::new(1));
        packet.hop.extra_mut().provider = Some(u64::MAX);
        assert_eq!(packet.hop.fields_bytes(), packet.link_header().encoded_len());
        packet.hop.congestion_mark = 1;
        assert_eq!(packet.hop.fields_bytes(), packet.link_header().encoded_len());
    }
}
