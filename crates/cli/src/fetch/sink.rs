//! Where content goes: a file with its part and journal, a pipe, or memory.
use crate::error::{Exit, Failure};
use crate::format;
use crate::output;
use bytes::Bytes;
use recoup_io::part::{self, Existing, Identity, Options, PartError, PartFile};
use recoup_io::waker::Waker;
use recoup_packet::name::Name;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What is done with the content of one object.
pub(crate) trait Sink {
    /// The object is known; no content comes before this.
    fn begin(&mut self, object: &Name) -> Result<(), Failure>;
    /// The last segment of the object is known, or has moved.
    fn end_known(&mut self, last: u64) -> Result<(), Failure>;
    /// Content of one segment.
    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure>;
    /// A wake-up is over. Returns the octets that the reader took since the last one.
    fn flush(&mut self) -> Result<u64, Failure>;
    /// Everything is there.
    fn finish(&mut self) -> Result<(), Failure>;
    /// It ended before everything was there. Returns what can be done about it.
    fn abandon(&mut self) -> Option<String>;
}

/// A file under construction: FILE.part and its journal until it is complete.
#[derive(Debug)]
pub(crate) struct FileSink {
    target: PathBuf,
    verification: String,
    first: u64,
    last: Option<u64>,
    existing: Existing,
    part: Option<PartFile>,
}

impl FileSink {
    /// A download to `target`. Looks whether it can begin, so that nothing is fetched in vain.
    pub(crate) fn new(
        target: &Path,
        verification: &str,
        (first, last): (u64, Option<u64>),
        resume: bool,
    ) -> Result<Self, Failure> {
        check(target)?;
        let existing = if resume {
            Existing::Resume
        } else {
            Existing::Refuse
        };
        if !resume && let Some(found) = part::Journal::read(target).map_err(|e| failure(&e))? {
            let bytes = format::octets(found.received_bytes());
            let part = part::part_path(target);
            if found.received_bytes() > 0 {
                let message = format!("{} holds {bytes} of an unfinished download", part.display());
                return Err(Failure::new(Exit::Local, message)
                    .advise("go on with --resume, or remove it to begin anew"));
            }
        }
        let (target, verification) = (target.to_owned(), verification.to_owned());
        Ok(Self {
            target,
            verification,
            first,
            last,
            existing,
            part: None,
        })
    }

    /// Nothing came: what is there is from an earlier run, perhaps of a version that is gone.
    fn not_begun(&self, path: &Path) -> Option<String> {
        let journal = part::Journal::read(&self.target).ok()??;
        (journal.received_bytes() > 0).then(|| {
            format!(
                "{} holds {} of it from before; remove that to begin anew with the newest version",
                path.display(),
                format::octets(journal.received_bytes())
            )
        })
    }

    fn part(&mut self) -> Result<&mut PartFile, Failure> {
        self.part
            .as_mut()
            .ok_or_else(|| Failure::new(Exit::Other, "content before its name"))
    }
}

impl Sink for FileSink {
    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        let identity = Identity::new(object.to_string(), self.verification.clone())
            .range(self.first, self.last);
        let options = Options {
            existing: self.existing,
            overwrite: true,
            ..Options::default()
        };
        let part = PartFile::open(&self.target, identity, options);
        self.part = Some(part.map_err(|error| failure(&error))?);
        Ok(())
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        self.part()?
            .set_final(last)
            .map_err(|error| failure(&error))
    }

    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure> {
        self.part()?
            .write(segment, content)
            .map_err(|error| failure(&error))
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        match &mut self.part {
            Some(part) => part.flush().map(|()| 0).map_err(|error| failure(&error)),
            None => Ok(0),
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(part) = self.part.take() else {
            return Ok(());
        };
        part.finish().map(|_| ()).map_err(|error| failure(&error))
    }

    fn abandon(&mut self) -> Option<String> {
        let path = part::part_path(&self.target);
        let Some(part) = self.part.take() else {
            return self.not_begun(&path);
        };
        let kept = part.close();
        match kept {
            Ok(journal) if journal.received_bytes() == 0 => {
                let _ = part::discard(&self.target);
                None
            }
            Ok(journal) => Some(format!(
                "{} are kept in {}: the same command with --resume goes on",
                format::octets(journal.received_bytes()),
                path.display()
            )),
            Err(_) => Some(format!(
                "what {} holds is kept: the same command with --resume goes on",
                path.display()
            )),
        }
    }
}

/// An interrupted download: of which object, and which segments are there.
pub(crate) struct Unfinished {
    /// The object, version included.
    pub object: Name,
    /// The segments: ascending, disjoint.
    pub held: Vec<Range<u64>>,
}

/// What an interrupted download to `target` still has.
pub(crate) fn unfinished(target: &Path) -> Result<Option<Unfinished>, Failure> {
    let Some(journal) = part::Journal::read(target).map_err(|error| failure(&error))? else {
        return Ok(None);
    };
    let Ok(object) = journal.identity.name.parse() else {
        return Ok(None);
    };
    let runs = journal.received.runs();
    let held: Vec<_> = runs
        .map(|run| *run.start()..run.end().saturating_add(1))
        .collect();
    Ok((!held.is_empty()).then_some(Unfinished { object, held }))
}

fn check(target: &Path) -> Result<(), Failure> {
    if target.is_dir() {
        let message = format!("{} is a folder", target.display());
        return Err(Failure::new(Exit::Local, message).advise("name a file after -o"));
    }
    let parent = target
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    match std::fs::metadata(parent) {
        Err(error) => Err(Failure::file("write into", parent.display(), &error)),
        Ok(there) if !there.is_dir() => {
            let message = format!("{} is not a folder", parent.display());
            Err(Failure::new(Exit::Local, message).advise("choose another place after -o"))
        }
        Ok(_) => Ok(()),
    }
}

/// The exit code and the line for a failure of the part file.
fn failure(error: &PartError) -> Failure {
    match error {
        PartError::OtherContent { .. } | PartError::EndMoved { .. } => {
            Failure::new(Exit::Local, error.to_string())
        }
        PartError::SegmentSize { .. }
        | PartError::EmptySegment { .. }
        | PartError::OutOfRange { .. } => Failure::new(Exit::Verification, error.to_string())
            .advise("without -o such content can still be fetched into a pipe"),
        _ => Failure::new(Exit::Local, error.to_string()),
    }
}

/// Standard output, fed by a thread of its own so that a slow reader slows the window and not the
/// network.
#[derive(Debug)]
pub(crate) struct PipeSink {
    feed: Option<mpsc::Sender<Bytes>>,
    state: Arc<Mutex<PipeState>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct PipeState {
    taken: u64,
    error: Option<Failure>,
}

impl PipeSink {
    /// Standard output; `waker` wakes the driver when something was taken.
    pub(crate) fn new(waker: Waker) -> Result<Self, Failure> {
        let (feed, content) = mpsc::channel::<Bytes>();
        let state = Arc::new(Mutex::new(PipeState::default()));
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("output".into());
        let thread = thread
            .spawn(move || write_all(&content, &shared, &waker))
            .map_err(|error| {
                Failure::new(Exit::Other, format!("cannot start a thread: {error}"))
            })?;
        Ok(Self {
            feed: Some(feed),
            state,
            thread: Some(thread),
        })
    }

    fn take(&self) -> Result<u64, Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut state.taken)),
        }
    }
}

fn write_all(content: &mpsc::Receiver<Bytes>, state: &Mutex<PipeState>, waker: &Waker) {
    let mut out = std::io::stdout().lock();
    while let Ok(piece) = content.recv() {
        let written = out.write_all(&piece).and_then(|()| out.flush());
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        match written {
            Ok(()) => state.taken += piece.len() as u64,
            Err(error) => state.error = Some(output::closed(&error)),
        }
        waker.wake();
        if state.error.is_some() {
            return;
        }
    }
}

impl Sink for PipeSink {
    fn begin(&mut self, _object: &Name) -> Result<(), Failure> {
        Ok(())
    }

    fn end_known(&mut self, _last: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        // A writer that has ended has left its reason, which the next flush finds.
        let _ = self.feed.as_ref().map(|feed| feed.send(content));
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        self.take()
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.feed = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.take().map(|_| ())
    }

    fn abandon(&mut self) -> Option<String> {
        // Not joined: whoever reads may never read on.
        self.feed = None;
        None
    }
}

/// Content in memory, in order, up to a bound: for listings.
#[derive(Debug)]
pub(crate) struct MemorySink {
    /// What came so far.
    pub content: Vec<u8>,
    limit: usize,
}

impl MemorySink {
    /// At most `limit` octets.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            content: Vec::new(),
            limit,
        }
    }
}

impl Sink for MemorySink {
    fn begin(&mut self, _object: &Name) -> Result<(), Failure> {
        Ok(())
    }

    fn end_known(&mut self, _last: u64) -> Result<(), Failure> {
        Ok(())
    }

    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        if self.content.len() + content.len() > self.limit {
            return Err(Failure::new(
                Exit::Other,
                "the listing of the folder is too long",
            ));
        }
        self.content.extend_from_slice(&content);
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        Ok(0)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn abandon(&mut self) -> Option<String> {
        None
    }
}
