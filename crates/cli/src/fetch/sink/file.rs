//! A download into a file, which can be continued.
use super::Sink;
use crate::error::{Exit, Failure, reason};
use crate::format;
use bytes::Bytes;
use recoup_io::part::{self, Existing, Identity, Options, PartError, PartFile};
use recoup_packet::name::Name;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where a download to `target` goes: what a symbolic link leads to is replaced, and the link stays.
pub(crate) fn destination(target: &Path) -> Result<PathBuf, Failure> {
    if !target.is_symlink() {
        return Ok(target.to_owned());
    }
    match fs::metadata(target) {
        Ok(there) if there.is_dir() || there.is_file() => fs::canonicalize(target)
            .map_err(|error| Failure::file("follow the link", target.display(), &error)),
        Ok(_) => Err(failure(&PartError::NotAFile { path: target.to_owned() })),
        Err(error) => {
            let why = reason(&error);
            let message = format!("{} is a link that leads nowhere: {why}", target.display());
            Err(Failure::new(Exit::Local, message)
                .advise("remove it, or choose another place after -o"))
        }
    }
}

/// A file under construction: FILE.part and its journal until it is complete.
#[derive(Debug)]
pub(crate) struct FileSink {
    target: PathBuf,
    verification: String,
    first: u64,
    last: Option<u64>,
    existing: Existing,
    /// Something came, or would have if there had been a place for it.
    begun: bool,
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
        let existing = if resume { Existing::Resume } else { Existing::Refuse };
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
        Ok(Self { target, verification, first, last, existing, begun: false, part: None })
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
        self.part.as_mut().ok_or_else(|| Failure::new(Exit::Other, "content before its name"))
    }
}

impl Sink for FileSink {
    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        self.begun = true;
        let identity = Identity::new(object.to_string(), self.verification.clone())
            .range(self.first, self.last);
        let options = Options { existing: self.existing, overwrite: true, ..Options::default() };
        let part = PartFile::open(&self.target, identity, options);
        self.part = Some(part.map_err(|error| failure(&error))?);
        Ok(())
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        self.part()?.set_final(last).map_err(|error| failure(&error))
    }

    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure> {
        self.part()?.write(segment, content).map_err(|error| failure(&error))
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
            return if self.begun { None } else { self.not_begun(&path) };
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
    let held: Vec<_> = runs.map(|run| *run.start()..run.end().saturating_add(1)).collect();
    Ok((!held.is_empty()).then_some(Unfinished { object, held }))
}

fn check(target: &Path) -> Result<(), Failure> {
    if target.is_dir() {
        let message = format!("{} is a folder", target.display());
        return Err(Failure::new(Exit::Local, message).advise("name a file after -o"));
    }
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    match fs::metadata(parent) {
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
