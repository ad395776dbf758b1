//! A server in operation: its figures, its registration, and where it is reachable.
use crate::client::Client;
use crate::engine::{Engine, Task, TaskId};
use crate::error::{Error, Result};
use crate::serve::scope_warning;
use crate::uplink::Uplink;
use recoup_io::face::FaceUri;
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::Signer;
use recoup_transport::application::{Application, Report};
use recoup_transport::event::Event;
use recoup_transport::management::{ControlParameters, Inquiry, InquiryConfig, Question, Verb};
use recoup_transport::time::Instant;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Figures of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeSummary {
    /// Interests that were answered with content.
    pub segments: u64,
    /// Bytes of content sent.
    pub bytes: u64,
    /// Interests for the version that were answered.
    pub metadata: u64,
    /// Interests for names that are not served.
    pub unknown: u64,
    /// Versions that ended because their content changed.
    pub versions_ended: u64,
}

impl ServeSummary {
    fn count(&mut self, event: &Event) {
        match *event {
            Event::Served { content_bytes, .. } => {
                self.segments += 1;
                self.bytes += u64::from(content_bytes);
            }
            Event::ServedMetadata => self.metadata += 1,
            Event::Unknown => self.unknown += 1,
            Event::SourceEnded => self.versions_ended += 1,
            _ => {}
        }
    }
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
    faces: Vec<String>,
    summary: Arc<Mutex<ServeSummary>>,
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

    /// Counts so far.
    pub fn summary(&self) -> ServeSummary {
        *self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    summary: Arc<Mutex<ServeSummary>>,
    has_ended: bool,
}

impl Task for Serving {
    fn report(&mut self, _now: Instant, report: Report) {
        if let Report::Event(event) = report {
            if matches!(event, Event::SourceEnded) {
                tracing::info!("content has changed: the version served so far has ended");
            }
            self.summary.lock().unwrap_or_else(PoisonError::into_inner).count(&event);
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, _error: &Error) {
        self.has_ended = true;
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
}

/// Names of the keys of certificates, as far as they do not lie below `prefix`: what a producer of `prefix` has besides.
pub fn published_prefixes(prefix: &Name, certificates: &[Data]) -> Vec<Name> {
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
    let Place { client, prefix, listen, also, sign } = place;
    if let Some(warning) = scope_warning(&prefix) {
        tracing::warn!("{warning}");
    }
    let mut name = prefix.clone();
    let summary = Arc::<Mutex<ServeSummary>>::default();
    let (counted, served) = (Arc::clone(&summary), prefix.clone());
    let prefixes = [std::slice::from_ref(&prefix), &also].concat();
    let (task, name, faces) = client.link.ask(move |engine| {
        let application = make(&mut name)?;
        let faces = reach(engine, &listen)?;
        let serving = Serving { summary: counted, has_ended: false };
        let task = engine.ids.next();
        engine.start(task, application, prefixes, Box::new(serving));
        engine.note_served(task, served);
        Ok::<_, Error>((task, name, faces))
    })??;
    let faces: Vec<_> = faces.iter().map(ToString::to_string).collect();
    let uplink = client.settings.uplink.clone();
    let uplink = sign.iter().fold(uplink, |uplink, key| uplink.signed_by(key));
    let mut server = Server { client, name, faces, summary, task, registration: None };
    if server.faces.is_empty() {
        server.register(&prefix, uplink.clone())?;
        server.register_also(also, uplink)?;
    }
    tracing::info!(name = %server.name, faces = ?server.faces, "serving");
    Ok(server)
}

/// Opens listeners; none if the way leads through a forwarder.
fn reach(engine: &mut Engine, listen: &[FaceUri]) -> Result<Vec<FaceUri>> {
    if !listen.is_empty() {
        return listen.iter().map(|uri| Ok(engine.session.listen(uri)?.uri)).collect();
    }
    if engine.uplink.is_direct {
        return Ok(vec![engine.listen_directly()?]);
    }
    Ok(Vec::new())
}

impl Server {
    /// Registers the names of keys without waiting for an answer: consumers with the certificates need none.
    fn register_also(&self, prefixes: Vec<Name>, uplink: Uplink) -> Result<()> {
        if uplink.is_alone() {
            return Ok(());
        }
        self.client.link.ask(move |engine| {
            for name in prefixes {
                let time = engine.session.driver.time_of_day();
                let application = uplink.registration(&name, time)?;
                let uplink = uplink.clone();
                let owner = Registering { name, uplink, answer: None, has_ended: false };
                let task = engine.ids.next();
                engine.start(task, Box::new(application), Vec::new(), Box::new(owner));
            }
            Ok(())
        })?
    }

    /// Registers `prefix` with the forwarder, and waits for its answer.
    fn register(&mut self, prefix: &Name, uplink: Uplink) -> Result<()> {
        if uplink.is_alone() {
            return Ok(());
        }
        let (sender, answer) = sync_channel(1);
        let (name, toward) = (prefix.clone(), uplink.clone());
        let task = self.client.link.ask(move |engine| {
            let application = toward.registration(&name, engine.session.driver.time_of_day())?;
            let owner =
                Registering { name, uplink: toward, answer: Some(sender), has_ended: false };
            let task = engine.ids.next();
            engine.start(task, Box::new(application), Vec::new(), Box::new(owner));
            Ok::<_, Error>(task)
        })??;
        self.faces = vec![uplink.uri.to_string()];
        self.registration = Some((task, prefix.clone(), uplink));
        answer.recv().map_err(|_| Error::stopped())?
    }
}
