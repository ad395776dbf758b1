//! The worker threads of a forwarder, each with a driver and a shard of the tables. The main thread
//! is the first worker.
use super::part::Part;
use super::watch::Watch;
use super::workers::Blueprint;
use super::{DRAIN_TIME, log::Log, report};
use crate::error::{Exit, Failure};
use crate::session::driver_failure;
use recoup_io::capture::Capturer;
use recoup_io::driver::Driver;
use recoup_io::waker::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// A task for a worker's thread, run between two turns.
type Task = Box<dyn FnOnce(&Driver, &mut Capturer) + Send>;

/// The workers after the first one.
#[derive(Debug, Default)]
pub(super) struct WorkerPool {
    threads: Vec<WorkerThread>,
    stopping: Arc<AtomicBool>,
}

/// One worker thread.
#[derive(Debug)]
struct WorkerThread {
    thread: JoinHandle<Result<Part, Failure>>,
    tasks: Sender<Task>,
    waker: Waker,
}

impl WorkerPool {
    /// Starts threads for these drivers and nodes; the end of one wakes the first worker.
    pub(super) fn start(
        workers: impl IntoIterator<Item = (Driver, Blueprint)>,
        log: Log,
        first: &Waker,
    ) -> Result<Self, Failure> {
        let mut pool = Self::default();
        for (driver, blueprint) in workers {
            let (tasks, given) = channel();
            let (stopping, first) = (Arc::clone(&pool.stopping), first.clone());
            let waker = driver.waker();
            let work = move || {
                let done = work(driver, blueprint, &given, log, &stopping);
                first.wake();
                done
            };
            let name = format!("recoup-worker-{}", pool.threads.len() + 1);
            let thread = Builder::new().name(name).spawn(work).map_err(|error| {
                Failure::new(Exit::Other, format!("cannot start a worker: {error}"))
            })?;
            pool.threads.push(WorkerThread { thread, tasks, waker });
        }
        Ok(pool)
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Runs `read` on all workers; each answer wakes the first worker.
    pub(super) fn query<T: Send + 'static>(
        &self,
        first: &Waker,
        read: fn(&Driver, &Capturer) -> T,
    ) -> Receiver<T> {
        let (answers, answered) = channel();
        for place in 0..self.threads.len() {
            let (answers, first) = (answers.clone(), first.clone());
            self.run_on(place, move |driver, capturer| {
                // The receiver may be gone.
                let _ = answers.send(read(driver, capturer));
                first.wake();
            });
        }
        answered
    }

    /// Runs a task on one worker.
    pub(super) fn run_on(
        &self,
        place: usize,
        task: impl FnOnce(&Driver, &mut Capturer) + Send + 'static,
    ) {
        if let Some(worker) = self.threads.get(place) {
            // A worker that has ended is reported by `has_failed`.
            let _ = worker.tasks.send(Box::new(task));
            worker.waker.wake();
        }
    }

    /// Whether a worker has ended with an error.
    pub(super) fn has_failed(&self) -> bool {
        self.threads.iter().any(|worker| worker.thread.is_finished())
    }

    /// Stops all workers and returns their counters.
    pub(super) fn stop(self) -> Result<Part, Failure> {
        self.stopping.store(true, Ordering::Relaxed);
        self.threads.iter().for_each(|worker| worker.waker.wake());
        let mut all = Part::default();
        for worker in self.threads {
            let gone = |_| Failure::new(Exit::Other, "a worker has broken down");
            all.add(&worker.thread.join().map_err(gone)??);
        }
        Ok(all)
    }
}

/// Main loop of a worker.
fn work(
    mut driver: Driver,
    blueprint: Blueprint,
    tasks: &Receiver<Task>,
    log: Log,
    stopping: &AtomicBool,
) -> Result<Part, Failure> {
    let (mut capturer, mut watch) = (Capturer::new(blueprint.node()), Watch::default());
    while !stopping.load(Ordering::Relaxed) {
        let turn = driver.turn(&mut capturer, &mut |_, _, _| {});
        turn.map_err(|error| driver_failure(&error))?;
        while let Ok(task) = tasks.try_recv() {
            task(&driver, &mut capturer);
        }
        report(log, &mut watch, &mut driver, &mut capturer);
    }
    driver.finish(DRAIN_TIME);
    Ok(Part::of(&driver, &capturer))
}
