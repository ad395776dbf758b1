//! Fetching and serving.
use crate::algorithm::Failures;
use crate::error::{OrRaise, raised};
use crate::operation::{Failure, Operation};
use futures_util::FutureExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use recoup::asynchronous::{AsyncReader, ByteStream, Client as Asynchronous};
use recoup::{
    Async, Bytes, Error, FetchBuilder, FetchOptions, Interest, Progress, ServeBuilder, ToName,
};
use recoup_io::library::Listing;
use recoup_packet::name::{Component, Name};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as Turn;

/// Content that one call of a stream returns, unless a segment is longer, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A handle to the thread that owns the sockets.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Client {
    inner: Asynchronous,
}

/// Description of a fetch.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Request {
    name: String,
    /// Options as a JSON document.
    options: String,
    segments: Option<(u64, Option<u64>)>,
    bytes: Option<(u64, Option<u64>)>,
    max_size: Option<u64>,
    cache: Option<u64>,
    progress: Option<Py<PyAny>>,
}

/// Description of served content.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Offer {
    prefix: String,
    listen: Vec<String>,
    sign: Option<String>,
    freshness: f64,
    segment_size: usize,
    version: Option<u64>,
    silent: bool,
}

#[pymethods]
impl Client {
    /// Starts a client.
    #[staticmethod]
    #[pyo3(signature = (face, recovery, max_memory, seed, alone))]
    fn connect(
        face: Option<String>,
        recovery: Option<String>,
        max_memory: Option<u64>,
        seed: Option<u64>,
        alone: bool,
    ) -> PyResult<Operation> {
        let mut builder = Asynchronous::builder();
        builder = face.into_iter().fold(builder, |it, face| it.face(face));
        builder = recovery.into_iter().fold(builder, |it, recovery| it.recovery(&*recovery));
        builder = max_memory.into_iter().fold(builder, |it, bytes| it.max_memory(bytes));
        builder = seed.into_iter().fold(builder, |it, seed| it.seed(seed));
        if alone {
            builder = builder.alone();
        }
        let connected = async move { Ok(builder.connect().await?) };
        Operation::start(connected, |py, inner| Ok(Py::new(py, Self { inner })?.into_any()))
    }

    /// Fetches into memory.
    fn fetch_bytes(&self, py: Python<'_>, request: Request) -> PyResult<Operation> {
        let (fetch, failures) = self.fetch(py, request)?;
        let content = or_raised(failures, async move { Ok(fetch.to_vec().await?) });
        Operation::start(content, |py, it| Ok(PyBytes::new(py, &it).into_any().unbind()))
    }

    /// Fetches into a file, and returns the figures of the fetch as a JSON document.
    fn fetch_file(
        &self,
        py: Python<'_>,
        request: Request,
        path: PathBuf,
        resume: bool,
    ) -> PyResult<Operation> {
        let (fetch, failures) = self.fetch(py, request)?;
        let summary = or_raised(failures, async move {
            let summary = fetch.resume(resume).to_file(path).await?;
            serde_json::to_string(&summary).map_err(|error| unprintable(&error).into())
        });
        Operation::start(summary, |py, it| Ok(it.into_pyobject(py)?.into_any().unbind()))
    }

    /// Fetches in order, piece by piece.
    fn stream(&self, py: Python<'_>, request: Request) -> PyResult<Operation> {
        let (fetch, failures) = self.fetch(py, request)?;
        let begun = or_raised(Arc::clone(&failures), async move { Ok(fetch.stream().await?) });
        Operation::start(begun, |py, it| {
            let stream = Stream { inner: Arc::new(Turn::new(it)), failures };
            Ok(Py::new(py, stream)?.into_any())
        })
    }

    /// Reads one version at any offset.
    fn reader(&self, py: Python<'_>, request: Request) -> PyResult<Operation> {
        let (fetch, failures) = self.fetch(py, request)?;
        let opened = or_raised(Arc::clone(&failures), async move {
            let mut reader = fetch.reader().await?;
            let size = reader.size().await?;
            Ok((reader, size))
        });
        Operation::start(opened, |py, (reader, size)| {
            let name = reader.object().to_string();
            let reader = Reader { inner: Arc::new(Turn::new(reader)), failures, size, name };
            Ok(Py::new(py, reader)?.into_any())
        })
    }

    /// Facts of the newest version: a dictionary.
    fn head(&self, name: String) -> PyResult<Operation> {
        let client = self.inner.clone();
        let info = async move { Ok(client.head(name).await?) };
        Operation::start(info, |py, it| {
            let info = PyDict::new(py);
            let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH);
            let modified = it.modified.and_then(|time| since(time).ok());
            info.set_item("name", it.name.to_string())?;
            info.set_item("size", it.size)?;
            info.set_item("segment_size", it.segment_bytes)?;
            info.set_item("last_segment", it.last_segment)?;
            info.set_item("modified", modified.map(|it| it.as_secs_f64()))?;
            info.set_item("is_folder", it.is_folder)?;
            Ok(info.into_any().unbind())
        })
    }

    /// The content of one Data packet.
    fn get_packet(&self, name: String) -> PyResult<Operation> {
        let client = self.inner.clone();
        let content = async move { Ok(client.get_packet(name).await?) };
        Operation::start(content, |py, it| Ok(PyBytes::new(py, &it).into_any().unbind()))
    }

    /// The round-trip time of one Interest, in seconds.
    fn ping(&self, name: String) -> PyResult<Operation> {
        let client = self.inner.clone();
        let rtt = async move { Ok(client.ping(name).await?) };
        Operation::start(rtt, |py, it| Ok(it.as_secs_f64().into_pyobject(py)?.into_any().unbind()))
    }

    /// Serves bytes.
    fn serve_bytes(&self, py: Python<'_>, offer: Offer, content: Vec<u8>) -> PyResult<Operation> {
        let serve = self.serve(py, offer)?;
        Server::start(async move { serve.bytes(content).await })
    }

    /// Serves a file.
    fn serve_file(&self, py: Python<'_>, offer: Offer, path: PathBuf) -> PyResult<Operation> {
        let serve = self.serve(py, offer)?;
        Server::start(async move { serve.file(path).await })
    }

    /// Serves a folder.
    fn serve_folder(&self, py: Python<'_>, offer: Offer, path: PathBuf) -> PyResult<Operation> {
        let serve = self.serve(py, offer)?;
        Server::start(async move { serve.folder(path).await })
    }

    /// Answers each Interest by calling a function with its name; it returns bytes, or `None`.
    fn serve_function(
        &self,
        py: Python<'_>,
        offer: Offer,
        answer: Py<PyAny>,
    ) -> PyResult<Operation> {
        let serve = self.serve(py, offer)?;
        let answer = Arc::new(answer);
        let answers = move |interest: Interest| {
            let answer = Arc::clone(&answer);
            async move {
                let content = tokio::task::spawn_blocking(move || asked(&answer, &interest));
                content.await.unwrap_or_default()
            }
        };
        Server::start(async move { serve.answer(answers).await })
    }
}

impl Client {
    fn fetch(
        &self,
        py: Python<'_>,
        request: Request,
    ) -> PyResult<(FetchBuilder<Async>, Arc<Failures>)> {
        let failures = Arc::new(Failures::default());
        let options: FetchOptions = failures
            .collect(|| serde_json::from_str(&request.options))
            .map_err(|error| raised(py, &Error::usage(error.to_string())))?;
        let mut fetch = self.inner.fetch(request.name).options(options);
        if let Some((first, end)) = request.segments {
            fetch = match end {
                Some(end) => fetch.segments(first..end),
                None => fetch.segments(first..),
            };
        }
        if let Some((begin, end)) = request.bytes {
            fetch = match end {
                Some(end) => fetch.bytes(begin..end),
                None => fetch.bytes(begin..),
            };
        }
        fetch = request.max_size.into_iter().fold(fetch, |it, bytes| it.max_size(bytes));
        fetch = request.cache.into_iter().fold(fetch, |it, bytes| it.cache(bytes));
        if let Some(callback) = request.progress {
            fetch = fetch.on_progress(move |progress| report(&callback, &progress));
        }
        Ok((fetch, failures))
    }

    fn serve(&self, py: Python<'_>, offer: Offer) -> PyResult<ServeBuilder<Async>> {
        let freshness = Duration::try_from_secs_f64(offer.freshness)
            .map_err(|error| raised(py, &Error::usage(format!("freshness: {error}"))))?;
        let mut serve = self.inner.serve(offer.prefix);
        for face in &offer.listen {
            serve = serve.listen(face).or_raise(py)?;
        }
        serve = serve.freshness(freshness).segment_size(offer.segment_size);
        serve = offer.sign.iter().fold(serve, |it, key| it.sign(key));
        serve = offer.version.into_iter().fold(serve, |it, version| it.version(version));
        Ok(if offer.silent { serve.silent() } else { serve })
    }
}

/// The result of a fetch, or the exception of a Python class in it.
async fn or_raised<T>(
    failures: Arc<Failures>,
    fetch: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        error = failures.wait() => Err(Failure::Python(error)),
        result = fetch => result,
    }
}

/// Bytes, all of them once the end is known, segments and all of these, as a progress bar shows them.
fn report(callback: &Py<PyAny>, progress: &Progress) {
    let counts = (progress.bytes, progress.segments, progress.total_segments);
    let _ = Python::try_attach(|py| {
        if let Err(error) = callback.call1(py, counts) {
            error.write_unraisable(py, Some(callback.bind(py)));
        }
    });
}

/// The answer of a Python function to an Interest.
fn asked(answer: &Py<PyAny>, interest: &Interest) -> Option<Bytes> {
    let answered = Python::try_attach(|py| {
        let content = answer.call1(py, (interest.name.to_string(),));
        match content.and_then(|it| it.extract::<Option<Vec<u8>>>(py)) {
            Ok(content) => content.map(Bytes::from),
            Err(error) => {
                error.write_unraisable(py, Some(answer.bind(py)));
                None
            }
        }
    });
    answered.flatten()
}

/// The URI of the name below the root whose components have these bytes. Each is a generic component, whatever its bytes mean
/// in a URI.
#[pyfunction]
pub(crate) fn name_of(parts: Vec<Vec<u8>>) -> String {
    parts.iter().map(|part| Component::generic(part)).collect::<Name>().to_string()
}

/// The URI of the listing of a folder.
#[pyfunction]
pub(crate) fn listing_of(py: Python<'_>, folder: &str) -> PyResult<String> {
    let folder = folder.to_name().or_raise(py)?;
    Ok(folder.append(Component::keyword(b"ls")).to_string())
}

/// An entry of a listing: its name in the folder, whether it is a folder itself, and the URI of its whole name.
type ListingEntry<'py> = (Bound<'py, PyBytes>, bool, String);

/// The entries of a folder's listing. Names that no file can have are left out.
#[pyfunction]
pub(crate) fn read_listing<'py>(
    py: Python<'py>,
    folder: &str,
    content: Vec<u8>,
) -> PyResult<Vec<ListingEntry<'py>>> {
    let folder = folder.to_name().or_raise(py)?;
    let listing = Listing::new(content)
        .map_err(|error| Error::new(recoup::ErrorKind::Verification, error.to_string()))
        .or_raise(py)?;
    let entries = listing.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = folder.append(Component::generic(&entry.name)).to_string();
        Some((PyBytes::new(py, &entry.name), entry.is_folder, name))
    });
    Ok(entries.collect())
}

fn unprintable(error: &serde_json::Error) -> Error {
    Error::new(recoup::ErrorKind::Other, format!("cannot write JSON: {error}"))
}

/// Content in order, in flight.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Stream {
    inner: Arc<Turn<ByteStream>>,
    failures: Arc<Failures>,
}

#[pymethods]
impl Stream {
    /// The next piece; empty at the end.
    fn next(&self) -> PyResult<Operation> {
        let stream = Arc::clone(&self.inner);
        let piece = or_raised(Arc::clone(&self.failures), async move {
            let mut stream = stream.lock().await;
            let mut piece = stream.next_chunk().await?.unwrap_or_default().to_vec();
            // What is there already comes along; an error is for the next call.
            while !piece.is_empty() && piece.len() < PIECE_BYTES {
                match stream.next_chunk().now_or_never() {
                    Some(Ok(Some(more))) => piece.extend_from_slice(&more),
                    _ => break,
                }
            }
            Ok(piece)
        });
        Operation::start(piece, |py, it| Ok(PyBytes::new(py, &it).into_any().unbind()))
    }
}

/// One version of an object.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Reader {
    inner: Arc<Turn<AsyncReader>>,
    failures: Arc<Failures>,
    /// Length in bytes.
    #[pyo3(get)]
    size: u64,
    /// Its name, with the version.
    #[pyo3(get)]
    name: String,
}

#[pymethods]
impl Reader {
    /// The bytes from `begin` to before `end`.
    fn read(&self, begin: u64, end: u64) -> PyResult<Operation> {
        let reader = Arc::clone(&self.inner);
        let content = or_raised(Arc::clone(&self.failures), async move {
            Ok(reader.lock().await.read_range(begin, end).await?)
        });
        Operation::start(content, |py, it| Ok(PyBytes::new(py, &it).into_any().unbind()))
    }

    /// Segments that were fetched over the network, those of the cache not counted.
    fn fetched_segments(&self) -> PyResult<Operation> {
        let reader = Arc::clone(&self.inner);
        let count = async move { Ok(reader.lock().await.fetched_segments()) };
        Operation::start(count, |py, it| Ok(it.into_pyobject(py)?.into_any().unbind()))
    }
}

/// A server in operation.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Server {
    inner: Mutex<Option<recoup::Server>>,
    /// The name of what is served, with its version where it has one.
    #[pyo3(get)]
    name: String,
    /// The faces at which it can be reached.
    #[pyo3(get)]
    faces: Vec<String>,
}

impl Server {
    fn start(
        server: impl Future<Output = recoup::Result<recoup::Server>> + Send + 'static,
    ) -> PyResult<Operation> {
        let started = async move { Ok(server.await?) };
        Operation::start(started, |py, it: recoup::Server| {
            let (name, faces) = (it.name().to_string(), it.faces().to_vec());
            let server = Self { inner: Mutex::new(Some(it)), name, faces };
            Ok(Py::new(py, server)?.into_any())
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<recoup::Server>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Server {
    /// Its figures; `None` once it is closed.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(summary) = self.lock().as_ref().map(recoup::Server::summary) else {
            return Ok(None);
        };
        let figures = PyDict::new(py);
        figures.set_item("segments", summary.segments)?;
        figures.set_item("bytes", summary.bytes)?;
        figures.set_item("metadata", summary.metadata)?;
        figures.set_item("unknown", summary.unknown)?;
        Ok(Some(figures))
    }

    /// Ends it, and withdraws its registration.
    fn close(&self, py: Python<'_>) {
        let server = self.lock().take();
        py.detach(|| drop(server));
    }
}
