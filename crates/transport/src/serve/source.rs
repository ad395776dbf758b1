//! Interface to served content.
use crate::time::Instant;
use recoup_packet::denial::Denial;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use std::fmt;

/// Reason why a source cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source has changed since it was opened.
    #[error("it changed while it was served")]
    Changed,
    /// The operating system returned an error.
    #[error("it can no longer be read")]
    Unreadable,
    /// The source changed so recently that another change could go unnoticed.
    #[error("it changed a moment ago")]
    Unsettled {
        /// Time of the next useful attempt.
        until: Instant,
    },
}

/// One state of the content behind a path. Two sources of equal identity have the same content;
/// two of different identity may have the same content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity(pub [u64; 4]);

/// How a source identifies its content for consumers, across restarts of the producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identified {
    /// By nothing: path, version and length determine the content.
    No,
    /// By a digest of the content: equal content has an equal identifier, wherever it is served.
    ByContent(ObjectId),
    /// By the state of a file, which changes with each write; equal content may have several identifiers.
    ByState(ObjectId),
}

impl Identified {
    /// The identifier, if there is one.
    #[must_use]
    pub fn id(self) -> Option<ObjectId> {
        match self {
            Self::No => None,
            Self::ByContent(id) | Self::ByState(id) => Some(id),
        }
    }
}

/// Content of one version of one object.
pub trait Source: fmt::Debug {
    /// Length in bytes; constant.
    fn len(&self) -> u64;

    /// Whether the content is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with the content from `offset` on. The bytes may be sent only after the next
    /// [`check`](Self::check).
    ///
    /// # Errors
    /// [`SourceError`]; the content of `into` is undefined then.
    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError>;

    /// Checks that all bytes read so far are of one content. Called once for each batch.
    ///
    /// # Errors
    /// [`SourceError::Changed`], [`SourceError::Unreadable`].
    fn check(&mut self, _now: Instant) -> Result<(), SourceError> {
        Ok(())
    }

    /// State of the content when the source was opened. A source whose content is determined by path, version and
    /// length needs none.
    fn identity(&self) -> Identity {
        Identity::default()
    }

    /// Identifies the content. A long computation is done in parts: it returns [`SourceError::Unsettled`] until it is
    /// complete, also across sources of equal [identity](Self::identity).
    ///
    /// # Errors
    /// [`SourceError`].
    fn identify(&mut self, now: Instant) -> Result<Identified, SourceError>;
}

/// Zeros: content of a given length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zeros {
    /// Length in bytes.
    pub bytes: u64,
}

impl Source for Zeros {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_at(&mut self, _: Instant, _: u64, into: &mut [u8]) -> Result<(), SourceError> {
        into.fill(0);
        Ok(())
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::No)
    }
}

/// An opened object.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub source: Box<dyn Source>,
    /// Version, or `None` where objects have no versions; the time of the last change in microseconds since 1970, if
    /// the library [may renumber](Library::may_renumber).
    pub version: Option<u64>,
    /// Components between the object's path and its version, such as `32=ls` for a listing.
    pub suffix: Option<Name>,
    /// Time of its last change, in nanoseconds since 1970, for the metadata.
    pub mtime_ns: Option<u64>,
    /// File type and permissions as in `stat(2)`, for the metadata.
    pub mode: Option<u64>,
}

/// The served objects. A path is the part of a name after the prefix: empty for a single file.
pub trait Library: fmt::Debug {
    /// Opens the latest version of the object at `path`, or `None` if there is no such object.
    fn open(&mut self, path: &Name) -> Option<Opened>;

    /// Why the last [`open`](Self::open) returned `None`, if not because there is no such object.
    fn failure(&self) -> Option<Denial> {
        None
    }

    /// Whether versions are times. If so, the producer loop makes the number from the time and the identifier of the
    /// content ([`version_number`](super::version_number)). A higher number may then replace one that was used for other
    /// content. If versions are not times, the number stands, and other content is not served under it.
    fn may_renumber(&self) -> bool {
        false
    }
}
