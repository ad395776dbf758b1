//! The driver thread: it owns the sockets and the node, and runs the operations of all handles of one client.
use crate::error::{Error, ErrorKind, Result};
use crate::macroflows::Macroflows;
use crate::session::Session;
use crate::uplink::Uplink;
use recoup_forwarder::face::{Agreement, AppId, FaceId};
use recoup_io::face::{FaceEvent, FaceUri};
use recoup_io::waker::Waker;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, Application, Report};
use recoup_transport::fetch::{FetchConfig, Macroflow};
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle, ThreadId};

/// Commands that may be queued; a caller waits while the queue is full.
const COMMANDS: usize = 256;
/// Longest interval between two checks of peers that reject datagrams, while an operation is in flight.
const LONGEST_WAIT: Duration = Duration::from_millis(200);
/// Names of which the producer is remembered, where there is no forwarder.
const LOCATED: usize = 1_024;
/// Time for the last packets to leave when a client ends.
const CLOSING: Duration = Duration::from_millis(500);

/// A command for the driver thread.
pub(crate) type Command = Box<dyn FnOnce(&mut Engine) + Send>;

/// Number of an operation, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId(u64);

/// The numbers that operations of one client get.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskIds(Arc<AtomicU64>);

impl TaskIds {
    pub(crate) fn next(&self) -> TaskId {
        TaskId(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// An operation in flight: the owner of one application of the node.
pub(crate) trait Task {
    /// A report of the application.
    fn report(&mut self, now: Instant, report: Report);
    /// A wake-up is over. Returns the bytes that the reader took since the last one.
    fn flush(&mut self, _session: &Session) -> u64 {
        0
    }
    /// The operation has ended, and its application is detached.
    fn has_ended(&self) -> bool;
    /// The driver cannot go on, or no peer can be reached.
    fn fail(&mut self, error: &Error);
    /// No peer can be reached at the face toward it; the operation goes on.
    fn lose_peer(&mut self, _error: &Error) {}
    /// The owner has lost interest.
    fn cancel(&mut self) {}
    /// Whether it shares the receive capacity of the face, and ends if no peer can be reached.
    fn is_consumer(&self) -> bool {
        false
    }
    /// The client waits for its end before it closes the faces.
    fn delays_closing(&self) -> bool {
        false
    }
}

struct Running {
    id: TaskId,
    task: Box<dyn Task>,
}

/// A change of a client's faces.
#[derive(Clone, Debug)]
pub enum LinkEvent {
    /// A face has gone up or down.
    Face(FaceEvent),
    /// The link of the face toward producers begins or ends to recover losses.
    Recovery(Agreement, String),
}

impl fmt::Display for LinkEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Face(event) => event.fmt(f),
            Self::Recovery(agreement, face) => write!(f, "link recovery {agreement} at {face}"),
        }
    }
}

/// Called with each change of the faces.
pub(crate) type LinkCallback = Box<dyn FnMut(&LinkEvent) + Send>;

/// The observer of a client's faces, and the flag that stops it.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) stop: Option<Arc<AtomicBool>>,
    pub(crate) on_link: Option<LinkCallback>,
}

/// The state of the driver thread.
pub(crate) struct Engine {
    pub(crate) session: Session,
    pub(crate) uplink: Uplink,
    macroflows: Macroflows,
    pub(crate) ids: TaskIds,
    tasks: BTreeMap<AppId, Running>,
    /// Without a forwarder: faces toward producers of this machine.
    direct: HashMap<FaceUri, FaceId>,
    /// Without a forwarder: names of which the producer was located, oldest first.
    located: VecDeque<(Name, FaceId)>,
    /// Prefixes of the producers of this client.
    served: Vec<(TaskId, Name)>,
    /// Without a forwarder: the face where producers of this client listen.
    listening: Option<FaceUri>,
    watch: Watch,
    /// The last report of the link toward producers.
    agreement: Agreement,
    /// The face toward producers is open, or none is needed.
    is_connected: bool,
}

impl Engine {
    pub(crate) fn new(mut session: Session, uplink: Uplink, watch: Watch) -> Self {
        if watch.on_link.is_some() {
            session.keep_events();
        }
        Self {
            watch,
            agreement: Agreement::Off,
            is_connected: uplink.is_alone() || uplink.is_direct && !uplink.is_located,
            session,
            uplink,
            macroflows: Macroflows::default(),
            ids: TaskIds::default(),
            tasks: BTreeMap::new(),
            direct: HashMap::new(),
            located: VecDeque::new(),
            served: Vec::new(),
            listening: None,
        }
    }

    /// Opens the face toward producers, unless it is open.
    pub(crate) fn open_uplink(&mut self) -> Result<()> {
        if !self.is_connected {
            self.session.open(&self.uplink.uri).map_err(|error| self.uplink.explain(error))?;
            self.is_connected = true;
        }
        Ok(())
    }

    /// Starts the operation `id`.
    pub(crate) fn start(
        &mut self,
        id: TaskId,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
        task: Box<dyn Task>,
    ) {
        let is_consumer = task.is_consumer();
        let app = self.session.attach(application, prefixes);
        self.tasks.insert(app, Running { id, task });
        if is_consumer {
            self.share();
        }
    }

    /// The macroflow of a fetch of an object below `prefix`.
    pub(crate) fn macroflow(&mut self, prefix: &Name, config: &FetchConfig) -> Macroflow {
        let leads = |(located, _): &&(Name, FaceId)| located.is_prefix_of(&config.name);
        let located = self.located.iter().filter(leads).max_by_key(|(located, _)| located.len());
        self.macroflows.find(located.map(|(_, face)| *face), prefix, config)
    }

    /// Hands the application of an operation an input, if it is still in operation.
    #[cfg(feature = "tokio")]
    pub(crate) fn deliver(&mut self, id: TaskId, input: AppInput) {
        if let Some((app, _)) = self.tasks.iter().find(|(_, running)| running.id == id) {
            self.session.deliver(*app, input);
        }
    }

    /// Cancels an operation: its application is detached, and its pending Interests are withdrawn.
    pub(crate) fn cancel(&mut self, id: TaskId) {
        self.served.retain(|(task, _)| *task != id);
        let found = self.tasks.iter().find(|(_, running)| running.id == id);
        if let Some(app) = found.map(|(app, _)| *app) {
            if let Some(running) = self.tasks.get_mut(&app) {
                running.task.cancel();
            }
            self.end(app);
        }
    }

    /// Without a forwarder, Interests below `name` go to the producer at `uri`.
    pub(crate) fn route_directly(&mut self, name: &Name, uri: &FaceUri) -> Result<()> {
        let face = match self.direct.get(uri) {
            Some(face) => *face,
            None => {
                let face = self.session.open(uri)?;
                self.direct.insert(uri.clone(), face);
                // Certificates have other prefixes than the content.
                self.session.route(&Name::root(), face, true);
                face
            }
        };
        if let Some(known) = self.located.iter().position(|(known, _)| known == name)
            && let Some((_, before)) = self.located.remove(known)
            && before != face
        {
            self.session.route(name, before, false);
        }
        self.session.route(name, face, true);
        self.located.push_back((name.clone(), face));
        if self.located.len() > LOCATED
            && let Some((oldest, face)) = self.located.pop_front()
        {
            self.session.route(&oldest, face, false);
        }
        Ok(())
    }

    /// A producer of this client answers Interests below `name`.
    pub(crate) fn serves(&self, name: &Name) -> bool {
        self.served.iter().any(|(_, prefix)| prefix.is_prefix_of(name))
    }

    /// Notes the prefix of a producer of this client.
    pub(crate) fn note_served(&mut self, task: TaskId, prefix: Name) {
        self.served.push((task, prefix));
    }

    /// Without a forwarder, producers of this client listen here.
    pub(crate) fn listen_directly(&mut self) -> Result<FaceUri> {
        if let Some(uri) = &self.listening {
            return Ok(uri.clone());
        }
        let uri = self.session.listen_directly()?.uri;
        self.listening = Some(uri.clone());
        Ok(uri)
    }

    fn end(&mut self, app: AppId) {
        self.session.detach(app);
        if self.tasks.remove(&app).is_some_and(|running| running.task.is_consumer()) {
            self.share();
        }
    }

    /// Fetches share what the receiving side of the face can hold.
    fn share(&mut self) {
        let is_consumer =
            |(app, running): (&AppId, &Running)| running.task.is_consumer().then_some(*app);
        let consumers: Vec<_> = self.tasks.iter().filter_map(is_consumer).collect();
        let among = consumers.len() as u64;
        for app in consumers {
            self.session.deliver(app, AppInput::Shared { among });
        }
    }

    /// Handles one wake-up.
    fn turn(&mut self) -> Result<()> {
        let wait = (!self.tasks.is_empty()).then_some(LONGEST_WAIT);
        self.session.driver.set_longest_wait(wait);
        let Self { session, tasks, .. } = self;
        let turned = session.turn(&mut |now, app, report| {
            if let Some(running) = tasks.get_mut(&app) {
                running.task.report(now, report);
            }
        });
        match turned {
            Err(error) if error.is_unreachable() => {
                tracing::warn!(%error, "no peer can be reached");
                self.session.forget_unreachable();
                self.tasks.values_mut().for_each(|running| running.task.lose_peer(&error));
                self.fail_consumers(&error);
            }
            turned => turned?,
        }
        if self.watch.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            self.fail_consumers(&Error::cancelled());
        }
        self.report_link();
        self.flush();
        Ok(())
    }

    fn report_link(&mut self) {
        let Some(report) = &mut self.watch.on_link else {
            return;
        };
        while let Some(event) = self.session.next_event() {
            report(&LinkEvent::Face(event));
        }
        let agreement = self.session.link_recovery();
        if self.agreement != agreement {
            self.agreement = agreement;
            let face = self.session.upstream_uri().unwrap_or_default();
            report(&LinkEvent::Recovery(agreement, face));
        }
    }

    fn flush(&mut self) {
        let mut ended = Vec::new();
        let mut consumed = Vec::new();
        for (app, running) in &mut self.tasks {
            let bytes = running.task.flush(&self.session);
            if running.task.has_ended() {
                ended.push(*app);
            } else if bytes > 0 {
                consumed.push((*app, bytes));
            }
        }
        for (app, bytes) in consumed {
            self.session.deliver(app, AppInput::Consumed { bytes });
        }
        ended.into_iter().for_each(|app| self.end(app));
    }

    fn fail_consumers(&mut self, error: &Error) {
        let consumers = self.tasks.values_mut().filter(|running| running.task.is_consumer());
        consumers.for_each(|running| running.task.fail(error));
    }

    /// The client ends: commands to a forwarder and the last answers leave, then all faces are closed.
    fn close(&mut self, error: &Error) {
        self.tasks.values_mut().for_each(|running| match running.task.delays_closing() {
            true => {}
            false => running.task.fail(error),
        });
        self.flush();
        let end = self.session.driver.now() + CLOSING;
        while !self.tasks.is_empty() && self.session.driver.now() < end && self.turn().is_ok() {}
        self.session.driver.finish(CLOSING);
    }
}

/// The way of all handles to the driver thread. The thread ends with the last of them.
#[derive(Debug)]
pub(crate) struct Link {
    commands: Option<SyncSender<Command>>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
    /// The process that has the thread. A process forked from it has none.
    process: u32,
    ids: TaskIds,
}

impl Link {
    /// Starts the thread, and waits until `make` has made its engine there.
    pub(crate) fn start(make: impl FnOnce() -> Result<Engine> + Send + 'static) -> Result<Self> {
        let (commands, queue) = sync_channel::<Command>(COMMANDS);
        let (made, answer) = sync_channel(1);
        let thread = thread::Builder::new().name("recoup".into()).spawn(move || match make() {
            Ok(engine) => {
                let _ = made.send(Ok((engine.session.driver.waker(), engine.ids.clone())));
                run(engine, &queue);
            }
            Err(error) => {
                let _ = made.send(Err(error));
            }
        });
        let thread = thread.map_err(|error| {
            Error::new(ErrorKind::Other, format!("cannot start a thread: {error}"))
        })?;
        let (waker, ids) = answer.recv().map_err(|_| Error::stopped())??;
        let id = thread.thread().id();
        let process = std::process::id();
        Ok(Self { commands: Some(commands), waker, thread: Some(thread), id, process, ids })
    }

    /// Queues a command.
    pub(crate) fn post(&self, command: Command) -> Result<()> {
        let commands = self.commands.as_ref().ok_or_else(Error::stopped)?;
        let sent = match self.is_own_thread() {
            // The thread cannot wait for itself.
            true => commands.try_send(command).map_err(|_| ()),
            false => commands.send(command).map_err(|_| ()),
        };
        sent.map_err(|()| Error::stopped())?;
        self.waker.wake();
        Ok(())
    }

    /// Runs `what` in the driver thread, and waits for its result.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Engine) -> T + Send + 'static,
    ) -> Result<T> {
        self.reject_own_thread()?;
        let (sender, answer) = sync_channel(1);
        self.post(Box::new(move |engine| {
            let _ = sender.send(what(engine));
        }))?;
        answer.recv().map_err(|_| Error::stopped())
    }

    /// Queues the start of an operation. Returns its number at once: `start` is given the number when the thread comes to it.
    pub(crate) fn begin(
        &self,
        start: impl FnOnce(&mut Engine, TaskId) + Send + 'static,
    ) -> Result<TaskId> {
        self.reject_own_thread()?;
        let id = self.ids.next();
        self.post(Box::new(move |engine| start(engine, id)))?;
        Ok(id)
    }

    /// Queues the cancellation of an operation; one that has ended already is left alone.
    pub(crate) fn cancel(&self, id: TaskId) {
        let _ = self.post(Box::new(move |engine| engine.cancel(id)));
    }

    fn reject_own_thread(&self) -> Result<()> {
        match self.is_own_thread() {
            false => Ok(()),
            true => Err(Error::usage("a callback of the client cannot wait for the client")
                .with_remedy("do it from another thread")),
        }
    }

    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }

    fn is_own_thread(&self) -> bool {
        thread::current().id() == self.id
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The thread and the sockets are the parent's: joining it would never end.
            std::mem::forget((self.commands.take(), self.thread.take()));
            return;
        }
        self.commands = None;
        self.waker.wake();
        if let Some(thread) = self.thread.take().filter(|_| !self.is_own_thread()) {
            let _ = thread.join();
        }
    }
}

fn run(mut engine: Engine, queue: &Receiver<Command>) {
    loop {
        match queue.try_recv() {
            Ok(command) => command(&mut engine),
            Err(TryRecvError::Disconnected) => return engine.close(&Error::stopped()),
            Err(TryRecvError::Empty) => {
                if let Err(error) = engine.turn() {
                    tracing::error!(%error, "the driver cannot go on");
                    return engine.close(&error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::interest::Interest;
    use recoup_transport::application::AppOutput;
    use recoup_transport::random::Rng;
    use std::net::UdpSocket;

    /// Sends one Interest.
    struct Sender(Option<Interest>);

    impl Application for Sender {
        fn handle(&mut self, _: Instant, _: AppInput) {}

        fn poll(&mut self, _: Instant) -> Option<AppOutput> {
            self.0.take().map(|interest| AppOutput::Interest(Arc::new(interest)))
        }

        fn deadline(&self) -> Option<Instant> {
            self.0.is_some().then_some(Instant::ZERO)
        }
    }

    #[test]
    fn located_producer_receives_interests_for_certificates() {
        let producer = UdpSocket::bind("127.0.0.1:0").unwrap();
        producer.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let uri = format!("udp4://{}", producer.local_addr().unwrap()).parse().unwrap();
        let session = Session::new(Rng::from_seed(1), true, true).unwrap();
        let mut engine = Engine::new(session, Uplink::alone(), Watch::default());
        engine.route_directly(&"/site/article".parse().unwrap(), &uri).unwrap();
        let interest = Interest::new("/site/author/KEY/1".parse().unwrap());
        engine.session.attach(Box::new(Sender(Some(interest))), Vec::new());
        engine.session.driver.set_longest_wait(Some(Duration::from_millis(10)));
        for _ in 0..10 {
            engine.session.turn(&mut |_, _, _| {}).unwrap();
        }
        let mut frame = [0; 1_000];
        let length = producer.recv(&mut frame).expect("an Interest");
        assert!(frame[..length].windows(3).any(|window| window == b"KEY"));
    }
}
