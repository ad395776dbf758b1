//! Content as a stream, as a reader, and into a file.
use crate::error::Result;
use crate::fetch::{self, Chunks};
use crate::flow::Progress;
use crate::reader::Reader;
use crate::summary::FetchSummary;
use bytes::{Buf, Bytes};
use futures_core::Stream;
use recoup_packet::name::Name;
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

/// Content in order, in flight: a stream of pieces, and a reader. Dropping it cancels the fetch and withdraws its pending
/// Interests.
#[derive(Debug)]
pub struct ByteStream {
    chunks: Chunks,
    /// Of the latest piece, what was not read yet.
    rest: Bytes,
}

impl ByteStream {
    pub(super) fn new(chunks: Chunks) -> Self {
        Self { chunks, rest: Bytes::new() }
    }

    /// The next piece, once it is there; `None` at the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>> {
        poll_fn(|context| self.poll_item(context)).await.transpose()
    }

    fn poll_item(&mut self, context: &Context<'_>) -> Poll<Option<Result<Bytes>>> {
        match self.rest.is_empty() {
            true => self.chunks.poll_item(context),
            false => Poll::Ready(Some(Ok(std::mem::take(&mut self.rest)))),
        }
    }

    /// Progress of the fetch.
    pub fn progress(&self) -> Progress {
        self.chunks.progress()
    }

    /// The figures of the fetch, once it has ended well.
    pub fn summary(&self) -> Option<FetchSummary> {
        self.chunks.summary()
    }
}

impl Stream for ByteStream {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        self.get_mut().poll_item(context)
    }
}

impl AsyncRead for ByteStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            let item = ready!(this.chunks.poll_item(context));
            this.rest = item.transpose()?.unwrap_or_default();
        }
        let length = this.rest.len().min(into.remaining());
        into.put_slice(&this.rest[..length]);
        this.rest.advance(length);
        Poll::Ready(Ok(()))
    }
}

/// Reads one version of an object at any offset; see [`recoup::Reader`](crate::Reader).
#[derive(Debug)]
pub struct AsyncReader {
    reader: Reader,
    seek: Option<SeekFrom>,
}

impl AsyncReader {
    pub(crate) fn new(reader: Reader) -> Self {
        Self { reader, seek: None }
    }

    #[cfg(feature = "object-store")]
    pub(crate) fn into_inner(self) -> Reader {
        self.reader
    }

    /// The name of the object, with its version.
    pub fn object(&self) -> &Name {
        self.reader.object()
    }

    /// Length of the object in bytes.
    ///
    /// # Errors
    /// As [`Reader::size`].
    pub async fn size(&mut self) -> Result<u64> {
        poll_fn(|context| self.reader.poll_size(context)).await
    }

    /// The bytes from `begin` to before `end`, fewer at the end of the object. Fetches no segment that holds none of them.
    ///
    /// # Errors
    /// Those of the fetch.
    pub async fn read_range(&mut self, begin: u64, end: u64) -> Result<Bytes> {
        self.reader.range(begin, end).await
    }

    /// The first bytes of a range, at most one segment; `None` if the range is empty or lies beyond the end. If
    /// pieces are read one after the other, one fetch gets the segments of the whole range.
    ///
    /// # Errors
    /// Those of the fetch.
    pub async fn read_piece(&mut self, begin: u64, end: u64) -> Result<Option<Bytes>> {
        self.reader.piece_of(begin..end).await
    }

    /// As [`Reader::limit_memory`].
    pub fn limit_memory(&mut self, bytes: u64) {
        self.reader.limit_memory(bytes);
    }

    /// Segments that were fetched over the network, those of the cache not counted.
    pub fn fetched_segments(&self) -> u64 {
        self.reader.fetched_segments()
    }
}

impl AsyncRead for AsyncReader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = ready!(self.get_mut().reader.poll_piece(context, into.remaining()))?;
        into.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}

impl AsyncSeek for AsyncReader {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.get_mut().seek = Some(position);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.get_mut();
        let to = this.seek.unwrap_or(SeekFrom::Current(0));
        let position = ready!(this.reader.poll_seek(context, to));
        this.seek = None;
        Poll::Ready(position)
    }
}

/// A fetch into a file, in flight: a stream of its progress. Dropping it cancels the fetch; what has arrived is kept, and
/// [`resume`](crate::FetchBuilder::resume) continues it.
#[derive(Debug)]
pub struct ActiveFetch(pub(super) fetch::ActiveFetch);

impl ActiveFetch {
    /// Waits for progress, at most ten times a second; `None` at the end.
    pub async fn next_progress(&mut self) -> Option<Progress> {
        poll_fn(|context| self.0.poll_progress(context)).await
    }

    /// Progress of the fetch.
    pub fn progress(&self) -> Progress {
        self.0.progress()
    }

    /// Cancels the fetch, and waits until what has arrived is safe on the disk.
    pub async fn cancel(self) {
        let _ = self.0.end_early().await;
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub async fn finish(self) -> Result<FetchSummary> {
        self.0.end().await
    }
}

impl Stream for ActiveFetch {
    type Item = Progress;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Progress>> {
        self.get_mut().0.poll_progress(context)
    }
}
