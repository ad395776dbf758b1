//! Servers: a file, a folder, bytes, or a function that answers Interests.
mod responder;
mod server;

pub(crate) use responder::Answer;
pub use responder::Responder;
use server::published_prefixes;
pub use server::{Endpoint, ServeSummary, Server};
pub(crate) use server::{Place, start};

use crate::client::{Client, parse_face};
use crate::error::{Error, ErrorKind, Result};
use crate::mode::Blocking;
use crate::trust;
use crate::uplink::Uplink;
use bytes::Bytes;
use recoup_io::clock::unix_time;
use recoup_io::face::FaceUri;
use recoup_io::library::{BytesLibrary, FileLibrary, FolderLibrary, SpoolLibrary};
use recoup_io::source::{Snapshots, SourceError, Spool};
use recoup_packet::interest::Interest;
use recoup_packet::name::{Name, Scope};
use recoup_packet::signature::{DigestSigner, Encrypter, SignatureType, Signer};
use recoup_transport::event::Event;
use recoup_transport::serve::{Library, Serve, ServeConfig, Unresolved};
use recoup_transport::time::{Duration, Instant};
use recoup_transport::unit::MAX_CONTENT_BYTES;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use recoup_transport::serve::{ServeOptions, Unknown, Version};

/// The configuration of the producer loop, with the present time of day.
pub(crate) fn config(options: &ServeOptions, prefix: Name, signer: Box<dyn Signer>) -> ServeConfig {
    options.config(prefix, signer, unix_time().as_micros() as u64)
}

/// A sentence about the consumers that reach a producer of this name; `None` if all can, as forwarders pass the name on.
pub fn scope_warning(name: &Name) -> Option<String> {
    let consumers = match Scope::of(name) {
        Scope::Global => return None,
        Scope::Localhost => "only applications of this machine reach",
        Scope::Localhop => "only machines one hop away reach",
    };
    Some(format!("{consumers} {name}: forwarders do not pass such names on"))
}

/// Fails if no consumer could reach a producer of this name by these faces, of listeners or toward a forwarder.
///
/// # Errors
/// [`ErrorKind::Usage`]: the name is below `/localhost`, and no face shows that its peer is on this machine.
fn check_scope(name: &Name, faces: &[FaceUri]) -> Result<()> {
    if Scope::of(name) != Scope::Localhost || faces.iter().any(Uplink::is_local_at) {
        return Ok(());
    }
    let message = format!("no face reaches {name}: only faces of this machine carry such names");
    Err(Error::usage(message)
        .with_remedy("serve it by a Unix socket or TCP at 127.0.0.1, or take another name"))
}

/// A fact about what a server serves.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Content cannot be read, so that Interests have no answer.
    Unreadable(Error),
    /// A file cannot be copied, and is not served; reported once for each server.
    NoSnapshot(String),
    /// An entry of a folder is not served, in words.
    LeftOut(String),
    /// The forwarder does not bring Interests for the certificates below this name.
    Unpublished(Name, Error),
}

/// Called with each notice.
type NoticeCallback = Arc<dyn Fn(Notice) + Send + Sync>;

/// Logs a notice.
fn log(notice: Notice) {
    match notice {
        Notice::Unreadable(error) => tracing::error!(%error, "content cannot be served"),
        Notice::NoSnapshot(error) => {
            tracing::warn!(%error, "a file has no snapshot: it is not served");
        }
        Notice::LeftOut(line) => tracing::info!("{line}"),
        Notice::Unpublished(name, error) => {
            tracing::warn!(%name, %error, "keys are not published");
        }
    }
}

/// Called with each event of a server.
type Observer = Box<dyn FnMut(Instant, &Event) + Send>;

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
    options: ServeOptions,
    /// In place of the one that the options name.
    signer: Option<Box<dyn Signer>>,
    manifests: bool,
    /// Hidden files and folders of a folder are served.
    hidden: bool,
    notice: NoticeCallback,
    observer: Option<Observer>,
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
            options: ServeOptions::default(),
            signer: None,
            manifests: false,
            hidden: true,
            notice: Arc::new(log),
            observer: None,
            mode: PhantomData,
        }
    }

    /// Is reachable at this address, without a forwarder; may be given several times. The listener stays open as long as the
    /// client.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`]: the text is no face.
    pub fn listen(self, uri: &str) -> Result<Self> {
        Ok(self.listen_at([parse_face(uri)?]))
    }

    /// Is reachable at these addresses, as with [`listen`](Self::listen).
    pub fn listen_at(mut self, faces: impl IntoIterator<Item = FaceUri>) -> Self {
        self.listen.extend(faces);
        self
    }

    /// Signs with `key`: `digest`, a key of the key store, or a file. The passphrase of an encrypted key stands in the
    /// environment variable `RECOUP_PASSPHRASE`.
    ///
    /// The server answers Interests for the key's certificate, and for those of its issuers that are in the key store.
    pub fn sign(mut self, key: &str) -> Self {
        key.clone_into(&mut self.options.sign);
        self.signer = None;
        self
    }

    /// Signs with this signer; with digests without it.
    pub fn signer(mut self, signer: Box<dyn Signer>) -> Self {
        self.signer = Some(signer);
        self
    }

    /// All options, which are those of `recoup serve`.
    ///
    /// ```
    /// use recoup::ServeOptions;
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let options = ServeOptions { segment_bytes: 1_000, ..ServeOptions::default() };
    /// let server = client.serve("/log").options(options).listen("memory://serve-options")?.bytes("hello")?;
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn options(mut self, options: ServeOptions) -> Self {
        self.options = options;
        self.signer = None;
        self
    }

    /// Signs lists of digests instead of segments, so that one signature serves for 250 of them. Not for
    /// [`answer`](ServeBuilder::answer).
    pub fn manifests(mut self, manifests: bool) -> Self {
        self.manifests = manifests;
        self
    }

    /// Whether hidden files and folders of a folder are served: those whose names begin with a period. The default is
    /// `true`, other than for the command: formats such as Zarr keep their metadata in hidden files.
    pub fn hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// Encrypts content for the members of a group: its name in the key store, or the file of its public key. The keys that
    /// members need are served, too, signed with the key that [`sign`](Self::sign) names. Not for
    /// [`answer`](ServeBuilder::answer).
    pub fn encrypt(mut self, group: &str) -> Self {
        self.options.encrypt = Some(group.to_owned());
        self
    }

    /// Encrypts by AES-CBC, for readers with NDNts or ndn-cxx, which must verify the author. Needs a key to
    /// [`sign`](Self::sign) with.
    pub fn encrypt_cbc(mut self, cbc: bool) -> Self {
        self.options.encrypt_cbc = cbc;
        self
    }

    /// How long caches may call an answer fresh; 10 s without it.
    pub fn freshness(mut self, freshness: Duration) -> Self {
        self.options.freshness = freshness;
        self
    }

    /// Content per segment in bytes, at most 8,600; 8,000 without it. Segments are shorter where a long name leaves less
    /// room in a packet.
    pub fn segment_size(mut self, bytes: usize) -> Self {
        self.options.segment_bytes = (bytes as u64).clamp(1, MAX_CONTENT_BYTES);
        self
    }

    /// The version number. Without it: the time of the file's last change, or for bytes the time of day, in microseconds
    /// since 1970.
    pub fn version(mut self, number: u64) -> Self {
        self.options.version = Version::Fixed(number);
        self
    }

    /// Leaves Interests for unknown names unanswered. By default, the consumer receives an application Nack soon.
    pub fn silent(mut self) -> Self {
        self.options.unknown = Unknown::Silence;
        self
    }

    /// Calls `report` with facts about what is served; they are logged without it.
    pub fn on_notice(mut self, report: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        self.notice = Arc::new(report);
        self
    }

    /// Calls `observer` in the driver thread with each event of the server and its time on the client's clock. It must be quick,
    /// and must not wait for this client.
    pub fn on_event(mut self, observer: impl FnMut(Instant, &Event) + Send + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    pub(crate) fn serve_bytes(self, content: Bytes) -> Result<Server> {
        let (version, now) = (self.options.version, unix_time().as_micros() as u64);
        self.serve_library(move || {
            Ok(Box::new(BytesLibrary::new(content, version, now)) as Box<dyn Library>)
        })
    }

    pub(crate) fn serve_file(self, path: PathBuf) -> Result<Server> {
        let (version, snapshots) = (self.options.version, self.snapshots());
        let notice = Arc::clone(&self.notice);
        self.serve_library(move || {
            let library = FileLibrary::new(&path, version, snapshots)?;
            let library = library.reporting(move |error| notice(unreadable(error)));
            Ok(Box::new(library) as Box<dyn Library>)
        })
    }

    pub(crate) fn serve_folder(self, path: PathBuf) -> Result<Server> {
        let (version, snapshots) = (self.options.version, self.snapshots());
        let (hidden, notice) = (self.hidden, Arc::clone(&self.notice));
        let report = Arc::clone(&notice);
        self.serve_library(move || {
            let library = FolderLibrary::new(&path, version, snapshots)?.with_hidden(hidden);
            let library = library.reporting(move |error| report(unreadable(error)));
            let library = library.noticing(move |line| notice(Notice::LeftOut(line.to_string())));
            Ok(Box::new(library) as Box<dyn Library>)
        })
    }

    /// Snapshots of files, if the options enable them. A file that cannot be copied is not served.
    fn snapshots(&self) -> Option<Snapshots> {
        let notice = Arc::clone(&self.notice);
        Some(Snapshots::new(Spool::default_folder(), self.options.snapshot?, move |error| {
            notice(Notice::NoSnapshot(error.to_string()));
        }))
    }

    /// The key that signs registrations: that of the content, unless the program brought a signer.
    fn registered_by(&self) -> Option<String> {
        self.signer.is_none().then(|| self.options.sign.clone())
    }

    /// A producer that answers with what `answer` returns, and where it is to be reachable.
    pub(crate) fn into_responder(self, answer: Answer) -> Result<(Responder, Place)> {
        let sign = self.registered_by();
        let Self { client, prefix, listen, options, signer, notice, observer, .. } = self;
        let (prefix, signer) = (prefix?, signer.map_or_else(|| trust::signer(&options.sign), Ok)?);
        let ServeOptions { freshness, unknown, .. } = options;
        let responder = Responder { answer, freshness, signer, unknown, ..Responder::default() };
        let also = Vec::new();
        Ok((responder, Place { client, prefix, listen, also, sign, notice, observer }))
    }

    fn serve_library(
        self,
        library: impl FnOnce() -> Result<Box<dyn Library>> + Send + 'static,
    ) -> Result<Server> {
        let sign = self.registered_by();
        let Self { client, prefix, listen, options, signer, manifests, notice, observer, .. } =
            self;
        let certificates = match &signer {
            Some(_) => Vec::new(),
            None => trust::chain(&options.sign)?,
        };
        let (prefix, signer) = (prefix?, signer.map_or_else(|| trust::signer(&options.sign), Ok)?);
        let (signer, manifest_signer): (Box<dyn Signer>, _) = match manifests {
            true if signer.signature_type() == SignatureType::DigestSha256 => {
                return Err(Error::usage("a manifest with a digest only proves nothing")
                    .with_remedy("name a key (--sign KEY)"));
            }
            true => (Box::new(DigestSigner), Some(signer)),
            false => (signer, None),
        };
        let mut also = published_prefixes(&prefix, &certificates);
        let mut packets = certificates;
        let mut encrypter: Option<Arc<dyn Encrypter>> = None;
        if let Some(keys) = trust::encryption(&options, &prefix)? {
            also.extend(keys.prefixes.into_iter().filter(|it| !prefix.is_prefix_of(it)));
            packets.extend(keys.packets);
            encrypter = Some(Arc::new(keys.key));
        }
        let config =
            ServeConfig { manifest_signer, encrypter, ..config(&options, prefix.clone(), signer) };
        let asked = prefix.clone();
        start(Place { client, prefix, listen, also, sign, notice, observer }, move |name| {
            let mut serve = Serve::new(config, library()?);
            serve.publish(packets);
            let object = resolved(&mut serve, &asked).ok_or_else(|| {
                Error::new(ErrorKind::Local, format!("the content cannot be served as {name}"))
                    .with_remedy("can it still be read, and is the name shorter than a packet of 8800 bytes?")
            })?;
            *name = object;
            Ok(Box::new(serve))
        })
    }
}

/// Longest wait for content that changes all the time.
const SETTLING: Duration = Duration::from_secs(5);

/// Identifies what is served below `prefix`, before any Interest arrives. Returns the name of the content, with its version.
/// Content that changes all the time has no version yet. `None` if nothing can be served.
fn resolved(serve: &mut Serve, prefix: &Name) -> Option<Name> {
    let begun = std::time::Instant::now();
    loop {
        match serve.resolve(&Name::root()) {
            Ok(object) => return Some(object),
            Err(Unresolved::Unknown) => return None,
            Err(Unresolved::Later(_)) if begun.elapsed() > SETTLING => return Some(prefix.clone()),
            Err(Unresolved::Later(wait)) => std::thread::sleep(wait),
        }
    }
}

fn unreadable(error: &SourceError) -> Notice {
    Notice::Unreadable(Error::from(error))
}

impl ServeBuilder {
    /// Serves content from memory under the prefix itself.
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`]: the forwarder rejects the registration. [`ErrorKind::Local`]: an address is in use,
    /// or the key cannot be read.
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

    /// Serves the file at `path` under the prefix itself; its segments are read on demand. A change of the file ends
    /// the version that is served, and begins another.
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

    /// Serves what was read from a stream, such as standard input, under the prefix itself.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn spool(self, spool: Spool) -> Result<Server> {
        let version = self.options.version;
        self.serve_library(move || {
            Ok(Box::new(SpoolLibrary::new(spool, version)) as Box<dyn Library>)
        })
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
