//! The other workers of a forwarder: a thread each, with a driver and a part of the tables. The main thread is the first worker.
use super::part::Part;
use super::watch::Watch;
use super::workers::Blueprint;
use super::{FAREWELL, log::Log, tell};
use crate::error::{Exit, Failure};
use crate::session::driver_failure;
use recoup_io::capture::Capturer;
use recoup_io::driver::Driver;
use recoup_io::waker::Waker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Something that is done between two turns of a worker, by its thread.
type Task = Box<dyn FnOnce(&Driver, &mut Capturer) + Send>;

/// The other workers, none for a forwarder that is alone.
#[derive(Debug, Default)]
pub(super) struct Crew {
    mates: Vec<Mate>,
    stopping: Arc<AtomicBool>,
}

/// One of them.
#[derive(Debug)]
struct Mate {
    thread: JoinHandle<Result<Part, Failure>>,
    tasks: Sender<Task>,
    waker: Waker,
}

impl Crew {
    /// Starts threads for these drivers and nodes; when one of them ends, the first worker is woken.
    pub(super) fn start(
        workers: impl IntoIterator<Item = (Driver, Blueprint)>,
        log: Log,
        first: &Waker,
    ) -> Result<Self, Failure> {
        let mut crew = Self::default();
        for (driver, blueprint) in workers {
            let (tasks, given) = channel();
            let (stopping, first) = (Arc::clone(&crew.stopping), first.clone());
            let waker = driver.waker();
            let work = move || {
                let done = work(driver, blueprint, &given, log, &stopping);
                first.wake();
                done
            };
            let name = format!("recoup-worker-{}", crew.mates.len() + 1);
            let thread = Builder::new().name(name).spawn(work).map_err(|error| {
                Failure::new(Exit::Other, format!("cannot start a worker: {error}"))
            })?;
            crew.mates.push(Mate { thread, tasks, waker });
        }
        Ok(crew)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.mates.len()
    }

    /// Has all of them say something, which wakes the first worker.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        first: &Waker,
        say: fn(&Driver, &Capturer) -> T,
    ) -> Receiver<T> {
        let (answers, answered) = channel();
        for place in 0..self.mates.len() {
            let (answers, first) = (answers.clone(), first.clone());
            self.have(place, move |driver, capturer| {
                // Nobody may want to know it any more.
                let _ = answers.send(say(driver, capturer));
                first.wake();
            });
        }
        answered
    }

    /// Has one of them do something.
    pub(super) fn have(
        &self,
        place: usize,
        task: impl FnOnce(&Driver, &mut Capturer) + Send + 'static,
    ) {
        if let Some(mate) = self.mates.get(place) {
            // One that has ended is noticed elsewhere.
            let _ = mate.tasks.send(Box::new(task));
            mate.waker.wake();
        }
    }

    /// Whether one of them cannot go on.
    pub(super) fn has_failed(&self) -> bool {
        self.mates.iter().any(|mate| mate.thread.is_finished())
    }

    /// Ends all of them; what they did.
    pub(super) fn stop(self) -> Result<Part, Failure> {
        self.stopping.store(true, Ordering::Relaxed);
        self.mates.iter().for_each(|mate| mate.waker.wake());
        let mut all = Part::default();
        for mate in self.mates {
            let gone = |_| Failure::new(Exit::Other, "a worker has broken down");
            all.add(&mate.thread.join().map_err(gone)??);
        }
        Ok(all)
    }
}

/// What a worker does until it is told to stop.
fn work(
    mut driver: Driver,
    blueprint: Blueprint,
    tasks: &Receiver<Task>,
    log: Log,
    stopping: &AtomicBool,
) -> Result<Part, Failure> {
    let (mut capturer, mut watch) = (Capturer::new(blueprint.node()?), Watch::default());
    while !stopping.load(Ordering::Relaxed) {
        let turn = driver.turn(&mut capturer, &mut |_, _, _| {});
        turn.map_err(|error| driver_failure(&error))?;
        while let Ok(task) = tasks.try_recv() {
            task(&driver, &mut capturer);
        }
        tell(log, &mut watch, &mut driver, &mut capturer);
    }
    driver.finish(FAREWELL);
    Ok(Part::of(&driver, &capturer))
}
