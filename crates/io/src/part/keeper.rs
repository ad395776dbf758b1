//! The thread that brings data to the disk and then replaces the journal, so that the loop which
//! receives packets never waits for a disk.
use super::PartError;
use super::error::failed;
use super::journal::{self, Journal};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Files longer than this, in octets, do not stay in the page cache once they are on disk.
const DROP_BEHIND_BYTES: u64 = 32 << 20;
/// The disk gets at most one part in this many of the time, so slow disks get fewer journals.
const REST: u32 = 4;

/// Where the file and its journal are; what both this thread and its owner need to save them.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) file: File,
    pub(super) part: PathBuf,
    pub(super) journal: PathBuf,
}

impl Shelf {
    /// Data first, then the journal that claims it.
    pub(super) fn save(&self, journal: &Journal) -> Result<(), Unsaved> {
        self.file.sync_data().map_err(|error| Unsaved::Data(failed("write", &self.part, error)))?;
        drop_behind(&self.file);
        journal::store(&self.journal, journal).map_err(Unsaved::Journal)
    }

    fn try_clone(&self) -> io::Result<Self> {
        let (part, journal) = (self.part.clone(), self.journal.clone());
        Ok(Self { file: self.file.try_clone()?, part, journal })
    }
}

/// What could not be saved.
#[derive(Debug)]
pub(super) enum Unsaved {
    /// The data: after that, no journal may claim anything new (the kernel forgets the failure).
    Data(PartError),
    /// The journal: the old one still holds, a later one may succeed.
    Journal(PartError),
}

/// Clean pages leave the cache; dirty ones begin their way to the disk. Purely a hint.
fn drop_behind(file: &File) {
    if file.metadata().is_ok_and(|metadata| metadata.len() > DROP_BEHIND_BYTES) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    }
}

/// The owner's end. At most one save is under way.
#[derive(Debug)]
pub(super) struct Keeper {
    worker: Option<Worker>,
    /// When the last save began, or the file was opened.
    last: Instant,
    interval: Duration,
    /// How long the last save took.
    effort: Duration,
}

#[derive(Debug)]
struct Worker {
    todo: Sender<Journal>,
    done: Receiver<Result<(), Unsaved>>,
    thread: JoinHandle<()>,
    busy: bool,
}

impl Keeper {
    /// One save per `interval` at most. The thread starts with the first.
    pub(super) fn new(interval: Duration) -> Self {
        Self { worker: None, last: Instant::now(), interval, effort: Duration::ZERO }
    }

    /// Whether it is time for a save and none is under way.
    pub(super) fn is_due(&self) -> bool {
        !self.worker.as_ref().is_some_and(|worker| worker.busy)
            && self.last.elapsed() >= self.interval.max(self.effort * (REST + 1))
    }

    /// Begins a save.
    pub(super) fn begin(&mut self, shelf: &Shelf, journal: Journal) -> Result<(), PartError> {
        if self.worker.is_none() {
            self.worker = Some(start(shelf)?);
        }
        self.last = Instant::now();
        if let Some(worker) = &mut self.worker {
            worker.busy = worker.todo.send(journal).is_ok();
        }
        Ok(())
    }

    /// The result of the save under way, if it has come.
    pub(super) fn outcome(&mut self) -> Option<Result<(), Unsaved>> {
        let worker = self.worker.as_mut().filter(|worker| worker.busy)?;
        let outcome = worker.done.try_recv().ok()?;
        worker.busy = false;
        self.effort = self.last.elapsed();
        Some(outcome)
    }

    /// Waits for the save under way, if any.
    pub(super) fn wait(&mut self) -> Result<(), Unsaved> {
        let Some(worker) = self.worker.as_mut().filter(|worker| worker.busy) else {
            return Ok(());
        };
        worker.busy = false;
        worker.done.recv().unwrap_or(Ok(()))
    }
}

impl Drop for Keeper {
    /// Waits for the thread, which holds the file open and thereby locked.
    fn drop(&mut self) {
        if let Some(Worker { todo, thread, .. }) = self.worker.take() {
            drop(todo);
            let _ = thread.join();
        }
    }
}

fn start(shelf: &Shelf) -> Result<Worker, PartError> {
    let trouble = |path: &Path, error| failed("keep a journal for", path, error);
    let own = shelf.try_clone().map_err(|error| trouble(&shelf.part, error))?;
    let (todo, work) = channel::<Journal>();
    let (report, done) = channel();
    let save = move || {
        while let Ok(journal) = work.recv() {
            if report.send(own.save(&journal)).is_err() {
                break;
            }
        }
    };
    let thread = thread::Builder::new().name("part-journal".to_owned());
    let thread = thread.spawn(save).map_err(|error| trouble(&shelf.part, error))?;
    Ok(Worker { todo, done, thread, busy: false })
}
