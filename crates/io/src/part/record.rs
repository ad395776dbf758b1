//! Records of finished files: proof that a file is unchanged since its content arrived.
//!
//! The record lies in a folder of its own ([`Records`]). It is the last journal of the download, with the state of the
//! finished file. The journal has the name and identifier of the object, how it was verified, its length,
//! and checksums of the content. The state is: device, inode, length, and the times of the last write and of the last
//! change (`st_ctime`).
//!
//! A file is unchanged if one of these holds:
//!
//! - Its state is the recorded one. Each write moves the time of change, and no system call puts it back. Such a time has
//!   ticks of up to 10 ms. So the file gets a time of the last write in nanoseconds just before it gets its name: a write
//!   in the same tick replaces that time. File systems that store whole seconds prove nothing in this way.
//! - Its length and the checksums of its content are the recorded ones. This finds errors, and no attacks: an attacker
//!   could make other content with equal checksums. The caller decides whether it suffices.
//!
//! A record that is damaged, foreign or of another file is ignored. A record never claims more than the file bears out.
use super::checksum;
use super::journal::{self, Journal};
use super::staging::is_unfinished;
use super::staging::target_word;
use super::{Identity, Records};
use crate::source::state::{FileState, file_clock};
use crate::target::TargetFolder;
use recoup_packet::object_id::ObjectId;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// A finished file that is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Identity of the content, verification included.
    pub identity: Identity,
    /// Identifier of the content, if its producer stated one.
    pub object: Option<ObjectId>,
    /// A segment was accepted although nothing vouched for it.
    pub is_unverified: bool,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// Accepted proof that a file is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Its state only.
    State,
    /// Its state, or checksums of its content.
    Checksums,
}

impl Record {
    /// The record of the file at `target`, if that is unchanged since it was finished. A `folder` around the target is not
    /// opened by its path.
    #[must_use]
    pub fn of_unchanged(
        records: &Records,
        target: &Path,
        folder: Option<&TargetFolder>,
        proof: Proof,
    ) -> Option<Self> {
        let journal = load(records, target, folder)?;
        if is_unfinished(target, folder).ok()? {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match folder {
            Some(folder) => openat(folder.handle(), target.file_name()?, flags, Mode::empty()),
            None => openat(CWD, target, flags, Mode::empty()),
        };
        let file = File::from(file.ok()?);
        let bytes = journal.claimed_bytes()?;
        if !is_unchanged(&journal, &file, proof, &mut || {
            store(records, target, folder, &journal, &file);
        }) {
            return None;
        }
        let Journal { identity, object, is_unverified, .. } = journal;
        Some(Self { identity, object, is_unverified, bytes })
    }
}

/// Gives a complete file a time of its last write that no other write has.
pub(super) fn stamp(file: &File) {
    // Without it, only a write in the tick of the file's naming goes unnoticed.
    let _ = file.set_modified(SystemTime::now());
}

/// Records a file that has just got its name. Errors are ignored: the file is fetched again then.
pub(super) fn store(
    records: &Records,
    target: &Path,
    folder: Option<&TargetFolder>,
    journal: &Journal,
    file: &File,
) {
    let Some(path) = records.path_within(target, folder) else {
        return;
    };
    let stored = file.metadata().and_then(|metadata| {
        let finished = Some(FileState::from(&metadata));
        let text = Journal { finished, ..journal.clone() }.to_text();
        records.store(&path, text.as_bytes())
    });
    if stored.is_err() {
        // The record of an earlier file in its place.
        let _ = fs::remove_file(path);
    }
}

/// The record, if it is one of a complete file of this name.
fn load(records: &Records, target: &Path, folder: Option<&TargetFolder>) -> Option<Journal> {
    let file = File::open(records.path_within(target, folder)?).ok()?;
    let bytes = journal::read(file).ok()?;
    let journal = Journal::parse(&bytes).ok()?;
    let is_its_own = journal.target == target_word(target.file_name()?);
    (is_its_own && journal.finished.is_some() && journal.is_complete()).then_some(journal)
}

/// Whether the file is in its recorded state; `renew` makes a record of its present state.
fn is_unchanged(journal: &Journal, file: &File, proof: Proof, renew: &mut dyn FnMut()) -> bool {
    let Ok(state) = state_of(file) else {
        return false;
    };
    if journal.finished == Some(state) && state.is_precise() {
        return true;
    }
    let has_length = file.metadata().is_ok_and(|it| Some(it.len()) == journal.claimed_bytes());
    if proof == Proof::State || !has_length {
        return false;
    }
    let mut read = journal.clone();
    let is_same = checksum::verify(&mut read, file) == 0 && read.is_complete();
    let is_stable = state_of(file).is_ok_and(|now| now == state);
    if is_same && is_stable && state.unsettled_for(file_clock()).is_none() {
        // The next run need not read it.
        renew();
    }
    is_same && is_stable
}

/// The state of a regular file.
fn state_of(file: &File) -> io::Result<FileState> {
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok(FileState::from(&metadata)),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::{Options, PartFile};
    use std::fs;
    use std::os::unix::fs::FileExt;
    use std::path::PathBuf;

    const CONTENT: &[u8] = b"0123456789abcdefghij";

    fn records(folder: &Path) -> Records {
        Records::open(&folder.join("state"))
    }

    /// A finished and recorded file.
    fn finished() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("file");
        let records = Some(records(folder.path()));
        let options = Options { records, overwrite: true, ..Options::default() };
        let identity = Identity::new("/a/v=1", "digest");
        let mut part = PartFile::open(&target, identity, options).unwrap();
        part.set_object(ObjectId::new([7; 16]));
        part.set_final(1).unwrap();
        part.write(0, CONTENT[..10].into()).unwrap();
        part.write(1, CONTENT[10..].into()).unwrap();
        part.finish().unwrap();
        (folder, target)
    }

    fn proofs(target: &Path) -> [bool; 2] {
        let records = records(target.parent().unwrap());
        [Proof::State, Proof::Checksums]
            .map(|it| Record::of_unchanged(&records, target, None, it).is_some())
    }

    #[test]
    fn unchanged_file_has_a_record() {
        let (folder, target) = finished();
        let records = records(folder.path());
        let record = Record::of_unchanged(&records, &target, None, Proof::State).unwrap();
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 2, "nothing lies beside the file and the records: {left:?}");
        let identity = Identity::new("/a/v=1", "digest");
        let object = Some(ObjectId::new([7; 16]));
        let bytes = CONTENT.len() as u64;
        assert_eq!(record, Record { identity, object, is_unverified: false, bytes });
    }

    /// Each change to the file, and whether its state and its checksums still prove that it is unchanged.
    #[test]
    fn each_change_is_judged_by_its_proof() {
        type Act = fn(&Path);
        let acts: [(&str, Act, [bool; 2]); 7] = [
            ("flip a bit", |path| flip(path, false), [false; 2]),
            ("flip a bit, time put back", |path| flip(path, true), [false; 2]),
            ("shorten", |path| writable(path).set_len(19).unwrap(), [false; 2]),
            ("lengthen", |path| writable(path).set_len(21).unwrap(), [false; 2]),
            ("replace", |path| replace(path, b"another content here"), [false; 2]),
            ("replace by a copy", |path| replace(path, CONTENT), [false, true]),
            (
                "touch",
                |path| writable(path).set_modified(SystemTime::UNIX_EPOCH).unwrap(),
                [false, true],
            ),
        ];
        for (name, act, expected) in acts {
            let (_folder, target) = finished();
            act(&target);
            assert_eq!(proofs(&target), expected, "{name}");
        }
    }

    fn writable(path: &Path) -> File {
        File::options().write(true).open(path).unwrap()
    }

    fn flip(path: &Path, keeps_time: bool) {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        writable(path).write_all_at(&[CONTENT[3] ^ 1], 3).unwrap();
        if keeps_time {
            // In a later tick: within one, only the time of the write shows the change.
            std::thread::sleep(std::time::Duration::from_millis(25));
            writable(path).set_modified(time).unwrap();
        }
    }

    fn replace(path: &Path, content: &[u8]) {
        let other = path.with_file_name("other");
        fs::write(&other, content).unwrap();
        fs::rename(other, path).unwrap();
    }

    #[test]
    fn damaged_or_foreign_record_proves_nothing() {
        let (folder, target) = finished();
        let records = records(folder.path());
        let staging = records.path(&target).unwrap();
        let text = fs::read(&staging).unwrap();
        for at in 0..text.len() {
            let mut damaged = text.clone();
            damaged[at] ^= 1;
            fs::write(&staging, damaged).unwrap();
            assert_eq!(proofs(&target), [false; 2], "byte {at}");
        }
        fs::write(&staging, &text).unwrap();
        assert_eq!(proofs(&target), [true; 2]);
        // The record of another file in its place.
        let other = folder.path().join("other");
        fs::copy(&target, &other).unwrap();
        fs::write(records.path(&other).unwrap(), &text).unwrap();
        assert_eq!(proofs(&other), [false; 2]);
    }
}
