//! A node on real sockets ([`recoup::session`]) that stops on a signal and reports to a person.
use crate::error::{Exit, Failure};
use crate::stop::Stop;
pub(crate) use recoup::session::seed;
use recoup::uplink::Uplink;
use recoup_forwarder::face::{Agreement, AppId};
use recoup_io::driver::DriverError;
use recoup_io::face::{FaceError, FaceUri};
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::time::{Duration, Instant};
use std::ops::{Deref, DerefMut};

/// The longest time between two looks at the progress bar and at signals.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// A session of the library, and the wish to stop.
pub(crate) struct Session {
    inner: recoup::session::Session,
    /// Set by SIGINT and SIGTERM.
    pub stop: Stop,
    /// The last report of the link toward producers.
    agreement: Agreement,
    /// How long a peer that is not there is waited for.
    patience: Duration,
    /// Waiting for a peer is reported.
    waits_aloud: bool,
    verbose: bool,
}

impl Deref for Session {
    type Target = recoup::session::Session;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl Session {
    /// A node without faces.
    pub(crate) fn new(verbose: bool) -> Result<Self, Failure> {
        Self::over(recoup::session::Session::new()?, verbose)
    }

    /// A node without faces, for a consumer by the face that `uri` names.
    pub(crate) fn of_consumer(uri: &FaceUri, verbose: bool) -> Result<Self, Failure> {
        Self::over(recoup::session::Session::of_consumer(uri)?, verbose)
    }

    fn over(mut inner: recoup::session::Session, verbose: bool) -> Result<Self, Failure> {
        inner.driver.set_longest_wait(Some(LONGEST_WAIT));
        if verbose {
            inner.keep_events();
        }
        let stop = Stop::new(&inner.driver.waker())?;
        let (agreement, patience) = (Agreement::Off, Duration::ZERO);
        Ok(Self { inner, stop, agreement, patience, waits_aloud: false, verbose })
    }

    /// Sets how long the command waits for an absent peer. If `aloud`, it prints a line.
    pub(crate) fn set_patience(&mut self, patience: Duration, aloud: bool) {
        self.inner.set_patience(patience);
        (self.patience, self.waits_aloud) = (patience, aloud);
    }

    /// Opens the face toward producers, again and again as long as there is patience.
    pub(crate) fn connect(&mut self, uplink: &Uplink) -> Result<(), Failure> {
        if uplink.is_direct {
            self.leave_out_negotiated_recovery();
        }
        let begun = self.driver.now();
        loop {
            match self.open(&uplink.uri) {
                Err(error)
                    if error.is_unreachable() && self.driver.now().since(begun) < self.patience =>
                {
                    self.stop.wanted().map_or(Ok(()), Err)?;
                    if std::mem::take(&mut self.waits_aloud) {
                        crate::output::eprint(&format!("waiting for {}", uplink.uri));
                    }
                    std::thread::sleep(LONGEST_WAIT);
                }
                opened => {
                    opened.map_err(|error| uplink.explain(error))?;
                    return Ok(());
                }
            }
        }
    }

    /// Makes a producer of `name` reachable: at `listen`, or else through the forwarder at `face` or
    /// the configured one, or else at a port for a machine without forwarder. `sign` names the key of registrations.
    pub(crate) fn reach(
        &mut self,
        listen: &[FaceUri],
        face: Option<&FaceUri>,
        name: &Name,
        sign: &str,
    ) -> Result<Reached, Failure> {
        let reached = self.reach_unwarned(listen, face, name, sign)?;
        if let Some(warning) = recoup::serve::scope_warning(name) {
            crate::output::eprint(&format!("recoup: {warning}"));
        }
        Ok(reached)
    }

    fn reach_unwarned(
        &mut self,
        listen: &[FaceUri],
        face: Option<&FaceUri>,
        name: &Name,
        sign: &str,
    ) -> Result<Reached, Failure> {
        if !listen.is_empty() {
            recoup::serve::check_scope(name, listen)?;
            let faces: Result<Vec<_>, Failure> =
                listen.iter().map(|uri| Ok(self.listen(uri)?.uri)).collect();
            return Ok(Reached { faces: faces?, at: At::Listeners });
        }
        let uplink = Uplink::find(face)?.signed_by(sign);
        recoup::serve::check_scope(name, std::slice::from_ref(&uplink.uri))?;
        if uplink.is_direct {
            return Ok(Reached { faces: vec![self.listen_directly()?.uri], at: At::DirectPort });
        }
        self.connect(&uplink)?;
        let stop = self.stop.clone();
        let check = &mut |_: &mut _| stop.wanted().map_or(Ok(()), Err::<(), Failure>);
        self.register(&uplink, name, check)?;
        let is_default = uplink.is_configured();
        Ok(Reached { faces: vec![uplink.uri], at: At::Forwarder { is_default } })
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
        let turned = self.inner.turn(take);
        if self.verbose {
            self.eprint_faces();
        }
        turned
    }

    /// Reports what became of faces, and when the link toward producers begins or ends to recover losses.
    fn eprint_faces(&mut self) {
        while let Some(event) = self.next_event() {
            crate::output::eprint(&format!("{event}"));
        }
        let now = self.link_recovery();
        if self.agreement != now {
            self.agreement = now;
            let uri = self.upstream_uri().unwrap_or_default();
            crate::output::eprint(&format!("link recovery {now} at {uri}"));
        }
    }
}

/// Where a producer can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// Its faces.
    pub faces: Vec<FaceUri>,
    /// The kind of endpoint.
    pub at: At,
}

/// The kind of faces by which a producer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Listeners that were named on the command line.
    Listeners,
    /// A forwarder; the default one if it was not named on the command line.
    Forwarder {
        /// Whether consumers of this machine use it by default.
        is_default: bool,
    },
    /// A port for a machine without forwarder, where consumers look for it.
    DirectPort,
}

/// The exit code and the line for a face that cannot be opened.
pub(crate) fn face_failure(error: &FaceError) -> Failure {
    recoup::Error::from(error).into()
}

/// The exit code and the line for a driver that cannot go on.
pub(crate) fn driver_failure(error: &DriverError) -> Failure {
    Failure::new(Exit::Other, error.to_string())
}
