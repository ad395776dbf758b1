//! The resumable download: segments are written at their offsets to `FILE.part`, and a small
//! journal beside it, `FILE.part.journal`, says which of them are safely there.
//!
//! The journal is replaced at most once a second, by a thread of its own, and always *after* the
//! data that it claims has reached the disk. So whatever stops the program, a crash, `kill -9` or a
//! power cut, leaves a pair of files from which the download continues; at worst the segments of
//! the last second are fetched again.
//!
//! ```
//! use recoup_io::part::{Identity, Options, PartFile};
//! # let folder = tempfile::tempdir().unwrap();
//! # let target = folder.path().join("movie");
//! let identity = Identity::new("/movie/v=7", "digest");
//! let mut part = PartFile::open(&target, identity, Options::default())?;
//! for missing in part.received().missing(0, 1) {
//!     // fetch these
//! }
//! part.set_final(1)?;
//! part.write(1, "rld!".into())?;
//! part.write(0, "Hello, wo".into())?;
//! part.flush()?;
//! assert_eq!(part.finish()?.bytes, 13);
//! assert_eq!(std::fs::read(&target)?, b"Hello, world!");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod batch;
mod error;
mod journal;
mod keeper;
mod open;
mod place;
mod range_set;

pub use error::PartError;
pub use journal::{Journal, MAX_JOURNAL_BYTES};
pub use range_set::RangeSet;

use batch::Piece;
use bytes::Bytes;
use error::failed;
use keeper::{Keeper, Shelf, Unsaved};
use open::{begin, check_target, open_locked, recovered};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Octets of content that wait for [`PartFile::flush`] at most; more are written at once.
const MAX_BUFFERED_BYTES: usize = 4 << 20;
/// What is given up of a `.part` file so that its journal fits on a full disk, in octets.
const SPARE_BYTES: u64 = 64 << 10;
/// Longest name of a file that leaves room for the longest suffix, `.part.journal~`, in octets (NAME_MAX is 255).
const MAX_NAME_BYTES: usize = 255 - 14;
/// Longest name or verification word in a journal, in octets.
const MAX_WORD_BYTES: usize = 32 << 10;

/// Of what a `.part` file is a part. A download is continued only if all of it is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The object's name, with its version, as URI.
    pub name: String,
    /// How the segments were verified before they were written, such as `digest` or
    /// `key=/me/KEY/1`: what was accepted without a key must not be continued as if it had been
    /// checked with one.
    pub verification: String,
    /// First segment of the file: it lies at offset 0.
    pub first: u64,
    /// Last segment asked for; `None`: to the end of the object.
    pub last: Option<u64>,
}

impl Identity {
    /// All segments of an object.
    pub fn new(name: impl Into<String>, verification: impl Into<String>) -> Self {
        Self { name: name.into(), verification: verification.into(), first: 0, last: None }
    }

    /// Only the segments `first..=last` of it; `None`: to its end.
    #[must_use]
    pub fn range(self, first: u64, last: Option<u64>) -> Self {
        Self { first, last, ..self }
    }

    fn is_valid(&self) -> bool {
        let word = |word: &str| word.len() <= MAX_WORD_BYTES && !word.contains(['\n', '\r']);
        word(&self.name) && word(&self.verification) && self.last.is_none_or(|l| self.first <= l)
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match (self.first, self.last) {
            (0, None) => {}
            (first, None) => write!(f, " (segments {first} to the end)")?,
            (first, Some(last)) => write!(f, " (segments {first} to {last})")?,
        }
        write!(f, " verified with {}", self.verification)
    }
}

/// What to do with an unfinished download that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Continue it if it is of the same [`Identity`]; otherwise [`PartError::OtherContent`].
    #[default]
    Resume,
    /// Forget it and begin anew, whatever it holds, if it is ours.
    Restart,
    /// [`PartError::Unfinished`].
    Refuse,
}

/// How a download is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to do with an unfinished download.
    pub existing: Existing,
    /// Whether the target may be replaced.
    pub overwrite: bool,
    /// Whether [`PartFile::finish`] waits until the whole file is on disk before it gets its name.
    /// Without it a finished download survives `kill -9`, but not a power cut.
    pub sync: bool,
    /// Least time between two journals.
    pub journal_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            existing: Existing::Resume,
            overwrite: false,
            sync: true,
            journal_interval: Duration::from_secs(1),
        }
    }
}

/// A finished download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The file.
    pub path: PathBuf,
    /// Its length in octets.
    pub bytes: u64,
}

/// A download under way. Dropping it saves what it can, as [`PartFile::close`] does, but cannot
/// tell whether that succeeded.
#[derive(Debug)]
pub struct PartFile {
    target: PathBuf,
    options: Options,
    shelf: Shelf,
    keeper: Keeper,
    /// What is written to the file; what the next save claims.
    journal: Journal,
    /// `journal.received` and what is buffered or waits.
    accepted: RangeSet,
    /// The first segment to arrive, while it is not known whether it is the last one.
    waiting: Option<(u64, Bytes)>,
    pieces: Vec<Piece>,
    /// The segments that `pieces` come from.
    numbers: Vec<u64>,
    buffered_bytes: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All that the journal claims is on disk.
    Saved,
    /// There is something that the journal on disk does not claim yet.
    Ahead,
    /// Data was lost on its way to the disk: the journal must not advance.
    Lost,
    /// Closed or finished.
    Closed,
}

/// `FILE.part`.
pub fn part_path(target: &Path) -> PathBuf {
    with_suffix(target, ".part")
}

/// `FILE.part.journal`.
pub fn journal_path(target: &Path) -> PathBuf {
    with_suffix(target, ".part.journal")
}

/// FILE with a suffix. Of a name that would be too long with one, its beginning and a checksum of it stand there.
fn with_suffix(target: &Path, suffix: &str) -> PathBuf {
    let octets = target.file_name().unwrap_or_default().as_bytes();
    if octets.len() > MAX_NAME_BYTES {
        let mut begin = MAX_NAME_BYTES - "-".len() - 8;
        // A letter stays whole.
        while octets.get(begin).is_some_and(|octet| octet & 0xC0 == 0x80) {
            begin -= 1;
        }
        let mut name = OsStr::from_bytes(octets.get(..begin).unwrap_or_default()).to_owned();
        name.push(format!("-{:08x}{suffix}", crc32fast::hash(octets)));
        return target.with_file_name(name);
    }
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl PartFile {
    /// Begins the download to `target`, or continues it.
    ///
    /// # Errors
    /// [`PartError`]: what is there already stands in the way, or the system refuses.
    pub fn open(target: &Path, identity: Identity, options: Options) -> Result<Self, PartError> {
        if !identity.is_valid() {
            return Err(PartError::Identity);
        }
        check_target(target, options.overwrite)?;
        let (part, journal) = (part_path(target), journal_path(target));
        let file = open_locked(&part)?;
        let shelf = Shelf { file, part, journal };
        let journal = match recovered(&shelf, &identity, options.existing)? {
            Some(journal) => journal,
            None => begin(&shelf, identity)?,
        };
        Ok(Self {
            target: target.to_owned(),
            keeper: Keeper::new(options.journal_interval),
            options,
            shelf,
            accepted: journal.received.clone(),
            journal,
            waiting: None,
            pieces: Vec::new(),
            numbers: Vec::new(),
            buffered_bytes: 0,
            state: State::Saved,
        })
    }

    /// The segments that are there, buffered ones included.
    pub fn received(&self) -> &RangeSet {
        &self.accepted
    }

    /// What is in the file.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Tells the number of the object's last segment. May be told again, and may change as long as
    /// what has arrived does not contradict it.
    ///
    /// # Errors
    /// [`PartError::EndMoved`], [`PartError::OutOfRange`], [`PartError::SegmentSize`],
    /// [`PartError::EmptySegment`].
    pub fn set_final(&mut self, last: u64) -> Result<(), PartError> {
        if self.journal.final_segment == Some(last) {
            return Ok(());
        }
        if let Some(seen) = self.accepted.last().filter(|&seen| seen > last) {
            return Err(PartError::EndMoved { said: last, seen });
        }
        if last < self.journal.identity.first {
            return Err(self.out_of_range(self.journal.identity.first, Some(last)));
        }
        if let Some((segment, length)) = self.journal.tail.filter(|&(tail, _)| tail != last) {
            return Err(self.uneven(segment, length));
        }
        self.journal.final_segment = Some(last);
        self.state = self.state.ahead();
        match self.waiting.take() {
            Some((segment, content)) => self.settle(segment, content),
            None => Ok(()),
        }
    }

    /// Takes the content of a segment; [`PartFile::flush`] writes it. A segment that is there
    /// already is ignored.
    ///
    /// # Errors
    /// The segment does not fit: [`PartError::SegmentSize`], [`PartError::EmptySegment`],
    /// [`PartError::OutOfRange`], [`PartError::TooFar`]; it is not taken then. Or, if much has been
    /// buffered, those of [`PartFile::flush`].
    pub fn write(&mut self, segment: u64, content: Bytes) -> Result<(), PartError> {
        if self.accepted.contains(segment) {
            return Ok(());
        }
        let last = self.journal.last();
        if segment < self.journal.identity.first || last.is_some_and(|last| segment > last) {
            return Err(self.out_of_range(segment, last));
        }
        if self.buffered_bytes >= MAX_BUFFERED_BYTES {
            self.flush()?;
        }
        self.settle(segment, content)
    }

    /// Writes what has been taken; to be called at the end of each wake-up. Also starts, and looks
    /// after, the journal's replacement in the background.
    ///
    /// # Errors
    /// [`PartError::Io`]: what could not be written is kept and tried again by the next call.
    /// [`PartError::Lost`]: see there.
    pub fn flush(&mut self) -> Result<(), PartError> {
        if !self.pieces.is_empty() {
            batch::write_all(&self.shelf.file, &mut self.pieces)
                .map_err(|error| failed("write", &self.shelf.part, error))?;
            self.pieces.clear();
            self.buffered_bytes = 0;
            self.numbers.sort_unstable();
            for run in self.numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
                if let (Some(&first), Some(&last)) = (run.first(), run.last()) {
                    self.journal.received.insert_run(first, last);
                }
            }
            self.numbers.clear();
            self.state = self.state.ahead();
        }
        self.keep()
    }

    /// Takes the outcome of the last save and begins the next when it is due.
    fn keep(&mut self) -> Result<(), PartError> {
        if let Some(outcome) = self.keeper.outcome() {
            self.judge(outcome)?;
        }
        match self.state {
            State::Lost => Err(PartError::Lost { path: self.shelf.part.clone() }),
            State::Ahead if self.keeper.is_due() => {
                self.keeper.begin(&self.shelf, self.journal.clone())?;
                self.state = State::Saved;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn judge(&mut self, outcome: Result<(), Unsaved>) -> Result<(), PartError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Unsaved::Data(error)) => {
                self.state = State::Lost;
                Err(error)
            }
            Err(Unsaved::Journal(error)) => {
                self.state = self.state.ahead();
                Err(error)
            }
        }
    }

    /// Writes and saves everything, and leaves a download that can be resumed. Returns what is there.
    ///
    /// # Errors
    /// As [`PartFile::flush`]; what the last successful journal claims stays resumable.
    pub fn close(mut self) -> Result<Journal, PartError> {
        let result = self.save();
        self.state = State::Closed;
        result.map(|()| self.journal.clone())
    }

    fn save(&mut self) -> Result<(), PartError> {
        let flushed = self.flush();
        let kept = self.keeper.wait();
        let kept = self.judge(kept);
        if self.state == State::Lost {
            return flushed.and(kept);
        }
        let saved = match self.shelf.save(&self.journal) {
            Err(Unsaved::Journal(error)) if error.is_disk_full() => self.save_less(),
            saved => saved,
        };
        self.judge(saved).and(flushed)
    }

    /// No room even for the journal: gives up the file's end for it.
    fn save_less(&mut self) -> Result<(), Unsaved> {
        let end = self.journal.claimed_bytes().unwrap_or(0);
        self.journal.give_up(end.saturating_sub(SPARE_BYTES));
        let end = self.journal.claimed_bytes().unwrap_or(0);
        let cut = self.shelf.file.set_len(end);
        cut.map_err(|error| Unsaved::Journal(failed("shorten", &self.shelf.part, error)))?;
        self.shelf.save(&self.journal)
    }

    /// Ends a complete download: gives the file its final length and its name, and removes the
    /// journal.
    ///
    /// # Errors
    /// [`PartError::Incomplete`], [`PartError::TargetExists`], or those of [`PartFile::flush`]; the
    /// download stays resumable.
    pub fn finish(mut self) -> Result<Finished, PartError> {
        self.flush()?;
        let bytes = self.complete_bytes()?;
        let kept = self.keeper.wait();
        let kept = self.judge(kept);
        if self.state == State::Lost {
            return kept.and(Err(PartError::Lost { path: self.shelf.part.clone() }));
        }
        let trouble = |action| {
            let part = &self.shelf.part;
            move |error| failed(action, part, error)
        };
        self.shelf.file.set_len(bytes).map_err(trouble("set the length of"))?;
        if self.options.sync {
            self.shelf.file.sync_all().map_err(trouble("write"))?;
        }
        self.name_it()?;
        self.state = State::Closed;
        let _ = fs::remove_file(&self.shelf.journal);
        Ok(Finished { path: self.target.clone(), bytes })
    }

    /// The length of the file, if all of it is there.
    fn complete_bytes(&self) -> Result<u64, PartError> {
        let first = self.journal.identity.first;
        let received = &self.journal.received;
        let Some(last) = self.journal.last() else {
            let first = received.last().map_or(first, |last| last.saturating_add(1));
            return Err(PartError::Incomplete { missing: 1, first });
        };
        let gaps: Vec<_> = received.missing(first, last).collect();
        if let Some(gap) = gaps.first() {
            let missing = gaps.iter().map(|gap| (gap.end() - gap.start()).saturating_add(1));
            let missing = missing.fold(0, u64::saturating_add);
            return Err(PartError::Incomplete { missing, first: *gap.start() });
        }
        let tail = self.journal.tail.filter(|&(tail, _)| tail == last).map(|(_, bytes)| bytes);
        let bytes = tail.or(self.journal.segment_size).unwrap_or(0);
        let offset = self.journal.extent(last, bytes);
        Ok(offset.ok_or(PartError::TooFar { segment: last })? + bytes)
    }

    fn name_it(&self) -> Result<(), PartError> {
        let renamed = if self.options.overwrite {
            fs::rename(&self.shelf.part, &self.target)
        } else {
            rename_new(&self.shelf.part, &self.target)
        };
        match renamed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(PartError::TargetExists { path: self.target.clone() })
            }
            renamed => renamed.map_err(|error| failed("create", &self.target, error)),
        }?;
        if self.options.sync {
            let folder = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
            let folder = File::open(folder.unwrap_or(Path::new(".")));
            let _ = folder.and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if self.state != State::Closed {
            let _ = self.save();
        }
    }
}

impl State {
    fn ahead(self) -> Self {
        if self == Self::Saved { Self::Ahead } else { self }
    }
}

/// Removes an unfinished download. That there is none is no error.
///
/// # Errors
/// [`PartError::Foreign`] if the `.part` file is not ours, [`PartError::Busy`] if it is being
/// written, [`PartError::Io`].
pub fn discard(target: &Path) -> Result<(), PartError> {
    let (part, journal) = (part_path(target), journal_path(target));
    if part.symlink_metadata().is_ok() {
        let file = open_locked(&part)?;
        let length = file.metadata().map_err(|error| failed("read", &part, error))?.len();
        if length > 0 && !journal::is_ours(&journal) {
            return Err(PartError::Foreign { path: part });
        }
    }
    for path in [part, journal::beside(&journal), journal] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("remove", &path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Renames to a name that must not exist.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return Ok(renamed?),
        }
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}
