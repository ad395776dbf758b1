//! A fetch: name and range, destination, and result.
mod chunks;
mod running;

pub use chunks::Chunks;
pub use running::ActiveFetch;
pub(crate) use running::{PROGRESS_EVERY, Running};

use crate::client::Client;
use crate::download::{Download, Earlier, FilePlace, destination};
use crate::error::{Error, Partial, Result};
use crate::flow::{Flow, Progress};
use crate::folder::LISTING_REORDER_BYTES;
use crate::mode::Blocking;
use crate::options::{self, FetchOptions};
use crate::outlet::Outlet;
use crate::reader::Reader;
use crate::summary::FetchSummary;
use crate::transfer::{Budget, Observer, Order, Sink, Transfer};
use crate::trust::{self, Verify};
use crate::wait::block_on;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Belonging, Delivery, Fetch, FetchConfig, RateLimit};
use recoup_transport::time::{Duration, Instant};
use std::fmt;
use std::future::poll_fn;
use std::io::Write;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Called with the progress of a fetch.
type ProgressCallback = Box<dyn FnMut(Progress) + Send>;
/// Called with an unfinished download that has changed on the disk.
type ChangedCallback = Arc<Mutex<dyn FnMut(&Partial) + Send>>;

/// Describes a fetch; made by [`Client::fetch`], or with `async` ends by `recoup::asynchronous::Client::fetch`.
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
pub struct FetchBuilder<M = Blocking> {
    pub(crate) client: Client,
    pub(crate) name: Result<Name>,
    pub(crate) options: FetchOptions,
    segments: (u64, Option<u64>),
    bytes: Option<(u64, Option<u64>)>,
    max_bytes: Option<u64>,
    pub(crate) cache_bytes: u64,
    /// Budget that this fetch shares with others.
    budget: Option<Arc<Budget>>,
    earlier: Earlier,
    /// Time for the first answer, if the caller chooses it.
    first_answer: Option<Duration>,
    rate_limit: Option<RateLimit>,
    /// The listing of a folder is as good as content.
    takes_folders: bool,
    /// The producer of the name is located already.
    is_located: bool,
    /// The content that segments have to belong to, if it is known.
    belonging: Belonging,
    /// Bytes of content that may wait for a slow reader.
    waiting_bytes: u64,
    /// In a mutex, because the builder is shared by reference across `await`.
    progress: Option<Mutex<ProgressCallback>>,
    observer: Option<Arc<Mutex<Observer>>>,
    changed: Option<ChangedCallback>,
    mode: PhantomData<M>,
}

impl<M> fmt::Debug for FetchBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, options, segments, bytes, .. } = self;
        let mut shown = f.debug_struct("FetchBuilder");
        shown.field("name", name).field("options", options);
        shown.field("segments", segments).field("bytes", bytes).finish_non_exhaustive()
    }
}

impl<M> FetchBuilder<M> {
    pub(crate) fn new(client: Client, name: Result<Name>) -> Self {
        let name = name.and_then(|name| client.permit(&name).map(|()| name));
        Self {
            options: client.settings.options.clone(),
            client,
            name,
            segments: (0, None),
            bytes: None,
            max_bytes: None,
            cache_bytes: 16 << 20,
            budget: None,
            earlier: Earlier::default(),
            first_answer: None,
            rate_limit: None,
            takes_folders: false,
            is_located: false,
            belonging: Belonging::Unknown,
            waiting_bytes: options::REORDER_BYTES,
            progress: None,
            observer: None,
            changed: None,
            mode: PhantomData,
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

    /// Decrypts content that is encrypted for a group of which `key` is a member: an RSA key of the key store, or a file.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let report = client.fetch("/site/report").decrypt("/alice").to_vec()?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn decrypt(mut self, key: &str) -> Self {
        self.options.decrypt = Some(key.to_owned());
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
    /// was checked. A finished file stays as it is ([`Run::is_kept`](recoup_transport::fetch::stats::Run::is_kept)) if two conditions hold. It is unchanged since
    /// it was verified in the same way, and its version is the producer's latest. Without either file, a download is begun.
    pub fn resume(mut self, resume: bool) -> Self {
        self.earlier = Earlier::resume(resume);
        self
    }

    /// Treatment of an earlier download to the same file.
    pub fn earlier(mut self, earlier: Earlier) -> Self {
        self.earlier = earlier;
        self
    }

    /// Calls `report` with an unfinished download of which bytes have changed on the disk since they were written: these
    /// are fetched again.
    pub fn on_changed(mut self, report: impl FnMut(&Partial) + Send + 'static) -> Self {
        self.changed = Some(Arc::new(Mutex::new(report)));
        self
    }

    /// The fetch ends if no answer at all comes within this time; 8 s without it, or twice a longer Interest lifetime. It counts
    /// until the first answer to this client.
    pub fn connect_timeout(mut self, within: Duration) -> Self {
        self.first_answer = Some(within);
        self
    }

    /// Limits the rate at which Data arrives, in bytes per second; fewer Interests are sent.
    pub fn limit_rate(mut self, bytes_per_second: u64) -> Self {
        self.rate_limit = Some(RateLimit::new(bytes_per_second));
        self
    }

    /// Calls `report` about ten times a second, and at the end, while [`to_vec`](Self::to_vec) or
    /// [`to_file`](Self::to_file) waits, in the thread that waits.
    pub fn on_progress(mut self, report: impl FnMut(Progress) + Send + 'static) -> Self {
        self.progress = Some(Mutex::new(Box::new(report)));
        self
    }

    /// Calls `observer` in the driver thread with each event of the fetch and its time on the client's clock: Interests,
    /// segments, timeouts, the window. It must be quick, and must not wait for this client.
    ///
    /// ```
    /// use recoup::Event;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://on-event")?.segment_size(1).bytes("12345")?;
    /// # let client = recoup::Client::builder().face("memory://on-event").connect()?;
    /// static RECEIVED: AtomicU64 = AtomicU64::new(0);
    /// let fetch = client.fetch("/log").on_event(|_, event| {
    ///     if let Event::Received { .. } = event {
    ///         RECEIVED.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// });
    /// fetch.to_vec()?;
    /// assert_eq!(RECEIVED.load(Ordering::Relaxed), 5);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn on_event(mut self, observer: impl FnMut(Instant, &Event) + Send + 'static) -> Self {
        self.observer = Some(Arc::new(Mutex::new(Box::new(observer))));
        self
    }

    /// Limits the content that waits for a reader, and that in the cache of a [`Reader`], to so many bytes each.
    pub(crate) fn limit_memory(&mut self, bytes: u64) {
        (self.waiting_bytes, self.cache_bytes) = (bytes, bytes);
    }

    /// This fetch in another mode.
    pub(crate) fn into_mode<N>(self) -> FetchBuilder<N> {
        let Self { client, name, options, segments, bytes, max_bytes, .. } = self;
        let Self {
            cache_bytes,
            budget,
            earlier,
            first_answer,
            rate_limit,
            takes_folders,
            is_located,
            belonging,
            waiting_bytes,
            ..
        } = self;
        let Self { progress, observer, changed, .. } = self;
        let mode = PhantomData;
        FetchBuilder {
            client,
            name,
            options,
            segments,
            bytes,
            max_bytes,
            cache_bytes,
            budget,
            earlier,
            first_answer,
            rate_limit,
            takes_folders,
            is_located,
            belonging,
            waiting_bytes,
            progress,
            observer,
            changed,
            mode,
        }
    }

    /// Whether [`locate`](Self::locate) may wait.
    #[cfg(feature = "tokio")]
    pub(crate) fn needs_locating(&self) -> bool {
        !self.is_located && self.client.settings.uplink.is_direct
    }

    /// Finds the producer of the name, where there is no forwarder. May wait for 200 ms.
    pub(crate) fn locate(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.is_located, true) {
            self.client.locate(&self.name.clone()?)?;
        }
        Ok(())
    }

    fn take_progress(&mut self) -> Option<ProgressCallback> {
        let progress = self.progress.take()?;
        Some(progress.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Fetches into memory.
    pub(crate) async fn collect(mut self) -> Result<Vec<u8>> {
        let most = self.client.settings.max_memory;
        self.max_bytes = Some(self.max_bytes.map_or(most, |asked| asked.min(most)));
        let mut report = self.take_progress();
        let mut content = Vec::new();
        let mut chunks = self.open_chunks().await?;
        let mut reported = std::time::Instant::now();
        while let Some(chunk) = poll_fn(|context| chunks.poll_chunk(context)).await? {
            content.extend_from_slice(&chunk);
            if let Some(report) = report.as_mut().filter(|_| reported.elapsed() > PROGRESS_EVERY) {
                reported = std::time::Instant::now();
                report(chunks.progress());
            }
        }
        report.into_iter().for_each(|mut report| report(chunks.progress()));
        Ok(content)
    }

    /// Begins a fetch of content in order.
    pub(crate) async fn open_chunks(mut self) -> Result<Chunks> {
        let Some((begin, end)) = self.bytes.take() else {
            let running = self.begin(self.segments, None)?;
            return Ok(Chunks { running: Some(running), skip: 0, left: None });
        };
        let max_bytes = self.max_bytes.take();
        let reader = Reader::open(self.into_mode()).await?;
        let Some((segments, skip)) = reader.segments_of(begin, end)? else {
            return Ok(Chunks { running: None, skip: 0, left: Some(0) });
        };
        let mut rest = reader.into_builder();
        rest.max_bytes = max_bytes.map(|most| most.saturating_add(skip));
        let running = rest.begin(segments, None)?;
        Ok(Chunks { running: Some(running), skip, left: end.map(|end| end - begin) })
    }

    /// Begins a fetch into the file at `path`, which the progress callback, if there is one, then watches.
    pub(crate) fn begin_file(
        &mut self,
        path: &Path,
    ) -> Result<(ActiveFetch, Option<ProgressCallback>)> {
        if self.bytes.is_some() {
            return Err(Error::usage("a file is made of whole segments")
                .with_remedy("choose a range in segments, or write what a reader returns"));
        }
        let target = destination(path)?;
        let running = self.begin(self.segments, Some(&target))?;
        Ok((ActiveFetch::new(running), self.take_progress()))
    }

    /// Begins a fetch in order into `out`.
    pub(crate) fn begin_writer(
        &mut self,
        out: impl Write + Send + 'static,
    ) -> Result<(ActiveFetch, Option<ProgressCallback>)> {
        if self.bytes.is_some() {
            return Err(Error::usage("a writer takes whole segments")
                .with_remedy("choose a range in segments, or write what a reader returns"));
        }
        let config = self.config(inclusive(self.segments)?)?;
        let outlet = Outlet::new(out, self.client.link.waker().clone())?;
        let running = self.start(self.in_order(config), Sink::Writer(outlet))?;
        Ok((ActiveFetch::new(running), self.take_progress()))
    }

    /// Starts the fetch of segments into `target`, or in order into memory.
    pub(crate) fn begin(
        &self,
        range: (u64, Option<u64>),
        target: Option<&Path>,
    ) -> Result<Running> {
        let mut config = self.config(inclusive(range)?)?;
        config.belonging = self.belonging;
        match target {
            Some(path) => {
                let download = self.download(path, &mut config, None)?;
                self.start(config, download)
            }
            None => self.start(self.in_order(config), Sink::Flow),
        }
    }

    /// The configuration of the fetch loop for the segments `first..=last`.
    fn config(&self, range: (u64, Option<u64>)) -> Result<FetchConfig> {
        let verifier = self.client.settings.opened.reader(&self.options)?;
        options::config(&self.options, verifier, self.name.clone()?, range, self.client.rng()?)
    }

    fn in_order(&self, config: FetchConfig) -> FetchConfig {
        FetchConfig { delivery: Delivery::Ordered { limit_bytes: self.waiting_bytes }, ..config }
    }

    fn download(
        &self,
        target: &Path,
        config: &mut FetchConfig,
        place: Option<FilePlace>,
    ) -> Result<Sink> {
        let policy = trust::requirement(&self.options);
        let records = self.client.settings.records.clone();
        let download = Download::new(records, target, &policy, config, self.earlier, place)?;
        let bytes = download.dropped_bytes();
        if let Some(report) = self.changed.as_ref().filter(|_| bytes > 0) {
            let partial = Partial { path: download.part_path(), bytes };
            report.lock().unwrap_or_else(PoisonError::into_inner)(&partial);
        }
        Ok(Sink::File(Box::new(download)))
    }

    /// Makes the fetch share a budget with others.
    pub(crate) fn sharing(mut self, budget: Option<Arc<Budget>>) -> Self {
        self.budget = budget;
        self
    }

    /// A fetch of an entry of this folder, with the same options.
    pub(crate) fn of_entry(&self, name: Name) -> Self {
        let mut this = Self::new(self.client.clone(), Ok(name));
        this.options.clone_from(&self.options);
        this.budget.clone_from(&self.budget);
        this.limit_as(self);
        (this.earlier, this.is_located) = (self.earlier, true);
        // The listing of a folder stands for its file: its producer chose the kind of each entry.
        this.takes_folders = true;
        this.observer.clone_from(&self.observer);
        this.changed.clone_from(&self.changed);
        this
    }

    /// Begins a fetch of the listing of a folder, in order.
    pub(crate) fn begin_listing(self) -> Result<Running> {
        let mut config = self.config((0, None))?;
        config.delivery = Delivery::Ordered { limit_bytes: LISTING_REORDER_BYTES };
        self.start(config, Sink::Flow)
    }

    /// Begins a fetch into the file at `target` in a folder, whose place is checked before the file is opened and named.
    pub(crate) fn begin_in_folder(&self, target: &Path, place: FilePlace) -> Result<ActiveFetch> {
        let mut config = self.config((0, None))?;
        let download = self.download(target, &mut config, Some(place))?;
        Ok(ActiveFetch::new(self.start(config, download)?))
    }

    /// Starts discovery of the newest version and its metadata; segments are not fetched.
    pub(crate) fn begin_discovery(&self) -> Result<Running> {
        let mut config = self.config((0, None))?;
        config.only_discovers = true;
        self.start(config, Sink::Flow)
    }

    fn start(&self, mut config: FetchConfig, sink: Sink) -> Result<Running> {
        let client = &self.client;
        config.first_answer = self.first_answer.or(config.first_answer);
        config.rate_limit.clone_from(&self.rate_limit);
        let name = self.name.clone()?;
        if !sink.file().is_some_and(Download::is_complete) {
            client.reach()?;
            if !self.is_located {
                client.locate(&name)?;
            }
        }
        let flow = Flow::new(client.link.waker().clone());
        let observer = self.observer.clone().map(|observer| -> Observer {
            Box::new(move |now, event| {
                observer.lock().unwrap_or_else(PoisonError::into_inner)(now, event);
            })
        });
        let order = Order {
            flow: Arc::clone(&flow),
            name,
            range: (config.first, config.last),
            held_segments: config.held.iter().map(|run| run.end - run.start).sum(),
            sink,
            budget: self.budget.clone().or_else(|| self.max_bytes.map(Budget::new)),
            takes_folders: self.takes_folders || config.only_discovers,
            options: self.options.clone(),
            observer,
        };
        tracing::debug!(name = %order.name, "a fetch begins");
        let task = client.link.begin(move |engine, task| {
            let now = engine.session.driver.now();
            // The face has answered before: the first answer for a name may take as long as any.
            config.first_answer = config.first_answer.filter(|_| engine.srtt.is_none());
            let mut fetch = Fetch::new(config);
            if let Some(srtt) = engine.srtt {
                fetch.expect_rtt(now, srtt);
            }
            let transfer = Transfer::new(order, now, engine.session.upstream_uri());
            engine.start(task, Box::new(fetch), Vec::new(), Box::new(transfer));
        })?;
        Ok(Running { client: client.clone(), flow, task })
    }

    /// Takes over the limits of another fetch, whose rate both share.
    fn limit_as(&mut self, other: &Self) {
        self.first_answer = other.first_answer;
        self.rate_limit.clone_from(&other.rate_limit);
    }

    /// Identifier of the content that is fetched, if it is known.
    pub(crate) fn id(&self) -> Option<ObjectId> {
        self.belonging.id()
    }

    /// A fetch of the version `object` with this content, with the same options.
    pub(crate) fn of_version(&self, object: Name, id: Option<ObjectId>) -> Self {
        let mut this = Self::new(self.client.clone(), Ok(object));
        this.belonging = id.map_or(self.belonging, |id| Belonging::Stated(Some(id)));
        this.options = FetchOptions { discover: false, newer_than: None, ..self.options.clone() };
        (this.cache_bytes, this.is_located) = (self.cache_bytes, true);
        this.waiting_bytes = self.waiting_bytes;
        this.limit_as(self);
        this.observer.clone_from(&self.observer);
        this
    }
}

impl FetchBuilder {
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
    pub fn to_vec(self) -> Result<Vec<u8>> {
        block_on(self.collect())
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
    /// assert_eq!((summary.stats.segments, std::fs::read(&path).unwrap()), (1, b"one two three".to_vec()));
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn to_file(mut self, path: impl AsRef<Path>) -> Result<FetchSummary> {
        let (fetch, report) = self.begin_file(path.as_ref())?;
        fetch.reporting(report)
    }

    /// As [`to_file`](Self::to_file), without waiting.
    ///
    /// # Errors
    /// Errors found before the first Interest.
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
    /// assert!(fetch.finish()?.stats.segments == 1);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn start_file(mut self, path: impl AsRef<Path>) -> Result<ActiveFetch> {
        self.begin_file(path.as_ref()).map(|(fetch, _)| fetch)
    }

    /// Fetches content in order into `out`, such as standard output. A thread of its own writes; it flushes `out` before the
    /// first content and after the last. If `out` takes no content, the window shrinks and nothing more than 16 MiB waits.
    ///
    /// # Errors
    /// Those of the fetch, [`is_local`](Error::is_local) for a failed write.
    ///
    /// ```
    /// # let place = recoup::Client::builder().alone().connect()?;
    /// # let _server = place.serve("/log").listen("memory://to-writer")?.bytes("one two three")?;
    /// # let client = recoup::Client::builder().face("memory://to-writer").connect()?;
    /// let summary = client.fetch("/log").to_writer(std::io::stdout())?;
    /// assert_eq!(summary.stats.content_bytes, 13);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn to_writer(mut self, out: impl Write + Send + 'static) -> Result<FetchSummary> {
        let (fetch, report) = self.begin_writer(out)?;
        fetch.reporting(report)
    }

    /// As [`to_writer`](Self::to_writer), without waiting.
    ///
    /// # Errors
    /// Errors found before the first Interest.
    pub fn start_writer(mut self, out: impl Write + Send + 'static) -> Result<ActiveFetch> {
        self.begin_writer(out).map(|(fetch, _)| fetch)
    }

    /// Fetches content in order, piece by piece. If the caller takes no content, the window shrinks and nothing more than
    /// 16 MiB waits.
    ///
    /// # Errors
    /// Errors found before the first Interest.
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
        block_on(self.open_chunks())
    }

    /// Reads content on demand: at any offset, with read-ahead where it is read in order.
    ///
    /// # Errors
    /// Those of the discovery, and of the first segment if the producer has no metadata.
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
        block_on(Reader::open(self))
    }
}

/// The first and the last number of a range that is not empty.
fn inclusive(range: (u64, Option<u64>)) -> Result<(u64, Option<u64>)> {
    match range.1 {
        Some(end) if end <= range.0 => Err(Error::usage("the range of segments is empty")),
        end => Ok((range.0, end.map(|end| end - 1))),
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
