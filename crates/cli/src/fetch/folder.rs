//! A folder: its listing, the files in it, the folders in it.
//!
//! The producer chooses every name. An entry that cannot be fetched (a bad name, a link in its place, a listing that
//! contradicts itself, a file that is not served) is skipped, reported and counted, and the rest goes on.
use crate::error::{Exit, Failure};
use crate::fetch::observer::Files;
use crate::fetch::plan::Plan;
use crate::fetch::sink::{
    self, FileSink, InFolder, ListingPool, ListingShare, ListingSink, target_failure,
};
use crate::fetch::transfer::{Ended, Transfers};
use crate::output;
use crate::session;
use recoup_forwarder::face::AppId;
use recoup_io::library::{BadName, Entry, Listing};
use recoup_io::part::is_reserved;
use recoup_io::target::{Occupant, TargetFolder};
use recoup_packet::name::{Component, Name};
use recoup_transport::fetch::Delivery;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most folders inside folders.
const MAX_DEPTH: usize = 64;
/// Most open folders while a further listing is in flight.
const MAX_OPEN: usize = 64;
/// Most bytes of a listing that wait for their turn.
const LISTING_REORDER_BYTES: u64 = 1 << 20;
/// Most entries that are reported one by one when they are skipped.
const MAX_REPORTED: u64 = 20;

/// How a folder is fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Files that are there already are left as they are.
    pub resume: bool,
    /// A line for every file.
    pub verbose: bool,
    /// Files and listings that are under way at a time.
    pub jobs: usize,
}

/// A folder that is being fetched, with everything in it.
///
/// Most files are small, so that their round trips decide: several files are under way at a time. Folders are gone through in
/// depth, so that no more is kept than the listings of those that are open.
pub(crate) struct Folders<'a> {
    transfers: Transfers<'a>,
    plan: &'a Plan<'a>,
    manner: Manner,
    listings: ListingPool,
    /// What is under way.
    tasks: Vec<(AppId, Task)>,
    /// Folders whose listings are there, the next one last.
    open: Vec<Open>,
    /// The failure of a skipped entry with the highest exit code.
    worst: Option<Failure>,
}

/// What a transfer is for.
#[derive(Debug)]
enum Task {
    Listing(Place),
    File(Name),
}

/// A folder of the producer, and where it is to be here.
#[derive(Clone, Debug)]
struct Place {
    name: Name,
    target: PathBuf,
    /// The folder in which `target` lies; `None` for the one that the user named.
    parent: Option<Rc<TargetFolder>>,
    /// In how many folders it lies.
    depth: usize,
}

/// A folder, and what is left of its listing.
#[derive(Debug)]
struct Open {
    name: Name,
    target: Rc<TargetFolder>,
    depth: usize,
    listing: Listing,
    _share: ListingShare,
}

impl<'a> Folders<'a> {
    /// Nothing is asked for yet.
    pub(crate) fn new(transfers: Transfers<'a>, plan: &'a Plan<'a>, manner: Manner) -> Self {
        transfers.observer.files = Some(Files::default());
        Self {
            transfers,
            plan,
            manner,
            listings: ListingPool::default(),
            tasks: Vec::new(),
            open: Vec::new(),
            worst: None,
        }
    }

    /// Fetches the folder `name`, with everything in it, into the folder `target`. Returns the name of its listing.
    ///
    /// # Errors
    /// Also if an entry was skipped: all the rest is fetched then.
    pub(crate) fn run(mut self, name: &Name, target: &Path) -> Result<Name, Failure> {
        let place = Place { name: name.clone(), target: target.to_owned(), parent: None, depth: 0 };
        let listing = self.fetch(place).inspect_err(|failure| {
            // Each of them can be gone on with.
            self.transfers.abandon(failure);
        })?;
        let skipped = self.files().skipped;
        let Some(worst) = self.worst else {
            return Ok(listing);
        };
        let message = match skipped {
            1 => worst.message,
            _ => format!("{skipped} entries of {name} are skipped, such as: {}", worst.message),
        };
        let advice = worst.advice.map_or_else(String::new, |advice| format!("{advice}; "));
        Err(Failure::new(worst.exit, message).advise(format!("{advice}all the rest is there")))
    }

    fn fetch(&mut self, place: Place) -> Result<Name, Failure> {
        self.list(place)?;
        let ended = self.transfers.next()?;
        let listing = ended.object.clone()?;
        self.take(ended).map_err(|(_, failure)| failure)?;
        loop {
            while self.transfers.len() < self.manner.jobs && self.begin_next()? {}
            if self.transfers.len() == 0 {
                return Ok(listing);
            }
            let ended = self.transfers.next()?;
            if let Err((name, failure)) = self.take(ended) {
                self.skip(&name.to_string(), failure)?;
            }
        }
    }

    /// An entry is left out, if the failure concerns no other.
    fn skip(&mut self, entry: &str, failure: Failure) -> Result<(), Failure> {
        if !failure.of_entry {
            return Err(failure);
        }
        let files = self.files();
        files.skipped += 1;
        if files.skipped <= MAX_REPORTED {
            self.transfers.observer.tell(&format!("skipped {entry}: {}", failure.message));
        }
        if self.worst.as_ref().is_none_or(|worst| failure.exit as u8 > worst.exit as u8) {
            self.worst = Some(failure);
        }
        Ok(())
    }

    /// Begins with the next entry of the innermost folder; `false` if there is none, or none for now.
    fn begin_next(&mut self) -> Result<bool, Failure> {
        // A listing may have millions of entries that need no transfer.
        self.transfers.check_stop()?;
        let lists = self.tasks.iter().any(|(_, task)| matches!(task, Task::Listing(_)));
        let is_full = self.open.len() >= MAX_OPEN || !self.listings.has_room();
        let Some(folder) = self.open.last_mut() else {
            return Ok(false);
        };
        // A listing in flight becomes shorter when its length is known, and is closed some time.
        if lists && is_full && folder.listing.begins_with_folder() {
            return Ok(false);
        }
        let (name, target, depth) = (folder.name.clone(), Rc::clone(&folder.target), folder.depth);
        let entry = folder.listing.next();
        if folder.listing.is_empty() {
            self.open.pop();
        }
        let begun = match entry {
            None => return Ok(!self.open.is_empty()),
            Some(Err(bad)) => Err((name.to_string(), bad_name(&name, &bad))),
            Some(Ok(entry)) => {
                let name = name.append(Component::generic(&entry.name));
                self.begin(&name, &entry, target, depth + 1)
                    .map_err(|failure| (name.to_string(), failure))
            }
        };
        match begun {
            Ok(()) => Ok(true),
            Err((entry, failure)) => self.skip(&entry, failure).map(|()| true),
        }
    }

    fn begin(
        &mut self,
        name: &Name,
        entry: &Entry,
        folder: Rc<TargetFolder>,
        depth: usize,
    ) -> Result<(), Failure> {
        let file_name = OsStr::from_bytes(&entry.name);
        if is_reserved(file_name.as_ref()) {
            return Err(Failure::from(sink::reserved(name)).of_entry());
        }
        let occupant = folder.occupant(file_name).map_err(|error| target_failure(&error))?;
        if !entry.is_folder {
            return self.file(name, folder, file_name, occupant);
        }
        let target = folder.path().join(file_name);
        self.list(Place { name: name.clone(), target, parent: Some(folder), depth })
    }

    fn list(&mut self, place: Place) -> Result<(), Failure> {
        if place.depth > MAX_DEPTH {
            let message = format!("{} lies {MAX_DEPTH} folders deep", place.name);
            return Err(Failure::new(Exit::Other, message).of_entry());
        }
        let Some(share) = self.listings.reserve() else {
            let message = format!("the listings of the folders above {} are too long", place.name);
            return Err(Failure::new(Exit::Other, message)
                .advise("fetch it by its own name")
                .of_entry());
        };
        let mut config = self.plan.config(place.name.clone(), session::seed()?)?;
        config.delivery = Delivery::Ordered { limit_bytes: LISTING_REORDER_BYTES };
        let sink = ListingSink::new(place.name.clone(), share);
        let app = self.transfers.start(config, Box::new(sink));
        self.tasks.push((app, Task::Listing(place)));
        Ok(())
    }

    fn file(
        &mut self,
        name: &Name,
        folder: Rc<TargetFolder>,
        file_name: &OsStr,
        occupant: Occupant,
    ) -> Result<(), Failure> {
        let Manner { resume, verbose, .. } = self.manner;
        let target = folder.path().join(file_name);
        folder.check_place().map_err(|error| target_failure(&error))?;
        if resume
            && let Occupant::File(bytes) = occupant
            && sink::is_there(&target)?
        {
            self.files().before += 1;
            return self.transfers.count(bytes);
        }
        if occupant == Occupant::Folder {
            let message = format!("{} is a folder, and {name} is a file", target.display());
            return Err(Failure::new(Exit::Local, message).advise("remove it").of_entry());
        }
        if verbose {
            output::tell(&format!("{name} -> {}", target.display()).replace('\n', " "));
        }
        let mut config = self.plan.config(name.clone(), session::seed()?)?;
        let verification = self.plan.verification();
        let sink = FileSink::new(&target, &verification, &mut config, resume)?;
        let app = self.transfers.start(config, Box::new(InFolder::new(sink, folder)));
        self.tasks.push((app, Task::File(name.clone())));
        Ok(())
    }

    /// Takes what has ended; if it failed, with its name.
    fn take(&mut self, ended: Ended) -> Result<(), (Name, Failure)> {
        let Some(at) = self.tasks.iter().position(|(app, _)| *app == ended.app) else {
            return Ok(());
        };
        match self.tasks.swap_remove(at).1 {
            Task::File(name) => {
                ended.object.map_err(|failure| (name, failure))?;
                self.files().fetched += 1;
                Ok(())
            }
            Task::Listing(place) => {
                let name = place.name.clone();
                self.enter(place, ended).map_err(|failure| (name, failure))
            }
        }
    }

    fn enter(&mut self, place: Place, ended: Ended) -> Result<(), Failure> {
        ended.object?;
        let Some((content, share)) = ended.sink.into_listing() else {
            return Ok(());
        };
        let Place { name, target, parent, depth } = place;
        let listing = Listing::new(content).map_err(|error| {
            Failure::new(
                Exit::Verification,
                format!("the producer of {name} contradicts itself: {error}"),
            )
            .of_entry()
        })?;
        let target = match (parent, target.file_name()) {
            (Some(parent), Some(file_name)) => parent.enter(file_name),
            _ => TargetFolder::open(&target),
        };
        let target = Rc::new(target.map_err(|error| target_failure(&error))?);
        self.files().listed += listing.files();
        self.open.push(Open { name, target, depth, listing, _share: share });
        Ok(())
    }

    fn files(&mut self) -> &mut Files {
        self.transfers.observer.files.get_or_insert_default()
    }
}

fn bad_name(folder: &Name, bad: &BadName) -> Failure {
    let exit = match bad {
        BadName::TooLong(_) => Exit::Local,
        BadName::NoFile(_) => Exit::Verification,
    };
    Failure::new(exit, format!("a bad name is listed in {folder}: {bad}")).of_entry()
}
