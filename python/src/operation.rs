//! Operations in flight: futures of the library, run by one background thread, waited for from Python.
use crate::error::raised;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use recoup::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::AbortHandle;

/// How long a wait goes on before signals such as Ctrl-C are looked for.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Makes the Python value of a result.
type Answer = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// An operation in flight.
///
/// An operation has one result, for one caller. Dropping it does not cancel it; `cancel` does.
#[pyclass(frozen, module = "recoup._native")]
pub(crate) struct Operation {
    shared: Arc<Shared>,
    abort: AbortHandle,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    has_ended: Condvar,
}

#[derive(Default)]
struct State {
    has_ended: bool,
    outcome: Option<Result<Answer, Failure>>,
    callbacks: Vec<Py<PyAny>>,
}

/// Why an operation has no result.
pub(crate) enum Failure {
    /// The library reported it.
    Library(Error),
    /// A Python class or function has raised this.
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, outcome: Result<Answer, Failure>) {
        let mut state = self.lock();
        if state.has_ended {
            return;
        }
        (state.has_ended, state.outcome) = (true, Some(outcome));
        let callbacks = std::mem::take(&mut state.callbacks);
        drop(state);
        self.has_ended.notify_all();
        if !callbacks.is_empty() {
            // Without an interpreter, at the end of the process, no thread waits any more.
            let _ = Python::try_attach(|py| callbacks.iter().for_each(|it| call(py, it)));
        }
    }
}

fn call(py: Python<'_>, callback: &Py<PyAny>) {
    if let Err(error) = callback.call0(py) {
        error.write_unraisable(py, Some(callback.bind(py)));
    }
}

impl Operation {
    /// Starts an operation; `convert` makes the Python value of its result.
    pub(crate) fn start<T: Send + 'static>(
        future: impl Future<Output = Result<T, Failure>> + Send + 'static,
        convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Self> {
        let shared = Arc::new(Shared::default());
        let outcome = Arc::clone(&shared);
        let task = runtime()?.spawn(async move {
            let result = future.await;
            outcome.finish(result.map(|it| -> Answer { Box::new(move |py| convert(py, it)) }));
        });
        Ok(Self { shared, abort: task.abort_handle() })
    }
}

#[pymethods]
impl Operation {
    /// Waits for the result without the interpreter lock; a signal handler that raises cancels the operation.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        loop {
            py.detach(|| {
                let state = self.shared.lock();
                if !state.has_ended {
                    drop(self.shared.has_ended.wait_timeout(state, SIGNALS_EVERY));
                }
            });
            if let Err(raised) = py.check_signals() {
                self.cancel(py);
                return Err(raised);
            }
            if self.done() {
                return self.take(py);
            }
        }
    }

    /// The result of an operation that has ended. It can be taken once.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.shared.lock().outcome.take() {
            Some(Ok(answer)) => answer(py),
            Some(Err(Failure::Library(error))) => Err(raised(py, &error)),
            Some(Err(Failure::Python(error))) => Err(error),
            None => Err(PyRuntimeError::new_err("the operation has no result to take")),
        }
    }

    /// Whether it has ended.
    fn done(&self) -> bool {
        self.shared.lock().has_ended
    }

    /// Calls `callback` without arguments when it has ended, from a background thread; at once if it has.
    fn add_done_callback(&self, py: Python<'_>, callback: Py<PyAny>) {
        let mut state = self.shared.lock();
        if state.has_ended {
            drop(state);
            call(py, &callback);
        } else {
            state.callbacks.push(callback);
        }
    }

    /// Cancels it: pending Interests are withdrawn.
    fn cancel(&self, py: Python<'_>) {
        self.abort.abort();
        let error = Error::new(ErrorKind::Cancelled, "the operation was cancelled");
        py.detach(|| self.shared.finish(Err(error.into())));
    }
}

/// The runtime of this process. A child process gets its own: threads do not survive a fork.
fn runtime() -> PyResult<Handle> {
    static RUNTIMES: Mutex<BTreeMap<u32, Runtime>> = Mutex::new(BTreeMap::new());
    let mut runtimes = RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(runtime) = runtimes.get(&process) {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(16)
        .thread_name("recoup-python")
        .build()?;
    let handle = runtime.handle().clone();
    runtimes.insert(process, runtime);
    Ok(handle)
}
