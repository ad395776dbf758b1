//! A fetch in flight, and one into a file or a writer.
use crate::client::Client;
use crate::engine::TaskId;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::flow::{Flow, Progress};
use crate::summary::FetchSummary;
use crate::wait::{block_for, block_on};
use recoup_packet::name::Name;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Time between two reports of progress at least.
pub(crate) const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A fetch in flight; dropping it cancels the fetch and withdraws its pending Interests.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) client: Client,
    pub(crate) flow: Arc<Flow>,
    pub(super) task: TaskId,
}

impl Running {
    /// Waits for the end.
    pub(crate) async fn end(&self) -> Result<FetchSummary> {
        poll_fn(|context| self.flow.poll_end(context)).await
    }

    /// Cancels the fetch, and waits for its end.
    pub(crate) async fn end_early(&self) -> Result<FetchSummary> {
        self.client.link.cancel(self.task);
        self.end().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.flow.lock().outcome.is_none() {
            self.client.link.cancel(self.task);
        }
    }
}

/// A fetch into a file or a writer, in flight: an iterator of its progress. Dropping it cancels the fetch; what has arrived
/// in a file is kept, and [`FetchBuilder::resume`](super::FetchBuilder::resume) continues it.
#[derive(Debug)]
pub struct ActiveFetch {
    running: Running,
    /// The next progress is not reported before.
    news_at: std::time::Instant,
}

impl ActiveFetch {
    pub(super) fn new(running: Running) -> Self {
        Self { running, news_at: std::time::Instant::now() }
    }

    /// Waits for the end, and reports the progress meanwhile.
    pub(super) fn reporting(
        mut self,
        report: Option<impl FnMut(Progress)>,
    ) -> Result<FetchSummary> {
        if let Some(mut report) = report {
            for progress in self.by_ref() {
                report(progress);
            }
        }
        self.finish()
    }

    pub(crate) fn flow(&self) -> &Arc<Flow> {
        &self.running.flow
    }

    /// Waits for the end, at most for this time. Returns whether the fetch has ended.
    pub fn wait_for(&self, time: Duration) -> bool {
        block_for(self.running.end(), time).is_some()
    }

    /// The name of the object with its version, once it is known.
    pub fn object(&self) -> Option<Name> {
        self.running.flow.lock().object.clone()
    }

    /// The figures, also after a failure; blank before the end.
    pub fn summary(&self) -> FetchSummary {
        self.running.flow.lock().summary()
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.running.flow.lock().progress
    }

    /// Whether the fetch has ended, with success or an error.
    pub fn has_ended(&self) -> bool {
        self.running.flow.lock().outcome.is_some()
    }

    /// Cancels the fetch, and waits until what has arrived is safe on the disk.
    ///
    /// # Errors
    /// How the fetch has ended; [`Error::partials`] is what is kept.
    pub fn cancel(&self) -> Result<FetchSummary> {
        block_on(self.end_early())
    }

    pub(crate) async fn end_early(&self) -> Result<FetchSummary> {
        self.running.end_early().await
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Those of the fetch.
    pub fn finish(self) -> Result<FetchSummary> {
        block_on(self.end())
    }

    pub(crate) async fn end(&self) -> Result<FetchSummary> {
        self.running.end().await
    }

    pub(crate) fn poll_end(&self, context: &Context<'_>) -> Poll<Result<FetchSummary>> {
        self.running.flow.poll_end(context)
    }

    pub(crate) fn poll_progress(&mut self, context: &Context<'_>) -> Poll<Option<Progress>> {
        let news = self.running.flow.poll_news(context, self.news_at);
        if news.is_ready() {
            self.news_at = std::time::Instant::now() + PROGRESS_EVERY;
        }
        news
    }
}

impl Iterator for ActiveFetch {
    type Item = Progress;

    /// Waits for progress, at most ten times a second; `None` at the end.
    fn next(&mut self) -> Option<Progress> {
        block_on(poll_fn(|context| self.poll_progress(context)))
    }
}
