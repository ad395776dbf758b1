//! Building Data packets.

use super::encoded::{Encoded, Parts, Span};
use super::{ContentType, Data};
use crate::name::{Component, Name};
use crate::object_id::{OBJECT_ID_BYTES, ObjectId};
use crate::signature::{SignatureInfo, Signer};
use crate::tlv::{self, typ};
use bytes::{Buf, BufMut, BytesMut};
use std::convert::Infallible;
use std::time::Duration;

/// A builder of Data packets.
///
/// Equal parts, content and signature give equal bytes. A producer that keeps only a
/// signature can therefore rebuild the packet with [`Unsigned::finish`].
#[derive(Clone, Copy, Debug)]
pub struct DataBuilder<'a> {
    name: &'a Name,
    content_type: ContentType,
    freshness_ms: u64,
    final_block: Option<Component<'a>>,
    object_id: Option<ObjectId>,
}

impl<'a> DataBuilder<'a> {
    /// A packet of this name, with content type BLOB, without freshness, final block and object identifier.
    #[must_use]
    pub fn new(name: &'a Name) -> Self {
        let content_type = ContentType::Blob;
        Self { name, content_type, freshness_ms: 0, final_block: None, object_id: None }
    }

    /// Sets the ContentType.
    #[must_use]
    pub fn content_type(self, content_type: ContentType) -> Self {
        Self { content_type, ..self }
    }

    /// Sets the FreshnessPeriod, rounded down to milliseconds.
    #[must_use]
    pub fn freshness(self, freshness: Duration) -> Self {
        let freshness_ms = u64::try_from(freshness.as_millis()).unwrap_or(u64::MAX);
        Self { freshness_ms, ..self }
    }

    /// Sets the FinalBlockId.
    #[must_use]
    pub fn final_block(self, component: Component<'a>) -> Self {
        Self { final_block: Some(component), ..self }
    }

    /// Sets the content that the packet belongs to.
    #[must_use]
    pub fn object_id(self, object_id: Option<ObjectId>) -> Self {
        Self { object_id, ..self }
    }

    /// Builds the packet from content in memory, in a buffer of its own.
    #[must_use]
    pub fn build(&self, content: &[u8], signer: &dyn Signer) -> Data {
        self.encoded(content, signer).into()
    }

    pub(super) fn encoded(&self, content: &[u8], signer: &dyn Signer) -> Encoded {
        let fill = |place: &mut [u8]| {
            place.copy_from_slice(content);
            Ok::<(), Infallible>(())
        };
        match self.lay_out(&mut BytesMut::new(), content.len(), fill, signer) {
            Ok(unsigned) => unsigned.complete(|portion, place| signer.sign(portion, place)),
            Err(never) => match never {},
        }
    }

    /// Builds the packet in the spare capacity of `out`, which must be empty and is empty
    /// afterwards.
    ///
    /// `fill` writes the content into a zeroed slice of `content_len` bytes. The packet is signed
    /// in place and split off without a copy. `out` keeps the rest of its capacity; [`BytesMut`]
    /// reuses the memory of dropped packets.
    ///
    /// # Errors
    /// The error of `fill`.
    pub fn encode_with<E>(
        &self,
        out: &mut BytesMut,
        content_len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
        signer: &dyn Signer,
    ) -> Result<Data, E> {
        let unsigned = self.lay_out(out, content_len, fill, signer)?;
        Ok(unsigned.complete(|portion, place| signer.sign(portion, place)).into())
    }

    /// Upper bound of the packet's bytes with `content_len` bytes of content and a signature of
    /// `signer`.
    #[must_use]
    pub fn max_len(&self, content_len: usize, signer: &dyn Signer) -> usize {
        let signed_len = self.signed_len(content_len, &signer.signature_info());
        let room = tlv::tlv_len(typ::SIGNATURE_VALUE, signer.max_signature_len());
        tlv::tlv_len(typ::DATA, signed_len + room)
    }

    /// Builds the packet as [`encode_with`](Self::encode_with) does, and leaves space for a
    /// signature of `signer`.
    pub fn lay_out<E>(
        &self,
        out: &mut BytesMut,
        content_len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
        signer: &dyn Signer,
    ) -> Result<Unsigned, E> {
        debug_assert!(out.is_empty(), "a packet starts in an empty buffer");
        out.clear();
        let info = signer.signature_info();
        let (signed_len, room) = (self.signed_len(content_len, &info), signer.max_signature_len());
        let inner_max = signed_len + tlv::tlv_len(typ::SIGNATURE_VALUE, room);
        // Space for the largest header; the header will end where the rest begins.
        let start = tlv::tlv_len(typ::DATA, inner_max) - inner_max;
        out.reserve(start + inner_max);
        out.put_bytes(0, start);
        let mut parts = self.put_signed(out, content_len, fill, &info)?;
        debug_assert_eq!(out.len(), start + signed_len, "the length was computed as it is written");
        parts.signed = (start..out.len()).into();
        tlv::put_header(out, typ::SIGNATURE_VALUE, room);
        out.put_bytes(0, room);
        let packet = out.split();
        let name_bytes = self.name.value().len();
        Ok(Unsigned { packet, parts, room, name_bytes, name_components: self.name.len() })
    }

    /// Appends the elements from Name to SignatureInfo.
    fn put_signed<E>(
        &self,
        out: &mut BytesMut,
        content_len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
        info: &SignatureInfo<'_>,
    ) -> Result<Parts, E> {
        let (content_type, freshness_ms) = (self.content_type, self.freshness_ms);
        let mut parts = Parts { content_type, freshness_ms, ..Parts::default() };
        self.name.encode(out);
        self.put_meta_info(out, &mut parts);
        tlv::put_header(out, typ::CONTENT, content_len);
        let start = out.len();
        out.put_bytes(0, content_len);
        if let Err(error) = fill(&mut out[start..]) {
            out.clear();
            return Err(error);
        }
        parts.content = (start..out.len()).into();
        info.encode(typ::SIGNATURE_INFO, out);
        parts.info = (out.len() - info.value_len()..out.len()).into();
        Ok(parts)
    }

    fn put_meta_info(&self, out: &mut BytesMut, parts: &mut Parts) {
        let len = self.meta_info_len();
        if len == 0 {
            return;
        }
        tlv::put_header(out, typ::META_INFO, len);
        if self.content_type != ContentType::Blob {
            tlv::put_nni_tlv(out, typ::CONTENT_TYPE, self.content_type.number());
        }
        if self.freshness_ms != 0 {
            tlv::put_nni_tlv(out, typ::FRESHNESS_PERIOD, self.freshness_ms);
        }
        if let Some(component) = &self.final_block {
            tlv::put_header(out, typ::FINAL_BLOCK_ID, component.encoded_len());
            let start = out.len();
            component.encode(out);
            parts.final_block = (start..out.len()).into();
        }
        if let Some(id) = &self.object_id {
            tlv::put_tlv(out, typ::OBJECT_ID, id.bytes());
            parts.object_id = (out.len() - OBJECT_ID_BYTES..out.len()).into();
        }
    }

    fn meta_info_len(&self) -> usize {
        let content_type = match self.content_type {
            ContentType::Blob => 0,
            other => tlv::nni_tlv_len(typ::CONTENT_TYPE, other.number()),
        };
        let freshness = match self.freshness_ms {
            0 => 0,
            ms => tlv::nni_tlv_len(typ::FRESHNESS_PERIOD, ms),
        };
        let final_block =
            self.final_block.map_or(0, |it| tlv::tlv_len(typ::FINAL_BLOCK_ID, it.encoded_len()));
        let object_id = self.object_id.map_or(0, |_| tlv::tlv_len(typ::OBJECT_ID, OBJECT_ID_BYTES));
        content_type + freshness + final_block + object_id
    }

    pub(super) fn signed_len(&self, content_len: usize, info: &SignatureInfo<'_>) -> usize {
        let meta_info = match self.meta_info_len() {
            0 => 0,
            len => tlv::tlv_len(typ::META_INFO, len),
        };
        self.name.encoded_len()
            + meta_info
            + tlv::tlv_len(typ::CONTENT, content_len)
            + info.encoded_len(typ::SIGNATURE_INFO)
    }
}

/// A complete packet without its signature; several can be signed in one batch.
#[derive(Debug)]
pub struct Unsigned {
    /// Space for the largest header, the elements from Name to SignatureInfo, and space for the
    /// largest SignatureValue.
    packet: BytesMut,
    parts: Parts,
    /// Most bytes of a signature.
    room: usize,
    /// Bytes of the name's TLV-VALUE.
    name_bytes: usize,
    name_components: usize,
}

impl Unsigned {
    /// The bytes to sign: from Name to SignatureInfo.
    #[must_use]
    pub fn signed_portion(&self) -> &[u8] {
        self.parts.signed.of(&self.packet)
    }

    /// The whole packet with `signature`, cut off at [`Signer::max_signature_len`]. No byte before
    /// the signature moves.
    #[must_use]
    pub fn finish(self, signature: &[u8]) -> Data {
        debug_assert!(signature.len() <= self.room, "the signer keeps to its bound");
        let write = |_: &[u8], place: &mut [u8]| {
            let len = signature.len().min(place.len());
            place[..len].copy_from_slice(&signature[..len]);
            len
        };
        self.complete(write).into()
    }

    /// Writes the signature with `sign`, which returns its length, and then the headers.
    fn complete(mut self, sign: impl FnOnce(&[u8], &mut [u8]) -> usize) -> Encoded {
        let (start, signature_len) = (self.parts.signed.range().start, self.put_signature(sign));
        let Self { mut packet, mut parts, name_bytes, name_components, .. } = self;
        parts.signature = (packet.len() - signature_len..packet.len()).into();
        let header_start = put_outer_header(&mut packet, start);
        packet.advance(header_start);
        let wire = packet.freeze();
        let mut parts = parts.shifted_left(header_start as u32);
        let name_end = parts.signed.range().start + tlv::tlv_len(typ::NAME, name_bytes);
        parts.name = (name_end - name_bytes..name_end).into();
        Encoded::new(wire, name_components as u32, parts)
    }

    /// Writes the SignatureValue, cuts off unused space, and returns the signature's length.
    fn put_signature(&mut self, sign: impl FnOnce(&[u8], &mut [u8]) -> usize) -> usize {
        let Self { packet, room, .. } = self;
        let signed = self.parts.signed.range();
        let value_start = packet.len() - *room;
        let (before, value) = packet.split_at_mut(value_start);
        let len = sign(&before[signed.clone()], value).min(*room);
        let header_len = tlv::tlv_len(typ::SIGNATURE_VALUE, len) - len;
        let (mut header, _) = packet[signed.end..].split_at_mut(header_len);
        tlv::put_header(&mut header, typ::SIGNATURE_VALUE, len);
        // A signature below the maximum may need a shorter TLV-LENGTH; then it moves forward.
        packet.copy_within(value_start..value_start + len, signed.end + header_len);
        packet.truncate(signed.end + header_len + len);
        len
    }
}

/// Writes the packet's header so that it ends at `start`, and returns the offset of its first byte.
fn put_outer_header(out: &mut BytesMut, start: usize) -> usize {
    let inner_len = out.len() - start;
    let header_start = start + inner_len - tlv::tlv_len(typ::DATA, inner_len);
    tlv::put_header(&mut &mut out[header_start..start], typ::DATA, inner_len);
    header_start
}

impl Parts {
    fn shifted_left(self, by: u32) -> Self {
        let shift = |span: Span| Span {
            start: span.start.saturating_sub(by),
            end: span.end.saturating_sub(by),
        };
        Self {
            final_block: shift(self.final_block),
            object_id: shift(self.object_id),
            content: shift(self.content),
            info: shift(self.info),
            signed: shift(self.signed),
            signature: shift(self.signature),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::{DigestSigner, KeyLocator, SignatureType, sha256};

    /// Reserves `room` bytes and writes `len`, as ECDSA does.
    struct Shrinking {
        room: usize,
        len: usize,
    }

    impl Signer for Shrinking {
        fn signature_type(&self) -> SignatureType {
            SignatureType::Sha256WithEcdsa
        }
        fn key_locator(&self) -> Option<KeyLocator<'_>> {
            Some(KeyLocator::Name(&[8, 1, b'k']))
        }
        fn max_signature_len(&self) -> usize {
            self.room
        }
        fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
            out.fill(0xee);
            out[..self.len].fill(signed_portion.len() as u8);
            self.len
        }
    }

    #[test]
    fn built_packet_equals_the_decoded_packet() {
        let name: Name = "/a/v=1/seg=2".parse().unwrap();
        let builder = DataBuilder::new(&name)
            .content_type(ContentType::Other(1000))
            .freshness(Duration::from_millis(10))
            .final_block(Component::segment(9))
            .object_id(Some(ObjectId::new([7; 16])));
        for content_len in [0, 1, 100, 200, 210, 250, 253, 8000, 66_000] {
            let content = vec![7; content_len];
            let built = builder.build(&content, &DigestSigner);
            let read = Data::decode(built.wire()).unwrap();
            for data in [&built, &read] {
                assert_eq!(data.name(), &name);
                assert_eq!(data.content(), content);
                assert_eq!(data.content_bytes(), content);
                assert_eq!(data.content_type(), ContentType::Other(1000));
                assert_eq!(data.freshness(), Duration::from_millis(10));
                assert_eq!(data.final_block(), Some(Component::segment(9)));
                assert_eq!(data.object_id(), Some(ObjectId::new([7; 16])));
                assert_eq!(data.signature_info(), DigestSigner.signature_info());
                assert_eq!(data.signature_value(), sha256(data.signed_portion()));
            }
        }
    }

    #[test]
    fn short_signature_leaves_no_gap() {
        let name: Name = "/a".parse().unwrap();
        for (room, len) in [(72, 70), (72, 0), (260, 252), (260, 253), (600, 1), (70_000, 3)] {
            for content_len in [100, 150, 170, 180, 190, 240, 65_400] {
                let content = vec![1; content_len];
                let data = DataBuilder::new(&name).build(&content, &Shrinking { room, len });
                let read = Data::decode(data.wire()).unwrap();
                assert_eq!(read.content(), content);
                assert_eq!(read.signature_value(), vec![read.signed_portion().len() as u8; len]);
                assert_eq!(read.signature_value(), data.signature_value());
                assert_eq!(read.signed_portion(), data.signed_portion());
                assert_eq!(read.signature_info(), data.signature_info());
            }
        }
    }

    #[test]
    fn stored_signature_rebuilds_the_same_bytes() {
        let name: Name = "/a/b".parse().unwrap();
        for signer in [&DigestSigner as &dyn Signer, &Shrinking { room: 300, len: 71 }] {
            let builder = DataBuilder::new(&name).freshness(Duration::from_secs(1));
            let first = builder.build(b"content", signer);
            let fill = |place: &mut [u8]| {
                place.copy_from_slice(b"content");
                Ok::<(), Infallible>(())
            };
            let Ok(again) = builder.lay_out(&mut BytesMut::new(), 7, fill, signer);
            assert_eq!(first, again.finish(first.signature_value()));
        }
    }

    #[test]
    fn buffer_is_usable_after_an_error() {
        let name: Name = "/a".parse().unwrap();
        let builder = DataBuilder::new(&name);
        let mut pool = BytesMut::with_capacity(1000);
        let start = pool.spare_capacity_mut().as_ptr() as usize;
        let mut make = |byte: u8| {
            let fill = |place: &mut [u8]| {
                place.fill(byte);
                if byte == 0 { Err("no such byte") } else { Ok(()) }
            };
            builder.encode_with(&mut pool, 100, fill, &DigestSigner)
        };
        let one = make(1).unwrap();
        assert_eq!(make(0), Err("no such byte"));
        let two = make(2).unwrap();
        for (data, byte) in [(one, 1), (two, 2)] {
            let place = (data.content().as_ptr() as usize).wrapping_sub(start);
            assert!(place < 1000, "made in the pool");
            assert_eq!(data.content(), [byte; 100]);
        }
        assert!(pool.is_empty());
    }
}
