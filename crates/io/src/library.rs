//! What a producer serves from the file system: one file, or a folder with everything in it.
//!
//! A folder answers for its files by their paths and, for itself and every folder below, by a
//! *listing* under the keyword component `ls`, in the form of the NDN-DPDK file server: the names in
//! it, each ended by a zero octet, those of folders with a `/` before it.
//!
//! Nothing outside the folder is served, whatever the names ask for or its links point to.
use crate::source::{self, FileSource, Folder, Spool};
use bytes::Bytes;
use recoup_packet::name::{Component, Name};
use recoup_transport::serve::{Library, Opened, Source, SourceError};
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
/// Largest listing that is made, in octets.
const MAX_LISTING_BYTES: usize = 16 << 20;

/// Where version numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// From the time of the last change, in microseconds since 1970.
    Modified,
    /// This number.
    Fixed(u64),
    /// There are none.
    None,
}

impl Version {
    fn or(self, modified: u64) -> Option<u64> {
        match self {
            Self::Modified => Some(modified),
            Self::Fixed(number) => Some(number),
            Self::None => None,
        }
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
struct MemorySource(Bytes);

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&mut self, _now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let begin = usize::try_from(offset).map_err(|_| SourceError::Unreadable)?;
        let end = begin.checked_add(into.len()).ok_or(SourceError::Unreadable)?;
        into.copy_from_slice(self.0.get(begin..end).ok_or(SourceError::Unreadable)?);
        Ok(())
    }
}

/// One file, under the prefix itself; opened anew when somebody asks for the latest version.
#[derive(Debug)]
pub struct FileLibrary {
    path: PathBuf,
    version: Version,
}

impl FileLibrary {
    /// The file at `path`.
    ///
    /// # Errors
    /// If it cannot be read now.
    pub fn new(path: &Path, version: Version) -> Result<Self, source::SourceError> {
        FileSource::open(path)?;
        Ok(Self { path: path.to_owned(), version })
    }
}

impl Library for FileLibrary {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let file = FileSource::open(&self.path).ok().filter(|_| path.is_empty())?;
        Some(opened(file, self.version))
    }
}

/// What was read from standard input, under the prefix itself.
#[derive(Debug)]
pub struct SpoolLibrary {
    spool: SharedSpool,
    modified: SystemTime,
    version: Option<u64>,
}

impl SpoolLibrary {
    /// That input.
    pub fn new(spool: Spool, version: Version) -> Self {
        let (modified, version) = (spool.modified(), version.or(spool.version()));
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
    /// Without links, so that a path can be seen to lie below it.
    root: PathBuf,
    version: Version,
}

impl FolderLibrary {
    /// The folder at `root`.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn new(root: &Path, version: Version) -> Result<Self, source::SourceError> {
        Folder::open(root)?;
        let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        Ok(Self { root, version })
    }

    /// What a path below the root leads to, without links; `None` if that is not below the root.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let found = fs::canonicalize(self.root.join(path)).ok()?;
        found.starts_with(&self.root).then_some(found)
    }

    /// The names in a folder in ascending order. Links count as the files that they lead to; links
    /// to folders, which can lead in circles, to places outside, and what is neither file nor
    /// folder are left out.
    fn listing(&self, folder: &Path) -> io::Result<Bytes> {
        let mut names = Vec::new();
        let mut bytes = 0;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Some(is_folder) = self.is_folder(&entry) else {
                continue;
            };
            let mut name = entry.file_name().as_bytes().to_vec();
            name.extend_from_slice(if is_folder { b"/\0" } else { b"\0" });
            bytes += name.len();
            if bytes > MAX_LISTING_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            names.push(name);
        }
        names.sort_unstable();
        Ok(names.concat().into())
    }

    /// Whether an entry is a folder or a file; `None` if it is not served.
    fn is_folder(&self, entry: &fs::DirEntry) -> Option<bool> {
        let kind = entry.file_type().ok()?;
        if !kind.is_symlink() {
            return (kind.is_dir() || kind.is_file()).then_some(kind.is_dir());
        }
        let target = fs::canonicalize(entry.path()).ok()?;
        (target.starts_with(&self.root) && target.is_file()).then_some(false)
    }

    fn open_listing(&self, folder: &Path, suffix: Option<Name>) -> Option<Opened> {
        let metadata = fs::metadata(folder).ok()?;
        let mtime_ns = nanos(metadata.modified().ok()?);
        Some(Opened {
            source: Box::new(MemorySource(self.listing(folder).ok()?)),
            version: self.version.or(mtime_ns / 1_000),
            suffix,
            mtime_ns: Some(mtime_ns),
            mode: Some(u64::from(metadata.mode())),
        })
    }
}

impl Library for FolderLibrary {
    fn open(&mut self, name: &Name) -> Option<Opened> {
        let ls = Component::keyword(b"ls");
        if name.last().is_some_and(|last| last == ls) {
            let folder = self.below(&relative(&name.parent())?)?;
            return self.open_listing(&folder, None);
        }
        let found = self.below(&relative(name)?)?;
        if found.is_dir() {
            return self.open_listing(&found, Some(Name::root().append(ls)));
        }
        let path = found.strip_prefix(&self.root).ok()?;
        // Another folder may have taken the place of the one that was there.
        let folder = Folder::open(&self.root).ok()?;
        Some(opened(folder.source(path).ok()?, self.version))
    }
}

/// The path that a name stands for, if every component can be the name of a file.
fn relative(name: &Name) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in name.components() {
        path.push(file_name(&component)?);
    }
    Some(path)
}

fn file_name<'a>(component: &'a Component<'_>) -> Option<&'a OsStr> {
    let octets = component.value();
    let is_name = component.typ() == GENERIC
        && !matches!(octets, b"" | b"." | b"..")
        && !octets.iter().any(|octet| matches!(octet, b'/' | 0));
    is_name.then(|| OsStr::from_bytes(octets))
}

fn opened(file: FileSource, version: Version) -> Opened {
    Opened {
        version: version.or(file.version()),
        suffix: None,
        mtime_ns: Some(nanos(file.modified())),
        mode: None,
        source: Box::new(file),
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name: one component of a path, safe to be joined to one.
    pub name: Vec<u8>,
    /// It is a folder.
    pub is_folder: bool,
}

/// Reads a listing; `None` if a name in it is not that of a file. Whoever wrote it is not trusted:
/// no name in it leads out of a folder.
pub fn read_listing(content: &[u8]) -> Option<Vec<Entry>> {
    let entries = content.split(|octet| *octet == 0).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (name, is_folder) = match entry.strip_suffix(b"/") {
                Some(name) => (name, true),
                None => (entry, false),
            };
            file_name(&Component::generic(name))?;
            Some(Entry { name: name.to_vec(), is_folder })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    fn content(opened: &mut Opened) -> Vec<u8> {
        let mut into = vec![0; opened.source.len() as usize];
        opened.source.read_at(Instant::ZERO, 0, &mut into).unwrap();
        into
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
        let library = FolderLibrary::new(&root, Version::Modified).unwrap();
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
    fn a_folder_that_takes_the_place_of_another_is_served() {
        let (outside, mut library) = folder();
        let root = outside.path().join("root");
        fs::rename(&root, outside.path().join("before")).unwrap();
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a"), "new").unwrap();
        assert_eq!(content(&mut library.open(&name("/a")).unwrap()), b"new");
        assert!(library.open(&name("/inner/b")).is_none());
    }

    #[test]
    fn a_listing_names_what_is_there() {
        let (_keep, mut library) = folder();
        let _socket = std::os::unix::net::UnixListener::bind(library.root.join("socket")).unwrap();
        let mut listing = library.open(&Name::root()).unwrap();
        assert_eq!(listing.suffix, Some(name("/32=ls")));
        let text = content(&mut listing);
        let entries = read_listing(&text).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_slice()).collect();
        assert_eq!(names, [&b"a"[..], b"absolute", b"inner", b"link"]);
        let folders: Vec<_> = entries.iter().map(|entry| entry.is_folder).collect();
        assert_eq!(folders, [false, false, true, false]);
        assert_eq!(content(&mut library.open(&name("/32=ls")).unwrap()), text);
    }

    #[test]
    fn a_listing_that_leads_out_of_a_folder_is_refused() {
        for listing in [&b"../x\0"[..], b"..\0", b".\0", b"a/b\0", b"/\0", b"/etc/\0"] {
            assert_eq!(read_listing(listing), None);
        }
        assert_eq!(read_listing(b""), Some(Vec::new()));
    }

    #[test]
    fn a_file_is_opened_anew_for_each_question() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "before").unwrap();
        let mut library = FileLibrary::new(&path, Version::Fixed(7)).unwrap();
        let mut first = library.open(&Name::root()).unwrap();
        assert_eq!((content(&mut first), first.version), (b"before".to_vec(), Some(7)));
        fs::write(&path, "").unwrap();
        let read = first.source.read_at(Instant::ZERO, 0, &mut [0; 6]);
        assert_eq!(read, Err(SourceError::Changed));
        assert!(library.open(&Name::root()).unwrap().source.is_empty());
        assert!(library.open(&name("/x")).is_none());
    }

    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(FileLibrary::new(&path, Version::None).is_err());
    }
}
