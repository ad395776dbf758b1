//! What `serve` reads: a file, standard input, the files of a folder.
//!
//! Content is read at an offset into a buffer that the caller owns, never mapped: mapped pages
//! count as memory, and a file that shrinks under a mapping kills the process.
mod error;
mod folder;
mod spool;

pub use error::{Change, SourceError};
pub use folder::Folder;
pub use spool::Spool;

use error::failed;
use recoup_transport::serve::{Source, SourceError as Ended};
use recoup_transport::time::{Duration, Instant};
use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Least time between two full looks at whether a file has changed.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A file, as it was when it was opened. Once it differs, every read is an error.
#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    file: File,
    opened: Looks,
    checked: Option<Instant>,
    change: Option<Change>,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Looks {
    device: u64,
    inode: u64,
    length: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl From<&Metadata> for Looks {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Looks {
    fn change(self, now: Self) -> Option<Change> {
        use std::cmp::Ordering;
        match now.length.cmp(&self.length) {
            Ordering::Less => Some(Change::Shorter),
            Ordering::Greater => Some(Change::Longer),
            Ordering::Equal => (now.modified != self.modified).then_some(Change::Written),
        }
    }

    fn is_same_file(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl FileSource {
    /// Opens a regular file.
    ///
    /// # Errors
    /// [`SourceError::NotAFile`], [`SourceError::Io`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let opened = open_options().open(path);
        Self::new(path.to_owned(), opened.map_err(|error| failed("open", path, error))?)
    }

    /// `file` must be what is at `path`.
    fn new(path: PathBuf, file: File) -> Result<Self, SourceError> {
        let metadata = file.metadata().map_err(|error| failed("read", &path, error))?;
        if !metadata.is_file() {
            return Err(SourceError::NotAFile { path });
        }
        let opened = Looks::from(&metadata);
        Ok(Self { path, file, opened, checked: None, change: None })
    }

    /// When the file was last written, as of its opening.
    pub fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.opened.modified;
        let since = Duration::new(seconds.unsigned_abs(), u32::try_from(nanos).unwrap_or(0));
        let whole = if seconds < 0 { None } else { SystemTime::UNIX_EPOCH.checked_add(since) };
        whole.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Version number made from the file's time: microseconds since 1970 (NDN naming conventions,
    /// revision 3); 0 for times before.
    pub fn version(&self) -> u64 {
        version_of(self.modified())
    }

    /// Reads `into.len()` octets from `offset` on. Afterwards, and at most every 100 ms of `now`,
    /// looks whether the file is still the one that was opened: if so, what was read is right.
    ///
    /// # Errors
    /// [`SourceError::Changed`], from then on for every call; [`SourceError::OutOfRange`];
    /// [`SourceError::Io`]. The buffer's content is undefined after an error.
    pub fn read_at(
        &mut self,
        now: Instant,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), SourceError> {
        if let Some(how) = self.change {
            return Err(self.changed(how));
        }
        within(offset, into, self.len())?;
        match self.file.read_exact_at(into, offset) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.changed(Change::Shorter));
            }
            read => read.map_err(|error| failed("read", &self.path, error))?,
        }
        if self.checked.is_some_and(|checked| now.since(checked) < CHECK_INTERVAL) {
            return Ok(());
        }
        self.checked = Some(now);
        self.check()
    }

    /// Looks whether the file is still the one that was opened.
    ///
    /// # Errors
    /// [`SourceError::Changed`], [`SourceError::Io`].
    pub fn check(&mut self) -> Result<(), SourceError> {
        if let Some(how) = self.change {
            return Err(self.changed(how));
        }
        let own = self.file.metadata().map_err(|error| failed("read", &self.path, error))?;
        let change = self.opened.change(Looks::from(&own)).or_else(|| self.name_change());
        change.map_or(Ok(()), |how| Err(self.changed(how)))
    }

    /// Whether the name leads elsewhere now. A folder that can no longer be read tells nothing.
    fn name_change(&self) -> Option<Change> {
        match std::fs::metadata(&self.path) {
            Ok(there) if self.opened.is_same_file(Looks::from(&there)) => None,
            Ok(_) => Some(Change::Replaced),
            Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(Change::Removed),
        }
    }

    fn changed(&mut self, how: Change) -> SourceError {
        self.change = Some(how);
        SourceError::Changed { path: self.path.clone(), how }
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.opened.length
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), Ended> {
        Self::read_at(self, now, offset, into).map_err(|error| error.ended())
    }
}

/// Opens for reading and does not wait for the other end of a pipe.
fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    options
}

fn version_of(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn within(offset: u64, into: &[u8], length: u64) -> Result<(), SourceError> {
    let end = offset.saturating_add(into.len() as u64);
    if end > length {
        return Err(SourceError::OutOfRange { offset, end, length });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;

    const NOW: Instant = Instant::ZERO;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn with(content: &str) -> (Self, FileSource) {
            let place = Self { folder: tempfile::tempdir().unwrap() };
            fs::write(place.path("f"), content).unwrap();
            let source = FileSource::open(&place.path("f")).unwrap();
            (place, source)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    fn how(result: Result<(), SourceError>) -> Option<Change> {
        match result {
            Err(SourceError::Changed { how, .. }) => Some(how),
            _ => None,
        }
    }

    #[test]
    fn it_reads_any_part_and_nothing_beyond() {
        let (_place, mut source) = Place::with("0123456789");
        let mut into = [0; 4];
        source.read_at(NOW, 6, &mut into).unwrap();
        assert_eq!(&into, b"6789");
        source.read_at(NOW, 10, &mut []).unwrap();
        for offset in [7, 10, u64::MAX - 1, u64::MAX] {
            let error = source.read_at(NOW, offset, &mut into).unwrap_err();
            assert!(matches!(error, SourceError::OutOfRange { length: 10, .. }), "{error}");
        }
    }

    #[test]
    fn a_file_cut_short_is_noticed_by_the_read_itself_and_stays_changed() {
        let (place, mut source) = Place::with("0123456789");
        fs::OpenOptions::new().write(true).open(place.path("f")).unwrap().set_len(5).unwrap();
        assert_eq!(how(source.read_at(NOW, 4, &mut [0; 4])), Some(Change::Shorter));
        assert_eq!(how(source.read_at(NOW, 0, &mut [0; 1])), Some(Change::Shorter));
    }

    #[test]
    fn every_kind_of_change_is_told_apart() {
        type Act = fn(&Place);
        let acts: [(Act, Change); 4] = [
            (
                |place| {
                    let mut file =
                        fs::OpenOptions::new().append(true).open(place.path("f")).unwrap();
                    file.write_all(b"more").unwrap();
                },
                Change::Longer,
            ),
            (
                |place| {
                    let file = fs::OpenOptions::new().write(true).open(place.path("f")).unwrap();
                    file.write_all_at(b"X", 0).unwrap();
                    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
                },
                Change::Written,
            ),
            (
                |place| {
                    fs::write(place.path("g"), "0123456789").unwrap();
                    fs::rename(place.path("g"), place.path("f")).unwrap();
                },
                Change::Replaced,
            ),
            (|place| fs::remove_file(place.path("f")).unwrap(), Change::Removed),
        ];
        for (act, expected) in acts {
            let (place, mut source) = Place::with("0123456789");
            source.check().unwrap();
            act(&place);
            assert_eq!(how(source.check()), Some(expected));
            assert_eq!(how(source.read_at(NOW, 0, &mut [0; 1])), Some(expected));
        }
    }

    #[test]
    fn a_change_is_noticed_within_the_interval() {
        let (place, mut source) = Place::with("0123456789");
        source.read_at(NOW, 0, &mut [0; 1]).unwrap();
        fs::remove_file(place.path("f")).unwrap();
        let just_before = NOW + CHECK_INTERVAL - Duration::from_nanos(1);
        source.read_at(just_before, 0, &mut [0; 1]).unwrap();
        let ended = Source::read_at(&mut source, NOW + CHECK_INTERVAL, 0, &mut [0; 1]);
        assert_eq!(ended, Err(Ended::Changed));
    }

    #[test]
    fn folders_pipes_and_devices_are_no_sources() {
        let (place, _source) = Place::with("");
        let fifo = place.path("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        let mut paths = vec![place.path("."), PathBuf::from("/dev/zero")];
        paths.extend(made.is_ok_and(|status| status.success()).then_some(fifo));
        for path in paths {
            let error = FileSource::open(&path).unwrap_err();
            assert!(matches!(error, SourceError::NotAFile { .. }), "{error}");
        }
        let error = FileSource::open(&place.path("none")).unwrap_err().to_string();
        assert!(error.contains("cannot open") && error.contains("none"), "{error}");
    }

    #[test]
    fn the_version_is_the_files_time() {
        let (place, _) = Place::with("");
        let file = fs::OpenOptions::new().write(true).open(place.path("f")).unwrap();
        for (time, version) in [
            (SystemTime::UNIX_EPOCH + Duration::from_micros(1_234_567), 1_234_567),
            (SystemTime::UNIX_EPOCH - Duration::from_millis(1500), 0),
        ] {
            file.set_modified(time).unwrap();
            assert_eq!(FileSource::open(&place.path("f")).unwrap().version(), version);
        }
    }
}
