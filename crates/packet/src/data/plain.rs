//! Data in the layout that nearly all packets have: only known elements, in their order, with one byte for each type.
//!
//! A single comparison checks the position of every element. Data in any other layout, malformed or not, is left to the
//! general decoder.

use super::encoded::{Parts, Span};
use crate::name::check_short;
use crate::signature::SignatureInfo;
use crate::tlv::typ::byte::{CONTENT, DATA, META_INFO, NAME, SIGNATURE_INFO, SIGNATURE_VALUE};
use crate::tlv::{Tlv, typ};

/// From here on a length takes three bytes.
const LONG: u8 = 253;

/// The parts of a whole packet of less than 4 GiB, and the number of components of its name; `None` if its layout is
/// another.
#[inline]
pub(super) fn read(wire: &[u8]) -> Option<(Parts, u32)> {
    let (inside, []) = element(wire, DATA)? else {
        return None;
    };
    let end = wire.len();
    // The rest always reaches to the end of the packet.
    let span = |value: &[u8], rest: &[u8]| {
        let end = end - rest.len();
        Span { start: (end - value.len()) as u32, end: end as u32 }
    };
    let mut parts = Parts::default();
    let (name, mut rest) = element(inside, NAME)?;
    if name.len() >= usize::from(LONG) {
        return None;
    }
    let components = check_short(name)?;
    parts.name = span(name, rest);
    if let Some((value, after)) = element(rest, META_INFO) {
        parts.read_meta_info(&tlv(typ::META_INFO, value, rest, after, end)).ok()?;
        rest = after;
    }
    if let Some((value, after)) = element(rest, CONTENT) {
        parts.content = span(value, after);
        rest = after;
    }
    let (value, after) = element(rest, SIGNATURE_INFO)?;
    SignatureInfo::check(&tlv(typ::SIGNATURE_INFO, value, rest, after, end)).ok()?;
    parts.info = span(value, after);
    parts.signed = Span { start: (end - inside.len()) as u32, end: parts.info.end };
    let (value, []) = element(after, SIGNATURE_VALUE)? else {
        return None;
    };
    parts.signature = span(value, &[]);
    Some((parts, components))
}

/// The element with this value, of a packet with `end` bytes; `rest` begins with it, and `after` is what follows it.
#[inline]
fn tlv<'a>(typ: u64, value: &'a [u8], rest: &[u8], after: &[u8], end: usize) -> Tlv<'a> {
    Tlv { typ, value, offset: end - rest.len(), value_offset: end - after.len() - value.len() }
}

/// The value of the first element and what follows it, if the element is of this type and shorter than 64 KiB.
#[inline]
fn element(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    match bytes {
        [typ, len, rest @ ..] if *typ == wanted && *len < LONG => {
            rest.split_at_checked(usize::from(*len))
        }
        [typ, LONG, high, low, rest @ ..] if *typ == wanted => {
            let len = u16::from_be_bytes([*high, *low]);
            (len >= u16::from(LONG)).then(|| rest.split_at_checked(usize::from(len))).flatten()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ContentType, DataBuilder};
    use crate::name::Name;
    use crate::signature::DigestSigner;
    use proptest::prelude::*;
    use std::time::Duration;

    fn any_wire() -> impl Strategy<Value = Vec<u8>> {
        let name = prop::sample::select(vec!["/", "/a", "/a/b/%00%07", "/1=x/a"]);
        let content = prop::sample::select(vec![0, 1, 252, 253, 1_300]);
        (name, content, any::<bool>()).prop_map(|(name, content, has_meta)| {
            let name: Name = name.parse().unwrap_or_default();
            let mut data = DataBuilder::new(&name);
            if has_meta {
                data = data.content_type(ContentType::Key).freshness(Duration::from_secs(4));
            }
            data.build(&vec![7; content], &DigestSigner).wire().to_vec()
        })
    }

    proptest! {
        /// A byte of the wire is replaced, removed or added.
        #[test]
        fn plain_layout_decodes_as_any_other(
            wire in any_wire(),
            place in prop_oneof![0..24_usize, 0..1_400_usize],
            byte in prop_oneof![0..40_u8, any::<u8>()],
            change in 0..4_u8,
        ) {
            let mut wire = wire;
            crate::tlv::change(&mut wire, place, byte, change);
            let mut parts = Parts::default();
            let general = parts.read_any(&wire).map(|components| (parts, components));
            if let Some(plain) = read(&wire) {
                prop_assert_eq!(general.as_ref(), Ok(&plain));
            }
        }
    }

    #[test]
    fn built_data_has_the_plain_layout() {
        for bytes in [0, 252, 253, 8_000] {
            let name = "/a/b".parse().unwrap();
            let data = DataBuilder::new(&name);
            let data = data.freshness(Duration::from_secs(1)).build(&vec![1; bytes], &DigestSigner);
            let (parts, components) = read(&data.wire()).expect("the usual layout");
            assert_eq!((parts.content.range().len(), components), (bytes, 2));
        }
    }
}
