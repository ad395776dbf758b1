//! Packets without octets.
//!
//! What a simulation asks of a packet is its name, its length and what its few elements say; the octets would be made,
//! copied and hashed for nobody. A described packet answers as the packet with these octets would, and makes them when
//! somebody wants them after all: the content is zeros, a digest is the real one, any other signature is zeros.

use super::encoded::Encoded;
use super::{ContentType, Data, DataBuilder, Form};
use crate::name::{Component, Name};
use crate::signature::{DigestSigner, KeyLocator, SignatureInfo, SignatureType, Signer};
use crate::tlv::{self, typ};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Most octets of content, of a key locator and of a signature that a described packet can have.
pub const MAX_DESCRIBED_CONTENT: usize = ZEROS.len();

/// What content, key locators and signatures of described packets read as.
static ZEROS: [u8; 65_536] = [0; 65_536];

/// The first `len` octets of [`ZEROS`]; lengths are checked when a packet is described.
fn zeros(len: usize) -> &'static [u8] {
    ZEROS.get(..len).unwrap_or(&ZEROS)
}

/// Why a packet cannot be described.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescribeError {
    /// Some element would be too long.
    #[error(
        "a described packet has at most {MAX_DESCRIBED_CONTENT} octets of content, and of signature"
    )]
    TooLong,
    /// No signature makes the packet as long as [`SignatureShape::Total`] wants it.
    #[error(
        "with this name and content no packet has exactly {wanted} octets; {possible} are possible"
    )]
    NoSuchTotal {
        /// Octets that were asked for.
        wanted: usize,
        /// The next larger number of octets that is possible.
        possible: usize,
    },
}

/// How a described packet is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureShape {
    /// As [`DigestSigner`] does it; the digest is a real one.
    Digest,
    /// As some signer does it, with zeros in place of the signature.
    Signed {
        /// Kind of the signature.
        typ: SignatureType,
        /// Octets inside the Name or KeyDigest of the key locator; they read as a KeyDigest of zeros.
        key_locator_octets: Option<usize>,
        /// Octets of the SignatureValue.
        value_octets: usize,
    },
    /// Of type Null, with as many zeros as make the whole packet this long; for experiments that are stated in octets
    /// per packet.
    Total {
        /// Octets of the whole packet.
        packet_octets: usize,
    },
}

impl SignatureShape {
    /// The shape of what `signer` signs; of signatures whose length varies (ECDSA), the longest.
    #[must_use]
    pub fn of(signer: &dyn Signer) -> Self {
        let (info, value_octets) = (signer.signature_info(), signer.max_signature_len());
        if info == DigestSigner.signature_info() && value_octets == 32 {
            return Self::Digest;
        }
        let key_locator_octets = info.key_locator.map(|locator| match locator {
            KeyLocator::Name(value) | KeyLocator::Digest(value) => value.len(),
        });
        Self::Signed { typ: info.typ, key_locator_octets, value_octets }
    }

    /// The signer that fills packets of this shape, with signatures of `value_octets`.
    fn blank(self, value_octets: usize) -> Blank {
        let (typ, key_locator_octets) = match self {
            Self::Digest => (SignatureType::DigestSha256, None),
            Self::Signed { typ, key_locator_octets, .. } => (typ, key_locator_octets),
            Self::Total { .. } => (SignatureType::Null, None),
        };
        Blank { typ, key_locator_octets, value_octets }
    }
}

/// Everything of a described packet but its name and the length of its content: what the packets of one object share.
#[derive(Debug, PartialEq, Eq)]
pub struct Template {
    content_type: ContentType,
    freshness_ms: u64,
    final_block: Option<Component<'static>>,
    signature: SignatureShape,
    /// Octets of MetaInfo and SignatureInfo.
    fixed_len: usize,
}

impl Template {
    /// A template of packets with this type of content, that count as fresh for so long (in whole milliseconds, the
    /// rest is cut off), with this last component of the last packet's name, and a signature of this shape.
    #[must_use]
    pub fn new(
        content_type: ContentType,
        freshness: Duration,
        final_block: Option<Component<'static>>,
        signature: SignatureShape,
    ) -> Arc<Self> {
        let mut template = Self {
            // As it is read again: numbers that have a name get it.
            content_type: content_type.number().into(),
            freshness_ms: u64::try_from(freshness.as_millis()).unwrap_or(u64::MAX),
            final_block,
            signature: match signature {
                SignatureShape::Signed { typ, key_locator_octets, value_octets } => {
                    let typ = typ.number().into();
                    SignatureShape::Signed { typ, key_locator_octets, value_octets }
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

    /// The packet of this kind with `name` and `content_octets` octets of content.
    ///
    /// It takes 72 octets of memory (88 with the reference counts) beside those of the name, which it shares.
    pub fn describe(
        self: &Arc<Self>,
        name: Name,
        content_octets: usize,
    ) -> Result<Data, DescribeError> {
        if content_octets.max(self.longest_fixed()) > MAX_DESCRIBED_CONTENT {
            return Err(DescribeError::TooLong);
        }
        let signed_len = self.signed_len(&name, content_octets);
        let value_octets = self.value_octets(signed_len)?;
        if value_octets > MAX_DESCRIBED_CONTENT {
            return Err(DescribeError::TooLong);
        }
        let described = Described {
            name,
            template: Arc::clone(self),
            content_octets: content_octets as u32,
            encoded_len: packet_len(signed_len, value_octets) as u32,
            encoded: OnceLock::new(),
        };
        Ok(Data(Form::Described(Arc::new(described))))
    }

    /// What the content of such packets is.
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
        let locator = blank.key_locator_octets.map(|octets| KeyLocator::Digest(zeros(octets)));
        SignatureInfo::new(blank.typ, locator)
    }

    /// Octets of the longest thing that zeros stand for, content and padding aside.
    fn longest_fixed(&self) -> usize {
        match self.signature {
            SignatureShape::Signed { key_locator_octets, value_octets, .. } => {
                key_locator_octets.unwrap_or(0).max(value_octets)
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

    /// Octets from Name up to and including SignatureInfo.
    fn signed_len(&self, name: &Name, content_octets: usize) -> usize {
        let content = tlv::tlv_len(typ::CONTENT, content_octets);
        name.encoded_len() + content + self.fixed_len
    }

    fn value_octets(&self, signed_len: usize) -> Result<usize, DescribeError> {
        match self.signature {
            SignatureShape::Digest => Ok(32),
            SignatureShape::Signed { value_octets, .. } => Ok(value_octets),
            SignatureShape::Total { packet_octets } => pad(signed_len, packet_octets),
        }
    }
}

/// Octets of a packet with these.
fn packet_len(signed_len: usize, value_octets: usize) -> usize {
    tlv::tlv_len(typ::DATA, signed_len + tlv::tlv_len(typ::SIGNATURE_VALUE, value_octets))
}

/// Octets of the SignatureValue that makes a packet exactly `wanted` octets long.
///
/// A few lengths are impossible: where one more octet of value needs a longer TLV-LENGTH, too.
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

/// Octets of the TLV-VALUE of an element that has `total` octets, if there is such an element.
fn value_len(typ: u64, total: usize) -> Option<usize> {
    [2, 4, 6, 10]
        .into_iter()
        .filter_map(|header| total.checked_sub(header))
        .find(|value| tlv::tlv_len(typ, *value) == total)
}

/// A packet without octets.
pub(super) struct Described {
    name: Name,
    template: Arc<Template>,
    content_octets: u32,
    encoded_len: u32,
    /// Made for those who want to see what was signed.
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
        zeros(self.content_octets as usize)
    }

    pub(super) fn encoded_len(&self) -> usize {
        self.encoded_len as usize
    }

    pub(super) fn signature_value(&self) -> &[u8] {
        if self.template.has_digest() {
            return self.encoded().signature_value();
        }
        zeros(self.value_octets())
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
        let blank = self.template.signature.blank(self.value_octets());
        builder.encoded(self.content(), &blank)
    }

    fn value_octets(&self) -> usize {
        let signed_len = self.template.signed_len(&self.name, self.content_octets as usize);
        self.template.value_octets(signed_len).unwrap_or(0)
    }
}

/// The octets would be equal.
impl PartialEq for Described {
    fn eq(&self, other: &Self) -> bool {
        let said = |it: &Self| {
            let template = &it.template;
            (it.content_octets, it.encoded_len, template.freshness_ms, template.content_type)
        };
        said(self) == said(other)
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
    key_locator_octets: Option<usize>,
    value_octets: usize,
}

impl Signer for Blank {
    fn signature_type(&self) -> SignatureType {
        self.typ
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.key_locator_octets.map(|octets| KeyLocator::Digest(zeros(octets)))
    }

    fn max_signature_len(&self) -> usize {
        self.value_octets
    }

    fn sign(&self, _signed_portion: &[u8], out: &mut [u8]) -> usize {
        if let Some(place) = out.get_mut(..self.value_octets) {
            place.fill(0);
        }
        self.value_octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(signature: SignatureShape, content_octets: usize) -> Result<Data, DescribeError> {
        let final_block = Some(Component::segment(999));
        let freshness = Duration::from_secs(1);
        let template = Template::new(ContentType::Blob, freshness, final_block, signature);
        template.describe("/a/v=1/seg=2".parse().unwrap(), content_octets)
    }

    #[test]
    fn a_described_packet_takes_little_memory() {
        assert_eq!(size_of::<Described>(), 72);
    }

    #[test]
    fn a_packet_is_padded_to_the_octet_where_that_is_possible() {
        let least = described(SignatureShape::Total { packet_octets: 0 }, 100).unwrap_err();
        let DescribeError::NoSuchTotal { wanted: 0, possible } = least else {
            panic!("{least:?}");
        };
        let mut impossible = 0;
        for packet_octets in possible..possible + 600 {
            match described(SignatureShape::Total { packet_octets }, 100) {
                Ok(data) => {
                    assert_eq!(data.encoded_len(), packet_octets);
                    assert_eq!(data.wire().len(), packet_octets);
                    assert_eq!(Data::decode(data.wire()).unwrap(), data);
                }
                Err(DescribeError::NoSuchTotal { wanted, possible }) => {
                    impossible += 1;
                    assert!(wanted < possible && possible <= wanted + 2);
                    let shape = SignatureShape::Total { packet_octets: possible };
                    assert!(described(shape, 100).is_ok());
                }
                Err(error) => panic!("{error}"),
            }
        }
        // Two where the signature's TLV-LENGTH grows, two where that of the packet does.
        assert_eq!(impossible, 4);
    }

    #[test]
    fn what_zeros_cannot_stand_for_is_too_long() {
        let most = MAX_DESCRIBED_CONTENT;
        assert!(described(SignatureShape::Digest, most).is_ok());
        let signed = |key_locator_octets, value_octets| {
            let typ = SignatureType::Ed25519;
            described(SignatureShape::Signed { typ, key_locator_octets, value_octets }, 1)
        };
        assert!(signed(Some(most), most).is_ok());
        for refused in [
            described(SignatureShape::Digest, most + 1),
            described(SignatureShape::Digest, u32::MAX as usize + 1),
            described(SignatureShape::Total { packet_octets: 100_000 }, 1),
            signed(Some(most + 1), 1),
            signed(None, most + 1),
        ] {
            assert_eq!(refused, Err(DescribeError::TooLong));
        }
    }

    #[test]
    fn shapes_that_give_the_same_octets_give_equal_packets() {
        let padded = described(SignatureShape::Total { packet_octets: 1_100 }, 1_000).unwrap();
        let value_octets = padded.signature_value().len();
        let shape = |typ| SignatureShape::Signed { typ, key_locator_octets: None, value_octets };
        assert_eq!(described(shape(SignatureType::Null), 1_000), Ok(padded.clone()));
        assert_eq!(described(shape(SignatureType::Other(200)), 1_000), Ok(padded.clone()));
        assert_ne!(described(shape(SignatureType::Other(201)), 1_000), Ok(padded));
        let digest = described(SignatureShape::Digest, 1_000).unwrap();
        let (typ, key_locator_octets) = (SignatureType::DigestSha256, None);
        let zeros = SignatureShape::Signed { typ, key_locator_octets, value_octets: 32 };
        assert_ne!(described(zeros, 1_000), Ok(digest));
    }
}
