//! TCP sockets, as streams and below WebSockets.
use crate::{port, stream};
use recoup_transport::time::Duration;
use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};
use std::io;
use std::net::SocketAddr;

/// Connections that may wait to be accepted.
const QUEUE: i32 = 256;

/// Starts connecting, without waiting.
pub(crate) fn dial(remote: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(remote), Type::STREAM, Some(Protocol::TCP))?;
    tune(&socket)?;
    stream::dial(&socket, &SockAddr::from(remote))?;
    Ok(socket)
}

/// A socket that peers connect to.
pub(crate) fn listen(local: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
    // Otherwise a server could not be started again for a minute after it ended.
    socket.set_reuse_address(true)?;
    port::make_dual_stack(&socket, local)?;
    socket.bind(&local.into())?;
    socket.listen(QUEUE)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The next connection that waits at a listening socket.
pub(crate) fn accept(listener: &Socket) -> io::Result<(Socket, SockAddr)> {
    let (socket, remote) = listener.accept()?;
    socket.set_nonblocking(true)?;
    Ok((socket, remote))
}

/// Silence after which the system probes a connection.
pub(crate) const PROBE_AFTER: Duration = Duration::from_secs(60);
/// Interval of these probes.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_secs(15);
/// Unanswered probes that end a connection.
pub(crate) const PROBES: u32 = 4;

/// Sends at once, and notices after two minutes that a silent peer is gone.
pub(crate) fn tune(socket: &Socket) -> io::Result<()> {
    let alive = TcpKeepalive::new()
        .with_time(PROBE_AFTER)
        .with_interval(PROBE_INTERVAL)
        .with_retries(PROBES);
    socket.set_tcp_keepalive(&alive)?;
    socket.set_tcp_nodelay(true)
}
