//! Snapshots: files are served from a clone or a copy, so that a change of the file neither ends
//! its version nor reaches its consumers.
//!
//! A snapshot is taken at the first read of a version. On file systems that share blocks (Btrfs,
//! XFS) it is a clone (`FICLONE`) in an unnamed file beside the original, without extra space.
//! Elsewhere the file is copied into an unnamed file, a piece at each attempt to read, while
//! Interests for it wait. If the original changes before the snapshot is complete, the version ends
//! as without snapshots.
//!
//! All copies together take at most a given room. If another copy needs room, the copies that were
//! not read for [`IDLE`] give way, the longest unread first, and their versions end.
use super::error::failed;
use super::{FileSource, SourceError};
use recoup_transport::serve::{Identified, Identity, Source, SourceError as Ended};
use recoup_transport::time::{Duration, Instant};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Bytes copied at one attempt to read.
const PIECE_BYTES: u64 = 256 << 10;
/// Time between two attempts.
const PACE: Duration = Duration::from_millis(1);
/// A copy that was read more recently does not give way.
const IDLE: Duration = Duration::from_secs(10);

/// Called for the first file that is not served because its copy has no room.
type Report = Box<dyn Fn(&SourceError) + Send + Sync>;

/// Takes snapshots and bounds the room of the copies among them.
#[derive(Clone)]
pub struct Snapshots {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where copies are kept.
    folder: PathBuf,
    /// Most bytes of copies.
    limit: u64,
    copies: Mutex<Vec<Weak<Copy>>>,
    report: Report,
    has_reported: AtomicBool,
}

/// An unnamed copy, and the room that it takes.
#[derive(Debug)]
struct Copy {
    file: File,
    bytes: u64,
    /// When it was last read, in nanoseconds of the run.
    read: AtomicU64,
    /// The space was reclaimed: the file is empty.
    is_revoked: AtomicBool,
}

/// A file as it was when it was opened, whatever becomes of it afterwards.
#[derive(Debug)]
pub struct SnapshotSource {
    original: FileSource,
    snapshots: Snapshots,
    taken: Taken,
}

#[derive(Debug)]
enum Taken {
    Nothing,
    /// The first so many bytes are copied.
    Partly(Arc<Copy>, u64),
    Copied(Arc<Copy>),
    Cloned(File),
}

impl Snapshots {
    /// Snapshots whose copies are kept in `folder` and take at most `limit` bytes together. `report`
    /// is called for the first file whose copy has no room.
    pub fn new(
        folder: PathBuf,
        limit: u64,
        report: impl Fn(&SourceError) + Send + Sync + 'static,
    ) -> Self {
        let (copies, has_reported) = (Mutex::default(), AtomicBool::new(false));
        let report = Box::new(report);
        Self { shared: Arc::new(Shared { folder, limit, copies, report, has_reported }) }
    }

    /// A source that serves `original` from a snapshot.
    pub fn of(&self, original: FileSource) -> SnapshotSource {
        SnapshotSource { original, snapshots: self.clone(), taken: Taken::Nothing }
    }

    /// Whether a snapshot of this file could be taken now.
    ///
    /// # Errors
    /// [`SourceError::NoSpaceForSnapshot`], [`SourceError::Io`].
    pub fn check(&self, original: &FileSource) -> Result<(), SourceError> {
        let is_possible = original.len() <= self.shared.limit || clone_of(original).is_ok();
        if is_possible { Ok(()) } else { Err(self.no_room(original)) }
    }

    fn no_room(&self, original: &FileSource) -> SourceError {
        let (path, bytes) = (original.path.clone(), original.len());
        SourceError::NoSpaceForSnapshot { path, bytes, limit: self.shared.limit }
    }

    /// An empty copy, after space for all of `original` was reserved.
    fn reserve(&self, now: Instant, original: &FileSource) -> Result<Arc<Copy>, SourceError> {
        let bytes = original.len();
        let mut copies = self.shared.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.retain(|copy| copy.upgrade().is_some_and(|copy| !copy.is_revoked()));
        let mut live: Vec<_> = copies.iter().filter_map(Weak::upgrade).collect();
        live.sort_by_key(|copy| copy.read.load(Ordering::Relaxed));
        let mut taken: u64 = live.iter().map(|copy| copy.bytes).sum();
        let mut idle = live.iter().filter(|copy| copy.is_idle(now));
        while taken.saturating_add(bytes) > self.shared.limit {
            let Some(copy) = idle.next() else {
                let error = self.no_room(original);
                if !self.shared.has_reported.swap(true, Ordering::Relaxed) {
                    (self.shared.report)(&error);
                }
                return Err(error);
            };
            copy.revoke();
            taken -= copy.bytes;
        }
        let folder = &self.shared.folder;
        let file = tempfile::tempfile_in(folder);
        let file = file.map_err(|error| failed("keep a copy in", folder, error))?;
        let (read, is_revoked) = (AtomicU64::new(now.as_nanos()), AtomicBool::new(false));
        let copy = Arc::new(Copy { file, bytes, read, is_revoked });
        copies.push(Arc::downgrade(&copy));
        Ok(copy)
    }
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").field("limit", &self.shared.limit).finish_non_exhaustive()
    }
}

impl Copy {
    fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Relaxed)
    }

    fn is_idle(&self, now: Instant) -> bool {
        now.since(Instant::from_nanos(self.read.load(Ordering::Relaxed))) >= IDLE
    }

    /// Gives its room back.
    fn revoke(&self) {
        self.is_revoked.store(true, Ordering::Relaxed);
        // If that fails, the room is given back when the source is dropped.
        let _ = self.file.set_len(0);
    }

    /// The file, unless it gave way.
    fn use_at(&self, now: Instant) -> Result<&File, SourceError> {
        if self.is_revoked() {
            return Err(SourceError::Revoked);
        }
        self.read.store(now.as_nanos(), Ordering::Relaxed);
        Ok(&self.file)
    }
}

impl SnapshotSource {
    /// Takes the next piece of the snapshot, unless it is complete.
    fn take(&mut self, now: Instant) -> Result<(), SourceError> {
        if matches!(self.taken, Taken::Nothing) {
            self.original.settle()?;
            if let Ok(clone) = clone_of(&self.original) {
                self.original.check(now)?;
                self.taken = Taken::Cloned(clone);
                return Ok(());
            }
            self.taken = Taken::Partly(self.snapshots.reserve(now, &self.original)?, 0);
        }
        let Taken::Partly(copy, copied) = &mut self.taken else {
            return Ok(());
        };
        let mut piece = vec![0; (copy.bytes - *copied).min(PIECE_BYTES) as usize];
        let to = copy.use_at(now)?;
        self.original.read_at(*copied, &mut piece)?;
        let folder = &self.snapshots.shared.folder;
        to.write_all_at(&piece, *copied)
            .map_err(|error| failed("keep a copy in", folder, error))?;
        *copied += piece.len() as u64;
        if *copied < copy.bytes {
            return Err(SourceError::Unsettled { wait: PACE });
        }
        self.original.check(now)?;
        self.taken = Taken::Copied(Arc::clone(copy));
        Ok(())
    }

    fn read(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        super::within(offset, into, self.original.len())?;
        self.take(now)?;
        let file = match &self.taken {
            Taken::Copied(copy) => copy.use_at(now)?,
            Taken::Cloned(clone) => clone,
            Taken::Nothing | Taken::Partly(..) => {
                return Err(SourceError::Unsettled { wait: PACE });
            }
        };
        let read = file.read_exact_at(into, offset);
        read.map_err(|error| failed("read the snapshot of", &self.original.path, error))
    }
}

impl Source for SnapshotSource {
    fn len(&self) -> u64 {
        self.original.len()
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), Ended> {
        self.read(now, offset, into).map_err(|error| error.ended(now))
    }

    fn check(&mut self, now: Instant) -> Result<(), Ended> {
        match &self.taken {
            Taken::Nothing | Taken::Partly(..) => Source::check(&mut self.original, now),
            Taken::Copied(copy) if copy.is_revoked() => Err(Ended::Unreadable),
            Taken::Copied(_) | Taken::Cloned(_) => Ok(()),
        }
    }

    fn identity(&self) -> Identity {
        self.original.identity()
    }

    fn identify(&mut self, now: Instant) -> Result<Identified, Ended> {
        self.original.identify(now)
    }
}

/// An unnamed file in the folder of the original that shares its blocks.
fn clone_of(original: &FileSource) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, OFlags, ioctl_ficlone, open};
        let folder = original.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let folder = folder.unwrap_or(std::path::Path::new("."));
        let clone = File::from(open(folder, flags, Mode::RUSR | Mode::WUSR)?);
        ioctl_ficlone(&clone, &original.file)?;
        Ok(clone)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = original;
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Place {
        folder: tempfile::TempDir,
        snapshots: Snapshots,
        reported: Arc<Mutex<Vec<String>>>,
        now: Instant,
    }

    impl Place {
        fn new(limit: u64) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let reported = Arc::new(Mutex::new(Vec::new()));
            let reports = Arc::clone(&reported);
            let report = move |error: &SourceError| reports.lock().unwrap().push(error.to_string());
            let snapshots = Snapshots::new(folder.path().to_owned(), limit, report);
            Self { folder, snapshots, reported, now: Instant::ZERO }
        }

        fn open(&self, name: &str, content: &[u8]) -> SnapshotSource {
            let path = self.folder.path().join(name);
            fs::write(&path, content).unwrap();
            self.snapshots.of(FileSource::open(&path).unwrap())
        }

        fn read(&mut self, source: &mut SnapshotSource) -> Result<Vec<u8>, Ended> {
            let mut into = vec![0; source.len() as usize];
            loop {
                match Source::read_at(source, self.now, 0, &mut into) {
                    Err(Ended::Unsettled { until }) => {
                        std::thread::sleep(until.since(self.now));
                        self.now = until;
                    }
                    read => return read.and_then(|()| source.check(self.now)).map(|()| into),
                }
            }
        }

        /// Whether the file system copies instead of cloning.
        fn copies(&self, source: &SnapshotSource) -> bool {
            clone_of(&source.original).is_err()
        }
    }

    #[test]
    fn snapshot_outlives_a_rewrite_and_a_removal() {
        let mut place = Place::new(1 << 20);
        for bytes in [0, 10, 256 << 10, 700_000] {
            let content = vec![7; bytes];
            let mut source = place.open("f", &content);
            assert_eq!(place.read(&mut source).unwrap(), content);
            fs::write(place.folder.path().join("f"), "other").unwrap();
            assert_eq!(place.read(&mut source).unwrap(), content);
            fs::remove_file(place.folder.path().join("f")).unwrap();
            assert_eq!(place.read(&mut source).unwrap(), content);
        }
        assert_eq!(fs::read_dir(place.folder.path()).unwrap().count(), 0, "nothing has a name");
    }

    #[test]
    fn change_before_the_snapshot_is_complete_ends_it() {
        let mut place = Place::new(1 << 20);
        let mut source = place.open("f", &[7; 700_000]);
        if !place.copies(&source) {
            return;
        }
        let first = loop {
            match source.read(place.now, 0, &mut [0]) {
                Err(SourceError::Unsettled { wait }) if wait != PACE => std::thread::sleep(wait),
                other => break other,
            }
        };
        assert!(matches!(first, Err(SourceError::Unsettled { .. })), "{first:?}");
        File::options()
            .write(true)
            .open(place.folder.path().join("f"))
            .unwrap()
            .write_all_at(b"x", 0)
            .unwrap();
        assert_eq!(place.read(&mut source), Err(Ended::Changed));
    }

    #[test]
    fn idle_copy_gives_way_and_fresh_does_not() {
        let mut place = Place::new(1_000);
        let mut first = place.open("a", &[1; 600]);
        if !place.copies(&first) {
            return;
        }
        assert!(place.read(&mut first).is_ok());
        let mut second = place.open("b", &[2; 600]);
        assert_eq!(place.read(&mut second), Err(Ended::Unreadable));
        assert_eq!(place.read(&mut second), Err(Ended::Unreadable));
        assert_eq!(place.reported.lock().unwrap().len(), 1, "reported once");
        assert!(place.reported.lock().unwrap()[0].contains("--snapshot=SIZE"));
        place.now += IDLE;
        assert_eq!(place.read(&mut second).unwrap(), [2; 600]);
        assert_eq!(place.read(&mut first), Err(Ended::Unreadable));
    }

    #[test]
    fn room_of_a_dropped_copy_is_free_again() {
        let mut place = Place::new(1_000);
        for _ in 0..3 {
            let mut source = place.open("a", &[1; 600]);
            assert!(place.read(&mut source).is_ok());
        }
    }

    #[test]
    fn file_larger_than_the_limit_is_rejected_early() {
        let place = Place::new(1_000);
        let source = place.open("a", &[1; 1_001]);
        if place.copies(&source) {
            let error = place.snapshots.check(&source.original).unwrap_err().to_string();
            assert!(error.contains("1001 bytes") && error.contains("1000 bytes"), "{error}");
        }
        let source = place.open("b", &[1; 1_000]);
        place.snapshots.check(&source.original).unwrap();
    }
}
