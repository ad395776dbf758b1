//! Folders: a producer's folder with everything in it, into a folder here.
mod listing;
pub(crate) mod walk;

pub(crate) use listing::MAX_LISTING_BYTES;
pub use walk::Files;

use crate::download::{Earlier, destination};
use crate::error::{Error, Partial, Result};
use crate::fetch::{ActiveFetch, FetchBuilder, Running};
use crate::flow::{Flow, Progress};
use crate::mode::Blocking;
use crate::options::FetchOptions;
use crate::summary::FetchSummary;
use crate::transfer::Budget;
use crate::trust::Verify;
use crate::wait::{block_for, block_on};
use recoup_packet::name::Name;
use recoup_transport::event::Event;
use recoup_transport::fetch::FetchStats;
use recoup_transport::time::{Duration, Instant};
use std::fmt;
use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use walk::{FileTask, ListingTask, Skipped, Step, Walk};

/// Files and listings that are fetched at a time; about as many connections as browsers open to a server.
pub const DEFAULT_JOBS: usize = 8;
/// Most bytes of a listing that wait for their turn.
pub(crate) const LISTING_REORDER_BYTES: u64 = 1 << 20;

/// How far the fetch of a folder is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FolderProgress {
    /// Its files.
    pub files: Files,
    /// Bytes of content that are there, those from an earlier run included.
    pub bytes: u64,
    /// All its fetches together, listings included.
    pub fetches: Progress,
}

/// Called with the progress of a folder.
type ProgressCallback = Box<dyn FnMut(FolderProgress) + Send>;
/// Called with the entries that are left out.
type SkipCallback = Box<dyn FnMut(&str, &Error) + Send>;
/// Called with the files that are begun.
type FileCallback = Box<dyn FnMut(&Name, &Path) + Send>;

/// Describes the fetch of a folder; made by [`Client::fetch_folder`](crate::Client::fetch_folder).
///
/// Nothing is written outside the target folder, whatever the producer lists, and no link in it is followed.
///
/// ```
/// # let place = recoup::Client::builder().alone().connect()?;
/// # let there = tempfile::tempdir().unwrap();
/// # std::fs::create_dir(there.path().join("2024")).unwrap();
/// # std::fs::write(there.path().join("2024/sea.jpg"), "blue").unwrap();
/// # let _server = place.serve("/photos").listen("memory://folder")?.folder(there.path())?;
/// # let client = recoup::Client::builder().face("memory://folder").connect()?;
/// # let here = tempfile::tempdir().unwrap();
/// let target = here.path().join("photos");
/// let files = client.fetch_folder("/photos").to_folder(&target)?;
/// assert_eq!((files.fetched, std::fs::read_to_string(target.join("2024/sea.jpg")).unwrap()), (1, "blue".into()));
/// # Ok::<(), recoup::Error>(())
/// ```
#[must_use = "the fetch of a folder begins with to_folder"]
pub struct FolderBuilder<M = Blocking> {
    fetch: FetchBuilder<M>,
    jobs: usize,
    max_bytes: Option<u64>,
    progress: Option<ProgressCallback>,
    skipped: Option<SkipCallback>,
    begun: Option<FileCallback>,
}

impl<M> fmt::Debug for FolderBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fetch, jobs, .. } = self;
        f.debug_struct("FolderBuilder")
            .field("fetch", fetch)
            .field("jobs", jobs)
            .finish_non_exhaustive()
    }
}

impl<M> FolderBuilder<M> {
    pub(crate) fn new(fetch: FetchBuilder<M>) -> Self {
        Self {
            fetch,
            jobs: DEFAULT_JOBS,
            max_bytes: None,
            progress: None,
            skipped: None,
            begun: None,
        }
    }

    /// How content is verified.
    pub fn verify(mut self, verify: Verify) -> Self {
        self.fetch = self.fetch.verify(verify);
        self
    }

    /// All options of its fetches.
    pub fn options(mut self, options: FetchOptions) -> Self {
        self.fetch = self.fetch.options(options);
        self
    }

    /// Files and listings that are fetched at a time, at least 1; 8 without it. They share one congestion window.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Accepts no more content than this in all, in bytes: content from an earlier run counts, and so do listings.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Files that are there are left as they are, and unfinished ones are continued.
    pub fn resume(mut self, resume: bool) -> Self {
        self.fetch = self.fetch.resume(resume);
        self
    }

    /// Treatment of files and unfinished downloads of an earlier fetch.
    pub fn earlier(mut self, earlier: Earlier) -> Self {
        self.fetch = self.fetch.earlier(earlier);
        self
    }

    /// Calls `observer` with each event of each of its fetches; see [`FetchBuilder::on_event`]. Events do not name their file:
    /// with one [job](Self::jobs), those of a file follow each other.
    pub fn on_event(mut self, observer: impl FnMut(Instant, &Event) + Send + 'static) -> Self {
        self.fetch = self.fetch.on_event(observer);
        self
    }

    /// Calls `report` with unfinished downloads that have changed on the disk; see [`FetchBuilder::on_changed`].
    pub fn on_changed(mut self, report: impl FnMut(&Partial) + Send + 'static) -> Self {
        self.fetch = self.fetch.on_changed(report);
        self
    }

    /// Calls `report` with the name and the path of each file whose fetch begins, in the thread that waits.
    pub fn on_file(mut self, report: impl FnMut(&Name, &Path) + Send + 'static) -> Self {
        self.begun = Some(Box::new(report));
        self
    }

    /// The fetch ends if no answer at all comes within this time; see [`FetchBuilder::connect_timeout`].
    pub fn connect_timeout(mut self, within: Duration) -> Self {
        self.fetch = self.fetch.connect_timeout(within);
        self
    }

    /// Limits the rate at which Data of all files together arrives, in bytes per second.
    pub fn limit_rate(mut self, bytes_per_second: u64) -> Self {
        self.fetch = self.fetch.limit_rate(bytes_per_second);
        self
    }

    /// Calls `report` when a file or a listing has ended, in the thread that waits.
    pub fn on_progress(mut self, report: impl FnMut(FolderProgress) + Send + 'static) -> Self {
        self.progress = Some(Box::new(report));
        self
    }

    /// Calls `report` with the name of each entry that is left out, and why, in the thread that waits.
    pub fn on_skipped(mut self, report: impl FnMut(&str, &Error) + Send + 'static) -> Self {
        self.skipped = Some(Box::new(report));
        self
    }

    /// Fetches the folder in this thread. If `cancelled` ends first, what is in flight is cancelled.
    #[cfg(feature = "tokio")]
    pub(crate) fn run(self, path: &Path, cancelled: impl Future<Output = ()>) -> Result<Files> {
        let mut fetch = self.begin(path)?;
        let mut cancelled = std::pin::pin!(cancelled);
        block_on(poll_fn(|context| match fetch.poll_end(context) {
            Poll::Pending => cancelled.as_mut().poll(context).map(|()| Err(Error::cancelled())),
            ended => ended,
        }))
    }

    fn begin(self, path: &Path) -> Result<FolderFetch> {
        let Self { fetch, jobs, max_bytes, progress, skipped, begun } = self;
        let name = fetch.name.clone()?;
        let options = fetch.options.clone();
        let mut fetch = fetch.into_mode().sharing(max_bytes.map(Budget::new), name.clone());
        fetch.client.reach()?;
        fetch.locate()?;
        let (state, path) = (Arc::<Mutex<State>>::default(), destination(path)?);
        let (own, flag) = (Arc::clone(&state), Arc::clone(&state));
        let walk = Walk::new()?;
        let run = async move {
            let transfers = Vec::new();
            let mut run =
                Run { fetch, jobs, progress, skipped, begun, walk, transfers, state: own };
            let ended = {
                let mut all = std::pin::pin!(run.all(&name, &path));
                poll_fn(|context| {
                    // The lock is free again while the fetch goes on.
                    let is_cancelled = lock(&flag).is_cancelled;
                    match is_cancelled {
                        true => Poll::Ready(Err(Error::cancelled())),
                        false => all.as_mut().poll(context),
                    }
                })
                .await
            };
            match ended {
                Ok(()) => run.walk.finish(&name),
                Err(error) => Err(run.abandon(error).await),
            }
        };
        Ok(FolderFetch { run: Box::pin(run), state, options, outcome: None })
    }
}

impl FolderBuilder {
    /// Fetches the folder recursively into the folder at `path`, which is created if necessary.
    ///
    /// # Errors
    /// Those of its fetches. A link in the place of an entry, an invalid file name or a file that is not served does
    /// not end the others: the error comes after all the rest has arrived.
    pub fn to_folder(self, path: impl AsRef<Path>) -> Result<Files> {
        self.start_folder(path)?.finish()
    }

    /// As [`to_folder`](Self::to_folder); the fetch goes on while the caller [waits](FolderFetch::wait_for) for it.
    ///
    /// # Errors
    /// Errors found before the first Interest.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let mut fetch = client.fetch_folder("/photos").start_folder("photos")?;
    /// while !fetch.wait_for(std::time::Duration::from_millis(100)) {
    ///     eprintln!("{} files", fetch.progress().files.fetched);
    /// }
    /// println!("{} bytes", fetch.summary().stats.content_bytes);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn start_folder(self, path: impl AsRef<Path>) -> Result<FolderFetch> {
        self.begin(path.as_ref())
    }
}

/// State that a folder's fetch shares with its owner.
#[derive(Debug, Default)]
struct State {
    files: Files,
    /// The listing of the folder itself, with its version.
    object: Option<Name>,
    /// Of the fetches that have ended.
    stats: FetchStats,
    ended: Progress,
    active: Vec<Arc<Flow>>,
    is_cancelled: bool,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn progress(&self) -> FolderProgress {
        let mut fetches = self.ended;
        self.active.iter().for_each(|flow| fetches.add(&flow.lock().progress));
        FolderProgress { files: self.files, bytes: fetches.bytes, fetches }
    }
}

/// The fetch of a folder, which goes on while its owner waits. Dropping it cancels what is in flight.
pub struct FolderFetch {
    run: Pin<Box<dyn Future<Output = Result<Files>> + Send>>,
    state: Arc<Mutex<State>>,
    options: FetchOptions,
    outcome: Option<Result<Files>>,
}

impl fmt::Debug for FolderFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderFetch").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl FolderFetch {
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<Files>> {
        if self.outcome.is_none() {
            let Poll::Ready(outcome) = self.run.as_mut().poll(context) else {
                return Poll::Pending;
            };
            if let Ok(files) = &outcome {
                lock(&self.state).files = *files;
            }
            self.outcome = Some(outcome);
        }
        self.outcome.clone().map_or(Poll::Pending, Poll::Ready)
    }

    /// Goes on, at most for this time. Returns whether the fetch has ended.
    pub fn wait_for(&mut self, time: Duration) -> bool {
        block_for(poll_fn(|context| self.poll_end(context)), time).is_some()
    }

    /// How far it is.
    pub fn progress(&self) -> FolderProgress {
        lock(&self.state).progress()
    }

    /// The name of the folder's own listing with its version, once it is there.
    pub fn object(&self) -> Option<Name> {
        lock(&self.state).object.clone()
    }

    /// The figures of the fetches that have ended, together.
    pub fn summary(&self) -> FetchSummary {
        FetchSummary::new(lock(&self.state).stats.clone(), &self.options)
    }

    /// Cancels what is in flight, and waits until what has arrived is safe on the disk.
    ///
    /// # Errors
    /// How the fetch has ended; [`Error::partials`] is what is kept.
    pub fn cancel(&mut self) -> Result<Files> {
        lock(&self.state).is_cancelled = true;
        self.finish()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// As [`FolderBuilder::to_folder`].
    pub fn finish(&mut self) -> Result<Files> {
        block_on(poll_fn(|context| self.poll_end(context)))
    }
}

/// A folder in the course of being fetched. Dropping it cancels what is in flight.
struct Run {
    fetch: FetchBuilder,
    jobs: usize,
    progress: Option<ProgressCallback>,
    skipped: Option<SkipCallback>,
    begun: Option<FileCallback>,
    walk: Walk,
    transfers: Vec<Transfer>,
    state: Arc<Mutex<State>>,
}

/// A transfer in flight.
enum Transfer {
    Listing {
        task: ListingTask,
        running: Running,
        has_begun: bool,
    },
    /// A file; once it has ended, whether it was there, and was verified then.
    File {
        name: Name,
        fetch: ActiveFetch,
        kept: Option<bool>,
    },
}

impl Run {
    async fn all(&mut self, name: &Name, target: &Path) -> Result<()> {
        let root = self.walk.begin(name, target)?;
        self.list(root)?;
        // Without the first listing there is no folder.
        let (ended, result) = self.ended().await;
        if let Err(error) = self.take(ended, result) {
            return Err(error.1);
        }
        loop {
            while self.transfers.len() < self.jobs && self.begin_next()? {}
            if self.transfers.is_empty() {
                while let Some(Skipped { entry, error }) = self.walk.settle_all() {
                    self.skip(&entry, error)?;
                }
                self.count();
                return Ok(());
            }
            let (ended, result) = self.ended().await;
            self.conclude(ended, result)?;
        }
    }

    /// Begins with the next entry; `false` if there is none for now.
    fn begin_next(&mut self) -> Result<bool> {
        // A listing may have millions of entries that need no transfer.
        self.fetch.client.check_stop()?;
        match self.walk.step() {
            Ok(Step::Wait) => return Ok(false),
            Ok(Step::Again) => {}
            Ok(Step::List(task)) => self.list(task)?,
            Ok(Step::File(task)) => {
                let name = task.name.to_string();
                if let Err(error) = self.file(task) {
                    self.skip(&name, error)?;
                }
            }
            Err(Skipped { entry, error }) => self.skip(&entry, error)?,
        }
        Ok(true)
    }

    fn list(&mut self, task: ListingTask) -> Result<()> {
        match self.fetch.of_entry(task.name().clone()).begin_listing() {
            Ok(running) => {
                lock(&self.state).active.push(Arc::clone(&running.flow));
                self.transfers.push(Transfer::Listing { task, running, has_begun: false });
                Ok(())
            }
            Err(error) => {
                let name = task.name().to_string();
                self.walk.unlisted(task);
                self.skip(&name, error)
            }
        }
    }

    fn file(&mut self, task: FileTask) -> Result<()> {
        let FileTask { name, target, place } = task;
        if let Some(report) = &mut self.begun {
            report(&name, &target);
        }
        let fetch = self.fetch.of_entry(name.clone()).begin_in_folder(&target, place)?;
        lock(&self.state).active.push(Arc::clone(fetch.flow()));
        self.transfers.push(Transfer::File { name, fetch, kept: None });
        Ok(())
    }

    /// The next transfer that has ended.
    async fn ended(&mut self) -> (Transfer, Result<()>) {
        let transfers = &mut self.transfers;
        let (place, result) = poll_fn(|context| {
            for (place, transfer) in transfers.iter_mut().enumerate() {
                if let Poll::Ready(result) = transfer.poll(context) {
                    return Poll::Ready((place, result));
                }
            }
            Poll::Pending
        })
        .await;
        (self.transfers.swap_remove(place), result)
    }

    /// Counts what has ended, and reports the progress.
    fn conclude(&mut self, transfer: Transfer, result: Result<()>) -> Result<()> {
        if let Err(failed) = self.take(transfer, result) {
            let (name, error) = *failed;
            self.skip(&name.to_string(), error)?;
        }
        while let Some(Skipped { entry, error }) = self.walk.settle() {
            self.skip(&entry, error)?;
        }
        self.count();
        let progress = lock(&self.state).progress();
        if let Some(report) = &mut self.progress {
            report(progress);
        }
        Ok(())
    }

    /// Takes what has ended; if it failed, with its name.
    fn take(
        &mut self,
        transfer: Transfer,
        result: Result<()>,
    ) -> std::result::Result<(), Box<(Name, Error)>> {
        self.release(&transfer);
        match transfer {
            Transfer::File { name, kept, .. } => {
                result.map_err(|error| Box::new((name, error)))?;
                match kept {
                    Some(is_verified) => self.walk.kept(is_verified),
                    None => self.walk.fetched(),
                }
            }
            Transfer::Listing { task, running, .. } => {
                let name = task.name().clone();
                let listed = match result {
                    Ok(()) => self.walk.listed(task),
                    Err(error) => {
                        self.walk.unlisted(task);
                        Err(error)
                    }
                };
                listed.map_err(|error| Box::new((name, error)))?;
                let object = running.flow.lock().object.clone();
                let mut state = lock(&self.state);
                state.object = state.object.take().or(object);
            }
        }
        self.count();
        Ok(())
    }

    /// Adds the figures of a transfer that has ended.
    fn release(&self, transfer: &Transfer) {
        let flow = transfer.flow();
        let (progress, summary) = {
            let flow = flow.lock();
            (flow.progress, flow.summary())
        };
        let mut state = lock(&self.state);
        state.active.retain(|active| !Arc::ptr_eq(active, flow));
        state.ended.add(&progress);
        state.stats.add(&summary.stats);
    }

    /// Shows the files so far.
    fn count(&self) {
        lock(&self.state).files = self.walk.files();
    }

    fn skip(&mut self, entry: &str, error: Error) -> Result<()> {
        if let Some(report) = self.skipped.as_mut().filter(|_| error.concerns_entry()) {
            report(entry, &error);
        }
        self.walk.skip(error)?;
        self.count();
        Ok(())
    }

    /// Cancels what is in flight. Returns the error with all that is kept.
    async fn abandon(&mut self, mut error: Error) -> Error {
        for transfer in std::mem::take(&mut self.transfers) {
            let ended = match &transfer {
                Transfer::File { fetch, .. } => fetch.end_early().await.err(),
                Transfer::Listing { running, .. } => running.end_early().await.err(),
            };
            self.release(&transfer);
            let partials = ended.iter().flat_map(Error::partials).cloned();
            error = partials.fold(error, Error::with_partial);
        }
        // Files that have arrived get their names, and count.
        while let Some(Skipped { entry, error }) = self.walk.settle_all() {
            if self.skip(&entry, error).is_err() {
                break;
            }
        }
        self.count();
        error
    }
}

impl Transfer {
    fn flow(&self) -> &Arc<Flow> {
        match self {
            Self::File { fetch, .. } => fetch.flow(),
            Self::Listing { running, .. } => &running.flow,
        }
    }

    /// The end.
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<()>> {
        match self {
            Self::File { fetch, kept, .. } => fetch.poll_end(context).map_ok(|summary| {
                let run = summary.stats.run;
                *kept = run.is_kept.then_some(run.held_not_verified == 0);
            }),
            Self::Listing { task, running, has_begun } => loop {
                let Poll::Ready(piece) = running.flow.poll_next(context)? else {
                    return Poll::Pending;
                };
                let (object, mode, last) = {
                    let state = running.flow.lock();
                    let mode = state.metadata.as_ref().and_then(|metadata| metadata.mode);
                    (state.object.clone(), mode, state.last)
                };
                if let Some(object) = object.filter(|_| !std::mem::replace(has_begun, true)) {
                    task.buffer.begin(&object)?;
                    task.restrict(mode);
                }
                if let Some(last) = last {
                    task.buffer.end_known(last);
                }
                match piece {
                    None => return Poll::Ready(Ok(())),
                    Some((_, content)) => task.buffer.content(&content)?,
                }
            },
        }
    }
}
