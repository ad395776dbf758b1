//! Successive results of an operation, for instance of a series of pings.
use crate::client::Client;
use crate::engine::{Engine, TaskId};
use crate::error::Result;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::task::Poll;
use std::time::Duration;

/// Results of an operation, in the order of their arrival: an iterator that waits. Dropping it ends the operation.
pub struct Arrivals<T> {
    client: Client,
    task: TaskId,
    queue: Receiver<Result<T>>,
}

impl<T> fmt::Debug for Arrivals<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrivals").field("task", &self.task).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Arrivals<T> {
    /// Queues the start of an operation, whose results leave by the sender. Its end is that of the sender.
    pub(crate) fn begin(
        client: &Client,
        start: impl FnOnce(&mut Engine, TaskId, Sender<Result<T>>) + Send + 'static,
    ) -> Result<Self> {
        let (sender, queue) = channel();
        let task = client.link.begin(move |engine, task| start(engine, task, sender))?;
        Ok(Self { client: client.clone(), task, queue })
    }
}

impl<T> Arrivals<T> {
    /// The next result, if it comes within this time; `Ready(None)` at the end.
    pub fn next_within(&mut self, time: Duration) -> Poll<Option<Result<T>>> {
        match self.queue.recv_timeout(time) {
            Ok(result) => Poll::Ready(Some(result)),
            Err(RecvTimeoutError::Timeout) => Poll::Pending,
            Err(RecvTimeoutError::Disconnected) => Poll::Ready(None),
        }
    }
}

impl<T> Iterator for Arrivals<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        self.queue.recv().ok()
    }
}

impl<T> Drop for Arrivals<T> {
    fn drop(&mut self) {
        self.client.link.cancel(self.task);
    }
}
