//! The thread that brings data to the disk and then replaces the journal, so that the loop which
//! receives packets never waits for a disk.
use super::PartError;
use super::error::failed;
use super::journal::{self, Journal};
use super::staging::Staging;
use rustix::fs::Stat;
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Files longer than this, in bytes, do not stay in the page cache once they are on disk.
const DROP_BEHIND_BYTES: u64 = 32 << 20;
/// The disk gets at most one part in this many of the time, so slow disks get fewer journals.
const REST: u32 = 4;

/// Part of the interval before the first save. Each next delay doubles until the interval is
/// reached: a process that is killed repeatedly still makes progress.
const FIRST: u32 = 10;

/// The open file and its place in the staging folder.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    pub(super) file: Arc<File>,
    /// The file's device and inode, among others, as they were when it was opened.
    pub(super) stat: Stat,
    pub(super) staging: Arc<Staging>,
}

impl Storage {
    /// Data first, then the journal that claims it.
    pub(super) fn save(&self, journal: &Journal) -> Result<(), Unsaved> {
        let failed = |error| Unsaved::Data(failed("write", &self.staging.part_path(), error));
        self.file.sync_data().map_err(failed)?;
        drop_behind(&self.file);
        journal::store(&self.staging, journal, true).map_err(Unsaved::Journal)
    }
}

/// A failed save.
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

/// The owner's end. At most one save is in progress.
#[derive(Debug)]
pub(super) struct Keeper {
    worker: Option<Worker>,
    /// When the last save began, or the first content came.
    last: Option<Instant>,
    /// Least time from then to the next save.
    interval: Duration,
    longest_interval: Duration,
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
    /// One save per `interval` at most, after a few that follow each other sooner. The thread starts with the first.
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            worker: None,
            last: None,
            interval: interval / FIRST,
            longest_interval: interval,
            effort: Duration::ZERO,
        }
    }

    /// Whether a save is due and none is in progress. To be called when there is content to save.
    pub(super) fn is_due(&mut self) -> bool {
        let last = *self.last.get_or_insert_with(Instant::now);
        !self.worker.as_ref().is_some_and(|worker| worker.busy)
            && last.elapsed() >= self.interval.max(self.effort * (REST + 1))
    }

    /// Whether a save has begun: there may be a journal on disk.
    pub(super) fn has_begun(&self) -> bool {
        self.worker.is_some()
    }

    /// Begins a save.
    pub(super) fn begin(&mut self, storage: &Storage, journal: Journal) -> Result<(), PartError> {
        if self.worker.is_none() {
            self.worker = Some(start(storage)?);
        }
        self.last = Some(Instant::now());
        self.interval = (2 * self.interval).min(self.longest_interval);
        if let Some(worker) = &mut self.worker {
            worker.busy = worker.todo.send(journal).is_ok();
        }
        Ok(())
    }

    /// The result of the save in progress, if it has ended.
    pub(super) fn outcome(&mut self) -> Option<Result<(), Unsaved>> {
        let worker = self.worker.as_mut().filter(|worker| worker.busy)?;
        let outcome = worker.done.try_recv().ok()?;
        worker.busy = false;
        self.effort = self.last.map_or(Duration::ZERO, |last| last.elapsed());
        Some(outcome)
    }

    /// Waits for the save in progress, if any.
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

fn start(storage: &Storage) -> Result<Worker, PartError> {
    let trouble = |error| failed("keep a journal for", &storage.staging.part_path(), error);
    let own = storage.clone();
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
    let thread = thread.spawn(save).map_err(trouble)?;
    Ok(Worker { todo, done, thread, busy: false })
}
