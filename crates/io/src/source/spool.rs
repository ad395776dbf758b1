//! Standard input as something that can be read at any offset, again and again.
use super::error::failed;
use super::identifier::of_digest;
use super::{SourceError, version_of, within};
use recoup_packet::object_id::ObjectId;
use recoup_transport::serve::{Identified, Source, SourceError as Ended};
use recoup_transport::time::Instant;
use ring::digest::{Context, SHA256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes moved at once.
const CHUNK_BYTES: usize = 256 << 10;

/// Input kept in a file that has no name, so it is gone when the program ends, however it ends.
#[derive(Debug)]
pub struct Spool {
    file: File,
    folder: PathBuf,
    length: u64,
    read: SystemTime,
    id: ObjectId,
}

impl Spool {
    /// Default folder of spooled input: `TMPDIR`, or `/var/tmp`, which unlike `/tmp` is seldom in
    /// memory.
    pub fn default_folder() -> PathBuf {
        let variable = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty());
        variable.map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from)
    }

    /// Reads all of `input`, at most `limit` bytes, and keeps it in `folder`. After each piece, and
    /// after a signal, `go_on` receives the number of bytes so far; if it returns `false`, reading
    /// ends.
    ///
    /// # Errors
    /// [`SourceError::TooLong`], [`SourceError::NoRoom`], [`SourceError::BrokenOff`],
    /// [`SourceError::Io`]. Nothing is left behind.
    pub fn fill(
        input: &mut impl Read,
        folder: &Path,
        limit: u64,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<Self, SourceError> {
        let file = tempfile::tempfile_in(folder);
        let mut file = file.map_err(|error| failed("keep the input in", folder, error))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let (mut length, mut context) = (0, Context::new(&SHA256));
        loop {
            match next_piece(input, &mut chunk)? {
                Some([]) => break,
                Some(piece) => {
                    length += piece.len() as u64;
                    if length > limit {
                        return Err(SourceError::TooLong { limit });
                    }
                    context.update(piece);
                    file.write_all(piece).map_err(|error| unwritten(folder, length, error))?;
                }
                None => {}
            }
            if !go_on(length) {
                return Err(SourceError::BrokenOff);
            }
        }
        let (id, read) = (of_digest(context.finish().as_ref()), SystemTime::now());
        Ok(Self { file, folder: folder.to_owned(), length, read, id })
    }

    /// When the input had been read.
    pub fn modified(&self) -> SystemTime {
        self.read
    }

    /// Identifier of the content.
    pub(crate) fn id(&self) -> ObjectId {
        self.id
    }

    /// When the input had been read, in microseconds since 1970: the time in its version number.
    pub fn version(&self) -> u64 {
        version_of(self.read)
    }

    /// Reads `into.len()` bytes from `offset` on.
    ///
    /// # Errors
    /// [`SourceError::OutOfRange`], [`SourceError::Io`].
    pub fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        within(offset, into, self.length)?;
        let read = self.file.read_exact_at(into, offset);
        read.map_err(|error| failed("read the input kept in", &self.folder, error))
    }
}

impl Source for Spool {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), Ended> {
        Self::read_at(self, offset, into).map_err(|error| error.ended(now))
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, Ended> {
        Ok(Identified::ByContent(self.id))
    }
}

/// The next bytes, none at the end; `None` if a signal came first.
fn next_piece<'a>(
    input: &mut impl Read,
    chunk: &'a mut [u8],
) -> Result<Option<&'a [u8]>, SourceError> {
    match input.read(chunk) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(failed("read", Path::new("standard input"), error)),
        Ok(count) => Ok(Some(chunk.get(..count).unwrap_or_default())),
    }
}

fn unwritten(folder: &Path, bytes: u64, error: io::Error) -> SourceError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => {
            SourceError::NoRoom { folder: folder.to_owned(), bytes }
        }
        _ => failed("keep the input in", folder, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(input: &mut impl Read, limit: u64) -> Result<Spool, SourceError> {
        let folder = tempfile::tempdir().unwrap();
        Spool::fill(input, folder.path(), limit, |_| true)
    }

    #[test]
    fn spool_reads_at_any_offset_and_is_unnamed() {
        let folder = tempfile::tempdir().unwrap();
        let input: Vec<u8> = (0..700_000u32).map(|i| (i % 251) as u8).collect();
        let mut spool = Spool::fill(&mut &input[..], folder.path(), u64::MAX, |_| true).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(spool.len(), 700_000);
        let mut into = vec![0; 1000];
        spool.read_at(600_001, &mut into).unwrap();
        assert_eq!(into, input[600_001..601_001]);
        assert!(matches!(spool.read_at(699_001, &mut into), Err(SourceError::OutOfRange { .. })));
    }

    #[test]
    fn empty_input_is_an_empty_source() {
        assert!(fill(&mut io::empty(), 0).unwrap().is_empty());
    }

    #[test]
    fn endless_input_ends_at_the_limit() {
        let error = fill(&mut io::repeat(7), 1_000_000).unwrap_err();
        assert_eq!(error.to_string(), "the input is longer than 1000000 bytes");
        let folder = tempfile::tempdir().unwrap();
        let error = Spool::fill(&mut io::repeat(7), folder.path(), u64::MAX, |n| n < 1_000_000);
        assert!(matches!(error, Err(SourceError::BrokenOff)));
    }

    /// A signal interrupts every second read; the last read fails if requested.
    struct Bumpy(u32, bool);

    impl Read for Bumpy {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                11.. if self.1 => Err(io::ErrorKind::ConnectionReset.into()),
                11.. => Ok(0),
                n if n % 2 == 0 => Err(io::ErrorKind::Interrupted.into()),
                _ => {
                    into[..3].copy_from_slice(b"abc");
                    Ok(3)
                }
            }
        }
    }

    #[test]
    fn reading_survives_signals_but_not_errors() {
        assert_eq!(fill(&mut Bumpy(0, false), 100).unwrap().len(), 15);
        let error = fill(&mut Bumpy(0, true), 100).unwrap_err().to_string();
        assert!(error.starts_with("cannot read standard input"), "{error}");
    }

    #[test]
    fn full_disk_error_names_folder_and_remedy() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = unwritten(Path::new("/var/tmp"), 5, full).to_string();
        assert!(error.contains("/var/tmp") && error.contains("TMPDIR"), "{error}");
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let error = Spool::fill(&mut io::empty(), Path::new("/nowhere"), 1, |_| true).unwrap_err();
        assert!(error.to_string().contains("/nowhere"), "{error}");
    }
}
