//! Packets without bytes, for simulations.
//!
//! A simulation reads a packet's name, length and few elements; encoding, copying and hashing its
//! bytes would cost time for no result. A described packet has the same accessors as an encoded one
//! and encodes itself when its bytes are read: content is zeros, a digest is genuine, any other
//! signature is zeros.

use super::encoded::Encoded;
use super::{ContentType, Data, DataBuilder, Form};
use crate::name::{Component, Name};
use crate::signature::{DigestSigner, KeyLocator, SignatureInfo, SignatureType, Signer};
use crate::tlv::{self, typ};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Largest content, key locator and signature of a described packet, in bytes.
pub const MAX_DESCRIBED_CONTENT: usize = ZEROS.len();

/// Content, key locators and signatures of described packets.
static ZEROS: [u8; 65_536] = [0; 65_536];

/// The first `len` bytes of [`ZEROS`]; a template checks lengths.
fn zeros(len: usize) -> &'static [u8] {
    ZEROS.get(..len).unwrap_or(&ZEROS)
}

/// A packet that cannot be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// An element exceeds [`MAX_DESCRIBED_CONTENT`].
    #[error(
        "a described packet has at most {MAX_DESCRIBED_CONTENT} bytes of content, and of signature"
    )]
    TooLong,
    /// No signature gives the packet exactly the length of [`SignatureShape::Total`].
    #[error(
        "with this name and content no packet has exactly {wanted} bytes; {possible} are possible"
    )]
    NoSuchTotal {
        /// Requested bytes.
        wanted: usize,
        /// The next larger possible number of bytes.
        possible: usize,
    },
}

/// Signature of a described packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureShape {
    /// DigestSha256 of the encoded packet.
    Digest,
    /// A signature of a key; its value is zeros.
    Signed {
        /// Type of the signature.
        typ: SignatureType,
        /// Bytes of the Name or KeyDigest in the key locator; they read as a KeyDigest of zeros.
        key_locator_bytes: Option<usize>,
        /// Bytes of the SignatureValue.
        value_bytes: usize,
    },
    /// Type Null, with as many zeros as give the whole packet this length. For experiments stated
    /// in bytes per packet.
    Total {
        /// Bytes of the whole packet.
        packet_bytes: usize,
    },
}

impl SignatureShape {
    /// The shape of `signer`'s signatures; the longest one where the length varies (ECDSA).
    #[must_use]
    pub fn of(signer: &dyn Signer) -> Self {
        let (info, value_bytes) = (signer.signature_info(), signer.max_signature_len());
        if info == DigestSigner.signature_info() && value_bytes == 32 {
            return Self::Digest;
        }
        let key_locator_bytes = info.key_locator.map(|locator| match locator {
            KeyLocator::Name(value) | KeyLocator::Digest(value) => value.len(),
        });
        Self::Signed { typ: info.typ, key_locator_bytes, value_bytes }
    }

    /// A signer that writes this shape, with signatures of `value_bytes`.
    fn blank(self, value_bytes: usize) -> Blank {
        let (typ, key_locator_bytes) = match self {
            Self::Digest => (SignatureType::DigestSha256, None),
            Self::Signed { typ, key_locator_bytes, .. } => (typ, key_locator_bytes),
            Self::Total { .. } => (SignatureType::Null, None),
        };
        Blank { typ, key_locator_bytes, value_bytes }
    }
}

/// A described packet except name and content length: the part that packets of one object share.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    content_type: ContentType,
    freshness_ms: u64,
    final_block: Option<Component<'static>>,
    signature: SignatureShape,
    /// Bytes of MetaInfo and SignatureInfo.
    fixed_len: usize,
}

impl Template {
    /// A template with this ContentType, FreshnessPeriod (rounded down to milliseconds),
    /// FinalBlockId and signature.
    #[must_use]
    pub fn new(
        content_type: ContentType,
        freshness: Duration,
        final_block: Option<Component<'static>>,
        signature: SignatureShape,
    ) -> Arc<Self> {
        let mut template = Self {
            // Normalized as a decoder does: known numbers become their variant.
            content_type: content_type.number().into(),
            freshness_ms: u64::try_from(freshness.as_millis()).unwrap_or(u64::MAX),
            final_block,
            signature: match signature {
                SignatureShape::Signed { typ, key_locator_bytes, value_bytes } => {
                    let typ = typ.number().into();
                    SignatureShape::Signed { typ, key_locator_bytes, value_bytes }
                }
                other => other,
            },
            fixed_len: 0,
        };
        let root = Name::root();
        let signed_len = template.builder(&root).signed_len(0, &template.signature_info());
        template.fixed_len = signed_len - root.encoded_len() - tlv::tlv_len(typ::CONTENT, 0);
        Arc::new(template)
    }

    /// A packet of this template with `name` and `content_bytes` bytes of content.
    ///
    /// The packet takes 72 bytes of memory (88 with the reference counts) beside the shared name.
    pub fn describe(
        self: &Arc<Self>,
        name: Name,
        content_bytes: usize,
    ) -> Result<Data, DescribeError> {
        if content_bytes.max(self.longest_fixed()) > MAX_DESCRIBED_CONTENT {
            return Err(DescribeError::TooLong);
        }
        let signed_len = self.signed_len(&name, content_bytes);
        let value_bytes = self.value_bytes(signed_len)?;
        if value_bytes > MAX_DESCRIBED_CONTENT {
            return Err(DescribeError::TooLong);
        }
        let described = Described {
            name,
            template: Arc::clone(self),
            content_bytes: content_bytes as u32,
            encoded_len: packet_len(signed_len, value_bytes) as u32,
            encoded: OnceLock::new(),
        };
        Ok(Data(Form::Described(Arc::new(described))))
    }

    /// ContentType.
    #[must_use]
    pub fn content_type(&self) -> ContentType {
        self.content_type
    }

    pub(super) fn freshness_ms(&self) -> u64 {
        self.freshness_ms
    }

    pub(super) fn final_block(&self) -> Option<Component<'_>> {
        self.final_block
    }

    pub(super) fn has_digest(&self) -> bool {
        self.signature == SignatureShape::Digest
    }

    pub(super) fn signature_info(&self) -> SignatureInfo<'_> {
        let blank = self.signature.blank(0);
        let locator = blank.key_locator_bytes.map(|bytes| KeyLocator::Digest(zeros(bytes)));
        SignatureInfo::new(blank.typ, locator)
    }

    /// Bytes of the longest element of zeros, except content and padding.
    fn longest_fixed(&self) -> usize {
        match self.signature {
            SignatureShape::Signed { key_locator_bytes, value_bytes, .. } => {
                key_locator_bytes.unwrap_or(0).max(value_bytes)
            }
            SignatureShape::Digest | SignatureShape::Total { .. } => 0,
        }
    }

    fn builder<'a>(&self, name: &'a Name) -> DataBuilder<'a> {
        let builder = DataBuilder::new(name)
            .content_type(self.content_type)
            .freshness(Duration::from_millis(self.freshness_ms));
        match self.final_block {
            Some(component) => builder.final_block(component),
            None => builder,
        }
    }

    /// Bytes from Name up to and including SignatureInfo.
    fn signed_len(&self, name: &Name, content_bytes: usize) -> usize {
        let content = tlv::tlv_len(typ::CONTENT, content_bytes);
        name.encoded_len() + content + self.fixed_len
    }

    fn value_bytes(&self, signed_len: usize) -> Result<usize, DescribeError> {
        match self.signature {
            SignatureShape::Digest => Ok(32),
            SignatureShape::Signed { value_bytes, .. } => Ok(value_bytes),
            SignatureShape::Total { packet_bytes } => pad(signed_len, packet_bytes),
        }
    }
}

/// Bytes of the whole packet.
fn packet_len(signed_len: usize, value_bytes: usize) -> usize {
    tlv::tlv_len(typ::DATA, signed_len + tlv::tlv_len(typ::SIGNATURE_VALUE, value_bytes))
}

/// Bytes of the SignatureValue that gives a packet exactly `wanted` bytes.
///
/// A few lengths are impossible: where one more byte of value needs a longer TLV-LENGTH.
fn pad(signed_len: usize, wanted: usize) -> Result<usize, DescribeError> {
    let value_of = |total: usize| {
        let inner = value_len(typ::DATA, total)?.checked_sub(signed_len)?;
        value_len(typ::SIGNATURE_VALUE, inner)
    };
    value_of(wanted).ok_or_else(|| {
        let least = wanted.max(packet_len(signed_len, 0));
        let possible = (least..least.saturating_add(16)).find(|total| value_of(*total).is_some());
        DescribeError::NoSuchTotal { wanted, possible: possible.unwrap_or(least) }
    })
}

/// Bytes of the TLV-VALUE of an element of `total` bytes, if such an element exists.
fn value_len(typ: u64, total: usize) -> Option<usize> {
    [2, 4, 6, 10]
        .into_iter()
        .filter_map(|header| total.checked_sub(header))
        .find(|value| tlv::tlv_len(typ, *value) == total)
}

/// A packet without bytes.
pub(super) struct Described {
    name: Name,
    template: Arc<Template>,
    content_bytes: u32,
    encoded_len: u32,
    /// Encoded when signed bytes are first read.
    encoded: OnceLock<Box<Encoded>>,
}

impl Described {
    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }

    pub(super) fn content(&self) -> &'static [u8] {
        zeros(self.content_bytes as usize)
    }

    pub(super) fn encoded_len(&self) -> usize {
        self.encoded_len as usize
    }

    pub(super) fn signature_value(&self) -> &[u8] {
        if self.template.has_digest() {
            return self.encoded().signature_value();
        }
        zeros(self.value_bytes())
    }

    pub(super) fn wire(&self) -> Bytes {
        match self.encoded.get() {
            Some(encoded) => encoded.wire().clone(),
            None => self.encode().wire().clone(),
        }
    }

    pub(super) fn encoded(&self) -> &Encoded {
        self.encoded.get_or_init(|| Box::new(self.encode()))
    }

    fn encode(&self) -> Encoded {
        let builder = self.template.builder(&self.name);
        if self.template.has_digest() {
            return builder.encoded(self.content(), &DigestSigner);
        }
        let blank = self.template.signature.blank(self.value_bytes());
        builder.encoded(self.content(), &blank)
    }

    fn value_bytes(&self) -> usize {
        let signed_len = self.template.signed_len(&self.name, self.content_bytes as usize);
        self.template.value_bytes(signed_len).unwrap_or(0)
    }
}

/// Equal if the encoded bytes would be equal.
impl PartialEq for Described {
    fn eq(&self, other: &Self) -> bool {
        let scalars = |it: &Self| {
            let template = &it.template;
            (it.content_bytes, it.encoded_len, template.freshness_ms, template.content_type)
        };
        scalars(self) == scalars(other)
            && self.name == other.name
            && (Arc::ptr_eq(&self.template, &other.template)
                || (self.template.final_block == other.template.final_block
                    && self.template.has_digest() == other.template.has_digest()
                    && self.template.signature_info() == other.template.signature_info()))
    }
}

/// Signs with zeros.
#[derive(Clone, Copy, Debug)]
struct Blank {
    typ: SignatureType,
    key_locator_bytes: Option<usize>,
    value_bytes: usize,
}

impl Signer for Blank {
    fn signature_type(&self) -> SignatureType {
        self.typ
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.key_locator_bytes.map(|bytes| KeyLocator::Digest(zeros(bytes)))
    }

    fn max_signature_len(&self) -> usize {
        self.value_bytes
    }

    fn sign(&self, _signed_portion: &[u8], out: &mut [u8]) -> usize {
        if let Some(place) = out.get_mut(..self.value_bytes) {
            place.fill(0);
        }
        self.value_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(signature: SignatureShape, content_bytes: usize) -> Result<Data, DescribeError> {
        let final_block = Some(Component::segment(999));
        let freshness = Duration::from_secs(1);
        let template = Template::new(ContentType::Blob, freshness, final_block, signature);
        template.describe("/a/v=1/seg=2".parse().unwrap(), content_bytes)
    }

    #[test]
    fn a_described_packet_takes_little_memory() {
        assert_eq!(size_of::<Described>(), 72);
    }

    #[test]
    fn packet_is_padded_to_the_exact_length() {
        let least = described(SignatureShape::Total { packet_bytes: 0 }, 100).unwrap_err();
        let DescribeError::NoSuchTotal { wanted: 0, possible } = least else {
            panic!("{least:?}");
        };
        let mut impossible = 0;
        for packet_bytes in possible..possible + 600 {
            match described(SignatureShape::Total { packet_bytes }, 100) {
                Ok(data) => {
                    assert_eq!(data.encoded_len(), packet_bytes);
                    assert_eq!(data.wire().len(), packet_bytes);
                    assert_eq!(Data::decode(data.wire()).unwrap(), data);
                }
                Err(DescribeError::NoSuchTotal { wanted, possible }) => {
                    impossible += 1;
                    assert!(wanted < possible && possible <= wanted + 2);
                    let shape = SignatureShape::Total { packet_bytes: possible };
                    assert!(described(shape, 100).is_ok());
                }
                Err(error) => panic!("{error}"),
            }
        }
        // Two where the signature's TLV-LENGTH grows, two where that of the packet does.
        assert_eq!(impossible, 4);
    }

    #[test]
    fn oversized_described_elements_are_errors() {
        let most = MAX_DESCRIBED_CONTENT;
        assert!(described(SignatureShape::Digest, most).is_ok());
        let signed = |key_locator_bytes, value_bytes| {
            let typ = SignatureType::Ed25519;
            described(SignatureShape::Signed { typ, key_locator_bytes, value_bytes }, 1)
        };
        assert!(signed(Some(most), most).is_ok());
        for result in [
            described(SignatureShape::Digest, most + 1),
            described(SignatureShape::Digest, u32::MAX as usize + 1),
            described(SignatureShape::Total { packet_bytes: 100_000 }, 1),
            signed(Some(most + 1), 1),
            signed(None, most + 1),
        ] {
            assert_eq!(result, Err(DescribeError::TooLong));
        }
    }

    #[test]
    fn equivalent_shapes_give_equal_packets() {
        let padded = described(SignatureShape::Total { packet_bytes: 1_100 }, 1_000).unwrap();
        let value_bytes = padded.signature_value().len();
        let shape = |typ| SignatureShape::Signed { typ, key_locator_bytes: None, value_bytes };
        assert_eq!(described(shape(SignatureType::Null), 1_000), Ok(padded.clone()));
        assert_eq!(described(shape(SignatureType::Other(200)), 1_000), Ok(padded.clone()));
        assert_ne!(described(shape(SignatureType::Other(201)), 1_000), Ok(padded));
        let digest = described(SignatureShape::Digest, 1_000).unwrap();
        let (typ, key_locator_bytes) = (SignatureType::DigestSha256, None);
        let zeros = SignatureShape::Signed { typ, key_locator_bytes, value_bytes: 32 };
        assert_ne!(described(zeros, 1_000), Ok(digest));
    }
}
