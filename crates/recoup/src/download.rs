//! A download into a file, which can be continued.
use crate::error::{Error, ErrorKind, Result, reason};
use bytes::Bytes;
use recoup_io::part::{self, Existing, Group, Identity, Journal, Options, PartError, PartFile};
use recoup_io::target::TargetFolder;
use recoup_packet::name::Name;
use recoup_transport::fetch::FetchConfig;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a download to `target` goes: what a symbolic link leads to is replaced, and the link stays.
pub fn destination(target: &Path) -> Result<PathBuf> {
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
pub fn reserved(name: &Name) -> Error {
    let message = format!("{name} cannot be stored: its name is kept for unfinished downloads");
    Error::new(ErrorKind::Local, message).with_remedy("ask its producer for another name")
}

/// Whether `target` is a file and no unfinished download is to replace it.
pub fn is_there(target: &Path) -> Result<bool> {
    let is_unfinished = part::is_unfinished(target).map_err(|error| Error::from(&error))?;
    Ok(!is_unfinished && target.is_file())
}

/// A file under construction, which can be continued until it is complete.
///
/// Content arrives with [`content`](Self::content) at its place; [`finish`](Self::finish) gives the file its name.
#[derive(Debug)]
pub struct Download {
    target: PathBuf,
    verification: String,
    first: u64,
    last: Option<u64>,
    existing: Existing,
    /// A download was begun or continued: the content that is kept is this one's.
    begun: bool,
    part: Option<PartFile>,
    /// Content that had changed on the disk, in bytes.
    dropped_bytes: u64,
    /// The folder around the target, if the download is part of one.
    place: Option<FilePlace>,
}

/// Where a file of a folder is written.
#[derive(Clone, Debug)]
pub struct FilePlace {
    /// The folder around the file, which is opened and named by its path: that must lead to this folder.
    pub folder: Arc<TargetFolder>,
    /// Gives the file its name together with others.
    pub group: Arc<Group>,
}

impl Download {
    /// A download to `target`. Checks whether it can begin, before any content is fetched.
    ///
    /// With `resume`, an unfinished download is continued: `config` then names the version that was begun, without discovery of
    /// a newer one, and the segments that are held.
    pub fn new(
        target: &Path,
        verification: &str,
        config: &mut FetchConfig,
        resume: bool,
    ) -> Result<Self> {
        check(target)?;
        let mut sink = Self {
            target: target.to_owned(),
            verification: verification.to_owned(),
            first: config.first,
            last: config.last,
            existing: if resume { Existing::Resume } else { Existing::Fail },
            begun: false,
            part: None,
            dropped_bytes: 0,
            place: None,
        };
        let found = Journal::read(target).map_err(|error| Error::from(&error))?;
        match found {
            Some(found) if resume => sink.go_on(found, config)?,
            Some(found) if found.received_bytes() > 0 => sink.reject_journal(&found, config)?,
            _ => {}
        }
        Ok(sink)
    }

    /// Makes the download part of a folder, whose place is checked before the file is opened and named. It
    /// [finishes](Self::finish) in the group, whose outcome counts.
    #[must_use]
    pub fn within(self, place: FilePlace) -> Self {
        Self { place: Some(place), ..self }
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
        config.name = object;
        config.options.discover = false;
        (self.part, self.begun) = (Some(part), true);
        Ok(())
    }

    /// The failure for an unfinished download that is in the way, with advice that fits it.
    fn reject_journal(&self, found: &Journal, config: &FetchConfig) -> Result<()> {
        let object = begun_object(found, config);
        let wanted = self.identity(object.as_ref().unwrap_or(&config.name).to_string());
        match PartFile::open(&self.target, wanted.clone(), self.options()) {
            Err(PartError::Unfinished { path, bytes, found }) => {
                let (path, bytes) = (path.display(), bytes_text(bytes));
                Err(if *found == wanted {
                    let message = format!("{path} holds {bytes} of an unfinished download");
                    let advice = "go on with resume (--resume), or remove it to begin anew";
                    Error::new(ErrorKind::Local, message).with_remedy(advice)
                } else {
                    let message = format!("{path} holds {bytes} of another download, {found}");
                    let advice = "remove it to begin anew, or choose another place";
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
        Options { existing: self.existing, overwrite: true, ..Options::default() }
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
    object.filter(|object| config.name.is_prefix_of(object))
}

impl Download {
    /// All content is there from an earlier run: nothing is to be fetched.
    pub fn is_complete(&self) -> bool {
        self.part.as_ref().is_some_and(PartFile::is_complete)
    }

    /// The object is known; no content comes before this.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the file cannot be made, or another download is in its place.
    pub fn begin(&mut self, object: &Name) -> Result<()> {
        self.check_place()?;
        if self.part.is_none() {
            self.part = Some(self.open(object.to_string()).map_err(|error| Error::from(&error))?);
            self.begun = true;
        }
        Ok(())
    }

    /// The last segment of the object is known.
    ///
    /// # Errors
    /// [`ErrorKind::Verification`]: it has moved.
    pub fn end_known(&mut self, last: u64) -> Result<()> {
        self.part()?.set_final(last).map_err(|error| Error::from(&error))
    }

    /// Content of one segment.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk. [`ErrorKind::Verification`]: its length contradicts that of other segments.
    pub fn content(&mut self, segment: u64, content: Bytes) -> Result<()> {
        self.part()?.write(segment, content).map_err(|error| Error::from(&error))
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk.
    pub fn flush(&mut self) -> Result<()> {
        match &mut self.part {
            Some(part) => part.flush().map_err(|error| Error::from(&error)),
            None => Ok(()),
        }
    }

    /// All content is there: gives the file its name, or lets a group do so.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the disk; the download can be continued.
    pub fn finish(&mut self) -> Result<()> {
        self.check_place()?;
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
    pub fn held_bytes(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.journal().received_bytes())
    }

    /// Bytes that were there before and had changed on the disk: they are fetched again.
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped_bytes
    }

    /// The `.part` file.
    pub fn part_path(&self) -> PathBuf {
        part::part_path(&self.target)
    }

    /// Ends before all content is there. Returns how many bytes are kept for the next run.
    pub fn abandon(&mut self) -> u64 {
        let closed = self.part.take().and_then(|part| part.close().ok());
        let kept = match closed {
            Some(kept) => kept,
            None if self.begun => Journal::read(&self.target).ok().flatten(),
            None => None,
        };
        kept.map_or(0, |kept| kept.received_bytes())
    }
}

/// A number of bytes, such as `1.5 MB`.
fn bytes_text(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 1_000.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1e3, unit + 1);
    }
    format!("{value:.2} {}", units[unit])
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
    use recoup_transport::random::Rng;

    fn download(target: &Path) -> Download {
        let name = "/a".parse().unwrap();
        let config = options::config(&FetchOptions::default(), name, (0, None), Rng::from_seed(1));
        Download::new(target, "digest", &mut config.unwrap(), false).unwrap()
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
