//! A folder that is served: what is in it, and nothing that is not.
//!
//! Symbolic links are followed only to files inside the folder. Which file a path means is decided
//! by the kernel when the file is opened (`openat2` with `RESOLVE_BENEATH`), so a link that is put
//! there between listing and opening leads nowhere either.
use super::error::failed;
use super::{FileSource, SourceError, open_options};
use std::fs::{self, DirEntry, File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// Most files that a folder may hold.
pub const MAX_ENTRIES: usize = 1_000_000;
/// Most folders inside each other.
pub const MAX_DEPTH: usize = 128;

/// A folder whose files are served.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    handle: File,
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path below the folder; every component is an ordinary name.
    pub path: PathBuf,
    /// Length in octets.
    pub bytes: u64,
    /// When it was last written.
    pub modified: SystemTime,
}

/// What a folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The files, sorted by path.
    pub entries: Vec<Entry>,
    /// What is not served, and why, sorted by path.
    pub skipped: Vec<(PathBuf, Skipped)>,
}

/// Why something in a folder is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// It is a pipe, a socket or a device.
    Special,
    /// It is a link to a folder, to something outside, or to nothing.
    Link,
    /// It may not be read.
    Unreadable,
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

    /// The folder's own path, as given.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Walks through the folder.
    ///
    /// # Errors
    /// [`SourceError::Io`] if the folder itself cannot be read (an unreadable one below is skipped);
    /// [`SourceError::TooMuch`] beyond [`MAX_ENTRIES`] or [`MAX_DEPTH`].
    pub fn list(&self) -> Result<Listing, SourceError> {
        let mut listing = Listing::default();
        let mut waiting = vec![PathBuf::new()];
        while let Some(folder) = waiting.pop() {
            self.list_one(&folder, &mut waiting, &mut listing)?;
            if listing.entries.len() + listing.skipped.len() + waiting.len() > MAX_ENTRIES {
                return Err(self.too_much("more than a million files"));
            }
        }
        listing.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        listing.skipped.sort_unstable();
        Ok(listing)
    }

    fn list_one(
        &self,
        folder: &Path,
        waiting: &mut Vec<PathBuf>,
        listing: &mut Listing,
    ) -> Result<(), SourceError> {
        if folder.components().count() >= MAX_DEPTH {
            return Err(self.too_much("folders nested more than 128 deep"));
        }
        let entries = match fs::read_dir(self.root.join(folder)) {
            Err(error) if folder.as_os_str().is_empty() => {
                return Err(failed("read the folder", &self.root, error));
            }
            Err(_) => {
                listing.skipped.push((folder.to_owned(), Skipped::Unreadable));
                return Ok(());
            }
            Ok(entries) => entries,
        };
        for entry in entries.take(MAX_ENTRIES + 1).filter_map(Result::ok) {
            let path = folder.join(entry.file_name());
            match self.kind(&entry, &path) {
                Ok(Kind::Folder) => waiting.push(path),
                Ok(Kind::File(metadata)) => listing.entries.push(listed(path, &metadata)),
                Err(why) => listing.skipped.push((path, why)),
            }
        }
        Ok(())
    }

    fn kind(&self, entry: &DirEntry, path: &Path) -> Result<Kind, Skipped> {
        let metadata = entry.metadata().map_err(|_| Skipped::Unreadable)?;
        if metadata.is_dir() {
            return Ok(Kind::Folder);
        }
        if metadata.is_file() {
            return Ok(Kind::File(metadata));
        }
        if !metadata.is_symlink() {
            return Err(Skipped::Special);
        }
        let target = self.open_beneath(path).map_err(|_| Skipped::Link)?;
        let metadata = target.metadata().map_err(|_| Skipped::Link)?;
        metadata.is_file().then_some(Kind::File(metadata)).ok_or(Skipped::Link)
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

    fn too_much(&self, what: &'static str) -> SourceError {
        SourceError::TooMuch { path: self.root.clone(), what }
    }
}

enum Kind {
    Folder,
    File(Metadata),
}

fn listed(path: PathBuf, metadata: &Metadata) -> Entry {
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Entry { path, bytes: metadata.len(), modified }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_listing_holds_the_files_inside_in_order_and_says_what_it_leaves_out() {
        let (_dir, folder) = world();
        let listing = folder.list().unwrap();
        let files: Vec<_> =
            listing.entries.iter().map(|e| (e.path.to_str().unwrap(), e.bytes)).collect();
        let expected = [
            ("a", 2),
            ("b/c/deep", 3),
            ("b.txt", 1),
            ("link-file", 3),
            ("link-up-and-down", 2),
            ("z", 0),
        ];
        assert_eq!(files, expected);
        assert!(listing.skipped.iter().all(|(_, why)| *why == Skipped::Link));
        assert_eq!(listing.skipped.len(), 7);
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
    fn special_files_are_left_out() {
        let (dir, folder) = world();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("in/socket")).unwrap();
        let listing = folder.list().unwrap();
        assert!(listing.skipped.contains(&(PathBuf::from("socket"), Skipped::Special)));
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
    fn folders_nested_without_end_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 1).collect();
        fs::create_dir_all(dir.path().join(deep)).unwrap();
        let error = Folder::open(dir.path()).unwrap().list().unwrap_err();
        assert!(matches!(error, SourceError::TooMuch { .. }), "{error}");
    }

    #[test]
    fn names_that_are_no_text_are_listed_and_opened() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        let name = Path::new(std::ffi::OsStr::from_bytes(b"caf\xe9\n"));
        fs::write(dir.path().join(name), "x").unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let listing = folder.list().unwrap();
        assert_eq!(listing.entries[0].path, name);
        assert_eq!(folder.source(name).unwrap().len(), 1);
    }
}
