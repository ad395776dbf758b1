//! An HTTP gateway to named content: browsers, `curl`, players and data tools fetch it without knowing NDN.
//!
//! | request | answer |
//! |---|---|
//! | `GET /ndn/NAME` | the newest version of NAME: ranges, entity tags, conditions (RFC 9110) |
//! | `GET /ndn/NAME/` | the listing of a folder, as a page or as JSON |
//! | `PROPFIND /ndn/NAME/` | the same for WebDAV (RFC 4918, class 1, read-only), so that a desktop mounts a folder |
//!
//! Content is verified before a byte of it leaves the gateway. A slow reader slows the fetch, and a reader that goes away ends
//! it. Content of one name cannot read that of another in a browser: each answer is in a sandbox of its own.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = recoup::asynchronous::Client::connect().await?;
//! let router = recoup_gateway::router(client, recoup_gateway::Hosts::default());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! recoup_gateway::serve(listener, router, std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
mod dav;
mod error;
mod folder;
mod host;
mod object;
mod path;
mod server;

pub use host::Hosts;
pub use server::serve;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use error::Answer;
use recoup::asynchronous::Client;
use serde::Deserialize;

/// The part of a path before the name.
const PREFIX: &str = "/ndn";
/// Methods that the gateway answers.
const METHODS: &str = "GET, HEAD, OPTIONS, PROPFIND";
/// A page may run scripts and start downloads, but belongs to no origin.
const SANDBOX: &str = "sandbox allow-downloads allow-forms allow-popups allow-scripts";

/// The routes of a gateway whose content `client` fetches and verifies. Requests that name another host than `hosts` are
/// rejected.
pub fn router(client: Client, hosts: Hosts) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/open", get(open))
        .fallback(named)
        .with_state(client)
        .layer(middleware::from_fn_with_state(hosts, check_host))
}

/// Rejects requests for other hosts: a page of a foreign site whose host leads here (DNS rebinding) reads nothing.
async fn check_host(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| hosts.contains(host)) {
        let text = "this gateway does not answer for that host; name it with --host";
        return Answer::new(StatusCode::MISDIRECTED_REQUEST, text).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// The page with a field for a name.
async fn start() -> Html<&'static str> {
    Html(include_str!("start.html"))
}

#[derive(Deserialize)]
struct Wanted {
    name: String,
}

/// Leads from the field to the content.
async fn open(Query(wanted): Query<Wanted>) -> Result<Redirect, Answer> {
    let text = wanted.name.trim();
    let name = path::name_of_uri(text)
        .ok_or_else(|| Answer::new(StatusCode::BAD_REQUEST, format!("{text} is not a name")))?;
    Ok(Redirect::to(&path::of_name(&name, text.ends_with('/'))))
}

/// Everything below [`PREFIX`].
async fn named(State(client): State<Client>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(name) = path::name_of(parts.uri.path()) else {
        let text = "paths have the form /ndn/NAME, with components as in NDN URIs";
        return Answer::new(StatusCode::NOT_FOUND, text).into_response();
    };
    let answer = match parts.method.as_str() {
        "GET" | "HEAD" => object::answer(&client, &parts, &name).await,
        "OPTIONS" => Ok(options(StatusCode::NO_CONTENT)),
        "PROPFIND" => return dav::answer(client, Request::from_parts(parts, body)).await,
        _ => Ok(options(StatusCode::METHOD_NOT_ALLOWED)),
    };
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    response
}

/// The methods, WebDAV among them.
fn options(status: StatusCode) -> Response {
    (status, [("allow", METHODS), ("dav", "1")]).into_response()
}

#[cfg(test)]
mod tests;
