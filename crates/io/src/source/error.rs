//! Why content cannot be read for serving, in words for the user of `serve`.
use recoup_packet::denial::Denial;
use recoup_transport::serve::SourceError as Ended;
use recoup_transport::time::{Duration, Instant};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why content cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file is no longer what it was when it was opened: the version that is served has ended.
    #[error("{} changed while it was served ({how}): this version is no longer available", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// In what way.
        how: Change,
    },
    /// The file changed so recently that another change could go unnoticed.
    #[error("the file changed a moment ago")]
    Unsettled {
        /// How long to wait before the next attempt.
        wait: Duration,
    },
    /// A snapshot of the file would take more room than is allowed.
    #[error(
        "{} is not served: this file system makes no clones, and a copy of {bytes} bytes is more than \
         the {limit} bytes that --snapshot allows for copies at a time; write --snapshot=SIZE",
        path.display()
    )]
    NoSpaceForSnapshot {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        bytes: u64,
        /// Most bytes of copies at a time.
        limit: u64,
    },
    /// A snapshot gave way to another one.
    #[error("the snapshot gave way to the snapshot of another file")]
    Revoked,
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Attempted action, a verb.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A pipe, a device, or a folder where a file was expected.
    #[error("{} is no regular file; `-` serves what comes on standard input", path.display())]
    NotAFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// The content of a file is longer or shorter than its size.
    #[error(
        "{} is not served: its content does not end at its size of {bytes} bytes, as in /proc; \
         serve what `cat` prints, with `-` on standard input",
        path.display()
    )]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A read beyond the end.
    #[error("bytes {offset} to {end} were requested, but there are only {length}")]
    OutOfRange {
        /// First byte of the read.
        offset: u64,
        /// End of the read.
        end: u64,
        /// Length of the content in bytes.
        length: u64,
    },
    /// Standard input is longer than was allowed.
    #[error("the input is longer than {limit} bytes")]
    TooLong {
        /// How many bytes were allowed.
        limit: u64,
    },
    /// Standard input does not fit where it is kept meanwhile.
    #[error(
        "no space for the input in {} after {bytes} bytes; set TMPDIR to a folder on a larger disk",
        folder.display()
    )]
    NoRoom {
        /// Where it is kept.
        folder: PathBuf,
        /// How much of it had been read, in bytes.
        bytes: u64,
    },
    /// The reading of standard input was broken off on demand.
    #[error("reading the input was broken off")]
    BrokenOff,
    /// The path is empty, absolute, or has `..` in it.
    #[error("{} is no path inside the folder", path.display())]
    NotInside {
        /// The path.
        path: PathBuf,
    },
}

impl SourceError {
    /// The reason of an application Nack; `None` if there is no such content.
    pub(crate) fn denial(&self) -> Option<Denial> {
        use io::ErrorKind::{
            InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied,
        };
        match self {
            Self::NotAFile { .. } | Self::NotInside { .. } | Self::Changed { .. } => None,
            Self::Io { source, .. } => match source.kind() {
                NotFound | NotADirectory | InvalidFilename | InvalidInput => None,
                PermissionDenied => Some(Denial::Forbidden),
                // A circle of links; a socket.
                _ if matches!(Errno::from_io_error(source), Some(Errno::LOOP | Errno::NXIO)) => {
                    None
                }
                _ => Some(Denial::Unavailable),
            },
            _ => Some(Denial::Unavailable),
        }
    }

    /// The reason for the producer loop.
    pub(crate) fn ended(&self, now: Instant) -> Ended {
        match self {
            Self::Changed { .. } => Ended::Changed,
            Self::Unsettled { wait } => Ended::Unsettled { until: now + *wait },
            _ => Ended::Unreadable,
        }
    }
}

/// In what way a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The file is shorter.
    Shorter,
    /// The file is longer.
    Longer,
    /// The file was written to.
    Written,
    /// Another file has its name now.
    Replaced,
    /// The file was removed or renamed.
    Removed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shorter => "it became shorter",
            Self::Longer => "it became longer",
            Self::Written => "it was written to",
            Self::Replaced => "another file took its place",
            Self::Removed => "it was removed",
        })
    }
}

pub(super) fn failed(action: &'static str, path: &Path, source: io::Error) -> SourceError {
    SourceError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_absent_file_does_not_exist() {
        for (code, denial) in [
            (Errno::NOENT, None),
            (Errno::NOTDIR, None),
            (Errno::LOOP, None),
            (Errno::NXIO, None),
            (Errno::NAMETOOLONG, None),
            (Errno::ACCESS, Some(Denial::Forbidden)),
            (Errno::PERM, Some(Denial::Forbidden)),
            (Errno::MFILE, Some(Denial::Unavailable)),
            (Errno::NFILE, Some(Denial::Unavailable)),
            (Errno::IO, Some(Denial::Unavailable)),
            (Errno::NOMEM, Some(Denial::Unavailable)),
            (Errno::STALE, Some(Denial::Unavailable)),
        ] {
            assert_eq!(failed("open", Path::new("f"), code.into()).denial(), denial, "{code}");
        }
    }
}
