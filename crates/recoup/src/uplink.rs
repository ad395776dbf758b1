//! The face toward producers: which one, and where that is configured.
use crate::error::{Error, ErrorKind, Result};
use crate::local;
use crate::patience::{Absent, Patience};
use crate::{session, trust};
use recoup_io::config::{ClientConfig, Origin};
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_packet::signature::Signer;
use recoup_transport::management::{ManagementError, Scope};
use recoup_transport::registration::{Registration, RegistrationConfig};
use recoup_transport::time::{Duration, TimeOfDay};
use std::time::Instant;

/// Time between two searches for a producer on this machine.
const SEARCH_EVERY: Duration = Duration::from_millis(300);

/// No key: a digest.
const DIGEST: &str = "digest";

/// The face toward producers, and where it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// The face.
    pub uri: FaceUri,
    /// Where it was configured, unless the caller named it.
    origin: Option<String>,
    /// Neither a face nor a forwarder is configured: consumer and producer of this machine speak directly.
    pub is_direct: bool,
    /// The face is chosen for one name, where there is no forwarder.
    pub(crate) is_located: bool,
    /// The key that signs registrations, as [`trust::signer`] takes it; a digest without one.
    sign: Option<String>,
}

impl Uplink {
    /// The face that the caller named, or else the configured one, or else the one for a machine without forwarder.
    ///
    /// # Errors
    /// If the configuration cannot be read or names no face.
    pub fn find(named: Option<&FaceUri>) -> Result<Self> {
        if let Some(uri) = named {
            return Ok(Self::at(uri.clone()));
        }
        let setting = ClientConfig::load()?.transport;
        if matches!(setting.origin, Origin::Assumed(_)) {
            return Ok(Self { is_direct: true, ..Self::at(local::first_face()) });
        }
        let uri = setting.value.parse::<FaceUri>().map_err(|error| {
            Error::usage(format!("{error}, taken from {}", setting.origin))
                .with_remedy("correct it there, or choose a face (--face)")
        })?;
        Ok(Self { origin: Some(setting.origin.to_string()), ..Self::at(uri) })
    }

    fn at(uri: FaceUri) -> Self {
        Self { uri, origin: None, is_direct: false, is_located: false, sign: None }
    }

    /// The error if no forwarder of this machine is found.
    #[must_use]
    pub fn no_forwarder() -> Error {
        let setting = ClientConfig::load().map(|config| config.transport.origin);
        let places = setting.map_or_else(|_| "the default places".to_owned(), |it| it.to_string());
        Error::new(ErrorKind::Unreachable, format!("no forwarder was found: {places}")).with_remedy(
            "start `recoup forward`; one that runs without a socket is reached by --face tcp://127.0.0.1",
        )
    }

    /// No face at all.
    pub(crate) fn alone() -> Self {
        Self::at(FaceUri::Memory(String::new()))
    }

    pub(crate) fn is_alone(&self) -> bool {
        matches!(&self.uri, FaceUri::Memory(name) if name.is_empty())
    }

    /// As [`find`](Self::find); without face and forwarder that of the producer on this machine that has `name`, once there is
    /// one.
    ///
    /// # Errors
    /// As [`find`](Self::find). [`ErrorKind::Cancelled`]: the wait was ended.
    pub fn toward(named: Option<&FaceUri>, name: &Name, patience: &mut Patience) -> Result<Self> {
        let uplink = Self::find(named)?;
        if !uplink.is_direct {
            return Ok(uplink);
        }
        let (begun, absent) = (Instant::now(), Absent::Producer(name.clone()));
        while patience.within() > Duration::ZERO {
            if let Some(uri) = local::served_face(name)? {
                return Ok(uplink.by(uri));
            }
            if !patience.pause(begun, SEARCH_EVERY, &absent)? {
                break;
            }
        }
        Ok(uplink.by(local::face_of(name)?))
    }

    /// This uplink by another face.
    #[must_use]
    pub fn by(self, uri: FaceUri) -> Self {
        Self { uri, is_located: self.is_direct, ..self }
    }

    /// This uplink, with registrations signed by a key: for forwarders that obey certain keys only.
    #[must_use]
    pub fn signed_by(self, key: &str) -> Self {
        Self { sign: Some(key.to_owned()), ..self }
    }

    /// The face was configured, not named by the caller.
    pub fn is_configured(&self) -> bool {
        self.origin.is_some()
    }

    /// A forwarder takes it for the face of an application on its own machine. Over UDP it never does, as the source address
    /// of a datagram can be forged.
    pub fn is_local(&self) -> bool {
        Self::is_local_at(&self.uri)
    }

    /// As [`is_local`](Self::is_local), of a face with this URI.
    pub fn is_local_at(uri: &FaceUri) -> bool {
        let address = |address: &std::net::SocketAddr| address.ip().is_loopback();
        match uri {
            FaceUri::Unix(_) | FaceUri::Memory(_) => true,
            FaceUri::Ether(_) | FaceUri::Dev(_) | FaceUri::Udp(_) => false,
            FaceUri::Tcp(at) | FaceUri::WebSocket(at, _) => {
                at.resolve().is_ok_and(|all| all.iter().all(address))
            }
        }
    }

    /// Adds the origin of a configured face to the error.
    #[must_use]
    pub fn explain(&self, error: Error) -> Error {
        let Some(origin) = &self.origin else {
            return error;
        };
        let remedy = error.remedy().unwrap_or_default();
        let space = if remedy.is_empty() { "" } else { " " };
        let remedy = format!("{remedy}{space}(this face is taken from {origin})");
        error.with_remedy(remedy)
    }

    /// Forwarders that accept commands by this face.
    pub fn scope(&self) -> Scope {
        if self.is_local() { Scope::Localhost } else { Scope::Localhop }
    }

    /// The signer of registrations.
    pub(crate) fn signer(&self) -> Result<Box<dyn Signer>> {
        trust::signer(self.sign.as_deref().unwrap_or(DIGEST))
    }

    /// The application that keeps `name` registered with the forwarder.
    ///
    /// # Errors
    /// If the key cannot be read, or the system has no entropy.
    pub fn registration(&self, name: &Name, time_of_day: TimeOfDay) -> Result<Registration> {
        Ok(Registration::new(RegistrationConfig {
            prefixes: vec![name.clone()],
            scope: self.scope(),
            signer: self.signer()?,
            cost: 0,
            time_of_day,
            rng: session::seed()?,
        }))
    }

    /// The error of a registration that the forwarder rejected.
    pub fn register_error(&self, name: &Name, error: &ManagementError) -> Error {
        let message = format!("{} will not bring Interests for {name}: {error}", self.uri);
        let remedy = error.registration_advice().unwrap_or(match self.is_local() {
            false => {
                "is it a forwarder? By this face it accepts commands only if enabled (localhop = true in `recoup forward`, \
                 rib.localhop_security in NFD); its Unix socket or TCP on its own machine need no such thing. Without a \
                 forwarder, listen (--listen) instead of registering"
            }
            true => "is it a forwarder? Without one, listen (--listen) instead of registering",
        });
        self.explain(Error::new(ErrorKind::Unreachable, message).with_remedy(remedy))
    }
}
