//! Connections: HTTP/1.1 over TCP, with limits.
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Most connections at a time; further ones wait in the queue of the listener. Up to 16 MiB wait for the reader of each.
const MAX_CONNECTIONS: usize = 64;
/// Longest time until the header of a request is complete.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after an error of the listener, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for answers in flight after the end was asked.
const GRACE: Duration = Duration::from_secs(2);

/// Answers the connections of `listener` until `end` resolves. Answers in flight then have 2 s.
pub async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let accept = async {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let _ = stream.set_nodelay(true);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection failed");
                }
                drop(permit);
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = end => {}
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}
