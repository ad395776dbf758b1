//! Content at any offset, fetched on demand.
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::{FetchBuilder, Running};
use bytes::{Bytes, BytesMut};
use recoup_packet::name::Name;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// Segments that the first fetch of a run in order asks for; each further one asks for twice as many.
const FIRST_AHEAD: u64 = 2;
/// From so many segments on, a run in order is fetched to the end of the object.
const LONGEST_AHEAD: u64 = 256;

/// Reads one version of an object: at any offset, with a cache of limited size.
///
/// The first segment is fetched at once; it tells the version, the segment size and, if the producer says so, the length.
/// Bytes of a segment are fetched when they are read. Where content is read in order, fetches become longer until one runs to
/// the end; it is slowed by a slow reader, and cancelled when reading goes on elsewhere.
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
    /// Number of the last segment, if the producer says so.
    last: Option<u64>,
    position: u64,
    cache: Cache,
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
    pub(crate) fn open(builder: FetchBuilder) -> Result<Self> {
        let (flow, task) = builder.begin((0, Some(1)), None)?;
        let running = Running::new(builder.client.clone(), flow, task);
        let head = running.flow.next()?;
        let object = running.flow.wait_until(|state| state.object.clone())?;
        let name = builder.name.clone()?;
        let object = object.unwrap_or(name);
        // The end is known with the first segment, or not before the last.
        running.flow.wait()?;
        let last = running.flow.lock().last;
        let content = head.map(|(_, content)| content).unwrap_or_default();
        let source = builder.of_version(object.clone());
        let mut this = Self {
            cache: Cache::new(source.cache_bytes),
            source,
            object,
            segment_bytes: content.len() as u64,
            last,
            position: 0,
            run: None,
            latest: Some((1, 1)),
            fetched_segments: 1,
        };
        if this.segment_bytes == 0 && this.last != Some(0) {
            return Err(this.uneven(0));
        }
        this.cache.insert(0, &content);
        Ok(this)
    }

    /// The name of the object, with its version.
    pub fn object(&self) -> &Name {
        &self.object
    }

    /// Length of the object in bytes. May fetch the last segment.
    ///
    /// # Errors
    /// Those of the fetch; [`ErrorKind::Other`] if the producer does not say where the object ends.
    pub fn size(&mut self) -> Result<u64> {
        let last = self.last.ok_or_else(|| {
            Error::new(
                ErrorKind::Other,
                format!("the producer does not say where {} ends", self.object),
            )
            .with_remedy("read it to its end")
        })?;
        let tail = self.segment(last, 1)?.map_or(0, |tail| tail.len() as u64);
        Ok(last * self.segment_bytes + tail)
    }

    /// The bytes from `begin` to before `end`, fewer at the end of the object. Fetches no segment that holds none of them.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn read_range(&mut self, begin: u64, end: u64) -> Result<Bytes> {
        let Some(((first, until), skip)) = self.segments_of(begin, Some(end))? else {
            return Ok(Bytes::new());
        };
        let until = until.unwrap_or(u64::MAX);
        let mut content = BytesMut::new();
        for segment in first..until {
            match self.segment(segment, until - segment)? {
                Some(piece) => content.extend_from_slice(&piece),
                None => break,
            }
        }
        let mut content = content.freeze();
        let content = content.split_off((skip as usize).min(content.len()));
        let wanted = usize::try_from(end - begin).unwrap_or(usize::MAX);
        Ok(content.slice(..wanted.min(content.len())))
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
    fn segment(&mut self, segment: u64, wanted: u64) -> Result<Option<Bytes>> {
        if self.last.is_some_and(|last| segment > last) {
            return Ok(None);
        }
        if let Some(content) = self.cache.get(segment) {
            return Ok(Some(content));
        }
        let reaches = |run: &Run| {
            (run.next..run.next.saturating_add(LONGEST_AHEAD)).contains(&segment)
                && run.end.is_none_or(|end| segment < end)
        };
        if !self.run.as_ref().is_some_and(reaches) {
            self.start(segment, wanted)?;
        }
        loop {
            let Some(run) = &mut self.run else {
                return Ok(None);
            };
            let next = run.running.flow.next();
            let piece = match next {
                Ok(piece) => piece,
                Err(error) => {
                    self.run = None;
                    return Err(error);
                }
            };
            self.last = run.running.flow.lock().last.or(self.last);
            let Some((number, content)) = piece else {
                self.run = None;
                return Ok(None);
            };
            run.next = number + 1;
            self.fetched_segments += 1;
            self.check(number, &content)?;
            self.cache.insert(number, &content);
            if number == segment {
                return Ok(Some(content));
            }
        }
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
            format!("segment {segment} of {} has another length than segment 0", self.object);
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
        let (flow, task) = self.source.begin((segment, end), None)?;
        let running = Running::new(self.source.client.clone(), flow, task);
        self.run = Some(Run { running, next: segment, end });
        self.latest = end.map(|end| (end, ahead));
        Ok(())
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
        if self.segment_bytes == 0 || into.is_empty() {
            return Ok(0);
        }
        let (segment, offset) =
            (self.position / self.segment_bytes, self.position % self.segment_bytes);
        let wanted = (offset + into.len() as u64).div_ceil(self.segment_bytes);
        // A large buffer is filled by several calls: no fetch is longer than the read-ahead for its sake.
        let wanted = wanted.clamp(1, LONGEST_AHEAD / 2);
        let Some(content) = self.segment(segment, wanted)? else {
            return Ok(0);
        };
        let content = content.get(offset as usize..).unwrap_or_default();
        let length = content.len().min(into.len());
        into[..length].copy_from_slice(&content[..length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.size()?.checked_add_signed(by),
        };
        let before =
            || io::Error::new(io::ErrorKind::InvalidInput, "the offset lies before the content");
        self.position = position.ok_or_else(before)?;
        Ok(self.position)
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

    fn insert(&mut self, segment: u64, content: &[u8]) {
        // A copy: what arrived is a part of a much larger receive buffer.
        let content = Bytes::copy_from_slice(content);
        self.bytes += content.len() as u64;
        match self.segments.insert(segment, content) {
            Some(before) => self.bytes -= before.len() as u64,
            None => self.order.push_back(segment),
        }
        // The newest stays, however small the limit.
        while self.bytes > self.limit_bytes && self.order.len() > 1 {
            let oldest = self.order.pop_front();
            let dropped = oldest.and_then(|oldest| self.segments.remove(&oldest));
            self.bytes -= dropped.map_or(0, |dropped| dropped.len() as u64);
        }
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
