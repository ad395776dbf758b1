//! A folder into which a download is written: below it no link is followed.
//!
//! The folder itself is its user's choice and may be a link. Folders in it are opened from their parent's handle, component
//! by component, without following links. So a link that lies in the folder from before, such as `photos/2024 -> /etc`,
//! leads no file out of it.
use crate::part::StagingFolder;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, openat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A folder that is open for writing into it.
#[derive(Debug)]
pub struct TargetFolder {
    path: PathBuf,
    handle: File,
    /// Device and inode.
    identity: (u64, u64),
    /// The file was made for this download.
    is_new: bool,
    /// The open folder of unfinished downloads into it.
    staging: Mutex<Option<Arc<StagingFolder>>>,
    /// Its path without links, once that was looked for.
    canonical: OnceLock<Option<PathBuf>>,
}

/// Kind of a folder's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Nothing.
    Nothing,
    /// A regular file of that many bytes.
    File(u64),
    /// A folder.
    Folder,
}

/// Why nothing is written at a place.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A link lies there.
    #[error("{} is a link, and links in a folder are not followed", .0.display())]
    Link(PathBuf),
    /// A device, a socket or a pipe lies there, or a file where a folder belongs.
    #[error("{path} is in the way: it is no {expected}", path = .0.display(), expected = .1)]
    InTheWay(PathBuf, &'static str),
    /// The folder has another place than it had when it was opened.
    #[error("{} has been replaced during the download", .0.display())]
    Replaced(PathBuf),
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Attempted action, a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

impl TargetFolder {
    /// The folder at `path`, which is made if there is none; links on the way are followed.
    ///
    /// # Errors
    /// [`TargetError::Io`].
    pub fn open(path: &Path) -> Result<Self, TargetError> {
        let trouble = |source| failed("make the folder", path, source);
        let is_new = !path.exists();
        fs::create_dir_all(path).map_err(trouble)?;
        let handle = File::open(path).map_err(trouble)?;
        Self::of(path.to_owned(), handle, is_new)
    }

    fn of(path: PathBuf, handle: File, is_new: bool) -> Result<Self, TargetError> {
        let identity = handle.metadata().map(|it| identity(&it));
        let identity = identity.map_err(|error| failed("look at", &path, error))?;
        let (staging, canonical) = Default::default();
        Ok(Self { path, handle, identity, is_new, staging, canonical })
    }

    pub(crate) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// The open folder of unfinished downloads into it, if it is open.
    pub(crate) fn staging(&self) -> MutexGuard<'_, Option<Arc<StagingFolder>>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its path without links.
    pub(crate) fn canonical(&self) -> Option<&Path> {
        self.canonical.get_or_init(|| fs::canonicalize(&self.path).ok()).as_deref()
    }

    /// Takes permissions away that a folder with this `st_mode` does not have. A folder from before stays as it is, and the
    /// owner keeps all permissions.
    pub fn restrict(&self, mode: u64) {
        let Ok(there) = self.handle.metadata() else {
            return;
        };
        let kept = there.mode() & 0o777 & (mode & 0o777 | 0o700) as u32;
        if self.is_new && kept != there.mode() & 0o777 {
            // A file system without modes keeps its own.
            let _ = self.handle.set_permissions(Permissions::from_mode(kept));
        }
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder `name` in it, created if missing. `name` is one component of a path.
    ///
    /// # Errors
    /// [`TargetError::Link`], [`TargetError::InTheWay`], [`TargetError::Io`].
    pub fn enter(&self, name: &OsStr) -> Result<Self, TargetError> {
        let path = self.path.join(name);
        let is_new = match mkdirat(&self.handle, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(failed("make the folder", &path, error.into())),
        };
        if let Occupant::File(_) = self.occupant(name)? {
            return Err(TargetError::InTheWay(path, "folder"));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Self::of(path, File::from(handle), is_new),
            // It took the folder's place just now.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => Err(TargetError::Link(path)),
            Err(error) => Err(failed("open the folder", &path, error.into())),
        }
    }

    /// Kind of the entry `name`, which is one component of a path.
    ///
    /// # Errors
    /// [`TargetError::Link`], [`TargetError::InTheWay`], [`TargetError::Io`].
    pub fn occupant(&self, name: &OsStr) -> Result<Occupant, TargetError> {
        let path = || self.path.join(name);
        let found = match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(Occupant::Nothing),
            found => found.map_err(|error| failed("look at", &path(), error.into()))?,
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(Occupant::File(found.st_size.unsigned_abs())),
            FileType::Directory => Ok(Occupant::Folder),
            FileType::Symlink => Err(TargetError::Link(path())),
            _ => Err(TargetError::InTheWay(path(), "regular file")),
        }
    }

    /// Makes sure that its path still leads to it.
    ///
    /// # Errors
    /// [`TargetError::Replaced`], [`TargetError::Io`].
    pub fn check_place(&self) -> Result<(), TargetError> {
        let there = fs::metadata(&self.path);
        let there = there.map_err(|error| failed("look at", &self.path, error))?;
        if self.identity == identity(&there) {
            Ok(())
        } else {
            Err(TargetError::Replaced(self.path.clone()))
        }
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> TargetError {
    TargetError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// `out` beside `in`, which is opened and has a folder, a file and links in it.
    fn places() -> (tempfile::TempDir, TargetFolder) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("in/folder")).unwrap();
        fs::create_dir(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("in/file"), "12").unwrap();
        for (link, to) in [("out", "../out"), ("stray", "nowhere"), ("inner", "folder")] {
            symlink(to, dir.path().join("in").join(link)).unwrap();
        }
        symlink("in", dir.path().join("chosen")).unwrap();
        let folder = TargetFolder::open(&dir.path().join("chosen")).unwrap();
        (dir, folder)
    }

    #[test]
    fn links_below_a_target_are_rejected() {
        let (dir, folder) = places();
        for link in ["out", "stray", "inner"] {
            assert!(matches!(folder.enter(link.as_ref()), Err(TargetError::Link(_))), "{link}");
            assert!(matches!(folder.occupant(link.as_ref()), Err(TargetError::Link(_))), "{link}");
        }
        assert!(fs::read_dir(dir.path().join("out")).unwrap().next().is_none());
        assert!(!dir.path().join("in/nowhere").exists());
    }

    #[test]
    fn folders_are_entered_and_made() {
        let (dir, folder) = places();
        folder
            .enter("folder".as_ref())
            .unwrap()
            .enter("new".as_ref())
            .unwrap()
            .check_place()
            .unwrap();
        assert!(dir.path().join("in/folder/new").is_dir());
        assert_eq!(folder.occupant("folder".as_ref()).unwrap(), Occupant::Folder);
        assert_eq!(folder.occupant("file".as_ref()).unwrap(), Occupant::File(2));
        assert_eq!(folder.occupant("none".as_ref()).unwrap(), Occupant::Nothing);
        assert!(matches!(folder.enter("file".as_ref()), Err(TargetError::InTheWay(..))));
    }

    #[test]
    fn new_folder_is_as_private_as_its_source() {
        let (dir, folder) = places();
        let mode = |path: &str| dir.path().join(path).metadata().unwrap().mode() & 0o777;
        for (name, source, kept) in [("a", 0o40_700, 0o700), ("b", 0o41_050, 0o750)] {
            folder.enter(name.as_ref()).unwrap().restrict(source);
            let path = format!("in/{name}");
            assert_eq!(mode(&path) & !kept, 0, "{name}");
            assert_eq!(mode(&path) & 0o700, 0o700, "{name}");
        }
        let before = mode("in/folder");
        folder.enter("folder".as_ref()).unwrap().restrict(0o40_700);
        assert_eq!(mode("in/folder"), before);
    }

    #[test]
    fn replaced_folder_is_noticed() {
        let (dir, folder) = places();
        let inner = folder.enter("folder".as_ref()).unwrap();
        fs::rename(dir.path().join("in/folder"), dir.path().join("moved")).unwrap();
        assert!(inner.check_place().is_err());
        symlink("../out", dir.path().join("in/folder")).unwrap();
        assert!(matches!(inner.check_place(), Err(TargetError::Replaced(_))));
    }
}
