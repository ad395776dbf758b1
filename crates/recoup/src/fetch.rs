//! A fetch: name and range, destination, and result.
mod begin;
mod chunks;
mod running;

pub use chunks::Chunks;
pub use running::ActiveFetch;
pub(crate) use running::{PROGRESS_EVERY, Running};

use crate::client::Client;
use crate::download::Earlier;
use crate::error::{Partial, Result};
use crate::flow::Progress;
use crate::mode::Blocking;
use crate::options::{self, FetchOptions};
use crate::reader::Reader;
use crate::summary::FetchSummary;
use crate::transfer::{Budget, Observer};
use crate::trust::Verify;
use crate::wait::block_on;
use recoup_packet::name::Name;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Belonging, RateLimit};
use recoup_transport::time::{Duration, Instant};
use std::fmt;
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
    /// Prefix of the fetches with which this one shares a congestion control, if it is not that of its name.
    path: Option<Name>,
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
            path: None,
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
            path,
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
            path,
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
}

impl FetchBuilder {
    /// Fetches into memory.
    ///
    /// # Errors
    /// Those of the fetch. [`is_condition`](crate::error::Error::is_condition) if the content is larger than
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
    /// Those of the fetch, [`is_local`](crate::error::Error::is_local) for the file system.
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
    /// Those of the fetch, [`is_local`](crate::error::Error::is_local) for a failed write.
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
