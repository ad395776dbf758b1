//! Content on its way from the driver thread to its reader. The fetch loop bounds what waits here: it sends no further
//! Interests until the reader has taken content.
use crate::error::{Error, Result};
use crate::summary::FetchSummary;
use bytes::Bytes;
use recoup_io::waker::Waker;
use recoup_packet::name::Name;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// So many bytes are taken before the driver thread is woken to send further Interests, unless nothing is left.
const WAKE_BYTES: u64 = 256 << 10;

/// How far a fetch is.
///
/// ```
/// # fn show(progress: recoup::Progress) {
/// match progress.share() {
///     Some(share) => eprint!("\r{:.0} %", 100.0 * share),
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
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Congestion window in segments.
    pub window: f64,
    /// Transmissions that were lost.
    pub lost: u64,
    /// There is no face toward producers at the moment.
    pub is_disconnected: bool,
}

impl Progress {
    /// The share of segments that is there, from 0 to 1, once the end is known.
    pub fn share(&self) -> Option<f64> {
        self.total_segments.map(|total| self.segments as f64 / total.max(1) as f64)
    }
}

/// One segment's content.
pub(crate) type Piece = (u64, Bytes);

#[derive(Debug, Default)]
pub(crate) struct FlowState {
    pub(crate) pieces: VecDeque<Piece>,
    /// Bytes that the reader took and the fetch loop was not told of.
    taken_bytes: u64,
    pub(crate) object: Option<Name>,
    pub(crate) last: Option<u64>,
    pub(crate) progress: Progress,
    /// The progress has changed since it was last read.
    is_news: bool,
    pub(crate) outcome: Option<Result<FetchSummary>>,
}

/// Shared between the driver thread and one reader.
#[derive(Debug)]
pub(crate) struct Flow {
    state: Mutex<FlowState>,
    changed: Condvar,
    driver: Waker,
}

impl Flow {
    pub(crate) fn new(driver: Waker) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: Condvar::new(), driver })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, FlowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // --- the driver thread ---

    /// Updates the state and wakes the reader. Returns the bytes that it took since the last time.
    pub(crate) fn update(&self, change: impl FnOnce(&mut FlowState) -> bool) -> u64 {
        let mut state = self.lock();
        let taken = std::mem::take(&mut state.taken_bytes);
        if change(&mut state) {
            state.is_news = true;
            drop(state);
            self.changed.notify_all();
        }
        taken
    }

    // --- the reader ---

    /// The next piece, once it is there; `None` at the end.
    pub(crate) fn next(&self) -> Result<Option<Piece>> {
        let mut state = self.lock();
        loop {
            if let Some(piece) = self.take(&mut state) {
                return Ok(Some(piece));
            }
            match &state.outcome {
                Some(Ok(_)) => return Ok(None),
                Some(Err(error)) => return Err(error.clone()),
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
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

    /// Waits for the end, at most for `wait`. Returns the progress if it has changed, and whether the end has come.
    pub(crate) fn wait_for_news(&self, wait: Duration) -> (Option<Progress>, bool) {
        let state = self.lock();
        let waits = |state: &mut FlowState| state.outcome.is_none();
        let waited = self.changed.wait_timeout_while(state, wait, waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let is_news = std::mem::take(&mut state.is_news);
        (is_news.then_some(state.progress), state.outcome.is_some())
    }

    /// Waits for the end.
    pub(crate) fn wait(&self) -> Result<FetchSummary> {
        let waits = |state: &mut FlowState| state.outcome.is_none();
        let waited = self.changed.wait_while(self.lock(), waits);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        state.outcome.clone().unwrap_or_else(|| Err(Error::stopped()))
    }

    /// Waits until `read` finds something, or the end.
    pub(crate) fn wait_until<T>(
        &self,
        read: impl Fn(&FlowState) -> Option<T>,
    ) -> Result<Option<T>> {
        let waits = |state: &mut FlowState| state.outcome.is_none() && read(state).is_none();
        let waited = self.changed.wait_while(self.lock(), waits);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        match (read(&state), &state.outcome) {
            (Some(found), _) => Ok(Some(found)),
            (None, Some(Err(error))) => Err(error.clone()),
            (None, _) => Ok(None),
        }
    }
}
