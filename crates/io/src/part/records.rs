//! The folder of the records of finished files.
//!
//! Records lie beside no result, so that a fetched folder is equal to the served one. The files of one folder have their
//! records in one folder, which is named by a digest of the path: `<two digits>/<30 digits>/FILE-DIGEST.done`. A file that
//! is moved has no record in its new place.
//!
//! Of each first two digits at most [`MAX_FOLDERS`] folders are kept: the one without a new record for longest is removed.
use super::staging::stem;
use crate::target::TargetFolder;
use ring::digest::{SHA256, digest};
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Most folders that have records, of each first two digits: 16,384 in all.
const MAX_FOLDERS: usize = 64;
/// Bytes of the digest of a path.
const DIGEST_BYTES: usize = 16;

/// The folder of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records(PathBuf);

impl Records {
    /// The records in `folder`, which is made when there is a record.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// The records of the user: `$XDG_STATE_HOME/recoup/finished`, or `~/.local/state/recoup/finished` (XDG Base Directory
    /// Specification).
    #[must_use]
    pub fn of_user() -> Self {
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        // Where `$HOME` is not set, that of the user database.
        let home = || std::env::home_dir().unwrap_or_default().join(".local/state");
        let state = state.filter(|path| path.is_absolute()).unwrap_or_else(home);
        Self(state.join("recoup/finished"))
    }

    /// The path of the record of the file at `target`; `None` if its folder cannot be found, or there is no place.
    #[must_use]
    pub fn path(&self, target: &Path) -> Option<PathBuf> {
        self.path_within(target, None)
    }

    /// As [`path`](Self::path); the path of the `folder` around the target is looked for once.
    pub(super) fn path_within(
        &self,
        target: &Path,
        folder: Option<&TargetFolder>,
    ) -> Option<PathBuf> {
        let above = || target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = match folder {
            Some(folder) => folder.canonical()?.to_owned(),
            None => fs::canonicalize(above().unwrap_or(Path::new("."))).ok()?,
        };
        let mut hex = String::new();
        for byte in
            digest(&SHA256, parent.as_os_str().as_bytes()).as_ref().iter().take(DIGEST_BYTES)
        {
            let _ = write!(hex, "{byte:02x}");
        }
        let name = format!("{}.done", stem(target.file_name()?));
        let folder = self.0.join(&hex[..2]).join(&hex[2..]);
        self.0.is_absolute().then(|| folder.join(name))
    }

    /// Writes the record at `path`, in place of an earlier one. After a power cut or a kill it may be gone, or damaged.
    ///
    /// An earlier record is overwritten in its place: a torn one fails its checksum. To remove or rename a file is
    /// expensive on ext4, and a folder may have thousands of records.
    pub(super) fn store(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        let create =
            |path: &Path| File::options().write(true).create_new(true).mode(0o600).open(path);
        let mut file = match create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return overwrite(path, text);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&self.0);
                make_room(folder);
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                create(path)?
            }
            created => created?,
        };
        file.write_all(text)
    }
}

/// Replaces the content of a record.
fn overwrite(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

/// Removes the folder beside `folder` that has had no new record for longest, if there are too many.
fn make_room(folder: &Path) {
    let entries = folder.parent().and_then(|above| fs::read_dir(above).ok());
    let entries: Vec<_> = entries.into_iter().flatten().flatten().collect();
    if entries.len() < MAX_FOLDERS {
        return;
    }
    let changed = |entry: &fs::DirEntry| entry.metadata().and_then(|it| it.modified()).ok();
    if let Some(oldest) = entries.iter().min_by_key(|entry| changed(entry)) {
        let _ = fs::remove_dir_all(oldest.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_a_record_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let records = Records::open(&place.path().join("state"));
        for folder in ["a", "b"] {
            fs::create_dir(place.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("a", place.path().join("link")).unwrap();
        let path = |target: &str| records.path(&place.path().join(target)).unwrap();
        assert_eq!(path("a/x"), path("link/x"));
        assert_eq!(path("a/x"), path("a/../a/x"));
        assert!(path("a/x") != path("b/x") && path("a/x") != path("a/y"));
        assert_eq!(records.path(&place.path().join("none/x")), None);
    }

    #[test]
    fn later_record_replaces_an_earlier_one() {
        let place = tempfile::tempdir().unwrap();
        let (records, path) = (Records::open(place.path()), place.path().join("a/b/x.done"));
        for text in ["short", "much longer", "brief"] {
            records.store(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn number_of_folders_is_bounded() {
        let place = tempfile::tempdir().unwrap();
        let folder = |number: usize| place.path().join(format!("{number:030}"));
        for number in 0..=MAX_FOLDERS {
            make_room(&folder(number));
            fs::create_dir(folder(number)).unwrap();
            let time =
                std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            File::open(folder(number)).unwrap().set_modified(time).unwrap();
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), MAX_FOLDERS);
        assert!(!folder(0).exists() && folder(1).exists());
    }
}
