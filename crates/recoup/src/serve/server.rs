//! A server in operation: its figures, its registration, and where it is reachable.
use crate::client::Client;
use crate::engine::{Engine, Task, TaskId};
use crate::error::{Error, Result};
use crate::serve::{Notice, NoticeCallback, Observer, check_scope, scope_warning};
use crate::uplink::Uplink;
use recoup_io::face::FaceUri;
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::Signer;
use recoup_transport::application::{Application, Report};
use recoup_transport::event::Event;
use recoup_transport::management::{ControlParameters, Inquiry, InquiryConfig, Question, Verb};
use recoup_transport::time::Instant;
use serde::Serialize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Figures of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServeSummary {
    /// Interests answered, rejected or ignored.
    pub interests: u64,
    /// Interests that were answered with content.
    pub segments: u64,
    /// Bytes of content sent.
    pub bytes: u64,
    /// Interests for the version that were answered.
    pub metadata: u64,
    /// Interests for names that are not served.
    pub unknown: u64,
    /// Signatures that were made for segments.
    pub signatures_made: u64,
    /// Signatures that were there from before.
    pub signatures_reused: u64,
    /// Versions that ended because their content changed.
    pub versions_ended: u64,
}

impl ServeSummary {
    fn count(&mut self, event: &Event) {
        use Event::{Served, ServedMetadata, Unknown};
        self.interests += u64::from(matches!(event, Served { .. } | ServedMetadata | Unknown));
        match *event {
            Event::Served { content_bytes, signed } => {
                self.segments += 1;
                self.bytes += u64::from(content_bytes);
                self.signatures_made += u64::from(signed);
                self.signatures_reused += u64::from(!signed);
            }
            Event::ServedMetadata => self.metadata += 1,
            Event::Unknown => self.unknown += 1,
            Event::SourceEnded => self.versions_ended += 1,
            _ => {}
        }
    }
}

/// Where consumers reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// At its own listeners.
    Listeners(Vec<FaceUri>),
    /// Through a forwarder, by the face toward it.
    Forwarder {
        /// The face.
        face: FaceUri,
        /// The face is configured, so that consumers of this machine use it by default.
        is_default: bool,
    },
    /// At a port where consumers of this machine look for it, as there is no forwarder.
    DirectPort(FaceUri),
    /// By consumers of the same client only.
    Client,
}

impl Endpoint {
    /// The faces.
    pub fn faces(&self) -> &[FaceUri] {
        match self {
            Self::Listeners(faces) => faces,
            Self::Forwarder { face, .. } | Self::DirectPort(face) => std::slice::from_ref(face),
            Self::Client => &[],
        }
    }
}

/// Shared between a server and its owner in the driver thread.
#[derive(Debug, Default)]
struct Shared {
    summary: ServeSummary,
    error: Option<Error>,
}

/// A server in operation. Dropping it ends it, and withdraws its registration.
///
/// ```
/// # let client = recoup::Client::builder().alone().connect()?;
/// let server = client.serve("/greeting").bytes("hello")?;
/// client.get("/greeting")?;
/// assert_eq!(server.summary().bytes, 5);
/// # Ok::<(), recoup::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    client: Client,
    name: Name,
    endpoint: Endpoint,
    faces: Vec<String>,
    shared: Arc<Mutex<Shared>>,
    task: TaskId,
    registration: Option<(TaskId, Name, Uplink)>,
}

impl Server {
    /// The name of what is served, with its version where it has one.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The faces at which it can be reached: its listeners, or the forwarder's face.
    pub fn faces(&self) -> &[String] {
        &self.faces
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn task(&self) -> TaskId {
        self.task
    }

    /// Where it can be reached.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Counts so far.
    pub fn summary(&self) -> ServeSummary {
        lock(&self.shared).summary
    }

    /// The first failure since the start: the forwarder is gone, or rejects datagrams, or the client has stopped. `None` while
    /// there was none. A server goes on serving other faces after it.
    pub fn error(&self) -> Option<Error> {
        lock(&self.shared).error.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Server {
    fn drop(&mut self) {
        let (task, registration) = (self.task, self.registration.take());
        let rng = self.client.rng();
        let _ = self.client.link.post(Box::new(move |engine| {
            engine.cancel(task);
            if let (Some((registration, prefix, uplink)), Ok(rng)) = (registration, rng) {
                engine.cancel(registration);
                if let Ok(signer) = uplink.signer() {
                    withdraw(engine, prefix, signer, rng);
                }
            }
        }));
    }
}

/// Sends the forwarder the command to remove the route.
fn withdraw(
    engine: &mut Engine,
    prefix: Name,
    signer: Box<dyn Signer>,
    rng: recoup_transport::random::Rng,
) {
    let parameters = ControlParameters { name: Some(prefix), ..ControlParameters::default() };
    let question = Question::Command {
        scope: engine.uplink.scope(),
        verb: Verb::RibUnregister,
        parameters: Box::new(parameters),
    };
    let inquiry = Inquiry::new(InquiryConfig {
        question,
        signer,
        time_of_day: engine.session.driver.time_of_day(),
        rng,
    });
    let task = engine.ids.next();
    engine.start(task, Box::new(inquiry), Vec::new(), Box::new(Withdrawal { has_ended: false }));
}

/// Waits for a forwarder to remove a route.
struct Withdrawal {
    has_ended: bool,
}

impl Task for Withdrawal {
    fn report(&mut self, _now: Instant, report: Report) {
        self.has_ended |= matches!(report, Report::Managed(_));
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, _error: &Error) {
        self.has_ended = true;
    }

    fn delays_closing(&self) -> bool {
        true
    }
}

/// The owner of a producer.
struct Serving {
    shared: Arc<Mutex<Shared>>,
    observer: Option<Observer>,
    has_ended: bool,
}

impl Task for Serving {
    fn report(&mut self, now: Instant, report: Report) {
        if let Report::Event(event) = report {
            if let Some(observer) = &mut self.observer {
                observer(now, &event);
            }
            if matches!(event, Event::SourceEnded) {
                tracing::info!("content has changed: the version served so far has ended");
            }
            lock(&self.shared).summary.count(&event);
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, error: &Error) {
        self.has_ended = true;
        lock(&self.shared).error.get_or_insert_with(|| error.clone());
    }

    fn lose_peer(&mut self, error: &Error) {
        lock(&self.shared).error.get_or_insert_with(|| error.clone());
    }
}

/// The owner of a registration: its first outcome is the answer to the caller, later ones are logged.
struct Registering {
    name: Name,
    uplink: Uplink,
    answer: Option<SyncSender<Result<()>>>,
    has_ended: bool,
}

impl Task for Registering {
    fn report(&mut self, _now: Instant, report: Report) {
        let Report::Registered { outcome, .. } = report else {
            return;
        };
        let outcome = outcome.map_err(|error| self.uplink.register_error(&self.name, &error));
        match self.answer.take() {
            Some(answer) => {
                let _ = answer.send(outcome);
            }
            None => match outcome {
                Ok(()) => tracing::info!(name = %self.name, "registered again"),
                Err(error) => {
                    tracing::warn!(name = %self.name, %error, "the registration has failed")
                }
            },
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, error: &Error) {
        self.has_ended = true;
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Err(error.clone()));
        }
    }

    fn is_consumer(&self) -> bool {
        // A forwarder that rejects datagrams ends it only while the caller waits.
        self.answer.is_some()
    }
}

/// Names and faces of a producer.
pub(crate) struct Place {
    pub(crate) client: Client,
    pub(super) prefix: Name,
    pub(super) listen: Vec<FaceUri>,
    /// Names of keys whose certificates it has.
    pub(super) also: Vec<Name>,
    /// The key that signs registrations; a digest without one.
    pub(super) sign: Option<String>,
    pub(super) notice: NoticeCallback,
    pub(super) observer: Option<Observer>,
}

/// Names of the keys of certificates, as far as they do not lie below `prefix`: what a producer of `prefix` has besides.
pub(super) fn published_prefixes(prefix: &Name, certificates: &[Data]) -> Vec<Name> {
    let names = certificates.iter().map(|it| it.name().prefix(it.name().len().saturating_sub(2)));
    let mut names: Vec<Name> = names.filter(|name| !prefix.is_prefix_of(name)).collect();
    names.sort();
    names.dedup();
    names
}

/// Starts a producer, and makes it reachable; `make` may give the server another name than its prefix.
pub(crate) fn start(
    place: Place,
    make: impl FnOnce(&mut Name) -> Result<Box<dyn Application>> + Send + 'static,
) -> Result<Server> {
    let Place { client, prefix, listen, also, sign, notice, observer } = place;
    let uplink = client.settings.uplink.clone();
    match &listen[..] {
        [] => check_scope(&prefix, std::slice::from_ref(&uplink.uri))?,
        faces => check_scope(&prefix, faces)?,
    }
    if let Some(warning) = scope_warning(&prefix) {
        tracing::warn!("{warning}");
    }
    let mut name = prefix.clone();
    let shared = Arc::<Mutex<Shared>>::default();
    let (counted, served) = (Arc::clone(&shared), prefix.clone());
    let prefixes = [std::slice::from_ref(&prefix), &also].concat();
    let (task, name, endpoint) = client.link.ask(move |engine| {
        let application = make(&mut name)?;
        let endpoint = reach(engine, &listen)?;
        let serving = Serving { shared: counted, observer, has_ended: false };
        let task = engine.ids.next();
        engine.start(task, application, prefixes, Box::new(serving));
        engine.note_served(task, served);
        Ok::<_, Error>((task, name, endpoint))
    })??;
    let faces: Vec<_> = endpoint.faces().iter().map(ToString::to_string).collect();
    let uplink = sign.iter().fold(uplink, |uplink, key| uplink.signed_by(key));
    let mut server = Server { client, name, endpoint, faces, shared, task, registration: None };
    if matches!(server.endpoint, Endpoint::Forwarder { .. }) {
        server.client.reach()?;
        let task = server.register(&prefix, &uplink)?;
        server.registration = Some((task.0, prefix, uplink.clone()));
        server.answered(&task.1)?;
        for name in also {
            let registered = server.register(&name, &uplink);
            if let Err(error) = registered.and_then(|(_, answer)| server.answered(&answer)) {
                match error.is_cancelled() {
                    true => return Err(error),
                    false => notice(Notice::Unpublished(name, error)),
                }
            }
        }
    }
    tracing::info!(name = %server.name, faces = ?server.faces, "serving");
    Ok(server)
}

/// Opens listeners, unless the way leads through a forwarder.
fn reach(engine: &mut Engine, listen: &[FaceUri]) -> Result<Endpoint> {
    if !listen.is_empty() {
        let faces = listen.iter().map(|uri| Ok(engine.session.listen(uri)?.uri));
        return faces.collect::<Result<_>>().map(Endpoint::Listeners);
    }
    let uplink = &engine.uplink;
    if uplink.is_direct {
        return engine.listen_directly().map(Endpoint::DirectPort);
    }
    Ok(match uplink.is_alone() {
        true => Endpoint::Client,
        false => {
            Endpoint::Forwarder { face: uplink.uri.clone(), is_default: uplink.is_configured() }
        }
    })
}

/// Interval between two looks at the wish to stop while a forwarder has not answered.
const LOOK: Duration = Duration::from_millis(100);

impl Server {
    /// Registers `name` with the forwarder. Returns the task and the receiver of the forwarder's answer.
    fn register(&self, name: &Name, uplink: &Uplink) -> Result<(TaskId, Receiver<Result<()>>)> {
        let (sender, answer) = sync_channel(1);
        let (name, toward) = (name.clone(), uplink.clone());
        let task = self.client.link.ask(move |engine| {
            let application = toward.registration(&name, engine.session.driver.time_of_day())?;
            // After a move the forwarder at the address is another one, and has to learn the name.
            engine.session.watch_neighbours();
            let owner =
                Registering { name, uplink: toward, answer: Some(sender), has_ended: false };
            let task = engine.ids.next();
            engine.start(task, Box::new(application), Vec::new(), Box::new(owner));
            Ok::<_, Error>(task)
        })??;
        Ok((task, answer))
    }

    /// Waits for the answer of the forwarder.
    fn answered(&self, answer: &Receiver<Result<()>>) -> Result<()> {
        loop {
            self.client.check_stop()?;
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Error::stopped()),
            }
        }
    }
}
