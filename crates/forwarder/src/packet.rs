//! Packets between the faces of nodes: a shared body, and beside it what changes at each hop.
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

/// A packet on its way. Cloning shares the body.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What travels unchanged.
    pub body: Body,
    /// What belongs to this hop.
    pub hop: Hop,
}

/// What travels unchanged.
#[derive(Clone, Debug)]
pub enum Body {
    /// A question.
    Interest(Arc<Interest>),
    /// An answer.
    Data(Data),
    /// A refusal.
    Nack(Arc<Interest>, NackReason),
    /// No packet at all: a frame by which the ends of a link speak with each other.
    Idle,
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A question.
    Interest,
    /// An answer.
    Data,
    /// A refusal.
    Nack,
    /// No packet, only link fields.
    Idle,
}

/// What belongs to one hop of a packet's way.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Hash of the name by the [`NameHasher`] that all nodes of one world share.
    pub name_hash: u64,
    /// Bytes of the network packet, without link header.
    pub bytes: u32,
    /// How many more times an Interest may be forwarded; overrides what the Interest itself says.
    pub hop_limit: Option<u8>,
    /// Congestion mark; 0 means none.
    pub congestion_mark: u8,
    /// What few packets have.
    pub extra: Option<Box<Extra>>,
}

/// What few packets have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// To be sent back with the answer.
    pub pit_token: Option<Bytes>,
    /// Link fields that Recoup nodes carry over to the next hop.
    pub carried: Ignorable,
    /// Link fields of this hop alone.
    pub hop_local: Ignorable,
    /// What recovery wrote on the frame, for this hop alone.
    pub tag: Option<Box<Tag>>,
    /// Data: lifetime of the Interest that it answers, for the links of this node alone, if it is not the usual one.
    pub lifetime: Option<Duration>,
    /// Data: which node answered, from its store or through its producer.
    pub provider: Option<u64>,
    /// Data: not to be kept in content stores.
    pub no_cache: bool,
    /// Interest: it left by the same face before and was not answered.
    pub retransmits: bool,
    /// Interests of local applications: the face that it is to leave by.
    pub next_hop: Option<FaceId>,
    /// For local applications that want to know it: the face that it came by.
    pub incoming: Option<FaceId>,
    /// First transmissions that the packet descends from, where a simulator's observer follows them.
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

    /// The name that it is about.
    #[must_use]
    pub fn name(&self) -> &Name {
        self.body.name()
    }

    /// What kind of packet it is.
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

    /// What a link's recovery has to know of it: its kind, and how long it is worth anything.
    #[must_use]
    pub fn worth(&self) -> (FrameKind, Option<Duration>) {
        match &self.body {
            Body::Interest(it) => (FrameKind::Interest, Some(it.lifetime_or_default())),
            Body::Data(_) => {
                let said = |extra: &Extra| field::time(&extra.carried, field::DATA_LIFETIME);
                let lifetime = |extra: &Extra| said(extra).or(extra.lifetime);
                let known = self.hop.extra.as_deref().and_then(lifetime);
                (FrameKind::Data, Some(known.unwrap_or(DEFAULT_LIFETIME)))
            }
            Body::Nack(..) | Body::Idle => (FrameKind::Data, None),
        }
    }

    /// Whether it is an Interest that left by the same face before.
    #[must_use]
    #[inline]
    pub(crate) fn retransmits(&self) -> bool {
        self.hop.extra.as_ref().is_some_and(|extra| extra.retransmits)
    }

    /// Bytes that it takes on a link that needs no fragments, link header included.
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

    /// The ids of first transmissions that it descends from.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        self.hop.trace()
    }

    /// Whether a link has to write anything but the packet.
    #[inline]
    pub(crate) fn has_link_fields(&self) -> bool {
        self.hop.congestion_mark > 0
            || self.hop.extra.as_ref().is_some_and(|extra| extra.has_fields())
            || matches!(self.body, Body::Nack(..))
    }

    /// The fields that it has on a link.
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
    /// What an application is told of it.
    pub(crate) fn beside(&mut self) -> Beside {
        let fields = std::mem::take(&mut self.carried);
        let fields = (!fields.is_empty()).then(|| Box::new(fields));
        Beside { provider: self.provider, fields }
    }

    /// Whether anything of it is written to links.
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

    /// Whether links are told who answered, and nothing else.
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

/// Bytes of a network packet behind a link header with so many bytes of fields.
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

/// The name of what is no packet.
static NO_NAME: Name = Name::root();

impl Load for Packet {
    fn octets(&self) -> u32 {
        Self::bytes(self) as u32
    }
}

impl Body {
    /// The name that it is about.
    #[must_use]
    pub fn name(&self) -> &Name {
        match self {
            Self::Interest(interest) | Self::Nack(interest, _) => &interest.name,
            Self::Data(data) => data.name(),
            Self::Idle => &NO_NAME,
        }
    }

    /// The TLV-VALUE of the name that it is about.
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

    /// The same hop without what few packets have, of which the caller takes along what is not for one hop alone.
    #[inline]
    pub(crate) fn onward(&self) -> Self {
        let Self { name_hash, bytes, hop_limit, congestion_mark, .. } = *self;
        Self { hop_limit, congestion_mark, ..Self::bare(name_hash, bytes) }
    }

    /// The first transmissions that the packet descends from.
    #[must_use]
    pub(crate) fn trace(&self) -> &Trace {
        self.extra.as_ref().map_or(Trace::EMPTY, |extra| &extra.trace)
    }

    /// Bytes that Data or an Interest with these fields takes on a link that needs no fragments.
    pub(crate) fn link_bytes(&self) -> u32 {
        if self.congestion_mark == 0 && !self.extra.as_ref().is_some_and(|it| it.has_fields()) {
            return self.bytes;
        }
        in_frame(self.fields_bytes(), self.bytes) as u32
    }

    /// Bytes of the fields that it has on a link.
    fn fields_bytes(&self) -> usize {
        // All Data of a world may say who answered: a header need not be made each time to know its length.
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

    /// Data: notes the lifetime of the Interest that it answers.
    pub(crate) fn note_lifetime(&mut self, interest: &Interest) {
        let lifetime = interest.lifetime_or_default();
        // Most have the usual one, and so need no memory of their own.
        if lifetime != DEFAULT_LIFETIME {
            self.extra_mut().lifetime = Some(lifetime);
        }
    }

    /// What few packets have, to be changed.
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
    fn a_packet_is_no_larger_than_a_cache_line() {
        assert!(size_of::<Packet>() <= 64, "{}", size_of::<Packet>());
    }

    #[test]
    fn the_octets_of_a_packet_are_those_of_its_frame() {
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
    fn who_answered_is_counted_as_it_is_written() {
        let interest = Arc::new(Interest::new("/a/b".parse().unwrap()));
        let mut packet = Packet::interest(interest, &NameHasher::new(1));
        packet.hop.extra_mut().provider = Some(u64::MAX);
        assert_eq!(packet.hop.fields_bytes(), packet.link_header().encoded_len());
        packet.hop.congestion_mark = 1;
        assert_eq!(packet.hop.fields_bytes(), packet.link_header().encoded_len());
    }
}
