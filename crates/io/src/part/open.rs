//! What stands in the way of a download, and what is left of an earlier one.
use super::error::failed;
use super::journal::{self, Journal};
use super::keeper::Shelf;
use super::{Existing, Identity, PartError};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Opens for reading what is no link, and never waits for a pipe's other end.
pub(super) fn read_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

pub(super) fn check_target(target: &Path, overwrite: bool) -> Result<(), PartError> {
    if target.file_name().is_none() {
        return Err(PartError::NotAFile { path: target.to_owned() });
    }
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed("create", target, error)),
        Ok(there) if !there.is_file() && !there.is_symlink() => {
            Err(PartError::NotAFile { path: target.to_owned() })
        }
        Ok(_) if !overwrite => Err(PartError::TargetExists { path: target.to_owned() }),
        Ok(_) => Ok(()),
    }
}

pub(super) fn open_locked(part: &Path) -> Result<File, PartError> {
    let mut options = read_options();
    let file = match options.write(true).create(true).open(part) {
        Err(_) if part.symlink_metadata().is_ok_and(|there| !there.is_file()) => {
            return Err(PartError::NotAFile { path: part.to_owned() });
        }
        opened => opened.map_err(|error| failed("create", part, error))?,
    };
    let metadata = file.metadata().map_err(|error| failed("read", part, error))?;
    if !metadata.is_file() {
        return Err(PartError::NotAFile { path: part.to_owned() });
    }
    if !lock(&file) {
        return Err(PartError::Busy { path: part.to_owned() });
    }
    Ok(file)
}

/// Whether the file is now ours alone. A process that was just killed, or is just starting another
/// program, holds its locks a moment longer than it seems; so this tries for a tenth of a second.
fn lock(file: &File) -> bool {
    const TRIES: u32 = 10;
    (0..TRIES).any(|attempt| {
        if attempt > 0 {
            thread::sleep(Duration::from_millis(10));
        }
        // Some network file systems have no locks; that is no reason to refuse a download.
        !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    })
}

/// What can be continued; `None`: begin anew.
pub(super) fn recovered(
    shelf: &Shelf,
    identity: &Identity,
    existing: Existing,
) -> Result<Option<Journal>, PartError> {
    let path = || shelf.part.clone();
    let metadata = shelf.file.metadata().map_err(|error| failed("read", &shelf.part, error))?;
    let length = metadata.len();
    if !journal::is_ours(&shelf.journal) {
        if length > 0 {
            return Err(PartError::Foreign { path: path() });
        }
        if shelf.journal.symlink_metadata().is_ok() {
            return Err(journal::foreign(&shelf.journal));
        }
    }
    if length == 0 || existing == Existing::Restart {
        return Ok(None);
    }
    let Some(journal) = journal::load(&shelf.journal)? else {
        return Ok(None);
    };
    if existing == Existing::Refuse {
        return Err(PartError::Unfinished { path: path(), bytes: journal.received_bytes() });
    }
    if journal.received.is_empty() {
        return Ok(None);
    }
    if journal.identity != *identity {
        let (found, wanted) = (Box::new(journal.identity), Box::new(identity.clone()));
        return Err(PartError::OtherContent { path: path(), found, wanted });
    }
    journal::check_length(&journal, &shelf.part, length)?;
    Ok(Some(journal))
}

/// First a journal that claims nothing, then an empty file.
pub(super) fn begin(shelf: &Shelf, identity: Identity) -> Result<Journal, PartError> {
    let journal = Journal::new(identity);
    journal::store(&shelf.journal, &journal)?;
    shelf.file.set_len(0).map_err(|error| failed("empty", &shelf.part, error))?;
    Ok(journal)
}
