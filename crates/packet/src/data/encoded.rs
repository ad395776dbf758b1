//! Packets that have bytes.

use super::{ContentType, plain};
use crate::name::{self, Component, Name, component};
use crate::object_id::ObjectId;
use crate::signature::{SignatureInfo, SignatureType};
use crate::tlv::{DecodeError, Reader, Tlv, typ};
use bytes::Bytes;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A packet's bytes, and the spans of its parts.
pub(super) struct Encoded {
    wire: Bytes,
    /// Made when the name is first read.
    name: OnceLock<Name>,
    components: u32,
    parts: Parts,
    /// The bytes share their buffer with nothing larger.
    alone: bool,
}

impl Encoded {
    /// A packet with known parts; its name has `components`.
    pub(super) fn new(wire: Bytes, components: u32, parts: Parts) -> Self {
        Self { wire, name: OnceLock::new(), components, parts, alone: false }
    }

    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.alone
    }

    /// The packet in a buffer of its own.
    pub(super) fn detached(&self) -> Self {
        let wire = Bytes::copy_from_slice(&self.wire);
        Self { alone: true, ..Self::new(wire, self.components, self.parts) }
    }

    pub(super) fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        let (parts, components) = Parts::read(&wire)?;
        Ok(Self::new(wire, components, parts))
    }

    /// Decodes a packet whose bytes share no larger buffer; reuses the memory of `place` unless it
    /// is shared.
    #[inline]
    pub(super) fn decode_alone(
        place: Option<Arc<Self>>,
        wire: Bytes,
    ) -> Result<Arc<Self>, DecodeError> {
        let (parts, components) = Parts::read(&wire)?;
        if let Some(mut place) = place
            && let Some(before) = Arc::get_mut(&mut place)
        {
            (before.wire, before.parts) = (wire, parts);
            (before.components, before.alone) = (components, true);
            before.name.take();
            return Ok(place);
        }
        Ok(Arc::new(Self { alone: true, ..Self::new(wire, components, parts) }))
    }

    #[inline]
    pub(super) fn wire(&self) -> &Bytes {
        &self.wire
    }

    #[inline]
    pub(super) fn name(&self) -> &Name {
        self.name.get_or_init(|| {
            Name::known(self.wire.slice(self.parts.name.range()), self.components as usize)
        })
    }

    #[inline]
    pub(super) fn name_value(&self) -> &[u8] {
        self.parts.name.of(&self.wire)
    }

    pub(super) fn content(&self) -> &[u8] {
        self.parts.content.of(&self.wire)
    }

    pub(super) fn content_bytes(&self) -> Bytes {
        self.wire.slice(self.parts.content.range())
    }

    pub(super) fn content_type(&self) -> ContentType {
        self.parts.content_type
    }

    #[inline]
    pub(super) fn freshness_ms(&self) -> u64 {
        self.parts.freshness_ms
    }

    pub(super) fn final_block(&self) -> Option<Component<'_>> {
        let tlv = Reader::new(self.parts.final_block.of(&self.wire)).read().ok()??;
        Component::new(u16::try_from(tlv.typ).ok()?, tlv.value)
    }

    #[inline]
    pub(super) fn object_id(&self) -> Option<ObjectId> {
        ObjectId::read(self.parts.object_id.of(&self.wire))
    }

    pub(super) fn signature_info(&self) -> SignatureInfo<'_> {
        // Decoding checked it, so this fallback is unreachable; verifiers accept no such type.
        SignatureInfo::decode(self.parts.info.of(&self.wire))
            .unwrap_or(SignatureInfo::new(SignatureType::Other(u64::MAX), None))
    }

    /// SignatureType, the first element of SignatureInfo.
    #[inline]
    pub(super) fn signature_type(&self) -> SignatureType {
        SignatureInfo::first_type(self.parts.info.of(&self.wire))
            .unwrap_or(SignatureType::Other(u64::MAX))
    }

    pub(super) fn signature_value(&self) -> &[u8] {
        self.parts.signature.of(&self.wire)
    }

    pub(super) fn signed_portion(&self) -> &[u8] {
        self.parts.signed.of(&self.wire)
    }
}

/// Spans of a packet's parts. Packets are smaller than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// TLV-VALUE of Name.
    pub(super) name: Span,
    pub(super) content_type: ContentType,
    pub(super) freshness_ms: u64,
    /// The component inside FinalBlockId; empty if there is none.
    pub(super) final_block: Span,
    /// TLV-VALUE of the object identifier; empty if there is none.
    pub(super) object_id: Span,
    /// TLV-VALUE of Content; empty if there is none.
    pub(super) content: Span,
    /// TLV-VALUE of SignatureInfo.
    pub(super) info: Span,
    /// From Name up to and including SignatureInfo.
    pub(super) signed: Span,
    /// TLV-VALUE of SignatureValue.
    pub(super) signature: Span,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn of(self, wire: &[u8]) -> &[u8] {
        wire.get(self.range()).unwrap_or_default()
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

impl Parts {
    /// The parts of a whole packet, and the number of components of its name.
    #[inline]
    fn read(wire: &[u8]) -> Result<(Self, u32), DecodeError> {
        if u32::try_from(wire.len()).is_err() {
            return Err(DecodeError::at(0, "a packet of less than 4 GiB"));
        }
        if let Some(plain) = plain::read(wire) {
            return Ok(plain);
        }
        let mut parts = Self::default();
        let components = parts.read_any(wire)?;
        Ok((parts, components))
    }

    /// Finds the parts of a whole packet of any layout and returns the number of components of its name.
    #[inline(never)]
    pub(super) fn read_any(&mut self, wire: &[u8]) -> Result<u32, DecodeError> {
        let mut outer = Reader::new(wire);
        let data = outer.expect(typ::DATA, "a Data packet")?;
        outer.finish()?;
        let mut reader = data.reader();
        let name = reader.expect(typ::NAME, "a Name")?;
        self.name = name.range().into();
        let components = name::check(&name)?.count;
        let mut last = typ::NAME;
        while let Some(tlv) = reader.read()? {
            // The numbers of known elements increase in their prescribed order.
            let known =
                (typ::META_INFO..=typ::SIGNATURE_VALUE).contains(&tlv.typ) && tlv.typ > last;
            if !known {
                tlv.skip_unless_critical()?;
                continue;
            }
            let after_info = last == typ::SIGNATURE_INFO;
            last = tlv.typ;
            match tlv.typ {
                typ::META_INFO => self.read_meta_info(&tlv)?,
                typ::CONTENT => self.content = tlv.range().into(),
                typ::SIGNATURE_INFO => self.read_signature_info(&tlv)?,
                _ if !after_info => return Err(tlv.error("a SignatureInfo before it")),
                _ => {
                    self.signed = (name.offset..tlv.offset).into();
                    self.signature = tlv.range().into();
                }
            }
        }
        if last != typ::SIGNATURE_VALUE {
            return Err(DecodeError::at(data.end(), "SignatureInfo and SignatureValue"));
        }
        Ok(components)
    }

    pub(super) fn read_meta_info(&mut self, meta_info: &Tlv<'_>) -> Result<(), DecodeError> {
        let mut reader = meta_info.reader();
        let mut last = 0;
        while let Some(tlv) = reader.read()? {
            match tlv.typ {
                typ::CONTENT_TYPE if last < tlv.typ => self.content_type = tlv.number()?.into(),
                typ::FRESHNESS_PERIOD if last < tlv.typ => self.freshness_ms = tlv.number()?,
                typ::FINAL_BLOCK_ID if last < tlv.typ => self.final_block = final_block(&tlv)?,
                typ::OBJECT_ID if last < tlv.typ => self.object_id = tlv.range().into(),
                _ => {
                    tlv.skip_unless_critical()?;
                    continue;
                }
            }
            last = tlv.typ;
        }
        Ok(())
    }

    fn read_signature_info(&mut self, info: &Tlv<'_>) -> Result<(), DecodeError> {
        SignatureInfo::check(info)?;
        self.info = info.range().into();
        Ok(())
    }
}

fn final_block(id: &Tlv<'_>) -> Result<Span, DecodeError> {
    let mut reader = id.reader();
    let component = reader.read()?.ok_or_else(|| id.error("a name component inside"))?;
    component::check(&component)?;
    if !reader.is_empty() {
        return Err(id.error("a single name component inside"));
    }
    Ok(component.whole().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Data, DataBuilder};
    use crate::signature::DigestSigner;

    #[test]
    fn detaching_copies_the_packet_at_most_once() {
        for name in ["/", "/a/b", &format!("/{}", "x".repeat(300))] {
            let built = DataBuilder::new(&name.parse().unwrap()).build(b"content", &DigestSigner);
            let chunk = Bytes::from([&b"before"[..], &built.wire(), b"behind"].concat());
            let arrived = Data::decode(chunk.slice(6..chunk.len() - 6)).unwrap();
            let detached = arrived.clone().detached();
            assert_eq!((detached.wire(), detached.name()), (built.wire(), built.name()));
            assert_eq!(detached.name().len(), built.name().len());
            assert_eq!(detached.content(), built.content());
            assert_eq!(detached.signature_value(), built.signature_value());
            assert!(!chunk.as_ptr_range().contains(&detached.wire().as_ptr()));
            assert_eq!(detached.clone().detached().wire().as_ptr(), detached.wire().as_ptr());
            let kept = Data::decode_kept_in(None, built.wire()).unwrap();
            assert_eq!(kept.clone().detached().wire().as_ptr(), kept.wire().as_ptr());
        }
    }

    #[test]
    fn decoding_reuses_an_unshared_packet() {
        let of = |name: &str| {
            DataBuilder::new(&name.parse().unwrap()).build(name.as_bytes(), &DigestSigner).wire()
        };
        let at = |data: &Data| match &data.0 {
            super::super::Form::Encoded(it) => Arc::as_ptr(it),
            super::super::Form::Described(_) => std::ptr::null(),
        };
        let first = Data::decode_kept_in(None, of("/a")).unwrap();
        let (place, shared) = (at(&first), first.clone());
        assert_eq!(first.name().to_string(), "/a");
        let second = Data::decode_kept_in(Some(first), of("/b/c")).unwrap();
        assert_ne!(at(&second), place);
        assert_eq!((shared.name().to_string(), shared.content()), ("/a".into(), &b"/a"[..]));
        let third = Data::decode_kept_in(Some(shared), of("/d")).unwrap();
        assert_eq!((at(&third), third.name().to_string()), (place, "/d".into()));
        assert_eq!((third.name().len(), third.content(), third.wire()), (1, &b"/d"[..], of("/d")));
        assert!(Data::decode_kept_in(Some(third), Bytes::from_static(b"\x06\0")).is_err());
    }
}
