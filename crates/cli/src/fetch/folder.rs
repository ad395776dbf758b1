//! A folder: its listing, the files in it, the folders in it.
use crate::error::{Exit, Failure, one_line};
use crate::fetch::in_order;
use crate::fetch::observer::{Files, Observer};
use crate::fetch::plan::Plan;
use crate::fetch::sink::{FileSink, MemorySink};
use crate::fetch::transfer::{Ended, Transfers};
use crate::output;
use crate::session::{self, Session};
use recoup_forwarder::face::AppId;
use recoup_io::library::{Entry, read_listing};
use recoup_packet::name::{Component, Name};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::vec;

/// Folders inside folders at most: whoever serves may be malicious.
const MAX_DEPTH: usize = 64;
/// Largest listing, in octets.
const MAX_LISTING: usize = 16 << 20;

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

/// A folder on its way, with everything in it.
///
/// Most files are small, so that their round trips decide: several files are under way at a time. Folders are gone through in
/// depth, so that no more is kept than the listings of those that are open.
pub(crate) struct Folders<'a> {
    transfers: Transfers<'a>,
    plan: &'a Plan<'a>,
    manner: Manner,
    /// What is under way.
    tasks: Vec<(AppId, Task)>,
    /// Folders whose listings are there, the next one last.
    open: Vec<Open>,
    /// What was listed and is not served: how much, and the first of it.
    absent: Option<(u64, Failure)>,
}

/// What a transfer is for.
#[derive(Debug)]
enum Task {
    Listing(Place),
    File,
}

/// A folder there, and where it is to be here.
#[derive(Clone, Debug)]
struct Place {
    name: Name,
    target: PathBuf,
    /// In how many folders it lies.
    depth: usize,
}

/// A folder, and what is left of its listing.
#[derive(Debug)]
struct Open {
    place: Place,
    entries: vec::IntoIter<Entry>,
}

impl<'a> Folders<'a> {
    /// Nothing is asked for yet.
    pub(crate) fn new(
        session: &'a mut Session,
        observer: &'a mut Observer,
        plan: &'a Plan<'a>,
        manner: Manner,
    ) -> Self {
        observer.files = Some(Files::default());
        let transfers = Transfers::new(session, observer);
        Self { transfers, plan, manner, tasks: Vec::new(), open: Vec::new(), absent: None }
    }

    /// Fetches the folder `name`, with everything in it, into the folder `target`. Returns the name of its listing.
    ///
    /// # Errors
    /// Also if something that is listed is not served (removed, or not to be read there): all the rest is fetched then.
    pub(crate) fn run(mut self, name: &Name, target: &Path) -> Result<Name, Failure> {
        let place = Place { name: name.clone(), target: target.to_owned(), depth: 0 };
        let listing = self.fetch(place).inspect_err(|_| {
            // Each of them can be gone on with.
            self.transfers.abandon();
        })?;
        let Some((count, first)) = self.absent else {
            return Ok(listing);
        };
        let message = match count {
            1 => first.message,
            _ => format!("{count} files or folders in {name} cannot be had: {}", first.message),
        };
        let advice = first.advice.unwrap_or_default();
        Err(Failure::new(first.exit, message).advise(format!("{advice}; all the rest is there")))
    }

    fn fetch(&mut self, place: Place) -> Result<Name, Failure> {
        self.list(place)?;
        let ended = self.transfers.next()?;
        let listing = ended.object.clone()?;
        self.take(ended)?;
        loop {
            while self.transfers.len() < self.manner.jobs && self.begin_next()? {}
            if self.transfers.len() == 0 {
                return Ok(listing);
            }
            let ended = self.transfers.next()?;
            match self.take(ended) {
                Err(failure) if failure.absent => {
                    self.absent.get_or_insert((0, failure)).0 += 1;
                }
                taken => taken?,
            }
        }
    }

    /// Begins with the next entry of the innermost folder; `false` if there is none, or none for now.
    fn begin_next(&mut self) -> Result<bool, Failure> {
        // Whoever serves may list without end: where many listings are kept, the next one comes when no other is under way.
        let lists = self.tasks.iter().any(|(_, task)| matches!(task, Task::Listing(_)));
        let is_full = lists && self.open.len() >= MAX_DEPTH;
        let Some(folder) = self.open.last_mut() else {
            return Ok(false);
        };
        if is_full && folder.entries.as_slice().first().is_some_and(|entry| entry.is_folder) {
            return Ok(false);
        }
        let Some(entry) = folder.entries.next() else {
            self.open.pop();
            return Ok(!self.open.is_empty());
        };
        let Place { name, target, depth } = &folder.place;
        let name = name.append(Component::generic(&entry.name));
        let target = target.join(OsStr::from_bytes(&entry.name));
        let depth = depth + 1;
        match entry.is_folder {
            true => self.list(Place { name, target, depth })?,
            false => self.file(&name, &target)?,
        }
        Ok(true)
    }

    fn list(&mut self, place: Place) -> Result<(), Failure> {
        if place.depth > MAX_DEPTH {
            let message = format!("{} lies {MAX_DEPTH} folders deep", place.name);
            return Err(Failure::new(Exit::Other, message));
        }
        let mut config = self.plan.config(place.name.clone(), session::seed()?)?;
        config.delivery = in_order();
        let app = self.transfers.start(config, Box::new(MemorySink::new(MAX_LISTING)));
        self.tasks.push((app, Task::Listing(place)));
        Ok(())
    }

    fn file(&mut self, name: &Name, target: &Path) -> Result<(), Failure> {
        let Manner { resume, verbose, .. } = self.manner;
        if resume && target.is_file() {
            self.files().before += 1;
            return Ok(());
        }
        if verbose {
            // Who serves it has chosen what it is called.
            output::tell(&one_line(&format!("{name} -> {}", target.display())));
        }
        let mut config = self.plan.config(name.clone(), session::seed()?)?;
        super::resume(&mut config, target, resume)?;
        let sink = FileSink::new(target, &self.plan.verification(), (0, None), resume)?;
        let app = self.transfers.start(config, Box::new(sink));
        self.tasks.push((app, Task::File));
        Ok(())
    }

    /// Takes what has ended.
    fn take(&mut self, ended: Ended) -> Result<(), Failure> {
        let Some(at) = self.tasks.iter().position(|(app, _)| *app == ended.app) else {
            return Ok(());
        };
        let (_, task) = self.tasks.swap_remove(at);
        let object = ended.object?;
        match task {
            Task::File => self.files().fetched += 1,
            Task::Listing(place) => {
                let is_listing = object.components().any(|component| component.is_keyword(b"ls"));
                let entries = read_listing(&ended.sink.into_content()).filter(|_| is_listing);
                self.enter(place, entries)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, place: Place, entries: Option<Vec<Entry>>) -> Result<(), Failure> {
        let Some(entries) = entries else {
            let message = format!("{} is not a folder", place.name);
            return Err(Failure::new(Exit::Other, message).advise("fetch it without -r"));
        };
        let target = &place.target;
        fs::create_dir_all(target)
            .map_err(|error| Failure::file("make the folder", target.display(), &error))?;
        self.files().listed += entries.iter().filter(|entry| !entry.is_folder).count() as u64;
        self.open.push(Open { place, entries: entries.into_iter() });
        Ok(())
    }

    fn files(&mut self) -> &mut Files {
        self.transfers.observer.files.get_or_insert_default()
    }
}
