//! Order and targets of the entries of a folder.
//!
//! The producer chooses every name. An entry that cannot be fetched is skipped and counted, and the rest goes on: a bad
//! name, a link in its place, a contradictory listing, a file that is not served. The walk is depth-first, so that only
//! the listings of open folders are kept.
use super::listing::{ListingBuffer, Pool, Share};
use crate::download::{FilePlace, reserved};
use crate::error::{Error, ErrorKind, Result};
use recoup_io::library::{BadName, Entry, Listing};
use recoup_io::part::{Group, Outcome, is_reserved};
use recoup_io::target::{Occupant, TargetError, TargetFolder};
use recoup_packet::name::{Component, Name};
use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most folders inside folders.
const MAX_DEPTH: usize = 64;
/// Most open folders while a further listing is in flight.
const MAX_OPEN: usize = 64;

/// The files of a folder, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Fetched in this run.
    pub fetched: u64,
    /// There from an earlier run, unchanged since they arrived, and the producer's latest version.
    pub before: u64,
    /// Of these, files with segments that nothing vouched for.
    #[serde(skip_serializing_if = "is_zero")]
    pub before_not_verified: u64,
    /// Listed, in the listings that have arrived.
    pub listed: u64,
    /// Entries of listings, files and folders, that could not be fetched.
    pub skipped: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// A folder that is being fetched, with everything in it: what is to be transferred next, and what has ended.
#[derive(Debug)]
pub(crate) struct Walk {
    pool: Pool,
    /// Listings in flight.
    listings: usize,
    /// Folders with a received listing; the last one is next.
    open: Vec<Open>,
    files: Files,
    /// Gives files their names.
    group: Arc<Group>,
    /// Files that wait for their names.
    unnamed: u64,
    /// The error of a skipped entry with the highest exit code.
    worst: Option<Error>,
}

/// The next step.
#[derive(Debug)]
pub(crate) enum Step {
    /// Fetch a listing.
    List(ListingTask),
    /// Fetch a file.
    File(FileTask),
    /// Call again: an entry needed no transfer.
    Again,
    /// There is nothing to begin before a transfer has ended.
    Wait,
}

/// A listing to be fetched: the object of the folder's name.
#[derive(Debug)]
pub(crate) struct ListingTask {
    place: Place,
    /// Mode of the producer's folder, if it is known.
    mode: Option<u64>,
    /// The part that has arrived.
    pub(crate) buffer: ListingBuffer,
}

impl ListingTask {
    /// A folder that is made for the listing gets no more permissions than the producer's has.
    pub(crate) fn restrict(&mut self, mode: Option<u64>) {
        self.mode = mode;
    }
}

/// A file to be fetched.
#[derive(Clone, Debug)]
pub(crate) struct FileTask {
    /// Its name.
    pub(crate) name: Name,
    /// Path of the file.
    pub(crate) target: PathBuf,
    /// The folder around it.
    pub(crate) place: FilePlace,
}

/// An entry that is left out.
#[derive(Debug)]
pub(crate) struct Skipped {
    /// Name of the entry, or of the folder that lists it.
    pub(crate) entry: String,
    /// The error.
    pub(crate) error: Error,
}

/// A folder of the producer, and where it is to be here.
#[derive(Clone, Debug)]
struct Place {
    name: Name,
    target: PathBuf,
    /// The folder in which `target` lies; `None` for the one that the user named.
    parent: Option<Arc<TargetFolder>>,
    /// In how many folders it lies.
    depth: usize,
}

/// A folder, and what is left of its listing.
#[derive(Debug)]
struct Open {
    name: Name,
    target: Arc<TargetFolder>,
    depth: usize,
    listing: Listing,
    _share: Share,
}

impl Walk {
    /// A walk that has not begun.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn new() -> Result<Self> {
        let group = Group::start().map_err(|error| {
            Error::new(
                ErrorKind::Local,
                format!("no thread can be started: {}", crate::error::reason(&error)),
            )
        })?;
        Ok(Self {
            group: Arc::new(group),
            unnamed: 0,
            pool: Pool::default(),
            listings: 0,
            open: Vec::new(),
            files: Files::default(),
            worst: None,
        })
    }

    /// Begins with the folder `name`, which is to be written to `target`.
    ///
    /// # Errors
    /// There is no memory for its listing.
    pub(crate) fn begin(&mut self, name: &Name, target: &Path) -> Result<ListingTask> {
        self.list(Place { name: name.clone(), target: target.to_owned(), parent: None, depth: 0 })
    }

    /// The files so far.
    #[must_use]
    pub(crate) fn files(&self) -> Files {
        self.files
    }

    /// Step for the next entry of the innermost folder.
    ///
    /// # Errors
    /// The entry cannot be fetched; [`skip`](Self::skip) it.
    pub(crate) fn step(&mut self) -> std::result::Result<Step, Skipped> {
        let is_full = self.open.len() >= MAX_OPEN || !self.pool.has_room();
        let Some(folder) = self.open.last_mut() else {
            return Ok(Step::Wait);
        };
        // A listing in flight becomes shorter when its length is known, and is closed some time.
        if self.listings > 0 && is_full && folder.listing.begins_with_folder() {
            return Ok(Step::Wait);
        }
        let (name, target, depth) = (folder.name.clone(), Arc::clone(&folder.target), folder.depth);
        let entry = folder.listing.next();
        if folder.listing.is_empty() {
            self.open.pop();
        }
        match entry {
            None if self.open.is_empty() => Ok(Step::Wait),
            None => Ok(Step::Again),
            Some(Err(bad)) => {
                Err(Skipped { entry: name.to_string(), error: bad_name(&name, &bad) })
            }
            Some(Ok(entry)) => {
                let name = name.append(Component::generic(&entry.name));
                let skipped = |error| Skipped { entry: name.to_string(), error };
                self.enter(&name, &entry, target, depth + 1).map_err(skipped)
            }
        }
    }

    fn enter(
        &mut self,
        name: &Name,
        entry: &Entry,
        folder: Arc<TargetFolder>,
        depth: usize,
    ) -> Result<Step> {
        if let Some(why) = name.objection().filter(|_| !name.parent().may_lead_to(name)) {
            let message = format!("the producer lists {name}, which {why}");
            return Err(Error::new(ErrorKind::Verification, message).of_entry());
        }
        let file_name = OsStr::from_bytes(&entry.name);
        if is_reserved(file_name.as_ref()) {
            return Err(reserved(name).of_entry());
        }
        let occupant = folder.occupant(file_name)?;
        let target = folder.path().join(file_name);
        if entry.is_folder {
            let place = Place { name: name.clone(), target, parent: Some(folder), depth };
            return self.list(place).map(Step::List);
        }
        if occupant == Occupant::Folder {
            let message = format!("{} is a folder, and {name} is a file", target.display());
            let error = Error::new(ErrorKind::Local, message).with_remedy("remove it");
            return Err(error.of_entry());
        }
        let place = FilePlace { folder, group: Arc::clone(&self.group) };
        Ok(Step::File(FileTask { name: name.clone(), target, place }))
    }

    fn list(&mut self, place: Place) -> Result<ListingTask> {
        if place.depth > MAX_DEPTH {
            let message = format!("{} lies {MAX_DEPTH} folders deep", place.name);
            return Err(Error::new(ErrorKind::Other, message).of_entry());
        }
        let Some(share) = self.pool.reserve() else {
            let message = format!("the listings of the folders above {} are too long", place.name);
            let error =
                Error::new(ErrorKind::Other, message).with_remedy("fetch it by its own name");
            return Err(error.of_entry());
        };
        self.listings += 1;
        let buffer = ListingBuffer::new(place.name.clone(), share);
        Ok(ListingTask { place, mode: None, buffer })
    }

    /// A listing has arrived.
    ///
    /// # Errors
    /// If the listing contradicts itself, or its folder cannot be made.
    pub(crate) fn listed(&mut self, task: ListingTask) -> Result<()> {
        self.listings -= 1;
        let ListingTask { place: Place { name, target, parent, depth }, mode, buffer } = task;
        let (content, share) = buffer.into_parts();
        let listing = Listing::new(content).map_err(|error| {
            let message = format!("the producer of {name} contradicts itself: {error}");
            Error::new(ErrorKind::Verification, message).of_entry()
        })?;
        let target = match (parent, target.file_name()) {
            (Some(parent), Some(file_name)) => parent.enter(file_name),
            _ => TargetFolder::open(&target),
        };
        let target = target?;
        mode.into_iter().for_each(|mode| target.restrict(mode));
        let target = Arc::new(target);
        self.files.listed += listing.files();
        self.open.push(Open { name, target, depth, listing, _share: share });
        Ok(())
    }

    /// A listing could not be fetched.
    pub(crate) fn unlisted(&mut self, task: ListingTask) {
        self.listings -= 1;
        drop(task);
    }

    /// A file has been fetched, and waits for its name.
    pub(crate) fn fetched(&mut self) {
        self.unnamed += 1;
    }

    /// A file was there, and stays as it is; whether all of it was verified.
    pub(crate) fn kept(&mut self, is_verified: bool) {
        self.files.before += 1;
        self.files.before_not_verified += u64::from(!is_verified);
    }

    /// Counts files that have their names. Returns one that cannot have it; [`skip`](Self::skip) it, and call again.
    pub(crate) fn settle(&mut self) -> Option<Skipped> {
        self.settle_by(Group::next_outcome)
    }

    /// As [`settle`](Self::settle), and waits for all files.
    pub(crate) fn settle_all(&mut self) -> Option<Skipped> {
        self.settle_by(Group::wait)
    }

    fn settle_by(&mut self, next: impl Fn(&Group) -> Option<Outcome>) -> Option<Skipped> {
        while self.unnamed > 0 {
            let Outcome { target, result } = next(&self.group)?;
            self.unnamed -= 1;
            match result {
                Ok(()) => self.files.fetched += 1,
                Err(error) => {
                    let entry = target.display().to_string();
                    return Some(Skipped { entry, error: Error::from(&error) });
                }
            }
        }
        None
    }

    /// An entry is left out.
    ///
    /// # Errors
    /// The error concerns more than one entry.
    pub(crate) fn skip(&mut self, error: Error) -> Result<()> {
        if !error.concerns_entry() {
            return Err(error);
        }
        self.files.skipped += 1;
        if self.worst.as_ref().is_none_or(|worst| error.kind() as u8 > worst.kind() as u8) {
            self.worst = Some(error);
        }
        Ok(())
    }

    /// Everything has ended that could be fetched of the folder `name`.
    ///
    /// # Errors
    /// An entry was skipped, or a file has not got its name.
    pub(crate) fn finish(mut self, name: &Name) -> Result<Files> {
        if self.unnamed > 0 {
            let message = format!("files of {name} without their names: {}", self.unnamed);
            return Err(
                Error::new(ErrorKind::Local, message).with_remedy("go on with resume (--resume)")
            );
        }
        let Some(worst) = self.worst.take() else {
            return Ok(self.files);
        };
        let message = match self.files.skipped {
            1 => worst.message().to_owned(),
            many => format!("{many} entries of {name} are skipped, such as: {}", worst.message()),
        };
        let remedy = worst.own_remedy().map_or_else(String::new, |remedy| format!("{remedy}; "));
        let error = Error::new(worst.kind(), message);
        let error = if worst.is_permanent() { error.permanent() } else { error };
        let error = error.with_remedy(format!("{remedy}all the rest is there"));
        Err(worst.partials().iter().cloned().fold(error, Error::with_partial))
    }
}

impl Drop for Walk {
    /// Files that have arrived get their names, whatever ends the walk.
    fn drop(&mut self) {
        self.group.close();
    }
}

impl ListingTask {
    /// The folder's name, which is the name to fetch.
    #[must_use]
    pub(crate) fn name(&self) -> &Name {
        &self.place.name
    }
}

fn bad_name(folder: &Name, bad: &BadName) -> Error {
    let kind = match bad {
        BadName::TooLong(_) => ErrorKind::Local,
        BadName::NoFile(_) => ErrorKind::Verification,
    };
    Error::new(kind, format!("a bad name is listed in {folder}: {bad}")).of_entry()
}

impl From<TargetError> for Error {
    /// The error of a place in a folder that is not written to.
    fn from(error: TargetError) -> Self {
        let this = match &error {
            TargetError::Io { action, path, source } => Self::file(action, path.display(), source),
            TargetError::Replaced(_) => Self::new(ErrorKind::Local, error.to_string()),
            TargetError::Link(_) | TargetError::InTheWay(..) => {
                Self::new(ErrorKind::Local, error.to_string())
                    .with_remedy("remove it, or choose another folder")
            }
        };
        this.of_entry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_io::part::{Identity, Options, PartFile};

    /// A walk through a folder with this listing, in `target`.
    fn walk(target: &Path, listing: &[u8]) -> Walk {
        let mut walk = Walk::new().unwrap();
        let mut task = walk.begin(&"/a".parse().unwrap(), target).unwrap();
        task.buffer.content(listing).unwrap();
        walk.listed(task).unwrap();
        walk
    }

    #[test]
    fn entries_come_in_order_with_their_targets() {
        let folder = tempfile::tempdir().unwrap();
        let mut walk = walk(folder.path(), b"b/\0c\0");
        let Ok(Step::List(inner)) = walk.step() else { panic!() };
        assert_eq!(inner.name().to_string(), "/a/b");
        let Ok(Step::File(file)) = walk.step() else { panic!() };
        assert_eq!(
            (file.name.to_string(), &file.target),
            ("/a/c".into(), &folder.path().join("c"))
        );
        assert!(matches!(walk.step(), Ok(Step::Wait)));
        let identity = Identity::new("/a/c", "digest");
        let mut part = PartFile::open(&file.target, identity, Options::default()).unwrap();
        part.set_final(0).unwrap();
        part.write(0, "content".into()).unwrap();
        part.finish_in(&file.place.group).unwrap();
        walk.fetched();
        assert!(walk.settle_all().is_none() && file.target.is_file());
        walk.listed(inner).unwrap();
        let files = walk.finish(&"/a".parse().unwrap()).unwrap();
        assert_eq!((files.fetched, files.listed, files.skipped), (1, 1, 0));
    }

    #[test]
    fn listing_adds_no_local_scope() {
        let folder = tempfile::tempdir().unwrap();
        for (root, reason) in [("/", Some("has local scope")), ("/localhost", None)] {
            let mut walk = Walk::new().unwrap();
            let mut task = walk.begin(&root.parse().unwrap(), folder.path()).unwrap();
            task.buffer.content(b"localhost/\0").unwrap();
            walk.listed(task).unwrap();
            let found = walk.step().map_err(|skipped| skipped.error.message().to_owned());
            match reason {
                Some(reason) => assert!(found.unwrap_err().contains(reason), "{root}"),
                None => assert!(matches!(found, Ok(Step::List(_))), "{root}"),
            }
        }
    }

    #[test]
    fn file_without_a_name_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut walk = walk(folder.path(), b"c\0");
        walk.group.close();
        walk.fetched();
        assert!(walk.settle_all().is_none());
        let error = walk.finish(&"/a".parse().unwrap()).unwrap_err();
        assert!(error.message().ends_with("without their names: 1"), "{error}");
    }

    #[test]
    fn entries_outside_the_folder_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        std::fs::create_dir(folder.path().join("taken")).unwrap();
        let mut walk = walk(folder.path(), b"..\0link/\0taken\0");
        for reason in ["no name of a file", "is a link", "is a folder, and"] {
            let Err(skipped) = walk.step() else { panic!("{reason}") };
            assert!(skipped.error.message().contains(reason), "{:?}", skipped.error);
            walk.skip(skipped.error).unwrap();
        }
        let error = walk.finish(&"/a".parse().unwrap()).unwrap_err();
        assert!(error.message().starts_with("3 entries of /a are skipped"), "{error}");
    }

    #[test]
    fn existing_file_is_no_reason_to_skip() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("c"), "12345").unwrap();
        let mut walk = walk(folder.path(), b"c\0");
        assert!(matches!(walk.step(), Ok(Step::File(_))), "its download decides");
        walk.kept(false);
        assert_eq!((walk.files().before, walk.files().before_not_verified), (1, 1));
    }

    #[test]
    fn wider_error_ends_the_walk() {
        let mut walk = Walk::new().unwrap();
        assert!(walk.skip(Error::new(ErrorKind::TimedOut, "silence")).is_err());
    }
}
