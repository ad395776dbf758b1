//! Content to which the segments of a fetch belong.
//!
//! All segments of a fetch belong to one content. It is the one that the metadata name, or, without metadata, that of the
//! first accepted segment. A segment of another content is no answer, although its name, digest and signature are right: a
//! cache has kept it, or two producers use one name for two contents. Such a segment is treated as
//! a forged copy is, with the same limits. Its Interest is sent again with MustBeFresh, which passes by stale packets of
//! caches.
use recoup_packet::data::Data;
use recoup_packet::object_id::ObjectId;

/// Reason of the rejection of a packet that belongs to another content.
pub const OTHER_CONTENT: &str = "belongs to other content of the same name";

/// Identifier that the packets of the wanted content state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belonging {
    /// The identifier is not known yet: the first accepted segment decides.
    #[default]
    Unknown,
    /// The packets state this identifier, or none (producers that know no identifiers).
    Stated(Option<ObjectId>),
}

impl Belonging {
    /// Identifier of the content that metadata name. Producers that state no identifier there may state one in segments.
    pub(crate) fn of_metadata(id: Option<ObjectId>) -> Self {
        id.map_or(Self::Unknown, |id| Self::Stated(Some(id)))
    }

    /// The identifier, if it is known.
    #[must_use]
    pub fn id(self) -> Option<ObjectId> {
        match self {
            Self::Stated(id) => id,
            Self::Unknown => None,
        }
    }

    /// Whether the packet may be of the content.
    pub(crate) fn permits(self, data: &Data) -> bool {
        match self {
            Self::Unknown => true,
            Self::Stated(id) => id == data.object_id(),
        }
    }
}
