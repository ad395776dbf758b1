//! A folder with everything in it, and the listings of it.
use super::content::MemorySource;
use super::failure::Failures;
use super::left_out::{LeftOut, Notices};
use super::{Version, nanos, number, opened, settled};
use crate::part::is_reserved;
use crate::source::{self, Directory, Folder, Found, Identifiers, Listed, Snapshots};
use bytes::Bytes;
use recoup_packet::denial::Denial;
use recoup_packet::name::{Component, Name};
use recoup_transport::serve::{Library, Opened};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Type of a GenericNameComponent (NDN packet format 0.3, §2).
const GENERIC: u16 = 8;
/// Largest listing that is made, in bytes.
const MAX_LISTING_BYTES: usize = 16 << 20;

/// A folder with everything in it.
#[derive(Debug)]
pub struct FolderLibrary {
    /// Without links, as of the beginning.
    pub(super) root: PathBuf,
    version: Version,
    snapshots: Option<Snapshots>,
    identifiers: Identifiers,
    failures: Failures,
    serves_hidden: bool,
    left_out: Notices,
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
        let (version, identifiers) = (settled(version), Identifiers::new());
        let (failures, left_out) = (Failures::default(), Notices::default());
        Ok(Self { root, version, snapshots, identifiers, failures, serves_hidden: false, left_out })
    }

    /// Serves hidden files and folders, too.
    #[must_use]
    pub fn with_hidden(self, serves_hidden: bool) -> Self {
        Self { serves_hidden, ..self }
    }

    /// Calls `report` with a line about the entries of a folder that are not served, once for each folder that is listed.
    #[must_use]
    pub fn noticing(mut self, report: impl FnMut(&str) + Send + 'static) -> Self {
        self.left_out.set_report(Box::new(report));
        self
    }

    /// Calls `report` if a file or a folder in it cannot be read: seldom, and not again and again for one reason.
    #[must_use]
    pub fn reporting(self, report: impl FnMut(&source::SourceError) + Send + 'static) -> Self {
        self.failures.set_report(Box::new(report));
        self
    }

    /// The path that a name stands for, if what lies there may be served.
    fn relative(&self, name: &Name) -> Option<PathBuf> {
        let is_served = |path: &PathBuf| self.serves_hidden || !path.iter().any(is_hidden);
        relative(name).filter(is_served)
    }

    /// The entry at a path, if there is one and it can be read.
    fn find(&self, folder: &Folder, path: &Path) -> Option<Found> {
        self.failures.opened(folder.find(path))
    }

    fn open_listing(
        &mut self,
        folder: &Folder,
        directory: &Directory,
        suffix: Option<Name>,
    ) -> Option<Opened> {
        let metadata = directory.metadata();
        let mtime_ns = nanos(metadata.modified().ok()?);
        let failed = |source| source::SourceError::Io {
            action: "list the folder",
            path: self.root.join(directory.path()),
            source,
        };
        let listed = listing(folder, directory, self.serves_hidden).map_err(failed);
        let (listing, left_out) = self.failures.opened(listed)?;
        self.left_out.report(&self.root.join(directory.path()), &left_out);
        Some(Opened {
            source: Box::new(MemorySource::new(listing)),
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
        let folder = self.failures.opened(Folder::open_without_links(&self.root))?;
        if name.last().is_some_and(|last| last == ls) {
            return match self.find(&folder, &self.relative(&name.parent())?)? {
                Found::Directory(directory) => self.open_listing(&folder, &directory, None),
                Found::File(_) => None,
            };
        }
        match self.find(&folder, &self.relative(name)?)? {
            Found::Directory(directory) => {
                self.open_listing(&folder, &directory, Some(Name::root().append(ls)))
            }
            Found::File(file) => {
                let file = file.identified_by(&self.identifiers);
                Some(opened(file, self.version, self.snapshots.as_ref(), &self.failures))
            }
        }
    }

    fn failure(&self) -> Option<Denial> {
        self.failures.last()
    }

    fn may_renumber(&self) -> bool {
        self.version == Version::Modified
    }
}

/// Whether a file or folder of that name is hidden.
fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

/// The names in a directory in ascending order, and the entries that are left out, with their reasons.
fn listing(
    folder: &Folder,
    directory: &Directory,
    serves_hidden: bool,
) -> io::Result<(Bytes, LeftOut)> {
    let (mut names, mut left_out) = (Vec::new(), LeftOut::default());
    let mut bytes = 0;
    folder.list(directory, |name, kind| {
        if is_reserved(OsStr::from_bytes(name).as_ref()) {
            return Ok(());
        }
        let end: &[u8] = match kind {
            _ if !serves_hidden && is_hidden(OsStr::from_bytes(name)) => {
                left_out.add(name, "hidden");
                return Ok(());
            }
            Listed::LeftOut(why) => {
                left_out.add(name, why);
                return Ok(());
            }
            Listed::File => b"\0",
            Listed::Folder => b"/\0",
        };
        let name = [name, end].concat();
        bytes += name.len();
        names.push(name);
        if bytes > MAX_LISTING_BYTES { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    })?;
    names.sort_unstable();
    Ok((names.concat().into(), left_out))
}

/// The path that a name stands for, if every component can be the name of a file and none is reserved.
fn relative(name: &Name) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for component in name.components() {
        path.push(file_name(&component)?);
    }
    Some(path).filter(|path| !is_reserved(path))
}

pub(super) fn file_name<'a>(component: &'a Component<'_>) -> Option<&'a OsStr> {
    let bytes = component.value();
    let is_name = component.typ() == GENERIC
        && !matches!(bytes, b"" | b"." | b"..")
        && !bytes.iter().any(|byte| matches!(byte, b'/' | 0));
    is_name.then(|| OsStr::from_bytes(bytes))
}
