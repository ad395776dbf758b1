//! Complete downloads of a folder, which are brought to the disk together.
//!
//! To wait for the disk takes about as long for one small file as for a hundred. So a thread collects what is complete, waits
//! once for all of it, and then gives the files their names. A crash or a power cut leaves no name without its content. If
//! the process is killed, journals of the files without names are there, and they need no network to end. Files of at most
//! 64 KiB have none, and are fetched again.
use super::PartError;
use super::complete::Complete;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Most files of one group. Each has up to three descriptors, and a process may have no more than 256.
const MAX_FILES: usize = 48;
/// Files that wait for the next group.
const MAX_WAITING: usize = 16;
/// How long the first file of a group waits for others.
const GATHERING: Duration = Duration::from_millis(100);

/// Gives complete downloads their names, many at a time. Dropping the group waits until each file has its name.
#[derive(Debug)]
pub struct Group {
    /// `None` once it is closed.
    todo: Mutex<Option<SyncSender<Work>>>,
    done: Mutex<Receiver<Outcome>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Work of the thread.
enum Work {
    File(Box<Complete>),
    /// No file will follow soon.
    Begin,
}

/// Outcome of one file.
#[derive(Debug)]
pub struct Outcome {
    /// The file.
    pub target: PathBuf,
    /// An error as those of [`PartFile::finish`](super::PartFile::finish); the download stays resumable.
    pub result: Result<(), PartError>,
}

impl Group {
    /// Starts the thread.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start() -> io::Result<Self> {
        let (todo, work) = sync_channel(MAX_WAITING);
        let (report, done) = channel();
        let work = move || {
            while let Some(group) = gather(&work) {
                for outcome in commit(group) {
                    // Files get their names even if nothing wants to know about it.
                    let _ = report.send(outcome);
                }
            }
        };
        let thread = thread::Builder::new().name("part-group".to_owned()).spawn(work)?;
        let (todo, done) = (Mutex::new(Some(todo)), Mutex::new(done));
        Ok(Self { todo, done, thread: Mutex::new(Some(thread)) })
    }

    /// Adds a file; waits while the disk is far behind. A closed group leaves it as it is.
    pub(super) fn add(&self, complete: Complete) {
        self.send(Work::File(Box::new(complete)));
    }

    fn send(&self, work: Work) {
        let todo = locked(&self.todo).clone();
        // The thread ends after the last sender.
        let left = match todo {
            Some(todo) => todo.send(work).err().map(|error| error.0),
            None => Some(work),
        };
        if let Some(Work::File(complete)) = left {
            complete.keep();
        }
    }

    /// The next outcome, if one is there.
    pub fn next_outcome(&self) -> Option<Outcome> {
        locked(&self.done).try_recv().ok()
    }

    /// Waits for the next outcome, while no file follows. `None` if there will be none.
    pub fn wait(&self) -> Option<Outcome> {
        self.next_outcome().or_else(|| {
            self.send(Work::Begin);
            locked(&self.done).recv().ok()
        })
    }

    /// Waits until each file has its name. Further ones get none.
    pub fn close(&self) {
        drop(locked(&self.todo).take());
        let _ = locked(&self.thread).take().map(JoinHandle::join);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.close();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next group; `None` after the last file.
fn gather(work: &Receiver<Work>) -> Option<Vec<Complete>> {
    let mut group = match work.recv().ok()? {
        Work::File(first) => vec![*first],
        Work::Begin => return Some(Vec::new()),
    };
    let until = Instant::now() + GATHERING;
    while group.len() < MAX_FILES {
        match work.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Work::File(next)) => group.push(*next),
            Ok(Work::Begin) | Err(_) => break,
        }
    }
    Some(group)
}

/// Content first, then names.
fn commit(group: Vec<Complete>) -> Vec<Outcome> {
    let synced = Complete::sync_all(&group).into_iter();
    let named = |(it, synced): (&Complete, Result<(), PartError>)| {
        synced.and_then(|()| it.publish()).inspect_err(|_| it.keep())
    };
    let results: Vec<_> = group.iter().zip(synced).map(named).collect();
    let mut folders: Vec<&Complete> = Vec::new();
    for (complete, _) in group.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
        if !folders.iter().any(|other| other.is_beside(complete)) {
            folders.push(complete);
        }
    }
    folders.iter().for_each(|complete| complete.sync_name());
    let outcomes = group.into_iter().zip(results);
    outcomes.map(|(it, result)| Outcome { target: it.target, result }).collect()
}
