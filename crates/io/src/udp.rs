//! UDP: one socket per peer when connecting, one socket for all peers when listening.
//!
//! On loopback a datagram costs 4.2 µs per system call, and a twentieth of that with segmentation
//! and receive offload. Both directions therefore work in batches: the kernel returns up to 64 KB
//! of datagrams of one sender per buffer, and takes as many of equal length in one call.
mod batch;

pub(crate) use batch::{Batch, Bounds};

use crate::buffer::Buffers;
use crate::{clock, port};
use bytes::{Bytes, BytesMut};
use quinn_udp::{RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use recoup_transport::time::Duration;
#[cfg(target_os = "linux")]
use rustix::net::sockopt;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of one receive buffer: all that the kernel joins into one.
const RECEIVE_BYTES: usize = 65_536;
/// Buffers read per wake-up.
const RECEIVE_BUFFERS: usize = 8;
/// Up to this length what was received is copied out, so that a few small packets, kept for long,
/// do not pin a whole buffer.
const COPY_BYTES: usize = 16_384;
/// How often a reported ICMP error may stand in for a send or a receive before it counts.
const STALE_ERRORS: usize = 4;

/// Datagrams of one sender, one after the other.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) remote: SocketAddr,
    /// The address of ours that they were sent to.
    pub(crate) local: Option<IpAddr>,
    /// How long they waited in the socket.
    pub(crate) waited: Duration,
    bytes: Bytes,
    stride: usize,
}

impl Chunk {
    /// Hands out the datagrams; they share the chunk's memory.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = Bytes> + '_ {
        let stride = self.stride.max(1);
        (0..self.bytes.len())
            .step_by(stride)
            .map(move |start| self.bytes.slice(start..self.bytes.len().min(start + stride)))
    }

    /// The first byte, if there is any.
    pub(crate) fn first_byte(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    /// The datagram is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Receive buffers, shared by all sockets of a driver.
#[derive(Debug)]
pub(crate) struct ReceiveBuffers {
    current: [BytesMut; RECEIVE_BUFFERS],
    pool: Buffers,
}

impl ReceiveBuffers {
    pub(crate) fn new() -> Self {
        let current = std::array::from_fn(|_| BytesMut::new());
        Self { current, pool: Buffers::new(RECEIVE_BYTES) }
    }

    /// Makes every buffer full length.
    fn fill(&mut self) {
        for buffer in self.current.iter_mut().filter(|buffer| buffer.is_empty()) {
            *buffer = self.pool.take();
        }
    }

    /// The first `length` bytes of a buffer; the frames share the buffer or copy from it.
    fn bytes(&mut self, index: usize, length: usize) -> Bytes {
        let Some(buffer) = self.current.get_mut(index) else {
            return Bytes::new();
        };
        let length = length.min(buffer.len());
        match length <= COPY_BYTES {
            true => Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default()),
            false => self.pool.share(std::mem::take(buffer)).slice(..length),
        }
    }
}

/// How sending a batch went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Datagrams that were too long for the path.
    pub(crate) too_long: usize,
    /// Datagrams that the system could not send.
    pub(crate) unreachable: usize,
    /// Datagrams that found too many waiting already.
    pub(crate) backlog: usize,
    /// The path carries less than before.
    pub(crate) path_shrank: bool,
    /// Error of the system, perhaps of earlier datagrams.
    pub(crate) error: Option<ErrorKind>,
}

/// Where a batch goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) remote: SocketAddr,
    /// The address of ours to send from, where the socket has several.
    pub(crate) local: Option<IpAddr>,
}

/// One socket.
#[derive(Debug)]
pub(crate) struct UdpPort {
    socket: UdpSocket,
    state: UdpSocketState,
    waiting: VecDeque<(Route, Batch)>,
    waiting_bytes: usize,
    waiting_limit: usize,
}

impl UdpPort {
    /// A socket that exchanges datagrams with `remote` only.
    pub(crate) fn connect(
        remote: SocketAddr,
        local: Option<SocketAddr>,
        buffer: usize,
        waiting: usize,
    ) -> io::Result<Self> {
        let socket = match local {
            Some(local) => port::shared(local)?,
            None => UdpSocket::bind(unspecified(remote))?,
        };
        socket.connect(remote)?;
        Self::new(socket, buffer, waiting)
    }

    /// A socket that exchanges datagrams with everybody.
    pub(crate) fn bind(local: SocketAddr, buffer: usize, waiting: usize) -> io::Result<Self> {
        Self::new(port::at(local)?, buffer, waiting)
    }

    fn new(socket: UdpSocket, buffer: usize, waiting_limit: usize) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        allow_fragmentation(&socket)?;
        let options = socket2::SockRef::from(&socket);
        // The system grants what it pleases: it is read back where it counts.
        let _ = options.set_recv_buffer_size(buffer);
        let _ = options.set_send_buffer_size(buffer);
        Ok(Self { socket, state, waiting: VecDeque::new(), waiting_bytes: 0, waiting_limit })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Bytes of datagrams that surely fit in the receive buffer. The kernel counts its own
    /// bookkeeping too, up to as much again as the datagrams.
    pub(crate) fn receive_budget(&self) -> Option<u64> {
        let granted = socket2::SockRef::from(&self.socket).recv_buffer_size().ok()?;
        Some(granted as u64 / 2)
    }

    /// How far datagrams of up to `datagram` bytes may be joined now.
    pub(crate) fn bounds(&self, datagram: usize) -> Bounds {
        Bounds { segments: self.state.max_gso_segments().max(1), datagram }
    }

    /// Bytes queued for the socket, for all peers.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Some batches wait for the socket to take them.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Hands out what has arrived, a few buffers at most. `Err` means that earlier datagrams were
    /// reported lost; there may be more to receive.
    pub(crate) fn receive(
        &self,
        buffers: &mut ReceiveBuffers,
        mut deliver: impl FnMut(Chunk),
    ) -> io::Result<()> {
        let mut meta = [RecvMeta::default(); RECEIVE_BUFFERS];
        let mut error = Ok(());
        for _ in 0..STALE_ERRORS {
            buffers.fill();
            let mut slices = buffers.current.each_mut().map(|buffer| IoSliceMut::new(buffer));
            match self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut meta) {
                Ok(received) => {
                    for (index, meta) in meta.iter().enumerate().take(received) {
                        let (remote, local, stride) = (meta.addr, meta.dst_ip, meta.stride);
                        let bytes = buffers.bytes(index, meta.len);
                        let waited = clock::waited(meta.timestamp);
                        deliver(Chunk { remote, local, waited, bytes, stride });
                    }
                    return error;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return error,
                Err(e) => error = Err(e),
            }
        }
        error
    }

    /// Sends a batch, or queues it until the socket is writable. Returns a finished batch to recycle; all of it has found too many
    /// waiting if anything has.
    pub(crate) fn send(&mut self, route: Route, batch: Batch) -> (Sent, Option<Batch>) {
        if self.waiting.is_empty() {
            let mut sent = Sent::default();
            if self.transmit(route, &batch, &mut sent) {
                return (sent, Some(batch));
            }
        }
        self.wait(route, batch)
    }

    fn wait(&mut self, route: Route, batch: Batch) -> (Sent, Option<Batch>) {
        if self.waiting_bytes + batch.bytes().len() > self.waiting_limit {
            let sent = Sent { backlog: batch.count(), ..Sent::default() };
            return (sent, Some(batch));
        }
        self.waiting_bytes += batch.bytes().len();
        self.waiting.push_back((route, batch));
        (Sent::default(), None)
    }

    /// As much waits as may, as if the socket had been full for long.
    #[cfg(test)]
    pub(crate) fn fill(&mut self, route: Route) {
        let _ = self.wait(route, Batch::single(&vec![0; self.waiting_limit]));
    }

    /// Sends queued batches until the socket is full; returns the outcome of each batch.
    pub(crate) fn send_waiting(&mut self, mut report: impl FnMut(Route, Sent)) {
        while let Some((route, batch)) = self.waiting.pop_front() {
            let mut sent = Sent::default();
            if !self.transmit(route, &batch, &mut sent) {
                self.waiting.push_front((route, batch));
                return;
            }
            self.waiting_bytes -= batch.bytes().len();
            report(route, sent);
        }
    }

    /// Sends a whole batch; `false` if the socket is full.
    fn transmit(&self, route: Route, batch: &Batch, sent: &mut Sent) -> bool {
        let joined = self.transmit_once(route, batch.bytes(), batch.segment_size());
        match joined {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) if batch.count() > 1 && cannot_join(&error) => {
                sent.path_shrank |= quinn_udp::is_msg_size_err(&error);
                for datagram in batch.datagrams() {
                    let alone = self.transmit_once(route, datagram, None);
                    sent.note(alone, 1);
                }
                true
            }
            error => {
                sent.note(error, batch.count());
                true
            }
        }
    }

    /// One call. An ICMP error about earlier datagrams is reported in place of sending, so the
    /// call is made again.
    fn transmit_once(
        &self,
        route: Route,
        contents: &[u8],
        segment_size: Option<usize>,
    ) -> io::Result<()> {
        let transmit = Transmit {
            destination: route.remote,
            ecn: None,
            contents,
            segment_size,
            src_ip: route.local,
        };
        let mut last = Ok(());
        for _ in 0..STALE_ERRORS {
            last = self.state.try_send(UdpSockRef::from(&self.socket), &transmit);
            match &last {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                _ => break,
            }
        }
        last
    }
}

impl Sent {
    fn note(&mut self, result: io::Result<()>, datagrams: usize) {
        let Err(error) = result else { return };
        if quinn_udp::is_msg_size_err(&error) {
            self.too_long += datagrams;
            self.path_shrank = true;
        } else if error.kind() == ErrorKind::WouldBlock {
            self.backlog += datagrams;
        } else {
            self.unreachable += datagrams;
            self.error = Some(error.kind());
        }
    }
}

/// The system rejects segmentation for this batch: datagrams exceed the path MTU (EMSGSIZE), or a
/// network card lacks support (EIO, EINVAL).
fn cannot_join(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MSGSIZE | Errno::IO | Errno::INVAL))
}

fn unspecified(remote: SocketAddr) -> SocketAddr {
    match remote {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// Lets the system fragment what the path does not carry: a path narrower than the first link, which
/// we cannot see, then costs speed and not the connection.
#[cfg(target_os = "linux")]
fn allow_fragmentation(socket: &UdpSocket) -> io::Result<()> {
    match socket.local_addr()? {
        SocketAddr::V4(_) => {
            sockopt::set_ip_mtu_discover(socket, sockopt::Ipv4PathMtuDiscovery::WANT)?;
        }
        SocketAddr::V6(_) => {
            sockopt::set_ipv6_mtu_discover(socket, sockopt::Ipv6PathMtuDiscovery::WANT)?;
            // For IPv4 peers of a socket that has both families.
            let _ = sockopt::set_ip_mtu_discover(socket, sockopt::Ipv4PathMtuDiscovery::WANT);
        }
    }
    Ok(())
}

/// Other systems fragment unless a socket forbids it.
#[cfg(not(target_os = "linux"))]
fn allow_fragmentation(_: &UdpSocket) -> io::Result<()> {
    Ok(())
}

/// Longest datagram that reaches `remote` unfragmented, as far as the system knows.
pub(crate) fn path_datagram(remote: SocketAddr) -> io::Result<usize> {
    let remote = SocketAddr::new(remote.ip().to_canonical(), remote.port());
    let probe = UdpSocket::bind(unspecified(remote))?;
    probe.connect(remote)?;
    let (mtu, headers) = match remote {
        SocketAddr::V4(_) => (path_mtu(&probe, false)?, 28),
        SocketAddr::V6(_) => (path_mtu(&probe, true)?, 48),
    };
    Ok((mtu as usize).saturating_sub(headers).clamp(512, batch::BATCH_BYTES))
}

#[cfg(target_os = "linux")]
fn path_mtu(connected: &UdpSocket, is_v6: bool) -> io::Result<u32> {
    match is_v6 {
        true => Ok(sockopt::ipv6_mtu(connected)?),
        false => Ok(sockopt::ip_mtu(connected)?),
    }
}

/// The MTU of Ethernet: other systems do not report the path's by a socket.
#[cfg(not(target_os = "linux"))]
fn path_mtu(_: &UdpSocket, _: bool) -> io::Result<u32> {
    Ok(1500)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (UdpPort, UdpPort, Route) {
        let listener = UdpPort::bind("127.0.0.1:0".parse().unwrap(), 4 << 20, 1 << 20).unwrap();
        let remote = listener.local_address().unwrap();
        let dialer = UdpPort::connect(remote, None, 4 << 20, 1 << 20).unwrap();
        (dialer, listener, Route { remote, local: None })
    }

    fn receive_all(port: &UdpPort) -> Vec<Bytes> {
        let (mut buffers, mut frames) = (ReceiveBuffers::new(), Vec::new());
        for _ in 0..100 {
            let before = frames.len();
            let _ = port.receive(&mut buffers, |chunk| frames.extend(chunk.datagrams()));
            if frames.len() == before {
                break;
            }
        }
        frames
    }

    #[test]
    fn batch_arrives_as_its_datagrams() {
        let (mut dialer, listener, route) = pair();
        let bounds = dialer.bounds(path_datagram(route.remote).unwrap());
        let lengths = [8_000, 8_000, 8_000, 17, 17, 3];
        let mut batch = Batch::default();
        for (index, length) in lengths.into_iter().enumerate() {
            if !batch.accepts(length, bounds) {
                assert_eq!(dialer.send(route, batch.take()).0, Sent::default());
            }
            batch.push(&[index as u8][..length.min(1)], &vec![index as u8; length - 1], bounds);
        }
        assert_eq!(dialer.send(route, batch).0, Sent::default());
        let frames = receive_all(&listener);
        assert_eq!(frames.iter().map(Bytes::len).collect::<Vec<_>>(), lengths);
        assert!(frames.iter().enumerate().all(|(i, f)| f.iter().all(|o| *o == i as u8)));
    }

    #[test]
    fn loopback_carries_the_longest_datagram() {
        assert_eq!(path_datagram("127.0.0.1:9".parse().unwrap()).unwrap(), batch::BATCH_BYTES);
    }

    #[test]
    fn absent_peer_is_reported() {
        let (mut dialer, listener, route) = pair();
        drop(listener);
        for _ in 0..3 {
            let (sent, _) = dialer.send(route, Batch::single(b"anybody?"));
            assert_eq!(sent.too_long + sent.backlog, 0);
        }
        let again = UdpPort::bind(route.remote, 1 << 20, 1 << 20).unwrap();
        let _ = receive_all(&dialer);
        assert_eq!(dialer.send(route, Batch::single(b"back")).0, Sent::default());
        assert_eq!(receive_all(&again), [Bytes::from_static(b"back")]);
    }

    #[test]
    fn oversized_datagram_is_counted_and_dropped() {
        let (mut dialer, _listener, route) = pair();
        let (sent, _) = dialer.send(route, Batch::single(&vec![0; 65_508]));
        assert_eq!((sent.too_long, sent.path_shrank), (1, true));
    }

    #[test]
    fn small_receive_is_copied() {
        let mut buffers = ReceiveBuffers::new();
        buffers.fill();
        assert_eq!(buffers.bytes(0, 100).len(), 100);
        assert_eq!(buffers.current[0].len(), RECEIVE_BYTES);
        assert_eq!(buffers.bytes(0, 60_000).len(), 60_000);
        assert!(buffers.current[0].is_empty());
    }
}
