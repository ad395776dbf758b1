//! Mode and time of a finished file, as its producer states them.
//!
//! The producer may be a stranger. Of the mode, only the permissions count: no set-user-id, set-group-id or sticky bit.
//! No class of users gets more than the umask leaves it: the file was made with mode 0666, and shows what is left. The owner
//! can always read the file. As `rsync -a` does, the executable bit and a time in the future are kept.
//!
//! Until the file has its name, its owner can write to it: the download can be continued if it gets none.
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

/// Permission of the owner to write, in a mode.
const OWNER_WRITES: u32 = 0o200;

/// Known attributes of a finished file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Permissions, as `st_mode` of POSIX.
    pub mode: Option<u32>,
    /// Last change of the content, in nanoseconds since 1970-01-01 UTC.
    pub modified_ns: Option<u64>,
}

impl Attributes {
    /// The attributes in a metadata packet.
    #[must_use]
    pub fn new(mode: Option<u64>, modified_ns: Option<u64>) -> Self {
        Self { mode: mode.and_then(|mode| u32::try_from(mode & 0o7777).ok()), modified_ns }
    }

    /// Gives them to a file that has the mode `made`: 0666 less the umask, except that its owner can write to it. A file system
    /// without modes keeps its own. Returns whether the file has the time of its last change, and the mode that it gets with
    /// its name.
    pub(super) fn apply(self, file: &File, made: u32) -> (bool, Seal) {
        let mut seal = Seal(None);
        if let Some(mode) = self.mode {
            let exact = permitted(mode, made | OWNER_WRITES);
            if exact | OWNER_WRITES != made & 0o7777 {
                let _ = file.set_permissions(Permissions::from_mode(exact | OWNER_WRITES));
            }
            seal = Seal((exact & OWNER_WRITES == 0).then_some(exact));
        }
        let modified = self.modified_ns.map(|ns| SystemTime::UNIX_EPOCH + Duration::from_nanos(ns));
        (modified.is_some_and(|time| file.set_modified(time).is_ok()), seal)
    }
}

/// The mode of a read-only file, which it gets after its name.
#[must_use]
pub(super) struct Seal(Option<u32>);

impl Seal {
    /// Gives the file this mode.
    pub(super) fn apply(self, file: &File) {
        if let Some(mode) = self.0 {
            let _ = file.set_permissions(Permissions::from_mode(mode));
        }
    }
}

/// The permissions `mode`, as far as the mode of a file that was made with 0666 shows them to be left by the umask.
fn permitted(mode: u32, made: u32) -> u32 {
    let read_write = made & 0o666;
    // A class that may read may execute.
    let execute = (made & 0o444) >> 2;
    mode & (read_write | execute) | 0o400
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mode_is_limited_by_the_umask() {
        for (mode, umask, kept) in [
            (0o100_600, 0o022, 0o600),
            (0o100_755, 0o022, 0o755),
            (0o100_777, 0o022, 0o755),
            (0o106_777, 0o022, 0o755),
            (0o100_666, 0o002, 0o664),
            (0o100_755, 0o077, 0o700),
            (0o100_000, 0o022, 0o400),
        ] {
            let mode = Attributes::new(Some(mode), None).mode.unwrap();
            assert_eq!(permitted(mode, 0o666 & !umask), kept, "{mode:o} {umask:o}");
        }
    }
}
