//! A face as the driver sees it: target, counters, drops, reason of its end.
pub mod uri;

pub use recoup_forwarder::face::FaceId;
pub use uri::{Authority, FaceUri, FaceUriError, Family};

use crate::port;
use recoup_transport::time::Duration;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::IpAddr;

/// Largest frame, in bytes, that is sent: the limit on NDN packets, which NFD applies to the whole
/// frame with its link header.
pub const LARGEST_FRAME_SENT: usize = 8_800;

/// Shortest MTU, in bytes, that a face may be given: shorter frames carry more header than content.
pub const LEAST_MTU: usize = 256;

/// Largest frame, in bytes, that is accepted: a packet of 8,800 bytes and a generous link header.
pub const LARGEST_FRAME_RECEIVED: usize = 8_800 + 1_024;

/// How a face is that leads to a medium, which several may share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MediumOptions {
    /// Name of the interface; by default the one that the system chooses.
    pub interface: Option<String>,
    /// Ad hoc, as a radio: not all nodes receive each other, so a packet may leave on the face on
    /// which it arrived.
    pub ad_hoc: bool,
    /// Other programs of this machine receive outgoing frames, too.
    pub loopback: bool,
}

/// A face could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum FaceError {
    /// The text is not a face.
    #[error(transparent)]
    Uri(#[from] FaceUriError),
    /// The host's name did not lead to an address.
    #[error("host \"{host}\" has no usable address{}{}", cause(.source), host_hint(.host))]
    Resolve {
        /// The host.
        host: String,
        /// Error of the resolver; `None` if all addresses are of the other family.
        source: Option<io::Error>,
    },
    /// The connection failed.
    #[error("cannot connect to {uri}: {source}{}", connect_hint(.uri, .source))]
    Connect {
        /// URI of the face.
        uri: FaceUri,
        /// Cause.
        source: io::Error,
    },
    /// No answer within the timeout.
    #[error("cannot connect to {uri}: no answer within {after:?}")]
    Timeout {
        /// URI of the face.
        uri: FaceUri,
        /// How long was waited.
        after: Duration,
    },
    /// The connection ended before it was usable.
    #[error("cannot connect to {uri}: {reason}")]
    Rejected {
        /// URI of the face.
        uri: FaceUri,
        /// Cause.
        reason: CloseReason,
    },
    /// Listening failed.
    #[error("cannot listen on {uri}: {source}{}", listen_hint(.uri, .source))]
    Listen {
        /// URI of the listener.
        uri: FaceUri,
        /// Cause.
        source: io::Error,
    },
    /// The driver's limit of open faces is reached.
    #[error("cannot open {uri}: {limit} faces are open already, which is the limit")]
    TooMany {
        /// URI of the face.
        uri: FaceUri,
        /// The limit.
        limit: usize,
    },
}

fn cause(source: &Option<io::Error>) -> String {
    source.as_ref().map_or_else(String::new, |source| format!(": {source}"))
}

fn host_hint(host: &str) -> String {
    let interface = host.split_once('%').map(|(_, interface)| interface);
    interface.map_or_else(
        || "; check its name".to_owned(),
        |it| format!(" (is there an interface called {it}?)"),
    )
}

/// Whether an address is valid on one interface only and names none.
fn lacks_scope(uri: &FaceUri) -> bool {
    let is_link_local = matches!(uri.address(), Some(IpAddr::V6(ip)) if ip.is_unicast_link_local());
    is_link_local && !uri.to_string().contains('%')
}

fn connect_hint(uri: &FaceUri, source: &io::Error) -> &'static str {
    match (uri, source.kind()) {
        (FaceUri::Unix(_), ErrorKind::NotFound) => {
            " (there is no such socket: is a forwarder running, and is this the path it listens on?)"
        }
        (FaceUri::Unix(_), ErrorKind::ConnectionRefused) => {
            " (the socket is there, but no process listens on it: the forwarder may have stopped)"
        }
        (FaceUri::Unix(_), ErrorKind::PermissionDenied) => {
            " (no permission for this socket: join its group, or run as its owner)"
        }
        (FaceUri::Memory(_), _) => " (no listener of this name in this process)",
        (uri, _) if lacks_scope(uri) => {
            " (an address of one link needs its interface: [fe80::1%eth0])"
        }
        (_, ErrorKind::ConnectionRefused) => " (no process listens on that port)",
        (_, ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable) => {
            " (no route leads there: is the network up?)"
        }
        _ => "",
    }
}

fn listen_hint(uri: &FaceUri, source: &io::Error) -> String {
    let holder = || match uri {
        FaceUri::Udp(at) => port::holder(at.port, true),
        FaceUri::Tcp(at) | FaceUri::WebSocket(at, _) => port::holder(at.port, false),
        FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => None,
    };
    let hint = match source.kind() {
        _ if lacks_scope(uri) => " (an address of one link needs its interface: [fe80::1%eth0])",
        ErrorKind::AddrInUse => {
            let holder = holder().map_or_else(String::new, |holder| format!(": {holder}"));
            return format!(" (another program listens there already{holder})");
        }
        ErrorKind::PermissionDenied => {
            " (ports below 1024, and folders of other users, need special rights)"
        }
        ErrorKind::AddrNotAvailable => " (this machine has no such address)",
        ErrorKind::NotFound => " (the folder of the socket does not exist)",
        _ => "",
    };
    hint.to_owned()
}

/// Why a face ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The peer closed the connection.
    #[error("the peer closed the connection")]
    Ended,
    /// The connection broke, or could not be made.
    #[error("the connection failed: {0}")]
    Broken(String),
    /// The peer sent what cannot be split into packets.
    #[error("the peer sent bytes that are no NDN packet: {0}")]
    Garbage(String),
    /// The peer announced a packet over the limit.
    #[error("the peer sent a packet of {length} bytes, more than the {limit} allowed")]
    TooLong {
        /// Bytes announced.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The WebSocket handshake or protocol failed.
    #[error("WebSocket: {0}")]
    WebSocket(String),
    /// The connection was not usable in time.
    #[error("the connection was not established in time")]
    TooSlow,
    /// Nothing arrived for as long as an on-demand face may be silent.
    #[error("nothing arrived for {0:?}")]
    Idle(Duration),
    /// Data waits for the peer, which took nothing for as long as it may.
    #[error("the peer read nothing for {0:?}")]
    Stalled(Duration),
    /// The face was the longest idle of too many.
    #[error("it was the longest silent of too many faces")]
    Evicted,
    /// The interface that it leaves by is down, or the address that it leaves from is gone.
    #[error("its interface is down, or its address is gone")]
    NoInterface,
    /// This side closed it.
    #[error("closed by this side")]
    Closed,
}

impl From<io::Error> for CloseReason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Self::Ended,
            _ => Self::Broken(error.to_string()),
        }
    }
}

/// Why a frame was discarded by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// A frame without bytes, in either direction.
    Empty,
    /// To be sent, but longer than the face carries.
    TooLong,
    /// To be sent, but more bytes wait already than the face, or the driver, may hold.
    Backlog,
    /// To be sent, but the system knows no way there.
    Unreachable,
    /// To be sent, but the face is not up, or went down while the frame waited.
    Down,
    /// To be sent, but there is no such face.
    NoFace,
    /// Received from a peer for whom no face was opened.
    Unsolicited,
    /// Received, but a WebSocket message of text.
    Text,
    /// Received from a newcomer, or a connection of one, although as many faces are open as may be, in all or from there.
    NoRoom,
}

impl DropReason {
    /// Every reason, in the order of [`Counters::drops`].
    pub const ALL: [Self; 9] = [
        Self::Empty,
        Self::TooLong,
        Self::Backlog,
        Self::Unreachable,
        Self::Down,
        Self::NoFace,
        Self::Unsolicited,
        Self::Text,
        Self::NoRoom,
    ];
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "empty",
            Self::TooLong => "too-long",
            Self::Backlog => "backlog",
            Self::Unreachable => "unreachable",
            Self::Down => "down",
            Self::NoFace => "no-face",
            Self::Unsolicited => "unsolicited",
            Self::Text => "text",
            Self::NoRoom => "no-room",
        })
    }
}

/// Counters of a face since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames received.
    pub frames_in: u64,
    /// Bytes of the frames received.
    pub bytes_in: u64,
    /// Frames handed to the operating system or waiting for it.
    pub frames_out: u64,
    /// Bytes of those frames.
    pub bytes_out: u64,
    /// Frames discarded, in the order of [`DropReason::ALL`].
    pub drops: [u64; DropReason::ALL.len()],
}

impl Counters {
    /// Frames discarded for `reason`.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops[reason as usize]
    }

    /// Frames discarded for any reason.
    pub fn dropped_total(&self) -> u64 {
        self.drops.iter().sum()
    }

    pub(crate) fn drop_frames(&mut self, reason: DropReason, frames: u64) {
        self.drops[reason as usize] += frames;
    }

    pub(crate) fn received(&mut self, frame_len: usize) {
        self.frames_in += 1;
        self.bytes_in += frame_len as u64;
    }

    pub(crate) fn sent(&mut self, frame_len: usize) {
        self.frames_out += 1;
        self.bytes_out += frame_len as u64;
    }

    /// Adds the counters of other faces.
    pub(crate) fn add(&mut self, other: &Self) {
        self.frames_in += other.frames_in;
        self.bytes_in += other.bytes_in;
        self.frames_out += other.frames_out;
        self.bytes_out += other.bytes_out;
        for (mine, theirs) in self.drops.iter_mut().zip(other.drops) {
            *mine += theirs;
        }
    }
}

/// An event of a face, for the program that runs the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceEvent {
    /// Identifier of the face.
    pub face: FaceId,
    /// URI of the peer.
    pub uri: FaceUri,
    /// Kind of event.
    pub change: FaceChange,
}

/// Kind of event of a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceChange {
    /// The face is usable.
    Up,
    /// The face is down.
    Down {
        /// Cause.
        reason: CloseReason,
        /// When the driver tries again; `None` if the face is gone for good.
        retry: Option<Duration>,
    },
    /// The system reported that datagrams do not arrive; repeated only after a frame has arrived.
    Unreachable(String),
    /// The path carries only smaller frames from now on.
    MtuLowered(usize),
}

impl fmt::Display for FaceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { face, uri, change } = self;
        write!(f, "face {} ({uri}) ", face.0)?;
        match change {
            FaceChange::Up => f.write_str("is up"),
            FaceChange::Down { reason, retry: None } => write!(f, "is closed: {reason}"),
            FaceChange::Down { reason, retry: Some(after) } => {
                write!(f, "is down: {reason}; next attempt in {after:?}")
            }
            FaceChange::Unreachable(why) => write!(f, "does not reach its peer: {why}"),
            FaceChange::MtuLowered(mtu) => write!(f, "now carries frames up to {mtu} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drop_reason_has_its_own_counter() {
        let mut counters = Counters::default();
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            counters.drop_frames(reason, index as u64 + 1);
            assert_eq!(counters.dropped(reason), index as u64 + 1);
        }
        assert_eq!(counters.dropped_total(), 45);
    }

    #[test]
    fn a_missing_forwarder_is_explained() {
        let uri: FaceUri = "unix:///run/nfd/nfd.sock".parse().unwrap();
        let error = FaceError::Connect { uri, source: ErrorKind::NotFound.into() };
        assert!(error.to_string().contains("is a forwarder running"));
    }

    #[test]
    fn an_address_of_one_link_needs_its_interface() {
        let failed = |uri: &str| {
            let source = ErrorKind::InvalidInput.into();
            FaceError::Connect { uri: uri.parse().unwrap(), source }.to_string()
        };
        assert!(failed("tcp6://[fe80::1]").contains("[fe80::1%eth0]"));
        assert!(!failed("tcp6://[fe80::1%eth0]").contains("needs its interface"));
        assert!(!failed("tcp6://[2001:db8::1]").contains("needs its interface"));
        let host = "fe80::1%nope".to_owned();
        let unknown = FaceError::Resolve { host, source: None }.to_string();
        assert!(unknown.ends_with("(is there an interface called nope?)"), "{unknown}");
    }
}
