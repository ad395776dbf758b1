//! A fetch: what is asked for, where content goes, and how it ends.
use crate::client::Client;
use crate::download::{Download, destination};
use crate::engine::TaskId;
use crate::error::{Error, Result};
use crate::flow::{Flow, Progress};
use crate::options::{FetchOptions, in_order};
use crate::reader::Reader;
use crate::summary::FetchSummary;
use crate::transfer::{Order, Transfer};
use crate::trust::Verify;
use bytes::{Buf, Bytes};
use recoup_packet::name::Name;
use recoup_transport::fetch::Fetch;
use recoup_transport::rto::RttSample;
use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Time between two calls of a progress callback at least.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Who watches.
type Watcher = Box<dyn FnMut(Progress) + Send>;

/// Describes a fetch; made by [`Client::fetch`].
///
/// ```
/// # let place = recoup::Client::builder().alone().connect()?;
/// # let _server = place.serve("/log").listen("memory://builder")?.bytes("one two three")?;
/// # let client = recoup::Client::builder().face("memory://builder").connect()?;
/// let content = client.fetch("/log").bytes(4..7).to_vec()?;
/// assert_eq!(content, b"two");
/// # Ok::<(), recoup::Error>(())
/// ```
#[must_use = "a fetch begins with to_vec, to_file, start_file, chunks or reader"]
pub struct FetchBuilder {
    pub(crate) client: Client,
    pub(crate) name: Result<Name>,
    pub(crate) options: FetchOptions,
    segments: (u64, Option<u64>),
    bytes: Option<(u64, Option<u64>)>,
    max_bytes: Option<u64>,
    pub(crate) cache_bytes: u64,
    resume: bool,
    /// The producer of the name is located already.
    is_located: bool,
    watcher: Option<Watcher>,
}

impl fmt::Debug for FetchBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, options, segments, bytes, .. } = self;
        let mut shown = f.debug_struct("FetchBuilder");
        shown.field("name", name).field("options", options);
        shown.field("segments", segments).field("bytes", bytes).finish_non_exhaustive()
    }
}

impl FetchBuilder {
    pub(crate) fn new(client: Client, name: Result<Name>) -> Self {
        Self {
            options: client.settings.options.clone(),
            client,
            name,
            segments: (0, None),
            bytes: None,
            max_bytes: None,
            cache_bytes: 16 << 20,
            resume: false,
            is_located: false,
            watcher: None,
        }
    }

    /// Only these segments, such as `10..20`.
    pub fn segments(mut self, range: impl RangeBounds<u64>) -> Self {
        self.segments = limits(&range);
        self
    }

    /// Only these bytes, such as `1_000_000..` (from memory: not for [`to_file`](Self::to_file)).
    pub fn bytes(mut self, range: impl RangeBounds<u64>) -> Self {
        self.bytes = Some(limits(&range));
        self
    }

    /// How content is verified.
    pub fn verify(mut self, verify: Verify) -> Self {
        self.options.verify = verify;
        self
    }

    /// All other options.
    pub fn options(mut self, options: FetchOptions) -> Self {
        self.options = options;
        self
    }

    /// Accepts no more content than this, in bytes; content from an earlier run counts.
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// A [`Reader`] keeps at most so many bytes of segments; 16 MiB without it.
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// An unfinished download to the same file is continued: of the version that was begun, after its content on the disk
    /// was checked. Without an unfinished download, one is begun.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Calls `watcher` in the caller's thread about ten times a second, and at the end, while [`to_vec`](Self::to_vec) or
    /// [`to_file`](Self::to_file) waits.
    pub fn on_progress(mut self, watcher: impl FnMut(Progress) + Send + 'static) -> Self {
        self.watcher = Some(Box::new(watcher));
        self
    }

    /// Fetches into memory.
    ///
    /// # Errors
    /// Those of the fetch. [`is_condition`](Error::is_condition) if the content is larger than
    /// [`max_size`](Self::max_size) and [`Builder::max_memory`](crate::Builder::max_memory) permit.
    ///
    /// ```
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://to-vec")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://to-vec").connect()?;
    /// assert_eq!(client.fetch("/log").to_vec()?, b"one two three");
    /// assert!(client.fetch("/log").max_size(3).to_vec().unwrap_err().is_condition());
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn to_vec(mut self) -> Result<Vec<u8>> {
        let most = self.client.settings.max_memory;
        self.max_bytes = Some(self.max_bytes.map_or(most, |asked| asked.min(most)));
        let mut watcher = self.watcher.take();
        let mut content = Vec::new();
        let mut chunks = self.chunks()?;
        let mut watched = std::time::Instant::now();
        while let Some(chunk) = chunks.next_chunk()? {
            content.extend_from_slice(&chunk);
            if let Some(watcher) = watcher.as_mut().filter(|_| watched.elapsed() > PROGRESS_EVERY) {
                watched = std::time::Instant::now();
                watcher(chunks.progress());
            }
        }
        watcher.into_iter().for_each(|mut watcher| watcher(chunks.progress()));
        Ok(content)
    }

    /// Fetches into the file at `path`, which appears once it is complete. After a failure or a crash, the partial file is
    /// kept beside it, in the folder `.recoup-UID`; [`resume`](Self::resume) continues it.
    ///
    /// # Errors
    /// Those of the fetch, [`is_local`](Error::is_local) for the file system.
    ///
    /// ```
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://to-file")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://to-file").connect()?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("log");
    /// let summary = client.fetch("/log").resume(true).to_file(&path)?;
    /// assert_eq!((summary.segments, std::fs::read(&path).unwrap()), (1, b"one two three".to_vec()));
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn to_file(mut self, path: impl AsRef<Path>) -> Result<FetchSummary> {
        let watcher = self.watcher.take();
        let mut fetch = self.start_file(path)?;
        if let Some(mut watcher) = watcher {
            for progress in fetch.by_ref() {
                watcher(progress);
            }
        }
        fetch.finish()
    }

    /// As [`to_file`](Self::to_file), without waiting.
    ///
    /// # Errors
    /// What is wrong before anything is fetched.
    ///
    /// ```
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://start-file")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://start-file").connect()?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("log");
    /// let mut fetch = client.fetch("/log").start_file(&path)?;
    /// for progress in &mut fetch {
    ///     eprintln!("{} bytes", progress.bytes);
    /// }
    /// assert!(fetch.finish()?.segments == 1);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn start_file(self, path: impl AsRef<Path>) -> Result<FileFetch> {
        if self.bytes.is_some() {
            return Err(Error::usage("a file is made of whole segments")
                .with_remedy("choose a range in segments, or write what a reader returns"));
        }
        let target = destination(path.as_ref())?;
        let (flow, task) = self.begin(self.segments, Some(&target))?;
        Ok(FileFetch { running: Running::new(self.client, flow, task) })
    }

    /// Fetches content in order, piece by piece. If the caller takes no content, the window shrinks and nothing more than
    /// 16 MiB waits.
    ///
    /// # Errors
    /// What is wrong before anything is fetched.
    ///
    /// ```
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://chunks")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://chunks").connect()?;
    /// for chunk in client.fetch("/log").chunks()? {
    ///     println!("{} bytes", chunk?.len());
    /// }
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn chunks(self) -> Result<Chunks> {
        let Some((begin, end)) = self.bytes else {
            let (flow, task) = self.begin(self.segments, None)?;
            let running = Running::new(self.client, flow, task);
            return Ok(Chunks { running: Some(running), skip: 0, left: None });
        };
        let Self { client, name, options, max_bytes, .. } = self;
        let mut this = Self { max_bytes: None, ..Self::new(client, name) };
        this.options = options;
        let reader = this.reader()?;
        let Some((segments, skip)) = reader.segments_of(begin, end)? else {
            return Ok(Chunks { running: None, skip: 0, left: Some(0) });
        };
        let mut rest = reader.into_builder();
        rest.max_bytes = max_bytes.map(|most| most.saturating_add(skip));
        let (flow, task) = rest.begin(segments, None)?;
        let running = Running::new(rest.client, flow, task);
        Ok(Chunks { running: Some(running), skip, left: end.map(|end| end - begin) })
    }

    /// Reads content on demand: at any offset, with read-ahead where it is read in order.
    ///
    /// # Errors
    /// Those of the fetch of the first segment.
    ///
    /// ```
    /// use std::io::{Read, Seek, SeekFrom};
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://reader")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://reader").connect()?;
    /// let mut reader = client.fetch("/log").reader()?;
    /// reader.seek(SeekFrom::End(-5))?;
    /// let mut text = String::new();
    /// reader.read_to_string(&mut text)?;
    /// assert_eq!(text, "three");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(self) -> Result<Reader> {
        Reader::open(self)
    }

    /// Starts the fetch of segments into `target`, or in order into memory.
    pub(crate) fn begin(
        &self,
        range: (u64, Option<u64>),
        target: Option<&Path>,
    ) -> Result<(Arc<Flow>, TaskId)> {
        let Self { client, options, .. } = self;
        let name = self.name.clone()?;
        if range.1.is_some_and(|end| end <= range.0) {
            return Err(Error::usage("the range of segments is empty"));
        }
        let range = (range.0, range.1.map(|end| end - 1));
        let algorithms = options.algorithms()?;
        let policy = options.verify.to_string();
        let mut config = options.config(name.clone(), range, client.rng()?)?;
        let download = match target {
            Some(path) => Some(Download::new(path, &policy, &mut config, self.resume)?),
            None => {
                config.delivery = in_order();
                None
            }
        };
        if !self.is_located && !download.as_ref().is_some_and(Download::is_complete) {
            client.locate(&name)?;
        }
        let held_segments = config.held.iter().map(|run| run.end - run.start).sum();
        let flow = Flow::new(client.link.waker().clone());
        let order = Order {
            flow: Arc::clone(&flow),
            name,
            range,
            held_segments,
            download,
            max_bytes: self.max_bytes,
            algorithms,
            policy,
        };
        tracing::debug!(name = %order.name, "a fetch begins");
        let task = client.link.ask(move |engine| {
            let now = engine.session.driver.now();
            if let Some(srtt) = engine.srtt {
                config.rto.on_sample(now, &RttSample::new(config.first, srtt));
            }
            let transfer = Transfer::new(order, now);
            engine.start(Box::new(Fetch::new(config)), Vec::new(), Box::new(transfer))
        })?;
        Ok((flow, task))
    }

    /// The same with the name of the version that was found.
    pub(crate) fn of_version(&self, object: Name) -> Self {
        let mut this = Self::new(self.client.clone(), Ok(object));
        this.options = FetchOptions { discover: false, newer_than: None, ..self.options.clone() };
        (this.cache_bytes, this.is_located) = (self.cache_bytes, true);
        this
    }
}

/// First number of a range, and the number after its last; `None`: without end.
fn limits(range: &impl RangeBounds<u64>) -> (u64, Option<u64>) {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => None,
    };
    (first, end)
}

/// A fetch in flight; dropping it cancels the fetch and withdraws its pending Interests.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) client: Client,
    pub(crate) flow: Arc<Flow>,
    task: TaskId,
}

impl Running {
    pub(crate) fn new(client: Client, flow: Arc<Flow>, task: TaskId) -> Self {
        Self { client, flow, task }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.flow.lock().outcome.is_none() {
            let task = self.task;
            let _ = self.client.link.post(Box::new(move |engine| engine.cancel(task)));
        }
    }
}

/// A fetch into a file, in flight: an iterator of its progress. Dropping it cancels the fetch; what has arrived is kept, and
/// [`FetchBuilder::resume`] continues it.
#[derive(Debug)]
pub struct FileFetch {
    pub(crate) running: Running,
}

impl FileFetch {
    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.running.flow.lock().progress
    }

    /// It has ended, well or not.
    pub fn has_ended(&self) -> bool {
        self.running.flow.lock().outcome.is_some()
    }

    /// Cancels the fetch, and waits until what has arrived is safe on the disk.
    pub fn cancel(self) {
        let task = self.running.task;
        let _ = self.running.client.link.ask(move |engine| engine.cancel(task));
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn finish(self) -> Result<FetchSummary> {
        self.running.flow.wait()
    }
}

impl Iterator for FileFetch {
    type Item = Progress;

    /// Waits for progress, at most ten times a second; `None` at the end.
    fn next(&mut self) -> Option<Progress> {
        loop {
            let (news, is_over) = self.running.flow.wait_for_news(PROGRESS_EVERY);
            match (news, is_over) {
                (Some(progress), _) => return Some(progress),
                (None, true) => return None,
                (None, false) => {}
            }
        }
    }
}

/// Content in order, in flight: an iterator of pieces. Dropping it cancels the fetch and withdraws its pending Interests.
#[derive(Debug)]
pub struct Chunks {
    /// `None`: there is nothing to fetch, or the range has ended.
    running: Option<Running>,
    /// Bytes before the range.
    skip: u64,
    /// Bytes of the range; `None`: to the end.
    left: Option<u64>,
}

impl Chunks {
    /// The next piece, once it is there; `None` at the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>> {
        loop {
            let Some(running) = self.running.as_ref().filter(|_| self.left != Some(0)) else {
                return Ok(None);
            };
            let Some((_, piece)) = running.flow.next()? else {
                return Ok(None);
            };
            if let Some(piece) = self.trim(piece) {
                return Ok(Some(piece));
            }
        }
    }

    fn trim(&mut self, mut piece: Bytes) -> Option<Bytes> {
        let skipped = self.skip.min(piece.len() as u64);
        piece.advance(skipped as usize);
        self.skip -= skipped;
        if let Some(left) = &mut self.left {
            piece.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= piece.len() as u64;
        }
        Some(piece).filter(|piece| !piece.is_empty())
    }

    /// How far the fetch is.
    pub fn progress(&self) -> Progress {
        self.running.as_ref().map_or_else(Progress::default, |it| it.flow.lock().progress)
    }

    /// The figures of the fetch, once it has ended well.
    pub fn summary(&self) -> Option<FetchSummary> {
        self.running.as_ref()?.flow.lock().outcome.clone()?.ok()
    }
}

impl Iterator for Chunks {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        let next = self.next_chunk();
        if next.is_err() {
            self.left = Some(0);
        }
        next.transpose()
    }
}
