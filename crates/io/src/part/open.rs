//! Beginning a download, or continuing an earlier one.
use super::checksum;
use super::error::failed;
use super::journal::{self, Journal};
use super::keeper::Storage;
use super::{Existing, Identity, PartError};
use crate::target::TargetFolder;
use rustix::fs::{AtFlags, CWD, FileType, statat};
use rustix::io::Errno;
use std::path::Path;

pub(super) fn check_target(
    target: &Path,
    folder: Option<&TargetFolder>,
    overwrite: bool,
) -> Result<(), PartError> {
    let not_a_file = || PartError::NotAFile { path: target.to_owned() };
    let name = target.file_name().ok_or_else(not_a_file)?;
    let there = match folder {
        Some(folder) => statat(folder.handle(), name, AtFlags::SYMLINK_NOFOLLOW),
        None => statat(CWD, target, AtFlags::SYMLINK_NOFOLLOW),
    };
    match there.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(failed("create", target, error.into())),
        Ok(FileType::RegularFile | FileType::Symlink) if overwrite => Ok(()),
        Ok(FileType::RegularFile | FileType::Symlink) => {
            Err(PartError::TargetExists { path: target.to_owned() })
        }
        Ok(_) => Err(not_a_file()),
    }
}

/// The earlier download that is continued, if any, and the length of its content that has changed on the disk, in bytes.
pub(super) fn recovered(
    storage: &Storage,
    identity: &Identity,
    existing: Existing,
) -> Result<(Option<Journal>, u64), PartError> {
    let path = || storage.staging.part_path();
    let begun = match existing {
        Existing::Restart => None,
        _ => journal::load(&storage.staging)?.filter(|journal| !journal.received.is_empty()),
    };
    let Some(mut journal) = begun else {
        return Ok((None, 0));
    };
    if existing == Existing::Fail {
        let bytes = journal.received_bytes();
        let found = Box::new(journal.identity);
        return match bytes {
            0 => Ok((None, 0)),
            _ => Err(PartError::Unfinished { path: path(), bytes, found }),
        };
    }
    if journal.identity != *identity {
        let (found, wanted) = (Box::new(journal.identity), Box::new(identity.clone()));
        return Err(PartError::OtherContent { path: path(), found, wanted });
    }
    let dropped = checksum::verify(&mut journal, &storage.file);
    Ok((Some(journal).filter(|journal| !journal.received.is_empty()), dropped))
}

/// An empty file, and no journal.
pub(super) fn begin(
    storage: &Storage,
    identity: Identity,
    is_new: bool,
) -> Result<Journal, PartError> {
    if is_new {
        storage.staging.remove_stray_journal();
    } else {
        storage.staging.remove_journal();
        let emptied = storage.file.set_len(0);
        emptied.map_err(|error| failed("empty", &storage.staging.part_path(), error))?;
    }
    Ok(Journal::new(storage.staging.target_word(), identity))
}
