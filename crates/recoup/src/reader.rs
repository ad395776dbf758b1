//! Content at any offset, fetched on demand.
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::{FetchBuilder, Running};
use crate::info::ObjectInfo;
use crate::transfer::reject_folder;
use crate::wait::block_on;
use bytes::{Bytes, BytesMut};
use recoup_packet::name::Name;
#[cfg(feature = "object-store")]
use recoup_packet::object_id::ObjectId;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

/// Segments of the first fetch of a sequential run; each further fetch doubles it.
const FIRST_AHEAD: u64 = 2;
/// From so many segments on, a run in order is fetched to the end of the object.
const LONGEST_AHEAD: u64 = 256;

/// Reads one version of an object: at any offset, with a cache of limited size.
///
/// The metadata of the object give its version, segment size and length. If a producer has no metadata, the first
/// segment is fetched in their place. Bytes of a segment are fetched when they are read. If content is read in order,
/// fetches become longer until one runs to the end; a slow reader slows it, and reading at another offset cancels it.
///
/// ```
/// use std::io::{Read, Seek, SeekFrom};
/// # let place = recoup::Client::builder().alone().connect()?;
/// # let _server = place.serve("/table").listen("memory://reader-type")?.segment_size(10).bytes("0123456789abcdef")?;
/// # let client = recoup::Client::builder().face("memory://reader-type").connect()?;
/// let mut reader = client.fetch("/table").reader()?;
/// assert_eq!(reader.size()?, 16);
/// assert_eq!(reader.read_range(8, 12)?, "89ab");
/// # Ok::<(), recoup::Error>(())
/// ```
pub struct Reader {
    /// Fetches this version.
    source: FetchBuilder,
    object: Name,
    /// Length of every segment but the last, in bytes.
    segment_bytes: u64,
    /// Number of the last segment, if known.
    last: Option<u64>,
    /// Length in bytes, once it is known.
    size: Option<u64>,
    modified: Option<SystemTime>,
    position: u64,
    cache: Arc<Mutex<Cache>>,
    run: Option<Run>,
    /// The segment after those that the latest run was to fetch, and how many these were.
    latest: Option<(u64, u64)>,
    fetched_segments: u64,
}

/// The segments that hold a range of bytes, half-open, and how many bytes of the first lie before the range.
type Place = ((u64, Option<u64>), u64);

/// A fetch in order.
#[derive(Debug)]
struct Run {
    running: Running,
    next: u64,
    /// The segment after its last; `None`: to the end of the object.
    end: Option<u64>,
}

impl Reader {
    pub(crate) async fn open(mut builder: FetchBuilder) -> Result<Self> {
        builder.locate()?;
        let info = ObjectInfo::discover(&builder).await?;
        reject_folder(&builder.name.clone()?, &info.name)?;
        match info.layout() {
            Some(_) => Ok(Self::of_object(&builder, &info)),
            None => Self::by_first_segment(&builder).await,
        }
    }

    /// A reader of an object of which everything is known.
    pub(crate) fn of_object(builder: &FetchBuilder, info: &ObjectInfo) -> Self {
        let source = builder.of_version(info.name.clone(), info.id);
        let layout = info.layout();
        Self {
            cache: Arc::new(Mutex::new(Cache::new(source.cache_bytes))),
            source,
            object: info.name.clone(),
            segment_bytes: layout.map_or(0, |(segment_bytes, _)| segment_bytes),
            last: layout.map(|(_, last)| last),
            size: info.size,
            modified: info.modified,
            position: 0,
            run: None,
            latest: None,
            fetched_segments: 0,
        }
    }

    async fn by_first_segment(builder: &FetchBuilder) -> Result<Self> {
        let running = builder.begin((0, Some(1)), None)?;
        let head = poll_fn(|context| running.flow.poll_next(context)).await?;
        // The end is known with the first segment, or not before the last.
        running.end().await?;
        let (object, last, id) = {
            let state = running.flow.lock();
            (state.object.clone(), state.last, state.id)
        };
        let name = object.map_or_else(|| builder.name.clone(), Ok)?;
        let content = head.map(|(_, content)| content).unwrap_or_default();
        let this = Self {
            segment_bytes: content.len() as u64,
            last,
            latest: Some((1, 1)),
            fetched_segments: 1,
            ..Self::of_object(builder, &ObjectInfo { id, ..ObjectInfo::new(name) })
        };
        if this.segment_bytes == 0 && this.last != Some(0) {
            return Err(this.uneven(0));
        }
        this.cache().insert(0, &content);
        Ok(this)
    }

    /// Another reader of the same version, which shares the cache.
    #[cfg(feature = "object-store")]
    pub(crate) fn fork(&self) -> Self {
        Self {
            source: self.source.of_version(self.object.clone(), None),
            object: self.object.clone(),
            cache: Arc::clone(&self.cache),
            position: 0,
            run: None,
            latest: None,
            fetched_segments: 0,
            ..*self
        }
    }

    /// Metadata of the object. Fetches the last segment if the producer has no metadata.
    pub(crate) async fn info(&mut self) -> Result<ObjectInfo> {
        let size = poll_fn(|context| self.poll_size(context)).await?;
        Ok(ObjectInfo {
            size: Some(size),
            segment_bytes: Some(self.segment_bytes),
            last_segment: self.last,
            modified: self.modified,
            id: self.source.id(),
            ..ObjectInfo::new(self.object.clone())
        })
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Identifier of the content, if it is known.
    #[cfg(feature = "object-store")]
    pub(crate) fn id(&self) -> Option<ObjectId> {
        self.source.id()
    }

    /// The name of the object, with its version.
    pub fn object(&self) -> &Name {
        &self.object
    }

    /// Length of the object in bytes. Fetches the last segment if the producer has no metadata.
    ///
    /// # Errors
    /// Those of the fetch; [`ErrorKind::Other`] if the producer does not announce the end of the object.
    pub fn size(&mut self) -> Result<u64> {
        block_on(poll_fn(|context| self.poll_size(context)))
    }

    pub(crate) fn poll_size(&mut self, context: &Context<'_>) -> Poll<Result<u64>> {
        if let Some(size) = self.size {
            return Poll::Ready(Ok(size));
        }
        let last = self.last.ok_or_else(|| {
            Error::new(
                ErrorKind::Other,
                format!("the producer does not announce where {} ends", self.object),
            )
            .with_remedy("read it to its end")
        })?;
        let tail = ready!(self.poll_segment(context, last, 1))?.map_or(0, |tail| tail.len() as u64);
        Poll::Ready(Ok(*self.size.insert(last * self.segment_bytes + tail)))
    }

    /// The bytes from `begin` to before `end`, fewer at the end of the object. Fetches no segment that holds none of them.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn read_range(&mut self, begin: u64, end: u64) -> Result<Bytes> {
        block_on(self.range(begin, end))
    }

    pub(crate) async fn range(&mut self, begin: u64, end: u64) -> Result<Bytes> {
        let (mut content, mut at) = (BytesMut::new(), begin);
        while let Some(piece) = self.piece_of(at..end).await? {
            at += piece.len() as u64;
            content.extend_from_slice(&piece);
        }
        Ok(content.freeze())
    }

    /// The bytes of a range that the first of its segments holds; `None` beyond the end.
    pub(crate) async fn piece_of(&mut self, range: Range<u64>) -> Result<Option<Bytes>> {
        let Some(((first, until), skip)) = self.segments_of(range.start, Some(range.end))? else {
            return Ok(None);
        };
        let wanted = until.unwrap_or(u64::MAX).saturating_sub(first);
        let segment = poll_fn(|context| self.poll_segment(context, first, wanted)).await?;
        let mut piece = segment.unwrap_or_default();
        let mut piece = piece.split_off((skip as usize).min(piece.len()));
        piece.truncate(usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }

    /// Limits the content queued for this reader, and its cache, to `bytes` each; the default is 16 MiB. One
    /// segment always fits.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.source.limit_memory(bytes);
        self.cache().limit_bytes = bytes;
    }

    /// Segments that were fetched over the network, those of the cache not counted.
    pub fn fetched_segments(&self) -> u64 {
        self.fetched_segments
    }

    /// The segments that hold the bytes `begin..end`; `None` if there is no such byte.
    pub(crate) fn segments_of(&self, begin: u64, end: Option<u64>) -> Result<Option<Place>> {
        if self.segment_bytes == 0 || end.is_some_and(|end| end <= begin) {
            return Ok(None);
        }
        let first = begin / self.segment_bytes;
        if self.last.is_some_and(|last| first > last) {
            return Ok(None);
        }
        let until = end.map(|end| end.div_ceil(self.segment_bytes));
        let beyond = self.last.map(|last| last + 1);
        let until = match (until, beyond) {
            (Some(until), Some(beyond)) => Some(until.min(beyond)),
            (until, beyond) => until.or(beyond),
        };
        Ok(Some(((first, until), begin % self.segment_bytes)))
    }

    /// A builder of further fetches of the same version.
    pub(crate) fn into_builder(self) -> FetchBuilder {
        self.source
    }

    /// Content of a segment, of which `wanted` in order are needed; `None` beyond the end.
    fn poll_segment(
        &mut self,
        context: &Context<'_>,
        segment: u64,
        wanted: u64,
    ) -> Poll<Result<Option<Bytes>>> {
        if self.last.is_some_and(|last| segment > last) {
            return Poll::Ready(Ok(None));
        }
        let cached = self.cache().get(segment);
        if cached.is_some() {
            return Poll::Ready(Ok(cached));
        }
        let reaches = |run: &Run| {
            (run.next..run.next.saturating_add(LONGEST_AHEAD)).contains(&segment)
                && run.end.is_none_or(|end| segment < end)
        };
        if !self.run.as_ref().is_some_and(reaches) {
            self.start(segment, wanted)?;
        }
        while let Some(run) = &mut self.run {
            let piece = match ready!(run.running.flow.poll_next(context)) {
                Ok(piece) => piece,
                Err(error) => {
                    self.run = None;
                    return Poll::Ready(Err(error));
                }
            };
            self.last = run.running.flow.lock().last.or(self.last);
            let Some((number, content)) = piece else {
                self.run = None;
                break;
            };
            run.next = number + 1;
            self.fetched_segments += 1;
            self.check(number, &content)?;
            let content = self.cache().insert(number, &content);
            if number == segment {
                return Poll::Ready(Ok(Some(content)));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Offsets exist only where all segments but the last have one length.
    fn check(&self, segment: u64, content: &Bytes) -> Result<()> {
        let length = content.len() as u64;
        let is_last = self.last == Some(segment);
        match length == self.segment_bytes || (is_last && length <= self.segment_bytes) {
            true => Ok(()),
            false => Err(self.uneven(segment)),
        }
    }

    fn uneven(&self, segment: u64) -> Error {
        let message =
            format!("segment {segment} of {} has another length than others", self.object);
        Error::new(ErrorKind::Verification, message)
            .with_remedy("read it in order: chunks, to_vec")
            .permanent()
    }

    fn start(&mut self, segment: u64, wanted: u64) -> Result<()> {
        // The run before is cancelled first, so that both do not share the face.
        self.run = None;
        let ahead = match self.latest {
            Some((end, ahead)) if end == segment => (2 * ahead).max(FIRST_AHEAD),
            _ => 1,
        };
        let ahead = ahead.max(wanted);
        let end = (ahead < LONGEST_AHEAD || wanted == ahead).then(|| segment.saturating_add(ahead));
        let running = self.source.begin((segment, end), None)?;
        self.run = Some(Run { running, next: segment, end });
        self.latest = end.map(|end| (end, ahead));
        Ok(())
    }

    /// The content of one segment from the position on, at most `most` bytes; none at the end.
    pub(crate) fn poll_piece(&mut self, context: &Context<'_>, most: usize) -> Poll<Result<Bytes>> {
        if self.segment_bytes == 0 || most == 0 {
            return Poll::Ready(Ok(Bytes::new()));
        }
        let (segment, offset) =
            (self.position / self.segment_bytes, self.position % self.segment_bytes);
        let wanted = offset.saturating_add(most as u64).div_ceil(self.segment_bytes);
        // A large buffer is filled by several calls: no fetch is longer than the read-ahead for its sake.
        let wanted = wanted.clamp(1, LONGEST_AHEAD / 2);
        let content = ready!(self.poll_segment(context, segment, wanted))?.unwrap_or_default();
        let begin = content.len().min(offset as usize);
        let end = content.len().min(begin.saturating_add(most));
        self.position += (end - begin) as u64;
        Poll::Ready(Ok(content.slice(begin..end)))
    }

    pub(crate) fn poll_seek(
        &mut self,
        context: &Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => ready!(self.poll_size(context))?.checked_add_signed(by),
        };
        let before =
            || io::Error::new(io::ErrorKind::InvalidInput, "the offset lies before the content");
        self.position = position.ok_or_else(before)?;
        Poll::Ready(Ok(self.position))
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, segment_bytes, last, position, .. } = self;
        let mut shown = f.debug_struct("Reader");
        shown.field("object", object).field("segment_bytes", segment_bytes);
        shown.field("last", last).field("position", position).finish_non_exhaustive()
    }
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let piece = block_on(poll_fn(|context| self.poll_piece(context, into.len())))?;
        into[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        block_on(poll_fn(|context| self.poll_seek(context, to)))
    }
}

/// Segments by number; of those that do not fit, the oldest is dropped.
#[derive(Debug)]
struct Cache {
    segments: BTreeMap<u64, Bytes>,
    order: VecDeque<u64>,
    bytes: u64,
    limit_bytes: u64,
}

impl Cache {
    fn new(limit_bytes: u64) -> Self {
        Self { segments: BTreeMap::new(), order: VecDeque::new(), bytes: 0, limit_bytes }
    }

    fn get(&self, segment: u64) -> Option<Bytes> {
        self.segments.get(&segment).cloned()
    }

    /// Keeps the content of a segment. Returns what is kept.
    fn insert(&mut self, segment: u64, content: &[u8]) -> Bytes {
        // A copy: what arrived is a part of a much larger receive buffer.
        let content = Bytes::copy_from_slice(content);
        self.bytes += content.len() as u64;
        match self.segments.insert(segment, content.clone()) {
            Some(before) => self.bytes -= before.len() as u64,
            None => self.order.push_back(segment),
        }
        // The newest stays, however small the limit.
        while self.bytes > self.limit_bytes && self.order.len() > 1 {
            let oldest = self.order.pop_front();
            let dropped = oldest.and_then(|oldest| self.segments.remove(&oldest));
            self.bytes -= dropped.map_or(0, |dropped| dropped.len() as u64);
        }
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_drops_the_oldest_segments_first() {
        let mut cache = Cache::new(25);
        for segment in 0..4 {
            cache.insert(segment, &[0; 10]);
        }
        assert_eq!((cache.get(1), cache.bytes), (None, 20));
        assert!(cache.get(2).is_some() && cache.get(3).is_some());
        cache.insert(9, &[0; 100]);
        assert_eq!((cache.order.len(), cache.bytes), (1, 100));
    }
}
