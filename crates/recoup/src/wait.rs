//! Waiting for the driver thread: a result that it delivers, and a thread that waits for a future.
use crate::client::Client;
use crate::engine::{Engine, TaskId};
use crate::error::{Error, Result};
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Wakes a thread that is parked.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls `future` in this thread until it is ready; `park` waits in between, unless it is time to give up.
fn poll_until<F: Future>(future: F, mut park: impl FnMut() -> bool) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending if !park() => return None,
            Poll::Pending => {}
        }
    }
}

/// Waits for `future` in this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        let waiting = poll_until(future.as_mut(), || {
            thread::park();
            true
        });
        if let Some(output) = waiting {
            return output;
        }
    }
}

/// Waits for `future` in this thread, at most for `time`.
pub(crate) fn block_for<F: Future>(future: F, time: Duration) -> Option<F::Output> {
    let until = Instant::now() + time;
    poll_until(future, || {
        let left = until.saturating_duration_since(Instant::now());
        thread::park_timeout(left);
        !left.is_zero()
    })
}

struct Slot<T> {
    result: Option<Result<T>>,
    waker: Option<Waker>,
}

/// The driver thread's end of one result. Dropped without one, it delivers that the client has stopped.
pub(crate) struct Promise<T>(Arc<Mutex<Slot<T>>>);

impl<T> Promise<T> {
    /// Delivers the result, unless there is one already.
    pub(crate) fn put(&self, result: Result<T>) {
        let mut slot = lock(&self.0);
        slot.result.get_or_insert(result);
        let waker = slot.waker.take();
        drop(slot);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.put(Err(Error::stopped()));
    }
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An operation in flight that delivers one result. Dropping it cancels the operation.
pub(crate) struct Pending<T> {
    client: Client,
    task: TaskId,
    slot: Arc<Mutex<Slot<T>>>,
    has_ended: bool,
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("task", &self.task).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Pending<T> {
    /// Queues the start of an operation, which delivers its result by the promise.
    pub(crate) fn begin(
        client: &Client,
        start: impl FnOnce(&mut Engine, TaskId, Promise<T>) + Send + 'static,
    ) -> Result<Self> {
        let slot = Arc::new(Mutex::new(Slot { result: None, waker: None }));
        let promise = Promise(Arc::clone(&slot));
        let task = client.link.begin(move |engine, task| start(engine, task, promise))?;
        Ok(Self { client: client.clone(), task, slot, has_ended: false })
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut slot = lock(&self.slot);
        let Some(result) = slot.result.take() else {
            slot.waker = Some(context.waker().clone());
            return Poll::Pending;
        };
        drop(slot);
        self.has_ended = true;
        Poll::Ready(result)
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.client.link.cancel(self.task);
        }
    }
}
