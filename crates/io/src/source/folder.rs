//! A folder that is served: what is in it, and nothing that is not.
//!
//! Symbolic links are followed only to files inside the folder. Which file a path means is decided
//! by the kernel when the file is opened (`openat2` with `RESOLVE_BENEATH`), so a link that is put
//! there between listing and opening leads nowhere either.
use super::error::failed;
use super::{FileSource, SourceError, open_options};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A folder whose files are served.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    handle: File,
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

    /// Opens a file of the folder by its path below it.
    ///
    /// # Errors
    /// [`SourceError::NotInside`], also for a link that leads outside; [`SourceError::NotAFile`];
    /// [`SourceError::Io`].
    pub fn source(&self, path: &Path) -> Result<FileSource, SourceError> {
        let ordinary = |component| matches!(component, Component::Normal(_));
        let not_inside = || SourceError::NotInside { path: path.to_owned() };
        if path.as_os_str().is_empty() || !path.components().all(ordinary) {
            return Err(not_inside());
        }
        match self.open_beneath(path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Err(not_inside()),
            opened => {
                let whole = self.root.join(path);
                let file = opened.map_err(|error| failed("open", &whole, error))?;
                FileSource::new(whole, file)
            }
        }
    }

    fn open_beneath(&self, path: &Path) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
            use rustix::io::Errno;
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            match openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                // Old kernels do not have it, some containers do not allow it.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(File::from(opened?)),
            }
        }
        self.open_resolved(path)
    }

    /// Without the kernel's help: resolves all links, then looks where that leads.
    fn open_resolved(&self, path: &Path) -> io::Result<File> {
        let root = self.root.canonicalize()?;
        let path = root.join(path).canonicalize()?;
        if !path.starts_with(&root) {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        open_options().open(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::serve::Source;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `out/secret`, and `in` with files, folders and links of every kind.
    fn world() -> (tempfile::TempDir, Folder) {
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

    #[test]
    fn files_inside_can_be_opened() {
        let (_dir, folder) = world();
        for (path, length) in
            [("a", 2), ("b/c/deep", 3), ("link-file", 3), ("link-folder/c/deep", 3)]
        {
            let mut source = folder.source(Path::new(path)).unwrap();
            assert_eq!(source.len(), length, "{path}");
            source.check().unwrap();
        }
    }

    #[test]
    fn nothing_outside_can_be_opened() {
        let (_dir, folder) = world();
        for path in ["", "/etc/passwd", "../out/secret", "b/../../out/secret", "./a", ".."] {
            let error = folder.source(Path::new(path)).unwrap_err();
            assert!(matches!(error, SourceError::NotInside { .. }), "{path}: {error}");
        }
        for path in ["link-out", "link-out-folder/secret", "link-absolute", "link-loop"] {
            assert!(folder.source(Path::new(path)).is_err(), "{path}");
            assert!(folder.open_resolved(Path::new(path)).is_err(), "{path}");
        }
        assert!(folder.open_resolved(Path::new("link-file")).is_ok());
        assert!(matches!(folder.source(Path::new("b")), Err(SourceError::NotAFile { .. })));
    }

    #[test]
    fn a_link_put_in_the_place_of_a_folder_leads_nowhere() {
        let (dir, folder) = world();
        fs::remove_dir_all(dir.path().join("in/b")).unwrap();
        symlink("../out", dir.path().join("in/b")).unwrap();
        assert!(folder.source(Path::new("b/secret")).is_err());
    }

    #[test]
    fn a_file_or_nothing_is_no_folder() {
        let (dir, _) = world();
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
        assert_eq!(folder.source(name).unwrap().len(), 1);
    }
}
