//! A node on real sockets, driven by the thread that owns it. [`Client`](crate::Client) runs one in a thread of its own.
use crate::error::{Error, ErrorKind, Result};
use crate::local;
use recoup_forwarder::face::{Agreement, AppId, FaceId, Recovery};
use recoup_forwarder::mobility::{Mobility, MobilitySettings};
use recoup_forwarder::node::{Input, Node};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::DeadNonceOptions;
use recoup_io::descriptor;
use recoup_io::driver::{Driver, DriverOptions, ListenerHandle};
use recoup_io::entropy;
use recoup_io::face::{FaceChange, FaceError, FaceEvent, FaceUri};
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, Application, Report};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

/// A UDP port that rejects datagrams may still be opened by a server that is starting.
const UNREACHABLE_GRACE: Duration = Duration::from_secs(2);

/// A driver and the node that it drives.
#[derive(Debug)]
pub(crate) struct Session {
    /// The sockets.
    pub(crate) driver: Driver,
    node: NodeBox,
    /// The first rejected datagram since the last arrival: time, face and reason.
    unreachable: Option<(Instant, FaceUri, String)>,
    recovery: Recovery,
    /// The first face toward producers.
    upstream: Option<FaceId>,
    /// Faces toward producers.
    opened: BTreeSet<FaceId>,
    /// The first face is a stream, which loses nothing itself.
    is_over_stream: bool,
    patience: Duration,
    /// Face events that the owner wants, if it does.
    events: Option<VecDeque<FaceEvent>>,
}

/// A node, which has nothing to show.
struct NodeBox(Box<Node>);

impl std::fmt::Debug for NodeBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Node")
    }
}

impl Session {
    /// A node without faces. With `answers_itself`, applications of the node exchange packets without any face. Without
    /// `remembers_nonces`, it keeps no nonces of answered Interests, which take 6 % of the processor time at 1,300 bytes a
    /// segment: for applications that only fetch by a face that leads to one peer. No Interest passes through such a node, as
    /// best-route returns none by the face that it came by.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn new(rng: Rng, answers_itself: bool, remembers_nonces: bool) -> Result<Self> {
        // As many peers as the machine allows may connect to a producer.
        let _ = descriptor::raise_limit();
        let options = DriverOptions { leaves_stops_out: true, ..DriverOptions::default() };
        let driver = Driver::with_options(options).map_err(|error| Error::from(&error))?;
        let whole = DeadNonceOptions::default();
        let limit = if remembers_nonces { whole.limit } else { 0 };
        let config = NodeConfig {
            rng: rng.substream("node"),
            answers_itself,
            dead_nonces: DeadNonceOptions { limit, ..whole },
            ..NodeConfig::new(rng)
        }
        // Interests whose face goes down leave again when it is up: consumers need not retransmit them.
        .with(|it| it.mobility = Mobility::On(MobilitySettings::default()).into());
        let node = Node::new(config);
        Ok(Self {
            driver,
            node: NodeBox(Box::new(node)),
            unreachable: None,
            recovery: Recovery::Off,
            upstream: None,
            opened: BTreeSet::new(),
            is_over_stream: false,
            patience: Duration::ZERO,
            events: None,
        })
    }

    /// Keeps the events of faces for [`next_event`](Self::next_event).
    pub(crate) fn keep_events(&mut self) {
        self.events.get_or_insert_default();
    }

    /// The next event of a face, if they are kept.
    pub(crate) fn next_event(&mut self) -> Option<FaceEvent> {
        self.events.as_mut()?.pop_front()
    }

    /// Sets the time after which a peer that rejects datagrams is unreachable; at least 2 s.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// How faces that are opened from here on recover what their link loses.
    pub(crate) fn set_recovery(&mut self, recovery: Recovery) {
        self.recovery = recovery;
        self.driver.set_on_demand_recovery(recovery);
    }

    /// No link leads to a producer of this machine: a recovery that is only negotiated is left out.
    pub(crate) fn leave_out_negotiated_recovery(&mut self) {
        if self.recovery.is_auto() {
            self.recovery = Recovery::Off;
        }
    }

    /// Whether the link toward producers recovers losses.
    pub(crate) fn link_recovery(&self) -> Agreement {
        self.upstream.map_or(Agreement::Off, |face| self.node.0.link_recovery(face))
    }

    /// Whether the first face toward producers is a stream, which loses nothing itself.
    pub(crate) fn is_over_stream(&self) -> bool {
        self.is_over_stream
    }

    /// The URI of the face toward producers, once it is open.
    pub(crate) fn upstream_uri(&self) -> Option<String> {
        self.driver.remote_uri(self.upstream?)
    }

    /// Opens a face toward producers.
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`]: there is no peer.
    pub(crate) fn open(&mut self, uri: &FaceUri) -> Result<FaceId> {
        let face = self.driver.connect(uri).map_err(|error| Error::from(&error))?;
        self.follow_interfaces(uri);
        self.driver.set_recovery(face, self.recovery);
        self.opened.insert(face);
        if self.upstream.is_none() {
            (self.upstream, self.is_over_stream) = (Some(face), uri.is_stream());
        }
        Ok(face)
    }

    /// Faces over IP are opened again when their local address is gone. A system that does not list its interfaces reports
    /// that by the next frame at the latest.
    fn follow_interfaces(&mut self, uri: &FaceUri) {
        if matches!(uri, FaceUri::Udp(_) | FaceUri::Tcp(_) | FaceUri::WebSocket(..)) {
            let _ = self.driver.follow_interfaces();
        }
    }

    /// Sends Interests below `prefix` by `face`, or no longer.
    pub(crate) fn route(&mut self, prefix: &Name, face: FaceId, is_used: bool) {
        let (prefix, cost) = (prefix.clone(), is_used.then_some(0));
        let change = recoup_forwarder::node::RouteChange { prefix, face, cost };
        self.node.0.handle(self.driver.now(), Input::Route(change));
    }

    /// Lets consumers open faces.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: the address is taken, or not of this machine.
    pub(crate) fn listen(&mut self, uri: &FaceUri) -> Result<ListenerHandle> {
        self.follow_interfaces(uri);
        self.driver.listen(uri).map_err(|error| {
            let failure = Error::from(&error);
            match (is_taken(&error), uri) {
                (false, _) => failure,
                (true, FaceUri::Unix(_)) => {
                    failure.with_remedy("choose another path to listen at (--listen)")
                }
                (true, _) => failure
                    .with_remedy("choose another port to listen at (--listen); 0 is any free one"),
            }
        })
    }

    /// Listens at the first free port for a machine without forwarder.
    ///
    /// # Errors
    /// [`ErrorKind::Local`]: all of them are in use.
    pub(crate) fn listen_directly(&mut self) -> Result<ListenerHandle> {
        for uri in local::faces() {
            match self.driver.listen(&uri) {
                Ok(listener) => return Ok(listener),
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err((&error).into()),
            }
        }
        let message = format!("the UDP ports {} are all in use", local::ports());
        Err(Error::new(ErrorKind::Local, message)
            .with_remedy("choose another one (--listen udp://127.0.0.1:PORT)"))
    }

    /// Detects forwarders that fall silent, or that are replaced by others at the same address.
    pub(crate) fn watch_neighbours(&mut self) {
        self.node.0.watch_neighbours();
    }

    /// Attaches an application.
    pub(crate) fn attach(
        &mut self,
        application: Box<dyn Application>,
        prefixes: Vec<Name>,
    ) -> AppId {
        self.node.0.attach(self.driver.now(), application, prefixes)
    }

    /// Detaches an application; its pending Interests are withdrawn.
    pub(crate) fn detach(&mut self, app: AppId) {
        self.node.0.detach(app);
    }

    /// Hands an application an input of its owner.
    pub(crate) fn deliver(&mut self, app: AppId, input: AppInput) {
        let input = Box::new(input);
        self.node.0.handle(self.driver.now(), Input::App { app, input });
    }

    /// One wake-up. Reports of applications are handed to `take`.
    ///
    /// # Errors
    /// [`ErrorKind::Unreachable`] if a peer has rejected datagrams for too long.
    pub(crate) fn turn(&mut self, take: &mut dyn FnMut(Instant, AppId, Report)) -> Result<()> {
        let Self { driver, node, .. } = self;
        let turn = driver.turn(&mut *node.0, take);
        let turn = turn.map_err(|error| Error::from(&error))?;
        if turn.frames > 0 {
            self.unreachable = None;
        }
        self.watch_faces();
        self.check_unreachable()
    }

    fn watch_faces(&mut self) {
        while let Some(event) = self.driver.next_event() {
            tracing::debug!(face = event.face.0, uri = %event.uri, "{event}");
            // Faces of consumers open at any datagram: an address that cannot be answered there is the sender's matter.
            if let FaceChange::Unreachable(why) = &event.change
                && self.opened.contains(&event.face)
            {
                let now = self.driver.now();
                self.unreachable.get_or_insert((now, event.uri.clone(), why.clone()));
            }
            if let Some(events) = &mut self.events {
                events.push_back(event);
            }
        }
    }

    fn check_unreachable(&self) -> Result<()> {
        let patience = self.patience.max(UNREACHABLE_GRACE);
        let is_over = |since: Instant| self.driver.now().since(since) >= patience;
        match &self.unreachable {
            Some((since, ..)) if is_over(*since) => self.unreachable_error().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// The error of rejected datagrams, if there are any since the last arrival.
    pub(crate) fn unreachable_error(&self) -> Option<Error> {
        let (_, uri, why) = self.unreachable.as_ref()?;
        let message = format!("no peer answers at {uri}: {why}");
        Some(Error::new(ErrorKind::Unreachable, message).with_remedy(
            "start `recoup serve` or a forwarder there, or choose another face (--face)",
        ))
    }

    /// Forgets rejected datagrams, after the operations that needed the peer were notified.
    pub(crate) fn forget_unreachable(&mut self) {
        self.unreachable = None;
    }
}

/// A generator seeded by the operating system.
///
/// # Errors
/// If the system has no entropy.
pub fn seed() -> Result<Rng> {
    Ok(entropy::seed().map(Rng::from_seed)?)
}

/// Another socket has the address.
pub fn is_taken(error: &FaceError) -> bool {
    let in_use = std::io::ErrorKind::AddrInUse;
    matches!(error, FaceError::Listen { source, .. } if source.kind() == in_use)
}
