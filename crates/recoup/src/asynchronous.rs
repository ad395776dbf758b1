//! The client for `async` programs, with the same API (feature `tokio`).
//!
//! ```no_run
//! # async fn example() -> recoup::Result<()> {
//! let client = recoup::asynchronous::Client::connect().await?;
//! let content = client.get("/site/greeting").await?;
//! println!("{}", String::from_utf8_lossy(&content));
//! # Ok(())
//! # }
//! ```
//!
//! The driver thread of the client knows no runtime: it wakes tasks as it wakes threads. Operations run in a tokio runtime,
//! whose threads for blocking work open files and search for producers. Dropping a future, stream or reader cancels its fetch
//! and withdraws the pending Interests.
mod answer;
mod stream;

pub use stream::{ActiveFetch, AsyncReader, ByteStream};

use crate::client::Builder;
use crate::error::{Error, Result};
use crate::fetch::FetchBuilder;
use crate::folder::{Files, FolderBuilder};
use crate::info::ObjectInfo;
use crate::mode::Async;
use crate::name::ToName;
use crate::reader::Reader;
use crate::serve::{ServeBuilder, Server};
use crate::summary::FetchSummary;
use bytes::Bytes;
use recoup_packet::interest::Interest;
use std::path::Path;
use std::time::Duration;

/// Runs `work`, which may wait for a disk or a socket, in a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Error::stopped()))
}

/// A [`recoup::Client`](crate::Client) whose operations are `async`. The two convert into each other and share the driver
/// thread.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use recoup::asynchronous::Client;
/// let client = Client::builder().alone().connect().await?;
/// let _server = client.serve("/greeting").bytes("hello").await?;
/// assert_eq!(client.get("/greeting").await?, "hello");
/// # Ok::<(), recoup::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    inner: crate::Client,
}

impl From<crate::Client> for Client {
    fn from(inner: crate::Client) -> Self {
        Self { inner }
    }
}

impl From<Client> for crate::Client {
    fn from(client: Client) -> Self {
        client.inner
    }
}

impl Client {
    /// As [`Client::connect`](crate::Client::connect).
    ///
    /// # Errors
    /// As there.
    pub async fn connect() -> Result<Self> {
        Self::builder().connect().await
    }

    /// A client with other settings.
    pub fn builder() -> Builder<Async> {
        Builder::default()
    }

    /// As [`Client::get`](crate::Client::get).
    ///
    /// # Errors
    /// As there.
    pub async fn get(&self, name: impl ToName) -> Result<Bytes> {
        self.fetch(name).to_vec().await.map(Bytes::from)
    }

    /// As [`Client::get_packet`](crate::Client::get_packet).
    ///
    /// # Errors
    /// As there.
    pub async fn get_packet(&self, name: impl ToName) -> Result<Bytes> {
        let (client, name) = (self.inner.clone(), name.to_name()?);
        blocking(move || client.begin_packet(name)).await?.await
    }

    /// As [`Client::head`](crate::Client::head).
    ///
    /// # Errors
    /// As there.
    pub async fn head(&self, name: impl ToName) -> Result<ObjectInfo> {
        ObjectInfo::find(located(self.fetch(name)).await?.into_mode()).await
    }

    /// As [`Client::open`](crate::Client::open).
    ///
    /// # Errors
    /// As there.
    pub fn open(&self, info: &ObjectInfo) -> Result<AsyncReader> {
        self.inner.open(info).map(AsyncReader::new)
    }

    /// As [`Client::ping`](crate::Client::ping).
    ///
    /// # Errors
    /// As there.
    pub async fn ping(&self, name: impl ToName) -> Result<Duration> {
        let (client, name) = (self.inner.clone(), name.to_name()?);
        blocking(move || client.begin_ping(name)).await?.await
    }

    /// Begins to describe a fetch: its range, destination and observer.
    pub fn fetch(&self, name: impl ToName) -> FetchBuilder<Async> {
        FetchBuilder::new(self.inner.clone(), name.to_name())
    }

    /// Begins to describe the fetch of a folder, with everything in it.
    pub fn fetch_folder(&self, name: impl ToName) -> FolderBuilder<Async> {
        FolderBuilder::new(self.fetch(name))
    }

    /// Begins to describe a server of the names below `prefix`.
    pub fn serve(&self, prefix: impl ToName) -> ServeBuilder<Async> {
        ServeBuilder::new(self.inner.clone(), prefix.to_name())
    }
}

impl Builder<Async> {
    /// Starts the client.
    ///
    /// # Errors
    /// As [`connect`](Builder::<crate::Blocking>::connect).
    pub async fn connect(self) -> Result<Client> {
        blocking(move || self.start()).await.map(Client::from)
    }
}

/// The fetch with its producer located.
async fn located(mut builder: FetchBuilder<Async>) -> Result<FetchBuilder<Async>> {
    if !builder.needs_locating() {
        return Ok(builder);
    }
    blocking(move || builder.locate().map(|()| builder)).await
}

impl FetchBuilder<Async> {
    /// Fetches into memory.
    ///
    /// # Errors
    /// As [`to_vec`](FetchBuilder::<crate::Blocking>::to_vec).
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// let _server = client.serve("/log").bytes("one two three").await?;
    /// assert_eq!(client.fetch("/log").bytes(4..7).to_vec().await?, b"two");
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn to_vec(self) -> Result<Vec<u8>> {
        located(self).await?.collect().await
    }

    /// Fetches into the file at `path`.
    ///
    /// # Errors
    /// As [`to_file`](FetchBuilder::<crate::Blocking>::to_file).
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("log");
    /// let _server = client.serve("/log").bytes("one two three").await?;
    /// assert_eq!(client.fetch("/log").resume(true).to_file(&path).await?.stats.segments, 1);
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn to_file(mut self, path: impl AsRef<Path>) -> Result<FetchSummary> {
        let path = path.as_ref().to_owned();
        let (fetch, report) = blocking(move || self.begin_file(&path)).await?;
        let mut fetch = ActiveFetch(fetch);
        if let Some(mut report) = report {
            while let Some(progress) = fetch.next_progress().await {
                report(progress);
            }
        }
        fetch.finish().await
    }

    /// As [`to_file`](Self::to_file), without waiting for the content.
    ///
    /// # Errors
    /// Errors found before the first Interest.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("log");
    /// let _server = client.serve("/log").bytes("one two three").await?;
    /// let mut fetch = client.fetch("/log").start_file(&path).await?;
    /// while let Some(progress) = fetch.next_progress().await {
    ///     eprintln!("{} bytes", progress.bytes);
    /// }
    /// assert_eq!(fetch.finish().await?.stats.segments, 1);
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn start_file(mut self, path: impl AsRef<Path>) -> Result<ActiveFetch> {
        let path = path.as_ref().to_owned();
        blocking(move || self.begin_file(&path)).await.map(|(fetch, _)| ActiveFetch(fetch))
    }

    /// Fetches content in order. If the stream is not polled, at most 16 MiB wait, and no further Interests are sent.
    ///
    /// # Errors
    /// Errors found before the first Interest.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// let _server = client.serve("/log").bytes("one two three").await?;
    /// let mut stream = client.fetch("/log").stream().await?;
    /// while let Some(chunk) = stream.next_chunk().await? {
    ///     println!("{} bytes", chunk.len());
    /// }
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn stream(self) -> Result<ByteStream> {
        located(self).await?.open_chunks().await.map(ByteStream::new)
    }

    /// Reads content on demand: at any offset, with read-ahead where it is read in order.
    ///
    /// # Errors
    /// As [`reader`](FetchBuilder::<crate::Blocking>::reader).
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// let _server = client.serve("/log").bytes("one two three").await?;
    /// let mut reader = client.fetch("/log").reader().await?;
    /// assert_eq!((reader.size().await?, reader.read_range(4, 7).await?), (13, "two".into()));
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn reader(self) -> Result<AsyncReader> {
        Reader::open(located(self).await?.into_mode()).await.map(AsyncReader::new)
    }
}

impl FolderBuilder<Async> {
    /// As [`to_folder`](FolderBuilder::<crate::Blocking>::to_folder). A thread for blocking work writes the files; dropping
    /// the future cancels what is in flight.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let there = tempfile::tempdir().unwrap();
    /// # std::fs::write(there.path().join("sea.jpg"), "blue").unwrap();
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// # let _server = client.serve("/photos").folder(there.path()).await?;
    /// # let here = tempfile::tempdir().unwrap();
    /// let target = here.path().join("photos");
    /// let files = client.fetch_folder("/photos").to_folder(&target).await?;
    /// assert_eq!((files.fetched, std::fs::read_to_string(target.join("sea.jpg")).unwrap()), (1, "blue".into()));
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn to_folder(self, path: impl AsRef<Path>) -> Result<Files> {
        let path = path.as_ref().to_owned();
        let (alive, gone) = tokio::sync::oneshot::channel::<()>();
        let cancelled = async { drop(gone.await) };
        let files = blocking(move || self.run(&path, cancelled)).await;
        drop(alive);
        files
    }
}

impl ServeBuilder<Async> {
    /// As [`bytes`](ServeBuilder::<crate::Blocking>::bytes).
    ///
    /// # Errors
    /// As there.
    pub async fn bytes(self, content: impl Into<Bytes>) -> Result<Server> {
        let content = content.into();
        blocking(move || self.serve_bytes(content)).await
    }

    /// As [`file`](ServeBuilder::<crate::Blocking>::file).
    ///
    /// # Errors
    /// As there.
    pub async fn file(self, path: impl AsRef<Path>) -> Result<Server> {
        let path = path.as_ref().to_owned();
        blocking(move || self.serve_file(path)).await
    }

    /// As [`folder`](ServeBuilder::<crate::Blocking>::folder).
    ///
    /// # Errors
    /// As there.
    pub async fn folder(self, path: impl AsRef<Path>) -> Result<Server> {
        let path = path.as_ref().to_owned();
        blocking(move || self.serve_folder(path)).await
    }

    /// Answers each Interest below the prefix with what the future of `answer` returns. The futures run in the runtime, at
    /// most 256 at a time; Interests beyond them are dropped, and their consumers retransmit them.
    ///
    /// # Errors
    /// As [`answer`](ServeBuilder::<crate::Blocking>::answer).
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let client = recoup::asynchronous::Client::builder().alone().connect().await?;
    /// let server = client.serve("/sensor").answer(|interest| async move {
    ///     tokio::task::yield_now().await;
    ///     interest.name.to_string().ends_with("temperature").then(|| "21.5".into())
    /// });
    /// let _server = server.await?;
    /// assert_eq!(client.get_packet("/sensor/temperature").await?, "21.5");
    /// # Ok::<(), recoup::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn answer<F>(
        self,
        answer: impl Fn(Interest) -> F + Send + Sync + 'static,
    ) -> Result<Server>
    where
        F: Future<Output = Option<Bytes>> + Send + 'static,
    {
        let runtime = tokio::runtime::Handle::current();
        blocking(move || answer::serve(self, answer, &runtime)).await
    }
}
