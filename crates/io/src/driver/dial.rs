//! Opening connections: waited for the first time, so that the user learns what is wrong, and in the
//! background when a broken one is opened again.
use super::DriverOptions;
use crate::face::{CloseReason, FaceError, FaceUri};
use crate::link::{Intake, Link};
use crate::stream::{self, Stream};
use crate::websocket::WebSocket;
use crate::{memory, tcp, unix};
use recoup_transport::time::Duration;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Time between two attempts to enter the queue of a listener.
const QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// A connection that is open, and the addresses to open it again.
pub(crate) struct Dialed {
    pub(crate) link: Box<dyn Link>,
    pub(crate) addresses: Vec<SocketAddr>,
}

/// Connects and waits until frames can be sent.
pub(crate) fn dial(uri: &FaceUri, options: &DriverOptions) -> Result<Dialed, FaceError> {
    let addresses = match uri {
        FaceUri::Udp(to) | FaceUri::Tcp(to) | FaceUri::WebSocket(to, _) => to.resolve()?,
        FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => Vec::new(),
    };
    let mut last = None;
    for attempt in 0..addresses.len().max(1) {
        match attempt_once(uri, addresses.get(attempt).copied(), options) {
            Ok(link) => return Ok(Dialed { link, addresses }),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or(FaceError::Resolve { host: uri.to_string(), source: None }))
}

fn attempt_once(
    uri: &FaceUri,
    remote: Option<SocketAddr>,
    options: &DriverOptions,
) -> Result<Box<dyn Link>, FaceError> {
    let timeout = options.connect_timeout;
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::TimedOut => FaceError::Timeout { uri: uri.clone(), after: timeout },
        _ => FaceError::Connect { uri: uri.clone(), source },
    };
    let limit = options.backlog_bytes;
    let link: Box<dyn Link> = match await_queue(timeout, || socket(uri, remote)).map_err(failed)? {
        None => Box::new(memory_end(uri, limit).map_err(failed)?),
        Some(socket) => {
            await_connected(&socket, timeout).map_err(failed)?;
            over(uri, socket, false, limit)
        }
    };
    await_open(link, timeout).map_err(|reason| match reason {
        CloseReason::TooSlow => FaceError::Timeout { uri: uri.clone(), after: timeout },
        reason => FaceError::Rejected { uri: uri.clone(), reason },
    })
}

/// Starts connecting to the given address of a face, without waiting.
pub(crate) fn begin(
    uri: &FaceUri,
    remote: Option<SocketAddr>,
    options: &DriverOptions,
) -> io::Result<Box<dyn Link>> {
    Ok(match socket(uri, remote)? {
        None => Box::new(memory_end(uri, options.backlog_bytes)?),
        Some(socket) => over(uri, socket, true, options.backlog_bytes),
    })
}

fn socket(uri: &FaceUri, remote: Option<SocketAddr>) -> io::Result<Option<Socket>> {
    match (uri, remote) {
        (FaceUri::Memory(_), _) => Ok(None),
        (FaceUri::Unix(path), _) => unix::dial(path).map(Some),
        (FaceUri::Dev(_), _) => {
            let what = "an interface is where one listens; ether://[…] leads to a station there";
            Err(io::Error::new(ErrorKind::InvalidInput, what))
        }
        (_, Some(remote)) => tcp::dial(remote).map(Some),
        (_, None) => Err(ErrorKind::AddrNotAvailable.into()),
    }
}

fn memory_end(uri: &FaceUri, limit: usize) -> io::Result<memory::MemoryEnd> {
    match uri {
        FaceUri::Memory(name) => memory::connect(name, limit),
        _ => Err(ErrorKind::Unsupported.into()),
    }
}

fn over(uri: &FaceUri, socket: Socket, connecting: bool, limit: usize) -> Box<dyn Link> {
    match uri {
        FaceUri::WebSocket(to, path) => {
            Box::new(WebSocket::client(socket, connecting, &format!("ws://{to}{path}"), limit))
        }
        _ => Box::new(Stream::new(socket, connecting, limit)),
    }
}

/// Retries while the queue of a Unix listener is full, which a non-blocking socket reports at once.
fn await_queue<T>(timeout: Duration, connect: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let start = std::time::Instant::now();
    loop {
        match connect() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            done => return done,
        }
        if start.elapsed() >= timeout {
            return Err(ErrorKind::TimedOut.into());
        }
        std::thread::sleep(QUEUE_PAUSE);
    }
}

fn await_connected(socket: &Socket, timeout: Duration) -> io::Result<()> {
    let start = std::time::Instant::now();
    while !stream::is_connected(socket)? {
        let left = timeout.saturating_sub(start.elapsed());
        if left.is_zero() || !stream::wait(socket.as_fd(), true, left)? {
            return Err(ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

fn await_open(mut link: Box<dyn Link>, timeout: Duration) -> Result<Box<dyn Link>, CloseReason> {
    let start = std::time::Instant::now();
    while !link.is_open() {
        // Nothing is received before the link is open, so nothing is lost with this intake.
        link.receive(&mut Intake::default())?;
        let left = timeout.saturating_sub(start.elapsed());
        if !link.is_open() && (left.is_zero() || !stream::wait(link.fd(), false, left)?) {
            return Err(CloseReason::TooSlow);
        }
    }
    Ok(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_unix_accept_queue_is_retried() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None).unwrap();
        listener.bind(&socket2::SockAddr::unix(&path).unwrap()).unwrap();
        listener.listen(1).unwrap();
        let mut queued = Vec::new();
        while let Ok(socket) = unix::dial(&path) {
            queued.push(socket);
        }
        let uri = FaceUri::Unix(path);
        let options =
            DriverOptions { connect_timeout: Duration::from_millis(20), ..Default::default() };
        let late = dial(&uri, &options).map(|_| ());
        assert!(matches!(late, Err(FaceError::Timeout { .. })), "{late:?}");
        let accepting = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            listener.accept().map(|_| listener)
        });
        assert!(dial(&uri, &DriverOptions::default()).is_ok());
        drop(accepting.join().unwrap().unwrap());
    }
}
