//! Servers: a file, a folder, bytes, or a function that answers Interests.
use crate::client::{Client, parse_face};
use crate::engine::{Engine, Task, TaskId};
use crate::error::{Error, ErrorKind, Result};
use crate::mode::Blocking;
use crate::trust;
use crate::uplink::Uplink;
use bytes::{Bytes, BytesMut};
use recoup_io::clock::unix_time;
use recoup_io::face::FaceUri;
use recoup_io::library::{BytesLibrary, FileLibrary, FolderLibrary, Version};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::{DigestSigner, Signer};
use recoup_transport::application::{AppInput, AppOutput, Application, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::management::{ControlParameters, Inquiry, InquiryConfig, Question, Verb};
use recoup_transport::serve::{Form, Library, Serve, ServeConfig, Unknown};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a cache may call metadata fresh: short, so that a new version is found soon.
pub const METADATA_FRESHNESS: Duration = Duration::from_millis(10);
/// Content per segment, in bytes.
const SEGMENT_BYTES: usize = 8_000;
/// Longest packet, in bytes.
const PACKET_BYTES: usize = 8_800;

/// The configuration of the producer loop with its defaults: segments of 8,000 bytes that are fresh for 10 s, and
/// application Nacks for unknown names.
pub fn config(prefix: Name, signer: Box<dyn Signer>) -> ServeConfig {
    ServeConfig {
        prefix,
        convention: Convention::Typed,
        segment_bytes: SEGMENT_BYTES,
        freshness: Duration::from_secs(10),
        metadata_freshness: METADATA_FRESHNESS,
        unknown: Unknown::Nack,
        form: Form::Encoded,
        signer,
        manifest_signer: None,
        epoch_micros: unix_time().as_micros() as u64,
    }
}

/// Describes a server; made by [`Client::serve`].
///
/// ```
/// # let client = recoup::Client::builder().alone().connect()?;
/// let server = client.serve("/site/greeting").listen("memory://serve-builder")?.bytes("hello")?;
/// assert!(server.name().to_string().starts_with("/site/greeting/v="));
/// # Ok::<(), recoup::Error>(())
/// ```
#[must_use = "a server begins with bytes, file, folder or answer"]
pub struct ServeBuilder<M = Blocking> {
    client: Client,
    prefix: Result<Name>,
    listen: Vec<FaceUri>,
    signer: Result<Box<dyn Signer>>,
    freshness: Duration,
    segment_bytes: usize,
    version: Version,
    unknown: Unknown,
    /// Certificates with which consumers verify what is signed.
    certificates: Vec<Data>,
    manifests: bool,
    mode: PhantomData<M>,
}

impl<M> fmt::Debug for ServeBuilder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prefix, listen, .. } = self;
        let mut shown = f.debug_struct("ServeBuilder");
        shown.field("prefix", prefix).field("listen", listen).finish_non_exhaustive()
    }
}

impl<M> ServeBuilder<M> {
    pub(crate) fn new(client: Client, prefix: Result<Name>) -> Self {
        Self {
            client,
            prefix,
            listen: Vec::new(),
            signer: Ok(Box::new(DigestSigner)),
            freshness: Duration::from_secs(10),
            segment_bytes: SEGMENT_BYTES,
            version: Version::Modified,
            unknown: Unknown::Nack,
            certificates: Vec::new(),
            manifests: false,
            mode: PhantomData,
        }
    }

    /// Is reachable at this address, without a forwarder; may be given several times. The listener stays open as long as the
    /// client.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`]: the text is no face.
    pub fn listen(mut self, uri: &str) -> Result<Self> {
        self.listen.push(parse_face(uri)?);
        Ok(self)
    }

    /// Signs with `key`: `digest`, a key of the key store, or a file. The passphrase of an encrypted key stands in the
    /// environment variable `RECOUP_PASSPHRASE`.
    ///
    /// The server answers Interests for the key's certificate, and for those of its issuers that are in the key store.
    pub fn sign(mut self, key: &str) -> Self {
        self.signer = trust::signer(key);
        self.certificates = trust::chain(key).unwrap_or_default();
        self
    }

    /// Signs with this signer; with digests without it.
    pub fn signer(mut self, signer: Box<dyn Signer>) -> Self {
        self.signer = Ok(signer);
        self
    }

    /// Signs lists of digests instead of segments, so that one signature serves for 250 of them. Not for
    /// [`answer`](ServeBuilder::answer).
    pub fn manifests(mut self, manifests: bool) -> Self {
        self.manifests = manifests;
        self
    }

    /// How long caches may call an answer fresh; 10 s without it.
    pub fn freshness(mut self, freshness: Duration) -> Self {
        self.freshness = freshness;
        self
    }

    /// Content per segment in bytes, at most 8,192; 8,000 without it. Segments are shorter where a long name leaves less
    /// room in a packet.
    pub fn segment_size(mut self, bytes: usize) -> Self {
        self.segment_bytes = bytes.clamp(1, 8_192);
        self
    }

    /// The version number. Without it: the time of the file's last change, or for bytes the time of day, in microseconds
    /// since 1970.
    pub fn version(mut self, number: u64) -> Self {
        self.version = Version::Fixed(number);
        self
    }

    /// Leaves Interests for unknown names without an answer. Without it, an application Nack tells the consumer at once.
    pub fn silent(mut self) -> Self {
        self.unknown = Unknown::Silence;
        self
    }

    pub(crate) fn serve_bytes(self, content: Bytes) -> Result<Server> {
        let (version, now) = (self.version, unix_time().as_micros() as u64);
        self.serve_library(move || {
            Ok(Box::new(BytesLibrary::new(content, version, now)) as Box<dyn Library>)
        })
    }

    pub(crate) fn serve_file(self, path: PathBuf) -> Result<Server> {
        let version = self.version;
        self.serve_library(move || {
            Ok(Box::new(FileLibrary::new(&path, version, None)?) as Box<dyn Library>)
        })
    }

    pub(crate) fn serve_folder(self, path: PathBuf) -> Result<Server> {
        let version = self.version;
        self.serve_library(move || {
            Ok(Box::new(FolderLibrary::new(&path, version, None)?) as Box<dyn Library>)
        })
    }

    /// A producer that answers with what `answer` returns, and where it is to be reachable.
    pub(crate) fn into_responder(self, answer: Answer) -> Result<(Responder, Place)> {
        let Self { client, prefix, listen, signer, freshness, unknown, .. } = self;
        let (prefix, signer) = (prefix?, signer?);
        let responder = Responder { answer, freshness, signer, unknown, ..Responder::default() };
        Ok((responder, Place { client, prefix, listen, also: Vec::new() }))
    }

    fn serve_library(
        self,
        library: impl FnOnce() -> Result<Box<dyn Library>> + Send + 'static,
    ) -> Result<Server> {
        let Self { client, prefix, listen, signer, freshness, segment_bytes, unknown, .. } = self;
        let (prefix, signer, certificates) = (prefix?, signer?, self.certificates);
        let (signer, manifest_signer): (Box<dyn Signer>, _) = match self.manifests {
            true => (Box::new(DigestSigner), Some(signer)),
            false => (signer, None),
        };
        let also = published_prefixes(&prefix, &certificates);
        let config = ServeConfig {
            freshness,
            segment_bytes,
            unknown,
            manifest_signer,
            ..config(prefix.clone(), signer)
        };
        start(Place { client, prefix, listen, also }, move |name| {
            let mut serve = Serve::new(config, library()?);
            serve.publish(certificates);
            let object = serve.resolve(&Name::root()).ok_or_else(|| {
                Error::new(ErrorKind::Local, format!("the content cannot be served as {name}"))
                    .with_remedy("can it still be read, and is the name shorter than a packet of 8800 bytes?")
            })?;
            *name = object;
            Ok(Box::new(serve))
        })
    }
}

impl ServeBuilder {
    /// Serves content from memory under the prefix itself.
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`]: the forwarder refuses the registration. [`ErrorKind::Local`]: an address is in use, or
    /// the key cannot be read.
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let server = client.serve("/greeting").bytes("hello")?;
    /// assert_eq!(client.get("/greeting")?, "hello");
    /// drop(server);
    /// assert!(client.get("/greeting").unwrap_err().is_not_found());
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn bytes(self, content: impl Into<Bytes>) -> Result<Server> {
        self.serve_bytes(content.into())
    }

    /// Serves the file at `path` under the prefix itself; its segments are read when they are asked for. A file that changes
    /// ends the version that is served, and begins another.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); [`ErrorKind::Local`]: the file cannot be read.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let server = client.serve("/movie").file("movie.mp4")?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn file(self, path: impl AsRef<Path>) -> Result<Server> {
        self.serve_file(path.as_ref().to_owned())
    }

    /// Serves the folder at `path` with everything in it: files by their paths below the prefix, and listings.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes); [`ErrorKind::Local`]: the folder cannot be read.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let server = client.serve("/photos").folder("photos")?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn folder(self, path: impl AsRef<Path>) -> Result<Server> {
        self.serve_folder(path.as_ref().to_owned())
    }

    /// Answers each Interest below the prefix by calling `answer` with it, in the driver thread: it must be quick, and must
    /// not wait for this client. `None`: there is no such content (an application Nack, unless [`silent`](Self::silent)).
    /// An answer is one packet of at most 8,800 bytes, name and signature included.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let server = client.serve("/sensor").answer(|interest| {
    ///     interest.name.to_string().ends_with("temperature").then(|| "21.5".into())
    /// })?;
    /// assert_eq!(client.get_packet("/sensor/temperature")?, "21.5");
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn answer(
        self,
        answer: impl FnMut(&Interest) -> Option<Bytes> + Send + 'static,
    ) -> Result<Server> {
        let (responder, place) = self.into_responder(Box::new(answer))?;
        start(place, move |_| Ok(Box::new(responder)))
    }
}

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
    registration: Option<(TaskId, Name)>,
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

    /// What was served so far.
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
            if let (Some((registration, prefix)), Ok(rng)) = (registration, rng) {
                engine.cancel(registration);
                withdraw(engine, prefix, rng);
            }
        }));
    }
}

/// Asks the forwarder to remove the route.
fn withdraw(engine: &mut Engine, prefix: Name, rng: recoup_transport::random::Rng) {
    let parameters = ControlParameters { name: Some(prefix), ..ControlParameters::default() };
    let question = Question::Command {
        scope: engine.uplink.scope(),
        verb: Verb::RibUnregister,
        parameters: Box::new(parameters),
    };
    let inquiry = Inquiry::new(InquiryConfig {
        question,
        signer: Box::new(DigestSigner),
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
        // A forwarder that refuses datagrams ends it only while the caller waits.
        self.answer.is_some()
    }
}

/// Which names a producer has, and where it is reachable.
pub(crate) struct Place {
    pub(crate) client: Client,
    prefix: Name,
    listen: Vec<FaceUri>,
    /// Names of keys whose certificates it has.
    also: Vec<Name>,
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
    let Place { client, prefix, listen, also } = place;
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
    let mut server = Server { client, name, faces, summary, task, registration: None };
    if server.faces.is_empty() {
        server.register(&prefix)?;
        server.register_also(also)?;
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
    /// Registers the names of keys, and waits for no answer: whoever has the certificates already needs none.
    fn register_also(&self, prefixes: Vec<Name>) -> Result<()> {
        let uplink = self.client.settings.uplink.clone();
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
    fn register(&mut self, prefix: &Name) -> Result<()> {
        let uplink = self.client.settings.uplink.clone();
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
        self.registration = Some((task, prefix.clone()));
        self.faces = vec![uplink.uri.to_string()];
        answer.recv().map_err(|_| Error::stopped())?
    }
}

/// The function of a [`Responder`].
pub(crate) type Answer = Box<dyn FnMut(&Interest) -> Option<Bytes> + Send>;

/// A producer that answers each Interest with one packet, made by a function.
pub struct Responder {
    answer: Answer,
    freshness: Duration,
    signer: Box<dyn Signer>,
    unknown: Unknown,
    pool: BytesMut,
    outputs: VecDeque<AppOutput>,
}

impl Default for Responder {
    /// Answers with empty, signed Data that is fresh for 1 s, as ndnpingserver does.
    fn default() -> Self {
        Self {
            answer: Box::new(|_| Some(Bytes::new())),
            freshness: Duration::from_secs(1),
            signer: Box::new(DigestSigner),
            unknown: Unknown::Nack,
            pool: BytesMut::new(),
            outputs: VecDeque::new(),
        }
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("freshness", &self.freshness).finish_non_exhaustive()
    }
}

impl Responder {
    fn respond(&mut self, interest: &Interest, path: ReturnPath) {
        let called = catch_unwind(AssertUnwindSafe(|| (self.answer)(interest)));
        let content = called.unwrap_or_else(|_| {
            tracing::error!(name = %interest.name, "the function that answers Interests has panicked");
            None
        });
        self.answer_with(interest, path, content);
    }

    /// Answers with one packet; `None`: there is no such content.
    pub(crate) fn answer_with(
        &mut self,
        interest: &Interest,
        path: ReturnPath,
        content: Option<Bytes>,
    ) {
        let builder = DataBuilder::new(&interest.name).freshness(self.freshness);
        let content = content.filter(|content| {
            let fits = builder.max_len(content.len(), self.signer.as_ref()) <= PACKET_BYTES;
            if !fits {
                tracing::error!(name = %interest.name, bytes = content.len(), "the answer exceeds a packet");
            }
            fits
        });
        let event = match &content {
            Some(content) => Event::Served { content_bytes: content.len() as u32, signed: true },
            None => Event::Unknown,
        };
        self.outputs.push_back(AppOutput::Report(Report::Event(event)));
        let (builder, content) = match content {
            Some(content) => (builder, content),
            None if self.unknown == Unknown::Nack => (
                builder.content_type(ContentType::Nack).freshness(METADATA_FRESHNESS),
                Bytes::new(),
            ),
            None => return,
        };
        let fill = |into: &mut [u8]| {
            into.copy_from_slice(&content);
            Ok::<_, Infallible>(())
        };
        let built = builder.encode_with(&mut self.pool, content.len(), fill, self.signer.as_ref());
        let data = match built {
            Ok(data) => data,
            Err(never) => match never {},
        };
        self.outputs.push_back(AppOutput::Data { data, path });
    }
}

impl Application for Responder {
    fn handle(&mut self, _now: Instant, input: AppInput) {
        if let AppInput::Interest { interest, path } = input {
            self.respond(&interest, path);
        }
    }

    fn poll(&mut self, _now: Instant) -> Option<AppOutput> {
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}
