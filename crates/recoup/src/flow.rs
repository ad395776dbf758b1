//! Content on its way from the driver thread to its reader. The fetch loop bounds what waits here: it sends no further
//! Interests until the reader has taken content.
//!
//! Readers wait with the `poll` functions and a [`Waker`](std::task::Waker); [`block_on`](crate::wait::block_on) makes one of
//! a thread.
use crate::error::{Error, Result};
use crate::summary::FetchSummary;
use bytes::Bytes;
use recoup_io::waker::Waker;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Bytes that are taken before the driver thread is woken to send further Interests, unless the flow is empty.
const WAKE_BYTES: u64 = 256 << 10;

/// Progress of a fetch.
///
/// ```
/// # fn show(progress: recoup::Progress) {
/// match progress.share() {
///     Some(share) => eprint!("\r{:.0} %", 100.0 * share),
///     None if progress.unanswered_for.is_some() => eprint!("\rno answer yet"),
///     None => eprint!("\r{} bytes", progress.bytes),
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Segments that are there, those from an earlier run included.
    pub segments: u64,
    /// Segments wanted, once the end is known.
    pub total_segments: Option<u64>,
    /// Bytes of content that are there, those from an earlier run included.
    pub bytes: u64,
    /// Bytes of content from an earlier run.
    pub held_bytes: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Congestion window in segments.
    pub window: f64,
    /// Interests sent for segments, retransmissions included.
    pub interests: u64,
    /// Transmissions that were lost.
    pub lost: u64,
    /// Whether no face leads toward producers at the moment.
    pub is_disconnected: bool,
    /// Time since the fetch began, as long as nothing has answered: no Data and no Nack. `None` after the first answer.
    pub unanswered_for: Option<Duration>,
}

impl Progress {
    /// Adds the progress of another fetch; the round trip, the window and the state of the connection are its own.
    pub(crate) fn add(&mut self, other: &Self) {
        self.segments += other.segments;
        self.bytes += other.bytes;
        self.held_bytes += other.held_bytes;
        self.interests += other.interests;
        self.lost += other.lost;
        self.srtt = other.srtt.or(self.srtt);
        self.window = if other.window > 0.0 { other.window } else { self.window };
        self.is_disconnected = other.is_disconnected;
    }

    /// The share of segments that is there, from 0 to 1, once the end is known.
    pub fn share(&self) -> Option<f64> {
        self.total_segments.map(|total| self.segments as f64 / total.max(1) as f64)
    }
}

/// Content of a segment, with its number.
pub(crate) type Piece = (u64, Bytes);

#[derive(Debug, Default)]
pub(crate) struct FlowState {
    pub(crate) pieces: VecDeque<Piece>,
    /// Bytes taken by the reader and not yet reported to the fetch loop.
    taken_bytes: u64,
    pub(crate) object: Option<Name>,
    pub(crate) metadata: Option<Box<Metadata>>,
    pub(crate) last: Option<u64>,
    /// Identifier of the content, if its producer states one and it is known.
    pub(crate) id: Option<ObjectId>,
    pub(crate) progress: Progress,
    /// The progress has changed since it was last read.
    is_news: bool,
    pub(crate) outcome: Option<Result<()>>,
    /// The figures, once there is an outcome.
    pub(crate) summary: Option<Box<FetchSummary>>,
    reader: Option<(std::task::Waker, Until)>,
}

/// Event that the reader waits for, besides the end.
#[derive(Clone, Copy, Debug)]
enum Until {
    Content,
    /// Progress, from this time on.
    News(Instant),
    End,
}

impl FlowState {
    /// The waker of the reader, if what it waits for is there.
    fn ready_reader(&mut self) -> Option<std::task::Waker> {
        let is_ready = match self.reader.as_ref()?.1 {
            _ if self.outcome.is_some() => true,
            Until::Content => !self.pieces.is_empty(),
            Until::News(at) => self.is_news && Instant::now() >= at,
            Until::End => false,
        };
        self.reader.take_if(|_| is_ready).map(|(waker, _)| waker)
    }

    /// The figures, once there is an outcome.
    pub(crate) fn summary(&self) -> FetchSummary {
        self.summary.as_deref().cloned().unwrap_or_default()
    }

    fn wait<T>(&mut self, context: &Context<'_>, until: Until) -> Poll<T> {
        self.reader = Some((context.waker().clone(), until));
        Poll::Pending
    }
}

/// Shared between the driver thread and one reader.
#[derive(Debug)]
pub(crate) struct Flow {
    state: Mutex<FlowState>,
    driver: Waker,
}

impl Flow {
    pub(crate) fn new(driver: Waker) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), driver })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, FlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // --- the driver thread ---

    /// Updates the state and wakes the reader. Returns the bytes that it took since the last time.
    pub(crate) fn update(&self, change: impl FnOnce(&mut FlowState) -> bool) -> u64 {
        let mut state = self.lock();
        let taken = std::mem::take(&mut state.taken_bytes);
        state.is_news |= change(&mut state);
        let reader = state.ready_reader();
        drop(state);
        reader.into_iter().for_each(std::task::Waker::wake);
        taken
    }

    /// The fetch loop is gone: without an outcome so far, it is that the client has stopped.
    pub(crate) fn close(&self) {
        self.update(|state| {
            let is_new = state.outcome.is_none();
            state.outcome.get_or_insert_with(|| Err(Error::stopped()));
            is_new
        });
    }

    // --- the reader ---

    /// The next piece, once it is there; `None` at the end.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Result<Option<Piece>>> {
        let mut state = self.lock();
        if let Some(piece) = self.take(&mut state) {
            return Poll::Ready(Ok(Some(piece)));
        }
        match &state.outcome {
            Some(Ok(())) => Poll::Ready(Ok(None)),
            Some(Err(error)) => Poll::Ready(Err(error.clone())),
            None => state.wait(context, Until::Content),
        }
    }

    fn take(&self, state: &mut FlowState) -> Option<Piece> {
        let piece = state.pieces.pop_front()?;
        let before = state.taken_bytes;
        state.taken_bytes += piece.1.len() as u64;
        let is_enough = before < WAKE_BYTES && state.taken_bytes >= WAKE_BYTES;
        if is_enough || state.pieces.is_empty() {
            self.driver.wake();
        }
        Some(piece)
    }

    /// Progress that is new, not before `at` unless the fetch has ended; `None` after that.
    pub(crate) fn poll_news(&self, context: &Context<'_>, at: Instant) -> Poll<Option<Progress>> {
        let mut state = self.lock();
        let is_over = state.outcome.is_some();
        if state.is_news && (is_over || Instant::now() >= at) {
            state.is_news = false;
            return Poll::Ready(Some(state.progress));
        }
        match is_over {
            true => Poll::Ready(None),
            false => state.wait(context, Until::News(at)),
        }
    }

    /// The end.
    pub(crate) fn poll_end(&self, context: &Context<'_>) -> Poll<Result<FetchSummary>> {
        let mut state = self.lock();
        match &state.outcome {
            Some(Ok(())) => Poll::Ready(Ok(state.summary())),
            Some(Err(error)) => Poll::Ready(Err(error.clone())),
            None => state.wait(context, Until::End),
        }
    }
}
