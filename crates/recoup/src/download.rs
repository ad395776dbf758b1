//! A download into a file, which can be continued.
use crate::error::{Error, ErrorKind, Result, reason};
use bytes::Bytes;
use recoup_core::figure;
use recoup_io::part::{
    self, Attributes, Existing, Group, Identity, Journal, Options, PartError, PartFile,
};
use recoup_io::part::{Proof, Record, Records};
use recoup_io::target::TargetFolder;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::fetch::{Belonging, FetchConfig, Kept};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a download to `target` goes: what a symbolic link leads to is replaced, and the link stays.
pub(crate) fn destination(target: &Path) -> Result<PathBuf> {
    if part::is_reserved(target) {
        return Err(Error::from(&PartError::Reserved { path: target.to_owned() }));
    }
    if !target.is_symlink() {
        return Ok(target.to_owned());
    }
    match fs::metadata(target) {
        Ok(there) if there.is_dir() || there.is_file() => fs::canonicalize(target)
            .map_err(|error| Error::file("follow the link", target.display(), &error)),
        Ok(_) => Err(Error::from(&PartError::NotAFile { path: target.to_owned() })),
        Err(error) => {
            let why = reason(&error);
            let message = format!("{} is a link that leads nowhere: {why}", target.display());
            Err(Error::new(ErrorKind::Local, message)
                .with_remedy("remove it, or choose another place"))
        }
    }
}

/// The failure of an object whose name is reserved for folders of unfinished downloads.
pub(crate) fn reserved(name: &Name) -> Error {
    let message = format!("{name} cannot be stored: its name is kept for unfinished downloads");
    Error::new(ErrorKind::Local, message).with_remedy("ask its producer for another name")
}

/// A file under construction, which can be continued until it is complete.
///
/// Content arrives with [`content`](Self::content) at its place; [`finish`](Self::finish) gives the file its name.
#[derive(Debug)]
pub(crate) struct Download {
    target: PathBuf,
    verification: String,
    first: u64,
    last: Option<u64>,
    existing: Existing,
    records: Records,
    /// A download was begun or continued: the content that is kept is this one's.
    begun: bool,
    part: Option<PartFile>,
    /// Content that had changed on the disk, in bytes.
    dropped_bytes: u64,
    /// The finished file of an earlier run, which is unchanged.
    finished: Option<Record>,
    /// The producer's latest version is that of the finished file.
    is_kept: bool,
    /// The folder around the target, if the download is part of one.
    place: Option<FilePlace>,
}

/// Treatment of what an earlier download to the same place has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Earlier {
    /// An unfinished download is an error; a finished file is fetched again.
    #[default]
    Reject,
    /// An unfinished download is continued; a finished file stays if it is unchanged and the latest version.
    Resume,
    /// An unfinished download is discarded; a finished file is fetched again.
    Restart,
    /// An unfinished download is an error; a finished file stays if it is unchanged and the latest version.
    Mirror,
}

impl Earlier {
    /// With `resume` [`Resume`](Self::Resume), and without it [`Reject`](Self::Reject).
    #[must_use]
    pub fn resume(resume: bool) -> Self {
        if resume { Self::Resume } else { Self::Reject }
    }

    fn of_unfinished(self) -> Existing {
        match self {
            Self::Reject | Self::Mirror => Existing::Fail,
            Self::Resume => Existing::Resume,
            Self::Restart => Existing::Restart,
        }
    }
}

/// Where a file of a folder is written.
#[derive(Clone, Debug)]
pub(crate) struct FilePlace {
    /// The folder around the file. Its path must still lead to it when the file is complete.
    pub(crate) folder: Arc<TargetFolder>,
    /// Gives the file its name together with others.
    pub(crate) group: Arc<Group>,
}

impl Download {
    /// A download to `target`, which is recorded in `records` when it is finished. Checks whether it can begin, before any content is fetched.
    ///
    /// If an unfinished download is continued, `config` then names the version that was begun, and the segments that
    /// are held; no newer version is discovered. A finished file that may stay and is unchanged since it was verified in the
    /// same way is compared with the producer's latest version ([`keep`](Self::keep)); any other file is fetched again.
    ///
    /// A download in a folder takes its `place` from the walk, which has looked at it. The place is checked before the file
    /// gets its name, in the group, whose outcome counts.
    pub(crate) fn new(
        records: Records,
        target: &Path,
        verification: &str,
        config: &mut FetchConfig,
        earlier: Earlier,
        place: Option<FilePlace>,
    ) -> Result<Self> {
        if place.is_none() {
            check(target)?;
        }
        let mut sink = Self {
            target: target.to_owned(),
            verification: verification.to_owned(),
            first: config.first,
            last: config.last,
            existing: earlier.of_unfinished(),
            records,
            begun: false,
            part: None,
            dropped_bytes: 0,
            finished: None,
            is_kept: false,
            place,
        };
        let found = Journal::read_within(target, sink.folder());
        let found = found.map_err(|error| Error::from(&error))?;
        match (found, earlier) {
            (Some(found), Earlier::Resume) => sink.go_on(found, config)?,
            (Some(found), Earlier::Reject | Earlier::Mirror) if found.received_bytes() > 0 => {
                sink.reject_journal(&found, config)?;
            }
            (None, Earlier::Resume | Earlier::Mirror) => sink.find_finished(config),
            _ => {}
        }
        Ok(sink)
    }

    fn folder(&self) -> Option<&TargetFolder> {
        self.place.as_ref().map(|place| &*place.folder)
    }

    fn check_place(&self) -> Result<()> {
        Ok(self.place.as_ref().map_or(Ok(()), |place| place.folder.check_place())?)
    }

    /// Continues an unfinished download. Content that has changed on the disk is fetched again.
    fn go_on(&mut self, found: Journal, config: &mut FetchConfig) -> Result<()> {
        let object = begun_object(&found, config);
        let part = self.open(object.as_ref().unwrap_or(&config.name).to_string());
        let part = part.map_err(|error| Error::from(&error))?;
        if part.dropped_bytes() > 0 {
            let path = part::part_path(&self.target);
            tracing::warn!(path = %path.display(), bytes = part.dropped_bytes(), "content on the disk has changed");
            self.dropped_bytes = part.dropped_bytes();
        }
        let Some(object) = object.filter(|_| !part.received().is_empty()) else {
            return Ok(());
        };
        let runs = part.received().runs();
        config.held = runs.map(|run| *run.start()..run.end().saturating_add(1)).collect();
        config.known_last = part.journal().final_segment;
        let id = part.journal().object;
        config.belonging = id.map_or(Belonging::Unknown, |id| Belonging::Stated(Some(id)));
        config.name = object;
        config.options.discover = false;
        (self.part, self.begun) = (Some(part), true);
        Ok(())
    }

    /// Looks for the file of an earlier run, which need not be fetched if it is the latest version.
    fn find_finished(&mut self, config: &mut FetchConfig) {
        // Checksums find errors, as digests do. Against an attacker, only the state of the file counts.
        let has_author = ["key=", "trust="].iter().any(|it| self.verification.starts_with(it));
        let proof = if has_author { Proof::State } else { Proof::Checksums };
        let Some(record) = Record::of_unchanged(&self.records, &self.target, self.folder(), proof)
        else {
            return;
        };
        let object = record.identity.name.parse::<Name>().ok();
        let object = object.filter(|object| config.name.is_prefix_of(object));
        let Some(object) =
            object.filter(|object| record.identity == self.identity(object.to_string()))
        else {
            return;
        };
        config.kept = Some(Kept { object, id: record.object });
        self.finished = Some(record);
    }

    /// The failure for an unfinished download that is in the way, with advice that fits it.
    fn reject_journal(&self, found: &Journal, config: &FetchConfig) -> Result<()> {
        let object = begun_object(found, config);
        let wanted = self.identity(object.as_ref().unwrap_or(&config.name).to_string());
        match PartFile::open(&self.target, wanted.clone(), self.options()) {
            Err(PartError::Unfinished { path, bytes, found }) => {
                let (path, bytes) = (path.display(), figure::bytes(bytes));
                Err(if *found == wanted {
                    let message = format!("{path} holds {bytes} of an unfinished download");
                    let advice = "go on with resume (--resume), or begin anew (--restart)";
                    Error::new(ErrorKind::Local, message).with_remedy(advice)
                } else {
                    let message = format!("{path} holds {bytes} of another download, {found}");
                    let advice = "begin anew (--restart), or choose another place";
                    Error::new(ErrorKind::Local, message).with_remedy(advice)
                })
            }
            Err(error) => Err((&error).into()),
            Ok(_) => Ok(()),
        }
    }

    fn identity(&self, object: String) -> Identity {
        Identity::new(object, self.verification.clone()).range(self.first, self.last)
    }

    fn options(&self) -> Options {
        let (existing, records) = (self.existing, Some(self.records.clone()));
        let folder = self.place.as_ref().map(|place| Arc::clone(&place.folder));
        Options { existing, overwrite: true, records, folder, ..Options::default() }
    }

    fn open(&self, object: String) -> std::result::Result<PartFile, PartError> {
        PartFile::open(&self.target, self.identity(object), self.options())
    }

    fn part(&mut self) -> Result<&mut PartFile> {
        self.part.as_mut().ok_or_else(|| Error::new(ErrorKind::Other, "content before its name"))
    }
}

/// The interrupted object, if it is a version of the requested one.
fn begun_object(found: &Journal, config: &FetchConfig) -> Option<Name> {
    let object = found.identity.name.parse::<Name>().ok();
    object.filter(|object| config.name.is_prefix_of(object) && config.name.may_lead_to(object))
}

impl Download {
    /// All content is there from an earlier run: nothing is to be fetched.
    pub(crate) fn is_complete(&self) -> bool {
        self.part.as_ref().is_some_and(PartFile::is_complete)
    }

    /// The object is known; no content comes before this.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the file cannot be made, or another download is in its place.
    pub(crate) fn begin(&mut self, object: &Name) -> Result<()> {
        if self.part.is_none() && !self.is_kept {
            self.part = Some(self.open(object.to_string()).map_err(|error| Error::from(&error))?);
            self.begun = true;
        }
        Ok(())
    }

    /// The finished file of an earlier run is the latest version: it stays as it is.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Whether the file was there and stays as it is.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Whether there is content of an earlier run that nothing vouched for.
    pub(crate) fn holds_unverified(&self) -> bool {
        let kept = self.finished.as_ref().filter(|_| self.is_kept);
        kept.is_some_and(|record| record.is_unverified)
            || self.part.as_ref().is_some_and(|part| part.journal().is_unverified)
    }

    /// The content has this identifier.
    ///
    /// # Errors
    /// [`ErrorKind::Other`]: the object is not known yet.
    pub(crate) fn identified(&mut self, id: ObjectId) -> Result<()> {
        self.part()?.set_object(id);
        Ok(())
    }

    /// The metadata of the object, once it has begun: the finished file gets its mode and time.
    pub(crate) fn describe(&mut self, metadata: &Metadata) {
        let attributes = Attributes::new(metadata.mode, metadata.mtime_ns);
        self.part.iter_mut().for_each(|part| part.set_attributes(attributes));
    }

    /// A segment is accepted although nothing vouches for it.
    pub(crate) fn unverified(&mut self) {
        self.part.iter_mut().for_each(PartFile::set_unverified);
    }

    /// The last segment of the object is known.
    ///
    /// # Errors
    /// [`ErrorKind::Verification`]: it has moved.
    pub(crate) fn end_known(&mut self, last: u64) -> Result<()> {
        self.part()?.set_final(last).map_err(|error| Error::from(&error))
    }

    /// Content of one segment.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk. [`ErrorKind::Verification`]: its length contradicts that of other segments.
    pub(crate) fn content(&mut self, segment: u64, content: Bytes) -> Result<()> {
        self.part()?.write(segment, content).map_err(|error| Error::from(&error))
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.part {
            Some(part) => part.flush().map_err(|error| Error::from(&error)),
            None => Ok(()),
        }
    }

    /// All content is there: gives the file its name, or lets a group do so.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk; the download can be continued.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.check_place()?;
        if self.is_kept {
            return Ok(());
        }
        let part = self.part.take().ok_or_else(|| {
            Error::new(ErrorKind::Other, "the download ended before it began: no file was written")
        })?;
        let finished = match self.place.take() {
            Some(place) => part.finish_in(&place.group),
            None => part.finish().map(drop),
        };
        finished.map_err(|error| Error::from(&error))
    }

    /// Bytes of the object that were there before, once it has begun.
    pub(crate) fn held_bytes(&self) -> u64 {
        let kept = self.finished.as_ref().filter(|_| self.is_kept);
        let begun = || self.part.as_ref().map_or(0, |part| part.journal().received_bytes());
        kept.map_or_else(begun, |record| record.bytes)
    }

    /// Bytes that were there before and had changed on the disk: they are fetched again.
    pub(crate) fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }

    /// The `.part` file.
    pub(crate) fn part_path(&self) -> PathBuf {
        part::part_path(&self.target)
    }

    /// Ends before all content is there. Returns how many bytes are kept for the next run.
    pub(crate) fn abandon(&mut self) -> u64 {
        let closed = self.part.take().and_then(|part| part.close().ok());
        let kept = match closed {
            Some(kept) => kept,
            None if self.begun => Journal::read(&self.target).ok().flatten(),
            None => None,
        };
        kept.map_or(0, |kept| kept.received_bytes())
    }
}

fn check(target: &Path) -> Result<()> {
    if target.is_dir() {
        let message = format!("{} is a folder", target.display());
        return Err(Error::new(ErrorKind::Local, message).with_remedy("name a file in it"));
    }
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    match fs::metadata(parent) {
        Err(error) => Err(Error::file("write into", parent.display(), &error)),
        Ok(there) if !there.is_dir() => {
            let message = format!("{} is not a folder", parent.display());
            Err(Error::new(ErrorKind::Local, message).with_remedy("choose another place"))
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{self, FetchOptions};
    use recoup_packet::signature::DigestVerifier;
    use recoup_transport::random::Rng;

    fn download(target: &Path) -> Download {
        let name = "/a".parse().unwrap();
        let config = options::config(
            &FetchOptions::default(),
            Box::new(DigestVerifier),
            name,
            (0, None),
            Rng::from_seed(1),
        );
        let records = Records::open(&target.with_file_name("state"));
        Download::new(records, target, "digest", &mut config.unwrap(), Earlier::Reject, None)
            .unwrap()
    }

    #[test]
    fn download_that_never_began_cannot_be_finished() {
        let folder = tempfile::tempdir().unwrap();
        let mut download = download(&folder.path().join("file"));
        assert_eq!(download.finish().unwrap_err().kind(), ErrorKind::Other);
        assert!(!folder.path().join("file").exists());
    }

    #[test]
    fn abandoned_download_keeps_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut download = download(&folder.path().join("file"));
        download.begin(&"/a/v=1".parse().unwrap()).unwrap();
        download.end_known(5).unwrap();
        download.content(0, vec![0; 10].into()).unwrap();
        let error = download.content(1, vec![0; 11].into()).unwrap_err();
        assert!(error.is_unverified() && error.is_permanent(), "{error}");
        assert_eq!(download.abandon(), 10);
    }
}
