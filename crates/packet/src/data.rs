//! Data packets.
//!
//! A [`Data`] keeps the octets that it came in and only knows where its parts stand. A [`DataBuilder`] lays a packet out
//! in a buffer of the caller, lets the content be written straight into its place, and signs it there. Source: NDN packet
//! format v0.3, section "Data Packet".

mod build;

pub use build::{DataBuilder, Unsigned};

use crate::name::{Component, Name, component};
use crate::signature::{SignatureInfo, SignatureType, sha256};
use crate::tlv::{DecodeError, Reader, Tlv, typ};
use bytes::Bytes;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// What the content of a Data packet is (TLV ContentType 24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ContentType {
    /// 0: octets of an application; what a packet without this element has.
    #[default]
    Blob,
    /// 1: names that lead to the content.
    Link,
    /// 2: a certificate.
    Key,
    /// 3: an application says that there is no such content.
    Nack,
    /// 4: a list of packets.
    Manifest,
    /// 5: a prefix announcement.
    PrefixAnnouncement,
    /// A number that this version does not know.
    Other(u64),
}

impl ContentType {
    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Blob => 0,
            Self::Link => 1,
            Self::Key => 2,
            Self::Nack => 3,
            Self::Manifest => 4,
            Self::PrefixAnnouncement => 5,
            Self::Other(number) => number,
        }
    }
}

impl From<u64> for ContentType {
    fn from(number: u64) -> Self {
        match number {
            0 => Self::Blob,
            1 => Self::Link,
            2 => Self::Key,
            3 => Self::Nack,
            4 => Self::Manifest,
            5 => Self::PrefixAnnouncement,
            other => Self::Other(other),
        }
    }
}

/// A Data packet: its octets, and where its parts stand in them. Cloning shares the octets.
#[derive(Clone)]
pub struct Data {
    wire: Bytes,
    name: Name,
    parts: Parts,
}

/// Where the parts of a packet stand in its octets. Packets are smaller than 4 GiB.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    content_type: ContentType,
    freshness_ms: u64,
    /// The component inside FinalBlockId; empty if there is none.
    final_block: Span,
    /// TLV-VALUE of Content; empty if there is none.
    content: Span,
    /// TLV-VALUE of SignatureInfo.
    info: Span,
    /// From Name up to and including SignatureInfo.
    signed: Span,
    /// TLV-VALUE of SignatureValue.
    signature: Span,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn of(self, wire: &[u8]) -> &[u8] {
        wire.get(self.range()).unwrap_or_default()
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32 }
    }
}

impl Data {
    /// Decodes one whole Data packet; `wire` is shared, nothing is copied.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        if u32::try_from(wire.len()).is_err() {
            return Err(DecodeError::at(0, "a packet of less than 4 GiB"));
        }
        let mut outer = Reader::new(&wire);
        let data = outer.expect(typ::DATA, "a Data packet")?;
        outer.finish()?;
        let mut reader = data.reader();
        let name_tlv = reader.expect(typ::NAME, "a Name")?;
        let name = Name::share(&wire, &name_tlv)?;
        let parts = Parts::read(&mut reader, name_tlv.offset, data.end())?;
        Ok(Self { wire, name, parts })
    }

    /// The packet's name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The content; empty if there is none.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        self.parts.content.of(&self.wire)
    }

    /// The content as octets that keep the packet alive.
    #[must_use]
    pub fn content_bytes(&self) -> Bytes {
        self.wire.slice(self.parts.content.range())
    }

    /// What the content is.
    #[must_use]
    pub fn content_type(&self) -> ContentType {
        self.parts.content_type
    }

    /// How long the packet counts as fresh after it arrived in a cache; zero if it does not say.
    #[must_use]
    pub fn freshness(&self) -> Duration {
        Duration::from_millis(self.parts.freshness_ms)
    }

    /// The last component of the name of the last packet of this content, if the packet says so (FinalBlockId).
    #[must_use]
    pub fn final_block(&self) -> Option<Component<'_>> {
        let tlv = Reader::new(self.parts.final_block.of(&self.wire)).read().ok()??;
        Component::new(u16::try_from(tlv.typ).ok()?, tlv.value)
    }

    /// What the packet says about its signature.
    #[must_use]
    pub fn signature_info(&self) -> SignatureInfo<'_> {
        // Decoding checked it, so the alternative is never taken; its type is one that no verifier accepts.
        SignatureInfo::decode(self.parts.info.of(&self.wire))
            .unwrap_or(SignatureInfo::new(SignatureType::Other(u64::MAX), None))
    }

    /// The signature.
    #[must_use]
    pub fn signature_value(&self) -> &[u8] {
        self.parts.signature.of(&self.wire)
    }

    /// The octets that the signature covers: from Name to SignatureInfo.
    #[must_use]
    pub fn signed_portion(&self) -> &[u8] {
        self.parts.signed.of(&self.wire)
    }

    /// The whole packet.
    #[must_use]
    pub fn wire(&self) -> &Bytes {
        &self.wire
    }

    /// SHA-256 of the whole packet, computed anew at each call.
    #[must_use]
    pub fn implicit_digest(&self) -> [u8; 32] {
        sha256(&self.wire)
    }
}

impl Parts {
    /// Reads what follows the Name, which starts at octet `signed_from`; the packet ends at octet `end`.
    fn read(reader: &mut Reader<'_>, signed_from: usize, end: usize) -> Result<Self, DecodeError> {
        let mut parts = Self::default();
        let mut last = typ::NAME;
        while let Some(tlv) = reader.read()? {
            // The numbers of the known elements grow in the order in which they must stand.
            let known =
                (typ::META_INFO..=typ::SIGNATURE_VALUE).contains(&tlv.typ) && tlv.typ > last;
            if !known {
                tlv.skip_unless_critical()?;
                continue;
            }
            let after_info = last == typ::SIGNATURE_INFO;
            last = tlv.typ;
            match tlv.typ {
                typ::META_INFO => parts.read_meta_info(&tlv)?,
                typ::CONTENT => parts.content = tlv.range().into(),
                typ::SIGNATURE_INFO => parts.read_signature_info(&tlv)?,
                _ if !after_info => return Err(tlv.error("a SignatureInfo before it")),
                _ => {
                    parts.signed = (signed_from..tlv.offset).into();
                    parts.signature = tlv.range().into();
                }
            }
        }
        if last != typ::SIGNATURE_VALUE {
            return Err(DecodeError::at(end, "SignatureInfo and SignatureValue"));
        }
        Ok(parts)
    }

    fn read_meta_info(&mut self, meta_info: &Tlv<'_>) -> Result<(), DecodeError> {
        let mut reader = meta_info.reader();
        let mut last = 0;
        while let Some(tlv) = reader.read()? {
            match tlv.typ {
                typ::CONTENT_TYPE if last < tlv.typ => self.content_type = tlv.number()?.into(),
                typ::FRESHNESS_PERIOD if last < tlv.typ => self.freshness_ms = tlv.number()?,
                typ::FINAL_BLOCK_ID if last < tlv.typ => self.final_block = final_block(&tlv)?,
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
        SignatureInfo::read(&mut info.reader())?;
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

/// Two packets are equal if their octets are.
impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.wire == other.wire
    }
}

impl Eq for Data {}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data")
            .field("name", &self.name)
            .field("content_type", &self.content_type())
            .field("freshness", &self.freshness())
            .field("final_block", &self.final_block())
            .field("content_octets", &self.content().len())
            .field("signature", &self.signature_info().typ)
            .finish()
    }
}
