//! The staging folder: where a download lies until it is complete.
//!
//! A temporary name beside the target may be the name of another file that is fetched into the same
//! folder. One download would then overwrite the other. So unfinished downloads lie in a folder of
//! their own, `.recoup-UID` beside the target: a rename to the target stays on one file system.
//! That name is reserved: no download goes there. UID is the user's number: users of a shared
//! folder do not block each other.
//!
//! The names of a download in the staging folder end in a digest of the target's exact name. If a file system takes two
//! spellings for one name, their downloads still have different files.
//!
//! All paths are relative to open folders, and links are not followed. Downloads into one [`TargetFolder`] share an open staging
//! folder. A folder that this process made holds nothing that an earlier process left: such files are then not looked for.
use super::PartError;
use super::error::failed;
use crate::target::TargetFolder;
use ring::digest::{SHA256, digest};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat};
use rustix::fs::{fchmod, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// First part of the name of a staging folder; the number of its user follows.
const PREFIX: &str = ".recoup-";
/// Most digits of a user's number.
const UID_DIGITS: usize = 10;
/// Length of the beginning of the target's name in the names of its download, in bytes.
const READABLE_BYTES: usize = 64;
/// Length of the digest of the target's name in the names of its download, in bytes. Two names with equal digests of this
/// length take 2^64 attempts to find.
const DIGEST_BYTES: usize = 16;
/// Mode of a file that content is written to, before the umask.
const MADE: Mode = Mode::from_raw_mode(0o666);
/// Attempts to open and lock a file that other processes rename or remove meanwhile.
const TRIES: u32 = 100;
/// Flags for a folder in which names are looked up.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags for a file: a link is an error, and the other end of a pipe is not waited for.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The file that the content for `target` is written to until it is complete.
pub fn part_path(target: &Path) -> PathBuf {
    in_staging(target, ".part")
}

/// The journal beside [`part_path`].
pub fn journal_path(target: &Path) -> PathBuf {
    in_staging(target, ".journal")
}

/// Whether a download to `target` was begun and has not ended, with or without content that can be resumed.
///
/// # Errors
/// [`PartError::Io`], [`PartError::NotPrivate`], [`PartError::Reserved`], [`PartError::NotAFile`].
pub(super) fn is_unfinished(
    target: &Path,
    within: Option<&TargetFolder>,
) -> Result<bool, PartError> {
    let staging = Staging::open(target, within, false)?;
    Ok(staging.is_some_and(|staging| staging.part_bytes().is_some()))
}

/// Whether a component of the path is the name of a staging folder, of this user or another, in upper or lower case. Downloads
/// do not go to such a path, and files there are not served.
pub fn is_reserved(path: &Path) -> bool {
    path.components().any(|component| {
        let Component::Normal(name) = component else {
            return false;
        };
        let Some((prefix, uid)) = name.as_bytes().split_at_checked(PREFIX.len()) else {
            return false;
        };
        prefix.eq_ignore_ascii_case(PREFIX.as_bytes())
            && (1..=UID_DIGITS).contains(&uid.len())
            && uid.iter().all(u8::is_ascii_digit)
    })
}

fn folder_name() -> String {
    name_for(geteuid().as_raw())
}

fn name_for(user: u32) -> String {
    format!("{PREFIX}{user}")
}

fn in_staging(target: &Path, suffix: &str) -> PathBuf {
    let stem = stem(target.file_name().unwrap_or_default());
    target.with_file_name(folder_name()).join(format!("{stem}{suffix}"))
}

/// First part of the names of a download: the beginning of the target's name, in characters that every file system takes, and
/// the digest.
pub(super) fn stem(name: &OsStr) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let readable = name.as_bytes().iter().take(READABLE_BYTES);
    let mut stem: String =
        readable.map(|&byte| if is_plain(byte) { char::from(byte) } else { '_' }).collect();
    stem.push('-');
    for byte in digest(&SHA256, name.as_bytes()).as_ref().iter().take(DIGEST_BYTES) {
        let _ = write!(stem, "{byte:02x}");
    }
    stem
}

/// An open staging folder. If it is empty, it is removed when its last user drops it.
#[derive(Debug)]
pub(crate) struct StagingFolder {
    parent: OwnedFd,
    own: OwnedFd,
    /// Its name in the parent.
    name: String,
    /// Earlier processes may have left files in it.
    is_old: bool,
}

impl StagingFolder {
    /// The staging folder in `parent`, for `target`; `None` if the folder is missing and `create` is false.
    fn open(parent: OwnedFd, target: &Path, create: bool) -> Result<Option<Self>, PartError> {
        let user = geteuid().as_raw();
        let name = name_for(user);
        if is_staging(&parent, &name) {
            return Err(PartError::Reserved { path: target.to_owned() });
        }
        let is_old = match create.then(|| mkdirat(&parent, &name, Mode::RWXU)) {
            None | Some(Err(Errno::EXIST)) => true,
            Some(Ok(())) => false,
            Some(Err(error)) => return Err(failed("create", target, error.into())),
        };
        let path = || target.with_file_name(&name);
        let own = match openat(&parent, &name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(PartError::NotPrivate { path: path() });
            }
            opened => opened.map_err(|error| failed("open", &path(), error.into()))?,
        };
        let is_private = is_private(&parent, &own, user);
        if !is_private.map_err(|error| failed("read", &path(), error.into()))? {
            return Err(PartError::NotPrivate { path: path() });
        }
        Ok(Some(Self { parent, own, name, is_old }))
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // The system does not remove a folder that holds another download.
        let _ = unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
    }
}

/// The place of one unfinished download.
#[derive(Debug)]
pub(super) struct Staging {
    folder: Arc<StagingFolder>,
    target: PathBuf,
    /// The target's name in its folder.
    name: OsString,
    stem: String,
}

/// The locked file that content is written to.
pub(super) struct Locked {
    pub(super) file: File,
    /// Its device and inode, among others.
    pub(super) stat: Stat,
    /// This process made it just now.
    pub(super) is_new: bool,
}

impl Staging {
    /// The place of the download to `target`; `None` if there is no staging folder and none is to be created. Downloads
    /// `within` a folder use its handle.
    pub(super) fn open(
        target: &Path,
        within: Option<&TargetFolder>,
        create: bool,
    ) -> Result<Option<Self>, PartError> {
        let not_a_file = || PartError::NotAFile { path: target.to_owned() };
        let name = target.file_name().ok_or_else(not_a_file)?.to_owned();
        if is_reserved(target) {
            return Err(PartError::Reserved { path: target.to_owned() });
        }
        let folder = match within {
            Some(within) => Self::shared(within, target, create)?,
            None => Self::alone(target, create)?,
        };
        let stem = stem(&name);
        Ok(folder.map(|folder| Self { folder, target: target.to_owned(), name, stem }))
    }

    fn alone(target: &Path, create: bool) -> Result<Option<Arc<StagingFolder>>, PartError> {
        let above = target.parent().filter(|above| !above.as_os_str().is_empty());
        let parent = match openat(CWD, above.unwrap_or(Path::new(".")), FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if !create => return Ok(None),
            opened => opened.map_err(|error| failed("create", target, error.into()))?,
        };
        Ok(StagingFolder::open(parent, target, create)?.map(Arc::new))
    }

    fn shared(
        within: &TargetFolder,
        target: &Path,
        create: bool,
    ) -> Result<Option<Arc<StagingFolder>>, PartError> {
        let mut open = within.staging();
        if open.is_none() {
            let parent = within.handle().try_clone_to_owned();
            let parent = parent.map_err(|error| failed("create", target, error))?;
            *open = StagingFolder::open(parent, target, create)?.map(Arc::new);
        }
        Ok(open.clone())
    }

    /// The place of the download to `target`, and the file in it, which is locked. If `anew`, an earlier file is removed with
    /// its mode and its journal.
    ///
    /// # Errors
    /// [`PartError::Busy`] if another process has locked the file.
    pub(super) fn acquire(
        target: &Path,
        within: Option<&TargetFolder>,
        mut anew: bool,
    ) -> Result<(Self, Locked), PartError> {
        for _ in 0..TRIES {
            if let Some(staging) = Self::open(target, within, true)?
                && let Some(locked) = staging.lock_part()?
            {
                if !std::mem::take(&mut anew) {
                    return Ok((staging, locked));
                }
                staging.discard();
                continue;
            }
            // Another process may have removed the folder.
            within.iter().for_each(|within| drop(within.staging().take()));
        }
        Err(PartError::Busy { path: part_path(target) })
    }

    /// The file, locked. `None` if another process renamed or removed it before the lock was taken: the locked file may then be
    /// the complete target.
    fn lock_part(&self) -> Result<Option<Locked>, PartError> {
        let not_a_file = || PartError::NotAFile { path: self.part_path() };
        let open = |flags| openat(&self.folder.own, self.part(), FILE | flags, MADE);
        let (mut opened, is_new) = match open(OFlags::RDWR | OFlags::CREATE | OFlags::EXCL) {
            Err(Errno::EXIST) => (open(OFlags::RDWR), false),
            opened => (opened, true),
        };
        let denied = matches!(opened, Err(Errno::ACCESS));
        if denied {
            opened = open(OFlags::RDONLY).map_err(|_| Errno::ACCESS);
        }
        let file = match opened {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Err(not_a_file()),
            opened => {
                File::from(opened.map_err(|e| failed("create", &self.part_path(), e.into()))?)
            }
        };
        let stat = fstat(&file).map_err(|e| failed("read", &self.part_path(), e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(not_a_file());
        }
        if !lock(&file) {
            return Err(PartError::Busy { path: self.part_path() });
        }
        if !is_at(&self.folder.own, self.part().as_ref(), &stat) {
            return Ok(None);
        }
        if is_new {
            return Ok(Some(Locked { file, stat, is_new }));
        }
        // Its producer's mode may be that of a read-only file.
        let changed = make_writable(&file, stat.st_mode);
        if denied {
            // The caller opens it again.
            let failed = |error: Errno| failed("write", &self.part_path(), error.into());
            return changed.map(|()| None).map_err(failed);
        }
        // A process was killed while it wrote a journal.
        let _ = unlinkat(&self.folder.own, self.draft(), AtFlags::empty());
        Ok(Some(Locked { file, stat, is_new }))
    }

    /// Length of the file that content is written to, in bytes. `None` if there is no such file.
    pub(super) fn part_bytes(&self) -> Option<u64> {
        match statat(&self.folder.own, self.part(), AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => None,
            found => Some(found.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))),
        }
    }

    /// Gives the complete file of that `stat` the target's name.
    ///
    /// # Errors
    /// [`PartError::Replaced`] if another file has taken its place, before or after that.
    pub(super) fn publish(&self, stat: &Stat, overwrite: bool) -> Result<(), PartError> {
        if !is_at(&self.folder.own, self.part().as_ref(), stat) {
            return Err(PartError::Replaced { path: self.part_path() });
        }
        match self.rename(overwrite) {
            Err(Errno::EXIST) => {
                return Err(PartError::TargetExists { path: self.target.clone() });
            }
            renamed => renamed.map_err(|error| failed("create", &self.target, error.into()))?,
        }
        match is_at(&self.folder.parent, &self.name, stat) {
            true => Ok(()),
            false => Err(PartError::Replaced { path: self.target.clone() }),
        }
    }

    fn rename(&self, overwrite: bool) -> Result<(), Errno> {
        let StagingFolder { own, parent, .. } = &*self.folder;
        if overwrite {
            return renameat(own, self.part(), parent, &self.name);
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(own, self.part(), parent, &self.name, flags) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                renamed => return renamed,
            }
        }
        match statat(parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(_) => renameat(own, self.part(), parent, &self.name),
        }
    }

    /// Whether both targets lie in the same folder.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        let (one, two) = (&self.folder, &other.folder);
        Arc::ptr_eq(one, two)
            || matches!((fstat(&one.parent), fstat(&two.parent)), (Ok(one), Ok(two)) if is_same(&one, &two))
    }

    /// Brings the target's name to the disk, if the file system offers that.
    pub(super) fn sync_parent(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(parent) = openat(&self.folder.parent, ".", flags, Mode::empty()) {
            let _ = File::from(parent).sync_all();
        }
    }

    /// The journal, for reading; `None` if there is none.
    pub(super) fn open_journal(&self) -> io::Result<Option<File>> {
        match openat(&self.folder.own, self.journal(), FILE | OFlags::RDONLY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            opened => Ok(Some(File::from(opened?))),
        }
    }

    /// Replaces the journal as a whole, on disk as well if `sync`.
    pub(super) fn store_journal(&self, text: &[u8], sync: bool) -> io::Result<()> {
        let (folder, draft) = (&self.folder.own, self.draft());
        let flags = FILE | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let open = || openat(folder, &draft, flags, Mode::RUSR | Mode::WUSR);
        let file = open().or_else(|error| match error {
            Errno::EXIST => unlinkat(folder, &draft, AtFlags::empty()).and_then(|()| open()),
            error => Err(error),
        });
        let mut file = File::from(file?);
        let written = file.write_all(text);
        let written = written.and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        let renamed = || Ok(renameat(folder, &draft, folder, self.journal())?);
        written.and_then(|()| renamed()).inspect_err(|_| {
            let _ = unlinkat(folder, &draft, AtFlags::empty());
        })
    }

    /// Removes the journal, if there is one.
    pub(super) fn remove_journal(&self) {
        let _ = unlinkat(&self.folder.own, self.journal(), AtFlags::empty());
    }

    /// Removes a journal without its file: a process was killed right after the rename.
    pub(super) fn remove_stray_journal(&self) {
        if self.may_have_leftovers() {
            self.remove_journal();
        }
    }

    /// Whether earlier processes may have left files in the staging folder.
    pub(super) fn may_have_leftovers(&self) -> bool {
        self.folder.is_old
    }

    /// Removes the file and its journal.
    pub(super) fn discard(&self) {
        self.remove_journal();
        let _ = unlinkat(&self.folder.own, self.part(), AtFlags::empty());
    }

    pub(super) fn part_path(&self) -> PathBuf {
        self.target.with_file_name(&self.folder.name).join(self.part())
    }

    pub(super) fn journal_path(&self) -> PathBuf {
        self.target.with_file_name(&self.folder.name).join(self.journal())
    }

    /// The target's name as a journal has it.
    pub(super) fn target_word(&self) -> String {
        target_word(&self.name)
    }

    /// Removes the record of the finished file that earlier versions kept here.
    pub(super) fn remove_record(&self) {
        if self.may_have_leftovers() {
            let _ = unlinkat(&self.folder.own, format!("{}.done", self.stem), AtFlags::empty());
        }
    }

    fn part(&self) -> String {
        format!("{}.part", self.stem)
    }

    fn journal(&self) -> String {
        format!("{}.journal", self.stem)
    }

    /// The name of a new journal until it is complete.
    fn draft(&self) -> String {
        format!("{}.journal~", self.stem)
    }
}

/// Whether the name in that folder is that of the open file with this `stat`.
fn is_at(folder: &OwnedFd, name: &OsStr, stat: &Stat) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|there| is_same(&there, stat))
}

/// The name as a journal has it: `%` and two hexadecimal digits for each byte that is not graphic ASCII.
pub(super) fn target_word(name: &OsStr) -> String {
    let mut word = String::new();
    for &byte in name.as_bytes() {
        let _ = match byte.is_ascii_graphic() && byte != b'%' {
            true => write!(word, "{}", char::from(byte)),
            false => write!(word, "%{byte:02x}"),
        };
    }
    word
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    one.st_dev == other.st_dev && one.st_ino == other.st_ino
}

/// Lets the owner of a file of this mode write to it.
///
/// # Errors
/// The owner may write already, or the file is another user's.
fn make_writable(file: &File, mode: RawMode) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(mode);
    match mode.contains(Mode::WUSR) {
        true => Err(Errno::ACCESS),
        false => fchmod(file, mode | Mode::WUSR),
    }
}

/// Whether the folder is the staging folder of its parent folder, even if it was opened by another spelling or a link.
fn is_staging(folder: &OwnedFd, name: &str) -> bool {
    let sibling = Path::new("..").join(name);
    let sibling = statat(folder, sibling, AtFlags::SYMLINK_NOFOLLOW);
    matches!((sibling, fstat(folder)), (Ok(sibling), Ok(it)) if is_same(&sibling, &it))
}

/// Whether other users cannot have put files into the staging folder: it belongs to this user or to the owner of its parent
/// folder, or only that owner can create folders there.
fn is_private(parent: impl AsFd, folder: impl AsFd, user: u32) -> Result<bool, Errno> {
    let (parent, folder) = (fstat(parent)?, fstat(folder)?);
    let writable = Mode::from_raw_mode(parent.st_mode).intersects(Mode::WGRP | Mode::WOTH);
    let is_folder = FileType::from_raw_mode(folder.st_mode) == FileType::Directory;
    let is_ours = folder.st_uid == user;
    Ok(is_folder && (is_ours || folder.st_uid == parent.st_uid || !writable))
}

/// Locks the file; false if another process holds the lock. A process that was just killed, or that is just starting another
/// program, holds its locks a moment longer than it seems; so this tries for a tenth of a second.
fn lock(file: &File) -> bool {
    const TRIES: u32 = 10;
    (0..TRIES).any(|attempt| {
        if attempt > 0 {
            thread::sleep(Duration::from_millis(10));
        }
        // Some network file systems have no locks; downloads work without them.
        !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_recognised_in_any_spelling() {
        let reserved = [".recoup-0", ".RECOUP-1000", "a/.recoup-4294967295/b", "/.Recoup-7/x"];
        assert!(reserved.iter().all(|path| is_reserved(Path::new(path))));
        let free = [".recoup", ".recoup-", ".recoup-x", ".recoup-12345678901", "x.recoup-1", ".."];
        assert!(!free.iter().any(|path| is_reserved(Path::new(path))));
        assert!(is_reserved(&part_path(Path::new("x"))));
    }

    #[test]
    fn names_of_downloads_differ_as_names_of_targets() {
        let stems: Vec<_> = ["movie", "Movie", "movie.part", "movi\u{e9}", "movie\u{301}"]
            .map(|name| stem(OsStr::new(name)))
            .into();
        for (place, one) in stems.iter().enumerate() {
            assert!(one.len() <= READABLE_BYTES + 1 + 2 * DIGEST_BYTES, "{one}");
            assert!(!stems[place + 1..].iter().any(|other| one.eq_ignore_ascii_case(other)));
        }
    }
}
