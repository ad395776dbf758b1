//! Data packets.
//!
//! A [`Data`] has one of two forms. An *encoded* packet keeps the bytes it was decoded from and the
//! offsets of its parts. A *described* packet ([`Template::describe`]) has no bytes: it has a name,
//! the length of its content and its other elements, hence its exact length. Simulations forward
//! millions of them and read no content. A [`DataBuilder`] writes content straight into a buffer of
//! the caller and signs it there.
//!
//! Source: NDN packet format v0.3, section "Data Packet".

mod build;
mod describe;
mod encoded;
mod plain;

pub use build::{DataBuilder, Unsigned};
pub use describe::{DescribeError, MAX_DESCRIBED_CONTENT, SignatureShape, Template};

use crate::name::{Component, Name};
use crate::object_id::ObjectId;
use crate::signature::{SignatureInfo, SignatureType, sha256};
use crate::tlv::DecodeError;
use bytes::Bytes;
use describe::Described;
use encoded::Encoded;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Type of the content (TLV ContentType 24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ContentType {
    /// 0: bytes of an application; the default.
    #[default]
    Blob,
    /// 1: names that lead to the content.
    Link,
    /// 2: a certificate.
    Key,
    /// 3: an application-level Nack: the content does not exist.
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

/// A Data packet. A clone shares the bytes.
#[derive(Clone)]
pub struct Data(Form);

#[derive(Clone)]
enum Form {
    Encoded(Arc<Encoded>),
    Described(Arc<Described>),
}

impl Data {
    /// Decodes one whole Data packet; the packet shares `wire`.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        Encoded::decode(wire).map(Self::from)
    }

    /// Decodes one whole Data packet from bytes that share no larger buffer;
    /// [`detached`](Self::detached) does not copy it. The packet reuses the memory of `gone`,
    /// unless another clone of `gone` exists.
    #[inline]
    pub fn decode_kept_in(gone: Option<Self>, wire: Bytes) -> Result<Self, DecodeError> {
        let place = match gone {
            Some(Self(Form::Encoded(place))) => Some(place),
            Some(Self(Form::Described(_))) | None => None,
        };
        Ok(Self(Form::Encoded(Encoded::decode_alone(place, wire)?)))
    }

    /// The packet in a buffer of its own, so that keeping it keeps no larger buffer alive. Free for
    /// a packet from [`decode_kept_in`](Self::decode_kept_in).
    #[must_use]
    #[inline]
    pub fn detached(self) -> Self {
        match &self.0 {
            Form::Encoded(it) if !it.is_alone() => it.detached().into(),
            Form::Encoded(_) | Form::Described(_) => self,
        }
    }

    /// Whether [`detached`](Self::detached) copies nothing.
    #[must_use]
    #[inline]
    pub fn is_detached(&self) -> bool {
        match &self.0 {
            Form::Encoded(it) => it.is_alone(),
            Form::Described(_) => true,
        }
    }

    /// Whether the packet is described: it has no bytes.
    #[must_use]
    pub fn is_described(&self) -> bool {
        matches!(self.0, Form::Described(_))
    }

    /// The packet's name.
    #[must_use]
    #[inline]
    pub fn name(&self) -> &Name {
        match &self.0 {
            Form::Encoded(it) => it.name(),
            Form::Described(it) => it.name(),
        }
    }

    /// The TLV-VALUE of the packet's name, the key of tables.
    #[must_use]
    #[inline]
    pub fn name_value(&self) -> &[u8] {
        match &self.0 {
            Form::Encoded(it) => it.name_value(),
            Form::Described(it) => it.name().value(),
        }
    }

    /// The content; empty if there is none. Zeros for a described packet.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        match &self.0 {
            Form::Encoded(it) => it.content(),
            Form::Described(it) => it.content(),
        }
    }

    /// The content as bytes that keep the packet alive.
    #[must_use]
    pub fn content_bytes(&self) -> Bytes {
        match &self.0 {
            Form::Encoded(it) => it.content_bytes(),
            Form::Described(it) => Bytes::from_static(it.content()),
        }
    }

    /// ContentType; [`Blob`](ContentType::Blob) if absent.
    #[must_use]
    pub fn content_type(&self) -> ContentType {
        match &self.0 {
            Form::Encoded(it) => it.content_type(),
            Form::Described(it) => it.template().content_type(),
        }
    }

    /// FreshnessPeriod; zero if absent.
    #[must_use]
    #[inline]
    pub fn freshness(&self) -> Duration {
        Duration::from_millis(match &self.0 {
            Form::Encoded(it) => it.freshness_ms(),
            Form::Described(it) => it.template().freshness_ms(),
        })
    }

    /// The last component of the name of the object's last packet (FinalBlockId).
    #[must_use]
    pub fn final_block(&self) -> Option<Component<'_>> {
        match &self.0 {
            Form::Encoded(it) => it.final_block(),
            Form::Described(it) => it.template().final_block(),
        }
    }

    /// The content that the packet belongs to; `None` if its producer states none, or the packet is described.
    #[must_use]
    #[inline]
    pub fn object_id(&self) -> Option<ObjectId> {
        match &self.0 {
            Form::Encoded(it) => it.object_id(),
            Form::Described(_) => None,
        }
    }

    /// SignatureInfo.
    #[must_use]
    pub fn signature_info(&self) -> SignatureInfo<'_> {
        match &self.0 {
            Form::Encoded(it) => it.signature_info(),
            Form::Described(it) => it.template().signature_info(),
        }
    }

    /// Whether the signature is a DigestSha256.
    #[must_use]
    #[inline]
    pub fn has_digest(&self) -> bool {
        match &self.0 {
            Form::Encoded(it) => it.signature_type() == SignatureType::DigestSha256,
            Form::Described(it) => it.template().has_digest(),
        }
    }

    /// The signature. A described packet with a digest is encoded once for it.
    #[must_use]
    pub fn signature_value(&self) -> &[u8] {
        match &self.0 {
            Form::Encoded(it) => it.signature_value(),
            Form::Described(it) => it.signature_value(),
        }
    }

    /// The bytes that the signature covers: from Name to SignatureInfo. A described packet is
    /// encoded once for them.
    #[must_use]
    pub fn signed_portion(&self) -> &[u8] {
        match &self.0 {
            Form::Encoded(it) => it.signed_portion(),
            Form::Described(it) => it.encoded().signed_portion(),
        }
    }

    /// The whole packet. A described packet is encoded at each call.
    #[must_use]
    #[inline]
    pub fn wire(&self) -> Bytes {
        match &self.0 {
            Form::Encoded(it) => it.wire().clone(),
            Form::Described(it) => it.wire(),
        }
    }

    /// Bytes of the whole packet; O(1).
    #[must_use]
    #[inline]
    pub fn encoded_len(&self) -> usize {
        match &self.0 {
            Form::Encoded(it) => it.wire().len(),
            Form::Described(it) => it.encoded_len(),
        }
    }

    /// SHA-256 of the whole packet, computed at each call.
    #[must_use]
    pub fn implicit_digest(&self) -> [u8; 32] {
        match &self.0 {
            Form::Encoded(it) => sha256(it.wire()),
            Form::Described(it) => sha256(&it.wire()),
        }
    }

    /// Whether the packet is valid by construction: described, with a digest.
    pub(crate) fn is_described_with_digest(&self) -> bool {
        matches!(&self.0, Form::Described(it) if it.template().has_digest())
    }
}

impl From<Encoded> for Data {
    fn from(encoded: Encoded) -> Self {
        Self(Form::Encoded(Arc::new(encoded)))
    }
}

/// Two packets are equal if their bytes, existing or encoded, are equal.
impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Encoded(a), Form::Encoded(b)) => a.wire() == b.wire(),
            (Form::Described(a), Form::Described(b)) => Arc::ptr_eq(a, b) || a == b,
            (Form::Encoded(a), Form::Described(b)) | (Form::Described(b), Form::Encoded(a)) => {
                a.wire().len() == b.encoded_len() && a.name() == b.name() && *a.wire() == b.wire()
            }
        }
    }
}

impl Eq for Data {}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data")
            .field("name", self.name())
            .field("content_type", &self.content_type())
            .field("freshness", &self.freshness())
            .field("final_block", &self.final_block())
            .field("content_bytes", &self.content().len())
            .field("signature", &self.signature_info().typ)
            .field("described", &self.is_described())
            .finish()
    }
}
