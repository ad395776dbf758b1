//! Connections: HTTP/1.1 over TCP, with limits.
use crate::peers::{Answering, Limits, Peer, Peers, Stream};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

const LIMITS: Limits = Limits { connections: 256, per_client: 192, stall: Duration::from_secs(30) };
/// Longest time until the header of a request is complete.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer that wait for the socket, and longest header of a request.
const BUFFER_BYTES: usize = 64 << 10;
/// Pause after an error of the listener, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for answers in flight after the end was asked.
const GRACE: Duration = Duration::from_secs(2);
/// The answer to a client all of whose connections are at work.
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// Answers the connections of `listener` until `end` resolves. Answers in flight then have 2 s.
///
/// Of 256 connections at a time, one client has at most 192. A further connection ends one that waits for its peer. A peer
/// that takes no byte of its answer for 30 s is ended.
pub async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    serve_within(LIMITS, listener, router, end).await;
}

pub(crate) async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let peers = Peers::new(limits);
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => match peers.admit(address.ip()) {
                    Some(peer) => connect(stream, &peers, peer, &router, &graceful),
                    // The buffer of a new socket has space for it.
                    None => drop(stream.try_write(BUSY)),
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = end => {}
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

/// Answers the requests of one connection, in a task of its own.
fn connect(
    stream: TcpStream,
    peers: &Arc<Peers>,
    peer: Arc<Peer>,
    router: &Router,
    graceful: &GracefulShutdown,
) {
    let _ = stream.set_nodelay(true);
    let (router, answering) = (router.clone(), Arc::clone(&peer));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (answering, router) = (answering.answering(), router.clone());
        async move {
            let response = router.oneshot(request).await?;
            Ok::<_, std::convert::Infallible>(response.map(|body| Tracked { body, answering }))
        }
    });
    let stream = Stream::new(stream, Arc::clone(&peer), peers.limits.stall);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let connection = graceful.watch(connection);
    let open = Open { peers: Arc::clone(peers), peer: Arc::clone(&peer) };
    let task = tokio::spawn(async move {
        let _open = open;
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection failed");
        }
    });
    peer.set_task(task.abort_handle());
}

/// A connection that counts until it is dropped.
struct Open {
    peers: Arc<Peers>,
    peer: Arc<Peer>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.peers.remove(&self.peer);
    }
}

/// The body of an answer, at work until it is dropped.
struct Tracked {
    body: Body,
    #[expect(dead_code, reason = "its drop ends the work")]
    answering: Answering,
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
