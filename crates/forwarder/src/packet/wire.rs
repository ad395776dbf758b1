//! Encoding and decoding of packets for wire faces.
use super::{Body, Hop, NO_CACHE, Packet};
use crate::drop::DropReason;
use crate::face::FaceId;
use crate::hash::NameHasher;
use bytes::{Bytes, BytesMut};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::lp::{LpHeader, field};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::tlv::{DecodeError, typ};
use std::sync::Arc;

/// First byte of an Interest.
const INTEREST: u8 = typ::INTEREST as u8;
/// First byte of a Data packet.
const DATA: u8 = typ::DATA as u8;

/// Bytes of one allocation for outgoing Interests, and of one for packets that are held for retransmission.
const LEAVING_BYTES: usize = 4096;

/// Bytes of one allocation for received packets, small so that one kept for long keeps few others alive.
const KEPT_BYTES: usize = 1024;

/// A packet of at least this size is no small part of a receive buffer of datagrams (64 KiB).
const LARGE_BYTES: usize = 4096;

/// Most dropped Interests whose memory is reused.
const SPARE_INTERESTS: usize = 256;

/// Memory for outgoing Interests.
#[derive(Debug, Default)]
pub(crate) struct WireBuffers {
    /// Free space for their encoding.
    pub(crate) free: BytesMut,
    /// Free space for copies of received packets.
    copies: BytesMut,
    /// The current Interest and its received bytes. It is forwarded with these bytes, because nodes change only the
    /// hop limit; it is shared, so nothing has changed it.
    pub(crate) came: Option<(Arc<Interest>, Bytes)>,
}

impl WireBuffers {
    /// Bytes of a packet that is sent at once.
    #[inline]
    pub(crate) fn of(&mut self, packet: &Packet) -> Bytes {
        match (&packet.body, &self.came) {
            (Body::Interest(leaves), Some((came, bytes))) if Arc::ptr_eq(leaves, came) => {
                bytes.clone()
            }
            _ => packet.to_wire(&mut self.free),
        }
    }

    /// Bytes of a packet that is held for retransmission: a packet must not keep a receive buffer alive of which it is a
    /// small part.
    #[inline]
    pub(crate) fn held(&mut self, packet: &Packet) -> Bytes {
        match (&packet.body, &self.came) {
            (Body::Interest(leaves), Some((came, bytes))) if Arc::ptr_eq(leaves, came) => {
                hold(&mut self.copies, bytes)
            }
            (Body::Data(data), _) if !data.is_detached() && data.encoded_len() < LARGE_BYTES => {
                hold(&mut self.copies, &data.wire())
            }
            _ => self.of(packet),
        }
    }
}

/// Memory of received packets, which are copied out of their receive buffers.
#[derive(Debug, Default)]
pub(crate) struct PacketMemory {
    /// Free space for their bytes, in the current allocation.
    free: BytesMut,
    /// Dropped Interests.
    spare: Vec<Arc<Interest>>,
    /// Number of allocations without a spare Interest, up to a limit: the number of spares kept.
    wanted: usize,
    /// A dropped Data packet.
    spare_data: Option<Data>,
}

impl PacketMemory {
    /// A copy of some bytes. Short ones share an allocation with few others.
    fn copy(&mut self, bytes: &[u8]) -> Bytes {
        copy(&mut self.free, bytes)
    }

    /// Decodes an Interest, into the memory of a dropped one if there is one.
    #[inline]
    fn interest(&mut self, bytes: &[u8]) -> Result<Arc<Interest>, DecodeError> {
        let free = &mut self.free;
        let keep = |bytes: &[u8]| copy(free, bytes);
        match self.spare.pop() {
            Some(mut spare) => {
                if let Some(place) = Arc::get_mut(&mut spare) {
                    place.decode_in_place(bytes, keep)?;
                    return Ok(spare);
                }
            }
            None => self.wanted = SPARE_INTERESTS.min(self.wanted + 1),
        }
        let mut interest = Interest::new(Name::root());
        interest.decode_in_place(bytes, keep)?;
        Ok(Arc::new(interest))
    }

    /// Decodes a Data packet that will be kept, into the memory of a dropped one.
    #[inline]
    fn data(&mut self, bytes: &[u8]) -> Result<Data, DecodeError> {
        let bytes = self.copy(bytes);
        Data::decode_kept_in(self.spare_data.take(), bytes)
    }

    /// Recycles a Data packet, unless it is shared.
    #[inline]
    pub(crate) fn recycle_data(&mut self, data: Option<Data>) {
        self.spare_data = data;
    }

    /// Recycles an Interest, unless it is shared.
    #[inline]
    pub(crate) fn recycle(&mut self, interest: Arc<Interest>) {
        // An Interest with parameters may hold a large buffer.
        if self.spare.len() < self.wanted && interest.parameters.is_none() {
            self.spare.push(interest);
        }
    }
}

impl Packet {
    /// The Interest and its received bytes, if it can be forwarded with them.
    #[inline]
    pub(crate) fn leaves_as(&self, bytes: Bytes) -> Option<(Arc<Interest>, Bytes)> {
        match &self.body {
            Body::Interest(it) if it.hop_limit.is_none() && it.nonce.is_some() => {
                Some((Arc::clone(it), bytes))
            }
            _ => None,
        }
    }

    /// Decodes a whole network packet that came behind `header`, or bare.
    ///
    /// Interests are copied to `kept`: one that is pending for long would keep its whole receive buffer alive. Data
    /// shares the bytes unless it `will_stay`.
    ///
    /// # Errors
    /// The packet is malformed.
    #[inline]
    pub(crate) fn from_wire(
        header: Option<&LpHeader>,
        packet: &Bytes,
        hasher: &NameHasher,
        kept: &mut PacketMemory,
        will_stay: bool,
    ) -> Result<Self, DropReason> {
        let nack = header.and_then(|it| it.nack);
        let body = Body::from_wire(nack, packet, kept, will_stay);
        let body = body.map_err(|_| DropReason::Malformed)?;
        let mut read = Self::sized(body, packet.len() as u32, hasher);
        if let Some(header) = header {
            read.hop.take_fields(header);
        }
        Ok(read)
    }

    /// Encodes the network packet; Interests are written to the free space of `pool`.
    #[inline]
    pub fn to_wire(&self, pool: &mut BytesMut) -> Bytes {
        match &self.body {
            Body::Data(data) => data.wire(),
            Body::Interest(interest) => put(interest, self.hop.bytes, self.hop.hop_limit, pool),
            Body::Nack(interest, _) => put(interest, self.hop.bytes, interest.hop_limit, pool),
            Body::Idle => Bytes::new(),
        }
    }
}

impl Body {
    #[inline]
    fn from_wire(
        nack: Option<NackReason>,
        packet: &Bytes,
        kept: &mut PacketMemory,
        will_stay: bool,
    ) -> Result<Self, DecodeError> {
        Ok(match (packet.first(), nack) {
            (Some(&INTEREST), None) => Self::Interest(kept.interest(packet)?),
            (Some(&INTEREST), Some(reason)) => Self::Nack(kept.interest(packet)?, reason),
            (Some(&DATA), None) if will_stay => Self::Data(kept.data(packet)?),
            (Some(&DATA), None) => Self::Data(Data::decode(packet.clone())?),
            _ => return Err(DecodeError::at(0, "an Interest, Data, or the Interest of a Nack")),
        })
    }
}

impl Hop {
    fn take_fields(&mut self, header: &LpHeader) {
        let mark = header.congestion_mark.unwrap_or(0);
        self.congestion_mark = u8::try_from(mark).unwrap_or(u8::MAX);
        if let Some(token) = &header.pit_token {
            // Copied, so that an unanswered Interest does not keep its frame alive.
            self.extra_mut().pit_token = Some(Bytes::copy_from_slice(token));
        }
        if header.cache_policy == Some(NO_CACHE) {
            self.extra_mut().no_cache = true;
        }
        if let Some(face) = header.next_hop_face_id {
            let face = u32::try_from(face).unwrap_or(u32::MAX);
            self.extra_mut().next_hop = Some(FaceId(face));
        }
        if !header.ignorable.is_empty() {
            let (mut carried, hop_local) = field::sort(&header.ignorable);
            let provider = carried.take(field::PROVIDER_ID);
            if !(carried.is_empty() && hop_local.is_empty() && provider.is_none()) {
                let extra = self.extra_mut();
                (extra.carried, extra.hop_local) = (carried, hop_local);
                // A ProviderId of another length is ignored.
                extra.provider =
                    provider.and_then(|id| Some(u64::from_be_bytes(id[..].try_into().ok()?)));
            }
        }
    }
}

/// Encodes an Interest of so many bytes.
fn put(interest: &Interest, bytes: u32, hop_limit: Option<u8>, pool: &mut BytesMut) -> Bytes {
    reserve(pool, bytes as usize, LEAVING_BYTES);
    interest.encode_with_hop_limit(pool, hop_limit);
    pool.split().freeze()
}

/// A copy of some bytes, in an allocation shared with few others, or in one of its own for long ones.
#[inline]
fn copy(free: &mut BytesMut, bytes: &[u8]) -> Bytes {
    if bytes.len() > KEPT_BYTES / 2 {
        return Bytes::copy_from_slice(bytes);
    }
    if free.len() < bytes.len() {
        *free = BytesMut::zeroed(KEPT_BYTES);
    }
    let mut place = free.split_to(bytes.len());
    place.copy_from_slice(bytes);
    place.freeze()
}

/// A copy of some bytes, in an allocation that consecutive packets share: a small one, since the last of them keeps it alive.
fn hold(copies: &mut BytesMut, bytes: &[u8]) -> Bytes {
    reserve(copies, bytes.len(), LEAVING_BYTES);
    copies.extend_from_slice(bytes);
    copies.split().freeze()
}

/// Ensures free space, from an allocation that is used up before the next one.
fn reserve(pool: &mut BytesMut, bytes: usize, piece_bytes: usize) {
    // An allocation that grows would stay as large as the longest packet.
    if pool.capacity() - pool.len() < bytes && !pool.try_reclaim(bytes) {
        *pool = BytesMut::with_capacity(bytes.max(piece_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::DigestSigner;

    fn interest(hop_limit: Option<u8>) -> Interest {
        let mut interest = Interest::new("/a/b".parse().unwrap());
        (interest.hop_limit, interest.nonce) = (hop_limit, Some(7));
        interest
    }

    #[test]
    fn encoding_has_the_hop_limit_of_the_hop() {
        let hasher = NameHasher::new(1);
        let mut packet = Packet::interest(Arc::new(interest(Some(9))), &hasher);
        packet.hop.hop_limit = Some(8);
        let wire = packet.to_wire(&mut BytesMut::new());
        assert_eq!(Interest::decode(wire).unwrap(), interest(Some(8)));
    }

    #[test]
    fn link_fields_survive_one_hop() {
        let hasher = NameHasher::new(1);
        let mut packet = Packet::interest(Arc::new(interest(None)), &hasher);
        packet.hop.congestion_mark = 1;
        let extra = packet.hop.extra_mut();
        extra.pit_token = Some(Bytes::from_static(b"token"));
        extra.next_hop = Some(FaceId(4));
        extra.no_cache = true;
        extra.carried.set(field::RTT_REDUCTION, Bytes::from_static(b"me"));
        extra.provider = Some(7);
        extra.hop_local.set(field::WLDR_SEQUENCE, Bytes::from_static(b"1"));
        let wire = packet.to_wire(&mut BytesMut::new());
        let (header, kept) = (packet.link_header(), &mut PacketMemory::default());
        let back = Packet::from_wire(Some(&header), &wire, &hasher, kept, false).unwrap();
        assert_eq!(back.hop.extra, packet.hop.extra);
        assert_eq!((back.hop.congestion_mark, back.hop.bytes), (1, packet.hop.bytes));
        assert_eq!(back.hop.name_hash, packet.hop.name_hash);
    }

    #[test]
    fn nack_of_data_is_malformed() {
        let hasher = NameHasher::new(1);
        let header = LpHeader { nack: Some(NackReason::NoRoute), ..LpHeader::default() };
        let data = Bytes::from_static(&[DATA, 0]);
        let kept = &mut PacketMemory::default();
        let reason = Packet::from_wire(Some(&header), &data, &hasher, kept, false).unwrap_err();
        assert_eq!(reason, DropReason::Malformed);
    }

    #[test]
    fn held_interest_keeps_no_receive_buffer() {
        let (bytes, mut wires) = (interest(None).to_bytes(), WireBuffers::default());
        let chunk = Bytes::from([&bytes[..], &[0; 99]].concat());
        let packet = Packet::interest(Arc::new(interest(None)), &NameHasher::new(1));
        wires.came = packet.leaves_as(chunk.slice(..bytes.len()));
        assert_eq!(wires.of(&packet).as_ptr(), chunk.as_ptr());
        let held = wires.held(&packet);
        assert_eq!(held, bytes);
        assert_ne!(held.as_ptr(), chunk.as_ptr());
    }

    #[test]
    fn held_data_keeps_no_much_larger_buffer() {
        let mut wires = WireBuffers::default();
        for (content, is_copied) in [(300, true), (1_400, true), (8_000, false)] {
            let name = "/a/b".parse().unwrap();
            let wire = DataBuilder::new(&name).build(&vec![7; content], &DigestSigner).wire();
            let buffer = Bytes::from([&wire[..], &[0; 64 << 10]].concat());
            let data = Data::decode(buffer.slice(..wire.len())).unwrap();
            let held = wires.held(&Packet::data(data, &NameHasher::new(1)));
            assert_eq!(held, wire);
            assert_eq!(held.as_ptr() != buffer.as_ptr(), is_copied, "{content}");
        }
    }

    #[test]
    fn dropped_interest_is_recycled_unless_shared() {
        let mut kept = PacketMemory::default();
        let read = |kept: &mut PacketMemory, hop_limit| {
            kept.interest(&interest(hop_limit).to_bytes()).unwrap()
        };
        let first = read(&mut kept, None);
        let (address, shared) = (Arc::as_ptr(&first), Arc::clone(&first));
        kept.recycle(first);
        let second = read(&mut kept, Some(1));
        assert_ne!(Arc::as_ptr(&second), address);
        assert_eq!(*shared, interest(None));
        kept.recycle(shared);
        let third = read(&mut kept, Some(2));
        assert_eq!((Arc::as_ptr(&third), third.hop_limit), (address, Some(2)));
    }

    #[test]
    fn spare_interests_match_the_peak_demand() {
        let mut kept = PacketMemory::default();
        kept.recycle(Arc::new(interest(None)));
        assert!(kept.spare.is_empty(), "a node whose Interests come otherwise keeps none");
        let bytes = interest(None).to_bytes();
        let waiting: Vec<_> =
            (0..2 * SPARE_INTERESTS).map(|_| kept.interest(&bytes).unwrap()).collect();
        waiting.into_iter().for_each(|it| kept.recycle(it));
        assert_eq!(kept.spare.len(), SPARE_INTERESTS);
    }

    #[test]
    fn long_packet_does_not_enlarge_allocations() {
        let mut kept = PacketMemory::default();
        for bytes in [10, 8_000, 400, 10, 500, 500] {
            assert_eq!(kept.copy(&vec![1; bytes]), vec![1; bytes]);
            assert!(kept.free.capacity() <= KEPT_BYTES);
        }
    }
}
