//! The journal beside a `.part` file: which segments of what are in it.
//!
//! A short text in a fixed order, one statement a line, ended by the CRC-32 of what precedes it:
//!
//! ```text
//! recoup-part 1
//! name /a/movie/v=7
//! verify digest
//! first 0
//! last 99            only if an end was asked for
//! final 24999        once it is known
//! size 8000          once it is known
//! tail 24999 120     the segment that is not of that size, once it has arrived, and its size
//! received 0-1233    one line for each run
//! received 1240-1250
//! crc32 5e0c17a2
//! ```
//!
//! It is replaced as a whole (written beside, then renamed), so a reader sees the old or the new.
use super::error::failed;
use super::{Identity, PartError, RangeSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// First word of a journal.
const MAGIC: &str = "recoup-part ";
const FORMAT: &str = "1";
/// Longest journal that is read or written, in octets.
pub const MAX_JOURNAL_BYTES: usize = 1 << 20;
/// Most runs that a journal lists; further ones are not claimed and will be fetched again.
const MAX_RUNS: usize = 16_000;

/// What a `.part` file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Of what it is a part.
    pub identity: Identity,
    /// Number of the object's last segment, if known.
    pub final_segment: Option<u64>,
    /// Content length of every segment but the last, in octets, if known.
    pub segment_size: Option<u64>,
    /// The segment of another length and that length in octets, if it has arrived.
    pub tail: Option<(u64, u64)>,
    /// The segments that are in the file.
    pub received: RangeSet,
}

impl Journal {
    /// A journal that claims nothing.
    pub(crate) fn new(identity: Identity) -> Self {
        let received = RangeSet::new();
        Self { identity, final_segment: None, segment_size: None, tail: None, received }
    }

    /// Reads the journal of the download to `target`; `None` if there is none. For telling a user
    /// what may be there; [`super::PartFile::open`] reads it by itself and looks at the file, too.
    ///
    /// # Errors
    /// [`PartError::Journal`] if it is damaged or not ours, [`PartError::Io`] if it is unreadable.
    pub fn read(target: &Path) -> Result<Option<Self>, PartError> {
        load(&super::journal_path(target))
    }

    /// Last segment that belongs to the file: of the asked range, or of the object.
    pub fn last(&self) -> Option<u64> {
        match (self.identity.last, self.final_segment) {
            (Some(asked), Some(known)) => Some(asked.min(known)),
            (asked, known) => asked.or(known),
        }
    }

    /// Octets of content in the file.
    pub fn received_bytes(&self) -> u64 {
        let tail = self.tail.filter(|&(segment, _)| self.received.contains(segment));
        let full = self.received.len() - u64::from(tail.is_some());
        let full_bytes = full.saturating_mul(self.segment_size.unwrap_or(0));
        full_bytes.saturating_add(tail.map_or(0, |(_, bytes)| bytes))
    }

    /// Offset in the file and length, in octets, of a segment that is in it. `None` if that cannot
    /// be said, or exceeds what a file offset can be.
    pub(crate) fn extent(&self, segment: u64, bytes: u64) -> Option<u64> {
        let index = segment.checked_sub(self.identity.first)?;
        let offset = if index == 0 { 0 } else { index.checked_mul(self.segment_size?)? };
        i64::try_from(offset.checked_add(bytes)?).ok()?;
        Some(offset)
    }

    /// Claims nothing any more that ends after this offset.
    pub(crate) fn give_up(&mut self, offset: u64) {
        let index = self.segment_size.map_or(0, |size| offset / size.max(1));
        self.received.remove_from(self.identity.first.saturating_add(index));
        self.tail = self.tail.filter(|&(tail, _)| self.received.contains(tail));
    }

    /// End of the last octet that the journal claims.
    pub(crate) fn claimed_bytes(&self) -> Option<u64> {
        let Some(last) = self.received.last() else {
            return Some(0);
        };
        let bytes = match self.tail {
            Some((segment, bytes)) if segment == last => bytes,
            _ => self.segment_size?,
        };
        Some(self.extent(last, bytes)? + bytes)
    }

    fn to_text(&self) -> String {
        let Identity { name, verification, first, last } = &self.identity;
        let mut text = format!("{MAGIC}{FORMAT}\nname {name}\nverify {verification}\n");
        let mut put = |key: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{key} {value}");
            }
        };
        put("first", Some(first.to_string()));
        put("last", last.map(|last| last.to_string()));
        put("final", self.final_segment.map(|last| last.to_string()));
        put("size", self.segment_size.map(|size| size.to_string()));
        put("tail", self.tail.map(|(segment, bytes)| format!("{segment} {bytes}")));
        for run in self.received.runs().take(MAX_RUNS) {
            put("received", Some(format!("{}-{}", run.start(), run.end())));
        }
        let _ = writeln!(text, "crc32 {:08x}", crc32fast::hash(text.as_bytes()));
        text
    }

    fn parse(octets: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(octets).map_err(|_| FOREIGN)?;
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

    fn pair(&mut self, key: &str, separator: char) -> Option<Option<(u64, u64)>> {
        let Some(value) = self.value(key) else {
            return Some(None);
        };
        let (left, right) = value.split_once(separator)?;
        Some(Some((left.parse().ok()?, right.parse().ok()?)))
    }

    fn journal(mut self) -> Option<Journal> {
        let name = self.value("name")?.to_owned();
        let verification = self.value("verify")?.to_owned();
        let (first, last) = (self.number("first")??, self.number("last")?);
        let mut journal = Journal::new(Identity { name, verification, first, last });
        journal.final_segment = self.number("final")?;
        journal.segment_size = self.number("size")?;
        journal.tail = self.pair("tail", ' ')?;
        while let Some((from, to)) = self.pair("received", '-')? {
            let bound = journal.last().unwrap_or(u64::MAX);
            if from < first || to > bound || journal.received.insert_run(from, to) == 0 {
                return None;
            }
        }
        let ended = self.lines.next().is_none();
        (ended && journal.claimed_bytes().is_some()).then_some(journal)
    }
}

/// Reads a journal; `None` if the file does not exist.
pub(crate) fn load(path: &Path) -> Result<Option<Journal>, PartError> {
    let file = match super::open::read_options().open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|e| failed("read", path, e))?,
    };
    let mut octets = Vec::new();
    let limit = MAX_JOURNAL_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut octets).map_err(|e| failed("read", path, e))?;
    let wrong = |reason| PartError::Journal { path: path.to_owned(), reason };
    if octets.len() > MAX_JOURNAL_BYTES {
        return Err(wrong(FOREIGN));
    }
    Journal::parse(&octets).map(Some).map_err(wrong)
}

/// Whether the file begins like a journal of ours, be it damaged.
pub(crate) fn is_ours(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read =
        super::open::read_options().open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC.as_bytes()
}

pub(crate) fn foreign(path: &Path) -> PartError {
    PartError::Journal { path: path.to_owned(), reason: FOREIGN }
}

/// Replaces the journal. The data that it claims must be on disk before.
pub(crate) fn store(path: &Path, journal: &Journal) -> Result<(), PartError> {
    let beside = beside(path);
    let write = || -> io::Result<()> {
        let mut file = replace(&beside)?;
        file.write_all(journal.to_text().as_bytes())?;
        file.sync_data()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed("write", path, error)
    })
}

/// The name that a new journal has until it is complete.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("~");
    PathBuf::from(name)
}

fn replace(path: &Path) -> io::Result<File> {
    let _ = fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Checks that `file` is long enough for what the journal claims.
pub(crate) fn check_length(journal: &Journal, path: &Path, length: u64) -> Result<(), PartError> {
    let claimed = journal.claimed_bytes().unwrap_or(u64::MAX);
    if claimed > length {
        return Err(PartError::Shorter { path: path.to_owned(), length, claimed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Journal {
        let mut journal = Journal::new(Identity {
            name: "/a/movie/v=7".to_owned(),
            verification: "digest".to_owned(),
            first: 2,
            last: Some(40),
        });
        journal.final_segment = Some(30);
        journal.segment_size = Some(8000);
        journal.tail = Some((30, 120));
        journal.received.insert_run(2, 9);
        journal.received.insert_run(12, 12);
        journal.received.insert_run(29, 30);
        journal
    }

    fn signed(statements: &str) -> String {
        format!("{statements}crc32 {:08x}\n", crc32fast::hash(statements.as_bytes()))
    }

    #[test]
    fn it_reads_what_it_wrote_and_counts_the_octets() {
        let journal = sample();
        assert_eq!(Journal::parse(journal.to_text().as_bytes()), Ok(journal.clone()));
        assert_eq!(journal.received_bytes(), 10 * 8000 + 120);
        assert_eq!(journal.claimed_bytes(), Some(28 * 8000 + 120));
    }

    #[test]
    fn every_changed_or_missing_octet_is_an_error() {
        let text = sample().to_text().into_bytes();
        for at in 0..text.len() {
            assert!(Journal::parse(&text[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut flipped = text.clone();
                flipped[at] ^= 1 << bit;
                assert!(Journal::parse(&flipped).is_err(), "bit {bit} of octet {at}");
            }
        }
    }

    #[test]
    fn statements_that_contradict_each_other_are_refused_despite_a_right_checksum() {
        let start = "recoup-part 1\nname /a\nverify none\n";
        for rest in [
            "",
            "first x\n",
            "first 5\nsize 10\nreceived 4-6\n",
            "first 0\nlast 3\nsize 10\nreceived 0-4\n",
            "first 0\nfinal 3\nsize 10\nreceived 0-4\n",
            "first 0\nsize 10\nreceived 4-2\n",
            "first 0\nsize 10\nreceived 0-2\nreceived 1-1\n",
            "first 0\nreceived 0-2\n",
            "first 0\nsize 9223372036854775807\nreceived 0-2\n",
            "first 0\nsize 2\nreceived 0-18446744073709551615\n",
            "first 0\nsize 10\nunknown 1\n",
            "first 0\nsize 10\nfinal 3\n",
        ] {
            let text = signed(&format!("{start}{rest}"));
            assert_eq!(Journal::parse(text.as_bytes()), Err("it contradicts itself"), "{rest}");
        }
    }

    #[test]
    fn foreign_files_and_other_formats_are_told_apart() {
        for foreign in [&b""[..], b"hello\n", b"\xff\xfe", &[0; 4096]] {
            assert_eq!(Journal::parse(foreign), Err(FOREIGN));
        }
        let newer = signed("recoup-part 2\nname /a\n");
        assert!(Journal::parse(newer.as_bytes()).unwrap_err().contains("another version"));
    }

    #[test]
    fn an_endless_file_is_read_only_to_the_limit() {
        let error = load(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, PartError::Journal { .. }), "{error}");
    }

    #[test]
    fn with_too_many_runs_it_claims_less_and_stays_readable() {
        let mut journal = Journal::new(sample().identity);
        journal.identity.last = None;
        journal.segment_size = Some(1);
        (0..2 * MAX_RUNS as u64).for_each(|i| {
            journal.received.insert(u64::from(u32::MAX) + 2 * i);
        });
        let text = journal.to_text();
        assert!(text.len() < MAX_JOURNAL_BYTES);
        let read = Journal::parse(text.as_bytes()).unwrap();
        assert_eq!(read.received.runs().count(), MAX_RUNS);
    }

    proptest! {
        #[test]
        fn any_octets_are_an_error_or_a_journal(octets in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Journal::parse(&octets);
            let mut text = b"recoup-part 1\n".to_vec();
            text.extend(&octets);
            let _ = Journal::parse(&text);
            let signed = format!("recoup-part 1\n{}\n", String::from_utf8_lossy(&octets));
            let _ = Journal::parse(self::signed(&signed).as_bytes());
        }
    }
}
