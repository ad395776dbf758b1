//! Named data as an object store (feature `object-store`): DataFusion, Polars and delta-rs read it by the trait
//! [`ObjectStore`].
//!
//! ```no_run
//! use object_store::ObjectStoreExt;
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = recoup::asynchronous::Client::connect().await?;
//! let store = recoup::store::NamedStore::new(client, "/data")?;
//! let bytes = store.get_range(&"2026/table.parquet".into(), 0..1_000).await?;
//! # Ok(())
//! # }
//! ```
use crate::asynchronous::Client;
use crate::error::{Error, ErrorKind};
use crate::fetch::FetchBuilder;
use crate::info::ObjectInfo;
use crate::mode::Async;
use crate::name::ToName;
use crate::reader::Reader;
use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_core::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::{Path, PathPart};
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, coalesce_ranges,
};
use recoup_io::library::{BadName, Entry, Listing};
use recoup_packet::name::{Component, Name};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Result<T> = object_store::Result<T>;

/// Time that an opened version is read before the store looks for a newer one.
const KEEP_VERSION: Duration = Duration::from_secs(10);
/// Most versions that are open at a time.
const MAX_OPEN: usize = 64;
/// Segments that are kept of one version, in bytes.
const CACHE_BYTES: u64 = 1 << 20;
/// All listings between the prefix of a list and the folder that is read, in bytes.
const MAX_LISTINGS_BYTES: usize = 64 << 20;
/// Most folders inside folders.
const MAX_DEPTH: usize = 64;
/// Concurrent requests for the lengths of listed objects.
const HEADS: usize = 8;

/// The objects below a name prefix, such as a folder that `recoup serve` serves. It can be read and listed; writing is
/// [not supported](StoreError::NotSupported).
///
/// A range fetches only the segments that hold it. An opened version is read for 10 s before the store looks for a
/// newer one, so that the ranges of one table belong together.
#[derive(Clone, Debug)]
pub struct NamedStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    prefix: Name,
    /// Versions that were opened, the latest last.
    open: Mutex<VecDeque<Arc<Opened>>>,
}

/// A version that was opened.
#[derive(Debug)]
struct Opened {
    at: Instant,
    meta: ObjectMeta,
    name: Name,
    segment_bytes: u64,
    reader: Mutex<Reader>,
}

impl NamedStore {
    /// The objects below `prefix`, fetched by `client` with its options.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`]: the text is no name.
    pub fn new(client: impl Into<Client>, prefix: impl ToName) -> crate::Result<Self> {
        let (client, prefix, open) = (client.into(), prefix.to_name()?, Mutex::default());
        Ok(Self { inner: Arc::new(Inner { client, prefix, open }) })
    }

    fn name(&self, location: &Path) -> Name {
        let parts: Vec<_> = location.parts().collect();
        let components = parts.iter().map(|part| Component::generic(part.as_ref().as_bytes()));
        self.inner.prefix.components().chain(components).collect()
    }

    fn opened(&self) -> MutexGuard<'_, VecDeque<Arc<Opened>>> {
        self.inner.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the object at `location` that is read.
    async fn open(&self, location: &Path, version: Option<&str>) -> Result<Arc<Opened>> {
        let is_it = |it: &Opened| {
            it.meta.location == *location
                && version.is_none_or(|version| it.meta.version.as_deref() == Some(version))
        };
        let found = self.opened().iter().rfind(|it| is_it(it)).cloned();
        if let Some(found) = found.as_ref().filter(|it| it.at.elapsed() < KEEP_VERSION) {
            return Ok(Arc::clone(found));
        }
        let mut name = self.name(location);
        if let Some(version) = version {
            let component = version.parse().map_err(|_| no_version(location, version))?;
            name = name.append(Component::version(component));
        }
        let fetch = self.inner.client.fetch(name).cache(CACHE_BYTES);
        let opened = open(fetch, location, found).await.map_err(|error| failed(location, error))?;
        let opened = Arc::new(opened);
        let mut all = self.opened();
        all.retain(|it| !is_it(it));
        while all.len() >= MAX_OPEN {
            all.pop_front();
        }
        all.push_back(Arc::clone(&opened));
        Ok(opened)
    }

    /// The listing of a folder; an empty one if there is no such folder.
    async fn listing(&self, folder: &Path) -> Result<Listing> {
        let listing = self.inner.client.listing(self.name(folder), u64::MAX).await;
        match listing {
            Err(error) if error.is_not_found() => Ok(Listing::default()),
            listing => listing.map_err(|error| failed(folder, error)),
        }
    }

    /// The objects at these locations; those that are not served are left out.
    fn heads(
        &self,
        locations: impl stream::Stream<Item = Result<Path>> + Send + 'static,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let store = self.clone();
        let head = move |location: Result<Path>| {
            let store = store.clone();
            async move { store.open(&location?, None).await.map(|opened| opened.meta.clone()) }
        };
        let is_served = |meta: &Result<ObjectMeta>| {
            std::future::ready(!matches!(meta, Err(StoreError::NotFound { .. })))
        };
        locations.map(head).buffered(HEADS).filter(is_served).boxed()
    }
}

/// Opens the newest version; `before` is kept if it still is the newest.
async fn open(
    fetch: FetchBuilder<Async>,
    location: &Path,
    before: Option<Arc<Opened>>,
) -> crate::Result<Opened> {
    let mut reader = fetch.reader().await?.into_inner();
    let info = reader.info().await?;
    let is_same = |it: &Arc<Opened>| it.name == info.name && lock(&it.reader).id() == info.id;
    if let Some(before) = before.filter(is_same) {
        // It has segments in its cache.
        reader = lock(&before.reader).fork();
    }
    let version = info.version();
    let meta = ObjectMeta {
        location: location.clone(),
        last_modified: modified(&info, version),
        size: info.size.unwrap_or_default(),
        e_tag: Some(format!("\"{}\"", info.name)),
        version: version.map(|version| version.to_string()),
    };
    let segment_bytes = info.segment_bytes.unwrap_or(1).max(1);
    let (at, name, reader) = (Instant::now(), info.name, Mutex::new(reader));
    Ok(Opened { at, meta, name, segment_bytes, reader })
}

fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opened {
    async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        let mut reader = lock(&self.reader).fork();
        let read = reader.range(range.start, range.end).await;
        read.map_err(|error| failed(&self.meta.location, error))
    }

    /// The bytes of a range, in pieces of whole segments.
    fn pieces(self: Arc<Self>, range: Range<u64>) -> BoxStream<'static, Result<Bytes>> {
        let reader = lock(&self.reader).fork();
        let state = (self, reader, range);
        let next = |(this, mut reader, mut range): (Arc<Self>, Reader, Range<u64>)| async move {
            let piece = reader.piece_of(range.clone()).await;
            let piece = piece.map_err(|error| failed(&this.meta.location, error))?;
            range.start += piece.as_ref().map_or(0, |piece| piece.len() as u64);
            Ok(piece.map(|piece| (piece, (this, reader, range))))
        };
        stream::try_unfold(state, next).boxed()
    }
}

/// The time of the last change: from the metadata, or else the version if that is a time in microseconds.
fn modified(info: &ObjectInfo, version: Option<u64>) -> DateTime<Utc> {
    let by_version = || DateTime::from_timestamp_micros(i64::try_from(version?).ok()?);
    let reported = info.modified.map(DateTime::from);
    reported.or_else(by_version).unwrap_or(DateTime::UNIX_EPOCH)
}

fn failed(location: &Path, error: Error) -> StoreError {
    let (path, source) = (location.to_string(), Box::new(error));
    match source.kind() {
        ErrorKind::NotFound => StoreError::NotFound { path, source },
        _ => StoreError::Generic { store: "recoup", source },
    }
}

fn no_version(location: &Path, version: &str) -> StoreError {
    let text = format!("{location} has no version {version:?}");
    failed(location, Error::new(ErrorKind::NotFound, text))
}

fn read_only<T>() -> Result<T> {
    let text = "named data is published by `recoup serve` or Client::serve, not by this store";
    Err(StoreError::NotSupported { source: text.into() })
}

impl fmt::Display for NamedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NamedStore({})", self.inner.prefix)
    }
}

#[async_trait]
impl ObjectStore for NamedStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let opened = self.open(location, options.version.as_deref()).await?;
        let meta = opened.meta.clone();
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            None => 0..meta.size,
            Some(range) => range.as_range(meta.size).map_err(|error| StoreError::Generic {
                store: "recoup",
                source: Box::new(error),
            })?,
        };
        let content = if options.head { 0..0 } else { range.clone() };
        let payload = GetResultPayload::Stream(opened.pieces(content));
        let (attributes, extensions) = Default::default();
        Ok(GetResult { payload, meta, range, attributes, extensions })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let opened = self.open(location, None).await?;
        // Ranges that may share a segment are read together; a whole segment between two is not fetched.
        let gap = opened.segment_bytes - 1;
        coalesce_ranges(ranges, |range| opened.range(range), gap).await
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let store = self.clone();
        let state = (store, Folders::default(), Some(prefix.cloned().unwrap_or_default()));
        let locations = stream::try_unfold(state, |(store, mut folders, first)| async move {
            if let Some(first) = first {
                folders.enter(&store, first).await?;
            }
            let next = folders.next(&store).await?;
            Ok(next.map(|location| (location, (store, folders, None))))
        });
        self.heads(locations)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let folder = prefix.cloned().unwrap_or_default();
        let (mut common_prefixes, mut files) = (Vec::new(), Vec::new());
        let listing = self.listing(&folder).await?;
        for (location, is_folder) in listing.filter_map(|entry| place_of(&folder, entry)) {
            match is_folder {
                true => common_prefixes.push(location),
                false => files.push(Ok(location)),
            }
        }
        let objects = self.heads(stream::iter(files)).try_collect().await?;
        Ok(ListResult { common_prefixes, objects, extensions: Default::default() })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        read_only()
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        read_only()
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        locations.map(|location| location.and_then(|_| read_only())).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        read_only()
    }
}

/// The location of an entry and whether it is a folder; `None` if no location can have its name.
fn place_of(folder: &Path, entry: std::result::Result<Entry, BadName>) -> Option<(Path, bool)> {
    let entry = entry.ok()?;
    let name = std::str::from_utf8(&entry.name).ok()?;
    Some((folder.clone().join(PathPart::parse(name).ok()?), entry.is_folder))
}

/// Folders that are gone through in depth, and what is left of their listings.
#[derive(Default)]
struct Folders(Vec<(Path, Listing)>);

impl Folders {
    async fn enter(&mut self, store: &NamedStore, folder: Path) -> Result<()> {
        let listing = store.listing(&folder).await?;
        let bytes = |listing: &Listing| listing.remaining_bytes();
        let above: usize = self.0.iter().map(|(_, listing)| bytes(listing)).sum();
        if above + bytes(&listing) > MAX_LISTINGS_BYTES || self.0.len() >= MAX_DEPTH {
            let text = format!("{folder} lies too deep, or listings above it are too long");
            return Err(failed(&folder, Error::new(ErrorKind::Condition, text)));
        }
        self.0.push((folder, listing));
        Ok(())
    }

    /// The location of the next file.
    async fn next(&mut self, store: &NamedStore) -> Result<Option<Path>> {
        while let Some((folder, listing)) = self.0.last_mut() {
            match listing.next().map(|entry| place_of(folder, entry)) {
                None => drop(self.0.pop()),
                Some(None) => {}
                Some(Some((file, false))) => return Ok(Some(file)),
                Some(Some((inner, true))) => self.enter(store, inner).await?,
            }
        }
        Ok(None)
    }
}
