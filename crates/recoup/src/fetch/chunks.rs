//! Content in order, piece by piece.
use super::Running;
use crate::error::Result;
use crate::flow::Progress;
use crate::summary::FetchSummary;
use crate::wait::block_on;
use bytes::{Buf, Bytes};
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

/// Content in order, in flight: an iterator of pieces. Dropping it cancels the fetch and withdraws its pending Interests.
#[derive(Debug)]
pub struct Chunks {
    /// `None`: there is nothing to fetch, or the range has ended.
    pub(super) running: Option<Running>,
    /// Bytes before the range.
    pub(super) skip: u64,
    /// Bytes of the range; `None`: to the end.
    pub(super) left: Option<u64>,
}

impl Chunks {
    /// The next piece, once it is there; `None` at the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>> {
        block_on(poll_fn(|context| self.poll_chunk(context)))
    }

    pub(crate) fn poll_chunk(&mut self, context: &Context<'_>) -> Poll<Result<Option<Bytes>>> {
        loop {
            let Some(running) = self.running.as_ref().filter(|_| self.left != Some(0)) else {
                return Poll::Ready(Ok(None));
            };
            let Some((_, piece)) = ready!(running.flow.poll_next(context))? else {
                return Poll::Ready(Ok(None));
            };
            if let Some(piece) = self.trim(piece) {
                return Poll::Ready(Ok(Some(piece)));
            }
        }
    }

    /// The next piece or the error that ends the iteration.
    pub(crate) fn poll_item(&mut self, context: &Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let next = ready!(self.poll_chunk(context));
        if next.is_err() {
            self.left = Some(0);
        }
        Poll::Ready(next.transpose())
    }

    fn trim(&mut self, mut piece: Bytes) -> Option<Bytes> {
        let skipped = self.skip.min(piece.len() as u64);
        piece.advance(skipped as usize);
        self.skip -= skipped;
        if let Some(left) = &mut self.left {
            piece.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= piece.len() as u64;
        }
        Some(piece).filter(|piece| !piece.is_empty())
    }

    /// How far the fetch is.
    pub fn progress(&self) -> Progress {
        self.running.as_ref().map_or_else(Progress::default, |it| it.flow.lock().progress)
    }

    /// The figures of the fetch, once it has ended well.
    pub fn summary(&self) -> Option<FetchSummary> {
        let state = self.running.as_ref()?.flow.lock();
        matches!(state.outcome, Some(Ok(()))).then(|| state.summary())
    }
}

impl Iterator for Chunks {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Result<Bytes>> {
        block_on(poll_fn(|context| self.poll_item(context)))
    }
}
