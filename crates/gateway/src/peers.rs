//! The peers of a server: a limit on all connections and on those of one client, and an end for peers that do not read.
use std::cmp::Reverse;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most connections at a time.
    pub(crate) connections: usize,
    /// Most connections of one client at a time.
    pub(crate) per_client: usize,
    /// Longest time in which a peer takes no byte of what waits for it.
    pub(crate) stall: Duration,
}

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Peers {
    pub(crate) limits: Limits,
    open: Mutex<Vec<Arc<Peer>>>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Peer {
    /// An address, or all of a network of IPv6.
    client: IpAddr,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// A request is being answered.
    is_answering: bool,
    /// Since when bytes wait for the peer.
    blocked_since: Option<Instant>,
    /// When the last answer ended, or the connection began.
    idle_since: Instant,
    task: Option<AbortHandle>,
}

impl Peers {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    /// Admits a connection. If as many are open as may be, one that waits for its peer is ended: of the same client if that
    /// has its share, else of the client with the most. `None`: all are at work.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Arc<Peer>> {
        let client = client_of(address);
        let mut open = lock(&self.open);
        let count = |client| open.iter().filter(|peer| peer.client == client).count();
        let has_share = count(client) >= self.limits.per_client;
        if has_share || open.len() >= self.limits.connections {
            let waiting =
                open.iter().enumerate().filter(|(_, it)| !has_share || it.client == client);
            let waiting = waiting.filter_map(|(place, it)| {
                Some((Reverse(count(it.client)), lock(&it.state).waits_since()?, place))
            });
            let (_, _, slowest) = waiting.min()?;
            let ended = open.swap_remove(slowest);
            tracing::debug!(client = %ended.client, "a connection that waits for its peer is ended");
            if let Some(task) = &lock(&ended.state).task {
                task.abort();
            }
        }
        let (is_answering, blocked_since, idle_since) = (false, None, Instant::now());
        let state = State { is_answering, blocked_since, idle_since, task: None };
        let peer = Arc::new(Peer { client, state: Mutex::new(state) });
        open.push(Arc::clone(&peer));
        Some(peer)
    }

    /// The connection has ended.
    pub(crate) fn remove(&self, peer: &Arc<Peer>) {
        lock(&self.open).retain(|it| !Arc::ptr_eq(it, peer));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whose connections count together: everybody has plenty of addresses in a network of IPv6.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
        address => address,
    }
}

impl State {
    /// Since when the connection waits for its peer: to read, or to send a request.
    fn waits_since(&self) -> Option<Instant> {
        self.blocked_since.or((!self.is_answering).then_some(self.idle_since))
    }
}

impl Peer {
    /// The task of the connection, which is aborted to end it.
    pub(crate) fn set_task(&self, task: AbortHandle) {
        lock(&self.state).task = Some(task);
    }

    /// A request is being answered until the value is dropped.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        lock(&self.state).is_answering = true;
        Answering(Arc::clone(self))
    }

    fn set_blocked(&self, is_blocked: bool) {
        let mut state = lock(&self.state);
        state.blocked_since = is_blocked.then(|| state.blocked_since.unwrap_or_else(Instant::now));
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Answering(Arc<Peer>);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        (state.is_answering, state.idle_since) = (false, Instant::now());
    }
}

/// The stream of a peer. Writing fails if the peer takes nothing for too long.
#[derive(Debug)]
pub(crate) struct Stream {
    stream: TcpStream,
    peer: Arc<Peer>,
    stall: Duration,
    /// Ends when the peer has taken nothing for too long.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub(crate) fn new(stream: TcpStream, peer: Arc<Peer>, stall: Duration) -> Self {
        Self { stream, peer, stall, stalled: None }
    }

    /// The result of a write, or the error that the peer takes nothing.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.stalled.is_some() != written.is_pending() {
            self.peer.set_blocked(written.is_pending());
        }
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stall = self.stall;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(stall)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl Drop for Stream {
    /// Bytes that a peer did not read are not kept for it by the system.
    fn drop(&mut self) {
        if self.stalled.is_some() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.judge(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, bytes);
        this.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(connections: usize, per_client: usize) -> Arc<Peers> {
        Peers::new(Limits { connections, per_client, stall: Duration::from_secs(30) })
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn is_open(peers: &Peers, peer: &Arc<Peer>) -> bool {
        lock(&peers.open).iter().any(|it| Arc::ptr_eq(it, peer))
    }

    #[test]
    fn slowest_peer_of_the_greediest_client_ends() {
        let peers = peers(4, 3);
        let [first, busy, third] = [(); 3].map(|()| peers.admit(address(1)).unwrap());
        let _answering = busy.answering();
        let other = peers.admit(address(2)).unwrap();
        // The first client has its share, and loses its own idle connection for the next one.
        let fourth = peers.admit(address(1)).unwrap();
        assert!(!is_open(&peers, &first) && is_open(&peers, &other));
        // All are taken: the client with the most loses one.
        third.set_blocked(true);
        let _new = peers.admit(address(2)).unwrap();
        assert!(is_open(&peers, &other) && is_open(&peers, &busy));
        assert!(is_open(&peers, &third) != is_open(&peers, &fourth));
    }

    #[test]
    fn connections_at_work_are_not_ended() {
        let peers = peers(3, 2);
        let all = [(); 2].map(|()| peers.admit(address(1)).unwrap());
        let answering = all.each_ref().map(|peer| peer.answering());
        assert!(peers.admit(address(1)).is_none());
        let other = peers.admit(address(2)).unwrap();
        drop(answering);
        assert!(peers.admit(address(1)).is_some() && is_open(&peers, &other));
        peers.remove(&other);
        assert!(!is_open(&peers, &other));
    }

    #[test]
    fn network_of_ipv6_is_one_client() {
        let client = |text: &str| client_of(text.parse().unwrap());
        assert_eq!(client("2001:db8::1"), client("2001:db8::ffff:1"));
        assert!(client("2001:db8:0:1::1") != client("2001:db8::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
    }
}
