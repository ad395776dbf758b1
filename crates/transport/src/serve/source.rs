//! Content that is served, as the producer loop reads it.
use crate::time::Instant;
use recoup_packet::name::Name;
use std::fmt;

/// Why a source cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is not what it was when it was opened.
    #[error("it changed while it was served")]
    Changed,
    /// The operating system refused.
    #[error("it can no longer be read")]
    Unreadable,
    /// It changed so recently that another change could go unnoticed.
    #[error("it changed a moment ago")]
    Unsettled {
        /// When reading is worth another attempt.
        until: Instant,
    },
}

/// One state of the content behind a path. Two sources of equal identity have the same content;
/// two of different identity may have the same content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity(pub [u64; 4]);

/// Content of one version of one object.
pub trait Source: fmt::Debug {
    /// Its length in octets; never changes.
    fn len(&self) -> u64;

    /// There is no content.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with the content from `offset` on. The bytes may leave the producer only after
    /// the next [`check`](Self::check).
    ///
    /// # Errors
    /// [`SourceError`]; the content of `into` is undefined then.
    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError>;

    /// Whether all bytes that were read so far are of one content. Called once for each batch.
    ///
    /// # Errors
    /// [`SourceError::Changed`], [`SourceError::Unreadable`].
    fn check(&mut self, _now: Instant) -> Result<(), SourceError> {
        Ok(())
    }

    /// The state of the content when the source was opened. A source whose content is decided by
    /// path, version and length needs none.
    fn identity(&self) -> Identity {
        Identity::default()
    }
}

/// Zeros: content of which only the length matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zeros {
    /// Its length in octets.
    pub octets: u64,
}

impl Source for Zeros {
    fn len(&self) -> u64 {
        self.octets
    }

    fn read_at(&mut self, _: Instant, _: u64, into: &mut [u8]) -> Result<(), SourceError> {
        into.fill(0);
        Ok(())
    }
}

/// An object that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its content.
    pub source: Box<dyn Source>,
    /// Its version, or `None` where objects have no versions.
    pub version: Option<u64>,
    /// What stands between the object's path and its version, such as `32=ls` for a listing.
    pub suffix: Option<Name>,
    /// Time of its last change, in nanoseconds since 1970, for the metadata.
    pub mtime_ns: Option<u64>,
    /// File type and permissions as in `stat(2)`, for the metadata.
    pub mode: Option<u64>,
}

/// What there is to serve. A path is what follows the prefix: empty for a single file.
pub trait Library: fmt::Debug {
    /// Opens the latest version of the object at `path`, or `None` if there is no such object.
    fn open(&mut self, path: &Name) -> Option<Opened>;

    /// Whether a later number may stand for a version whose number was used for other content.
    /// Where it may not, the new content is not served.
    fn may_renumber(&self) -> bool {
        false
    }
}
