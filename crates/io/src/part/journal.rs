//! The journal beside a `.part` file: which segments of which object are in it.
//!
//! A short text in a fixed order, one statement a line, ended by the CRC-32 of all lines before:
//!
//! ```text
//! recoup-part 2
//! target movie.mp4   name of the target; bytes that are not plain as %, two digits
//! name /a/movie/v=7
//! verify digest
//! first 0
//! last 99            only if an end was requested
//! object 30…ff       identifier of the content, if its producer states one
//! unverified yes     if nothing vouched for a segment
//! mode 644           permissions of the finished file, if its producer states them
//! modified 17…000    time of its last change in nanoseconds since 1970, likewise
//! final 24999        once it is known
//! size 8000          once it is known
//! tail 24999 120     the segment that is not of that size, once it has arrived, and its size
//! received 0-523 1be7cd04
//! received 524-1233 05a1c6b2
//! received 1240-1250 90dd7f3e
//! crc32 5e0c17a2
//! ```
//!
//! The record of a finished file is the same text with a line `finished`, before those of `received` (`record.rs`).
//!
//! A `received` line is one stretch: consecutive segments, and the CRC-32 of their content.
//!
//! The file is replaced as a whole (written beside, then renamed), so a reader sees the old or the
//! new.
use super::batch::Piece;
use super::checksum::{self, Checksums, Stretch};
use super::error::failed;
use super::staging::Staging;
use super::{Attributes, Identity, PartError, RangeSet};
use crate::source::state::FileState;
use crate::target::TargetFolder;
use recoup_packet::object_id::ObjectId;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// First word of a journal.
const MAGIC: &str = "recoup-part ";
const FORMAT: &str = "2";
/// Longest journal that is read or written, in bytes.
pub const MAX_JOURNAL_BYTES: usize = 1 << 20;
/// Most stretches that a journal lists; further ones are not claimed and will be fetched again.
const MAX_STRETCHES: usize = 15_000;

/// Content of a `.part` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Of what it is a part.
    pub identity: Identity,
    /// Identifier of the content, if its producer states one.
    pub object: Option<ObjectId>,
    /// A segment was accepted although nothing vouched for it.
    pub is_unverified: bool,
    /// Attributes of the finished file.
    pub(super) attributes: Attributes,
    /// The state of the finished file, in its record.
    pub(super) finished: Option<FileState>,
    /// Number of the object's last segment, if known.
    pub final_segment: Option<u64>,
    /// Content length of every segment but the last, in bytes, if known.
    pub segment_size: Option<u64>,
    /// The segment of another length and that length in bytes, if it has arrived.
    pub tail: Option<(u64, u64)>,
    /// The segments that are in the file.
    pub received: RangeSet,
    /// Checksums of their content.
    pub(super) checksums: Checksums,
    /// The target's name, as [`Staging::target_word`] writes it.
    pub(super) target: String,
}

impl Journal {
    /// A journal that claims nothing.
    pub(super) fn new(target: String, identity: Identity) -> Self {
        Self {
            identity,
            object: None,
            is_unverified: false,
            attributes: Attributes::default(),
            finished: None,
            final_segment: None,
            segment_size: None,
            tail: None,
            received: RangeSet::new(),
            checksums: Checksums::default(),
            target,
        }
    }

    /// Reads the journal of the download to `target`, for display; `None` if there is none, or no
    /// content. [`super::PartFile::open`] also checks the content.
    ///
    /// # Errors
    /// [`PartError::Journal`] if it is damaged or not ours, [`PartError::Io`] if it is unreadable, [`PartError::Reserved`],
    /// [`PartError::NotAFile`].
    pub fn read(target: &Path) -> Result<Option<Self>, PartError> {
        Self::read_within(target, None)
    }

    /// As [`Journal::read`]; a `folder` around the target is not opened by its path.
    ///
    /// # Errors
    /// Those of [`Journal::read`].
    pub fn read_within(
        target: &Path,
        folder: Option<&TargetFolder>,
    ) -> Result<Option<Self>, PartError> {
        let staging = Staging::open(target, folder, false)?;
        staging.map_or(Ok(None), |staging| load(&staging))
    }

    /// Last segment that belongs to the file: of the asked range, or of the object.
    pub fn last(&self) -> Option<u64> {
        match (self.identity.last, self.final_segment) {
            (Some(asked), Some(known)) => Some(asked.min(known)),
            (asked, known) => asked.or(known),
        }
    }

    /// All segments that belong to the file are in it.
    pub fn is_complete(&self) -> bool {
        let first = self.identity.first;
        self.last().is_some_and(|last| self.received.missing(first, last).next().is_none())
    }

    /// Content in the file, in bytes.
    pub fn received_bytes(&self) -> u64 {
        let tail = self.tail.filter(|&(segment, _)| self.received.contains(segment));
        let full = self.received.len() - u64::from(tail.is_some());
        let full_bytes = full.saturating_mul(self.segment_size.unwrap_or(0));
        full_bytes.saturating_add(tail.map_or(0, |(_, bytes)| bytes))
    }

    /// Offset in the file and length, in bytes, of a segment in it. `None` if unknown, or beyond
    /// the largest file offset.
    pub(crate) fn extent(&self, segment: u64, bytes: u64) -> Option<u64> {
        let index = segment.checked_sub(self.identity.first)?;
        let offset = if index == 0 { 0 } else { index.checked_mul(self.segment_size?)? };
        i64::try_from(offset.checked_add(bytes)?).ok()?;
        Some(offset)
    }

    /// Offsets of the content of the segments `first..=last`; `None` where [`Journal::extent`] has none.
    pub(super) fn span(&self, first: u64, last: u64) -> Option<Range<u64>> {
        let bytes = match self.tail {
            Some((segment, bytes)) if segment == last => bytes,
            _ => self.segment_size?,
        };
        Some(self.extent(first, 0)?..self.extent(last, bytes)? + bytes)
    }

    /// Checksums of new segments in ascending order. They are cheapest before the segments are written, while the content is
    /// in the processor's caches.
    pub(super) fn checksums_of(&self, pieces: &[Piece]) -> Vec<(u64, Stretch)> {
        runs(pieces).flat_map(|run| self.checksums.prepare(run)).collect()
    }

    /// Claims segments that were written to the file, with their checksums.
    pub(super) fn claim(&mut self, pieces: &[Piece], checksums: &[(u64, Stretch)]) {
        for run in runs(pieces) {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                self.received.insert_run(first.segment, last.segment);
            }
        }
        self.checksums.commit(checksums);
    }

    /// Claims no segment any more that ends after this offset of the file.
    pub(super) fn give_up(&mut self, file: &File, offset: u64) {
        let index = self.segment_size.map_or(0, |size| offset / size.max(1));
        let end = self.identity.first.saturating_add(index);
        self.received.remove_from(end);
        if let Some((first, last)) = self.checksums.cut(end).zip(end.checked_sub(1)) {
            let span = self.span(first, last);
            let read = span.and_then(|span| {
                let crc = checksum::checksum(file, span.clone(), &mut Vec::new()).ok()?;
                Some(Stretch { last, bytes: span.end - span.start, crc })
            });
            match read {
                Some(stretch) => self.checksums.insert(first, stretch),
                None => self.received.remove_from(first),
            }
        }
        self.forget_tail();
    }

    /// Forgets the length of the last segment if that is not in the file any more.
    pub(super) fn forget_tail(&mut self) {
        self.tail = self.tail.filter(|&(tail, _)| self.received.contains(tail));
    }

    /// End of the last byte that the journal claims.
    pub(super) fn claimed_bytes(&self) -> Option<u64> {
        match self.received.last() {
            Some(last) => Some(self.span(last, last)?.end),
            None => Some(0),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let Identity { name, verification, first, last } = &self.identity;
        let target = &self.target;
        let mut text =
            format!("{MAGIC}{FORMAT}\ntarget {target}\nname {name}\nverify {verification}\n");
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} {value}");
            }
        };
        put("first", Some(first.to_string()));
        put("last", last.map(|last| last.to_string()));
        put("object", self.object.map(|id| id.to_string()));
        put("unverified", self.is_unverified.then(|| "yes".to_owned()));
        put("mode", self.attributes.mode.map(|mode| format!("{mode:o}")));
        put("modified", self.attributes.modified_ns.map(|time| time.to_string()));
        put("final", self.final_segment.map(|last| last.to_string()));
        put("size", self.segment_size.map(|size| size.to_string()));
        put("tail", self.tail.map(|(segment, bytes)| format!("{segment} {bytes}")));
        put("finished", self.finished.map(FileState::to_words));
        for (first, Stretch { last, crc, .. }) in self.checksums.iter().take(MAX_STRETCHES) {
            put("received", Some(format!("{first}-{last} {crc:08x}")));
        }
        let _ = writeln!(text, "crc32 {:08x}", crc32fast::hash(text.as_bytes()));
        text
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.len() > MAX_JOURNAL_BYTES {
            return Err(FOREIGN);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| FOREIGN)?;
        let version = text.strip_prefix(MAGIC).ok_or(FOREIGN)?;
        if version.split_once('\n').map(|(version, _)| version) != Some(FORMAT) {
            return Err("it was written by another version of this program");
        }
        Lines::new(checked(text)?).journal().ok_or("it contradicts itself")
    }
}

const FOREIGN: &str = "it is not a journal of this program";
const DAMAGED: &str = "it is damaged (its checksum does not match)";

/// The statements between the first line and the checksum.
fn checked(text: &str) -> Result<&str, &'static str> {
    let (statements, _) =
        text.strip_suffix('\n').and_then(|t| t.rsplit_once('\n')).ok_or(DAMAGED)?;
    let (covered, last) = text.split_at_checked(statements.len() + 1).ok_or(DAMAGED)?;
    if last != format!("crc32 {:08x}\n", crc32fast::hash(covered.as_bytes())) {
        return Err(DAMAGED);
    }
    covered.split_once('\n').map(|(_, statements)| statements).ok_or(DAMAGED)
}

/// Statements in their fixed order.
struct Lines<'a> {
    lines: std::iter::Peekable<std::str::Lines<'a>>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.lines().peekable() }
    }

    /// The value of the next line if it has that key.
    fn value(&mut self, key: &str) -> Option<&'a str> {
        let value = self.lines.peek()?.strip_prefix(key)?.strip_prefix(' ')?;
        self.lines.next();
        Some(value)
    }

    /// A number that may be absent; `None` if it is there and malformed.
    fn number(&mut self, key: &str) -> Option<Option<u64>> {
        self.value(key).map_or(Some(None), |value| value.parse().ok().map(Some))
    }

    /// Permissions that may be absent.
    fn mode(&mut self) -> Option<Option<u32>> {
        let mode = |value| u32::from_str_radix(value, 8).ok().filter(|mode| *mode <= 0o7777);
        self.value("mode").map_or(Some(None), |value| mode(value).map(Some))
    }

    /// An identifier that may be absent.
    fn object(&mut self) -> Option<Option<ObjectId>> {
        self.value("object").map_or(Some(None), |value| value.parse().ok().map(Some))
    }

    /// The state of a finished file, which may be absent.
    fn finished(&mut self) -> Option<Option<FileState>> {
        self.value("finished").map_or(Some(None), |value| FileState::parse(value).map(Some))
    }

    /// Two numbers that may be absent.
    fn pair(&mut self, key: &str) -> Option<Option<(u64, u64)>> {
        let Some(value) = self.value(key) else {
            return Some(None);
        };
        let (left, right) = value.split_once(' ')?;
        Some(Some((left.parse().ok()?, right.parse().ok()?)))
    }

    /// A stretch that may be absent: first and last segment, CRC-32.
    fn stretch(&mut self) -> Option<Option<(u64, u64, u32)>> {
        let Some(value) = self.value("received") else {
            return Some(None);
        };
        let (run, crc) = value.split_once(' ')?;
        let (first, last) = run.split_once('-')?;
        let crc = u32::from_str_radix(crc, 16).ok().filter(|_| crc.len() == 8)?;
        Some(Some((first.parse().ok()?, last.parse().ok()?, crc)))
    }

    fn journal(mut self) -> Option<Journal> {
        let target = self.value("target")?.to_owned();
        let name = self.value("name")?.to_owned();
        let verification = self.value("verify")?.to_owned();
        let (first, last) = (self.number("first")??, self.number("last")?);
        let mut journal = Journal::new(target, Identity { name, verification, first, last });
        journal.object = self.object()?;
        journal.is_unverified = match self.value("unverified") {
            None => false,
            Some(yes) => (yes == "yes").then_some(true)?,
        };
        journal.attributes =
            Attributes { mode: self.mode()?, modified_ns: self.number("modified")? };
        journal.final_segment = self.number("final")?;
        journal.segment_size = self.number("size")?;
        journal.tail = self.pair("tail")?;
        journal.finished = self.finished()?;
        let bound = journal.last().unwrap_or(u64::MAX);
        let mut free = Some(first);
        while let Some((from, to, crc)) = self.stretch()? {
            if from > to || to > bound || free.is_none_or(|free| from < free) {
                return None;
            }
            let span = journal.span(from, to)?;
            let bytes = span.end.checked_sub(span.start)?;
            journal.received.insert_run(from, to);
            journal.checksums.insert(from, Stretch { last: to, bytes, crc });
            free = to.checked_add(1);
        }
        let ended = self.lines.next().is_none();
        (ended && journal.claimed_bytes().is_some()).then_some(journal)
    }
}

/// The consecutive segments among pieces in ascending order.
fn runs(pieces: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    pieces.chunk_by(|a, b| a.segment.checked_add(1) == Some(b.segment))
}

/// Reads a journal; `None` if there is none, or no content.
pub(super) fn load(staging: &Staging) -> Result<Option<Journal>, PartError> {
    let Some(part_bytes) = staging.part_bytes() else {
        staging.remove_stray_journal();
        return Ok(None);
    };
    let file = staging.open_journal();
    let Some(file) = file.map_err(|e| failed("read", &staging.journal_path(), e))? else {
        return Ok(None);
    };
    let bytes = read(file).map_err(|e| failed("read", &staging.journal_path(), e))?;
    // After a power cut a journal that was not brought to the disk has no content, or zeros.
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let wrong = |reason| PartError::Journal { path: staging.journal_path(), reason };
    let journal = Journal::parse(&bytes).map_err(wrong)?;
    if journal.target != staging.target_word() {
        return Err(wrong("it belongs to another file"));
    }
    let is_there = journal.claimed_bytes() == Some(0) || part_bytes > 0;
    Ok(is_there.then_some(journal))
}

/// The beginning of a file: at most one byte more than a journal may have.
pub(super) fn read(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    file.take(MAX_JOURNAL_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the journal, on disk as well if `sync`.
pub(super) fn store(staging: &Staging, journal: &Journal, sync: bool) -> Result<(), PartError> {
    let stored = staging.store_journal(journal.to_text().as_bytes(), sync);
    stored.map_err(|error| failed("write", &staging.journal_path(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Journal {
        let identity = Identity {
            name: "/a/movie/v=7".to_owned(),
            verification: "digest".to_owned(),
            first: 2,
            last: Some(40),
        };
        let mut journal = Journal::new("movie".to_owned(), identity);
        journal.object = Some(ObjectId::new([0xa7; 16]));
        journal.is_unverified = true;
        journal.finished = FileState::parse("1 2 3 -4 5");
        journal.final_segment = Some(30);
        journal.segment_size = Some(8000);
        journal.tail = Some((30, 120));
        for run in [2..10, 12..13, 29..31] {
            let content = |segment| vec![7; if segment == 30 { 120 } else { 8000 }].into();
            let pieces = run.map(|segment| Piece { segment, offset: 0, content: content(segment) });
            claim(&mut journal, &pieces.collect::<Vec<_>>());
        }
        journal
    }

    fn claim(journal: &mut Journal, pieces: &[Piece]) {
        let checksums = journal.checksums_of(pieces);
        journal.claim(pieces, &checksums);
    }

    fn signed(statements: &str) -> String {
        format!("{statements}crc32 {:08x}\n", crc32fast::hash(statements.as_bytes()))
    }

    #[test]
    fn journal_round_trips_and_counts_bytes() {
        let journal = sample();
        assert_eq!(Journal::parse(journal.to_text().as_bytes()), Ok(journal.clone()));
        assert_eq!(journal.received_bytes(), 10 * 8000 + 120);
        assert_eq!(journal.claimed_bytes(), Some(28 * 8000 + 120));
    }

    #[test]
    fn every_changed_or_missing_byte_is_an_error() {
        let text = sample().to_text().into_bytes();
        for at in 0..text.len() {
            assert!(Journal::parse(&text[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut flipped = text.clone();
                flipped[at] ^= 1 << bit;
                assert!(Journal::parse(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn contradictory_journal_with_valid_checksum_is_rejected() {
        let start = "recoup-part 2\ntarget a\nname /a\nverify none\n";
        for rest in [
            "",
            "first x\n",
            "first 5\nsize 10\nreceived 4-6 00000000\n",
            "first 0\nlast 3\nsize 10\nreceived 0-4 00000000\n",
            "first 0\nfinal 3\nsize 10\nreceived 0-4 00000000\n",
            "first 0\nsize 10\nreceived 4-2 00000000\n",
            "first 0\nsize 10\nreceived 0-2 00000000\nreceived 1-1 00000000\n",
            "first 0\nsize 10\nreceived 0-2 00000000\nreceived 2-3 00000000\n",
            "first 0\nsize 10\nreceived 0-2\n",
            "first 0\nsize 10\nreceived 0-2 0\n",
            "first 0\nreceived 0-2 00000000\n",
            "first 0\nsize 9223372036854775807\nreceived 0-2 00000000\n",
            "first 0\nsize 2\nreceived 0-18446744073709551615 00000000\n",
            "first 0\nsize 10\nunknown 1\n",
            "first 0\nsize 10\nfinal 3\n",
            "first 0\nobject 12\n",
            "first 0\nunverified no\n",
            "first 0\nfinished 1 2 3 4\n",
            "first 0\nfinished 1 2 3 4 5 6\n",
        ] {
            let text = signed(&format!("{start}{rest}"));
            assert_eq!(Journal::parse(text.as_bytes()), Err("it contradicts itself"), "{rest}");
        }
    }

    #[test]
    fn foreign_files_and_other_formats_are_distinguished() {
        for foreign in [&b""[..], b"hello\n", b"\xff\xfe", &[0; 4096]] {
            assert_eq!(Journal::parse(foreign), Err(FOREIGN));
        }
        let newer = signed("recoup-part 3\nname /a\n");
        assert!(Journal::parse(newer.as_bytes()).unwrap_err().contains("another version"));
    }

    #[test]
    fn endless_journal_is_read_up_to_the_limit() {
        let bytes = read(File::open("/dev/zero").unwrap()).unwrap();
        assert_eq!(bytes.len(), MAX_JOURNAL_BYTES + 1);
        assert_eq!(Journal::parse(&bytes), Err(FOREIGN));
    }

    #[test]
    fn journal_with_too_many_gaps_claims_less() {
        let identity =
            Identity { name: "a".repeat(super::super::MAX_WORD_BYTES), ..sample().identity };
        let mut journal = Journal::new("%ff".repeat(255), Identity { last: None, ..identity });
        journal.segment_size = Some(1);
        for i in 0..2 * MAX_STRETCHES as u64 {
            let segment = i64::MAX as u64 - 4 * MAX_STRETCHES as u64 + 2 * i;
            claim(&mut journal, &[Piece { segment, offset: 0, content: "x".into() }]);
        }
        let text = journal.to_text();
        assert!(text.len() < MAX_JOURNAL_BYTES, "{}", text.len());
        let read = Journal::parse(text.as_bytes()).unwrap();
        assert_eq!(read.received.runs().count(), MAX_STRETCHES);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error_or_a_journal(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Journal::parse(&bytes);
            let mut text = b"recoup-part 2\n".to_vec();
            text.extend(&bytes);
            let _ = Journal::parse(&text);
            let signed = format!("recoup-part 2\n{}\n", String::from_utf8_lossy(&bytes));
            let _ = Journal::parse(self::signed(&signed).as_bytes());
        }
    }
}
