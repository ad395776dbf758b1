//! Names.
//!
//! A name is stored as its TLV-VALUE, shared with the received packet. In this form equality,
//! canonical order and the prefix relation are those of byte strings.

pub mod component;
pub mod convention;
mod prefix;
mod scope;
pub mod uri;

pub use component::Component;
pub use prefix::PrefixEnds;
pub use scope::Scope;

use crate::tlv::{self, DecodeError, MAX_PACKET_SIZE, Reader, Tlv, typ};
use bytes::{BufMut, Bytes, BytesMut};
use std::fmt;
use std::iter::FusedIterator;

/// Most components of a decoded name.
///
/// Tables look a name up once per prefix, and an attacker could put 4,000 empty components into a
/// packet. Names in use have fewer than 30.
pub const MAX_COMPONENTS: usize = 256;

/// Most bytes of a decoded name's TLV-VALUE: a longer one fits into no packet.
pub const MAX_NAME_LEN: usize = MAX_PACKET_SIZE;

/// A name; clones and prefixes share its bytes.
///
/// `Ord` is the canonical order of the NDN packet format: component by component, by type, length
/// and value; a prefix comes first. It equals the order of the TLV-VALUE bytes because types and
/// lengths are in their shortest form.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Name {
    value: Bytes,
    /// Derived from `value`, so it does not change the derived traits.
    count: u32,
}

impl Name {
    /// The name without components, `/`.
    #[must_use]
    pub const fn root() -> Self {
        Self { value: Bytes::new(), count: 0 }
    }

    /// Decodes a whole Name element.
    pub fn decode(wire: Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(&wire);
        let tlv = reader.expect(typ::NAME, "a Name")?;
        reader.finish()?;
        Self::share(&wire, &tlv)
    }

    /// Takes the TLV-VALUE of a Name element.
    pub fn from_value(value: Bytes) -> Result<Self, DecodeError> {
        let count = check(&bare(&value))?.count;
        Ok(Self { value, count })
    }

    /// Decodes the Name element `tlv` of `wire`, and shares its bytes.
    pub(crate) fn share(wire: &Bytes, tlv: &Tlv<'_>) -> Result<Self, DecodeError> {
        let count = check(tlv)?.count;
        Ok(Self { value: wire.slice(tlv.range()), count })
    }

    /// A name of `count` components whose TLV-VALUE is valid.
    pub(crate) fn known(value: Bytes, count: usize) -> Self {
        debug_assert_eq!(check(&bare(&value)).map(|it| it.count as usize), Ok(count));
        Self { value, count: count as u32 }
    }

    /// The TLV-VALUE, the key of tables.
    #[must_use]
    pub fn value(&self) -> &Bytes {
        &self.value
    }

    /// Number of components.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether the name has no components.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The components from first to last.
    #[must_use]
    pub fn components(&self) -> Components<'_> {
        Components { reader: Reader::new(&self.value), left: self.len() }
    }

    /// Component number `index`, counted from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Component<'_>> {
        self.components().nth(index)
    }

    /// The last component.
    #[must_use]
    pub fn last(&self) -> Option<Component<'_>> {
        self.split_last().map(|(_, last)| last)
    }

    /// The TLV-VALUE of the name without its last component, and that component; `None` for the root.
    #[must_use]
    pub fn split_last(&self) -> Option<(&[u8], Component<'_>)> {
        let mut reader = Reader::new(&self.value);
        reader.skip_short_but_last();
        let mut last = reader.read().ok()??;
        while let Some(next) = reader.read().ok()? {
            last = next;
        }
        Some((&self.value[..last.offset], Component::borrowed(last.typ as u16, last.value)))
    }

    /// The first `count` components, or the whole name if it is shorter; shares its bytes.
    #[must_use]
    pub fn prefix(&self, count: usize) -> Self {
        if count >= self.len() {
            return self.clone();
        }
        let mut components = self.components();
        components.by_ref().take(count).for_each(drop);
        let end = components.reader.offset();
        Self { value: self.value.slice(..end), count: count as u32 }
    }

    /// The name without its last component; the root stays the root.
    #[must_use]
    pub fn parent(&self) -> Self {
        self.prefix(self.len().saturating_sub(1))
    }

    /// The components from number `start` on; shares the name's bytes.
    #[must_use]
    pub fn suffix(&self, start: usize) -> Self {
        let start = start.min(self.len());
        let mut components = self.components();
        components.by_ref().take(start).for_each(drop);
        let from = components.reader.offset();
        Self { value: self.value.slice(from..), count: self.count - start as u32 }
    }

    /// Whether `other` begins with all components of this name.
    #[must_use]
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.value.starts_with(&self.value)
    }

    /// The components after `prefix`, or `None` if the name does not begin with it.
    #[must_use]
    pub fn strip_prefix(&self, prefix: &Self) -> Option<Components<'_>> {
        Some(Components {
            reader: Reader::new(self.value.strip_prefix(&*prefix.value)?),
            left: self.len() - prefix.len(),
        })
    }

    /// This name with one more component.
    ///
    /// Only decoding enforces [`MAX_COMPONENTS`] and [`MAX_NAME_LEN`]: peers reject a name beyond
    /// them.
    #[must_use]
    pub fn append(&self, component: Component<'_>) -> Self {
        let mut value = BytesMut::with_capacity(self.value.len() + component.encoded_len());
        value.put_slice(&self.value);
        component.encode(&mut value);
        Self { value: value.freeze(), count: self.count + 1 }
    }

    /// Appends as [`append`](Self::append), with the bytes in `pool`, a buffer shared by many names
    /// and freed with the last of them.
    #[must_use]
    pub fn append_in(&self, component: Component<'_>, pool: &mut BytesMut) -> Self {
        pool.clear();
        pool.reserve(self.value.len() + component.encoded_len());
        pool.put_slice(&self.value);
        component.encode(pool);
        Self { value: pool.split().freeze(), count: self.count + 1 }
    }

    /// This name followed by the components of `other`.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let value = [&self.value[..], &other.value[..]].concat();
        Self { value: value.into(), count: self.count + other.count }
    }

    /// Bytes of the whole Name element.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        tlv::tlv_len(typ::NAME, self.value.len())
    }

    /// Appends the whole Name element.
    pub fn encode(&self, out: &mut impl BufMut) {
        tlv::put_tlv(out, typ::NAME, &self.value);
    }
}

/// A Name element with only its TLV-VALUE.
fn bare(value: &[u8]) -> Tlv<'_> {
    Tlv { typ: typ::NAME, value, offset: 0, value_offset: 0 }
}

/// Result of checking a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Number of components.
    pub(crate) count: u32,
    /// The name may have a digest component; names of short components are known to have none.
    pub(crate) may_have_digest: bool,
}

/// Nearly all components are short and of this type at least: the first two types are digests, whose length is checked.
const LEAST_SHORT: u8 = typ::PARAMETERS_SHA256_DIGEST as u8 + 1;

/// Counts the components of a TLV-VALUE of at most 252 bytes; `None` if one may be a digest, long or malformed.
#[inline]
pub(crate) fn check_short(value: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(value);
    let count = reader.skip_short(LEAST_SHORT);
    reader.is_empty().then_some(count as u32)
}

/// Counts components, checking each and the limits.
#[inline]
pub(crate) fn check(value: &Tlv<'_>) -> Result<Checked, DecodeError> {
    let mut reader = value.reader();
    let count = reader.skip_short(LEAST_SHORT) as u32;
    if reader.is_empty() && count as usize <= MAX_COMPONENTS && value.value.len() <= MAX_NAME_LEN {
        return Ok(Checked { count, may_have_digest: false });
    }
    check_each(value, reader, count)
}

/// Checks the components in `reader`, after `count` others.
#[inline(never)]
fn check_each(
    value: &Tlv<'_>,
    mut reader: Reader<'_>,
    mut count: u32,
) -> Result<Checked, DecodeError> {
    let too_many = "at most 256 name components";
    let start = value.value_offset;
    if count as usize > MAX_COMPONENTS {
        return Err(DecodeError::at(start, too_many));
    }
    while let Some(tlv) = reader.read()? {
        component::check(&tlv)?;
        count += 1;
        if count as usize > MAX_COMPONENTS {
            return Err(tlv.error(too_many));
        }
    }
    if value.value.len() > MAX_NAME_LEN {
        return Err(DecodeError::at(start, "a name of at most 8800 bytes"));
    }
    Ok(Checked { count, may_have_digest: true })
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<'a> FromIterator<Component<'a>> for Name {
    fn from_iter<I: IntoIterator<Item = Component<'a>>>(components: I) -> Self {
        let mut value = BytesMut::new();
        let mut count = 0;
        for component in components {
            component.encode(&mut value);
            count += 1;
        }
        Self { value: value.freeze(), count }
    }
}

impl<'a> IntoIterator for &'a Name {
    type Item = Component<'a>;
    type IntoIter = Components<'a>;

    fn into_iter(self) -> Components<'a> {
        self.components()
    }
}

/// The components of a name, first to last.
#[derive(Clone, Debug)]
pub struct Components<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Iterator for Components<'a> {
    type Item = Component<'a>;

    fn next(&mut self) -> Option<Component<'a>> {
        let tlv = self.reader.read().ok()??;
        self.left = self.left.saturating_sub(1);
        Some(Component::borrowed(tlv.typ as u16, tlv.value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Components<'_> {}
impl FusedIterator for Components<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn prefixes_share_the_bytes_of_their_name() {
        let long = name("/a/b/v=1/seg=2");
        let short = long.prefix(2);
        assert_eq!(short, name("/a/b"));
        assert_eq!(short.value().as_ptr(), long.value().as_ptr());
        assert_eq!((long.len(), short.len(), long.prefix(9).len()), (4, 2, 4));
        assert_eq!((long.parent(), long.suffix(3)), (name("/a/b/v=1"), name("/seg=2")));
        assert_eq!(short.join(&long.suffix(2)), long);
        let rest: Option<Vec<_>> = long.strip_prefix(&short).map(Iterator::collect);
        assert_eq!(rest, Some(vec![Component::version(1), Component::segment(2)]));
        assert!(short.strip_prefix(&long).is_none());
        assert!(short.is_prefix_of(&long) && !long.is_prefix_of(&short));
        assert!(Name::root().is_prefix_of(&short) && Name::root().parent().is_empty());
        assert_eq!(
            (Name::root().split_last(), short.last()),
            (None, Some(Component::generic(b"b")))
        );
    }

    #[test]
    fn component_is_appended_to_names_of_any_length() {
        for len in (0..260).chain([8_000]) {
            let value = vec![b'a'; len];
            let long = Name::root().append(Component::generic(&value));
            let mut pool = BytesMut::with_capacity(1_000);
            for segment in [0, 256, u64::MAX] {
                let whole = long.append(Component::segment(segment));
                assert_eq!(whole, long.append_in(Component::segment(segment), &mut pool));
                assert_eq!((whole.len(), whole.prefix(1)), (2, long.clone()));
                let parts = Some((&long.value()[..], Component::segment(segment)));
                assert_eq!(whole.split_last(), parts);
                assert_eq!(whole, Name::from_value(whole.value().clone()).unwrap());
            }
        }
    }

    #[test]
    fn shorter_components_come_first_in_canonical_order() {
        let sorted = ["/", "/32=a", "/a", "/a/a", "/b", "/aa", "/300=a"].map(name);
        let ranks = [0, 5, 1, 2, 3, 4, 6];
        for (a, rank_a) in sorted.iter().zip(ranks) {
            for (b, rank_b) in sorted.iter().zip(ranks) {
                assert_eq!(a.cmp(b), rank_a.cmp(&rank_b), "{a} {b}");
            }
        }
    }

    #[test]
    fn too_many_components_are_an_error() {
        assert_eq!(Name::from_value(Bytes::from([8, 0].repeat(256))).unwrap().len(), 256);
        assert!(Name::from_value(Bytes::from([8, 0].repeat(257))).is_err());
    }

    #[test]
    fn digest_component_has_32_bytes() {
        for typ in [1, 2] {
            assert!(Name::from_value(Bytes::from(vec![typ, 1, 0])).is_err());
            let mut digest = vec![typ, 32];
            digest.resize(34, 7);
            assert!(Name::from_value(Bytes::from(digest)).is_ok());
        }
    }

    #[test]
    fn component_type_beyond_16_bits_is_an_error() {
        assert!(Name::from_value(Bytes::from_static(&[253, 255, 255, 0])).is_ok());
        assert!(Name::from_value(Bytes::from_static(&[254, 0, 1, 0, 0, 0])).is_err());
    }
}
