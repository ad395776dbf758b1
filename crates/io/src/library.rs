//! Content that a producer serves from the file system: one file, or a folder with everything in
//! it.
//!
//! A folder answers for its files by their paths and, for itself and every folder below, by a
//! *listing* under the keyword component `ls`, in the form of the NDN-DPDK file server: the names in
//! the folder, each ended by a zero byte, those of folders with a `/` before it.
//!
//! Nothing outside the folder is served, whatever names and links contain, and no unfinished downloads
//! ([`is_reserved`](crate::part::is_reserved)). Hidden files and folders, whose names begin with a period, are served only by an option.
mod content;
mod failure;
mod folder;
mod left_out;
mod listing;

pub use folder::FolderLibrary;
pub use listing::{BadName, Entry, Listing, ListingError};

use crate::clock::unix_time;
use crate::source::{self, FileSource, Identifiers, Snapshots, Spool};
use bytes::Bytes;
use content::{MemorySource, SharedSpool};
use failure::{Failures, Watched};
use recoup_packet::denial::Denial;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::sha256;
pub use recoup_transport::serve::Version;
use recoup_transport::serve::{Library, Opened, version_number};
use recoup_transport::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Mode of content that is no file of the file system: a regular file that all may read, and its owner may change.
const READABLE: u64 = 0o100_644;

/// The version that a library offers of content that changed last at `modified`, in microseconds since 1970.
fn number(version: Version, modified: u64) -> Option<u64> {
    match version {
        Version::Modified => Some(modified),
        Version::Now => Some(version_number(unix_time().as_micros() as u64, None)),
        Version::Fixed(number) => Some(number),
        Version::None => None,
    }
}

/// The version of content that never changes.
fn lasting_number(version: Version, modified: u64, id: ObjectId) -> Option<u64> {
    match version {
        Version::Modified => Some(version_number(modified, Some(id))),
        _ => number(version, modified),
    }
}

/// The version of everything that a library serves from now on.
fn settled(version: Version) -> Version {
    match version {
        Version::Now => number(version, 0).map_or(version, Version::Fixed),
        _ => version,
    }
}

/// Content in memory, under the prefix itself.
#[derive(Debug)]
pub struct BytesLibrary {
    content: Bytes,
    micros: u64,
    version: Option<u64>,
}

impl BytesLibrary {
    /// Serves `content`, created at this time in microseconds after 1970.
    pub fn new(content: Bytes, version: Version, micros: u64) -> Self {
        let id = ObjectId::of_digest(&sha256(&content));
        Self { version: lasting_number(version, micros, id), content, micros }
    }
}

impl Library for BytesLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(MemorySource::new(self.content.clone())),
            version: self.version,
            suffix: None,
            mtime_ns: Some(self.micros.saturating_mul(1_000)),
            mode: Some(READABLE),
        })
    }
}

/// One file, under the prefix itself; reopened for each discovery of the latest version.
#[derive(Debug)]
pub struct FileLibrary {
    path: PathBuf,
    version: Version,
    snapshots: Option<Snapshots>,
    identifiers: Identifiers,
    failures: Failures,
}

impl FileLibrary {
    /// The file at `path`; served from `snapshots`, if there are any.
    ///
    /// # Errors
    /// If it cannot be read now, or has no room among the snapshots.
    pub fn new(
        path: &Path,
        version: Version,
        snapshots: Option<Snapshots>,
    ) -> Result<Self, source::SourceError> {
        let file = FileSource::open(path)?;
        snapshots.as_ref().map_or(Ok(()), |snapshots| snapshots.check(&file))?;
        let (path, version) = (path.to_owned(), settled(version));
        let (identifiers, failures) = (Identifiers::new(), Failures::default());
        Ok(Self { path, version, snapshots, identifiers, failures })
    }

    /// Calls `report` if the file can no longer be read: seldom, and not again and again for one reason.
    #[must_use]
    pub fn reporting(self, report: impl FnMut(&source::SourceError) + Send + 'static) -> Self {
        self.failures.set_report(Box::new(report));
        self
    }
}

impl Library for FileLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let file =
            self.failures.opened(FileSource::open(&self.path)).filter(|_| path.is_empty())?;
        let file = file.identified_by(&self.identifiers);
        Some(opened(file, self.version, self.snapshots.as_ref(), &self.failures))
    }

    fn failure(&self) -> Option<Denial> {
        self.failures.last()
    }

    fn may_renumber(&self) -> bool {
        self.version == Version::Modified
    }
}

/// Standard input, under the prefix itself.
#[derive(Debug)]
pub struct SpoolLibrary {
    spool: SharedSpool,
    modified: SystemTime,
    version: Option<u64>,
}

impl SpoolLibrary {
    /// Serves `spool`.
    pub fn new(spool: Spool, version: Version) -> Self {
        let modified = spool.modified();
        let version = lasting_number(version, spool.version(), spool.id());
        Self { spool: SharedSpool(Arc::new(Mutex::new(spool))), modified, version }
    }
}

impl Library for SpoolLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(self.spool.clone()),
            version: self.version,
            suffix: None,
            mtime_ns: Some(nanos(self.modified)),
            mode: Some(READABLE),
        })
    }
}

fn opened(
    file: FileSource,
    version: Version,
    snapshots: Option<&Snapshots>,
    failures: &Failures,
) -> Opened {
    Opened {
        version: number(version, file.version()),
        suffix: None,
        mtime_ns: Some(nanos(file.modified())),
        mode: Some(u64::from(file.mode())),
        source: match snapshots {
            Some(snapshots) => Box::new(snapshots.of(file)),
            None => Box::new(Watched { file, failures: failures.clone() }),
        },
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::name::Component;
    use recoup_transport::serve::SourceError;
    use recoup_transport::time::Instant;
    use std::fs;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn content(opened: &mut Opened) -> Vec<u8> {
        let mut into = vec![0; opened.source.len() as usize];
        read(opened, &mut into).unwrap();
        into
    }

    /// Reads when the source has settled, and checks.
    fn read(opened: &mut Opened, into: &mut [u8]) -> Result<(), SourceError> {
        loop {
            match opened.source.read_at(Instant::ZERO, 0, into) {
                Err(SourceError::Unsettled { until }) => {
                    std::thread::sleep(until.since(Instant::ZERO));
                }
                other => return other.and_then(|()| opened.source.check(Instant::ZERO)),
            }
        }
    }

    fn folder() -> (tempfile::TempDir, FolderLibrary) {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("root");
        fs::create_dir_all(root.join("inner")).unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        fs::write(root.join("a"), "alpha").unwrap();
        fs::write(root.join("inner/b"), "beta").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("leak")).unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("inner/b"), root.join("absolute")).unwrap();
        std::os::unix::fs::symlink("..", root.join("inner/circle")).unwrap();
        let library = FolderLibrary::new(&root, Version::Modified, None).unwrap();
        (outside, library)
    }

    #[test]
    fn a_folder_serves_its_files_by_their_paths() {
        let (_keep, mut library) = folder();
        assert_eq!(content(&mut library.open(&name("/a")).unwrap()), b"alpha");
        assert_eq!(content(&mut library.open(&name("/inner/b")).unwrap()), b"beta");
        assert_eq!(content(&mut library.open(&name("/link")).unwrap()), b"alpha");
        assert_eq!(content(&mut library.open(&name("/absolute")).unwrap()), b"beta");
        assert_eq!(content(&mut library.open(&name("/inner/circle/a")).unwrap()), b"alpha");
        assert!(library.open(&name("/c")).is_none());
    }

    #[test]
    fn nothing_outside_a_folder_is_served() {
        let (_keep, mut library) = folder();
        for asked in ["/leak", "/8=..", "/....", "/%2E%2E%2Fsecret", "/inner/..%2F..%2Fsecret"] {
            if let Ok(asked) = asked.parse::<Name>() {
                assert!(library.open(&asked).is_none(), "{asked}");
            }
        }
        let up =
            Name::root().append(Component::generic(b"..")).append(Component::generic(b"secret"));
        assert!(library.open(&up).is_none());
    }

    #[test]
    fn replaced_folder_is_served() {
        let (outside, mut library) = folder();
        let root = outside.path().join("root");
        fs::rename(&root, outside.path().join("before")).unwrap();
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "new").unwrap();
        assert_eq!(content(&mut library.open(&name("/a")).unwrap()), b"new");
        assert!(library.open(&name("/inner/b")).is_none());
    }

    #[test]
    fn link_that_replaces_the_root_is_not_followed() {
        for moved in ["up/root", "up"] {
            let outside = tempfile::tempdir().unwrap();
            let root = outside.path().join("up/root");
            fs::create_dir_all(&root).unwrap();
            fs::write(root.join("a"), "alpha").unwrap();
            let mut library = FolderLibrary::new(&root, Version::Modified, None).unwrap();
            assert!(library.open(&name("/a")).is_some());
            let (moved, away) = (outside.path().join(moved), outside.path().join("away"));
            fs::rename(&moved, &away).unwrap();
            std::os::unix::fs::symlink(&away, &moved).unwrap();
            assert!(root.join("a").exists());
            assert!(library.open(&name("/a")).is_none());
            assert!(library.open(&Name::root()).is_none());
        }
    }

    #[test]
    fn listing_names_all_entries() {
        let (_keep, mut library) = folder();
        let _socket = std::os::unix::net::UnixListener::bind(library.root.join("socket")).unwrap();
        let mut listing = library.open(&Name::root()).unwrap();
        assert_eq!(listing.suffix, Some(name("/32=ls")));
        let text = content(&mut listing);
        let entries: Vec<_> = Listing::new(text.clone()).unwrap().map(Result::unwrap).collect();
        let names: Vec<_> = entries.iter().map(|entry| &entry.name[..]).collect();
        assert_eq!(names, [&b"a"[..], b"absolute", b"inner", b"link"]);
        let folders: Vec<_> = entries.iter().map(|entry| entry.is_folder).collect();
        assert_eq!(folders, [false, false, true, false]);
        assert_eq!(content(&mut library.open(&name("/32=ls")).unwrap()), text);
    }

    #[test]
    fn hidden_entries_are_served_if_asked() {
        let (outside, library) = folder();
        let root = outside.path().join("root");
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "secret").unwrap();
        fs::write(root.join(".env"), "secret").unwrap();
        fs::write(root.join("inner/.x"), "secret").unwrap();
        let hidden =
            ["/.env", "/.git", "/.git/config", "/.git/32=ls", "/inner/.x", "/inner/circle/.env"];
        let mut library = library;
        for asked in hidden {
            assert!(library.open(&name(asked)).is_none(), "{asked}");
        }
        let text = content(&mut library.open(&name("/32=ls")).unwrap());
        assert!(!String::from_utf8_lossy(&text).contains(".env"));
        let mut library = library.with_hidden(true);
        for asked in hidden {
            assert!(library.open(&name(asked)).is_some(), "{asked}");
        }
        let text = content(&mut library.open(&name("/32=ls")).unwrap());
        assert!(text.starts_with(b".env\0.git/\0a\0"), "{text:?}");
    }

    #[test]
    fn entries_that_are_not_served_are_named() {
        let (outside, library) = folder();
        fs::write(outside.path().join("root/.env"), "secret").unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let mut library = library.noticing(move |line| sink.lock().unwrap().push(line.to_owned()));
        for _ in 0..2 {
            library.open(&name("/32=ls")).unwrap();
        }
        let lines = lines.lock().unwrap();
        let end = "root: .env (hidden), leak (a link to no file in the folder)";
        assert!(lines.len() == 1 && lines[0].ends_with(end), "{lines:?}");
    }

    /// A thread exchanges a folder for a link to a place outside, again and again.
    #[cfg(target_os = "linux")]
    #[test]
    fn listing_never_shows_a_folder_outside() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::sync::atomic::{AtomicBool, Ordering};
        let (outside, mut library) = folder();
        let (root, place) = (outside.path().join("root"), outside.path().join("place"));
        fs::create_dir(&place).unwrap();
        fs::write(place.join("hidden"), "x").unwrap();
        std::os::unix::fs::symlink(&place, root.join("swap")).unwrap();
        let done = AtomicBool::new(false);
        let (mut leaks, mut answers) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let (here, there) = (root.join("swap"), root.join("inner"));
                    renameat_with(CWD, &here, CWD, &there, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for _ in 0..listing_races() {
                if let Some(mut listing) = library.open(&name("/inner/32=ls")) {
                    answers += 1;
                    leaks += u32::from(content(&mut listing).starts_with(b"hidden"));
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(answers > 0, "the folder was never there");
        assert_eq!(leaks, 0, "of {answers} answers");
    }

    /// Number of listings requested; `RECOUP_LISTING_RACES` sets another.
    #[cfg(target_os = "linux")]
    fn listing_races() -> u32 {
        let variable = std::env::var("RECOUP_LISTING_RACES").ok();
        variable.and_then(|text| text.parse().ok()).unwrap_or(20_000)
    }

    #[test]
    fn a_file_is_opened_anew_for_each_question() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "before").unwrap();
        let mut library = FileLibrary::new(&path, Version::Fixed(7), None).unwrap();
        let mut first = library.open(&Name::root()).unwrap();
        assert_eq!((content(&mut first), first.version), (b"before".to_vec(), Some(7)));
        fs::write(&path, "").unwrap();
        assert_eq!(read(&mut first, &mut [0; 6]), Err(SourceError::Changed));
        assert!(library.open(&Name::root()).unwrap().source.is_empty());
        assert!(library.open(&name("/x")).is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn local_failure_is_no_absence_and_reported_once() {
        use std::sync::mpsc::channel;
        let (sender, reported) = channel();
        let library = FolderLibrary::new("/proc/self".as_ref(), Version::Modified, None).unwrap();
        let report = move |error: &source::SourceError| sender.send(error.to_string()).unwrap();
        let mut library = library.reporting(report);
        // Reading the first fails for root, too; the second has content and no size.
        for (asked, failure) in [
            ("/mem", Some(Denial::Unavailable)),
            ("/none", None),
            ("/status", Some(Denial::Unavailable)),
            ("/32=x", None),
            ("/mem", Some(Denial::Unavailable)),
            ("/mem/below", None),
        ] {
            assert!(library.open(&name(asked)).is_none(), "{asked}");
            assert_eq!(library.failure(), failure, "{asked}");
        }
        let reported: Vec<_> = reported.try_iter().collect();
        assert!(
            matches!(&reported[..], [mem, status]
            if mem.contains("mem") && status.contains("its size of 0 bytes")),
            "{reported:?}"
        );
    }

    #[test]
    fn reports_of_failures_are_limited() {
        let (failures, sent) = (Failures::default(), Arc::new(Mutex::new(0)));
        let count = Arc::clone(&sent);
        failures.set_report(Box::new(move |_| *count.lock().unwrap() += 1));
        for number in 0..1_000 {
            let path = PathBuf::from(format!("/f{number}"));
            let source = std::io::ErrorKind::PermissionDenied.into();
            let error = source::SourceError::Io { action: "open", path, source };
            assert!(failures.opened::<()>(Err(error)).is_none());
        }
        assert_eq!((*sent.lock().unwrap(), failures.last()), (16, Some(Denial::Forbidden)));
    }

    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(FileLibrary::new(&path, Version::None, None).is_err());
    }
}
