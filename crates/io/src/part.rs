//! The resumable download: segments are written at their offsets to a file in a staging folder
//! beside the target ([`part_path`]). A small journal beside it lists the segments that are safely
//! on disk.
//!
//! A thread replaces the journal, first after a tenth of a second, later at most once a second. The
//! data that a journal lists is always on the disk before it. A crash, `kill -9` or a power cut
//! therefore leaves two files from which the download continues. At worst, the segments of the last
//! second are fetched again.
//!
//! The journal has checksums of the content that it claims. Content that has changed on the disk is
//! found when the download goes on, and is fetched again.
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
mod attributes;
mod batch;
mod checksum;
mod complete;
mod error;
mod group;
mod journal;
mod keeper;
mod open;
mod place;
mod range_set;
mod record;
mod records;
mod staging;

pub use attributes::Attributes;
pub use error::PartError;
pub use group::{Group, Outcome};
pub use journal::{Journal, MAX_JOURNAL_BYTES};
pub use range_set::RangeSet;
pub use record::{Proof, Record};
pub use records::Records;
pub(crate) use staging::StagingFolder;
pub use staging::{is_reserved, journal_path, part_path};

use crate::target::TargetFolder;
use batch::Piece;
use bytes::Bytes;
use complete::Complete;
use error::failed;
use keeper::{Keeper, Storage, Unsaved};
use open::{begin, check_target, recovered};
use recoup_packet::object_id::ObjectId;
use staging::{Locked, Staging};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Content that is buffered for [`PartFile::flush`] at most, in bytes; more is written at once.
const MAX_BUFFERED_BYTES: usize = 4 << 20;
/// The end of a `.part` file that is given up so that its journal fits on a full disk, in bytes.
const SPARE_BYTES: u64 = 64 << 10;
/// Longest content that is fetched again if the process is killed before the file has its name, in bytes.
const SMALL_BYTES: u64 = 64 << 10;
/// Longest name or verification word in a journal, in bytes.
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
    /// Last segment of the range; `None`: to the end of the object.
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

/// Treatment of an existing unfinished download.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Continue it if it is of the same [`Identity`]; otherwise [`PartError::OtherContent`].
    #[default]
    Resume,
    /// Forget it and begin anew, whatever it holds.
    Restart,
    /// [`PartError::Unfinished`], if it holds any content.
    Fail,
}

/// How a download is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// Treatment of an existing unfinished download.
    pub existing: Existing,
    /// Whether the target may be replaced.
    pub overwrite: bool,
    /// Whether [`PartFile::finish`] waits until the whole file is on disk before it gets its name.
    /// Without it a finished download survives `kill -9`, but not a power cut.
    pub sync: bool,
    /// Where a finished file is recorded ([`Record`]), if it is.
    pub records: Option<Records>,
    /// The folder around the target: its handle is used instead of its path.
    pub folder: Option<Arc<TargetFolder>>,
    /// Least time between two journals. The first one comes after a tenth of it, and the next ones after twice the time of
    /// the one before until that is reached.
    pub journal_interval: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            existing: Existing::Resume,
            overwrite: false,
            sync: true,
            records: None,
            folder: None,
            journal_interval: Duration::from_secs(1),
        }
    }
}

/// A finished download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A download in progress. Dropping it saves as [`PartFile::close`] does, but reports no error.
#[derive(Debug)]
pub struct PartFile {
    target: PathBuf,
    options: Options,
    keeper: Keeper,
    storage: Storage,
    /// Segments written to the file, for the next save.
    journal: Journal,
    /// `journal.received` and what is buffered or waits.
    accepted: RangeSet,
    /// The first segment to arrive, while it is not known whether it is the last one.
    waiting: Option<(u64, Bytes)>,
    pieces: Vec<Piece>,
    buffered_bytes: usize,
    dropped_bytes: u64,
    /// An earlier process began it, and has left a journal.
    was_begun: bool,
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

impl PartFile {
    /// Begins the download to `target`, or continues it.
    ///
    /// # Errors
    /// [`PartError`]: an existing file is in the way, or a system call failed.
    pub fn open(target: &Path, identity: Identity, options: Options) -> Result<Self, PartError> {
        if !identity.is_valid() {
            return Err(PartError::Identity);
        }
        let folder = options.folder.as_deref();
        check_target(target, folder, options.overwrite)?;
        let anew = options.existing == Existing::Restart;
        let (staging, Locked { file, stat, is_new }) = Staging::acquire(target, folder, anew)?;
        let storage = Storage { file: Arc::new(file), stat, staging: Arc::new(staging) };
        let (journal, dropped_bytes) = match is_new && !storage.staging.may_have_leftovers() {
            true => (None, 0),
            false => recovered(&storage, &identity, options.existing)?,
        };
        let was_begun = journal.is_some();
        let journal = journal.map_or_else(|| begin(&storage, identity, is_new), Ok)?;
        Ok(Self {
            was_begun,
            target: target.to_owned(),
            keeper: Keeper::new(options.journal_interval),
            options,
            storage,
            accepted: journal.received.clone(),
            journal,
            waiting: None,
            pieces: Vec::new(),
            buffered_bytes: 0,
            dropped_bytes,
            state: State::Saved,
        })
    }

    /// The segments that are there, buffered ones included.
    pub fn received(&self) -> &RangeSet {
        &self.accepted
    }

    /// The segments that are in the file.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Content of an earlier run that has changed on the disk and is not in the file any more, in bytes.
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }

    /// Sets the identifier of the content. Content of another identifier is not to be written.
    pub fn set_object(&mut self, id: ObjectId) {
        self.journal.object = Some(id);
    }

    /// Sets the attributes that the finished file gets.
    pub fn set_attributes(&mut self, attributes: Attributes) {
        self.journal.attributes = attributes;
        self.state = self.state.ahead();
    }

    /// Records that a segment was accepted although nothing vouched for it.
    pub fn set_unverified(&mut self) {
        self.journal.is_unverified = true;
    }

    /// Sets the number of the object's last segment. It may be set again, and may change as long as
    /// no received segment contradicts it.
    ///
    /// # Errors
    /// [`PartError::EndMoved`], [`PartError::OutOfRange`], [`PartError::SegmentSize`],
    /// [`PartError::EmptySegment`].
    pub fn set_final(&mut self, last: u64) -> Result<(), PartError> {
        if self.journal.final_segment == Some(last) {
            return Ok(());
        }
        if let Some(seen) = self.accepted.last().filter(|&seen| seen > last) {
            return Err(PartError::EndMoved { claimed: last, seen });
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
            self.pieces.sort_unstable_by_key(|piece| piece.segment);
            let checksums = self.journal.checksums_of(&self.pieces);
            batch::write_all(&self.storage.file, &self.pieces)
                .map_err(|error| failed("write", &self.path(), error))?;
            self.journal.claim(&self.pieces, &checksums);
            self.pieces.clear();
            self.buffered_bytes = 0;
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
            State::Lost => Err(PartError::Lost { path: self.path() }),
            State::Ahead if self.keeper.is_due() => {
                self.keeper.begin(&self.storage, self.journal.clone())?;
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

    /// Writes and saves everything, and leaves a download that can be resumed. Returns its journal. A download without any
    /// content is removed instead: `None`.
    ///
    /// # Errors
    /// As [`PartFile::flush`]; what the last successful journal claims stays resumable.
    pub fn close(mut self) -> Result<Option<Journal>, PartError> {
        self.leave()?;
        Ok(Some(self.journal.clone()).filter(|journal| !journal.received.is_empty()))
    }

    fn leave(&mut self) -> Result<(), PartError> {
        let result = self.save();
        if self.journal.received.is_empty() {
            self.storage.staging.discard();
        }
        self.state = State::Closed;
        result
    }

    fn save(&mut self) -> Result<(), PartError> {
        let flushed = self.flush();
        let kept = self.keeper.wait();
        let kept = self.judge(kept);
        if self.state == State::Lost {
            return flushed.and(kept);
        }
        if self.journal.received.is_empty() {
            return flushed;
        }
        let saved = match self.storage.save(&self.journal) {
            Err(Unsaved::Journal(error)) if error.is_disk_full() => self.save_less(),
            saved => saved,
        };
        self.judge(saved).and(flushed)
    }

    /// No room even for the journal: gives up the file's end for it.
    fn save_less(&mut self) -> Result<(), Unsaved> {
        let end = self.journal.claimed_bytes().unwrap_or(0);
        self.journal.give_up(&self.storage.file, end.saturating_sub(SPARE_BYTES));
        let end = self.journal.claimed_bytes().unwrap_or(0);
        let cut = self.storage.file.set_len(end);
        cut.map_err(|error| Unsaved::Journal(failed("shorten", &self.path(), error)))?;
        self.storage.save(&self.journal)
    }

    /// Whether all segments are there, buffered ones included, so that [`PartFile::finish`] can end the download.
    pub fn is_complete(&self) -> bool {
        let first = self.journal.identity.first;
        let last = self.journal.last();
        last.is_some_and(|last| self.accepted.missing(first, last).next().is_none())
    }

    /// Ends a complete download: gives the file its final length and its name, and removes the
    /// journal.
    ///
    /// # Errors
    /// [`PartError::Incomplete`], [`PartError::TargetExists`], [`PartError::Replaced`], or those of [`PartFile::flush`]; the
    /// download stays resumable.
    pub fn finish(mut self) -> Result<Finished, PartError> {
        let bytes = self.fill()?;
        if self.keeper.has_begun() {
            // Syncing a large file takes a while. If the process is killed meanwhile, this journal lets the download end without
            // the network. Without it, the last segments are fetched again.
            let _ = journal::store(&self.storage.staging, &self.journal, false);
        }
        let complete = self.complete();
        if self.options.sync {
            complete.sync()?;
        }
        complete.publish()?;
        if self.options.sync {
            complete.sync_name();
        }
        self.state = State::Closed;
        Ok(Finished { path: self.target.clone(), bytes })
    }

    /// Ends a complete download as [`PartFile::finish`] does, some time soon, together with others. Its outcome is that of the
    /// group.
    ///
    /// # Errors
    /// Those of [`PartFile::finish`] that are known at once.
    pub fn finish_in(mut self, group: &Group) -> Result<(), PartError> {
        let bytes = self.fill()?;
        let mut complete = self.complete();
        // If the process is killed before the group gets its names, the download ends without the network.
        if self.keeper.has_begun() || self.was_begun || bytes > SMALL_BYTES {
            let _ = journal::store(&self.storage.staging, &self.journal, false);
        } else {
            complete.unsaved = Some(Box::new(self.journal.clone()));
        }
        self.state = State::Closed;
        drop(self);
        group.add(complete);
        Ok(())
    }

    /// Gives a complete file its length.
    fn fill(&mut self) -> Result<u64, PartError> {
        self.flush()?;
        let bytes = self.complete_bytes()?;
        let kept = self.keeper.wait();
        let kept = self.judge(kept);
        if self.state == State::Lost {
            return kept.and(Err(PartError::Lost { path: self.path() }));
        }
        let cut = self.storage.file.set_len(bytes);
        cut.map_err(|error| failed("set the length of", &self.path(), error))?;
        Ok(bytes)
    }

    fn complete(&self) -> Complete {
        Complete {
            unsaved: None,
            target: self.target.clone(),
            folder: self.options.folder.clone(),
            storage: self.storage.clone(),
            overwrite: self.options.overwrite,
            attributes: self.journal.attributes,
            record: self.options.records.clone().map(|it| (it, Box::new(self.journal.clone()))),
        }
    }

    fn path(&self) -> PathBuf {
        self.storage.staging.part_path()
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
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if self.state != State::Closed {
            let _ = self.leave();
        }
    }
}

impl State {
    fn ahead(self) -> Self {
        if self == Self::Saved { Self::Ahead } else { self }
    }
}
