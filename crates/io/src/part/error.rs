//! Errors of a resumable download, in words for its user.
use super::Identity;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A resumable download cannot begin, continue or end. Except where a variant states otherwise, the
/// `.part` file and its journal stay as they are, so the download can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A system call failed.
    #[error("cannot {action} {}: {}", path.display(), Explained(source))]
    Io {
        /// Attempted action, a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The target is there already and was not to be overwritten.
    #[error("{} exists already; choose another name, or overwrite it", path.display())]
    TargetExists {
        /// The target.
        path: PathBuf,
    },
    /// The target or its `.part` is a directory, a device or the like.
    #[error("{} is no regular file; without -o, content goes to standard output in order", path.display())]
    NotAFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// The target's name is that of a staging folder, or the target lies in one.
    #[error("{} lies where unfinished downloads are kept (.recoup- and the number of a user): choose another place", path.display())]
    Reserved {
        /// The target.
        path: PathBuf,
    },
    /// The staging folder is no folder, or another user can have put files into it.
    #[error("{} is not a folder of yours: move it away, or download into another folder", path.display())]
    NotPrivate {
        /// The staging folder.
        path: PathBuf,
    },
    /// Another file has taken the place of the one that was written.
    #[error("{} was replaced by another file while it was written", path.display())]
    Replaced {
        /// The `.part` file or the target.
        path: PathBuf,
    },
    /// An unfinished download is there and was not to be touched.
    #[error("{} holds {bytes} bytes of {found}; resume it, or remove it", path.display())]
    Unfinished {
        /// The `.part` file.
        path: PathBuf,
        /// Bytes that it holds.
        bytes: u64,
        /// The object that it is a part of.
        found: Box<Identity>,
    },
    /// The `.part` file belongs to another object, range or kind of verification.
    #[error(
        "{} holds a part of {found}, not of {wanted}; to begin anew, remove it",
        path.display()
    )]
    OtherContent {
        /// The `.part` file.
        path: PathBuf,
        /// Identity in the journal.
        found: Box<Identity>,
        /// Requested identity.
        wanted: Box<Identity>,
    },
    /// Another process writes the `.part` file.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The `.part` file.
        path: PathBuf,
    },
    /// The journal cannot be used.
    #[error(
        "cannot resume from {}: {reason}; to begin anew, remove it and the .part file",
        path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The rule that the journal breaks.
        reason: &'static str,
    },
    /// The identity cannot be written into a journal.
    #[error("cannot keep a journal: the name or the range of segments is not a valid one")]
    Identity,
    /// A segment that is not the last differs in length from the others.
    #[error(
        "segment {segment} has {length} bytes where all but the last have {expected}: \
         the producer does not cut the object evenly"
    )]
    SegmentSize {
        /// The segment.
        segment: u64,
        /// Its length in bytes.
        length: u64,
        /// The others' length in bytes.
        expected: u64,
    },
    /// A segment that is not the last is empty.
    #[error("segment {segment} is empty but not the last")]
    EmptySegment {
        /// The segment.
        segment: u64,
    },
    /// A segment outside the requested range, or beyond the object's end.
    #[error("segment {segment} lies outside the segments {first} to {}", Bound(*last))]
    OutOfRange {
        /// The segment.
        segment: u64,
        /// First segment of the range.
        first: u64,
        /// Last segment of the range, or last known one.
        last: Option<u64>,
    },
    /// The place of a segment exceeds what a file can have.
    #[error("segment {segment} would lie beyond the end of any file")]
    TooFar {
        /// The segment.
        segment: u64,
    },
    /// The end of the object lies before a received segment.
    #[error("the last segment is reported as {claimed}, but segment {seen} has arrived")]
    EndMoved {
        /// The end as last reported.
        claimed: u64,
        /// A later segment that is there.
        seen: u64,
    },
    /// The download was to be finished but is not complete.
    #[error("the download is not complete: {missing} segments are missing, the first is {first}")]
    Incomplete {
        /// Number of missing segments, a lower bound while the end is unknown.
        missing: u64,
        /// The first of them.
        first: u64,
    },
    /// Data that was written before could not be brought to the disk. The journal no longer
    /// advances: what arrived since is fetched again after a resume.
    #[error("earlier writes to {} failed: it can be resumed from its last journal", path.display())]
    Lost {
        /// The `.part` file.
        path: PathBuf,
    },
}

impl PartError {
    /// Whether the disk, or the user's share of it, is full.
    pub fn is_disk_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }
}

pub(super) fn failed(action: &'static str, path: &Path, source: io::Error) -> PartError {
    PartError::Io { action, path: path.to_owned(), source }
}

/// An error of the system and, where it is known, what to do about it.
struct Explained<'a>(&'a io::Error);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use io::ErrorKind as Kind;
        match self.0.kind() {
            Kind::StorageFull => f.write_str("the disk is full; make room, then try again"),
            Kind::QuotaExceeded => {
                f.write_str("your disk quota is used up; make room, then try again")
            }
            Kind::FileTooLarge => f.write_str("the file would exceed the allowed size of a file"),
            Kind::ReadOnlyFilesystem => f.write_str("the file system is read-only"),
            Kind::PermissionDenied => f.write_str("permission denied"),
            Kind::NotFound => f.write_str("there is no such file or folder"),
            Kind::IsADirectory => f.write_str("a folder has that name"),
            Kind::NotADirectory => f.write_str("its parent is not a folder"),
            _ => self.0.fmt(f),
        }
    }
}

struct Bound(Option<u64>);

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(last) => last.fmt(f),
            None => f.write_str("the end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: i32) -> PartError {
        failed("write", Path::new("f.part"), io::Error::from_raw_os_error(code))
    }

    #[test]
    fn system_errors_are_explained_and_distinguished() {
        let full = of(rustix::io::Errno::NOSPC.raw_os_error());
        assert!(full.is_disk_full());
        assert_eq!(
            full.to_string(),
            "cannot write f.part: the disk is full; make room, then try again"
        );
        assert!(of(rustix::io::Errno::DQUOT.raw_os_error()).is_disk_full());
        for code in [rustix::io::Errno::ACCESS, rustix::io::Errno::PERM, rustix::io::Errno::ROFS] {
            let error = of(code.raw_os_error());
            assert!(!error.is_disk_full(), "{error}");
        }
    }
}
