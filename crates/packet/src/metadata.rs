//! Metadata packets (RDR): latest version of an object, and its attributes.
//!
//! A consumer requests `/object/32=metadata` with CanBePrefix and MustBeFresh; the content begins
//! with the name of the latest version. Sources: the "Metadata" protocol (formerly RDR) of the NDN
//! packet specifications; further elements as in ndn6-file-server and ndnd.

use crate::name::convention::Convention;
use crate::name::{Component, Name};
use crate::object_id::ObjectId;
use crate::tlv::{self, DecodeError, Reader, Tlv, typ};
use bytes::{BufMut, Bytes};

const KEYWORD: &[u8] = b"metadata";

/// Name under which the metadata of `object` are found: `/object/32=metadata`.
#[must_use]
pub fn discovery_name(object: &Name) -> Name {
    object.append(Component::keyword(KEYWORD))
}

/// Name of a metadata packet: `/object/32=metadata/54=<version>/50=0`.
///
/// `version` is the version of the metadata packet, not of the object; it grows with each packet.
#[must_use]
pub fn packet_name(object: &Name, version: u64) -> Name {
    let last = [Component::keyword(KEYWORD), Component::version(version), Component::segment(0)];
    object.components().chain(last).collect()
}

/// Whether the name may be that of a metadata packet.
#[must_use]
pub fn is_packet_name(name: &Name) -> bool {
    let word = name.len().checked_sub(3).and_then(|at| name.get(at));
    word.is_some_and(|word| word.is_keyword(KEYWORD))
}

/// Content of a metadata packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Name of the latest version; segments have one component more.
    pub versioned: Name,
    /// Number of the last segment (FinalBlockId).
    pub final_block: Option<u64>,
    /// Bytes of content in each segment but the last.
    pub segment_size: Option<u64>,
    /// Bytes of the whole object.
    pub size: Option<u64>,
    /// Kind and permissions of a file, as `st_mode` of POSIX.
    pub mode: Option<u64>,
    /// Last access, in nanoseconds since 1970-01-01 UTC.
    pub atime_ns: Option<u64>,
    /// Creation, in nanoseconds since 1970-01-01 UTC.
    pub btime_ns: Option<u64>,
    /// Last change of the file's attributes, in nanoseconds since 1970-01-01 UTC.
    pub ctime_ns: Option<u64>,
    /// Last change of the file's content, in nanoseconds since 1970-01-01 UTC.
    pub mtime_ns: Option<u64>,
    /// Kind of object, as in ndnd.
    pub object_type: Option<Bytes>,
    /// The content of the object, which each of its segments states as well.
    pub object_id: Option<ObjectId>,
}

impl Metadata {
    /// Metadata with a name and no attribute.
    #[must_use]
    pub fn new(versioned: Name) -> Self {
        Self { versioned, ..Self::default() }
    }

    /// Decodes the content of a metadata packet, which the result shares.
    ///
    /// Elements after the name may have any order, and unknown ones are ignored.
    pub fn decode(content: Bytes) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(&content);
        let name = reader.expect(typ::NAME, "the name of a version")?;
        let mut metadata = Self::new(Name::share(&content, &name)?);
        while let Some(tlv) = reader.read()? {
            match tlv.typ {
                typ::FINAL_BLOCK_ID => metadata.final_block = final_block(&tlv)?,
                typ::OBJECT_TYPE => metadata.object_type = Some(content.slice(tlv.range())),
                typ::METADATA_OBJECT_ID => metadata.object_id = ObjectId::read(tlv.value),
                other => {
                    if let Some(number) = metadata.number_mut(other) {
                        *number = Some(tlv.number()?);
                    }
                }
            }
        }
        Ok(metadata)
    }

    fn number_mut(&mut self, typ: u64) -> Option<&mut Option<u64>> {
        Some(match typ {
            typ::SEGMENT_SIZE => &mut self.segment_size,
            typ::SIZE => &mut self.size,
            typ::MODE => &mut self.mode,
            typ::ATIME => &mut self.atime_ns,
            typ::BTIME => &mut self.btime_ns,
            typ::CTIME => &mut self.ctime_ns,
            typ::MTIME => &mut self.mtime_ns,
            _ => return None,
        })
    }

    /// Appends the content of a metadata packet.
    pub fn encode(&self, out: &mut impl BufMut) {
        self.versioned.encode(out);
        if let Some(last) = self.final_block {
            let component = Component::segment(last);
            tlv::put_header(out, typ::FINAL_BLOCK_ID, component.encoded_len());
            component.encode(out);
        }
        let numbers = [
            (typ::SEGMENT_SIZE, self.segment_size),
            (typ::SIZE, self.size),
            (typ::MODE, self.mode),
            (typ::ATIME, self.atime_ns),
            (typ::BTIME, self.btime_ns),
            (typ::CTIME, self.ctime_ns),
            (typ::MTIME, self.mtime_ns),
        ];
        for (typ, number) in numbers {
            if let Some(number) = number {
                tlv::put_nni_tlv(out, typ, number);
            }
        }
        if let Some(object_type) = &self.object_type {
            tlv::put_tlv(out, typ::OBJECT_TYPE, object_type);
        }
        if let Some(id) = &self.object_id {
            tlv::put_tlv(out, typ::METADATA_OBJECT_ID, id.bytes());
        }
    }

    /// [Encodes](Self::encode) the metadata into a new buffer.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::new();
        self.encode(&mut out);
        out.into()
    }
}

/// The segment in a FinalBlockId, in either convention; `None` for another component.
fn final_block(id: &Tlv<'_>) -> Result<Option<u64>, DecodeError> {
    let inner = id.reader().read()?.ok_or_else(|| id.error("a name component inside"))?;
    let typ = u16::try_from(inner.typ).map_err(|_| inner.error("a name component"))?;
    let component =
        Component::new(typ, inner.value).ok_or_else(|| inner.error("a name component"))?;
    let segment = |convention: Convention| convention.parse_segment(&component);
    Ok(segment(Convention::Typed).or_else(|| segment(Convention::Marker)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn metadata_of_other_producers_are_understood() {
        // The name alone (ndn-cxx, NDNts); FinalBlockId and size in any order, among unknown elements.
        let bare = [7, 6, 8, 1, b'f', 54, 1, 7];
        assert_eq!(
            Metadata::decode(Bytes::copy_from_slice(&bare)),
            Ok(Metadata::new(name("/f/v=7")))
        );
        let more = [&bare[..], &[0xfd, 0xf5, 2, 1, 9, 21, 1, 0, 26, 3, 50, 1, 4]].concat();
        let read = Metadata::decode(more.into()).unwrap();
        assert_eq!((read.size, read.final_block), (Some(9), Some(4)));
        let marker = [&bare[..], &[26, 4, 8, 2, 0, 4]].concat();
        assert_eq!(Metadata::decode(marker.into()).unwrap().final_block, Some(4));
        let text = [&bare[..], &[26, 3, 8, 1, b'x']].concat();
        assert_eq!(Metadata::decode(text.into()).unwrap().final_block, None);
    }

    #[test]
    fn content_that_is_no_metadata_is_an_error() {
        for content in [
            &b""[..],
            b"text",
            &[21, 0],
            &[7, 1, 8],
            &[7, 0, 26, 0],
            &[7, 0, 0xfd, 0xf5, 2, 3, 0, 0, 0],
        ] {
            assert!(Metadata::decode(Bytes::copy_from_slice(content)).is_err(), "{content:?}");
        }
    }

    #[test]
    fn metadata_stand_below_the_name_of_their_object() {
        let object = name("/a/b");
        assert_eq!(discovery_name(&object), name("/a/b/32=metadata"));
        assert_eq!(packet_name(&object, 5), name("/a/b/32=metadata/v=5/seg=0"));
        assert!(is_packet_name(&packet_name(&object, 5)) && !is_packet_name(&object));
    }
}
