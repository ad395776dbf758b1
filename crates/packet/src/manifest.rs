//! Manifests: lists of digests that one signature covers.
//!
//! The digests of the segments from `250 k` on are the content of `<object>/32=manifest/50=<k>`, of content type Manifest: 32
//! bytes for each segment, the SHA-256 of its signed portion, which is also the value of its DigestSha256 signature.
//!
//! Eight manifests are a group. The first one, whose number is a multiple of eight, is signed by the key. It has the digests of
//! the others behind those of its segments, and the others have a DigestSha256 signature. Where the name leaves no space for
//! these digests in a packet, each manifest is signed by the key.
//!
//! Differences from FLIC (draft-irtf-icnrg-flic): lists are flat and found by name, digests are of the signed portion, which
//! a consumer computes anyway, and segments keep their names.

use crate::name::{Component, Name};

/// Segments of one manifest: their digests fill 8,000 bytes.
pub const SEGMENTS: u64 = 250;
/// Manifests of one group: the digests of all but the first fill 224 bytes.
pub const GROUP: u64 = 8;
/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 32;
/// Reason of the rejection of a manifest that lists other content than the segments that need it.
pub const OTHER_CONTENT: &str = "is a manifest of other content of the same name";
/// The keyword before the number of a manifest.
const WORD: &[u8] = b"manifest";

/// Name of the manifest with this number.
#[must_use]
pub fn name(object: &Name, number: u64) -> Name {
    object.append(Component::keyword(WORD)).append(Component::segment(number))
}

/// The object and the number in the name of a manifest.
#[must_use]
pub fn parse(name: &Name) -> Option<(Name, u64)> {
    let number = name.last()?.is_segment()?;
    let word_at = name.len().checked_sub(2)?;
    let is_manifest = name.get(word_at).is_some_and(|word| word.is_keyword(WORD));
    is_manifest.then(|| (name.prefix(word_at), number))
}

/// The object, as TLV-VALUE of its name, and the number in the name of a segment; `None` if the name is that of a manifest.
#[must_use]
pub fn parse_segment(name: &Name) -> Option<(&[u8], u64)> {
    let (object, last) = name.split_last()?;
    let segment = last.is_segment()?;
    // The object may end in a component whose value ends like the keyword.
    let is_manifest = object.ends_with(WORD) && parse(name).is_some();
    (!is_manifest).then_some((object, segment))
}

/// The number of a segment of `object`, as [`parse_segment`] finds it, if the name is that of one: most names are of the same
/// object as the name before.
#[must_use]
#[inline]
pub fn parse_segment_of(object: &[u8], name: &Name) -> Option<u64> {
    let segment = Component::segment_of(name.value().strip_prefix(object)?)?;
    // The name of a manifest, if the object ends in the keyword.
    (!object.ends_with(WORD)).then_some(segment)
}

/// Number of the first manifest of the group that a manifest belongs to.
#[must_use]
pub fn first_of_group(number: u64) -> u64 {
    number - number % GROUP
}

/// The digest of another manifest of its group in the content of a group's first manifest.
#[must_use]
pub fn digest_in_group(content: &[u8], number: u64) -> Option<&[u8]> {
    let place = SEGMENTS + (number % GROUP).checked_sub(1)?;
    let at = place as usize * DIGEST_BYTES;
    content.get(at..at + DIGEST_BYTES)
}

/// The digest of a segment in the content of its manifest.
#[must_use]
pub fn digest(content: &[u8], segment: u64) -> Option<&[u8]> {
    let at = (segment % SEGMENTS) as usize * DIGEST_BYTES;
    content.get(at..at + DIGEST_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_holds_object_and_number() {
        let object: Name = "/movie/v=1".parse().unwrap();
        let name = name(&object, 3);
        assert_eq!(name.to_string(), "/movie/v=1/32=manifest/seg=3");
        assert_eq!(parse(&name), Some((object.clone(), 3)));
        assert_eq!(parse_segment(&name), None);
        let segment = object.append(Component::segment(7));
        assert_eq!(parse_segment(&segment), Some((&object.value()[..], 7)));
        for other in ["/", "/seg=3", "/movie/seg=3", "/movie/32=manifest"] {
            assert_eq!(parse(&other.parse().unwrap()), None, "{other}");
        }
        for other in ["/", "/movie", "/movie/32=manifest"] {
            assert_eq!(parse_segment(&other.parse().unwrap()), None, "{other}");
        }
        for other in ["/manifest", "/%20%08manifest", "/32=a-manifest"] {
            let object: Name = other.parse().unwrap();
            let segment = object.append(Component::segment(7));
            assert_eq!(parse_segment(&segment), Some((&object.value()[..], 7)), "{other}");
        }
        assert_eq!(parse_segment_of(object.value(), &segment), Some(7));
        assert_eq!(parse_segment_of(&[], &segment), None);
        assert_eq!(parse_segment_of(object.value(), &object), None);
        assert_eq!(parse_segment_of(name.parent().value(), &name), None);
        let longer = segment.append(Component::segment(7));
        assert_eq!(parse_segment_of(object.value(), &longer), None);
    }

    #[test]
    fn each_segment_has_its_place() {
        let content: Vec<u8> = (0..3).flat_map(|byte| [byte; 32]).collect();
        assert_eq!(digest(&content, 252), Some(&[2; 32][..]));
        assert_eq!(digest(&content, 3), None);
    }

    #[test]
    fn first_of_a_group_lists_the_others() {
        let content: Vec<u8> = (0..257_u16).flat_map(|number| [number as u8; 32]).collect();
        assert_eq!(digest(&content, 249), Some(&[249; 32][..]));
        assert_eq!(digest_in_group(&content, 17), Some(&[250; 32][..]));
        assert_eq!(digest_in_group(&content, 23), Some(&[0; 32][..]));
        assert_eq!((digest_in_group(&content, 16), first_of_group(23)), (None, 16));
        assert_eq!(digest_in_group(&content[..8_000], 17), None);
    }
}
