//! Identifiers of served files: what ties the segments of one content together.
//!
//! The identifier of a file of at most [`CONTENT_BYTES`] is a digest of its content. It is equal after a restart, after a
//! copy, and on another host, so that replicas with equal content answer for each other. It differs whenever a byte
//! differs. The digest is computed in pieces before the first answer, and remembered with the state of the file.
//!
//! To read a longer file would delay the first answer too much. Its identifier is a digest of its state: host, device,
//! inode, length, and the times of the last write and of the last change (`st_ctime`). Each write moves the time of
//! change, and no system call puts it back, so another content has another state. An unchanged file keeps its
//! identifier after a restart. Equal copies have different ones.
//!
//! Some file systems give two contents the same state: images with fixed times (squashfs), file systems that store
//! whole seconds, hosts without a machine ID. There, a random number of the process is part of the state.
use super::state::FileState;
use super::{FileSource, SourceError};
use crate::{clock, entropy};
use recoup_packet::object_id::ObjectId;
use recoup_transport::serve::{Identified, Source};
use recoup_transport::time::{Duration, Instant};
use ring::digest::{Context, SHA256, digest};
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest file that is identified by its content. A processor digests it in 0.2 to 1.5 s.
const CONTENT_BYTES: u64 = 256 << 20;
/// Bytes that are digested at one attempt.
const PIECE_BYTES: u64 = 4 << 20;
/// Bytes of one read.
const READ_BYTES: u64 = 256 << 10;
/// Time between two attempts.
const PACE: Duration = Duration::from_millis(1);
/// Most files that are remembered (0.5 MB).
const MAX_FILES: usize = 4_096;
/// Files that name the host.
const MACHINE_IDS: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// Identifies files, and remembers their digests.
#[derive(Clone)]
pub(crate) struct Identifiers {
    shared: Arc<Shared>,
}

struct Shared {
    /// The host, if it has a name.
    host: Option<String>,
    /// A random number of the process.
    process: [u8; 16],
    files: Mutex<HashMap<FileState, Progress>>,
}

/// How much of a file is digested.
enum Progress {
    Partly(Box<Context>, u64),
    Done(ObjectId),
}

impl Identifiers {
    /// Identifiers of this host.
    pub(crate) fn new() -> Self {
        let mut process = [0; 16];
        if entropy::fill(&mut process).is_err() {
            process = clock::unix_time().as_nanos().to_le_bytes();
        }
        let host = MACHINE_IDS.iter().find_map(|path| machine_id(path));
        Self { shared: Arc::new(Shared { host, process, files: Mutex::default() }) }
    }

    /// Identifies the content of `file`; a long one in several attempts.
    pub(super) fn of(
        &self,
        file: &mut FileSource,
        now: Instant,
    ) -> Result<Identified, SourceError> {
        if file.len() > CONTENT_BYTES {
            return Ok(Identified::ByState(self.of_state(file.opened)));
        }
        let mut files = self.shared.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut context, digested) = match files.get(&file.opened) {
            Some(Progress::Done(id)) => return Ok(Identified::ByContent(*id)),
            Some(Progress::Partly(context, bytes)) => (context.clone(), *bytes),
            None => (Box::new(Context::new(&SHA256)), 0),
        };
        let end = file.len().min(digested + PIECE_BYTES);
        digest_span(file, &mut context, digested, end)?;
        if !files.contains_key(&file.opened) && files.len() >= MAX_FILES {
            files.clear();
        }
        if end < file.len() {
            files.insert(file.opened, Progress::Partly(context, end));
            return Err(SourceError::Unsettled { wait: PACE });
        }
        file.check(now)?;
        let id = of_digest(context.finish().as_ref());
        files.insert(file.opened, Progress::Done(id));
        Ok(Identified::ByContent(id))
    }

    fn of_state(&self, state: FileState) -> ObjectId {
        let Shared { host, process, .. } = &*self.shared;
        let mut facts = b"recoup file state".to_vec();
        match host.as_ref().filter(|_| state.is_precise()) {
            Some(host) => facts.extend_from_slice(host.as_bytes()),
            None => facts.extend_from_slice(process),
        }
        facts.extend_from_slice(&state.bytes());
        of_digest(digest(&SHA256, &facts).as_ref())
    }
}

impl fmt::Debug for Identifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identifiers").finish_non_exhaustive()
    }
}

/// Digests the bytes from `begin` to before `end`.
fn digest_span(
    file: &mut FileSource,
    context: &mut Context,
    begin: u64,
    end: u64,
) -> Result<(), SourceError> {
    let mut buffer = vec![0; READ_BYTES.min(end - begin) as usize];
    let mut offset = begin;
    while offset < end {
        let length = (end - offset).min(READ_BYTES) as usize;
        let piece = buffer.get_mut(..length).unwrap_or_default();
        file.read_at(offset, piece)?;
        context.update(piece);
        offset += length as u64;
    }
    Ok(())
}

pub(super) fn of_digest(digest: &[u8]) -> ObjectId {
    let mut whole = [0; 32];
    whole.iter_mut().zip(digest).for_each(|(byte, digest)| *byte = *digest);
    ObjectId::of_digest(&whole)
}

/// The text in a file that names the host; `None` if the text is no machine ID; `uninitialized` is an example.
fn machine_id(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::Path;
    use std::time::SystemTime;

    fn identify(identifiers: &Identifiers, path: &Path) -> Identified {
        let mut file = FileSource::open(path).unwrap().identified_by(identifiers);
        loop {
            match file.identify(Instant::ZERO) {
                Ok(identified) => return identified,
                Err(recoup_transport::serve::SourceError::Unsettled { until }) => {
                    std::thread::sleep(until.since(Instant::ZERO));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn equal_content_has_one_identifier_everywhere() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, other] = ["1", "2", "3"].map(|name| folder.path().join(name));
        let content = vec![7; 2 * PIECE_BYTES as usize + 5];
        fs::write(&one, &content).unwrap();
        fs::write(&two, &content).unwrap();
        fs::write(&other, &content[1..]).unwrap();
        let (here, there) = (Identifiers::new(), Identifiers::new());
        let id = identify(&here, &one);
        assert!(matches!(id, Identified::ByContent(_)));
        assert_eq!([identify(&here, &two), identify(&there, &one)], [id; 2]);
        assert_ne!(identify(&here, &other), id);
    }

    /// The file has no blocks: it takes no space.
    #[test]
    fn long_file_is_identified_by_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let [one, copy] = ["1", "2"].map(|name| folder.path().join(name));
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        for path in [&one, &copy] {
            let file = File::create(path).unwrap();
            file.set_len(CONTENT_BYTES + 1).unwrap();
            file.set_modified(time).unwrap();
        }
        let (here, restarted) = (Identifiers::new(), Identifiers::new());
        let id = identify(&here, &one);
        assert!(matches!(id, Identified::ByState(_)));
        let has_name = here.shared.host.is_some();
        assert_eq!(identify(&restarted, &one) == id, has_name, "an unchanged file keeps it");
        assert_ne!(identify(&here, &copy), id, "nothing proves that the copy is equal");
        std::thread::sleep(Duration::from_millis(30));
        let file = File::options().write(true).open(&one).unwrap();
        file.set_modified(time).unwrap();
        assert_ne!(identify(&here, &one), id, "the time of change has moved");
    }

    #[test]
    fn files_that_are_remembered_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        let identifiers = Identifiers::new();
        let state = FileSource::open(&path).unwrap().opened;
        let long = |length| {
            let mut state = state;
            state.length = length;
            state
        };
        let mut files = identifiers.shared.files.lock().unwrap();
        for length in 0..MAX_FILES as u64 {
            let id = ObjectId::new([0; 16]);
            files.insert(long(length), Progress::Done(id));
        }
        files.remove(&state);
        files.insert(long(u64::MAX), Progress::Done(ObjectId::new([0; 16])));
        drop(files);
        identify(&identifiers, &path);
        assert!(identifiers.shared.files.lock().unwrap().len() <= MAX_FILES);
    }
}
