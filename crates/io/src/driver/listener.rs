//! Listeners: TCP, Unix, WebSocket, in-process, and interfaces that receive from Ethernet stations.
//! UDP has none: all senders are peers of one socket.
use super::DriverOptions;
use super::segment::Segment;
use crate::face::{FaceUri, uri::Authority};
use crate::link::Link;
use crate::memory::MemoryListener;
use crate::stream::Stream;
use crate::unix::UnixListener;
use crate::websocket::WebSocket;
use crate::{tcp, unix};
use recoup_transport::time::Instant;
use socket2::{SockAddr, Socket};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// Number of a listener, unique in its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerId(pub u32);

/// A listener as it came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerHandle {
    /// To close it by.
    pub id: ListenerId,
    /// Where peers connect to: with the port that the system chose, if it was left open.
    pub uri: FaceUri,
    /// The bound address, except for Unix and in-process listeners, and interfaces.
    pub address: Option<SocketAddr>,
    /// Error of the last attempt to listen; the driver retries.
    pub waits: Option<String>,
}

#[derive(Debug)]
enum Door {
    Tcp(Socket),
    WebSocket(Socket),
    Unix(UnixListener),
    Memory(MemoryListener),
    Ethernet(Segment),
}

/// A listener for connections.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) id: ListenerId,
    door: Door,
    uri: FaceUri,
    /// Earliest next accept, after the system ran out of descriptors.
    pub(crate) paused_until: Option<Instant>,
}

impl Listener {
    /// Listens at `uri`; `local` is its address if it has one.
    pub(crate) fn bind(
        id: ListenerId,
        uri: &FaceUri,
        local: Option<SocketAddr>,
        options: &DriverOptions,
    ) -> io::Result<(Self, ListenerHandle)> {
        let mut waits = None;
        let (door, uri, address) = match (uri, local) {
            (FaceUri::Dev(interface), _) => {
                let mut segment = Segment::new(interface);
                waits = segment.open(options)?;
                (Door::Ethernet(segment), uri.clone(), None)
            }
            (FaceUri::Unix(path), _) => (Door::Unix(UnixListener::bind(path)?), uri.clone(), None),
            (FaceUri::Memory(name), _) => {
                (Door::Memory(MemoryListener::bind(name)?), uri.clone(), None)
            }
            (FaceUri::Tcp(_), Some(local)) => {
                let (socket, bound) = bind_tcp(local)?;
                (Door::Tcp(socket), FaceUri::Tcp(Authority::from(bound)), Some(bound))
            }
            (FaceUri::WebSocket(_, path), Some(local)) => {
                let (socket, bound) = bind_tcp(local)?;
                let uri = FaceUri::WebSocket(Authority::from(bound), path.clone());
                (Door::WebSocket(socket), uri, Some(bound))
            }
            _ => return Err(ErrorKind::Unsupported.into()),
        };
        let handle = ListenerHandle { id, uri: uri.clone(), address, waits };
        Ok((Self { id, door, uri, paused_until: None }, handle))
    }

    /// To be waited on, if it is open.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(match &self.door {
            Door::Tcp(socket) | Door::WebSocket(socket) => socket.as_fd(),
            Door::Unix(listener) => listener.socket().as_fd(),
            Door::Memory(listener) => listener.fd(),
            Door::Ethernet(segment) => return segment.fd(),
        })
    }

    /// The interface of an Ethernet listener.
    pub(super) fn segment(&mut self) -> Option<&mut Segment> {
        match &mut self.door {
            Door::Ethernet(segment) => Some(segment),
            _ => None,
        }
    }

    /// The next peer that waits, and what to call it.
    pub(crate) fn accept(
        &self,
        options: &DriverOptions,
    ) -> io::Result<Option<(Box<dyn Link>, FaceUri)>> {
        let limit = options.backlog_bytes;
        let accepted: io::Result<(Box<dyn Link>, FaceUri)> = match &self.door {
            // A station sends frames without a connection.
            Door::Ethernet(_) => return Ok(None),
            Door::Memory(listener) => {
                return Ok(listener.accept().map(|end| (Box::new(end) as _, self.uri.clone())));
            }
            Door::Unix(listener) => tcp::accept(listener.socket()).map(|(socket, _)| {
                unix::tune(&socket);
                (Box::new(Stream::new(socket, false, limit)) as _, self.uri.clone())
            }),
            Door::Tcp(listener) => tcp::accept(listener).map(|(socket, remote)| {
                let _ = tcp::tune(&socket);
                let uri = self.peer(&remote, FaceUri::Tcp);
                (Box::new(Stream::new(socket, false, limit)) as _, uri)
            }),
            Door::WebSocket(listener) => tcp::accept(listener).map(|(socket, remote)| {
                let _ = tcp::tune(&socket);
                let uri = self.peer(&remote, |to| FaceUri::WebSocket(to, "/".into()));
                (Box::new(WebSocket::server(socket, limit)) as _, uri)
            }),
        };
        match accepted {
            Ok(peer) => Ok(Some(peer)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn peer(&self, remote: &SockAddr, uri: impl Fn(Authority) -> FaceUri) -> FaceUri {
        remote.as_socket().map_or_else(|| self.uri.clone(), |remote| uri(Authority::from(remote)))
    }
}

fn bind_tcp(local: SocketAddr) -> io::Result<(Socket, SocketAddr)> {
    let socket = tcp::listen(local)?;
    let bound = socket.local_addr()?.as_socket().unwrap_or(local);
    Ok((socket, bound))
}
