//! Input of `serve`: a file, standard input, the files of a folder.
//!
//! Content is read at an offset into a buffer that the caller owns, never mapped: mapped pages
//! count as memory, and a file that shrinks under a mapping kills the process.
mod error;
mod folder;
mod identifier;
mod snapshot;
mod spool;
pub(crate) mod state;

pub use error::{Change, SourceError};
pub use folder::{Directory, Folder, Found, Listed};
pub use snapshot::{SnapshotSource, Snapshots};
pub use spool::Spool;

pub(crate) use identifier::Identifiers;

use error::failed;
use recoup_transport::serve::{Identified, Identity, Source, SourceError as Ended};
use recoup_transport::time::{Duration, Instant};
use rustix::fs::OFlags;
use state::FileState;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Least time between two looks at where the name of a file leads.
const NAME_INTERVAL: Duration = Duration::from_millis(100);

/// A file in the state of its opening. Once it differs, every read is an error.
///
/// Bytes that were read may be used only after the next [`check`](Self::check); the module `state`
/// explains why that suffices.
#[derive(Debug)]
pub struct FileSource {
    path: PathBuf,
    file: File,
    opened: FileState,
    /// File type and permissions.
    mode: u32,
    /// A change of the file can no longer go unnoticed.
    is_settled: bool,
    name_checked: Option<Instant>,
    change: Option<Change>,
    identifiers: Option<Identifiers>,
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
        let (opened, mode) = (FileState::from(&metadata), metadata.mode());
        let this = Self {
            path,
            file,
            opened,
            mode,
            is_settled: false,
            name_checked: None,
            change: None,
            identifiers: None,
        };
        this.check_length()?;
        Ok(this)
    }

    /// The file, whose content is identified for consumers.
    pub(crate) fn identified_by(self, identifiers: &Identifiers) -> Self {
        Self { identifiers: Some(identifiers.clone()), ..self }
    }

    /// Checks that the content has the stated size. Files in `/proc` and `/sys` have other content than their size.
    fn check_length(&self) -> Result<(), SourceError> {
        let length = self.opened.length;
        let wrong = |error| failed("read", &self.path, error);
        let has_more = self.file.read_at(&mut [0], length).map_err(wrong)? > 0;
        let has_less = length > 0 && self.file.read_at(&mut [0], length - 1).map_err(wrong)? == 0;
        // A file that is written to now has changed.
        let is_settled = || {
            let state = self.file.metadata().map(|metadata| FileState::from(&metadata));
            state.is_ok_and(|state| state == self.opened)
        };
        match (has_more || has_less) && is_settled() {
            true => Err(SourceError::WrongSize { path: self.path.clone(), bytes: length }),
            false => Ok(()),
        }
    }

    /// File type and permissions as in `stat(2)`, as of its opening.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// When the file was last written, as of its opening.
    pub fn modified(&self) -> SystemTime {
        let nanos = u64::try_from(self.opened.modified).unwrap_or(0);
        let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanos));
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The file's time in microseconds since 1970, of which its version number is made; 0 for times before.
    pub fn version(&self) -> u64 {
        version_of(self.modified())
    }

    /// Reads `into.len()` bytes from `offset` on. They may be used after
    /// the next [`check`](Self::check).
    ///
    /// # Errors
    /// [`SourceError::Unsettled`] for some milliseconds after a change; [`SourceError::Changed`],
    /// from then on for every call; [`SourceError::OutOfRange`]; [`SourceError::Io`]. The buffer's
    /// content is undefined after an error.
    pub fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        if let Some(how) = self.change {
            return Err(self.changed(how));
        }
        within(offset, into, self.len())?;
        self.settle()?;
        match self.file.read_exact_at(into, offset) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.changed(Change::Shorter))
            }
            read => read.map_err(|error| failed("read", &self.path, error)),
        }
    }

    /// Looks whether the file is still in the state of its opening and, at most every 100 ms of
    /// `now`, whether its name still leads to it.
    ///
    /// # Errors
    /// [`SourceError::Changed`], [`SourceError::Io`].
    pub fn check(&mut self, now: Instant) -> Result<(), SourceError> {
        if let Some(how) = self.change {
            return Err(self.changed(how));
        }
        let metadata = self.file.metadata().map_err(|error| failed("read", &self.path, error))?;
        let state = FileState::from(&metadata);
        let is_due = self.name_checked.is_none_or(|last| now.since(last) >= NAME_INTERVAL);
        if state == self.opened && !is_due {
            return Ok(());
        }
        self.name_checked = Some(now);
        let written = (state != self.opened).then_some(Change::Written);
        let change = self.opened.length_change(state).or_else(|| self.name_change()).or(written);
        change.map_or(Ok(()), |how| Err(self.changed(how)))
    }

    /// Sees to it that no later change of the file goes unnoticed.
    fn settle(&mut self) -> Result<(), SourceError> {
        if !self.is_settled {
            if let Some(wait) = self.opened.unsettled_for(state::file_clock()) {
                return Err(SourceError::Unsettled { wait });
            }
            state::await_writers(&self.file);
            self.is_settled = true;
        }
        Ok(())
    }

    /// Whether the name leads elsewhere now. An unreadable folder counts as no change.
    fn name_change(&self) -> Option<Change> {
        match std::fs::metadata(&self.path) {
            Ok(there) if self.opened.is_same_file(FileState::from(&there)) => None,
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
        Self::read_at(self, offset, into).map_err(|error| error.ended(now))
    }

    fn check(&mut self, now: Instant) -> Result<(), Ended> {
        Self::check(self, now).map_err(|error| error.ended(now))
    }

    fn identity(&self) -> Identity {
        self.opened.identity()
    }

    fn identify(&mut self, now: Instant) -> Result<Identified, Ended> {
        let Some(identifiers) = self.identifiers.clone() else {
            return Ok(Identified::No);
        };
        identifiers.of(self, now).map_err(|error| error.ended(now))
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

    /// Reads when the file has settled, and checks.
    fn read(source: &mut FileSource, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        loop {
            match source.read_at(offset, into) {
                Err(SourceError::Unsettled { wait }) => std::thread::sleep(wait),
                other => return other.and_then(|()| source.check(NOW)),
            }
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
        read(&mut source, 6, &mut into).unwrap();
        assert_eq!(&into, b"6789");
        read(&mut source, 10, &mut []).unwrap();
        for offset in [7, 10, u64::MAX - 1, u64::MAX] {
            let error = source.read_at(offset, &mut into).unwrap_err();
            assert!(matches!(error, SourceError::OutOfRange { length: 10, .. }), "{error}");
        }
    }

    #[test]
    fn read_detects_a_truncated_file() {
        let (place, mut source) = Place::with("0123456789");
        fs::OpenOptions::new().write(true).open(place.path("f")).unwrap().set_len(5).unwrap();
        assert_eq!(how(read(&mut source, 4, &mut [0; 4])), Some(Change::Shorter));
        assert_eq!(how(source.read_at(0, &mut [0; 1])), Some(Change::Shorter));
    }

    #[test]
    fn every_kind_of_change_is_distinguished() {
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
            source.check(NOW).unwrap();
            act(&place);
            assert_eq!(how(source.check(NOW)), Some(expected));
            assert_eq!(how(source.read_at(0, &mut [0; 1])), Some(expected));
        }
    }

    #[test]
    fn write_with_its_time_put_back_is_noticed() {
        let (place, mut source) = Place::with("0123456789");
        read(&mut source, 0, &mut [0; 1]).unwrap();
        let file = fs::OpenOptions::new().write(true).open(place.path("f")).unwrap();
        file.write_all_at(b"X", 9).unwrap();
        file.set_modified(source.modified()).unwrap();
        assert_eq!(how(read(&mut source, 9, &mut [0; 1])), Some(Change::Written));
    }

    #[test]
    fn changed_file_is_read_after_it_has_settled() {
        let (place, mut source) = Place::with("0123456789");
        read(&mut source, 0, &mut [0; 1]).unwrap();
        fs::write(place.path("f"), "9876543210").unwrap();
        let mut source = FileSource::open(&place.path("f")).unwrap();
        let Err(SourceError::Unsettled { wait }) = source.read_at(0, &mut [0; 1]) else {
            panic!("it was read");
        };
        assert!(wait > Duration::ZERO && wait < Duration::from_millis(2_100), "{wait:?}");
        read(&mut source, 0, &mut [0; 1]).unwrap();
    }

    #[test]
    fn moved_folder_is_noticed_within_the_interval() {
        let (place, _) = Place::with("");
        fs::create_dir(place.path("a")).unwrap();
        fs::write(place.path("a/f"), "x").unwrap();
        let mut source = FileSource::open(&place.path("a/f")).unwrap();
        source.check(NOW).unwrap();
        fs::rename(place.path("a"), place.path("b")).unwrap();
        source.check(NOW + NAME_INTERVAL - Duration::from_nanos(1)).unwrap();
        let ended = Source::check(&mut source, NOW + NAME_INTERVAL);
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
