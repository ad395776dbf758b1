//! The client: a handle to the thread that drives the sockets.
use crate::engine::{Engine, Link, LinkCallback, LinkEvent, Watch};
use crate::error::{Error, Result};
use crate::fetch::FetchBuilder;
use crate::folder::FolderBuilder;
use crate::local;
use crate::mode::Blocking;
use crate::name::ToName;
use crate::name::check_length;
use crate::options::FetchOptions;
use crate::patience::{Absent, Patience};
use crate::serve::ServeBuilder;
use crate::session::{self, Session};
use crate::trust::{Opened, Verify};
use crate::uplink::Uplink;
use bytes::Bytes;
use recoup_io::face::FaceUri;
use recoup_io::part::Records;
use recoup_packet::name::Name;
use recoup_transport::link::recovery::{Agreement, Recovery};
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most content that [`Client::get`] returns by default, in bytes. [`Builder::max_memory`] changes it.
const MAX_MEMORY: u64 = 1 << 30;

/// Time between two attempts to open a face.
const ATTEMPT_EVERY: Duration = Duration::from_millis(200);

/// A handle to one thread that owns the sockets and a node; fetches and servers share it.
///
/// Cloning is cheap, and all clones are the same client. The thread ends with the last handle: clients, fetches, readers and
/// servers. Every operation waits in the caller's thread; none may be called by a callback of the same client.
///
/// ```no_run
/// let client = recoup::Client::connect()?;
/// let content = client.get("/site/greeting")?;
/// println!("{} bytes", content.len());
/// # Ok::<(), recoup::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) link: Arc<Link>,
    pub(crate) settings: Arc<Settings>,
}

/// Settings common to all operations of a client.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) uplink: Uplink,
    pub(crate) options: FetchOptions,
    pub(crate) max_memory: u64,
    pub(crate) records: Records,
    pub(crate) opened: Opened,
    patience: Mutex<Patience>,
    stop: Option<Arc<AtomicBool>>,
    allows_local_names: bool,
    seed: Option<u64>,
    draws: AtomicU64,
    /// The face toward producers was opened.
    is_reached: AtomicBool,
}

impl Client {
    /// A client of the forwarder of this machine, found as the command `recoup` finds it: the environment variable
    /// `NDN_CLIENT_TRANSPORT`, `client.conf`, the forwarder's socket. Without a forwarder, it reaches the producers of this
    /// machine directly (UDP ports 6363 to 6378 of 127.0.0.1).
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable): the configured forwarder does not answer.
    ///
    /// ```no_run
    /// let client = recoup::Client::connect()?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn connect() -> Result<Self> {
        Self::builder().connect()
    }

    /// A client with other settings.
    ///
    /// ```no_run
    /// use recoup::{Client, Verify};
    /// let client = Client::builder()
    ///     .face("udp://192.0.2.7")
    ///     .verify(Verify::Key("publisher.cert".into()))
    ///     .connect()?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Fetches the newest version of `name` into memory. For content that may be large see [`fetch`](Self::fetch).
    ///
    /// # Errors
    /// Those of the fetch, such as [`is_not_found`](crate::Error::is_not_found);
    /// [`is_condition`](crate::Error::is_condition) if it is larger than [`Builder::max_memory`] permits.
    ///
    /// ```
    /// # let place = recoup::Client::builder().face("memory://get").alone().connect()?;
    /// # let _server = place.serve("/site/greeting").listen("memory://get")?.bytes("hello")?;
    /// # let client = recoup::Client::builder().face("memory://get").connect()?;
    /// assert_eq!(client.get("/site/greeting")?, "hello");
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn get(&self, name: impl ToName) -> Result<Bytes> {
        self.fetch(name).to_vec().map(Bytes::from)
    }

    /// Begins to describe a fetch: its range, destination and observer.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let summary = client.fetch("/movie").resume(true).to_file("movie.mp4")?;
    /// println!("{} bytes", summary.stats.content_bytes);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn fetch(&self, name: impl ToName) -> FetchBuilder {
        FetchBuilder::new(self.clone(), name.to_name())
    }

    /// Begins to describe the fetch of a folder, with everything in it.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let files = client.fetch_folder("/photos").resume(true).to_folder("photos")?;
    /// println!("{} files", files.fetched);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn fetch_folder(&self, name: impl ToName) -> FolderBuilder {
        FolderBuilder::new(self.fetch(name))
    }

    /// Begins to describe a server of the names below `prefix`.
    ///
    /// ```no_run
    /// # let client = recoup::Client::connect()?;
    /// let server = client.serve("/photos").folder("photos")?;
    /// println!("serving {} at {:?}", server.name(), server.faces());
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn serve(&self, prefix: impl ToName) -> ServeBuilder {
        ServeBuilder::new(self.clone(), prefix.to_name())
    }

    /// A generator for one operation: fresh, unless the client has a seed.
    pub(crate) fn rng(&self) -> Result<Rng> {
        match self.settings.seed {
            None => session::seed(),
            Some(seed) => {
                let draw = self.settings.draws.fetch_add(1, Ordering::Relaxed);
                Ok(Rng::from_seed(seed).substream(&format!("operation/{draw}")))
            }
        }
    }

    /// Opens the face toward producers, unless it is open.
    pub(crate) fn reach(&self) -> Result<()> {
        if self.settings.is_reached.load(Ordering::Relaxed) {
            return Ok(());
        }
        let begun = std::time::Instant::now();
        let absent = Absent::Peer(self.settings.uplink.uri.clone());
        let mut patience = self.settings.patience.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.link.ask(Engine::open_uplink)? {
                Err(error)
                    if error.is_unreachable()
                        && patience.pause(begun, ATTEMPT_EVERY, &absent)? => {}
                opened => {
                    self.settings.is_reached.store(opened.is_ok(), Ordering::Relaxed);
                    return opened;
                }
            }
            self.check_stop()?;
        }
    }

    /// Fails if the flag of [`Builder::stopped_by`] is set.
    pub(crate) fn check_stop(&self) -> Result<()> {
        match &self.settings.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err(Error::cancelled()),
            _ => Ok(()),
        }
    }

    /// Whether the link of the face toward producers recovers losses.
    ///
    /// # Errors
    /// The client has stopped.
    pub fn link_recovery(&self) -> Result<Agreement> {
        self.link.ask(|engine| engine.session.link_recovery())
    }

    /// The one check of names that become Interests: a name of local scope, or one that is a command, needs
    /// [`Builder::allow_local_names`]. What answers name is checked where they are read
    /// ([`Name::may_lead_to`](recoup_packet::name::Name::may_lead_to)).
    pub(crate) fn permit(&self, name: &Name) -> Result<()> {
        check_length(name)?;
        match name.objection().filter(|_| !self.settings.allows_local_names) {
            None => Ok(()),
            Some(why) => Err(Error::usage(format!("the name {name} {why}"))
                .with_remedy("the command line and Builder::allow_local_names may request it")
                .permanent()),
        }
    }

    /// Lets Interests for `name` reach a producer of this machine, where there is no forwarder.
    pub(crate) fn locate(&self, name: &Name) -> Result<()> {
        if !self.settings.uplink.is_direct || self.settings.uplink.is_located {
            return Ok(());
        }
        let asked = name.clone();
        if self.link.ask(move |engine| engine.serves(&asked))? {
            return Ok(());
        }
        let (prefix, uri) = (name.clone(), local::face_of(name)?);
        self.link.ask(move |engine| engine.route_directly(&prefix, &uri))?
    }
}

/// The settings of a [`Client`]. Without any, it is what [`Client::connect`] makes.
pub struct Builder<M = Blocking> {
    face: Option<String>,
    uplink: Option<Uplink>,
    recovery: Result<Recovery>,
    connect_timeout: Option<Duration>,
    patience: Patience,
    stop: Option<Arc<AtomicBool>>,
    on_link: Option<LinkCallback>,
    only_fetches: bool,
    is_lazy: bool,
    options: FetchOptions,
    max_memory: u64,
    records: Option<Records>,
    allows_local_names: bool,
    seed: Option<u64>,
    is_alone: bool,
    mode: PhantomData<M>,
}

impl<M> fmt::Debug for Builder<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { face, recovery, options, .. } = self;
        let mut shown = f.debug_struct("Builder");
        shown.field("face", face).field("recovery", recovery);
        shown.field("options", options).finish_non_exhaustive()
    }
}

impl<M> Default for Builder<M> {
    fn default() -> Self {
        Self {
            face: None,
            uplink: None,
            recovery: Ok(Recovery::auto()),
            connect_timeout: None,
            patience: Patience::default(),
            stop: None,
            on_link: None,
            only_fetches: false,
            is_lazy: false,
            options: FetchOptions::default(),
            max_memory: MAX_MEMORY,
            allows_local_names: false,
            records: None,
            seed: None,
            is_alone: false,
            mode: PhantomData,
        }
    }
}

impl<M> Builder<M> {
    /// The face toward producers: `udp://host[:port]`, `tcp://host[:port]`, `unix:///path` or `ws://host:port`.
    #[must_use]
    pub fn face(self, uri: impl Into<String>) -> Self {
        Self { face: Some(uri.into()), ..self }
    }

    /// The way to producers, as the caller has found it.
    #[must_use]
    pub fn uplink(self, uplink: Uplink) -> Self {
        Self { uplink: Some(uplink), ..self }
    }

    /// How long an absent peer is waited for at the face toward producers. Without it, an absent peer is an error at once.
    #[must_use]
    pub fn patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The longest time that a stream, such as TCP, takes to connect.
    #[must_use]
    pub fn connect_timeout(self, within: Duration) -> Self {
        Self { connect_timeout: Some(within), ..self }
    }

    /// The face toward producers is opened by the first operation that needs it. With `async`, this operation waits for the
    /// peer in its own thread ([`patience`](Self::patience)).
    #[must_use]
    pub fn connect_on_demand(self) -> Self {
        Self { is_lazy: true, ..self }
    }

    /// For a client that serves nothing: its node keeps no list of dead nonces.
    #[must_use]
    pub fn only_fetches(self) -> Self {
        Self { only_fetches: true, ..self }
    }

    /// Fetches and pings end with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) within 200 ms after the flag is set, for
    /// example by a signal. Content that has arrived is kept.
    #[must_use]
    pub fn stopped_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { stop: Some(flag), ..self }
    }

    /// Calls `report` in the driver thread when a face goes up or down, and when its link begins or ends to recover losses.
    /// It must be quick, and must not wait for this client.
    #[must_use]
    pub fn on_link(self, report: impl FnMut(&LinkEvent) + Send + 'static) -> Self {
        Self { on_link: Some(Box::new(report)), ..self }
    }

    /// Opens no face: for a client that only serves at addresses of its own ([`ServeBuilder::listen`]), or fetches what it
    /// serves.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    /// How content is verified; [`Verify::Auto`] without it.
    #[must_use]
    pub fn verify(mut self, verify: Verify) -> Self {
        self.options.verify = verify;
        self
    }

    /// How objects are fetched: algorithms, retries, naming, verification.
    #[must_use]
    pub fn options(self, options: FetchOptions) -> Self {
        Self { options, ..self }
    }

    /// How losses of the link to the next node are recovered: a [`Recovery`], or its text: `auto` (without it), `off`, `wldr`
    /// or `acked`, with parameters, such as `wldr(hold=5ms)`.
    #[must_use]
    pub fn recovery<R: TryInto<Recovery, Error: fmt::Display>>(self, recovery: R) -> Self {
        let recovery = recovery.try_into();
        let recovery = recovery.map_err(|error| Error::usage(format!("recovery: {error}")));
        Self { recovery, ..self }
    }

    /// Most content that one fetch keeps in memory, in bytes; 1 GiB without it.
    #[must_use]
    pub fn max_memory(self, bytes: u64) -> Self {
        Self { max_memory: bytes, ..self }
    }

    /// Whether names of local scope (`/localhost`, `/localhop`), and names that are signed commands, may be fetched and pinged.
    /// Without it they are errors: a forwarder obeys such a name. Allow it only if all names come from the user.
    #[must_use]
    pub fn allow_local_names(self, allow: bool) -> Self {
        Self { allows_local_names: allow, ..self }
    }

    /// Records finished files in `folder`, by which a later fetch with resume finds them unchanged. By default it is
    /// `$XDG_STATE_HOME/recoup/finished`.
    #[must_use]
    pub fn records(self, folder: impl AsRef<Path>) -> Self {
        Self { records: Some(Records::open(folder.as_ref())), ..self }
    }

    /// Draws nonces and hash keys from this seed, so that a run can be repeated. An attacker with the seed can choose
    /// names that collide: only for tests and measurements.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Starts the client; may wait until a stream is connected.
    pub(crate) fn start(self) -> Result<Client> {
        let named = self.face.as_deref().map(parse_face).transpose()?;
        let uplink = match self.uplink {
            _ if self.is_alone => Uplink::alone(),
            Some(uplink) => uplink,
            None => Uplink::find(named.as_ref())?,
        };
        let recovery = self.recovery?;
        let rng = self.seed.map_or_else(session::seed, |seed| Ok(Rng::from_seed(seed)))?;
        let toward = uplink.clone();
        let answers_itself = uplink.is_direct && !uplink.is_located || self.is_alone;
        let remembers_nonces = !self.only_fetches || uplink.uri.is_medium();
        let (patience, connect_timeout) = (self.patience.within(), self.connect_timeout);
        let stop = self.stop.clone();
        let watch = Watch { stop: self.stop, on_link: self.on_link };
        let link = Link::start(move || {
            let mut session = Session::new(rng, answers_itself, remembers_nonces)?;
            session.set_recovery(recovery);
            session.set_patience(patience);
            connect_timeout.into_iter().for_each(|it| session.driver.set_connect_timeout(it));
            if toward.is_direct {
                session.leave_out_negotiated_recovery();
            }
            Ok(Engine::new(session, toward, watch))
        })?;
        let settings = Settings {
            uplink,
            options: self.options,
            max_memory: self.max_memory,
            allows_local_names: self.allows_local_names,
            records: self.records.unwrap_or_else(Records::of_user),
            opened: Opened::default(),
            patience: Mutex::new(self.patience),
            stop,
            seed: self.seed,
            draws: AtomicU64::new(0),
            is_reached: AtomicBool::new(false),
        };
        let client = Client { link: Arc::new(link), settings: Arc::new(settings) };
        if !self.is_lazy {
            client.reach()?;
        }
        Ok(client)
    }
}

impl Builder {
    /// Starts the client.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage): a setting is wrong.
    /// [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable): there is no peer at the face.
    ///
    /// ```
    /// let error = recoup::Client::builder().face("carrier-pigeon://home").connect().unwrap_err();
    /// assert!(error.is_usage());
    /// ```
    pub fn connect(self) -> Result<Client> {
        self.start()
    }
}

/// A face from its URI.
pub(crate) fn parse_face(text: &str) -> Result<FaceUri> {
    text.parse::<FaceUri>().map_err(|error| Error::usage(error.to_string()))
}
