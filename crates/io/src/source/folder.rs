//! A folder that is served: what is in it, and nothing that is not.
//!
//! Symbolic links are followed only to files inside the folder. The kernel resolves a path when it
//! is opened (`openat2` with `RESOLVE_BENEATH`), so a link that appears between listing and opening
//! leads nowhere either. A folder is listed through the handle that was opened, not by its path.
//!
//! Where the kernel has no `openat2`, links are resolved first, and the path without links is opened
//! component by component; a component that has become a link meanwhile is not followed.
use super::error::failed;
use super::{FileSource, SourceError, open_options};
use rustix::fs::{Dir, FileType, Mode, OFlags, openat, statat};
use std::ffi::{CStr, OsStr};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// A folder whose files are served.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    handle: File,
}

/// Entry at a path of a folder.
#[derive(Debug)]
pub enum Found {
    /// A regular file.
    File(FileSource),
    /// The folder itself, or one in it.
    Directory(Directory),
}

/// Kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A file, or a link to one.
    File,
    /// A folder.
    Folder,
    /// The entry is not served, for this reason.
    LeftOut(&'static str),
}

/// An open directory of a folder.
#[derive(Debug)]
pub struct Directory {
    /// Below the root of its folder.
    path: PathBuf,
    handle: File,
    metadata: Metadata,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// [`SourceError::Io`], also if it is no folder.
    pub fn open(root: &Path) -> Result<Self, SourceError> {
        let trouble = |error| failed("open the folder", root, error);
        let handle = open_options().open(root).map_err(trouble)?;
        if !handle.metadata().map_err(trouble)?.is_dir() {
            return Err(trouble(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { root: root.to_owned(), handle })
    }

    /// Opens a folder by its absolute path, in which no component may be a link (any more).
    ///
    /// # Errors
    /// [`SourceError::Io`], also if it is no folder, or if a component is a link.
    pub fn open_without_links(root: &Path) -> Result<Self, SourceError> {
        let trouble = |error| failed("open the folder", root, error);
        let below = root.strip_prefix("/").map_err(|_| trouble(io::ErrorKind::NotFound.into()))?;
        let top = Self::open(Path::new("/"))?;
        let flags = READ | OFlags::DIRECTORY;
        let handle = top.open_step_by_step(below, flags).map_err(trouble)?;
        Ok(Self { root: root.to_owned(), handle })
    }

    /// Opens a file or a directory by its path below the folder; an empty path is the folder itself.
    ///
    /// # Errors
    /// [`SourceError::NotInside`], also for a link that leads outside; [`SourceError::NotAFile`];
    /// [`SourceError::Io`].
    pub fn find(&self, path: &Path) -> Result<Found, SourceError> {
        let ordinary = |component| matches!(component, Component::Normal(_));
        let whole = self.root.join(path);
        let trouble = |error: io::Error| match error.kind() {
            io::ErrorKind::CrossesDevices => SourceError::NotInside { path: path.to_owned() },
            _ => failed("open", &whole, error),
        };
        if !path.components().all(ordinary) {
            return Err(trouble(io::ErrorKind::CrossesDevices.into()));
        }
        let below = self.resolve(path).map_err(trouble)?;
        let handle = self.open_beneath(&below, READ).map_err(trouble)?;
        let metadata = handle.metadata().map_err(trouble)?;
        if metadata.is_dir() {
            return Ok(Found::Directory(Directory { path: below, handle, metadata }));
        }
        FileSource::new(self.root.join(below), handle).map(Found::File)
    }

    /// Calls `each` with the name of each entry of a directory and its kind. Links count as the files that they lead to;
    /// links to folders, which can lead in circles, to places outside, and what is neither file nor folder are
    /// [left out](Listed::LeftOut).
    ///
    /// # Errors
    /// Those of the system, and of `each`.
    pub fn list(
        &self,
        directory: &Directory,
        mut each: impl FnMut(&[u8], Listed) -> io::Result<()>,
    ) -> io::Result<()> {
        for entry in Dir::read_from(&directory.handle)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => kind_of(directory, name),
                known => known,
            };
            each(
                name.to_bytes(),
                match kind {
                    FileType::RegularFile => Listed::File,
                    FileType::Directory => Listed::Folder,
                    FileType::Symlink if self.leads_to_file(directory, name) => Listed::File,
                    FileType::Symlink => Listed::LeftOut("a link to no file in the folder"),
                    _ => Listed::LeftOut("neither file nor folder"),
                },
            )?;
        }
        Ok(())
    }

    fn leads_to_file(&self, directory: &Directory, name: &CStr) -> bool {
        let link = directory.path.join(OsStr::from_bytes(name.to_bytes()));
        let target = self.resolve(&link).and_then(|path| self.open_beneath(&path, PATH_ONLY));
        target.and_then(|target| target.metadata()).is_ok_and(|target| target.is_file())
    }

    /// The path below the root that a path leads to, without links at this moment. Only a hint:
    /// what it means is decided when it is opened beneath the handle.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let root = self.root.canonicalize()?;
        let found = root.join(path).canonicalize()?;
        let below = found.strip_prefix(&root).map_err(|_| io::ErrorKind::CrossesDevices)?;
        Ok(below.to_owned())
    }

    fn open_beneath(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            use rustix::io::Errno;
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            match openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                // Old kernels do not have it, some containers do not allow it.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(File::from(opened?)),
            }
        }
        self.open_step_by_step(&self.resolve(path)?, flags)
    }

    /// Opens a path without links, one component after the other.
    fn open_step_by_step(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let steps: Vec<_> = path.iter().collect();
        let Some((last, folders)) = steps.split_last() else {
            return Ok(openat(&self.handle, ".", flags, Mode::empty())?.into());
        };
        let mut here = self.handle.try_clone()?;
        for folder in folders {
            let flags = PATH_ONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            here = openat(&here, *folder, flags, Mode::empty())?.into();
        }
        Ok(openat(&here, *last, flags | OFlags::NOFOLLOW, Mode::empty())?.into())
    }
}

impl Directory {
    /// Its path below the root of its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its attributes as of its opening.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

/// Opens for reading and does not wait for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
/// Opens a place in the file system without opening the file.
#[cfg(target_os = "linux")]
const PATH_ONLY: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlags = READ;

/// The kind of an entry, where the listing of the file system lacks it.
fn kind_of(directory: &Directory, name: &CStr) -> FileType {
    let stat = statat(&directory.handle, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::serve::Source;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `out/secret`, and `in` with files, folders and links of every kind.
    fn fixture() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("in");
        fs::create_dir_all(root.join("b/c")).unwrap();
        fs::create_dir_all(dir.path().join("out")).unwrap();
        fs::write(dir.path().join("out/secret"), "secret").unwrap();
        for (name, content) in [("z", ""), ("a", "12"), ("b/c/deep", "123"), ("b.txt", "1")] {
            fs::write(root.join(name), content).unwrap();
        }
        for (name, target) in [
            ("link-file", "b/c/deep"),
            ("link-up-and-down", "b/../a"),
            ("link-folder", "b"),
            ("link-loop", "link-loop"),
            ("link-nothing", "none"),
            ("link-out", "../out/secret"),
            ("link-out-folder", "../out"),
            ("link-absolute", "/etc/passwd"),
            ("b/link-self", ".."),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        let folder = Folder::open(&root).unwrap();
        (dir, folder)
    }

    fn file(folder: &Folder, path: &str) -> Result<FileSource, SourceError> {
        match folder.find(Path::new(path))? {
            Found::File(file) => Ok(file),
            Found::Directory(_) => panic!("{path} is a folder"),
        }
    }

    #[test]
    fn files_inside_can_be_opened() {
        let (_dir, folder) = fixture();
        for (path, length) in
            [("a", 2), ("b/c/deep", 3), ("link-file", 3), ("link-folder/c/deep", 3)]
        {
            let mut source = file(&folder, path).unwrap();
            assert_eq!(source.len(), length, "{path}");
            source.check(recoup_transport::time::Instant::ZERO).unwrap();
        }
    }

    #[test]
    fn nothing_outside_can_be_opened() {
        let (_dir, folder) = fixture();
        for path in ["/etc/passwd", "../out/secret", "b/../../out/secret", "./a", ".."] {
            let error = file(&folder, path).unwrap_err();
            assert!(matches!(error, SourceError::NotInside { .. }), "{path}: {error}");
        }
        for path in ["link-out", "link-out-folder/secret", "link-absolute", "link-loop"] {
            assert!(file(&folder, path).is_err(), "{path}");
            assert!(folder.open_step_by_step(Path::new(path), READ).is_err(), "{path}");
        }
        assert!(matches!(folder.find(Path::new("b")), Ok(Found::Directory(_))));
    }

    #[test]
    fn link_that_replaces_a_folder_is_not_followed() {
        let (dir, folder) = fixture();
        fs::remove_dir_all(dir.path().join("in/b")).unwrap();
        symlink("../out", dir.path().join("in/b")).unwrap();
        assert!(file(&folder, "b/secret").is_err());
    }

    #[test]
    fn stepwise_open_matches_the_kernel() {
        let (_dir, folder) = fixture();
        for path in ["a", "b/c/deep", "link-file", "link-folder/c/deep", "link-up-and-down"] {
            let resolved = folder.resolve(Path::new(path)).unwrap();
            let opened = folder.open_step_by_step(&resolved, READ).unwrap();
            let length = file(&folder, path).unwrap().len();
            assert_eq!(opened.metadata().unwrap().len(), length, "{path}");
        }
        // A link where the resolved path had none is not followed.
        for path in ["link-folder/c/deep", "link-file", "b/link-self/a"] {
            assert!(folder.open_step_by_step(Path::new(path), READ).is_err(), "{path}");
        }
        assert!(folder.open_step_by_step(Path::new(""), READ).is_ok());
    }

    #[test]
    fn directory_is_listed_by_its_handle() {
        let (dir, folder) = fixture();
        let Found::Directory(directory) = folder.find(Path::new("b")).unwrap() else {
            panic!("b is a folder");
        };
        fs::rename(dir.path().join("in/b"), dir.path().join("in/moved")).unwrap();
        symlink("../out", dir.path().join("in/b")).unwrap();
        let mut names = Vec::new();
        let list = folder.list(&directory, |name, kind| {
            names.push((String::from_utf8_lossy(name).into_owned(), kind));
            Ok(())
        });
        list.unwrap();
        names.sort_by(|one, other| one.0.cmp(&other.0));
        let link = Listed::LeftOut("a link to no file in the folder");
        assert_eq!(names, [("c".to_owned(), Listed::Folder), ("link-self".to_owned(), link)]);
        assert!(folder.find(Path::new("b")).is_err());
    }

    #[test]
    fn a_file_or_nothing_is_no_folder() {
        let (dir, _) = fixture();
        for path in ["in/a", "nowhere"] {
            let error = Folder::open(&dir.path().join(path)).unwrap_err().to_string();
            assert!(error.starts_with("cannot open the folder"), "{error}");
        }
    }

    #[test]
    fn names_that_are_no_text_are_opened() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        let name = Path::new(std::ffi::OsStr::from_bytes(b"caf\xe9\n"));
        fs::write(dir.path().join(name), "x").unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert!(matches!(folder.find(name), Ok(Found::File(file)) if file.len() == 1));
    }
}
