//! A node on real sockets: what all commands that use the network share.
use crate::error::{Exit, Failure};
use crate::stop::Stop;
use recoup_forwarder::face::{AppId, Recovery};
use recoup_forwarder::mobility::{Mobility, MobilitySettings};
use recoup_forwarder::node::{Input, Node};
use recoup_forwarder::options::NodeOptions;
use recoup_io::clock::unix_time;
use recoup_io::config::{ClientConfig, Origin};
use recoup_io::driver::{Driver, DriverError, ListenerHandle};
use recoup_io::entropy;
use recoup_io::face::{FaceChange, FaceError, FaceUri};
use recoup_packet::name::Name;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, Application, Report};
use recoup_transport::management::{ManagementError, Scope};
use recoup_transport::random::Rng;
use recoup_transport::registration::{Registration, RegistrationConfig};
use recoup_transport::time::{Duration, Instant};

/// Where `recoup serve` listens and `recoup fetch` asks when there is no forwarder.
const EMBEDDED: &str = "udp://127.0.0.1:6363";
/// The longest time between two looks at the progress bar and at signals.
const LONGEST_WAIT: Duration = Duration::from_millis(200);
/// A UDP port that refuses datagrams may still be opened by a server that is starting.
const REFUSED_GRACE: Duration = Duration::from_secs(2);

/// A driver with its node, and the wish to stop.
pub(crate) struct Session {
    /// The sockets.
    pub driver: Driver,
    /// The machine that they drive.
    pub node: Node,
    /// Set by SIGINT and SIGTERM.
    pub stop: Stop,
    /// A datagram was refused, and nothing has arrived since.
    refused: Option<(Instant, FaceUri, String)>,
    /// Of the faces that are opened.
    recovery: Recovery,
    verbose: bool,
}

impl Session {
    /// A node without faces.
    pub(crate) fn new(verbose: bool) -> Result<Self, Failure> {
        let mut driver = Driver::new().map_err(|error| driver_failure(&error))?;
        driver.set_longest_wait(Some(LONGEST_WAIT));
        let stop = Stop::new(&driver.waker())?;
        let options = NodeOptions {
            hash_seed: seed()?.next_u64(),
            rng: seed()?,
            // Interests whose face goes down leave again when it is up: they need not be asked for once more.
            mobility: Mobility::On(MobilitySettings::default()),
            ..NodeOptions::default()
        };
        let node = Node::with_options(options)
            .map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
        Ok(Self { driver, node, stop, refused: None, recovery: Recovery::Off, verbose })
    }

    /// What is lost on faces that are opened from here on is sent again like this, if the other end does it, too.
    pub(crate) fn set_recovery(&mut self, recovery: Recovery) {
        self.recovery = recovery;
        self.driver.set_on_demand_recovery(recovery);
    }

    /// Opens the face toward producers.
    pub(crate) fn connect(&mut self, way: &Way) -> Result<(), Failure> {
        self.open(&way.uri).map_err(|failure| way.explain(failure))
    }

    /// Opens a face toward producers that needs no explanation.
    pub(crate) fn open(&mut self, uri: &FaceUri) -> Result<(), Failure> {
        let face = self.driver.connect(uri).map_err(|error| face_failure(&error))?;
        self.driver.set_recovery(face, self.recovery);
        Ok(())
    }

    /// Lets consumers open faces.
    pub(crate) fn listen(&mut self, uri: &FaceUri) -> Result<ListenerHandle, Failure> {
        self.driver.listen(uri).map_err(|error| face_failure(&error))
    }

    /// Makes a producer of `name` reachable: at `listen`, or else through the forwarder at `face` or
    /// the configured one, or else at the port for a machine without forwarder. Returns where.
    pub(crate) fn reach(
        &mut self,
        listen: &[FaceUri],
        face: Option<&FaceUri>,
        name: &Name,
    ) -> Result<Vec<FaceUri>, Failure> {
        if !listen.is_empty() {
            return listen.iter().map(|uri| Ok(self.listen(uri)?.uri)).collect();
        }
        let way = Way::find(face)?;
        if way.embedded {
            return Ok(vec![self.listen(&way.uri)?.uri]);
        }
        self.connect(&way)?;
        self.register(&way, name)?;
        Ok(vec![way.uri])
    }

    /// Asks the forwarder to bring Interests for `name`, and waits for its answer.
    fn register(&mut self, way: &Way, name: &Name) -> Result<(), Failure> {
        let since = Duration::from_nanos(self.driver.now().as_nanos());
        let config = RegistrationConfig {
            prefixes: vec![name.clone()],
            scope: if way.is_local() { Scope::Localhost } else { Scope::Localhop },
            signer: Box::new(DigestSigner),
            cost: 0,
            epoch_micros: unix_time().saturating_sub(since).as_micros() as u64,
            rng: seed()?,
        };
        let app = self.attach(Box::new(Registration::new(config)), Vec::new());
        let mut answer = None;
        while answer.is_none() {
            self.turn(app, &mut |_, output| {
                if let Report::Registered { outcome, .. } = output {
                    answer = Some(outcome);
                }
                Ok(())
            })?;
            if let Some(failure) = self.stop.wanted() {
                return Err(failure);
            }
        }
        match answer {
            Some(Err(error)) => Err(register_failure(name, &error, way)),
            _ => Ok(()),
        }
    }

    /// Attaches an application.
    pub(crate) fn attach(
        &mut self,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        let now = self.driver.now();
        self.node.attach(now, application, prefixes)
    }

    /// Takes an application away.
    pub(crate) fn detach(&mut self, app: AppId) {
        self.node.detach(app);
    }

    /// Tells an application something that its owner knows.
    pub(crate) fn tell(&mut self, app: AppId, input: AppInput) {
        let input = Box::new(input);
        self.node.handle(self.driver.now(), Input::App { app, input });
    }

    /// One wake-up. What the application `app` wants is handed to `take`.
    pub(crate) fn turn(
        &mut self,
        app: AppId,
        take: &mut dyn FnMut(Instant, Report) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.turn_all(&mut |now, from, report| match from == app {
            true => take(now, report),
            false => Ok(()),
        })
    }

    /// One wake-up. What any application wants is handed to `take`, until that fails.
    pub(crate) fn turn_all(
        &mut self,
        take: &mut dyn FnMut(Instant, AppId, Report) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { driver, node, .. } = self;
        let mut result = Ok(());
        let turn = driver.turn(node, &mut |now, from, report| {
            if result.is_ok() {
                result = take(now, from, report);
            }
        });
        let turn = turn.map_err(|error| driver_failure(&error))?;
        if turn.frames > 0 {
            self.refused = None;
        }
        self.watch_faces();
        result.and_then(|()| self.still_hopeful())
    }

    fn watch_faces(&mut self) {
        while let Some(event) = self.driver.next_event() {
            if self.verbose {
                crate::output::tell(&format!("{event}"));
            }
            if let FaceChange::Unreachable(why) = event.change {
                let now = self.driver.now();
                self.refused.get_or_insert((now, event.uri, why));
            }
        }
    }

    fn still_hopeful(&self) -> Result<(), Failure> {
        let patient = |since: Instant| self.driver.now().since(since) < REFUSED_GRACE;
        match &self.refused {
            Some((since, ..)) if !patient(*since) => self.refusal().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// The failure that datagrams were refused, if they were and nothing has arrived since.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        let (_, uri, why) = self.refused.as_ref()?;
        let message = format!("nobody answers at {uri}: {}", why);
        Some(
            Failure::new(Exit::Unreachable, message)
                .advise("start `recoup serve` or a forwarder there, or name another --face"),
        )
    }
}

/// The face to use, and where that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The face.
    pub uri: FaceUri,
    /// Where it was configured, unless it was named on the command line.
    origin: Option<String>,
    /// Neither a face nor a forwarder is configured: consumer and producer speak directly.
    pub embedded: bool,
}

impl Way {
    /// The face that was named, or else configured, or else the one for a machine without forwarder.
    pub(crate) fn find(named: Option<&FaceUri>) -> Result<Self, Failure> {
        if let Some(uri) = named {
            return Ok(Self { uri: uri.clone(), origin: None, embedded: false });
        }
        let config =
            ClientConfig::load().map_err(|error| Failure::new(Exit::Local, error.to_string()))?;
        let setting = config.transport;
        let embedded = matches!(setting.origin, Origin::Assumed(_));
        let text = if embedded { EMBEDDED } else { &setting.value };
        let uri = text.parse::<FaceUri>().map_err(|error| {
            Failure::usage(format!("{error}, taken from {}", setting.origin))
                .advise("correct it there, or name a --face")
        })?;
        let origin = (!embedded).then(|| setting.origin.to_string());
        Ok(Self { uri, origin, embedded })
    }

    /// A forwarder takes it for the way of an application on its own machine. Over UDP it never does, as datagrams may say
    /// that they come from anywhere.
    fn is_local(&self) -> bool {
        let address = |address: &std::net::SocketAddr| address.ip().is_loopback();
        match &self.uri {
            FaceUri::Unix(_) | FaceUri::Memory(_) => true,
            FaceUri::Ether(_) | FaceUri::Dev(_) | FaceUri::Udp(_) => false,
            FaceUri::Tcp(at) | FaceUri::WebSocket(at, _) => {
                at.resolve().is_ok_and(|all| all.iter().all(address))
            }
        }
    }

    fn explain(&self, failure: Failure) -> Failure {
        let Some(origin) = &self.origin else {
            return failure;
        };
        let advice = failure.advice.clone().unwrap_or_default();
        let comma = if advice.is_empty() { "" } else { " " };
        failure.advise(format!("{advice}{comma}(this face is taken from {origin})"))
    }
}

/// A seed from the operating system.
pub(crate) fn seed() -> Result<Rng, Failure> {
    entropy::seed()
        .map(Rng::from_seed)
        .map_err(|error| Failure::new(Exit::Other, error.to_string()))
}

/// The exit code and the line for a face that cannot be opened.
pub(crate) fn face_failure(error: &FaceError) -> Failure {
    let exit = match error {
        FaceError::Uri(_) => Exit::Usage,
        FaceError::Listen { .. } => Exit::Local,
        FaceError::TooMany { .. } => Exit::Other,
        _ => Exit::Unreachable,
    };
    let text = error.to_string();
    match text.split_once('\n') {
        Some((message, advice)) => Failure::new(exit, message.trim()).advise(advice.trim()),
        None => Failure::new(exit, text.trim()),
    }
}

fn register_failure(name: &Name, error: &ManagementError, way: &Way) -> Failure {
    let message = format!("{} will not bring Interests for {name}: {error}", way.uri);
    let advice = error.registration_advice().unwrap_or(match way.is_local() {
        false => {
            "is it a forwarder? By this way it takes commands only if told to (localhop = true in `recoup forward`, \
             rib.localhop_security in NFD); its Unix socket or TCP on its own machine need no such thing. Without a \
             forwarder, serve with --listen instead of --face"
        }
        true => "is it a forwarder? Without one, serve with --listen instead of --face",
    });
    way.explain(Failure::new(Exit::Unreachable, message).advise(advice))
}

/// The exit code and the line for a driver that cannot go on.
pub(crate) fn driver_failure(error: &DriverError) -> Failure {
    Failure::new(Exit::Other, error.to_string())
}
