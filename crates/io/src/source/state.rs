//! The state of a file: how a change shows, and when its absence proves that there was none.
//!
//! A write moves the file's time of change (`st_ctime`) before it moves any byte, and no system
//! call puts that time back. If the time is equal *after* a read, the bytes belong to the state at
//! the opening. There are two exceptions, which [`FileState::unsettled_for`] and [`await_writers`]
//! close before the first read:
//!
//! - File systems take the time from a clock that moves by ticks of 1 to 10 ms (kernels before 6.13),
//!   or store whole seconds. A write in the same tick as the write before does not show. So a file is
//!   read only after the clock has left the tick of its last change.
//! - One system call that writes much moves the time once, at its beginning. Local file systems hold
//!   the inode's lock until it ends, and looking for data (`SEEK_DATA`; on XFS reading) waits for the
//!   lock. After that, each write begins, and shows, later than the opening.
//!
//! Undetected: writes through a mapping whose page is dirty already; direct writes (`O_DIRECT`) in
//! progress at the opening for longer than a tick; changes on another machine while a network file
//! system trusts its cached attributes. A change counter (`STATX_CHANGE_COOKIE`) would detect some
//! of them, but the kernel does not export it. Such files are served from snapshots
//! ([`super::Snapshots`]).
use super::error::Change;
use recoup_transport::serve::Identity;
use recoup_transport::time::Duration;
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};

/// More than a tick of the clock that file systems use.
const TICK: i128 = 20_000_000;
/// More than the unit of file systems that store no nanoseconds (FAT: 2 s).
const COARSE_TICK: i128 = 2_020_000_000;

/// Identifies the state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileState {
    device: u64,
    inode: u64,
    pub(super) length: u64,
    /// Time of the last write, in nanoseconds since 1970.
    pub(super) modified: i128,
    /// Time of the last change of content or attributes, in nanoseconds since 1970.
    changed: i128,
}

impl From<&Metadata> for FileState {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl FileState {
    /// In what way the length changed.
    pub(super) fn length_change(self, now: Self) -> Option<Change> {
        use std::cmp::Ordering;
        match now.length.cmp(&self.length) {
            Ordering::Less => Some(Change::Shorter),
            Ordering::Greater => Some(Change::Longer),
            Ordering::Equal => None,
        }
    }

    /// Whether the file system stores times so precisely that each change has a time of its own.
    pub(crate) fn is_precise(self) -> bool {
        self.changed % 1_000_000_000 != 0
    }

    /// All of it.
    pub(super) fn bytes(self) -> Vec<u8> {
        let words = [self.device, self.inode, self.length].map(u64::to_le_bytes);
        let times = [self.modified, self.changed].map(i128::to_le_bytes);
        [words.concat(), times.concat()].concat()
    }

    /// The state in words, for a record.
    pub(crate) fn to_words(self) -> String {
        let Self { device, inode, length, modified, changed } = self;
        format!("{device} {inode} {length} {modified} {changed}")
    }

    /// The state in such words.
    pub(crate) fn parse(words: &str) -> Option<Self> {
        let mut words = words.split(' ');
        let mut next = || words.next();
        let (device, inode, length) =
            (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
        let (modified, changed) = (next()?.parse().ok()?, next()?.parse().ok()?);
        next().is_none().then_some(Self { device, inode, length, modified, changed })
    }

    pub(super) fn is_same_file(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    pub(super) fn identity(self) -> Identity {
        let changed = self.changed.cast_unsigned();
        Identity([self.device, self.inode, (changed >> 64) as u64, changed as u64])
    }

    /// For how long another write could still go unnoticed, where the clock of file systems shows
    /// `now` (nanoseconds since 1970). A time of change that lies in the future cannot come again.
    pub(crate) fn unsettled_for(self, now: i128) -> Option<Duration> {
        let tick = if self.is_precise() { TICK } else { COARSE_TICK };
        let age = now - self.changed;
        let wait = if age < -tick { 0 } else { tick - age };
        u64::try_from(wait).ok().filter(|wait| *wait > 0).map(Duration::from_nanos)
    }
}

/// The clock from which file systems take their times, in nanoseconds since 1970.
pub(crate) fn file_clock() -> i128 {
    #[cfg(target_os = "linux")]
    if let Ok(time) = nix::time::clock_gettime(nix::time::ClockId::CLOCK_REALTIME_COARSE) {
        return nanos(time.tv_sec(), time.tv_nsec());
    }
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// Waits until each write that holds the lock of the file has ended. Errors are ignored: an empty
/// file has no data to seek.
pub(super) fn await_writers(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0));
    let _ = file.read_at(&mut [0], 0);
}

fn nanos(seconds: i64, nanos: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(changed: i128) -> FileState {
        FileState { device: 1, inode: 2, length: 3, modified: 0, changed }
    }

    #[test]
    fn state_settles_when_its_tick_is_over() {
        let second = 1_000_000_000;
        let file = changed(7 * second + 1);
        for (age, wait) in [
            (0, Some(20)),
            (5, Some(15)),
            (20, None),
            (1_000, None),
            (-5, Some(25)),
            (-20, Some(40)),
            (-21, None),
        ] {
            let now = 7 * second + 1 + age * 1_000_000;
            assert_eq!(file.unsettled_for(now), wait.map(Duration::from_millis), "{age} ms");
        }
    }

    #[test]
    fn whole_seconds_settle_after_two_seconds() {
        let second = 1_000_000_000;
        let file = changed(7 * second);
        assert_eq!(file.unsettled_for(8 * second), Some(Duration::from_millis(1_020)));
        assert_eq!(file.unsettled_for(10 * second), None);
    }

    #[test]
    fn clock_of_files_agrees_with_their_times() {
        let file = tempfile::tempfile().unwrap();
        let before = file_clock();
        file.write_at(b"x", 0).unwrap();
        let state = FileState::from(&file.metadata().unwrap());
        assert!(state.changed >= before - TICK && state.changed <= file_clock() + TICK);
    }

    /// A write in progress at the opening ends before the first read.
    #[cfg(target_os = "linux")]
    #[test]
    fn write_in_progress_has_ended_after_the_wait() {
        const BYTES: usize = 64 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, vec![1; BYTES]).unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        let reader = File::open(&path).unwrap();
        let is_new = |offset: usize| {
            let mut byte = [0];
            reader.read_exact_at(&mut byte, offset as u64).unwrap();
            byte[0] == 2
        };
        std::thread::scope(|scope| {
            let content = vec![2; BYTES];
            scope.spawn(move || assert_eq!(writer.write_at(&content, 0).unwrap(), BYTES));
            while !is_new(0) {
                std::thread::yield_now();
            }
            await_writers(&reader);
            assert!(is_new(BYTES - 1), "the write went on");
        });
    }
}
