//! Interests of a name, flags and numbers, in the layout that nearly all have: no element of other bytes, no unknown
//! element, and one byte for each type and length.
//!
//! A single comparison checks the position of every element. An Interest in any other layout, malformed or not, is left
//! to the general decoder.

use super::Interest;
use crate::name::{Name, check_short};
use crate::tlv::typ::byte::{
    CAN_BE_PREFIX, HOP_LIMIT, INTEREST, INTEREST_LIFETIME, MUST_BE_FRESH, NAME, NONCE,
};
use bytes::{BufMut, Bytes, BytesMut};
use std::time::Duration;

/// The elements of such an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain<'a> {
    /// TLV-VALUE of the name.
    name: &'a [u8],
    components: u32,
    can_be_prefix: bool,
    must_be_fresh: bool,
    nonce: Option<u32>,
    lifetime_ms: Option<u64>,
    hop_limit: Option<u8>,
}

impl<'a> Plain<'a> {
    /// Reads a whole packet; `None` if its layout is another.
    #[inline]
    pub(super) fn read(wire: &'a [u8]) -> Option<Self> {
        let [INTEREST, len @ ..=252, NAME, name_len @ ..=252, rest @ ..] = wire else {
            return None;
        };
        if usize::from(*len) + 2 != wire.len() {
            return None;
        }
        let (name, rest) = rest.split_at_checked(usize::from(*name_len))?;
        let components = check_short(name).filter(|count| *count > 0)?;
        let (can_be_prefix, rest) = flag(rest, CAN_BE_PREFIX);
        let (must_be_fresh, rest) = flag(rest, MUST_BE_FRESH);
        let (nonce, rest) = match rest {
            [NONCE, 4, a, b, c, d, rest @ ..] => (Some(u32::from_be_bytes([*a, *b, *c, *d])), rest),
            rest => (None, rest),
        };
        let (lifetime_ms, rest) = match rest {
            [INTEREST_LIFETIME, 2, a, b, rest @ ..] => {
                (Some(u64::from(u16::from_be_bytes([*a, *b]))), rest)
            }
            [INTEREST_LIFETIME, 1, a, rest @ ..] => (Some(u64::from(*a)), rest),
            rest => (None, rest),
        };
        let (hop_limit, rest) = match rest {
            [HOP_LIMIT, 1, hop_limit, rest @ ..] => (Some(*hop_limit), rest),
            rest => (None, rest),
        };
        rest.is_empty().then_some(Self {
            name,
            components,
            can_be_prefix,
            must_be_fresh,
            nonce,
            lifetime_ms,
            hop_limit,
        })
    }

    /// Makes `interest` this one; `keep` copies or shares the bytes of the name.
    #[inline]
    pub(super) fn write_to(self, interest: &mut Interest, keep: impl FnOnce(&[u8]) -> Bytes) {
        let name = Name::known(keep(self.name), self.components as usize);
        if !interest.is_plain() {
            *interest = Interest::new(Name::root());
        }
        interest.name = name;
        (interest.can_be_prefix, interest.must_be_fresh) = (self.can_be_prefix, self.must_be_fresh);
        (interest.nonce, interest.hop_limit) = (self.nonce, self.hop_limit);
        interest.lifetime = self.lifetime_ms.map(Duration::from_millis);
    }
}

/// Most bytes of a name that is encoded here: with the elements after it, an Interest has a length of one byte.
const MAX_NAME_BYTES: usize = 230;

/// Most bytes of the elements after the name: two flags, Nonce, InterestLifetime of two bytes and HopLimit.
const MAX_TAIL_BYTES: usize = 2 + 2 + 6 + 4 + 3;

impl Interest {
    /// Appends the whole packet with this hop limit in three writes; `false`, and nothing is written, if its layout is
    /// another.
    #[inline]
    pub(super) fn encode_plain(&self, out: &mut BytesMut, hop_limit: Option<u8>) -> bool {
        let name = self.name.value();
        let lifetime = self.lifetime_ms().map(u16::try_from);
        if !self.is_plain() || name.len() > MAX_NAME_BYTES || matches!(lifetime, Some(Err(_))) {
            return false;
        }
        let (mut tail, mut len) = ([0; MAX_TAIL_BYTES], 0);
        let mut put = |element: &[u8]| {
            if let Some(place) = tail.get_mut(len..len + element.len()) {
                place.copy_from_slice(element);
                len += element.len();
            }
        };
        if self.can_be_prefix {
            put(&[CAN_BE_PREFIX, 0]);
        }
        if self.must_be_fresh {
            put(&[MUST_BE_FRESH, 0]);
        }
        if let Some(nonce) = self.nonce {
            let [a, b, c, d] = nonce.to_be_bytes();
            put(&[NONCE, 4, a, b, c, d]);
        }
        match lifetime.and_then(Result::ok).map(u16::to_be_bytes) {
            Some([0, low]) => put(&[INTEREST_LIFETIME, 1, low]),
            Some([high, low]) => put(&[INTEREST_LIFETIME, 2, high, low]),
            None => {}
        }
        if let Some(hop_limit) = self.hop_limit.and(hop_limit) {
            put(&[HOP_LIMIT, 1, hop_limit]);
        }
        let (inside, name_len) = ((2 + name.len() + len) as u8, name.len() as u8);
        out.reserve(usize::from(inside) + 2);
        out.put_slice(&[INTEREST, inside, NAME, name_len]);
        out.put_slice(name);
        out.put_slice(tail.get(..len).unwrap_or_default());
        true
    }

    /// Whether no element but the name has bytes.
    #[inline]
    fn is_plain(&self) -> bool {
        self.forwarding_hint.is_empty()
            && self.parameters.is_none()
            && self.signature.is_none()
            && self.tail.is_none()
    }
}

/// Whether `rest` begins with an empty element of this type, and what follows it.
#[inline]
fn flag(rest: &[u8], wanted: u8) -> (bool, &[u8]) {
    match rest {
        [typ, 0, rest @ ..] if *typ == wanted => (true, rest),
        rest => (false, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::decode_any;
    use super::*;
    use proptest::prelude::*;

    fn any_interest() -> impl Strategy<Value = Interest> {
        let name = prop::sample::select(vec!["/a", "/a/b/%00%07", "/1=x/a", "/300=y"]);
        let lifetime = prop::option::of(prop::sample::select(vec![0, 255, 4_000, 70_000]));
        let numbers = (prop::option::of(any::<u32>()), lifetime, prop::option::of(any::<u8>()));
        (name, any::<[bool; 3]>(), numbers).prop_map(|(name, flags, numbers)| {
            let mut interest = Interest::new(name.parse().unwrap_or_default());
            [interest.can_be_prefix, interest.must_be_fresh, _] = flags;
            (interest.nonce, interest.hop_limit) = (numbers.0, numbers.2);
            interest.lifetime = numbers.1.map(Duration::from_millis);
            if flags[2] {
                interest.forwarding_hint = vec!["/h".parse().unwrap_or_default()];
            }
            interest
        })
    }

    proptest! {
        /// A byte of the wire is replaced, removed or added; the Interest is decoded over another one.
        #[test]
        fn plain_layout_decodes_as_any_other(
            (sent, before) in (any_interest(), any_interest()),
            place in 0..40_usize,
            byte in prop_oneof![0..40_u8, any::<u8>()],
            change in 0..4_u8,
        ) {
            let mut wire = sent.to_bytes().to_vec();
            crate::tlv::change(&mut wire, place, byte, change);
            let general = decode_any(&wire, Bytes::copy_from_slice);
            if let Some(plain) = Plain::read(&wire) {
                let mut interest = before;
                plain.write_to(&mut interest, Bytes::copy_from_slice);
                prop_assert_eq!(general, Ok(interest));
            }
        }
    }

    proptest! {
        #[test]
        fn plain_encoding_equals_the_general_one(sent in any_interest(), length in 0..300_usize) {
            let mut sent = sent;
            sent.name = format!("/{}", "x".repeat(length)).parse().unwrap_or_default();
            let (mut plain, mut general) = (BytesMut::new(), BytesMut::new());
            sent.encode_any(&mut general, sent.hop_limit);
            match sent.encode_plain(&mut plain, sent.hop_limit) {
                true => prop_assert_eq!(plain, general),
                false => prop_assert!(plain.is_empty()),
            }
        }
    }

    #[test]
    fn usual_interest_has_the_plain_layout() {
        let mut interest = Interest::new("/a/b".parse().unwrap());
        (interest.nonce, interest.must_be_fresh) = (Some(7), true);
        interest.lifetime = Some(Duration::from_secs(4));
        assert!(Plain::read(&interest.to_bytes()).is_some());
        assert!(interest.encode_plain(&mut BytesMut::new(), None));
    }
}
