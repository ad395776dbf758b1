//! Folders: a producer's folder with everything in it, into a folder here.
mod listing;
pub mod walk;

pub(crate) use listing::MAX_LISTING_BYTES;
pub use walk::Files;

use crate::error::{Error, Result};
use crate::fetch::{FetchBuilder, FileFetch, Running};
use crate::flow::Progress;
use crate::mode::Blocking;
use crate::options::FetchOptions;
use crate::transfer::Budget;
use crate::trust::Verify;
use crate::wait::block_on;
use recoup_packet::name::Name;
use recoup_transport::time::Duration;
use std::fmt;
use std::future::{pending, poll_fn};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll};
use walk::{FileTask, ListingTask, Skipped, Step, Walk};

/// Files and listings that are fetched at a time; about as many connections as browsers open to a server.
pub const DEFAULT_JOBS: usize = 8;
/// Most bytes of a listing that wait for their turn.
pub const LISTING_REORDER_BYTES: u64 = 1 << 20;

/// How far the fetch of a folder is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderProgress {
    /// Its files.
    pub files: Files,
    /// Bytes of content that are there, those from an earlier run included.
    pub bytes: u64,
}

/// Called with the progress of a folder.
type ProgressCallback = Box<dyn FnMut(FolderProgress) + Send>;
/// Called with the entries that are left out.
type SkipCallback = Box<dyn FnMut(&str, &Error) + Send>;

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
    resume: bool,
    progress: Option<ProgressCallback>,
    skipped: Option<SkipCallback>,
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
            resume: false,
            progress: None,
            skipped: None,
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

    /// Files and listings that are fetched at a time, at least 1; 8 without it.
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
        self.resume = resume;
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
    pub(crate) fn run(self, path: &Path, cancelled: impl Future<Output = ()>) -> Result<Files> {
        let Self { fetch, jobs, max_bytes, resume, progress, skipped } = self;
        let name = fetch.name.clone()?;
        let budget = max_bytes.map(Budget::new);
        let mut fetch = fetch.into_mode().sharing(budget).resume(resume);
        fetch.locate()?;
        let walk = Walk::new()?;
        let transfers = Vec::new();
        let mut run = Run { fetch, jobs, progress, skipped, walk, transfers, bytes: 0 };
        {
            let (mut all, mut cancelled) = (pin!(run.all(&name, path)), pin!(cancelled));
            block_on(poll_fn(|context| match all.as_mut().poll(context) {
                Poll::Pending => cancelled.as_mut().poll(context).map(|()| Err(Error::cancelled())),
                ended => ended,
            }))?;
        }
        run.walk.finish(&name)
    }
}

impl FolderBuilder {
    /// Fetches the folder recursively into the folder at `path`, which is created if necessary.
    ///
    /// # Errors
    /// Those of its fetches. A link in the place of an entry, an invalid file name or a file that is not served does
    /// not end the others: the error comes after all the rest has arrived.
    pub fn to_folder(self, path: impl AsRef<Path>) -> Result<Files> {
        self.run(path.as_ref(), pending())
    }
}

/// A folder in the course of being fetched. Dropping it cancels what is in flight.
struct Run {
    fetch: FetchBuilder,
    jobs: usize,
    progress: Option<ProgressCallback>,
    skipped: Option<SkipCallback>,
    walk: Walk,
    transfers: Vec<Transfer>,
    /// Bytes of what has ended.
    bytes: u64,
}

/// A transfer in flight.
enum Transfer {
    Listing {
        task: ListingTask,
        running: Running,
        has_begun: bool,
        bytes: u64,
    },
    /// A file; once it has ended, whether it was there, and was verified then.
    File {
        name: Name,
        fetch: FileFetch,
        kept: Option<bool>,
    },
}

impl Run {
    async fn all(&mut self, name: &Name, target: &Path) -> Result<()> {
        let root = self.walk.begin(name, target)?;
        self.list(root)?;
        // Without the first listing there is no folder.
        let (ended, result) = self.ended().await;
        result?;
        self.conclude(ended, Ok(()))?;
        loop {
            while self.transfers.len() < self.jobs && self.begin_next()? {}
            if self.transfers.is_empty() {
                while let Some(Skipped { entry, error }) = self.walk.settle_all() {
                    self.skip(&entry, error)?;
                }
                return Ok(());
            }
            let (ended, result) = self.ended().await;
            self.conclude(ended, result)?;
        }
    }

    /// Begins with the next entry; `false` if there is none for now.
    fn begin_next(&mut self) -> Result<bool> {
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
        let running = self.fetch.of_entry(task.name().clone()).begin_listing()?;
        self.transfers.push(Transfer::Listing { task, running, has_begun: false, bytes: 0 });
        Ok(())
    }

    fn file(&mut self, task: FileTask) -> Result<()> {
        let FileTask { name, target, place } = task;
        let fetch = self.fetch.of_entry(name.clone()).begin_in_folder(&target, place)?;
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

    fn conclude(&mut self, transfer: Transfer, result: Result<()>) -> Result<()> {
        self.bytes += transfer.bytes();
        let (name, outcome) = match transfer {
            Transfer::File { name, kept, .. } => {
                if result.is_ok() {
                    match kept {
                        Some(is_verified) => self.walk.kept(is_verified),
                        None => self.walk.fetched(),
                    }
                }
                (name, result)
            }
            Transfer::Listing { task, .. } => {
                let name = task.name().clone();
                let listed = match result {
                    Ok(()) => self.walk.listed(task),
                    Err(error) => {
                        self.walk.unlisted(task);
                        Err(error)
                    }
                };
                (name, listed)
            }
        };
        if let Err(error) = outcome {
            self.skip(&name.to_string(), error)?;
        }
        while let Some(Skipped { entry, error }) = self.walk.settle() {
            self.skip(&entry, error)?;
        }
        let (files, bytes) = (self.walk.files(), self.bytes);
        if let Some(report) = &mut self.progress {
            report(FolderProgress { files, bytes });
        }
        Ok(())
    }

    fn skip(&mut self, entry: &str, error: Error) -> Result<()> {
        if let Some(report) = self.skipped.as_mut().filter(|_| error.concerns_entry()) {
            report(entry, &error);
        }
        self.walk.skip(error)
    }
}

impl Transfer {
    /// The end.
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<()>> {
        match self {
            Self::File { fetch, kept, .. } => fetch.poll_end(context).map_ok(|summary| {
                let is_verified = summary.verification.held_not_verified == 0;
                *kept = summary.kept.then_some(is_verified);
            }),
            Self::Listing { task, running, has_begun, bytes } => loop {
                let Poll::Ready(piece) = running.flow.poll_next(context)? else {
                    return Poll::Pending;
                };
                let (object, last) = {
                    let state = running.flow.lock();
                    (state.object.clone(), state.last)
                };
                if let Some(object) = object.filter(|_| !std::mem::replace(has_begun, true)) {
                    task.buffer.begin(&object)?;
                }
                if let Some(last) = last {
                    task.buffer.end_known(last);
                }
                match piece {
                    None => return Poll::Ready(Ok(())),
                    Some((_, content)) => {
                        *bytes += content.len() as u64;
                        task.buffer.content(&content)?;
                    }
                }
            },
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::File { fetch, .. } => {
                let Progress { bytes, .. } = fetch.progress();
                bytes
            }
            Self::Listing { bytes, .. } => *bytes,
        }
    }
}
