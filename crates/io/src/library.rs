//! Content that a producer serves from the file system: one file, or a folder with everything in
//! it.
//!
//! A folder answers for its files by their paths and, for itself and every folder below, by a
//! *listing* under the keyword component `ls`, in the form of the NDN-DPDK file server: the names in
//! the folder, each ended by a zero byte, those of folders with a `/` before it.
//!
//! Nothing outside the folder is served, whatever names and links contain, and no unfinished downloads
//! ([`is_reserved`]).
mod listing;

pub use listing::{BadName, Entry, Listing, ListingError};

use crate::clock::unix_time;
use crate::part::is_reserved;
use crate::source::{self, Directory, FileSource, Folder, Found, Snapshots, Spool};
use bytes::Bytes;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::sha256;
pub use recoup_transport::serve::Version;
use recoup_transport::serve::{Identity, Library, Opened, Source, SourceError};
use recoup_transport::time::{Duration, Instant};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Type of a GenericNameComponent (NDN packet format 0.3, §2).
const GENERIC: u16 = 8;
/// Largest listing that is made, in bytes.
const MAX_LISTING_BYTES: usize = 16 << 20;

/// The version of content that changed last at `modified`, in microseconds since 1970.
fn number(version: Version, modified: u64) -> Option<u64> {
    match version {
        Version::Modified => Some(modified),
        Version::Now => Some(unix_time().as_micros() as u64),
        Version::Fixed(number) => Some(number),
        Version::None => None,
    }
}

/// The version of everything that a library serves from now on.
fn settled(version: Version) -> Version {
    match version {
        Version::Now => number(version, 0).map_or(version, Version::Fixed),
        _ => version,
    }
}

/// A spool that outlives its library.
#[derive(Clone, Debug)]
struct SharedSpool(Arc<Mutex<Spool>>);

impl Source for SharedSpool {
    fn len(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let mut spool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Source::read_at(&mut *spool, now, offset, into)
    }
}

/// Content in memory.
#[derive(Debug)]
struct MemorySource {
    content: Bytes,
    digest: [u8; 32],
}

impl MemorySource {
    fn new(content: Bytes) -> Self {
        Self { digest: sha256(&content), content }
    }
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.content.len() as u64
    }

    fn read_at(&mut self, _now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let begin = usize::try_from(offset).map_err(|_| SourceError::Unreadable)?;
        let end = begin.checked_add(into.len()).ok_or(SourceError::Unreadable)?;
        into.copy_from_slice(self.content.get(begin..end).ok_or(SourceError::Unreadable)?);
        Ok(())
    }

    fn identity(&self) -> Identity {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(self.digest.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Identity(words)
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
        Self { content, micros, version: number(version, micros) }
    }
}

impl Library for BytesLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(MemorySource::new(self.content.clone())),
            version: self.version,
            suffix: None,
            mtime_ns: Some(self.micros.saturating_mul(1_000)),
            mode: None,
        })
    }
}

/// One file, under the prefix itself; reopened for each discovery of the latest version.
#[derive(Debug)]
pub struct FileLibrary {
    path: PathBuf,
    version: Version,
    snapshots: Option<Snapshots>,
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
        Ok(Self { path: path.to_owned(), version: settled(version), snapshots })
    }
}

impl Library for FileLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let file = FileSource::open(&self.path).ok().filter(|_| path.is_empty())?;
        Some(opened(file, self.version, self.snapshots.as_ref()))
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
        let (modified, version) = (spool.modified(), number(version, spool.version()));
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
            mode: None,
        })
    }
}

/// A folder with everything in it.
#[derive(Debug)]
pub struct FolderLibrary {
    /// Without links, as of the beginning.
    root: PathBuf,
    version: Version,
    snapshots: Option<Snapshots>,
}

impl FolderLibrary {
    /// The folder at `root`; its files are served from `snapshots`, if there are any.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn new(
        root: &Path,
        version: Version,
        snapshots: Option<Snapshots>,
    ) -> Result<Self, source::SourceError> {
        let failed = |source| source::SourceError::Io {
            action: "open the folder",
            path: root.to_owned(),
            source,
        };
        let root = fs::canonicalize(root).map_err(failed)?;
        Folder::open_without_links(&root)?;
        Ok(Self { root, version: settled(version), snapshots })
    }

    fn open_listing(
        &self,
        folder: &Folder,
        directory: &Directory,
        suffix: Option<Name>,
    ) -> Option<Opened> {
        let metadata = directory.metadata();
        let mtime_ns = nanos(metadata.modified().ok()?);
        Some(Opened {
            source: Box::new(MemorySource::new(listing(folder, directory).ok()?)),
            version: number(self.version, mtime_ns / 1_000),
            suffix,
            mtime_ns: Some(mtime_ns),
            mode: Some(u64::from(metadata.mode())),
        })
    }
}

impl Library for FolderLibrary {
    fn open(&mut self, name: &Name) -> Option<Opened> {
        let ls = Component::keyword(b"ls");
        // Another folder may have taken the place of the one that was there.
        let folder = Folder::open_without_links(&self.root).ok()?;
        if name.last().is_some_and(|last| last == ls) {
            return match folder.find(&relative(&name.parent())?).ok()? {
                Found::Directory(directory) => self.open_listing(&folder, &directory, None),
                Found::File(_) => None,
            };
        }
        match folder.find(&relative(name)?).ok()? {
            Found::Directory(directory) => {
                self.open_listing(&folder, &directory, Some(Name::root().append(ls)))
            }
            Found::File(file) => Some(opened(file, self.version, self.snapshots.as_ref())),
        }
    }

    fn may_renumber(&self) -> bool {
        self.version == Version::Modified
    }
}

/// The names in a directory in ascending order.
fn listing(folder: &Folder, directory: &Directory) -> io::Result<Bytes> {
    let mut names = Vec::new();
    let mut bytes = 0;
    folder.list(directory, |name, is_folder| {
        if is_reserved(OsStr::from_bytes(name).as_ref()) {
            return Ok(());
        }
        let mut name = name.to_vec();
        name.extend_from_slice(if is_folder { b"/\0" } else { b"\0" });
        bytes += name.len();
        names.push(name);
        if bytes > MAX_LISTING_BYTES { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    })?;
    names.sort_unstable();
    Ok(names.concat().into())
}

/// The path that a name stands for, if every component can be the name of a file and none is reserved.
fn relative(name: &Name) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in name.components() {
        path.push(file_name(&component)?);
    }
    Some(path).filter(|path| !is_reserved(path))
}

fn file_name<'a>(component: &'a Component<'_>) -> Option<&'a OsStr> {
    let bytes = component.value();
    let is_name = component.typ() == GENERIC
        && !matches!(bytes, b"" | b"." | b"..")
        && !bytes.iter().any(|byte| matches!(byte, b'/' | 0));
    is_name.then(|| OsStr::from_bytes(bytes))
}

fn opened(file: FileSource, version: Version, snapshots: Option<&Snapshots>) -> Opened {
    Opened {
        version: number(version, file.version()),
        suffix: None,
        mtime_ns: Some(nanos(file.modified())),
        mode: None,
        source: match snapshots {
            Some(snapshots) => Box::new(snapshots.of(file)),
            None => Box::new(file),
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

    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(FileLibrary::new(&path, Version::None, None).is_err());
    }
}
