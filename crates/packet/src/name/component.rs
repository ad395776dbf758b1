//! One component of a name.

use crate::tlv::{self, DecodeError, Tlv, typ};
use bytes::BufMut;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A component of a name: type and value.
///
/// Values are borrowed, except numbers, which are stored inline.
#[derive(Clone, Copy)]
pub struct Component<'a> {
    typ: u16,
    value: Value<'a>,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Borrowed(&'a [u8]),
    Number { bytes: [u8; 9], len: u8 },
}

impl<'a> Component<'a> {
    /// A GenericNameComponent (8).
    #[must_use]
    pub fn generic(value: &'a [u8]) -> Self {
        Self::borrowed(typ::GENERIC_NAME_COMPONENT as u16, value)
    }

    /// A KeywordNameComponent (32).
    #[must_use]
    pub fn keyword(value: &'a [u8]) -> Self {
        Self::borrowed(typ::KEYWORD_NAME_COMPONENT as u16, value)
    }

    /// The ImplicitSha256DigestComponent (1) of a Data packet with this digest.
    #[must_use]
    pub fn implicit_digest(digest: &'a [u8; 32]) -> Self {
        Self::borrowed(typ::IMPLICIT_SHA256_DIGEST as u16, digest)
    }

    /// A ParametersSha256DigestComponent (2).
    #[must_use]
    pub fn parameters_digest(digest: &'a [u8; 32]) -> Self {
        Self::borrowed(typ::PARAMETERS_SHA256_DIGEST as u16, digest)
    }

    /// A component of any type; `None` for type 0, and for a digest type whose value has not 32
    /// bytes.
    #[must_use]
    pub fn new(typ: u16, value: &'a [u8]) -> Option<Self> {
        let digest = matches!(typ, 1 | 2);
        let right = typ != 0 && (!digest || value.len() == 32);
        right.then_some(Self::borrowed(typ, value))
    }

    pub(super) fn borrowed(typ: u16, value: &'a [u8]) -> Self {
        Self { typ, value: Value::Borrowed(value) }
    }

    /// The TLV-TYPE.
    #[must_use]
    pub fn typ(&self) -> u16 {
        self.typ
    }

    /// The TLV-VALUE.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        match &self.value {
            Value::Borrowed(value) => value,
            Value::Number { bytes, len } => bytes.get(..usize::from(*len)).unwrap_or_default(),
        }
    }

    /// The value as a NonNegativeInteger in its shortest form, whatever the type.
    #[must_use]
    pub fn to_number(&self) -> Option<u64> {
        shortest_nni(self.value())
    }

    /// The number of a SegmentNameComponent.
    #[must_use]
    pub fn is_segment(&self) -> Option<u64> {
        self.number_of(typ::SEGMENT_NAME_COMPONENT)
    }

    /// The number of a SegmentNameComponent that is all of `element`.
    #[inline]
    pub(crate) fn segment_of(element: &[u8]) -> Option<u64> {
        let [typ, length, value @ ..] = element else {
            return None;
        };
        let is_whole = usize::from(*length) == value.len();
        let is_segment = u64::from(*typ) == typ::SEGMENT_NAME_COMPONENT && is_whole;
        is_segment.then(|| shortest_nni(value))?
    }

    /// The number of a VersionNameComponent.
    #[must_use]
    pub fn is_version(&self) -> Option<u64> {
        self.number_of(typ::VERSION_NAME_COMPONENT)
    }

    /// Whether this is the KeywordNameComponent `word`.
    #[must_use]
    pub fn is_keyword(&self, word: &[u8]) -> bool {
        u64::from(self.typ) == typ::KEYWORD_NAME_COMPONENT && self.value() == word
    }

    fn number_of(&self, typ: u64) -> Option<u64> {
        if u64::from(self.typ) == typ { self.to_number() } else { None }
    }

    /// Bytes of the whole element.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        tlv::tlv_len(self.typ.into(), self.value().len())
    }

    /// Appends the whole element.
    pub fn encode(&self, out: &mut impl BufMut) {
        tlv::put_tlv(out, self.typ.into(), self.value());
    }
}

/// Components that hold a number.
impl Component<'static> {
    /// A SegmentNameComponent (50): number of a segment, from 0.
    #[must_use]
    pub fn segment(number: u64) -> Self {
        Self::number(typ::SEGMENT_NAME_COMPONENT as u16, None, number)
    }

    /// A VersionNameComponent (54).
    #[must_use]
    pub fn version(number: u64) -> Self {
        Self::number(typ::VERSION_NAME_COMPONENT as u16, None, number)
    }

    /// A SequenceNumNameComponent (58).
    #[must_use]
    pub fn sequence_num(number: u64) -> Self {
        Self::number(typ::SEQUENCE_NUM_NAME_COMPONENT as u16, None, number)
    }

    /// A component of type `typ` that holds `marker`, if any, and a NonNegativeInteger.
    pub(super) fn number(typ: u16, marker: Option<u8>, number: u64) -> Self {
        let mut bytes = [0; 9];
        let mut rest = &mut bytes[..];
        if let Some(marker) = marker {
            rest.put_u8(marker);
        }
        tlv::put_nni(&mut rest, number);
        let len = 9 - rest.len() as u8;
        Self { typ, value: Value::Number { bytes, len } }
    }
}

/// The number in `bytes` if they are a NonNegativeInteger in its shortest form.
pub(super) fn shortest_nni(bytes: &[u8]) -> Option<u64> {
    tlv::parse_nni(bytes).filter(|number| tlv::nni_len(*number) == bytes.len())
}

/// Whether an element is a valid component of a name.
pub(crate) fn check(tlv: &Tlv<'_>) -> Result<(), DecodeError> {
    match tlv.typ {
        1 | 2 if tlv.value.len() != 32 => Err(tlv.error("a digest of 32 bytes")),
        1..=0xffff => Ok(()),
        _ => Err(tlv.error("a name component (type 1 to 65535)")),
    }
}

impl PartialEq for Component<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.typ == other.typ && self.value() == other.value()
    }
}

impl Eq for Component<'_> {}

impl Hash for Component<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.typ.hash(state);
        self.value().hash(state);
    }
}

/// Canonical order: by type, then length, then value.
impl Ord for Component<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |component: &Self| (component.typ, component.value().len());
        key(self).cmp(&key(other)).then_with(|| self.value().cmp(other.value()))
    }
}

impl PartialOrd for Component<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_encoded_in_fewest_bytes() {
        for (number, len) in [(0, 1), (255, 1), (256, 2), (65_536, 4), (u64::MAX, 8)] {
            let component = Component::segment(number);
            assert_eq!(component.value().len(), len);
            assert_eq!((component.is_segment(), component.is_version()), (Some(number), None));
        }
        assert_eq!(Component::new(50, &[0, 1]).unwrap().is_segment(), None);
        assert_eq!(Component::new(50, &[1, 2, 3]).unwrap().is_segment(), None);
    }

    #[test]
    fn invalid_component_types_are_rejected() {
        assert!(Component::new(0, b"").is_none());
        assert!(Component::new(1, b"short").is_none());
    }
}
