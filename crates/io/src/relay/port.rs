//! A socket of a link that reports receive times.
//!
//! A relay that waits for its processor reads frames later than they came. With the time at which the system received them
//! they enter the link when they would have done so otherwise: its rate is used although the relay was late.
use crate::clock;
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use recoup_transport::time::Duration;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Requested socket buffer, so that the relay itself loses nothing.
const SOCKET_BUFFER: usize = 4 << 20;

/// A socket of a link.
#[derive(Debug)]
pub(super) struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
}

/// Frames of one sender, as they lie in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) from: SocketAddr,
    /// The address of ours that they were sent to.
    pub(super) to: Option<IpAddr>,
    /// Bytes of all of them.
    pub(super) bytes: usize,
    /// Bytes of each, but for the last one, which may be shorter.
    pub(super) stride: usize,
    /// How long they waited in the socket.
    pub(super) waited: Duration,
}

impl Port {
    /// Makes the socket non-blocking, with a large buffer.
    pub(super) fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        allow_fragments(&socket);
        // A system that grants less only makes the queue in front of the link shorter.
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, SOCKET_BUFFER);
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(&socket, SOCKET_BUFFER);
        Ok(Self { socket, state })
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Sends a frame from `src_ip`, which is an address of ours.
    ///
    /// # Errors
    /// Of the system.
    pub(super) fn send(
        &self,
        contents: &[u8],
        destination: SocketAddr,
        src_ip: Option<IpAddr>,
    ) -> io::Result<()> {
        let transmit = Transmit { destination, ecn: None, contents, segment_size: None, src_ip };
        self.state.try_send(UdpSockRef::from(&self.socket), &transmit)
    }

    /// The frames that came next; `None` if there are none, or the system reports that earlier ones were lost.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Option<Received> {
        let (mut slices, mut meta) = ([IoSliceMut::new(buffer)], [RecvMeta::default()]);
        let received = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut meta);
        let [RecvMeta { addr: from, dst_ip: to, len: bytes, stride, timestamp, .. }] = meta;
        (received.ok()? > 0).then(|| {
            let waited = clock::waited(timestamp);
            Received { from, to, bytes, stride: stride.max(1), waited }
        })
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A frame that is longer than the path allows is sent in fragments, as by any other socket.
fn allow_fragments(socket: &UdpSocket) {
    #[cfg(target_os = "linux")]
    {
        use rustix::net::sockopt::{Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
        use rustix::net::sockopt::{set_ip_mtu_discover, set_ipv6_mtu_discover};
        let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::WANT);
        let _ = set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::WANT);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
}
