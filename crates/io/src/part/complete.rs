//! Downloads that are complete and get their names, alone or as a group.
use super::error::failed;
use super::journal::{self, Journal};
use super::keeper::Storage;
use super::{Attributes, PartError, Records, record};
use crate::target::TargetFolder;
use std::path::PathBuf;
use std::sync::Arc;

/// A file with all its content, before it has its name.
#[derive(Debug)]
pub(super) struct Complete {
    /// The journal of a small file, which is written only if the file gets no name.
    pub(super) unsaved: Option<Box<Journal>>,
    pub(super) target: PathBuf,
    /// The folder around the target, if it is open.
    pub(super) folder: Option<Arc<TargetFolder>>,
    pub(super) storage: Storage,
    /// Whether another file may lie in its place.
    pub(super) overwrite: bool,
    /// Mode and time that its producer states.
    pub(super) attributes: Attributes,
    /// Where the file is recorded, if it is, with the journal of the whole file.
    pub(super) record: Option<(Records, Box<Journal>)>,
}

impl Complete {
    /// Brings the content to the disk.
    pub(super) fn sync(&self) -> Result<(), PartError> {
        let synced = self.storage.file.sync_all();
        synced.map_err(|error| failed("write", &self.storage.staging.part_path(), error))
    }

    /// Brings the contents of a group to the disk; returns the outcome of each. One call does so for a whole file system, where the
    /// system has that call.
    pub(super) fn sync_all(group: &[Self]) -> Vec<Result<(), PartError>> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let [first, _, ..] = group {
            let device = |it: &Self| it.storage.stat.st_dev;
            let is_one = group.iter().all(|it| device(it) == device(first));
            if is_one && rustix::fs::syncfs(&first.storage.file).is_ok() {
                return group.iter().map(|_| Ok(())).collect();
            }
        }
        group.iter().map(Self::sync).collect()
    }

    /// Gives the file its name, records it, and removes the journal.
    pub(super) fn publish(&self) -> Result<(), PartError> {
        let Storage { file, stat, staging } = &self.storage;
        staging.remove_record();
        #[allow(clippy::unnecessary_cast, reason = "a mode has 16 bits on other systems")]
        let (has_time, seal) = self.attributes.apply(file, stat.st_mode as u32);
        if self.record.is_some() && !has_time {
            record::stamp(file);
        }
        staging.publish(stat, self.overwrite)?;
        // Before the record, which holds the time of this change.
        seal.apply(file);
        if let Some((records, journal)) = &self.record {
            record::store(records, &self.target, self.folder.as_deref(), journal, file);
        }
        if self.unsaved.is_none() {
            staging.remove_journal();
        }
        Ok(())
    }

    /// Keeps the download resumable, without a name.
    pub(super) fn keep(&self) {
        if let Some(journal) = &self.unsaved {
            let _ = journal::store(&self.storage.staging, journal, false);
        }
    }

    /// Brings the file's name to the disk, if the file system offers that.
    pub(super) fn sync_name(&self) {
        self.storage.staging.sync_parent();
    }

    /// Whether both are to lie in the same folder.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.storage.staging.is_beside(&other.storage.staging)
    }
}
